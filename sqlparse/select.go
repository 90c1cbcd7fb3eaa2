package sqlparse

// Select is SELECT … FROM … WHERE … GROUP BY … HAVING … WINDOW … QUALIFY ….
type Select struct {
	Pos
	Hints    []Hint
	Distinct bool
	Items    []SelectItem
	From     TableExpr // nil: none; a, b is a Join of kind CommaJoin
	Where    Expr      // nil: none
	GroupBy  *GroupBy  // nil: none
	Having   Expr      // nil: none
	Windows  []NamedWindow
	Qualify  Expr // nil: none
}

// SelectItem is expr [[AS] alias]; Expr may be a *Star.
type SelectItem struct {
	Pos
	Expr  Expr
	Alias *Ident // nil: none
}

// GroupBy is GROUP BY [DISTINCT|ALL] items. AllColumns is the form GROUP BY ALL
// without items: by every select item that is not an aggregate.
type GroupBy struct {
	Pos
	Distinct   bool
	AllColumns bool
	Items      []GroupItem
}

// GroupKind is the kind of a GroupItem.
type GroupKind uint8

// The kinds of grouping elements.
const (
	GroupExpr   GroupKind = iota // one expression: Exprs[0]
	GroupTuple                   // (a, b) or (): Exprs
	GroupRollup                  // ROLLUP (…): Items
	GroupCube                    // CUBE (…): Items
	GroupSets                    // GROUPING SETS (…): Items
)

// GroupItem is one element of GROUP BY.
type GroupItem struct {
	Pos
	Kind  GroupKind
	Exprs []Expr
	Items []GroupItem
}

// NamedWindow is one name AS (…) of the WINDOW clause.
type NamedWindow struct {
	Pos
	Name   Ident
	Window *Window
}

// Hint is one hint of /*+ … */: NAME, NAME(a, b) or NAME('k' = 'v'). Names are
// in upper case. Options, Args or neither is set.
type Hint struct {
	Pos
	Name    string
	Options []Option
	Args    []HintArg
}

// HintArg is a name, a string or a number in a hint.
type HintArg struct {
	Pos
	Ident   *Ident
	Literal *Literal
}

func (*Select) query() {}
