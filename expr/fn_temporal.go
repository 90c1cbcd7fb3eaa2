package expr

import (
	"fmt"
	"math"
	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

const (
	dateFormatDefault      = "yyyy-MM-dd"
	timestampFormatDefault = "yyyy-MM-dd HH:mm:ss"
)

func temporalFunctions() []Function {
	str, bigint := types.String(), types.Of(types.BigInt)
	ts3, ltz3 := types.WithPrecision(types.Timestamp, 3), types.WithPrecision(types.TimestampLTZ, 3)
	field := func(name string, u unit, doc, example, result string) Function {
		return Function{
			Name: name, Group: "temporal", Syntax: name + "(time)", Doc: doc, Example: example, Result: result, Min: 1, Max: 1, UsesEnv: true,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				t, err := bindExtract(u, args[0])
				return []types.Type{t}, bigint, err
			},
			Kernel: func(c *Call, env *Env) (Step, error) { return extractStep(u, c.Args[0].Type(), 0, env), nil },
		}
	}
	return []Function{
		{
			Name: "EXTRACT", Group: "temporal", Syntax: "EXTRACT(unit FROM time)",
			Doc: "A field of a date, time or interval: YEAR, QUARTER, MONTH, WEEK (ISO), DAY, DOY, DOW (Sunday is 1), HOUR, MINUTE, SECOND, " +
				"MILLISECOND and finer (within the second), EPOCH (seconds since 1970) and others.",
			Example: "EXTRACT(DAY FROM DATE '2024-05-17')", Result: "17", Min: 2, Max: 2, UsesEnv: true,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				u, err := unitArg(args[0])
				if err != nil {
					return nil, bigint, err
				}
				t, err := bindExtract(u, args[1])
				return []types.Type{args[0].Type(), t}, bigint, err
			},
			Kernel: func(c *Call, env *Env) (Step, error) {
				u, err := unitArg(c.Args[0])
				return extractStep(u, c.Args[1].Type(), 1, env), err
			},
		},
		field("YEAR", unitYear, "The year of a date.", "YEAR(DATE '2024-05-17')", "2024"),
		field("QUARTER", unitQuarter, "The quarter of a date, 1 to 4.", "QUARTER(DATE '2024-05-17')", "2"),
		field("MONTH", unitMonth, "The month of a date, 1 to 12.", "MONTH(DATE '2024-05-17')", "5"),
		field("WEEK", unitWeek, "The ISO week of a date, 1 to 53.", "WEEK(DATE '2024-05-17')", "20"),
		field("DAYOFYEAR", unitDOY, "The day of the year, 1 to 366.", "DAYOFYEAR(DATE '2024-05-17')", "138"),
		field("DAYOFMONTH", unitDay, "The day of the month, 1 to 31.", "DAYOFMONTH(DATE '2024-05-17')", "17"),
		field("DAYOFWEEK", unitDOW, "The day of the week, Sunday is 1.", "DAYOFWEEK(DATE '2024-05-17')", "6"),
		field("HOUR", unitHour, "The hour, 0 to 23.", "HOUR(TIME '13:45:10')", "13"),
		field("MINUTE", unitMinute, "The minute, 0 to 59.", "MINUTE(TIME '13:45:10')", "45"),
		field("SECOND", unitSecond, "The second, 0 to 59.", "SECOND(TIME '13:45:10')", "10"),
		{
			Name: "DATE_FORMAT", Group: "temporal", Syntax: "DATE_FORMAT(time, format)", Doc: "The date or time in a format such as 'yyyy-MM-dd HH:mm'; a text is read as a timestamp first, and is NULL when it is none.",
			Example: "DATE_FORMAT(TIMESTAMP '2024-05-07 08:09:10', 'dd.MM.yyyy HH:mm')", Result: "07.05.2024 08:09", Min: 2, Max: 2, UsesEnv: true, Fallible: true,
			Nulls: NullsMade, NeverNull: func(args []Expr) bool { return !args[0].Type().IsString() },
			Bind: takes(returns(str), func(t types.Type) (types.Type, bool) {
				if t.IsString() {
					return t, true
				}
				return dateOrTimestamp(t)
			}, text),
			Kernel: func(c *Call, env *Env) (Step, error) {
				format, err := formatOf(c, 1, "")
				t := c.Args[0].Type()
				ts := types.WithPrecision(types.Timestamp, 9)
				if _, isConst := constText(c.Args[1]); err == nil && isConst && t.Kind == types.Timestamp && !t.Nanos() {
					return formatMicros(format)
				}
				return textStep(func(dst []byte, a []Arg, i int) ([]byte, error) {
					f, err := format(a, i)
					if err != nil {
						return nil, err
					}
					if t.IsString() {
						v, err := types.ParseTimestamp(a[0].text(i), ts, nil)
						if err != nil {
							return nil, errNull
						}
						days, nanos := splitMoment(v, ts, nil)
						return f.append(dst, days, nanos), nil
					}
					days, nanos := splitMoment(a[0].Int64(a[0].At(i)), t, env.Zone)
					return f.append(dst, days, nanos), nil
				}), err
			},
			MayFail: func(c *Call) bool { return formatMayFail(c, 1) },
		},
		{
			Name: "TO_DATE", Group: "temporal", Syntax: "TO_DATE(string [, format])", Doc: "The date that a text spells in the format ('yyyy-MM-dd'); NULL when it spells none.",
			Example: "TO_DATE('17/05/2024', 'dd/MM/yyyy')", Result: "2024-05-17", Min: 1, Max: 2, Nulls: NullsMade, Fallible: true,
			Bind:    takes(returns(types.Of(types.Date)), text),
			MayFail: func(c *Call) bool { return formatMayFail(c, 1) },
			Kernel: func(c *Call, _ *Env) (Step, error) {
				format, err := formatOf(c, 1, dateFormatDefault)
				return intStepOf(func(a []Arg, i int) (int64, error) {
					f, err := format(a, i)
					if err != nil {
						return 0, err
					}
					if len(a) == 1 {
						d, err := types.ParseDate(a[0].text(i))
						if err != nil {
							return 0, errNull
						}
						return int64(d), nil
					}
					d, _, ok := f.parse(string(a[0].text(i)))
					if !ok {
						return 0, errNull
					}
					return int64(d), nil
				}), err
			},
		},
		{
			Name: "TO_TIMESTAMP", Group: "temporal", Syntax: "TO_TIMESTAMP(string [, format])",
			Doc:     "The TIMESTAMP(3) that a text spells in the format ('yyyy-MM-dd HH:mm:ss'); NULL when it spells none.",
			Example: "TO_TIMESTAMP('2024-05-17 08:09:10')", Result: "2024-05-17 08:09:10.000", Min: 1, Max: 2, Nulls: NullsMade, Fallible: true,
			Bind:    takes(returns(ts3), text),
			MayFail: func(c *Call) bool { return formatMayFail(c, 1) },
			Kernel: func(c *Call, _ *Env) (Step, error) {
				format, err := formatOf(c, 1, timestampFormatDefault)
				return intStepOf(func(a []Arg, i int) (int64, error) {
					return parseMoment(a, i, format, len(a) == 1, ts3)
				}), err
			},
		},
		{
			Name: "TO_TIMESTAMP_LTZ", Group: "temporal", Syntax: "TO_TIMESTAMP_LTZ(number [, precision]) or TO_TIMESTAMP_LTZ(string [, format [, zone]])",
			Doc:     "The instant of seconds (precision 0) or milliseconds (3) since 1970, or the one that a text spells on a clock in the zone ('UTC'); NULL when it spells none.",
			Example: "TO_TIMESTAMP_LTZ(1715933350, 0) = TO_TIMESTAMP_LTZ('2024-05-17 08:09:10')", Result: "TRUE", Min: 1, Max: 3, Nulls: NullsMade, Fallible: true,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				t := args[0].Type()
				switch {
				case t.IsString():
					return takes(returns(ltz3), text)(args)
				case len(args) == 3:
					return nil, ltz3, errMismatch
				case t.IsFloat() || t.Kind == types.Decimal:
					return takes(returns(ltz3), double, integer)(args)
				}
				return takes(returns(ltz3), integer)(args)
			},
			Kernel: instantKernel,
		},
		{
			Name: "FROM_UNIXTIME", Group: "temporal", Syntax: "FROM_UNIXTIME(seconds [, format])",
			Doc:     "The seconds since 1970 as text in the format ('yyyy-MM-dd HH:mm:ss'), on the session's clock.",
			Example: "FROM_UNIXTIME(0, 'yyyy')", Result: "1970", Min: 1, Max: 2, UsesEnv: true, Fallible: true,
			Bind: takes(returns(str), integer, text),
			Kernel: func(c *Call, env *Env) (Step, error) {
				format, err := formatOf(c, 1, timestampFormatDefault)
				ltz := types.WithPrecision(types.TimestampLTZ, 0)
				return textStep(func(dst []byte, a []Arg, i int) ([]byte, error) {
					f, err := format(a, i)
					if err != nil {
						return nil, err
					}
					v, ok := types.TimestampOf(a[0].int(i), 0, ltz)
					if !ok {
						return nil, failure(fmt.Sprintf("FROM_UNIXTIME(%d) is outside the years 1 to 9999", a[0].int(i)), "")
					}
					days, nanos := splitMoment(v, ltz, env.Zone)
					return f.append(dst, days, nanos), nil
				}), err
			},
		},
		{
			Name: "UNIX_TIMESTAMP", Group: "temporal", Syntax: "UNIX_TIMESTAMP([string [, format]])",
			Doc:     "The seconds since 1970: of now, or of the time that a text begins with in the format, on the session's clock or at the offset that X reads (+08, XX +0800, XXX +08:00); -9223372036854775808 when it spells none.",
			Example: "UNIX_TIMESTAMP('bad')", Result: "-9223372036854775808", Min: 0, Max: 2, UsesEnv: true, Fallible: true,
			Bind:    takes(returns(bigint), text),
			MayFail: func(c *Call) bool { return formatMayFail(c, 1) },
			Kernel: func(c *Call, env *Env) (Step, error) {
				format, err := zonedFormatOf(c, 1, timestampFormatDefault)
				ts := types.WithPrecision(types.Timestamp, 0)
				return intStepOf(func(a []Arg, i int) (int64, error) {
					if len(a) == 0 {
						return env.Now.Unix(), nil
					}
					f, err := format(a, i)
					if err != nil {
						return 0, err
					}
					m, ok := f.begin(string(a[0].text(i)))
					if !ok {
						return math.MinInt64, nil
					}
					seconds := int64(m.days)*86_400 + m.nanos/1_000_000_000
					if m.zoned {
						return seconds - int64(m.offset), nil
					}
					v, ok := types.TimestampOf(seconds, 0, ts)
					if !ok {
						return math.MinInt64, nil
					}
					v, ok = types.LocalToInstant(v, ts, env.Zone)
					if !ok {
						return math.MinInt64, nil
					}
					return unitEpoch.extract(v, types.WithPrecision(types.TimestampLTZ, 0), nil), nil
				}), err
			},
		},
		{
			Name: "TIMESTAMPADD", Group: "temporal", Syntax: "TIMESTAMPADD(unit, count, time)", Doc: "The moment that many units later.",
			Example: "TIMESTAMPADD(WEEK, 1, DATE '2024-05-17')", Result: "2024-05-24", Min: 3, Max: 3, Fallible: true,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				t := args[2].Type().AsNullable()
				u, err := unitArg(args[0])
				if err != nil {
					return nil, t, err
				}
				n, ok := integer(args[1].Type())
				if t.Kind == types.Null {
					t = types.WithPrecision(types.Timestamp, 3)
				}
				if !ok || !t.IsTemporal() || u > unitNanosecond {
					return nil, t, errMismatch
				}
				if t.Kind == types.Date && u > unitDay {
					t = types.WithPrecision(types.Timestamp, 6)
				}
				if p := map[unit]int{unitMillisecond: 3, unitMicrosecond: 6, unitNanosecond: 9}[u]; t.Kind != types.Date && t.Kind != types.Time {
					t.Precision = max(t.Precision, p)
				} else if t.Kind == types.Time && u >= unitMillisecond {
					t.Precision = 3
				}
				return []types.Type{args[0].Type(), n, t}, t, nil
			},
			Kernel: func(c *Call, _ *Env) (Step, error) {
				u, err := unitArg(c.Args[0])
				t := c.T
				if t.Kind == types.Time && u < unitHour {
					// The clock shows the same after whole days.
					return intStepOf(func(a []Arg, i int) (int64, error) { return a[2].Int64(a[2].At(i)), nil }), err
				}
				return intStepOf(func(a []Arg, i int) (int64, error) {
					v, ok := u.addUnits(a[2].Int64(a[2].At(i)), a[1].int(i), t)
					if !ok {
						return 0, outOfRange(i, fmt.Sprintf("TIMESTAMPADD(%s, %d, %s)", u, a[1].int(i), valueText(a[2].Vector, a[2].At(i), nil)), t)
					}
					return v, nil
				}), err
			},
		},
		{
			Name: "TIMESTAMPDIFF", Group: "temporal", Syntax: "TIMESTAMPDIFF(unit, from, to)", Doc: "The whole units from one moment to another, an INT.",
			Example: "TIMESTAMPDIFF(MONTH, DATE '2024-01-31', DATE '2024-03-30')", Result: "1", Min: 3, Max: 3, Fallible: true, UsesEnv: true,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				to := types.Of(types.Int)
				u, err := unitArg(args[0])
				if err != nil {
					return nil, to, err
				}
				p, ok := types.CommonType(args[1].Type(), args[2].Type())
				if p.Kind == types.Null {
					p = ts3
				}
				if !ok || !p.IsTemporal() || p.Kind == types.Time || u > unitNanosecond {
					return nil, to, errMismatch
				}
				if p.Kind == types.Date {
					p = types.WithPrecision(types.Timestamp, 0)
				}
				return []types.Type{args[0].Type(), p, p}, to, nil
			},
			Kernel: func(c *Call, env *Env) (Step, error) {
				u, err := unitArg(c.Args[0])
				t := c.Args[1].Type()
				local := t.Kind == types.TimestampLTZ && u <= unitDay
				return intStepOf(func(a []Arg, i int) (int64, error) {
					v, w := a[1].I64[a[1].At(i)], a[2].I64[a[2].At(i)]
					if local {
						v, _ = types.InstantToLocal(v, t, env.Zone)
						w, _ = types.InstantToLocal(w, t, env.Zone)
					}
					n, ok := u.between(v, w, t)
					if !ok || !fitsInt32(n) {
						return 0, failure(fmt.Sprintf("TIMESTAMPDIFF(%s, %s, %s) is out of range for INT", u, valueText(a[1].Vector, a[1].At(i), env.Zone),
							valueText(a[2].Vector, a[2].At(i), env.Zone)), "use a larger unit")
					}
					return n, nil
				}), err
			},
		},
		{
			Name: "CONVERT_TZ", Group: "temporal", Syntax: "CONVERT_TZ(string, from zone, to zone)",
			Doc:     "A time 'yyyy-MM-dd HH:mm:ss' on a clock in one zone as a clock in another shows it; NULL for what is no time or zone.",
			Example: "CONVERT_TZ('1970-01-01 00:00:00', 'UTC', 'America/Los_Angeles')", Result: "1969-12-31 16:00:00", Min: 3, Max: 3, Nulls: NullsMade,
			Bind: takes(returns(str), text), Kernel: convertZoneKernel,
		},
	}
}

