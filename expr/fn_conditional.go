package expr

import (
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

func conditionalFunctions() []Function {
	extreme := func(name, doc, example, result string, op cmpOp) Function {
		return Function{
			Name: name, Group: "conditional", Syntax: name + "(value1, value2, …)", Doc: doc, Example: example, Result: result,
			Min: 1, Max: -1,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				params, t, err := bindSameType(args)
				if err == nil && t.IsNested() {
					err = errMismatch
				}
				return params, t, err
			},
			Kernel: func(c *Call, _ *Env) (Step, error) { return extremeStep(c, op), nil },
		}
	}
	// check makes a test of texts, which is FALSE for NULL; number says what it is of numbers.
	check := func(name, doc, example, result string, test func([]byte) bool, number func(types.Type) bool) Function {
		return Function{
			Name: name, Group: "conditional", Syntax: name + "(string)", Doc: doc, Example: example, Result: result,
			Min: 1, Max: 1, Nulls: NullsOwn,
			Bind: takes(returns(types.Of(types.Boolean).AsNotNull()), func(t types.Type) (types.Type, bool) {
				if t.IsNumeric() {
					return t, true
				}
				return text(t)
			}),
			Kernel: func(c *Call, _ *Env) (Step, error) {
				t := c.Args[0].Type()
				if t.IsNumeric() {
					is := number(t)
					return func(r Rows, args []Arg, out *column.Vector) error {
						for k, n := 0, r.Count(); k < n; k++ {
							i := r.Row(k)
							out.Bool[i] = is && !args[0].null(i)
						}
						return nil
					}, nil
				}
				return func(r Rows, args []Arg, out *column.Vector) error {
					x := args[0]
					for k, n := 0, r.Count(); k < n; k++ {
						i := r.Row(k)
						out.Bool[i] = !x.null(i) && test(x.text(i))
					}
					return nil
				}, nil
			},
		}
	}
	return []Function{
		{
			Name: "CASE", Group: "conditional", Syntax: "CASE WHEN condition THEN value [WHEN …] [ELSE value] END",
			Doc:     "The value of the first condition that is TRUE, else the ELSE value. Each operand is evaluated only for the rows that need it.",
			Example: "CASE WHEN 1 > 2 THEN 'more' ELSE 'less' END", Result: "less", Min: 3, Max: -1, Hidden: true, Nulls: NullsOwn,
			Bind: bindCase("WHEN must be followed by a condition"),
			Lazy: func(c *Call, _ *Env) (LazyStep, error) { return caseStep(len(c.Args), c.T), nil },
		},
		{
			Name: "IF", Group: "conditional", Syntax: "IF(condition, value1, value2)",
			Doc: "value1 where the condition is TRUE, else value2.", Example: "IF(5 > 3, 'yes', 'no')", Result: "yes",
			Min: 3, Max: 3, Nulls: NullsOwn, Bind: bindCase("The first argument of IF must be a condition"),
			Lazy: func(c *Call, _ *Env) (LazyStep, error) { return caseStep(len(c.Args), c.T), nil },
		},
		{
			Name: "COALESCE", Group: "conditional", Syntax: "COALESCE(value1, value2, …)",
			Doc: "The first value that is not NULL.", Example: "COALESCE(NULL, 5)", Result: "5",
			Min: 1, Max: -1, Nulls: NullsOwn, Bind: bindCoalesce,
			Lazy: func(c *Call, _ *Env) (LazyStep, error) { return coalesceStep(len(c.Args), c.T), nil },
		},
		{
			Name: "IFNULL", Group: "conditional", Syntax: "IFNULL(value1, value2)",
			Doc: "value1, or value2 where value1 is NULL.", Example: "IFNULL(CAST(NULL AS INT), 7)", Result: "7",
			Min: 2, Max: 2, Nulls: NullsOwn, Bind: bindCoalesce,
			Lazy: func(c *Call, _ *Env) (LazyStep, error) { return coalesceStep(len(c.Args), c.T), nil },
		},
		{
			Name: "NULLIF", Group: "conditional", Syntax: "NULLIF(value1, value2)",
			Doc: "NULL where the values are equal, else value1.", Example: "NULLIF(5, 5)", Result: "NULL",
			Min: 2, Max: 2, Nulls: NullsOwn,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				s, t, err := comparable(args[0], args[1])
				if err != nil {
					return nil, s, err
				}
				first, second := args[0].Type(), args[1].Type()
				if first.Kind == types.Null {
					return nil, first, nil // NULL, whatever it is compared with
				}
				if second.Kind == types.Null || second.IsString() && !first.IsString() {
					second = t
				}
				return []types.Type{first, second}, first.AsNullable(), nil
			},
			Kernel: nullifKernel, Fallible: true,
			MayFail: func(c *Call) bool {
				s, t, err := comparable(c.Args[0], c.Args[1])
				return err != nil || castMayFail(c.Args[0].Type(), s) || castMayFail(c.Args[1].Type(), t)
			},
		},
		extreme("GREATEST", "The greatest value, NaN above all other numbers; NULL when one is NULL.", "GREATEST(3, 9, 4)", "9", opGT),
		extreme("LEAST", "The least value, NaN above all other numbers; NULL when one is NULL.", "LEAST('pear', 'apple')", "apple", opLT),
		check("IS_ALPHA", "TRUE when every character is a letter; FALSE for NULL.", "IS_ALPHA('abc')", "TRUE", func(b []byte) bool {
			return everyRune(b, unicode.IsLetter)
		}, func(types.Type) bool { return false }),
		check("IS_DIGIT", "TRUE when every character is a digit; FALSE for NULL.", "IS_DIGIT('12a')", "FALSE", func(b []byte) bool {
			return everyRune(b, unicode.IsDigit)
		}, types.Type.IsInteger),
		check("IS_DECIMAL", "TRUE when the text reads as a number; FALSE for NULL.", "IS_DECIMAL('-1.5')", "TRUE", func(b []byte) bool {
			_, ok := types.DecimalTypeOf(b)
			return ok
		}, func(types.Type) bool { return true }),
	}
}

