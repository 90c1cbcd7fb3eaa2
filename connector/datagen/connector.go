package datagen

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// Connector makes tables of made-up rows.
type Connector struct{}

var (
	_ connector.Factory           = Connector{}
	_ connector.DefinitionChecker = Connector{}
	_ connector.Scannable         = (*table)(nil)
	_ connector.Bounded           = (*table)(nil)
)

// Identifier returns datagen.
func (Connector) Identifier() string { return "datagen" }

// Options returns the options. # stands for a column, or for a part of one: of a ROW the field's name behind
// it, of a collection element, key or value.
func (Connector) Options() []connector.Option {
	return []connector.Option{
		{Key: "rows-per-second", Public: true, Default: "10000", Doc: "how many rows are made a second, at least 1; from 1000000000 on as many as can be"},
		{Key: "number-of-rows", Public: true, Doc: "how many rows the table has; without it, it has as many as its shortest sequence, or no end"},
		{Key: "fields.#.kind", Public: true, Default: "random", Allowed: []string{"random", "sequence"}, Doc: "whether a column is random or counts; a sequence is of numbers, texts or bytes"},
		{Key: "fields.#.min", Public: true, Doc: "the least random number; unless given, the least of the type, 0 for a DECIMAL and months, the least above 0 for FLOAT and DOUBLE"},
		{Key: "fields.#.max", Public: true, Doc: "the greatest random number; unless given, the greatest of the type, 120000 for months"},
		{Key: "fields.#.max-past", Public: true, Default: "0", Doc: "how long before now a random TIMESTAMP or TIMESTAMP_LTZ may be, such as 1 h"},
		{Key: "fields.#.length", Public: true, Doc: "the length of a VARCHAR or VARBINARY, which is else that of the type, or 100; and of an ARRAY, MAP or MULTISET, which is else 3"},
		{Key: "fields.#.var-len", Public: true, Default: "false", Allowed: []string{"true", "false"}, Doc: "whether the length of a VARCHAR or VARBINARY is random, too, from 1 up to it"},
		{Key: "fields.#.start", Public: true, Doc: "the first number of a sequence"},
		{Key: "fields.#.end", Public: true, Doc: "the last number of a sequence, with which the table ends"},
		{Key: "fields.#.null-rate", Public: true, Default: "0", Doc: "how many of the random values are NULL, from 0 to 1"},
		{Key: "scan.parallelism", Public: true, Doc: "into how many parts, at most, a batch job cuts the rows, to make them side by side; a streaming job makes them in order"},
	}
}

// CheckDefinition says what is wrong with a definition.
func (Connector) CheckDefinition(def connector.TableDef) error {
	_, err := newTable(def, nil)
	return err
}

// Table opens a table.
func (Connector) Table(_ context.Context, def connector.TableDef, env *connector.Env) (connector.Table, error) {
	t, err := newTable(def, env)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", def.Identifier, err)
	}
	return t, nil
}

// table is an opened table.
type table struct {
	id          connector.ObjectIdentifier
	columns     []types.Column
	generators  []generator
	rows        int64 // -1: no end
	rate        float64
	parallelism int64 // 0: not given
	env         *connector.Env
}

// maxRow is about how many bytes a row may take.
const maxRow = 1 << 28

func newTable(def connector.TableDef, env *connector.Env) (*table, error) {
	if len(def.PartitionKeys) > 0 {
		return nil, fmt.Errorf("PARTITIONED BY means nothing for connector 'datagen'; leave it out")
	}
	t := &table{id: def.Identifier, columns: def.Schema.Columns, env: env, rows: -1}
	f := &fields{options: def.Options, used: map[string]bool{}}
	size := int64(0)
	for _, c := range t.columns {
		first := len(f.parts)
		g, err := f.column(c)
		if err != nil {
			return nil, err
		}
		if size += g.size(); size > maxRow || g.size() < 0 {
			return nil, &connector.ColumnError{Column: f.parts[first].path, Msg: fmt.Sprintf("a row would take more than %d bytes with column %s; make its length less", int64(maxRow), connector.QuoteName(c.Name))}
		}
		t.generators = append(t.generators, g)
	}
	if err := f.unused(); err != nil {
		return nil, err
	}
	rate, err := whole(def.Options, "rows-per-second", 10_000, 1)
	if err != nil {
		return nil, err
	}
	if t.parallelism, err = whole(def.Options, "scan.parallelism", 0, 1); err != nil {
		return nil, err
	}
	if t.rows, err = whole(def.Options, "number-of-rows", -1, 0); err != nil {
		return nil, err
	}
	t.rate = float64(rate)
	if f.rows > 0 && (t.rows < 0 || int64(f.rows) < t.rows) {
		t.rows = int64(f.rows)
	}
	return t, nil
}

// whole returns an option that is a whole number of at least the least.
func whole(options map[string]string, key string, preset, least int64) (int64, error) {
	text, ok := options[key]
	if !ok {
		return preset, nil
	}
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil || n < least {
		return 0, fault(key, text, "is not a whole number from %d to %d", least, int64(math.MaxInt64))
	}
	return n, nil
}

// Bounded reports whether the rows have an end.
func (t *table) Bounded() bool { return t.rows >= 0 }

// Close does nothing: a table holds nothing open.
func (t *table) Close() error { return nil }

// clock is what dates and times are read from.
func (t *table) clock() func() time.Time {
	if t.env == nil || t.env.Clock == nil {
		return time.Now
	}
	return t.env.Clock
}
