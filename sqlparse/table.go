package sqlparse

// DropTable is DROP [TEMPORARY] TABLE [IF EXISTS] name.
type DropTable struct {
	Pos
	Temporary bool
	IfExists  bool
	Name      ObjectName
}

// Describe is {DESCRIBE|DESC} [EXTENDED] name.
type Describe struct {
	Pos
	Extended bool
	Name     ObjectName
}

// ShowTables is SHOW TABLES [{FROM|IN} [catalog.]database] [like].
type ShowTables struct {
	Pos
	From *ObjectName // nil: the current database
	Like *ShowLike   // nil: all
}

// ShowCreateTable is SHOW CREATE TABLE name.
type ShowCreateTable struct {
	Pos
	Name ObjectName
}

// ShowLike is [NOT] {LIKE|ILIKE} 'pattern' of a SHOW statement.
type ShowLike struct {
	Pos
	Not        bool
	IgnoreCase bool
	Pattern    *Literal
}

func (*DropTable) statement()         {}
func (*DropTable) Form() string       { return "DROP TABLE" }
func (*Describe) statement()          {}
func (*Describe) Form() string        { return "DESCRIBE" }
func (*ShowTables) statement()        {}
func (*ShowTables) Form() string      { return "SHOW TABLES" }
func (*ShowCreateTable) statement()   {}
func (*ShowCreateTable) Form() string { return "SHOW CREATE TABLE" }