// formatMicros is DATE_FORMAT of timestamps in microseconds in a constant format, the common case, without a call
// and a look at the type for every row.
func formatMicros(format func([]Arg, int) (dateFormat, error)) (Step, error) {
	f, err := format(nil, 0)
	return func(r Rows, args []Arg, out *column.Vector) error {
		const day = 86_400_000_000
		x := args[0]
		t := newText(out, r.N).within(r)
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			v := x.I64[x.At(i)]
			days, rest := v/day, v%day
			if rest < 0 {
				days, rest = days-1, rest+day
			}
			out.Bytes = f.append(out.Bytes, int32(days), rest*1000)
			t.end(i)
		}
		return t.finish()
	}, err
}

func bindExtract(u unit, arg Expr) (types.Type, error) {
	t := arg.Type()
	if t.Kind == types.Null {
		t = types.WithPrecision(types.Timestamp, 3)
	}
	if !t.IsTemporal() && !t.IsInterval() {
		return t, errMismatch
	}
	if !u.extracts(t) {
		return t, fmt.Errorf("a %s has no %s", t.AsNullable(), u)
	}
	return t, nil
}

func extractStep(u unit, t types.Type, arg int, env *Env) Step {
	return func(r Rows, args []Arg, out *column.Vector) error {
		x := args[arg]
		if t.Kind == types.Date {
			for k, n := 0, r.Count(); k < n; k++ {
				i := r.Row(k)
				out.I64[i] = u.extractDate(x.I32[x.At(i)])
			}
			return nil
		}
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			out.I64[i] = u.extract(x.Int64(x.At(i)), t, env.Zone)
		}
		return nil
	}
}

