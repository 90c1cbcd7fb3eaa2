package expr

import (
	"fmt"
	"sort"
	"strings"
	"sync"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// Aggregate is an aggregate function, one literal each in the agg_*.go files.
type Aggregate struct {
	Name    string
	Syntax  string
	Doc     string
	Example string // a SQL expression over a column x of the values 1, 2, 2, NULL
	Result  string

	Min, Max int // number of arguments

	// Bind types a call as [Function] does; the result's nullability is final.
	Bind func(args []Expr) (params []types.Type, result types.Type, err error)
	// New makes the state of a call's groups, of which there are none yet.
	New func(args []types.Type, result types.Type) Accumulator
	// NewRetracting makes a state that can take rows back, for streams with updates and deletes; nil when
	// New's can.
	NewRetracting func(args []types.Type, result types.Type) Accumulator
	// IgnoresDistinct says that DISTINCT changes nothing (MIN, MAX).
	IgnoresDistinct bool
	// Constants are the arguments that a user must write as literals. It is for whoever binds the user's call to
	// look at: in a plan such an argument may have become a column of one value.
	Constants []int
	// Ordered says that the result depends on the order in which rows come.
	Ordered bool
}

// AggCall is a call of an aggregate function. Whoever runs it feeds the accumulator only rows at which
// Filter, if any, is TRUE, and each distinct value once per group if Distinct is set.
type AggCall struct {
	Func     *Aggregate
	Args     []Expr // already of the types that the accumulator takes
	Distinct bool
	Filter   Expr // nil: every row
	T        types.Type
	At       Span
}

// Accumulator holds the state of one aggregate call for all groups, numbered from 0. NULL arguments are
// skipped. In all methods nil groups mean that every row belongs to group 0.
//
// An error is an *Error whose Span is zero: the caller knows the call's.
type Accumulator interface {
	// Grow makes at least so many groups exist.
	Grow(groups int)
	// Update adds rows: groups[k] is the group of the k-th selected row. Nil sel selects rows 0 to n-1;
	// otherwise n is ignored.
	Update(groups []uint32, args []*column.Vector, sel []uint16, n int) error
	// Retract takes rows back that were added.
	Retract(groups []uint32, args []*column.Vector, sel []uint16, n int) error
	// StateTypes are the types of the columns of a group's partial state.
	StateTypes() []types.Type
	// State appends the partial state of the groups from (included) to to (excluded) to vectors of those
	// types.
	State(out []*column.Vector, from, to int) error
	// Merge adds n rows of partial state: row k belongs to groups[k].
	Merge(groups []uint32, state []*column.Vector, n int) error
	// Result appends the results of the groups from (included) to to (excluded). A value out of the
	// result's range is an error.
	Result(out *column.Vector, from, to int) error
	// Size is the memory taken, in bytes.
	Size() int64
}

// LookupAggregate finds an aggregate function by its upper-cased name.
func LookupAggregate(name string) (*Aggregate, bool) {
	for _, a := range Aggregates() {
		if a.Name == name {
			return a, true
		}
	}
	return nil, false
}

// Aggregates returns all aggregate functions sorted by name.
func Aggregates() []*Aggregate { return aggregateTable() }

var aggregateTable = sync.OnceValue(func() []*Aggregate {
	var as []*Aggregate
	for _, group := range [][]Aggregate{countAggregates(), sumAggregates(), extremeAggregates(), listAggregates(), valueAggregates(), varianceAggregates(), percentileAggregates(), approxAggregates(), jsonAggregates()} {
		for i := range group {
			as = append(as, &group[i])
		}
	}
	sort.Slice(as, func(i, j int) bool { return as[i].Name < as[j].Name })
	return as
})

// NewAggregate types a call of an aggregate function; COUNT(*) is COUNT without arguments.
func NewAggregate(name string, args []Expr, distinct bool, filter Expr, at Span) (*AggCall, error) {
	a, ok := LookupAggregate(strings.ToUpper(name))
	if !ok {
		return nil, noFunction(name, args, at)
	}
	if len(args) < a.Min || len(args) > a.Max || distinct && len(args) == 0 {
		return nil, &Error{Span: at, Row: -1, Hint: "write " + a.Syntax, Msg: wrongCount(a.Name, max(a.Min, 1), a.Max, len(args))}
	}
	params, result, err := a.Bind(args)
	if err == errMismatch {
		e := &Error{Span: at, Row: -1, Hint: "write " + a.Syntax,
			Msg: fmt.Sprintf("Cannot apply '%s' to arguments of type '%s'", a.Name, signature(a.Name, args))}
		if args[0].Type().IsString() {
			e.Hint = "write " + a.Name + "(" + castTo(args[0], types.Of(types.Double)) + ") to calculate with a text"
		}
		return nil, e
	}
	if err != nil {
		return nil, &Error{Span: at, Row: -1, Msg: err.Error()}
	}
	c := &AggCall{Func: a, Distinct: distinct && !a.IgnoresDistinct, Filter: filter, T: result, At: at}
	for i, x := range args {
		c.Args = append(c.Args, implicit(x, params[i]))
	}
	if filter != nil {
		if t := filter.Type(); t.Kind == types.Null {
			c.Filter = NewLiteral(types.Of(types.Boolean), nil, filter.Span())
		} else if t.Kind != types.Boolean {
			return nil, &Error{Span: filter.Span(), Row: -1,
				Msg: "FILTER must be a condition (BOOLEAN), not " + t.AsNullable().String()}
		}
	}
	return c, nil
}

// NewAccumulator makes the call's state; retracting when rows will be taken back.
func (c *AggCall) NewAccumulator(retracting bool) Accumulator {
	ts := typesOf(c.Args)
	if retracting && c.Func.NewRetracting != nil {
		return c.Func.NewRetracting(ts, c.T)
	}
	return c.Func.New(ts, c.T)
}

// growTo returns s with at least n elements, new ones zero.
func growTo[T any](s []T, n int) []T {
	if n <= len(s) {
		return s
	}
	if n <= cap(s) {
		old := len(s)
		s = s[:n]
		clear(s[old:])
		return s
	}
	t := make([]T, n, max(n, 2*cap(s)))
	copy(t, s)
	return t
}

func groupOf(groups []uint32, k int) uint32 {
	if groups == nil {
		return 0
	}
	return groups[k]
}
