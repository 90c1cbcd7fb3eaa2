package expr

import (
	"math"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// Evaluator evaluates one expression, batch after batch. It keeps scratch memory, so each goroutine
// compiles its own.
type Evaluator struct {
	root node
	grow func(int64) error
	full *column.Vector // a constant result, spread over the rows
}

// Compile makes an evaluator of e.
func Compile(e Expr, env *Env) (*Evaluator, error) {
	n, err := compile(e, orEmpty(env))
	if err != nil {
		return nil, err
	}
	return &Evaluator{root: n, grow: orEmpty(env).Grow}, nil
}

// orEmpty lets what needs no environment do without one.
func orEmpty(env *Env) *Env {
	if env == nil {
		return &Env{}
	}
	return env
}

// Eval evaluates the expression at the selected rows of b. The result stands at the same physical rows
// and is undefined at others; it is valid until the next Eval and may be a column of b.
func (ev *Evaluator) Eval(b *column.Batch) (*column.Vector, error) {
	a, err := ev.root.eval(b, Rows{Sel: b.Sel, N: b.N, grow: ev.grow})
	if err != nil {
		return nil, err
	}
	if !a.Const {
		return a.Vector, nil
	}
	if ev.full == nil || !ev.full.Type.Equal(a.Type) {
		ev.full = column.New(a.Type, b.N)
	}
	if _, literal := ev.root.(literalNode); literal && ev.full.Len == b.N {
		return ev.full, nil // the same as last time
	}
	ev.full.Reset()
	if ev.grow != nil && column.PhysicalOf(a.Type) == column.PhysBytes && !a.IsNull(0) {
		if want := len(a.Value(0)) * b.N; want > max(cap(ev.full.Bytes), grownText) {
			if err := ev.grow(int64(want - cap(ev.full.Bytes))); err != nil {
				return nil, err
			}
			ev.full.Bytes = make([]byte, 0, want)
		}
	}
	for i := 0; i < b.N; i++ {
		ev.full.AppendFrom(a.Vector, 0)
	}
	return ev.full, nil
}

// node is a compiled expression.
type node interface {
	// eval evaluates at the given rows. The result belongs to the node and is valid until its next eval.
	eval(b *column.Batch, r Rows) (Arg, error)
}

func compile(e Expr, env *Env) (node, error) {
	switch e := e.(type) {
	case *Column:
		return columnNode(e.Index), nil
	case *Literal:
		return literalNode{e.Value}, nil
	case *Cast:
		return compileCast(e, env)
	case *Call:
		return compileCall(e, env)
	}
	panic("expr: unknown node")
}

type columnNode int

func (c columnNode) eval(b *column.Batch, _ Rows) (Arg, error) { return vectorArg(b.Cols[c]), nil }

type literalNode struct{ v *column.Vector }

func (l literalNode) eval(*column.Batch, Rows) (Arg, error) { return constArg(l.v), nil }

func compileAll(es []Expr, env *Env) ([]node, error) {
	ns := make([]node, len(es))
	for i, e := range es {
		var err error
		if ns[i], err = compile(e, env); err != nil {
			return nil, err
		}
	}
	return ns, nil
}

func compileCall(c *Call, env *Env) (node, error) {
	args, err := compileAll(c.Args, env)
	if err != nil {
		return nil, err
	}
	f := c.Func
	if f.Lazy != nil {
		step, err := f.Lazy(c, env)
		if err != nil {
			return nil, at(err, c.At, Rows{})
		}
		n := &lazyNode{span: c.At, args: args, step: step, out: column.New(c.T, 0)}
		n.evalArg = n.operand
		return n, nil
	}
	step, err := f.Kernel(c, env)
	if err != nil {
		return nil, at(err, c.At, Rows{})
	}
	return &callNode{
		span: c.At, args: args, vals: make([]Arg, len(args)), step: step, out: column.New(c.T, 0),
		strict: f.Nulls != NullsOwn, total: f.Total, volatile: f.Volatile,
	}, nil
}

// callNode evaluates a call of a function that is not lazy: all arguments, then the kernel's step.
type callNode struct {
	span                    Span
	args                    []node
	vals                    []Arg
	step                    Step
	out                     *column.Vector
	valid                   column.Bitmap // memory for out.Valid
	sel                     []uint16      // memory for the rows without NULL
	strict, total, volatile bool
}

func (n *callNode) eval(b *column.Batch, r Rows) (Arg, error) {
	constant := !n.volatile
	for k, a := range n.args {
		v, err := a.eval(b, r)
		if err != nil {
			return Arg{}, err
		}
		n.vals[k] = v
		constant = constant && v.Const
	}
	all := r
	if constant {
		// The same for every row: computed once, and not at all when there is no row.
		if r.Count() == 0 {
			setAllNull(n.out, 1, &n.valid)
			return constArg(n.out), nil
		}
		r = Rows{N: 1, grow: r.grow}
	}
	prepare(n.out, r.N)
	if n.strict {
		if !n.combineValid(r) {
			setAllNull(n.out, r.N, &n.valid)
			return n.result(constant), nil
		}
		if !n.total && n.out.Valid != nil {
			r.Sel = narrowValid(r, n.out.Valid, room(&n.sel, r.N))
		}
	}
	if err := n.step(r, n.vals, n.out); err != nil {
		if constant {
			return Arg{}, at(err, n.span, all)
		}
		return Arg{}, at(err, n.span, Rows{})
	}
	return n.result(constant), nil
}

func (n *callNode) result(constant bool) Arg {
	if constant {
		return constArg(n.out)
	}
	return vectorArg(n.out)
}

// combineValid makes out.Valid the rows at which no argument is NULL; it returns false when a constant
// argument is NULL and therefore every row.
func (n *callNode) combineValid(r Rows) bool {
	words := (r.N + 63) / 64
	var valid column.Bitmap
	for _, a := range n.vals {
		if a.Type.Kind == types.Null || a.Const && a.IsNull(0) {
			return false
		}
		if a.Const || a.Valid == nil {
			continue
		}
		if valid == nil {
			if cap(n.valid) < words {
				n.valid = make(column.Bitmap, words)
			}
			valid = n.valid[:words]
			copy(valid, a.Valid)
			continue
		}
		for w, x := range a.Valid[:words] {
			valid[w] &= x
		}
	}
	n.out.Valid = valid
	return true
}

// lazyNode evaluates a call of a lazy function.
type lazyNode struct {
	span    Span
	args    []node
	step    LazyStep
	out     *column.Vector
	b       *column.Batch
	evalArg func(k int, r Rows) (Arg, error)
}

func (n *lazyNode) operand(k int, r Rows) (Arg, error) { return n.args[k].eval(n.b, r) }

func (n *lazyNode) eval(b *column.Batch, r Rows) (Arg, error) {
	n.b = b
	prepare(n.out, r.N)
	if err := n.step(r, n.evalArg, n.out); err != nil {
		return Arg{}, at(err, n.span, Rows{})
	}
	return vectorArg(n.out), nil
}

// at gives an error of a kernel the span of its expression. When the kernel computed a constant, rows
// names the rows it was computed for, of which the first is blamed.
func at(err error, span Span, rows Rows) error {
	e, ok := err.(*Error)
	if !ok {
		return &Error{Span: span, Msg: err.Error(), Row: -1}
	}
	if e.Span == (Span{}) {
		e.Span = span
	}
	if rows.N > 0 && rows.Count() > 0 && e.Row >= 0 {
		e.Row = rows.Row(0)
	}
	return e
}

// rowError returns an error at a physical row; the evaluator adds the span.
func rowError(row int, msg, hint string) error { return &Error{Msg: msg, Hint: hint, Row: row} }

// prepare gives out n rows of undefined value, none of them NULL.
func prepare(out *column.Vector, n int) {
	out.Resize(n)
	out.Len = n
}

// setAllNull makes out n NULL rows.
func setAllNull(out *column.Vector, n int, mem *column.Bitmap) {
	prepare(out, n)
	switch column.PhysicalOf(out.Type) {
	case column.PhysBytes:
		t := newText(out, n)
		_ = t.finish() // n empty values cannot be too large
	case column.PhysList, column.PhysRow:
		newNested(out, n).finish()
		return
	}
	words := (n + 63) / 64
	if cap(*mem) < words {
		*mem = make(column.Bitmap, words)
	}
	out.Valid = (*mem)[:words]
	clear(out.Valid)
}

// room returns a slice of n elements in the memory of *mem, never nil.
func room(mem *[]uint16, n int) []uint16 {
	if cap(*mem) < n || *mem == nil {
		*mem = make([]uint16, n)
	}
	return (*mem)[:n]
}

// narrowValid puts the rows of r whose bit is set into buf, which has room for them and may be r.Sel.
func narrowValid(r Rows, valid column.Bitmap, buf []uint16) []uint16 {
	j := 0
	if r.Sel == nil {
		buf = buf[:r.N]
		for i := 0; i < r.N; i++ {
			buf[j] = uint16(i)
			j += int(valid[i>>6] >> (uint(i) & 63) & 1)
		}
		return buf[:j]
	}
	for _, i := range r.Sel {
		buf[j] = i
		j += int(valid[i>>6] >> (i & 63) & 1)
	}
	return buf[:j]
}

// textOut writes the values of a text or bytes vector at ascending physical rows; rows in between
// become empty. Append a value to v.Bytes, then call end with its row; call finish after the last.
type textOut struct {
	v       *column.Vector
	next    int   // rows closed
	start   int32 // end of the last closed row
	tooLong bool
	grow    func(int64) error // of the Env
	held    int               // room that grow knows of
	err     error             // of grow
}

// grownText is how much text a vector may have that nobody is asked for.
const grownText = 1 << 20

// within makes the memory that the texts take that of the rows' environment.
func (t textOut) within(r Rows) textOut {
	t.grow, t.held = r.grow, max(cap(t.v.Bytes), grownText)
	return t
}

func newText(v *column.Vector, n int) textOut {
	if cap(v.Offsets) < n+1 {
		v.Offsets = make([]int32, n+1)
	}
	v.Offsets = v.Offsets[:n+1]
	v.Offsets[0] = 0
	v.Bytes = v.Bytes[:0]
	v.Len = n
	return textOut{v: v}
}

func (t *textOut) end(i int) {
	for t.next < i {
		t.next++
		t.v.Offsets[t.next] = t.start
	}
	if len(t.v.Bytes) > math.MaxInt32 {
		t.tooLong = true
		t.v.Bytes = t.v.Bytes[:t.start]
	}
	if c := cap(t.v.Bytes); t.grow != nil && c > t.held {
		if err := t.grow(int64(c - t.held)); err != nil && t.err == nil {
			t.err = err
		}
		t.held = c
	}
	if t.err != nil {
		t.v.Bytes = t.v.Bytes[:t.start]
	}
	t.next = i + 1
	t.start = int32(len(t.v.Bytes))
	t.v.Offsets[t.next] = t.start
}

func (t *textOut) put(i int, b []byte) {
	t.v.Bytes = append(t.v.Bytes, b...)
	t.end(i)
}

func (t *textOut) finish() error {
	for t.next < t.v.Len {
		t.next++
		t.v.Offsets[t.next] = t.start
	}
	if t.err != nil {
		return t.err
	}
	if t.tooLong {
		return rowError(-1, "the text of one batch of rows exceeds 2 GiB", "shorten the values that the function makes")
	}
	return nil
}
