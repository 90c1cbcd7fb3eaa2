package expr

import (
	"sort"
	"sync"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// Function is a scalar function or an operator. Each is one literal in an fn_<group>.go file.
type Function struct {
	Name    string
	Aliases []string // further names for NewCall and Lookup
	Group   string   // comparison, logical, arithmetic, string, temporal, conditional, hash, conversion, construction, json
	Syntax  string   // as a user writes it: LEFT(string, integer)
	Doc     string   // what it returns, one or two sentences
	Example string   // a SQL expression
	Result  string   // the text of the example's value; NULL for NULL

	Min, Max int // number of arguments; Max -1: any

	// Bind types a call: the types that the kernel takes, to which arguments are cast, and the
	// result's. The result's nullability is Nulls' business unless that is NullsOwn. An error that
	// is errMismatch is spelt out by NewCall; others are messages for the user, without position.
	Bind func(args []Expr) (params []types.Type, result types.Type, err error)

	// Exactly one of Kernel and Lazy is set. Select, when set, is the same test made for filters.
	Kernel Kernel
	Lazy   LazyKernel
	Select SelectKernel

	Nulls Nulls
	// NeverNull, when set, says which calls of a NullsMade function make no NULL of their own.
	NeverNull func(args []Expr) bool
	// Total says that the kernel may be run at rows with NULL arguments, whose result is ignored;
	// others are only run where no argument is NULL. It matters to strict functions only.
	Total    bool
	Volatile bool // two calls with the same arguments may differ
	UsesEnv  bool // depends on the job's start instant, zone or seed
	Fallible bool // may fail at run time, subject to MayFail
	Hidden   bool // not called by name: an operator, or syntax of its own

	// MayFail, when set, says whether this very call can fail; asked only if Fallible.
	MayFail func(c *Call) bool
}

// Nulls says how NULL arguments and the result's nullability belong together.
type Nulls uint8

// The rules for NULL.
const (
	NullsStrict Nulls = iota // any NULL argument makes NULL; nullable when an argument is
	NullsMade                // as NullsStrict, but the result may be NULL without a NULL argument
	NullsOwn                 // the kernel sees NULL arguments; Bind decides about the result's nullability
)

// Rows names the rows that a kernel works on: the physical rows Sel, ascending, or 0 to N-1 when it
// is nil. N is always the number of physical rows.
type Rows struct {
	Sel []uint16
	N   int

	grow func(int64) error // of the Env
}

// Count returns how many rows are named.
func (r Rows) Count() int {
	if r.Sel != nil {
		return len(r.Sel)
	}
	return r.N
}

// Row returns the physical position of the k-th of the rows.
func (r Rows) Row(k int) int {
	if r.Sel != nil {
		return int(r.Sel[k])
	}
	return k
}

// Arg is an evaluated argument: a value for each physical row, or one value for all of them.
type Arg struct {
	*column.Vector
	Const bool
	mask  int // 0 for a constant, -1 otherwise
}

func vectorArg(v *column.Vector) Arg { return Arg{Vector: v, mask: -1} }
func constArg(v *column.Vector) Arg  { return Arg{Vector: v, Const: true} }

// At returns where the value of physical row i stands in the argument's vector.
func (a Arg) At(i int) int { return i & a.mask }

// null reports whether the value of physical row i is NULL.
func (a Arg) null(i int) bool { return a.IsNull(i & a.mask) }

// Kernel makes the code of one call. It sees the call's types and constant arguments (patterns, units),
// prepares what depends on them, and returns a step for one evaluator; the step may keep scratch memory.
type Kernel func(c *Call, env *Env) (Step, error)

// Step computes a call at the given rows into out at the same positions. For a fixed-width result out
// has r.N rows already; for text and bytes the step writes through newText, for nested types through
// newNested. out.Valid holds the rows
// at which no argument is NULL (strict functions), else nil. An error is made by rowError.
type Step func(r Rows, args []Arg, out *column.Vector) error

// LazyKernel is a Kernel whose step decides which operands are evaluated at which rows.
type LazyKernel func(c *Call, env *Env) (LazyStep, error)

// LazyStep is the step of a lazy function; eval evaluates the k-th operand, at most once a step.
type LazyStep func(r Rows, eval func(k int, r Rows) (Arg, error), out *column.Vector) error

// SelectKernel makes the code of a predicate in a filter; nil when the call has no such form.
type SelectKernel func(c *Call, env *Env) SelectStep

// SelectStep appends the rows of r at which the predicate is TRUE to buf[:0], which has room for all
// and may be r.Sel itself.
type SelectStep func(r Rows, args []Arg, buf []uint16) ([]uint16, error)

// Lookup finds a function by its upper-cased name or an operator by its sign.
func Lookup(name string) (*Function, bool) {
	f, ok := functionTable().byName[name]
	return f, ok
}

// Functions returns all functions sorted by name, hidden ones included.
func Functions() []*Function { return functionTable().sorted }

type functionIndex struct {
	byName map[string]*Function
	sorted []*Function
}

var functionTable = sync.OnceValue(func() functionIndex {
	x := functionIndex{byName: make(map[string]*Function, 256)}
	for _, group := range functionGroups() {
		for i := range group {
			f := &group[i]
			x.sorted = append(x.sorted, f)
			for _, n := range append([]string{f.Name}, f.Aliases...) {
				if x.byName[n] != nil {
					panic("expr: two functions are named " + n)
				}
				x.byName[n] = f
			}
		}
	}
	sort.Slice(x.sorted, func(i, j int) bool { return x.sorted[i].Name < x.sorted[j].Name })
	return x
})

// functionGroups lists the tables of all fn_<group>.go files.
func functionGroups() [][]Function {
	return [][]Function{
		comparisonFunctions(), logicalFunctions(), arithmeticFunctions(), mathFunctions(),
		stringFunctions(), patternFunctions(), hashFunctions(), temporalFunctions(), clockFunctions(), conditionalFunctions(),
		conversionFunctions(), constructionFunctions(), collectionFunctions(), splitFunctions(),
		printfFunctions(), networkFunctions(), utf8Functions(), overlapsFunctions(), jsonFunctions(),
	}
}
