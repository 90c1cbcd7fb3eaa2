package sqlite

import (
	"math"
	"strconv"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

const (
	daySeconds = 86400
	dayNanos   = daySeconds * 1_000_000_000
	minDays    = -719162 // 0001-01-01
	maxDays    = 2932896 // 9999-12-31
)

// setTemporal stores a number of a DATE or TIMESTAMP column, read as the option says, and reports whether
// it is a value of the column's type: exactly, but for Julian days, which are rounded to milliseconds as
// SQLite itself does.
func setTemporal(v *column.Vector, row int, t types.Type, numbers string, i int64, f float64, real bool) bool {
	if numbers == "" || t.Kind != types.Date && t.Kind != types.Timestamp && t.Kind != types.TimestampLTZ {
		return false
	}
	days, nanos, ok := instant(numbers, i, f, real)
	if !ok || days < minDays || days > maxDays {
		return false
	}
	if t.Kind == types.Date {
		v.I32[row] = int32(days)
		return nanos == 0
	}
	if nanos%types.Pow10Int64(9-t.Precision) != 0 {
		return false
	}
	if !t.Nanos() {
		v.I64[row] = days*daySeconds*1_000_000 + nanos/1000
		return true
	}
	sum, _ := types.Int128From(days).Mul(types.Int128From(dayNanos))
	ns, fits := sum.Add(types.Int128From(nanos)).Int64()
	v.I64[row] = ns
	return fits
}

// instant returns the days since the epoch and the nanoseconds of that day.
func instant(numbers string, i int64, f float64, real bool) (days, nanos int64, ok bool) {
	if numbers == "julian" {
		if !real {
			f = float64(i)
		}
		if math.IsNaN(f) || f < 1721425.5 || f > 5373485 {
			return 0, 0, false
		}
		ms := int64(f*86400000+0.5) - 210866760000000 // of the epoch's Julian day
		days, rest := floorDiv(ms, daySeconds*1000)
		return days, rest * 1_000_000, true
	}
	scale := 9
	perDay := int64(daySeconds)
	if numbers == "unix-millis" {
		scale, perDay = 6, daySeconds*1000
	}
	if !real {
		days, rest := floorDiv(i, perDay)
		return days, rest * types.Pow10Int64(scale), true
	}
	d, err := types.ParseDecimalExact(strconv.AppendFloat(nil, f, 'e', -1, 64), types.MaxDecimalPrecision, scale)
	if err != nil {
		return 0, 0, false
	}
	q, r := d.QuoRem(types.Int128From(dayNanos))
	days, ok = q.Int64()
	nanos, _ = r.Int64()
	if nanos < 0 {
		nanos += dayNanos
		days--
	}
	return days, nanos, ok
}

func floorDiv(a, b int64) (q, r int64) {
	q, r = a/b, a%b
	if r < 0 {
		q, r = q-1, r+b
	}
	return q, r
}
