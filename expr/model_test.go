package expr

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// exactTypes are the types whose arithmetic the model repeats with rational numbers.
func exactTypes() []types.Type {
	return []types.Type{
		types.Of(types.TinyInt), types.Of(types.SmallInt), types.Of(types.Int), types.Of(types.BigInt),
		types.DecimalOf(4, 2), types.DecimalOf(18, 0), types.DecimalOf(17, 9), types.DecimalOf(18, 18), types.DecimalOf(25, 5),
		types.DecimalOf(38, 0), types.DecimalOf(38, 20), types.DecimalOf(38, 38),
	}
}

// randomValue appends a value of an exact type, often one at an end of the range.
func randomValue(r *rand.Rand, v *column.Vector) {
	t := v.Type
	if r.IntN(6) == 0 {
		v.AppendNull()
		return
	}
	if t.Kind == types.Decimal {
		limit := types.Pow10(t.Precision).Big()
		n := new(big.Int)
		switch r.IntN(4) {
		case 0:
			n.SetInt64(r.Int64N(7))
		case 1:
			n.Sub(limit, big.NewInt(1+r.Int64N(2)))
		default:
			n.SetUint64(r.Uint64())
			n.Mul(n, new(big.Int).SetUint64(r.Uint64()))
			n.Rsh(n, uint(r.IntN(128)))
		}
		n.Rem(n, limit)
		if r.IntN(2) == 0 {
			n.Neg(n)
		}
		x, ok := types.Int128FromBig(n)
		if !ok {
			panic("a decimal of 38 digits fits")
		}
		v.AppendI128(x)
		return
	}
	bits := map[types.Kind]int{types.TinyInt: 8, types.SmallInt: 16, types.Int: 32, types.BigInt: 64}[t.Kind]
	lowest := int64(math.MinInt64) >> (64 - bits)
	switch r.IntN(4) {
	case 0:
		v.AppendI64(lowest + r.Int64N(2))
	case 1:
		v.AppendI64(-(lowest + 1) - r.Int64N(2))
	case 2:
		v.AppendI64(r.Int64N(9) - 4)
	default:
		v.AppendI64(int64(r.Uint64()) >> (64 - bits) >> r.IntN(bits))
	}
}

func rational(v *column.Vector, i int) *big.Rat {
	if v.Type.Kind == types.Decimal {
		return new(big.Rat).SetFrac(v.Int128(i).Big(), types.Pow10(v.Type.Scale).Big())
	}
	return new(big.Rat).SetInt64(v.Int64(i))
}

// inType writes x as a value of t, rounded half away from zero, or "" when t does not hold it.
func inType(x *big.Rat, t types.Type, round bool) string {
	y := new(big.Rat).Mul(x, new(big.Rat).SetInt(types.Pow10(t.Scale).Big()))
	half := big.NewRat(0, 1)
	if round {
		half.SetFrac64(1, 2)
	}
	n := new(big.Int)
	if y.Sign() < 0 {
		y.Sub(y, half)
	} else {
		y.Add(y, half)
	}
	n.Quo(y.Num(), y.Denom())
	switch t.Kind {
	case types.Decimal:
		if new(big.Int).Abs(n).Cmp(types.Pow10(t.Precision).Big()) >= 0 {
			return ""
		}
		v, _ := types.Int128FromBig(n)
		return decimalText(v, t)
	default:
		if !n.IsInt64() || !types.IntInRange(n.Int64(), t.Kind) {
			return ""
		}
		return n.String()
	}
}