// splitMoment returns the day and the nanoseconds in it of a DATE, TIMESTAMP or TIMESTAMP_LTZ.
func splitMoment(v int64, t types.Type, zone *time.Location) (int32, int64) {
	if t.Kind == types.Date {
		return int32(v), 0
	}
	if t.Kind == types.TimestampLTZ {
		v, _ = types.InstantToLocal(v, t, zone)
	}
	days, rest := types.SplitTimestamp(v, t)
	return days, rest * (1_000_000_000 / t.PerSecond())
}

// formatOf returns the format of a row, from an argument or the default; one that is not constant is
// compiled when it changes.
func formatOf(c *Call, arg int, otherwise string) (func(a []Arg, i int) (dateFormat, error), error) {
	return anyFormatOf(c, arg, otherwise, false)
}

// zonedFormatOf is formatOf for formats that may have the letter X.
func zonedFormatOf(c *Call, arg int, otherwise string) (func(a []Arg, i int) (dateFormat, error), error) {
	return anyFormatOf(c, arg, otherwise, true)
}

func anyFormatOf(c *Call, arg int, otherwise string, zoned bool) (func(a []Arg, i int) (dateFormat, error), error) {
	s := otherwise
	if len(c.Args) > arg {
		var ok bool
		if s, ok = constText(c.Args[arg]); !ok {
			var last string
			var format dateFormat
			known := false
			return func(a []Arg, i int) (dateFormat, error) {
				if b := a[arg].text(i); !known || string(b) != last {
					f, err := compileFormat(string(b), zoned)
					if err != nil {
						return nil, err
					}
					format, last, known = f, string(b), true
				}
				return format, nil
			}, nil
		}
	}
	f, err := compileFormat(s, zoned)
	return func([]Arg, int) (dateFormat, error) { return f, nil }, err
}

