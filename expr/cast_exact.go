package expr

import (
	"bytes"
	"fmt"
	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// castMayCut reports whether a cast may drop something of a value without failing: characters, decimals,
// digits of a second, a time of day.
func castMayCut(from, to types.Type) bool {
	switch {
	case from.IsNested() && to.IsNested():
		for i, f := range from.Fields {
			if castMayCut(f.Type, to.Fields[i].Type) {
				return true
			}
		}
		return false
	case to.IsString() || to.IsBinary():
		return to.Precision != types.MaxLength && !widerText(from, to)
	case to.Kind == types.Decimal:
		return from.IsFloat() || from.Kind == types.Decimal && from.Scale > to.Scale
	case to.Kind == types.Date:
		return from.Kind == types.Timestamp || from.Kind == types.TimestampLTZ
	case to.IsTemporal() && from.IsTemporal() && from.Kind != types.Date:
		return to.Precision < from.Precision
	}
	return false
}

// exactly runs a cast and then calls bad for each value that did not survive it whole.
func exactly(step castStep, from, to types.Type, zone *time.Location) castStep {
	var buf []byte
	whole := func(x Arg, j int, out *column.Vector, i int) bool {
		switch {
		case to.IsString() || to.IsBinary():
			buf = appendValue(buf[:0], x.Vector, j, zone)
			keep, _ := types.FitLength(buf, to)
			if to.IsString() {
				return len(bytes.TrimRight(buf[keep:], " ")) == 0
			}
			return keep == len(buf)
		case from.Kind == types.Float:
			return float32(types.DecimalToFloat64(out.Int128(i), to.Scale)) == x.F32[j]
		case from.Kind == types.Double:
			return types.DecimalToFloat64(out.Int128(i), to.Scale) == x.F64[j]
		case to.Kind == types.Decimal:
			return types.CmpDecimal(x.Int128(j), from.Scale, out.Int128(i), to.Scale) == 0
		case from.Kind == types.Time:
			return cutMillis(int64(x.I32[j]), to.Precision) == int64(x.I32[j])
		}
		v := x.I64[j]
		if to.Kind == types.Date {
			if from.Kind == types.TimestampLTZ {
				v, _ = types.InstantToLocal(v, from, zone)
			}
			_, rest := types.SplitTimestamp(v, from)
			return rest == 0
		}
		unit := from.PerSecond() / types.Pow10Int64(min(to.Precision, finest(from).Precision))
		return v%unit == 0
	}
	return func(r Rows, x Arg, out *column.Vector, bad func(int) error) error {
		if err := step(r, x, out, bad); err != nil {
			return err
		}
		for k, n := 0, r.Count(); k < n; k++ {
			if i := r.Row(k); !whole(x, x.At(i), out, i) {
				if err := bad(i); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

// misfit is the error for a value that a column's type does not hold.
func misfit(v *column.Vector, j, row int, to types.Type, zone *time.Location) error {
	var text, how string
	switch {
	case v.Type.IsBinary():
		text = shorten(types.AppendHexLiteral(nil, v.Value(j)))
	case v.Type.IsString():
		text = "'" + shorten(v.Value(j)) + "'"
	default:
		text = string(valueText(v, j, zone))
	}
	switch {
	case to.IsString() || to.IsBinary():
		how = "cuts it"
	case to.Kind == types.Decimal:
		how = "rounds it, if it is in range"
	default:
		how = "drops what does not fit, if it is in range"
	}
	return rowError(row, fmt.Sprintf("%s does not fit %s", text, to), fmt.Sprintf("CAST(x AS %s) %s", to, how))
}
