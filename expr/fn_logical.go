package expr

import (
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

func logicalFunctions() []Function {
	is := func(name, doc, example, result string, match func(null, value bool) bool) Function {
		return Function{
			Name: name, Group: "logical", Syntax: "boolean " + name, Doc: doc, Example: example, Result: result,
			Min: 1, Max: 1, Hidden: true, Nulls: NullsOwn,
			Bind: takes(returns(types.Of(types.Boolean).AsNotNull()), boolean),
			Kernel: func(*Call, *Env) (Step, error) {
				// Indexed by value plus twice NULL.
				table := [4]bool{match(false, false), match(false, true), match(true, false), match(true, true)}
				return func(r Rows, args []Arg, out *column.Vector) error {
					x := args[0]
					for k, n := 0, r.Count(); k < n; k++ {
						i := r.Row(k)
						out.Bool[i] = table[b2i(x.Bool[x.At(i)])|b2i(x.null(i))<<1]
					}
					return nil
				}, nil
			},
		}
	}
	return []Function{
		{
			Name: "AND", Group: "logical", Syntax: "boolean1 AND boolean2",
			Doc:     "TRUE when both are TRUE, FALSE when one is FALSE, else UNKNOWN. The second is evaluated only where the first is not FALSE.",
			Example: "TRUE AND CAST(NULL AS BOOLEAN)", Result: "NULL", Min: 2, Max: -1, Hidden: true, Nulls: NullsStrict,
			Bind: takes(returns(types.Of(types.Boolean)), boolean),
			Lazy: func(c *Call, _ *Env) (LazyStep, error) { return connective(len(c.Args), false), nil },
		},
		{
			Name: "OR", Group: "logical", Syntax: "boolean1 OR boolean2",
			Doc:     "TRUE when one is TRUE, FALSE when both are FALSE, else UNKNOWN. The second is evaluated only where the first is not TRUE.",
			Example: "TRUE OR 1 / 0 = 1", Result: "TRUE", Min: 2, Max: -1, Hidden: true, Nulls: NullsStrict,
			Bind: takes(returns(types.Of(types.Boolean)), boolean),
			Lazy: func(c *Call, _ *Env) (LazyStep, error) { return connective(len(c.Args), true), nil },
		},
		{
			Name: "NOT", Group: "logical", Syntax: "NOT boolean", Doc: "TRUE for FALSE, FALSE for TRUE, UNKNOWN for UNKNOWN.",
			Example: "NOT 1 = 2", Result: "TRUE", Min: 1, Max: 1, Hidden: true, Total: true,
			Bind: takes(returns(types.Of(types.Boolean)), boolean),
			Kernel: func(*Call, *Env) (Step, error) {
				return func(r Rows, args []Arg, out *column.Vector) error {
					x := args[0]
					for k, n := 0, r.Count(); k < n; k++ {
						i := r.Row(k)
						out.Bool[i] = !x.Bool[x.At(i)]
					}
					return nil
				}, nil
			},
		},
		is("IS TRUE", "TRUE when the value is TRUE; never UNKNOWN.", "CAST(NULL AS BOOLEAN) IS TRUE", "FALSE",
			func(null, v bool) bool { return !null && v }),
		is("IS NOT TRUE", "TRUE when the value is FALSE or UNKNOWN.", "CAST(NULL AS BOOLEAN) IS NOT TRUE", "TRUE",
			func(null, v bool) bool { return null || !v }),
		is("IS FALSE", "TRUE when the value is FALSE; never UNKNOWN.", "1 > 2 IS FALSE", "TRUE",
			func(null, v bool) bool { return !null && !v }),
		is("IS NOT FALSE", "TRUE when the value is TRUE or UNKNOWN.", "1 > 2 IS NOT FALSE", "FALSE",
			func(null, v bool) bool { return null || v }),
		is("IS UNKNOWN", "TRUE when the value is UNKNOWN (NULL).", "1 > CAST(NULL AS INT) IS UNKNOWN", "TRUE",
			func(null, _ bool) bool { return null }),
		is("IS NOT UNKNOWN", "TRUE when the value is TRUE or FALSE.", "1 > 2 IS NOT UNKNOWN", "TRUE",
			func(null, _ bool) bool { return !null }),
	}
}

// connective is AND (stop is FALSE) or OR (stop is TRUE): an operand whose value is stop decides the
// row, and no further operand is evaluated there.
func connective(operands int, stop bool) LazyStep {
	var mem []uint16
	var bits column.Bitmap
	return func(r Rows, eval func(int, Rows) (Arg, error), out *column.Vector) error {
		res := out.Bool
		for k, n := 0, r.Count(); k < n; k++ {
			res[r.Row(k)] = !stop
		}
		need := r
		for o := 0; o < operands; o++ {
			n := need.Count()
			if n == 0 {
				return nil
			}
			v, err := eval(o, need)
			if err != nil {
				return err
			}
			buf, j := room(&mem, r.N), 0
			if v.Valid == nil && out.Valid == nil {
				for k := 0; k < n; k++ {
					i := need.Row(k)
					x := v.Bool[v.At(i)]
					res[i] = x
					buf[j] = uint16(i)
					if x != stop {
						j++
					}
				}
			} else {
				if out.Valid == nil {
					out.Valid = validWords(&bits, r.N)
				}
				for k := 0; k < n; k++ {
					i := need.Row(k)
					buf[j] = uint16(i)
					switch {
					case v.null(i):
						out.Valid.Clear(i)
						j++
					case v.Bool[v.At(i)] == stop:
						res[i] = stop
						out.Valid.Set(i)
					default:
						j++
					}
				}
			}
			need = Rows{Sel: buf[:j], N: r.N, grow: r.grow}
		}
		return nil
	}
}

// validWords returns a bitmap of n set bits in the memory of *mem.
func validWords(mem *column.Bitmap, n int) column.Bitmap {
	words := (n + 63) / 64
	if cap(*mem) < words {
		*mem = make(column.Bitmap, words)
	}
	b := (*mem)[:words]
	for i := range b {
		b[i] = ^uint64(0)
	}
	return b
}
