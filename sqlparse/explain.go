package sqlparse

// Explain is EXPLAIN [details] statement or EXPLAIN PLAN FOR statement. Details
// are ESTIMATED_COST, CHANGELOG_MODE, PLAN_ADVICE, JSON_EXECUTION_PLAN.
type Explain struct {
	Pos
	Details   []ExplainDetail
	Statement Statement // *QueryStatement, *Insert or *CreateTable with AS
}

// ExplainDetail is one detail of EXPLAIN.
type ExplainDetail struct {
	Pos
	Name string
}

func (*Explain) statement()   {}
func (*Explain) Form() string { return "EXPLAIN" }