// TestModel compares arithmetic, comparisons and casts of exact numbers with rational numbers.
func TestModel(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	env := testEnv(t)
	const n = 70
	for _, s := range exactTypes() {
		for _, u := range exactTypes() {
			b := column.NewBatch([]types.Type{s, u}, n)
			for i := 0; i < n; i++ {
				randomValue(r, b.Cols[0])
				randomValue(r, b.Cols[1])
			}
			b.N = n
			x, y := &Column{Index: 0, Name: "x", T: s}, &Column{Index: 1, Name: "y", T: u}
			constant := &Literal{Value: column.New(u.AsNotNull(), 1)}
			for constant.Value.Len == 0 || constant.Value.IsNull(0) {
				constant.Value.Reset()
				randomValue(r, constant.Value)
			}
			for _, op := range []string{"+", "-", "*", "/", "%", "=", "<>", "<", "<=", ">", ">=", "CAST", "TRY_CAST", "IS DISTINCT FROM"} {
				for _, right := range []Expr{y, constant} {
					var e Expr
					var err error
					switch op {
					case "CAST", "TRY_CAST":
						e, err = NewCast(x, u, op == "TRY_CAST", Span{})
					default:
						e, err = NewCall(op, []Expr{x, right}, Span{})
					}
					require.NoError(t, err)
					want := make([]string, n)
					for i := range want {
						want[i] = model(op, b.Cols[0], i, right, b, e.Type())
					}
					checkAgainst(t, fmt.Sprintf("%s %s %s", s, op, u), e, b, want, env, r)
				}
			}
		}
	}
}

// model computes one row; "" is an error.
func model(op string, xs *column.Vector, i int, right Expr, b *column.Batch, to types.Type) string {
	ys, j := b.Cols[1], i
	if l, ok := right.(*Literal); ok {
		ys, j = l.Value, 0
	}
	if op == "CAST" || op == "TRY_CAST" {
		if xs.IsNull(i) {
			return "NULL"
		}
		s := inType(rational(xs, i), to, to.Kind == types.Decimal)
		if s == "" && op == "TRY_CAST" {
			return "NULL"
		}
		return s
	}
	if op == "IS DISTINCT FROM" {
		if xs.IsNull(i) || ys.IsNull(j) {
			return boolText(xs.IsNull(i) != ys.IsNull(j))
		}
		return boolText(rational(xs, i).Cmp(rational(ys, j)) != 0)
	}
	if xs.IsNull(i) || ys.IsNull(j) {
		return "NULL"
	}
	x, y := rational(xs, i), rational(ys, j)
	c := x.Cmp(y)
	switch op {
	case "=":
		return boolText(c == 0)
	case "<>":
		return boolText(c != 0)
	case "<":
		return boolText(c < 0)
	case "<=":
		return boolText(c <= 0)
	case ">":
		return boolText(c > 0)
	case ">=":
		return boolText(c >= 0)
	case "+":
		x.Add(x, y)
	case "-":
		x.Sub(x, y)
	case "*":
		x.Mul(x, y)
	default:
		if y.Sign() == 0 {
			return ""
		}
		q := new(big.Rat).Quo(x, y)
		if op == "/" {
			return inType(q, to, to.Kind == types.Decimal)
		}
		whole := new(big.Int).Quo(q.Num(), q.Denom())
		x.Sub(x, y.Mul(y, new(big.Rat).SetInt(whole)))
	}
	return inType(x, to, true)
}

func boolText(b bool) string { return string(types.AppendBoolean(nil, b)) }

// checkAgainst evaluates e with no selection, with selections that avoid the failing rows, and as a filter.
func checkAgainst(t *testing.T, name string, e Expr, b *column.Batch, want []string, env *Env, r *rand.Rand) {
	t.Helper()
	ev, err := Compile(e, env)
	require.NoError(t, err)
	var good, some []uint16
	firstBad := -1
	for i, w := range want {
		if w == "" {
			if firstBad < 0 {
				firstBad = i
			}
			continue
		}
		good = append(good, uint16(i))
		if r.IntN(2) == 0 {
			some = append(some, uint16(i))
		}
	}
	if some == nil {
		some = []uint16{}
	}
	if firstBad >= 0 {
		require.True(t, Fallible(e), "%s is fallible", name)
		_, err := ev.Eval(b)
		require.Error(t, err, name)
		require.Equal(t, firstBad, err.(*Error).Row, "%s: %s", name, err)
	} else {
		v, err := ev.Eval(b)
		require.NoError(t, err, name)
		for i := range want {
			if got := show(v, i, env); got != want[i] {
				t.Fatalf("%s: row %d (%s, %s): %s instead of %s", name, i, show(b.Cols[0], i, env), show(b.Cols[1], i, env), got, want[i])
			}
		}
	}
	for _, sel := range [][]uint16{good, some} {
		sb := &column.Batch{Cols: b.Cols, N: b.N, Sel: sel}
		v, err := ev.Eval(sb)
		require.NoError(t, err, name)
		truth := []uint16{}
		for _, i := range sel {
			if got := show(v, int(i), env); got != want[i] {
				t.Fatalf("%s: row %d (%s, %s): %s instead of %s", name, i, show(b.Cols[0], int(i), env), show(b.Cols[1], int(i), env), got, want[i])
			}
			if want[i] == "TRUE" {
				truth = append(truth, i)
			}
		}
		if e.Type().Kind == types.Boolean {
			f, err := CompileFilter(e, env)
			require.NoError(t, err)
			got, err := f.Select(sb, nil)
			require.NoError(t, err)
			require.Equal(t, truth, got, name)
		}
	}
}

