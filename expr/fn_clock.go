package expr

import (
	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

func clockFunctions() []Function {
	// clock makes a function of the job's start instant; local is what the session's clock shows.
	clock := func(name, doc, example, result string, t types.Type, get func(local time.Time) int64, aliases ...string) Function {
		return Function{
			Name: name, Aliases: aliases, Group: "temporal", Syntax: name, Doc: doc, Example: example, Result: result, UsesEnv: true,
			Bind: takes(returns(t), anyType),
			Kernel: func(_ *Call, env *Env) (Step, error) {
				zone := env.Zone
				if zone == nil {
					zone = time.UTC
				}
				v := get(env.Now.In(zone))
				return func(r Rows, _ []Arg, out *column.Vector) error {
					for k, n := 0, r.Count(); k < n; k++ {
						setInt(out, r.Row(k), v)
					}
					return nil
				}, nil
			},
		}
	}
	// ticking makes a function of the clock as it is when the rows are worked on.
	ticking := func(name, doc string) Function {
		return Function{
			Name: name, Group: "temporal", Syntax: name + "()", Doc: doc, Example: name + "() >= CURRENT_TIMESTAMP", Result: "TRUE", UsesEnv: true, Volatile: true,
			Bind: takes(returns(types.WithPrecision(types.TimestampLTZ, 3)), anyType),
			Kernel: func(_ *Call, env *Env) (Step, error) {
				return func(r Rows, _ []Arg, out *column.Vector) error {
					now := env.Now
					if env.Clock != nil {
						now = env.Clock()
					}
					v := now.UnixMilli() * 1000
					for k, n := 0, r.Count(); k < n; k++ {
						setInt(out, r.Row(k), v)
					}
					return nil
				}, nil
			},
		}
	}
	millis := func(t time.Time) int64 { return t.UnixMilli() * 1000 }
	wall := func(t time.Time) int64 {
		_, offset := t.Zone()
		return millis(t) + int64(offset)*1_000_000
	}
	timeOfDay := func(t time.Time) int64 { return int64(t.Hour()*3600+t.Minute()*60+t.Second()) * 1000 }
	return []Function{
		clock("CURRENT_DATE", "The date at which the job began, on the session's clock.", "CURRENT_DATE > DATE '2020-01-01'", "TRUE", types.Of(types.Date),
			func(t time.Time) int64 { return int64(types.DaysFromCivil(t.Year(), int(t.Month()), t.Day())) }),
		clock("CURRENT_TIME", "The time of day at which the job began, on the session's clock.", "CURRENT_TIME >= TIME '00:00:00'", "TRUE",
			types.WithPrecision(types.Time, 0), timeOfDay),
		clock("LOCALTIME", "As CURRENT_TIME.", "LOCALTIME = CURRENT_TIME", "TRUE", types.WithPrecision(types.Time, 0), timeOfDay),
		clock("CURRENT_TIMESTAMP", "The instant at which the job began, a TIMESTAMP_LTZ(3): the same in every row.", "CURRENT_TIMESTAMP = NOW()", "TRUE",
			types.WithPrecision(types.TimestampLTZ, 3), millis, "NOW"),
		clock("LOCALTIMESTAMP", "The date and time at which the job began, on the session's clock, a TIMESTAMP(3).", "LOCALTIMESTAMP > TIMESTAMP '2020-01-01 00:00:00'", "TRUE",
			types.WithPrecision(types.Timestamp, 3), wall),
		ticking("CURRENT_ROW_TIMESTAMP", "The instant at which the row is worked on, a TIMESTAMP_LTZ(3); rows that are worked on together share it."),
		ticking("PROCTIME", "The instant at which the row is worked on, as CURRENT_ROW_TIMESTAMP(); it makes a column of processing time."),
		{
			Name: "CURRENT_WATERMARK", Group: "temporal", Syntax: "CURRENT_WATERMARK(time)", Min: 1, Max: 1, Nulls: NullsOwn,
			Doc:     "The watermark of a column of event time. A job over bounded tables has none: NULL.",
			Example: "CURRENT_WATERMARK(TIMESTAMP '2024-05-17 13:40:00')", Result: "NULL",
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				t := args[0].Type().AsNullable()
				if t.Kind != types.Timestamp && t.Kind != types.TimestampLTZ {
					return nil, types.Type{}, errMismatch
				}
				return []types.Type{t}, types.WithPrecision(t.Kind, 3), nil
			},
			Kernel: intOf(func([]Arg, int) (int64, error) { return 0, errNull }),
		},
	}
}