func formatMayFail(c *Call, arg int) bool {
	if len(c.Args) <= arg {
		return false
	}
	s, ok := constText(c.Args[arg])
	if !ok {
		return true
	}
	_, err := compileFormat(s, c.Func.Name == "UNIX_TIMESTAMP")
	return err != nil
}

// parseMoment reads a text as a value of the TIMESTAMP type t. plain reads it as CAST does, with or
// without a fraction.
func parseMoment(a []Arg, i int, format func([]Arg, int) (dateFormat, error), plain bool, t types.Type) (int64, error) {
	f, err := format(a, i)
	if err != nil {
		return 0, err
	}
	if plain {
		v, err := types.ParseTimestamp(a[0].text(i), t, nil)
		if err != nil {
			return 0, errNull
		}
		return v, nil
	}
	days, nanos, ok := f.parse(string(a[0].text(i)))
	if !ok {
		return 0, errNull
	}
	v, ok := types.TimestampOf(int64(days)*86_400+nanos/1_000_000_000, int(nanos%1_000_000_000), t)
	if !ok {
		return 0, errNull
	}
	return v, nil
}

func instantKernel(c *Call, _ *Env) (Step, error) {
	t := c.T
	if c.Args[0].Type().IsString() {
		format, err := formatOf(c, 1, timestampFormatDefault)
		if err != nil {
			return nil, err
		}
		zone := zoneCache{}
		ts := types.WithPrecision(types.Timestamp, t.Precision)
		return intStepOf(func(a []Arg, i int) (int64, error) {
			loc := time.UTC
			if len(a) == 3 {
				var ok bool
				if loc, ok = zone.get(a[2].text(i)); !ok {
					return 0, errNull
				}
			}
			v, err := parseMoment(a, i, format, len(a) == 1, ts)
			if err != nil {
				return 0, err
			}
			v, ok := types.LocalToInstant(v, ts, loc)
			if !ok {
				return 0, errNull
			}
			return v, nil
		}), nil
	}
	isFloat := c.Args[0].Type().IsFloat()
	return intStepOf(func(a []Arg, i int) (int64, error) {
		precision := int64(3)
		if len(a) == 2 {
			precision = a[1].int(i)
		}
		if precision != 0 && precision != 3 {
			return 0, failure(fmt.Sprintf("the precision of TO_TIMESTAMP_LTZ must be 0 (seconds) or 3 (milliseconds), not %d", precision), "")
		}
		var millis int64
		ok := true
		if isFloat {
			f := a[0].float(i)
			if precision == 0 {
				f *= 1000
			}
			millis, ok = truncate(math.Floor(f), types.BigInt)
		} else {
			millis = a[0].int(i)
			if precision == 0 {
				var carry int64
				millis, carry = mulWide(millis, 1000)
				ok = carry == 0
			}
		}
		if ok {
			ms := (millis%1000 + 1000) % 1000
			var v int64
			if v, ok = types.TimestampOf((millis-ms)/1000, int(ms)*1_000_000, t); ok {
				return v, nil
			}
		}
		return 0, failure("TO_TIMESTAMP_LTZ("+string(valueText(a[0].Vector, a[0].At(i), nil))+") is outside the years 1 to 9999", "")
	}), nil
}

