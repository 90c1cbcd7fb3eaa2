package datagen

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// generator makes the values of a column, or of a part of a nested one. It is used by several goroutines.
type generator interface {
	// fill makes v, which is empty, the values of the rows of a.
	fill(v *column.Vector, a rows)
	// size is about how many bytes a value takes at most.
	size() int64
}

// rows are consecutive rows. For the elements of collections, row counts elements.
type rows struct {
	seed uint64
	row  uint64 // the first
	n    int
	now  time.Time // in the job's zone
}

// stream returns the random numbers of a generator, given its name.
func (a rows) stream(name uint64) stream { return stream(mix(a.seed ^ name)) }

// fields reads the options fields.<path>.<name>.
type fields struct {
	options map[string]string
	used    map[string]bool
	parts   []part
	rows    uint64 // with which the first sequence ends; 0: there is none
}

// part is a column, or a part of a nested one, that options can be about.
type part struct {
	path  string
	typ   types.Type
	names []string // of the options it may have
	kind  string
}

// get returns an option of the part being built.
func (f *fields) get(name string) (key, value string, ok bool) {
	p := &f.parts[len(f.parts)-1]
	p.names = append(p.names, name)
	key = "fields." + p.path + "." + name
	value, ok = f.options[key]
	f.used[key] = true
	return key, strings.TrimSpace(value), ok
}

func fault(key, value, format string, args ...any) error {
	return &connector.OptionError{Key: key, Msg: fmt.Sprintf("option '%s' = '%s' ", key, value) + fmt.Sprintf(format, args...)}
}

// column builds the generator of a column.
func (f *fields) column(c types.Column) (generator, error) {
	f.parts = append(f.parts, part{path: c.Name, typ: c.Type, kind: "random"})
	_, kind, _ := f.get("kind")
	if kind == "sequence" {
		f.parts[len(f.parts)-1].kind = kind
		return f.sequence(c.Type)
	}
	return f.random(c.Type)
}

// part builds the generator of a part of a nested type.
func (f *fields) part(path string, t types.Type) (generator, error) {
	f.parts = append(f.parts, part{path: path, typ: t, kind: "random"})
	return f.random(t)
}

// random builds the random generator of the last part.
func (f *fields) random(t types.Type) (generator, error) {
	path := f.parts[len(f.parts)-1].path
	missing, err := f.nulls(path, t)
	if err != nil {
		return nil, err
	}
	var g generator
	switch t.Kind {
	case types.Boolean:
		return withNulls(boolean{name(path)}, missing), nil
	case types.TinyInt, types.SmallInt, types.Int, types.BigInt, types.IntervalYearMonth, types.IntervalDayTime:
		g, err = f.integer(path, t)
	case types.Float, types.Double:
		g, err = f.float(path, t)
	case types.Decimal:
		g, err = f.decimal(path, t)
	case types.Char, types.VarChar, types.Binary, types.VarBinary:
		return f.text(path, t, missing)
	case types.Date, types.Time:
		return withNulls(&clock{t}, missing), nil
	case types.Timestamp, types.TimestampLTZ:
		g, err = f.moment(path, t)
	case types.Row:
		g, err = f.row(path, t)
	case types.Array, types.Map, types.Multiset:
		g, err = f.collection(path, t)
	default:
		return nil, fmt.Errorf("no values of type %s can be made up", t)
	}
	if err != nil {
		return nil, err
	}
	return withNulls(g, missing), nil
}

// number returns a whole number of at least min and at most max.
func (f *fields) number(name string, preset, min, max int64) (int64, error) {
	key, text, ok := f.get(name)
	if !ok {
		return preset, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < min || n > max {
		return 0, fault(key, text, "is not a whole number from %d to %d", min, max)
	}
	return n, nil
}

// nulls makes some values NULL.
type nulls struct {
	name  uint64
	below uint64 // of random numbers, those below it
	all   bool
}

func (n *nulls) at(s stream, row uint64) bool { return n.all || s.at(row) < n.below }

// nulls reads the option null-rate; nil: no value is NULL.
func (f *fields) nulls(path string, t types.Type) (*nulls, error) {
	key, text, ok := f.get("null-rate")
	if !ok {
		return nil, nil
	}
	rate, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || !(rate >= 0 && rate <= 1):
		return nil, fault(key, text, "is not a number from 0 to 1")
	case rate == 0:
		return nil, nil
	case t.NotNull:
		return nil, fault(key, text, "cannot be: %s is NOT NULL", connector.QuoteName(path))
	}
	n := &nulls{name: name(path + "\x00null"), all: rate == 1}
	if !n.all {
		n.below = uint64(rate * (1 << 63) * 2)
	}
	return n, nil
}

type nullable struct {
	generator
	nulls *nulls
}

func withNulls(g generator, n *nulls) generator {
	if n == nil {
		return g
	}
	return &nullable{g, n}
}

func (g *nullable) fill(v *column.Vector, a rows) {
	g.generator.fill(v, a)
	s := a.stream(g.nulls.name)
	for i := range a.n {
		if g.nulls.at(s, a.row+uint64(i)) {
			v.SetNull(i)
		}
	}
}

// unused returns an error for an option that no generator has asked for.
func (f *fields) unused() error {
	var keys []string
	for k := range f.options {
		if strings.HasPrefix(k, "fields.") && !f.used[k] {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	sort.Strings(keys)
	key := keys[0]
	rest := strings.TrimPrefix(key, "fields.")
	path := rest[:max(0, strings.LastIndexByte(rest, '.'))]
	paths := make([]string, len(f.parts))
	for i, p := range f.parts {
		if paths[i] = p.path; p.path == path {
			sort.Strings(p.names)
			return &connector.OptionError{Key: key, KeyAtFault: true, Msg: fmt.Sprintf("option '%s' means nothing: %s, which is %s and %s, can have '%s'",
				key, connector.QuoteName(path), p.typ.AsNullable(), map[string]string{"random": "random", "sequence": "a sequence"}[p.kind], strings.Join(p.names, "', '"))}
		}
	}
	msg := fmt.Sprintf("option '%s': there is no column %s", key, connector.QuoteName(path))
	if c := connector.Closest(path, paths); c != "" {
		msg += fmt.Sprintf("; did you mean %s?", connector.QuoteName(c))
	}
	return &connector.OptionError{Key: key, KeyAtFault: true, Msg: msg}
}