func everyRune(b []byte, is func(rune) bool) bool {
	for i := 0; i < len(b); {
		c, n := utf8.DecodeRune(b[i:])
		if !is(c) {
			return false
		}
		i += n
	}
	return len(b) > 0
}

func typesOf(args []Expr) []types.Type {
	ts := make([]types.Type, len(args))
	for i, a := range args {
		ts[i] = a.Type()
	}
	return ts
}

// bindSameType brings all arguments to their common type; it is NULL where all of them are NULL.
func bindSameType(args []Expr) ([]types.Type, types.Type, error) {
	w := types.Of(types.Null)
	for i, t := range typesOf(args) {
		u, ok := types.CommonType(w, t)
		if !ok {
			return nil, w, argMismatch{i}
		}
		if w = u; i == 0 {
			w = t
		}
	}
	params := make([]types.Type, len(args))
	for i := range params {
		params[i] = w
	}
	return params, w, nil
}

// bindValues is bindSameType for the values of CASE, IF, COALESCE and IFNULL.
func bindValues(vals []Expr) ([]types.Type, types.Type, error) {
	params, w, err := bindSameType(vals)
	if m, ok := err.(argMismatch); ok {
		bad, other := vals[m.arg], vals[0]
		for _, v := range vals[:m.arg] {
			if _, ok := types.CommonType(v.Type(), bad.Type()); !ok {
				other = v
				break
			}
		}
		return nil, w, &Error{Span: bad.Span(), Row: -1, Hint: sameTypeHint(other, bad),
			Msg: fmt.Sprintf("Illegal mixing of types in CASE or COALESCE statement: %s and %s", other.Type().AsNullable(), bad.Type().AsNullable())}
	}
	return params, w, err
}

// bindCase types condition, value, condition, value, …, else; want is the error where a condition is none.
func bindCase(want string) func(args []Expr) ([]types.Type, types.Type, error) {
	return func(args []Expr) ([]types.Type, types.Type, error) {
		if len(args)%2 == 0 {
			return nil, types.Type{}, errMismatch
		}
		var vals []Expr
		params := make([]types.Type, len(args))
		for i, a := range args {
			if i%2 == 1 || i == len(args)-1 {
				vals = append(vals, a)
				continue
			}
			t, ok := boolean(a.Type())
			if !ok {
				return nil, t, &Error{Span: a.Span(), Row: -1, Hint: conditionHint([]Expr{a}),
					Msg: fmt.Sprintf("%s, this is of type %s", want, a.Type().AsNullable())}
			}
			params[i] = t
		}
		_, w, err := bindValues(vals)
		if err != nil {
			return nil, w, err
		}
		for i := range args {
			if i%2 == 1 || i == len(args)-1 {
				params[i] = w
			}
		}
		return params, w, nil
	}
}

func bindCoalesce(args []Expr) ([]types.Type, types.Type, error) {
	params, w, err := bindValues(args)
	if err != nil {
		return nil, w, err
	}
	nullable := true
	for _, a := range args {
		nullable = nullable && a.Type().Nullable()
	}
	return params, w.WithNullable(nullable), nil
}

// merger collects the values of a lazy function's operands, each for rows of its own. Fixed-width
// values are copied as they come; texts and nested values need ascending rows and are put together at the
// end.
type merger struct {
	out    *column.Vector
	bits   column.Bitmap
	vals   []Arg
	source []uint16 // by row: which of vals, for texts
	text   bool     // or a nested type
}

