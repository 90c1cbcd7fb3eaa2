package datagen

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// sequence counts from start, a row a step.
type sequence struct {
	typ   types.Type
	start int64
}

func (g *sequence) size() int64 {
	if g.typ.Kind == types.Char || g.typ.Kind == types.Binary {
		return int64(g.typ.Precision) + 24
	}
	return 24
}

func (g *sequence) fill(v *column.Vector, a rows) {
	first := g.start + int64(a.row)
	v.Resize(a.n)
	switch g.typ.Kind {
	case types.TinyInt:
		count(v.I8, first)
	case types.SmallInt:
		count(v.I16, first)
	case types.Int:
		count(v.I32, first)
	case types.BigInt:
		count(v.I64, first)
	case types.Float:
		count(v.F32, first)
	case types.Double:
		count(v.F64, first)
	case types.Decimal:
		if g.typ.Wide() {
			one := types.Pow10(g.typ.Scale)
			for i := range v.I128 {
				v.I128[i], _ = types.Int128From(first + int64(i)).Mul(one) // the range has been checked
			}
			return
		}
		one := types.Pow10Int64(g.typ.Scale)
		for i := range v.I64 {
			v.I64[i] = (first + int64(i)) * one
		}
	default:
		var b []byte
		for i := range a.n {
			b = g.appendText(b[:0], first+int64(i))
			v.AppendBytes(b)
		}
	}
}

func count[T int8 | int16 | int32 | int64 | float32 | float64](dst []T, first int64) {
	for i := range dst {
		dst[i] = T(first + int64(i))
	}
}

// appendText appends the digits of a number or, as binary, its bytes, the highest first.
func (g *sequence) appendText(b []byte, x int64) []byte {
	switch g.typ.Kind {
	case types.Char:
		return types.AppendFitted(b, strconv.AppendInt(nil, x, 10), g.typ)
	case types.VarChar:
		return strconv.AppendInt(b, x, 10)
	}
	n := 8
	if g.typ.Kind == types.Binary || g.typ.Precision < n {
		n = g.typ.Precision
	}
	for ; n > 8; n-- {
		b = append(b, byte(x>>63))
	}
	var whole [8]byte
	binary.BigEndian.PutUint64(whole[:], uint64(x))
	return append(b, whole[8-n:]...)
}

// fits reports whether the type can hold a number.
func (g *sequence) fits(x int64) bool {
	switch t := g.typ; t.Kind {
	case types.Decimal:
		v, ok := types.Int128From(x).Mul(types.Pow10(t.Scale))
		return ok && v.Fits(t.Precision)
	case types.Char, types.VarChar:
		return len(strconv.FormatInt(x, 10)) <= t.Precision
	case types.Binary, types.VarBinary:
		return t.Precision >= 8 || x>>(8*t.Precision-1) == 0 || x>>(8*t.Precision-1) == -1
	case types.Float, types.Double:
		return true
	}
	least, greatest := limits(g.typ.Kind)
	return x >= least && x <= greatest
}

// sequence builds the sequence of the last part.
func (f *fields) sequence(t types.Type) (generator, error) {
	p := f.parts[len(f.parts)-1]
	g := &sequence{typ: t}
	switch {
	case t.IsNumeric() || t.IsString() || t.IsBinary():
	default:
		return nil, fault("fields."+p.path+".kind", "sequence", "cannot be: a sequence is of numbers, texts or bytes, and %s is %s", connector.QuoteName(p.path), t.AsNullable())
	}
	var ends [2]int64
	for i, name := range []string{"start", "end"} {
		key, text, ok := f.get(name)
		if !ok {
			return nil, &connector.OptionError{Key: "fields." + p.path + ".kind", Msg: fmt.Sprintf("a sequence has a start and an end: give '%s', too", key)}
		}
		x, err := strconv.ParseInt(text, 10, 64)
		switch {
		case err != nil:
			return nil, fault(key, text, "is not a whole number")
		case !g.fits(x):
			return nil, fault(key, text, "is not a number that a %s can hold", t.AsNullable())
		}
		if ends[i] = x; i == 1 && x < ends[0] {
			return nil, fault(key, text, "is before the start, %d", ends[0])
		}
	}
	g.start = ends[0]
	n := uint64(ends[1]) - uint64(ends[0])
	if n < math.MaxInt64 {
		n++
	}
	if n = min(n, math.MaxInt64); f.rows == 0 || n < f.rows {
		f.rows = n
	}
	return g, nil
}
