package sqlparse

// JSONCall is one of the functions with clauses of the SQL/JSON standard:
// JSON_EXISTS, JSON_VALUE, JSON_QUERY, JSON_OBJECT, JSON_OBJECTAGG, JSON_ARRAY,
// JSON_ARRAYAGG. (JSON_STRING and the rest are plain calls.)
type JSONCall struct {
	Pos
	Name      string     // in upper case
	Args      []Expr     // input and path; or the elements of JSON_ARRAY, JSON_ARRAYAGG
	Pairs     []JSONPair // of JSON_OBJECT, JSON_OBJECTAGG
	Returning TypeName   // nil: not written
	Wrapper   string     // JSON_QUERY: "", "WITHOUT", "WITH CONDITIONAL", "WITH UNCONDITIONAL"
	OnEmpty   *JSONBehavior
	OnError   *JSONBehavior
	OnNull    string // "", "NULL" or "ABSENT": … ON NULL
	OrderBy   []OrderItem
	Filter    Expr // of the two aggregates
}

// JSONPair is KEY k VALUE v.
type JSONPair struct {
	Pos
	Key, Value Expr
}

// JSONBehavior is what ON EMPTY or ON ERROR does: NULL, ERROR, TRUE, FALSE,
// UNKNOWN, EMPTY ARRAY, EMPTY OBJECT, or DEFAULT with a value.
type JSONBehavior struct {
	Pos
	Kind    string
	Default Expr
}

func (*JSONCall) expr() {}
