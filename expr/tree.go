package expr

import (
	"bytes"
	"sort"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// Children returns the direct operands of e; they belong to e.
func Children(e Expr) []Expr {
	switch e := e.(type) {
	case *Call:
		return e.Args
	case *Cast:
		return []Expr{e.Arg}
	}
	return nil
}

// Walk calls f for e and everything below it, parents first; f returns false to stay out of a node.
func Walk(e Expr, f func(Expr) bool) {
	if !f(e) {
		return
	}
	for _, c := range Children(e) {
		Walk(c, f)
	}
}

// Rewrite returns e with every node, children first, replaced by f's result. Nodes are never changed:
// where a child is new, so are its parents.
func Rewrite(e Expr, f func(Expr) Expr) Expr {
	switch x := e.(type) {
	case *Call:
		var args []Expr
		for i, a := range x.Args {
			b := Rewrite(a, f)
			if b != a && args == nil {
				args = append(make([]Expr, 0, len(x.Args)), x.Args[:i]...)
			}
			if args != nil {
				args = append(args, b)
			}
		}
		if args != nil {
			c := *x
			c.Args = args
			e = &c
		}
	case *Cast:
		if a := Rewrite(x.Arg, f); a != x.Arg {
			c := *x
			c.Arg = a
			e = &c
		}
	}
	return f(e)
}

// Columns returns the positions of the columns that e refers to, ascending, each once.
func Columns(e Expr) []int {
	seen := map[int]bool{}
	var cols []int
	Walk(e, func(e Expr) bool {
		if c, ok := e.(*Column); ok && !seen[c.Index] {
			seen[c.Index] = true
			cols = append(cols, c.Index)
		}
		return true
	})
	sort.Ints(cols)
	return cols
}

// Remap returns e with the position of every column replaced by m.
func Remap(e Expr, m func(int) int) Expr {
	return Rewrite(e, func(e Expr) Expr {
		c, ok := e.(*Column)
		if !ok {
			return e
		}
		i := m(c.Index)
		if i == c.Index {
			return e
		}
		d := *c
		d.Index = i
		return &d
	})
}

// Shift returns e with every column moved by a number of positions.
func Shift(e Expr, by int) Expr { return Remap(e, func(i int) int { return i + by }) }

// Equal reports whether a and b are the same expression, spans and columns' printed names apart. Equal
// expressions have equal values, unless they are volatile.
func Equal(a, b Expr) bool {
	if !a.Type().Equal(b.Type()) {
		return false
	}
	switch a := a.(type) {
	case *Column:
		b, ok := b.(*Column)
		return ok && a.Index == b.Index
	case *Literal:
		b, ok := b.(*Literal)
		return ok && sameLiteral(a.Value, b.Value)
	case *Cast:
		b, ok := b.(*Cast)
		return ok && a.Try == b.Try && a.Exact == b.Exact && Equal(a.Arg, b.Arg)
	case *Call:
		b, ok := b.(*Call)
		if !ok || a.Func != b.Func || len(a.Args) != len(b.Args) {
			return false
		}
		for i := range a.Args {
			if !Equal(a.Args[i], b.Args[i]) {
				return false
			}
		}
		return true
	}
	return false
}

// sameLiteral compares bit by bit, so that 0.0 and -0.0 stay apart and NaN is itself.
func sameLiteral(a, b *column.Vector) bool {
	if a.IsNull(0) || b.IsNull(0) {
		return a.IsNull(0) && b.IsNull(0)
	}
	x, y := literalText(a), literalText(b)
	return bytes.Equal(x, y)
}

// Volatile reports whether e may differ between two evaluations of the same row.
func Volatile(e Expr) bool { return anyCall(e, func(f *Function) bool { return f.Volatile }) }

func anyCall(e Expr, is func(*Function) bool) bool {
	found := false
	Walk(e, func(e Expr) bool {
		if c, ok := e.(*Call); ok && is(c.Func) {
			found = true
		}
		return !found
	})
	return found
}

// IsConstant reports whether e has one value for all rows of a job: it has no column and is not volatile.
func IsConstant(e Expr) bool {
	constant := true
	Walk(e, func(e Expr) bool {
		if _, ok := e.(*Column); ok {
			constant = false
		}
		return constant
	})
	return constant && !Volatile(e)
}

// Fallible reports whether the evaluation of e may fail at some row. A rule may then move or duplicate it
// only where it meets no row that it would not have met.
func Fallible(e Expr) bool {
	found := false
	Walk(e, func(e Expr) bool {
		switch e := e.(type) {
		case *Call:
			found = found || e.Func.Fallible && (e.Func.MayFail == nil || e.Func.MayFail(e))
		case *Cast:
			found = found || !e.Try && (castMayFail(e.Arg.Type(), e.T) || e.Exact && castMayCut(e.Arg.Type(), e.T))
		}
		return !found
	})
	return found
}

// usesEnv reports whether this node, its operands apart, depends on the environment.
func usesEnv(e Expr) bool {
	switch e := e.(type) {
	case *Call:
		return e.Func.UsesEnv
	case *Cast:
		return castUsesEnv(e.Arg.Type(), e.T)
	}
	return false
}

// Fold replaces constant sub-trees by literals. What depends on the environment is folded with env, and
// left alone when env is nil. Where folding fails the node stays, so that the error appears only if a
// row needs the value.
func Fold(e Expr, env *Env) Expr {
	if _, ok := e.(*Literal); ok {
		return e
	}
	return Rewrite(e, func(e Expr) Expr { return foldNode(e, env) })
}

func foldNode(e Expr, env *Env) Expr {
	switch x := e.(type) {
	case *Column, *Literal:
		return e
	case *Call:
		if x.Func.Volatile {
			return e
		}
	}
	for _, c := range Children(e) {
		if _, ok := c.(*Literal); !ok {
			return foldLazy(e)
		}
	}
	if env == nil {
		if usesEnv(e) {
			return e
		}
		env = &Env{}
	}
	n, err := compile(e, env)
	if err != nil {
		return e
	}
	v, err := n.eval(&column.Batch{N: 1}, Rows{N: 1})
	if err != nil {
		return e
	}
	t := e.Type()
	lit := column.New(t.WithNullable(v.IsNull(0)), 1)
	lit.AppendFrom(v.Vector, 0)
	return &Literal{Value: lit, At: e.Span()}
}

// foldLazy simplifies AND, OR and CASE with some constant operands. Operands that can no longer be
// reached are dropped; evaluation would not have touched them either.
func foldLazy(e Expr) Expr {
	c, ok := e.(*Call)
	if !ok {
		return e
	}
	switch c.Func.Name {
	case "AND", "OR":
		return foldConnective(c, c.Func.Name == "OR")
	case "CASE", "IF":
		return foldCase(c)
	}
	return e
}

// constBool returns the value of a BOOLEAN literal that is not NULL.
func constBool(e Expr) (value, ok bool) {
	l, ok := e.(*Literal)
	if !ok || l.Value.Type.Kind != types.Boolean || l.Value.IsNull(0) {
		return false, false
	}
	return l.Value.Bool[0], true
}

func foldConnective(c *Call, stop bool) Expr {
	var args []Expr
	for _, a := range c.Args {
		v, ok := constBool(a)
		if ok && v != stop {
			continue // decides nothing
		}
		args = append(args, a)
		if ok {
			break // decides every row that gets here
		}
	}
	if n := len(args) - 1; n > 0 {
		// What comes before a deciding constant matters only if it can fail.
		_, decided := constBool(args[n])
		fallible := false
		for _, a := range args[:n] {
			fallible = fallible || Fallible(a)
		}
		if decided && !fallible {
			return NewLiteral(c.T, stop, c.At)
		}
	}
	switch {
	case len(args) == 0:
		return NewLiteral(c.T, !stop, c.At)
	case len(args) == 1:
		return args[0]
	case len(args) == len(c.Args):
		return c
	}
	d := *c
	d.Args = args
	return &d
}

func foldCase(c *Call) Expr {
	var args []Expr
	last := c.Args[len(c.Args)-1]
	for k := 0; k+1 < len(c.Args); k += 2 {
		l, ok := c.Args[k].(*Literal)
		if !ok {
			args = append(args, c.Args[k], c.Args[k+1])
			continue
		}
		if !l.Value.IsNull(0) && l.Value.Bool[0] {
			last = c.Args[k+1]
			break
		}
	}
	switch {
	case len(args) == 0:
		return last
	case len(args) == len(c.Args)-1 && last == c.Args[len(c.Args)-1]:
		return c
	}
	d := *c
	d.Args = append(args, last)
	return &d
}
