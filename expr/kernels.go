package expr

import (
	"errors"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// errNull is what a per-row function returns for a NULL result.
var errNull = errors.New("NULL")

// text returns the text of the argument at physical row i; it belongs to the argument.
func (a Arg) text(i int) []byte { return a.Value(i & a.mask) }

// int returns the value of a BIGINT argument at physical row i.
func (a Arg) int(i int) int64 { return a.I64[i&a.mask] }

// nan reports whether the value of physical row i of a FLOAT or DOUBLE argument is NaN.
func (a Arg) nan(i int) bool {
	if a.Type.Kind == types.Float {
		x := a.F32[i&a.mask]
		return x != x
	}
	x := a.F64[i&a.mask]
	return x != x
}

// float returns the value of a DOUBLE argument at physical row i.
func (a Arg) float(i int) float64 { return a.F64[i&a.mask] }

// The makers below turn a function of one row into a kernel, for functions whose work outweighs a call.

// textOf makes a kernel whose f appends the text of row i to dst.
func textOf(f func(dst []byte, a []Arg, i int) ([]byte, error)) Kernel {
	return func(*Call, *Env) (Step, error) { return textStep(f), nil }
}

func textStep(f func(dst []byte, a []Arg, i int) ([]byte, error)) Step {
	return func(r Rows, args []Arg, out *column.Vector) error {
		t := newText(out, r.N).within(r)
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			start := len(out.Bytes)
			b, err := f(out.Bytes, args, i)
			switch {
			case err == nil:
				out.Bytes = b
			case err == errNull:
				out.Bytes = out.Bytes[:start]
				out.SetNull(i)
			default:
				return located(err, i)
			}
			t.end(i)
			if t.err != nil {
				return t.err
			}
		}
		return t.finish()
	}
}

// intOf makes a kernel with a result of integer form; f sees to the range.
func intOf(f func(a []Arg, i int) (int64, error)) Kernel {
	return func(*Call, *Env) (Step, error) { return intStepOf(f), nil }
}

func intStepOf(f func(a []Arg, i int) (int64, error)) Step {
	return func(r Rows, args []Arg, out *column.Vector) error {
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			v, err := f(args, i)
			switch {
			case err == nil:
				setInt(out, i, v)
			case err == errNull:
				out.SetNull(i)
			default:
				return located(err, i)
			}
		}
		return nil
	}
}

// boolOf makes a kernel with a BOOLEAN result.
func boolOf(f func(a []Arg, i int) (bool, error)) Kernel {
	return func(*Call, *Env) (Step, error) {
		return func(r Rows, args []Arg, out *column.Vector) error {
			for k, n := 0, r.Count(); k < n; k++ {
				i := r.Row(k)
				v, err := f(args, i)
				switch {
				case err == nil:
					out.Bool[i] = v
				case err == errNull:
					out.SetNull(i)
				default:
					return located(err, i)
				}
			}
			return nil
		}, nil
	}
}

// floatOf1 makes a kernel of a function of one DOUBLE that cannot fail.
func floatOf1(f func(float64) float64) Kernel {
	return func(*Call, *Env) (Step, error) {
		return func(r Rows, args []Arg, out *column.Vector) error {
			x := args[0]
			for k, n := 0, r.Count(); k < n; k++ {
				i := r.Row(k)
				out.F64[i] = f(x.float(i))
			}
			return nil
		}, nil
	}
}

// located gives an error of a per-row function its row.
func located(err error, i int) error {
	if e, ok := err.(*Error); ok {
		e.Row = i
		return e
	}
	return rowError(i, err.Error(), "")
}

// failure is an error of a per-row function; the caller adds row and span.
func failure(msg, hint string) error { return &Error{Msg: msg, Hint: hint, Row: -1} }
