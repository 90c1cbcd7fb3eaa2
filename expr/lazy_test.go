package expr

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

var errModel = errors.New("fails")

// oracle evaluates a tree for one row, the way SQL is read: nil is NULL, else int64 or bool. AND, OR,
// CASE, IF and COALESCE stop where they may.
func oracle(e Expr, b *column.Batch, row int) (any, error) {
	switch e := e.(type) {
	case *Column:
		v := b.Cols[e.Index]
		if v.IsNull(row) {
			return nil, nil
		}
		return v.Int64(row), nil
	case *Literal:
		switch v := e.Value; {
		case v.IsNull(0):
			return nil, nil
		case v.Type.Kind == types.Boolean:
			return v.Bool[0], nil
		default:
			return v.Int64(0), nil
		}
	case *Call:
		return oracleCall(e, b, row)
	}
	panic("not in the generated trees")
}

func oracleCall(c *Call, b *column.Batch, row int) (any, error) {
	arg := func(k int) (any, error) { return oracle(c.Args[k], b, row) }
	switch c.Func.Name {
	case "AND", "OR":
		stop := c.Func.Name == "OR"
		var res any = !stop
		for k := range c.Args {
			v, err := arg(k)
			if err != nil {
				return nil, err
			}
			if v == stop {
				return stop, nil
			}
			if v == nil {
				res = nil
			}
		}
		return res, nil
	case "CASE", "IF":
		for k := 0; k+1 < len(c.Args); k += 2 {
			v, err := arg(k)
			if err != nil {
				return nil, err
			}
			if v == true {
				return arg(k + 1)
			}
		}
		return arg(len(c.Args) - 1)
	case "COALESCE":
		for k := range c.Args {
			if v, err := arg(k); v != nil || err != nil {
				return v, err
			}
		}
		return nil, nil
	}
	vals := make([]any, len(c.Args))
	null := false
	for k := range vals {
		var err error
		if vals[k], err = arg(k); err != nil {
			return nil, err
		}
		null = null || vals[k] == nil
	}
	switch c.Func.Name {
	case "IS NULL":
		return vals[0] == nil, nil
	case "IS TRUE":
		return vals[0] == true, nil
	case "NULLIF":
		if !null && vals[0] == vals[1] {
			return nil, nil
		}
		return vals[0], nil
	case "IN":
		if vals[0] == nil {
			return nil, nil
		}
		var res any = false
		for _, v := range vals[1:] {
			if v == vals[0] {
				return true, nil
			}
			if v == nil {
				res = nil
			}
		}
		return res, nil
	}
	if null {
		return nil, nil
	}
	if c.Func.Name == "NOT" {
		return !vals[0].(bool), nil
	}
	x, y := vals[0].(int64), vals[1].(int64)
	switch c.Func.Name {
	case "=":
		return x == y, nil
	case "<":
		return x < y, nil
	case ">=":
		return x >= y, nil
	case "+":
		x += y
	case "-":
		x -= y
	case "*":
		x *= y
	case "/":
		if y == 0 {
			return nil, errModel
		}
		x /= y
	default:
		panic(c.Func.Name)
	}
	if x != int64(int32(x)) {
		return nil, errModel
	}
	return x, nil
}

// randomTree makes a tree over the INT columns 0 to 2.
func randomTree(r *rand.Rand, depth int, boolean bool) Expr {
	call := func(name string, args ...Expr) Expr {
		e, err := NewCall(name, args, Span{})
		if err != nil {
			panic(err)
		}
		return e
	}
	num := func() Expr { return randomTree(r, depth-1, false) }
	cond := func() Expr { return randomTree(r, depth-1, true) }
	if depth == 0 {
		switch {
		case boolean:
			return call("<", randomTree(r, 0, false), randomTree(r, 0, false))
		case r.IntN(3) == 0:
			return NewLiteral(types.Of(types.Int), []int64{0, 1, 2, -3, 2147483647}[r.IntN(5)], Span{})
		}
		return &Column{Index: r.IntN(3), Name: "c", T: types.Of(types.Int)}
	}
	if boolean {
		switch r.IntN(8) {
		case 0, 1:
			return call("AND", cond(), cond())
		case 2, 3:
			return call("OR", cond(), cond())
		case 4:
			return call("NOT", cond())
		case 5:
			return call("IN", num(), num(), num(), NewLiteral(types.Of(types.Int), int64(1), Span{}))
		case 6:
			return call([]string{"IS NULL", "IS TRUE"}[r.IntN(2)], cond())
		}
		return call([]string{"=", "<", ">="}[r.IntN(3)], num(), num())
	}
	switch r.IntN(8) {
	case 0:
		return call("CASE", cond(), num(), cond(), num(), num())
	case 1:
		return call("IF", cond(), num(), num())
	case 2:
		return call("COALESCE", num(), num())
	case 3:
		return call("NULLIF", num(), num())
	}
	return call([]string{"+", "-", "*", "/"}[r.IntN(4)], num(), num())
}

// TestLazyModel compares random trees over random rows with the oracle: values, NULLs, and which rows
// fail, whatever the selection, folded or not.
func TestLazyModel(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	const n = 100
	failed, passed := 0, 0
	for range 1500 {
		b := column.NewBatch([]types.Type{types.Of(types.Int), types.Of(types.Int), types.Of(types.Int)}, n)
		nulls := r.IntN(3)
		for i := 0; i < n; i++ {
			for c, v := range b.Cols {
				if c < nulls && r.IntN(4) == 0 {
					v.AppendNull()
				} else {
					v.AppendI64([]int64{0, 1, 2, 3, -1, -3, 2147483647}[r.IntN(7)])
				}
			}
			b.N++
		}
		e := randomTree(r, 1+r.IntN(4), r.IntN(2) == 0)
		want := make([]string, n)
		for i := range want {
			v, err := oracle(e, b, i)
			switch v := v.(type) {
			case nil:
				want[i] = "NULL"
			case bool:
				want[i] = boolText(v)
			case int64:
				want[i] = strconv.FormatInt(v, 10)
			}
			if err != nil {
				want[i] = ""
				failed++
			} else {
				passed++
			}
		}
		env := testEnv(t)
		checkTree(t, String(e), e, b, want, env, r)
		checkTree(t, "folded "+String(e), Fold(e, env), b, want, env, r)
	}
	require.Greater(t, failed, 1000)
	require.Greater(t, passed, 1000)
}

// checkTree is checkAgainst for trees in which a later operand may fail at an earlier row than the first
// failing one: only that some failing row is named can be asked.
func checkTree(t *testing.T, name string, e Expr, b *column.Batch, want []string, env *Env, r *rand.Rand) {
	t.Helper()
	good := want
	if ev, err := Compile(e, env); err == nil {
		if _, err := ev.Eval(b); err != nil {
			row := err.(*Error).Row
			require.Empty(t, want[row], "%s: row %d: %s", name, row, err)
			// The rest is checked over the rows that do not fail.
			sel := []uint16{}
			for i, w := range want {
				if w != "" {
					sel = append(sel, uint16(i))
				}
			}
			dense := (&column.Batch{Cols: b.Cols, N: b.N, Sel: sel}).Copy()
			good = nil
			for _, i := range sel {
				good = append(good, want[i])
			}
			b = dense
		} else {
			for i, w := range want {
				require.NotEmpty(t, w, "%s: row %d should fail", name, i)
			}
		}
	}
	if b.N > 0 {
		checkAgainst(t, fmt.Sprint(name), e, b, good, env, r)
	}
}