func newMerger(t types.Type) *merger {
	return &merger{text: column.PhysicalOf(t) == column.PhysBytes || t.IsNested()}
}

func (m *merger) start(out *column.Vector, r Rows) {
	m.out = out
	m.vals = m.vals[:0]
	if m.text {
		room(&m.source, r.N)
		m.source = m.source[:r.N]
	}
}

// take gives the rows of r the values of v.
func (m *merger) take(v Arg, r Rows) {
	out, n := m.out, r.Count()
	if v.Valid != nil {
		for k := 0; k < n; k++ {
			if i := r.Row(k); v.null(i) {
				m.setNull(i, r.N)
			}
		}
	}
	switch column.PhysicalOf(out.Type) {
	case column.PhysBool:
		copyRows(v, r, v.Bool, out.Bool)
	case column.PhysI8:
		copyRows(v, r, v.I8, out.I8)
	case column.PhysI16:
		copyRows(v, r, v.I16, out.I16)
	case column.PhysI32:
		copyRows(v, r, v.I32, out.I32)
	case column.PhysI64:
		copyRows(v, r, v.I64, out.I64)
	case column.PhysI128:
		copyRows(v, r, v.I128, out.I128)
	case column.PhysF32:
		copyRows(v, r, v.F32, out.F32)
	case column.PhysF64:
		copyRows(v, r, v.F64, out.F64)
	default:
		for k := 0; k < n; k++ {
			m.source[r.Row(k)] = uint16(len(m.vals))
		}
		m.vals = append(m.vals, v)
	}
}

func (m *merger) setNull(i, n int) {
	if m.out.Valid == nil {
		m.out.Valid = validWords(&m.bits, n)
	}
	m.out.Valid.Clear(i)
}

func copyRows[T any](v Arg, r Rows, src, dst []T) {
	for k, n := 0, r.Count(); k < n; k++ {
		i := r.Row(k)
		dst[i] = src[v.At(i)]
	}
}

// finish puts texts together for all rows of r.
func (m *merger) finish(r Rows) error {
	if !m.text {
		return nil
	}
	if m.out.Type.IsNested() {
		valid := m.out.Valid
		o := newNested(m.out, r.N)
		for k, n := 0, r.Count(); k < n; k++ {
			if i := r.Row(k); valid.Get(i) {
				o.row(i)
				v := m.vals[m.source[i]]
				m.out.AppendFrom(v.Vector, v.At(i))
			}
		}
		o.finish()
		return nil
	}
	t := newText(m.out, r.N).within(r)
	for k, n := 0, r.Count(); k < n; k++ {
		i := r.Row(k)
		if !m.out.Valid.Get(i) {
			continue
		}
		v := m.vals[m.source[i]]
		t.put(i, v.Value(v.At(i)))
	}
	return t.finish()
}

func caseStep(args int, t types.Type) LazyStep {
	m := newMerger(t)
	var mem, hit []uint16
	return func(r Rows, eval func(int, Rows) (Arg, error), out *column.Vector) error {
		m.start(out, r)
		need := r
		for k := 0; k+1 < args && need.Count() > 0; k += 2 {
			cond, err := eval(k, need)
			if err != nil {
				return err
			}
			rest, yes := room(&mem, r.N), room(&hit, r.N)
			nr, ny := 0, 0
			for x, n := 0, need.Count(); x < n; x++ {
				i := need.Row(x)
				t := cond.Bool[cond.At(i)] && !cond.null(i)
				rest[nr], yes[ny] = uint16(i), uint16(i)
				if t {
					ny++
				} else {
					nr++
				}
			}
			if ny > 0 {
				rows := Rows{Sel: yes[:ny], N: r.N, grow: r.grow}
				v, err := eval(k+1, rows)
				if err != nil {
					return err
				}
				m.take(v, rows)
			}
			need = Rows{Sel: rest[:nr], N: r.N, grow: r.grow}
		}
		if need.Count() > 0 {
			v, err := eval(args-1, need)
			if err != nil {
				return err
			}
			m.take(v, need)
		}
		return m.finish(r)
	}
}

func coalesceStep(args int, t types.Type) LazyStep {
	m := newMerger(t)
	var mem, hit []uint16
	return func(r Rows, eval func(int, Rows) (Arg, error), out *column.Vector) error {
		m.start(out, r)
		need := r
		for k := 0; k < args && need.Count() > 0; k++ {
			v, err := eval(k, need)
			if err != nil {
				return err
			}
			if v.Valid == nil || k == args-1 {
				m.take(v, need)
				break
			}
			rest, found := room(&mem, r.N), room(&hit, r.N)
			nr, nf := 0, 0
			for x, n := 0, need.Count(); x < n; x++ {
				i := need.Row(x)
				null := v.null(i)
				rest[nr], found[nf] = uint16(i), uint16(i)
				if null {
					nr++
				} else {
					nf++
				}
			}
			m.take(v, Rows{Sel: found[:nf], N: r.N, grow: r.grow})
			need = Rows{Sel: rest[:nr], N: r.N, grow: r.grow}
		}
		return m.finish(r)
	}
}