// TestLikeModel compares the matcher with one that tries everything.
func TestLikeModel(t *testing.T) {
	var slow func(s, p []rune) bool
	slow = func(s, p []rune) bool {
		if len(p) == 0 {
			return len(s) == 0
		}
		if p[0] == '%' {
			return slow(s, p[1:]) || len(s) > 0 && slow(s[1:], p)
		}
		return len(s) > 0 && (p[0] == '_' || p[0] == s[0]) && slow(s[1:], p[1:])
	}
	r := rand.New(rand.NewPCG(3, 3))
	word := func(letters string, most int) string {
		var out []rune
		rs := []rune(letters)
		for n := r.IntN(most); n > 0; n-- {
			out = append(out, rs[r.IntN(len(rs))])
		}
		return string(out)
	}
	matched := 0
	for range 20000 {
		s, p := word("abé", 8), word("abé%_", 8)
		c, err := compileLike([]byte(p), -1)
		require.NoError(t, err)
		want := slow([]rune(s), []rune(p))
		if want {
			matched++
		}
		require.Equal(t, want, c.match([]byte(s)), "'%s' LIKE '%s'", s, p)
	}
	require.Greater(t, matched, 1000)
}

// TestTextModel compares texts with Go's own order, by vectors, constants and filters.
func TestTextModel(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	env := testEnv(t)
	ts := []types.Type{types.String(), types.WithPrecision(types.VarChar, 3)}
	b := column.NewBatch(ts, 300)
	for i := 0; i < 300; i++ {
		for _, c := range b.Cols {
			if r.IntN(7) == 0 {
				c.AppendNull()
			} else {
				c.AppendString([]string{"", "a", "ab", "b", "ä", "ab ", "zz", "1998-09-02", "1998-09-01", "1998-10-01", "1998-09-02 ", "1998-09-"}[r.IntN(12)])
			}
		}
		b.N++
	}
	x, y := &Column{Index: 0, T: ts[0]}, &Column{Index: 1, T: ts[1]}
	for _, op := range []string{"=", "<>", "<", "<=", ">", ">="} {
		for _, right := range []Expr{y, NewLiteral(ts[0], "ab", Span{}), NewLiteral(ts[0], "1998-09-02", Span{}), NewLiteral(ts[0], "1998-09-", Span{})} {
			for _, swap := range []bool{false, true} {
				l, rt := Expr(x), right
				if swap {
					l, rt = rt, l
				}
				e, err := NewCall(op, []Expr{l, rt}, Span{})
				require.NoError(t, err)
				want := make([]string, b.N)
				for i := range want {
					text := func(e Expr) (string, bool) {
						if c, ok := e.(*Column); ok {
							return string(b.Cols[c.Index].Value(i)), b.Cols[c.Index].IsNull(i)
						}
						return string(e.(*Literal).Value.Value(0)), false
					}
					p, pn := text(l)
					q, qn := text(rt)
					want[i] = boolText(map[string]bool{"=": p == q, "<>": p != q, "<": p < q, "<=": p <= q, ">": p > q, ">=": p >= q}[op])
					if pn || qn {
						want[i] = "NULL"
					}
				}
				checkAgainst(t, op, e, b, want, env, r)
			}
		}
	}
}
