package column

import (
	"time"

	"github.com/sluice-sql/sluice/types"
)

// AppendText appends the text of row i, which is not NULL, as CAST(x AS STRING) gives it and the shell
// shows it. zone is that of TIMESTAMP_LTZ (nil: UTC).
//
// BINARY, VARBINARY and BYTES are the one kind whose two forms differ: the shell shows the literal
// x'68656c6c6f', which is what AppendText appends, while CAST reads the bytes as UTF-8; a kernel or a
// format that wants the bytes takes [Vector.Value].
func AppendText(dst []byte, v *Vector, i int, zone *time.Location) []byte {
	switch t := v.Type; t.Kind {
	case types.Boolean:
		return types.AppendBoolean(dst, v.Bool[i])
	case types.TinyInt:
		return types.AppendInt(dst, int64(v.I8[i]))
	case types.SmallInt:
		return types.AppendInt(dst, int64(v.I16[i]))
	case types.Int:
		return types.AppendInt(dst, int64(v.I32[i]))
	case types.BigInt:
		return types.AppendInt(dst, v.I64[i])
	case types.Float:
		return types.AppendFloat32(dst, v.F32[i])
	case types.Double:
		return types.AppendFloat64(dst, v.F64[i])
	case types.Decimal:
		if t.Wide() {
			return types.AppendDecimal(dst, v.I128[i], t.Scale)
		}
		return types.AppendDecimal64(dst, v.I64[i], t.Scale)
	case types.Char, types.VarChar:
		return append(dst, v.Value(i)...)
	case types.Binary, types.VarBinary:
		return types.AppendHexLiteral(dst, v.Value(i))
	case types.Date:
		return types.AppendDate(dst, v.I32[i])
	case types.Time:
		return types.AppendTime(dst, v.I32[i], t.Precision)
	case types.Timestamp, types.TimestampLTZ:
		return types.AppendTimestamp(dst, v.I64[i], t, zone)
	case types.IntervalYearMonth:
		return types.AppendIntervalYearMonth(dst, v.I32[i])
	case types.IntervalDayTime:
		return types.AppendIntervalDayTime(dst, v.I64[i])
	case types.Array, types.Multiset, types.Map, types.Row:
		return appendNested(dst, v, i, zone)
	}
	panic("column: AppendText of a NULL")
}
