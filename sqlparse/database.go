package sqlparse

// CreateDatabase is CREATE DATABASE [IF NOT EXISTS] [catalog.]name [COMMENT 'x'] [WITH (…)].
type CreateDatabase struct {
	Pos
	IfNotExists bool
	Name        ObjectName // one or two parts
	Comment     *Literal   // nil: none
	Options     *Options   // nil: none
}

// DropDatabase is DROP DATABASE [IF EXISTS] [catalog.]name [RESTRICT|CASCADE].
type DropDatabase struct {
	Pos
	IfExists bool
	Name     ObjectName // one or two parts
	Cascade  bool
}

// UseDatabase is USE [catalog.]database.
type UseDatabase struct {
	Pos
	Name ObjectName // one or two parts
}

// ShowDatabases is SHOW DATABASES [{FROM|IN} catalog] [like].
type ShowDatabases struct {
	Pos
	From *Ident    // nil: the current catalog
	Like *ShowLike // nil: all
}

// ShowCurrentDatabase is SHOW CURRENT DATABASE.
type ShowCurrentDatabase struct{ Pos }

func (*CreateDatabase) statement()        {}
func (*CreateDatabase) Form() string      { return "CREATE DATABASE" }
func (*DropDatabase) statement()          {}
func (*DropDatabase) Form() string        { return "DROP DATABASE" }
func (*UseDatabase) statement()           {}
func (*UseDatabase) Form() string         { return "USE" }
func (*ShowDatabases) statement()         {}
func (*ShowDatabases) Form() string       { return "SHOW DATABASES" }
func (*ShowCurrentDatabase) statement()   {}
func (*ShowCurrentDatabase) Form() string { return "SHOW CURRENT DATABASE" }