// nullifKernel compares in the types' common type but returns the first value as it is.
func nullifKernel(c *Call, env *Env) (Step, error) {
	s, t, err := comparable(c.Args[0], c.Args[1])
	if err != nil {
		return nil, err
	}
	conv := func(k int, to types.Type) func(r Rows, x Arg) (Arg, error) {
		if c.Args[k].Type().SameKind(to) {
			return func(_ Rows, x Arg) (Arg, error) { return x, nil }
		}
		given := &givenNode{}
		cast := &castNode{
			arg: given, cast: &Cast{T: to, At: c.At}, from: c.Args[k].Type(), zone: env.Zone, out: column.New(to, 0),
			step: newCastStep(c.Args[k].Type(), to, env.Zone),
		}
		cast.bad = cast.fail
		return func(r Rows, x Arg) (Arg, error) {
			given.x = x
			return cast.eval(nil, r)
		}
	}
	left, right := conv(0, s), conv(1, t)
	eq := compareStep(opEQ, s, t)
	same := column.New(types.Of(types.Boolean), 0)
	m := newMerger(c.T)
	return func(r Rows, args []Arg, out *column.Vector) error {
		x, err := left(r, args[0])
		if err != nil {
			return err
		}
		y, err := right(r, args[1])
		if err != nil {
			return err
		}
		same.Resize(r.N)
		if err := eq(r, []Arg{x, y}, same); err != nil {
			return err
		}
		m.start(out, r)
		m.take(args[0], r)
		for k, n := 0, r.Count(); k < n; k++ {
			if i := r.Row(k); same.Bool[i] && !x.null(i) && !y.null(i) {
				m.setNull(i, r.N)
			}
		}
		return m.finish(r)
	}, nil
}

// givenNode is a node whose value is put there.
type givenNode struct{ x Arg }

func (g *givenNode) eval(*column.Batch, Rows) (Arg, error) { return g.x, nil }

// floatOrderStep compares as MIN, MAX and ORDER BY do, NaN above all: opLT or opGT.
func floatOrderStep(op cmpOp) Step {
	sign := 1
	if op == opLT {
		sign = -1
	}
	return func(r Rows, args []Arg, out *column.Vector) error {
		x, y := args[0], args[1]
		single := x.Type.Kind == types.Float
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			if single {
				out.Bool[i] = column.CompareFloat(float64(x.F32[x.At(i)]), float64(y.F32[y.At(i)])) == sign
			} else {
				out.Bool[i] = column.CompareFloat(x.F64[x.At(i)], y.F64[y.At(i)]) == sign
			}
		}
		return nil
	}
}

func extremeStep(c *Call, op cmpOp) Step {
	t := c.Args[0].Type()
	better := compareStep(op, t, t)
	if t.IsFloat() {
		better = floatOrderStep(op)
	}
	flags := column.New(types.Of(types.Boolean), 0)
	pick := make([]uint16, 0)
	return func(r Rows, args []Arg, out *column.Vector) error {
		best := room(&pick, r.N)
		n := r.Count()
		for k := 0; k < n; k++ {
			best[r.Row(k)] = 0
		}
		flags.Resize(r.N)
		// An argument replaces the best so far where it beats it; each is compared with every other, so
		// that the comparison runs over whole vectors.
		for a := 1; a < len(args); a++ {
			for b := 0; b < a; b++ {
				if err := better(r, []Arg{args[a], args[b]}, flags); err != nil {
					return err
				}
				for k := 0; k < n; k++ {
					if i := r.Row(k); int(best[i]) == b && flags.Bool[i] {
						best[i] = uint16(a) | 1<<15
					}
				}
			}
			for k := 0; k < n; k++ {
				best[r.Row(k)] &^= 1 << 15
			}
		}
		if column.PhysicalOf(t) == column.PhysBytes {
			w := newText(out, r.N).within(r)
			for k := 0; k < n; k++ {
				i := r.Row(k)
				x := args[best[i]]
				w.put(i, x.Value(x.At(i)))
			}
			return w.finish()
		}
		for k := 0; k < n; k++ {
			i := r.Row(k)
			x := args[best[i]]
			copyRow(out, i, x.Vector, x.At(i))
		}
		return nil
	}
}
