package sqlparse

// MatchRecognize is input MATCH_RECOGNIZE ( … ) [alias].
type MatchRecognize struct {
	Pos
	Input       TableExpr
	PartitionBy []Expr
	OrderBy     []OrderItem
	Measures    []Measure
	AllRows     bool // ALL ROWS PER MATCH; else ONE ROW PER MATCH
	RowsWritten bool // whether … PER MATCH was written
	AfterMatch  *AfterMatch
	Pattern     *Pattern
	Within      Expr // an *Interval; nil: none
	Subsets     []Subset
	Define      []Define
	Alias       *Alias
}

// Measure is expr AS name of MEASURES.
type Measure struct {
	Pos
	Expr Expr
	Name Ident
}

// AfterMatch is AFTER MATCH SKIP …: "PAST LAST ROW", "TO NEXT ROW", "TO FIRST",
// "TO LAST"; the latter two name a Variable.
type AfterMatch struct {
	Pos
	Skip     string
	Variable *Ident
}

// PatternKind is the kind of a Pattern.
type PatternKind uint8

// The kinds of patterns.
const (
	PatternVariable PatternKind = iota // Name
	PatternSequence                    // Items, one after the other
	PatternChoice                      // Items, separated by |
	PatternPermute                     // PERMUTE(Items)
	PatternExclude                     // {- Items[0] -}
)

// Pattern is a row pattern with an optional quantifier. Min and Max are the
// counts of the quantifier, Max -1 for no bound; both 1 where none is written.
type Pattern struct {
	Pos
	Kind      PatternKind
	Name      Ident
	Items     []*Pattern
	Min, Max  int
	Reluctant bool
}

// Subset is name = (a, b) of SUBSET.
type Subset struct {
	Pos
	Name      Ident
	Variables []Ident
}

// Define is name AS condition of DEFINE.
type Define struct {
	Pos
	Name Ident
	Cond Expr
}

func (*MatchRecognize) tableExpr() {}
