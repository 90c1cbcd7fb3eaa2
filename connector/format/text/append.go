package text

import (
	"encoding/base64"
	"strconv"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// AppendValue appends the text of row i, which is not NULL. separator stands between date and time: a blank
// or a T.
func AppendValue(dst []byte, v *column.Vector, i int, separator byte) []byte {
	switch t := v.Type; t.Kind {
	case types.Boolean:
		return strconv.AppendBool(dst, v.Bool[i])
	case types.Timestamp, types.TimestampLTZ:
		from := len(dst)
		dst = types.AppendTimestamp(dst, v.I64[i], t, nil)
		dst[from+len("0000-00-00")] = separator
		if t.Kind == types.TimestampLTZ {
			dst = append(dst, 'Z')
		}
		return dst
	case types.Binary, types.VarBinary:
		return base64.StdEncoding.AppendEncode(dst, v.Value(i))
	case types.IntervalYearMonth, types.IntervalDayTime:
		return types.AppendInt(dst, v.Int64(i))
	}
	return column.AppendText(dst, v, i, nil)
}
