package sqlparse

// Insert is INSERT {INTO|OVERWRITE} table [PARTITION (…)] [(columns)] query.
type Insert struct {
	Pos
	Overwrite  bool
	Table      ObjectName
	Hints      []Hint // t /*+ OPTIONS(…) */
	Partition  []PartitionItem
	Columns    []Ident // nil: none written
	Query      Query
	OnConflict *OnConflict // nil: none
}

// PartitionItem is name [= value] of PARTITION (…).
type PartitionItem struct {
	Pos
	Name  Ident
	Value Expr // nil: a dynamic partition column
}

// OnConflict is ON CONFLICT DO {ERROR|NOTHING|DEDUPLICATE}.
type OnConflict struct {
	Pos
	Do string
}

func (*Insert) statement() {}

// Form names the statement.
func (s *Insert) Form() string {
	if s.Overwrite {
		return "INSERT OVERWRITE"
	}
	return "INSERT INTO"
}