// zoneCache keeps the last zone looked up.
type zoneCache struct {
	name string
	loc  *time.Location
}

func (z *zoneCache) get(name []byte) (*time.Location, bool) {
	if z.loc != nil && z.name == string(name) {
		return z.loc, true
	}
	loc, ok := zoneOf(string(name))
	if !ok {
		return nil, false
	}
	z.name, z.loc = string(name), loc
	return loc, true
}

func convertZoneKernel(*Call, *Env) (Step, error) {
	var from, to zoneCache
	ts := types.WithPrecision(types.Timestamp, 0)
	ltz := types.WithPrecision(types.TimestampLTZ, 0)
	f, err := compileFormat(timestampFormatDefault, false)
	return textStep(func(dst []byte, a []Arg, i int) ([]byte, error) {
		v, err := parseMoment(a, i, func([]Arg, int) (dateFormat, error) { return f, nil }, false, ts)
		if err != nil {
			return nil, err
		}
		src, ok1 := from.get(a[1].text(i))
		tgt, ok2 := to.get(a[2].text(i))
		if !ok1 || !ok2 {
			return nil, errNull
		}
		v, ok := types.LocalToInstant(v, ts, src)
		if !ok {
			return nil, errNull
		}
		days, nanos := splitMoment(v, ltz, tgt)
		return f.append(dst, days, nanos), nil
	}), err
}
