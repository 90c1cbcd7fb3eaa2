package datagen

import (
	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// clock makes DATE and TIME: those of now.
type clock struct{ typ types.Type }

func (*clock) size() int64 { return 4 }

func (g *clock) fill(v *column.Vector, a rows) {
	v.Resize(a.n)
	days, rest := types.SplitTimestamp(local(a.now, types.WithPrecision(types.Timestamp, 3)), types.WithPrecision(types.Timestamp, 3))
	value := days
	if g.typ.Kind == types.Time {
		value = int32(rest / 1000)
		for p := g.typ.Precision; p < 3; p++ {
			value -= value % int32(types.Pow10Int64(3-p))
		}
	}
	for i := range v.I32 {
		v.I32[i] = value
	}
}

// local returns what a clock in the zone of now shows, as a value of a TIMESTAMP type.
func local(now time.Time, t types.Type) int64 {
	_, offset := now.Zone()
	v, _ := types.TimestampOf(now.Unix()+int64(offset), now.Nanosecond(), t) // now is in every type's range
	return v
}

// moment makes TIMESTAMP and TIMESTAMP_LTZ: now, or some time before.
type moment struct {
	name uint64
	typ  types.Type
	past time.Duration // the most that it is before now
}

func (*moment) size() int64 { return 8 }

func (g *moment) fill(v *column.Vector, a rows) {
	v.Resize(a.n)
	full, step := g.typ, int64(1) // all decimals that the type's values are held with, and the last that it has
	if full.Precision = 6; g.typ.Nanos() {
		full.Precision = 9
	}
	step = types.Pow10Int64(full.Precision - g.typ.Precision)
	now := local(a.now, full)
	if g.typ.Kind == types.TimestampLTZ {
		now, _ = types.TimestampOf(a.now.Unix(), a.now.Nanosecond(), full)
	}
	past := uint64(g.past)
	if full.Precision == 6 {
		past /= 1000
	}
	s := a.stream(g.name)
	for i := range v.I64 {
		x := now
		if past > 0 {
			x -= int64(below(s.at(a.row+uint64(i)), past+1))
		}
		rest := x % step
		if rest < 0 {
			rest += step
		}
		v.I64[i] = x - rest
	}
}

func (f *fields) moment(path string, t types.Type) (generator, error) {
	g := &moment{name: name(path), typ: t}
	key, text, ok := f.get("max-past")
	if !ok {
		return g, nil
	}
	var err error
	if g.past, err = connector.ParseDuration(text); err != nil {
		return nil, fault(key, text, "%s", err)
	}
	return g, nil
}
