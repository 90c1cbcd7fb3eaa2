package print

import (
	"strconv"
	"strings"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

const null = "null"

// appendValue appends a value as Flink prints it: what Java's toString gives for the class that Flink has for
// the type.
func appendValue(dst []byte, v *column.Vector, i int) []byte {
	if v.IsNull(i) {
		return append(dst, null...)
	}
	switch t := v.Type; t.Kind {
	case types.Boolean:
		return strconv.AppendBool(dst, v.Bool[i])
	case types.Binary, types.VarBinary:
		dst = append(dst, '[')
		for k, b := range v.Value(i) {
			if k > 0 {
				dst = append(dst, ", "...)
			}
			dst = strconv.AppendInt(dst, int64(int8(b)), 10)
		}
		return append(dst, ']')
	case types.Time:
		return appendClock(dst, string(types.AppendTime(nil, v.I32[i], 3)), false)
	case types.Timestamp:
		return appendMoment(dst, v, i, false)
	case types.TimestampLTZ:
		return append(appendMoment(dst, v, i, true), 'Z')
	case types.IntervalYearMonth:
		return appendPeriod(dst, v.I32[i])
	case types.IntervalDayTime:
		return appendDuration(dst, v.I64[i])
	case types.Row:
		dst = append(dst, "+I["...)
		for k, c := range v.Children {
			if k > 0 {
				dst = append(dst, ", "...)
			}
			dst = appendValue(dst, c, i)
		}
		return append(dst, ']')
	case types.Array, types.Map, types.Multiset:
		return appendCollection(dst, v, i)
	}
	return column.AppendText(dst, v, i, nil)
}

// appendCollection appends [1, 2] for an ARRAY and {k=v, k=v} for the others.
func appendCollection(dst []byte, v *column.Vector, i int) []byte {
	open, end := byte('{'), byte('}')
	if v.Type.Kind == types.Array {
		open, end = '[', ']'
	}
	dst = append(dst, open)
	from, to := v.Elements(i)
	for e := from; e < to; e++ {
		if e > from {
			dst = append(dst, ", "...)
		}
		dst = appendValue(dst, v.Children[0], e)
		if v.Type.Kind != types.Array {
			dst = appendValue(append(dst, '='), v.Children[1], e)
		}
	}
	return append(dst, end)
}

// appendMoment appends 2024-07-01T22:30:15.123.
func appendMoment(dst []byte, v *column.Vector, i int, seconds bool) []byte {
	t := v.Type
	if t.Precision = 6; v.Type.Nanos() {
		t.Precision = 9
	}
	date, clock, _ := strings.Cut(string(types.AppendTimestamp(nil, v.I64[i], t, nil)), " ")
	return appendClock(append(append(dst, date...), 'T'), clock, seconds)
}

// appendClock appends the time HH:MM:SS.f with as many decimals as it needs, in groups of three, and without
// its seconds when they are 0, unless they are wanted all the same.
func appendClock(dst []byte, clock string, seconds bool) []byte {
	whole, decimals, _ := strings.Cut(clock, ".")
	for strings.HasSuffix(decimals, "000") {
		decimals = decimals[:len(decimals)-3]
	}
	switch {
	case decimals != "":
		return append(append(append(dst, whole...), '.'), decimals...)
	case !seconds && strings.HasSuffix(whole, ":00"):
		return append(dst, whole[:5]...)
	}
	return append(dst, whole...)
}

// appendPeriod appends P1Y6M.
func appendPeriod(dst []byte, months int32) []byte {
	if months == 0 {
		return append(dst, "P0D"...)
	}
	dst = append(dst, 'P')
	if y := months / 12; y != 0 {
		dst = append(strconv.AppendInt(dst, int64(y), 10), 'Y')
	}
	if m := months % 12; m != 0 {
		dst = append(strconv.AppendInt(dst, int64(m), 10), 'M')
	}
	return dst
}

// appendDuration appends PT25H1M2.5S.
func appendDuration(dst []byte, ms int64) []byte {
	if ms == 0 {
		return append(dst, "PT0S"...)
	}
	dst = append(dst, "PT"...)
	seconds, rest := ms/1000, ms%1000
	if h := seconds / 3600; h != 0 {
		dst = append(strconv.AppendInt(dst, h, 10), 'H')
	}
	if m := seconds / 60 % 60; m != 0 {
		dst = append(strconv.AppendInt(dst, m, 10), 'M')
	}
	s := seconds % 60
	if s == 0 && rest == 0 {
		return dst
	}
	if s == 0 && rest < 0 {
		dst = append(dst, '-')
	}
	dst = strconv.AppendInt(dst, s, 10)
	if rest != 0 {
		if rest < 0 {
			rest = -rest
		}
		digits := strconv.FormatInt(1000+rest, 10)[1:]
		dst = append(append(dst, '.'), strings.TrimRight(digits, "0")...)
	}
	return append(dst, 'S')
}
