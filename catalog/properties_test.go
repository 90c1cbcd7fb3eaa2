package catalog_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// everyType has a column of each type that a table can have.
func everyType() types.Schema {
	ts := []types.Type{
		types.Of(types.Boolean), types.Of(types.TinyInt), types.Of(types.SmallInt), types.Of(types.Int), types.Of(types.BigInt),
		types.Of(types.Float), types.Of(types.Double), types.DecimalOf(10, 2), types.DecimalOf(38, 18), types.DecimalOf(1, 0),
		types.WithPrecision(types.Char, 1), types.WithPrecision(types.VarChar, 20), types.String(),
		types.WithPrecision(types.Binary, 4), types.WithPrecision(types.VarBinary, 9), types.Bytes(),
		types.Of(types.Date), types.WithPrecision(types.Time, 0), types.WithPrecision(types.Time, 3),
		types.WithPrecision(types.Timestamp, 0), types.WithPrecision(types.Timestamp, 9),
		types.WithPrecision(types.TimestampLTZ, 3), types.Of(types.IntervalYearMonth), types.Of(types.IntervalDayTime),
	}
	var s types.Schema
	for i, t := range ts {
		s.Columns = append(s.Columns, types.Column{Name: t.String(), Type: t})
		s.Columns = append(s.Columns, types.Column{Name: t.String() + " not null", Type: t.AsNotNull(), Comment: strings.Repeat("c", i)})
	}
	return s
}

// The flat map is the serialised form of a table: what comes back is what went in, through JSON too.
func TestPropertiesRoundTrip(t *testing.T) {
	weird := `we"ird; drop table x; --`
	tables := map[string]*catalog.CatalogTable{
		"empty":      {Kind: catalog.KindTable, Options: map[string]string{}},
		"every type": {Kind: catalog.KindTable, Schema: everyType(), Options: map[string]string{}},
		"everything else": {
			Kind: catalog.KindTable,
			Schema: types.Schema{
				Columns: []types.Column{
					{Name: weird, Type: types.Of(types.Int).AsNotNull()}, {Name: "b;1", Type: types.String().AsNotNull(), Comment: "a\nb"},
					{Name: "schema.0.name", Type: types.String()}, {Name: "", Type: types.String()},
				},
				PrimaryKey: []string{"b;1", weird}, PrimaryKeyName: "pk",
			},
			Comment: "comment", Options: map[string]string{"connector": "x", "a.b": ""},
			ReadOnly: []string{"", "schema.0.name"}, Defaults: []string{weird},
		},
		"unnamed key": {Kind: catalog.KindTable, Options: map[string]string{}, Schema: types.Schema{
			Columns: []types.Column{{Name: "a", Type: types.Of(types.Int).AsNotNull()}}, PrimaryKey: []string{"a"}}},
		"native view": {Kind: catalog.KindView, Options: map[string]string{}, Schema: types.Schema{Columns: []types.Column{{Name: "a", Type: types.String()}}}},
	}
	for _, name := range slices.Sorted(maps.Keys(tables)) {
		t.Run(name, func(t *testing.T) {
			text, err := json.Marshal(tables[name].Properties())
			require.NoError(t, err)
			var p map[string]string
			require.NoError(t, json.Unmarshal(text, &p))
			back, err := catalog.FromProperties(p)
			require.NoError(t, err)
			require.Equal(t, tables[name], back)
		})
	}
}

// Whatever a table is made of comes back.
func TestPropertiesOfRandomTables(t *testing.T) {
	seed := time.Now().UnixNano()
	r := rand.New(rand.NewSource(seed))
	every := everyType().Columns
	texts := []string{"a", "", "a;b", "schema.0.name", "x\ny", "`q`", "0", "comment"}
	text := func() string { return texts[r.Intn(len(texts))] }
	for range 3000 {
		table := &catalog.CatalogTable{Kind: catalog.KindTable, Options: map[string]string{}, Comment: text()}
		var names []string
		for at := range r.Intn(8) {
			name := fmt.Sprint(text(), at)
			typ := every[r.Intn(len(every))].Type
			v := catalog.VirtualColumn{Name: name, Position: at, Type: typ, Comment: text()}
			switch r.Intn(4) {
			case 0:
				v.Expr = "x + " + text()
				table.Virtual = append(table.Virtual, v)
			case 1:
				v.Key, v.Stored = "k"+text(), r.Intn(2) == 0
				table.Virtual = append(table.Virtual, v)
			default:
				table.Schema.Columns = append(table.Schema.Columns, types.Column{Name: name, Type: typ, Comment: v.Comment})
				names = append(names, name)
			}
		}
		some := func() (list []string) {
			for _, n := range names {
				if r.Intn(2) == 0 {
					list = append(list, n)
				}
			}
			return list
		}
		if table.Schema.PrimaryKey = some(); table.Schema.PrimaryKey != nil {
			table.Schema.PrimaryKeyName = text()
		}
		table.PartitionKeys, table.ReadOnly, table.Defaults = some(), some(), some()
		if r.Intn(2) == 0 {
			table.Watermark = &catalog.Watermark{Column: text(), Expr: text(), Type: types.WithPrecision(types.Timestamp, 3)}
		}
		if r.Intn(2) == 0 {
			table.Distribution = &catalog.Distribution{Kind: []string{"", "HASH", "RANGE"}[r.Intn(3)], Columns: some(), Buckets: r.Intn(9)}
		}
		if r.Intn(3) == 0 {
			table.Kind = catalog.KindView
			table.View = &catalog.View{Original: text(), Expanded: text()}
		}
		for range r.Intn(3) {
			table.Options["o."+text()] = text()
		}
		back, err := catalog.FromProperties(table.Properties())
		require.NoError(t, err, "seed %d", seed)
		require.Equal(t, table, back, "seed %d", seed)
	}
}

// All declared columns are in order, and a connector gets the physical ones and then the metadata.
func TestColumns(t *testing.T) {
	integer := types.Of(types.Int)
	table := &catalog.CatalogTable{
		Schema: types.Schema{Columns: []types.Column{{Name: "b", Type: integer}, {Name: "e", Type: integer}}},
		Virtual: []catalog.VirtualColumn{
			{Name: "a", Position: 0, Type: integer, Key: "offset"}, {Name: "c", Position: 2, Type: integer, Expr: "b + 1"},
			{Name: "d", Position: 3, Type: integer, Key: "time", Stored: true}, {Name: "f", Position: 5, Type: integer, Expr: "1"},
		},
	}
	var names []string
	for _, c := range table.Columns() {
		names = append(names, c.Name)
		require.Equal(t, c.Name != "b" && c.Name != "e", c.Virtual != nil)
	}
	require.Equal(t, []string{"a", "b", "c", "d", "e", "f"}, names)
	def := table.Def(connector.ObjectIdentifier{Object: "t"})
	require.Equal(t, []string{"b", "e", "a", "d"}, def.Schema.Names())
	require.Equal(t, []string{"offset", "time"}, def.Metadata)
	require.Equal(t, []string{"b", "e"}, table.Schema.Names())
}

// The keys are Flink's.
func TestPropertyKeys(t *testing.T) {
	table := &catalog.CatalogTable{
		Kind: catalog.KindTable, Comment: "orders", Options: map[string]string{"connector": "x"},
		Schema: types.Schema{
			Columns: []types.Column{
				{Name: "id", Type: types.Of(types.BigInt).AsNotNull(), Comment: "key"},
				{Name: "name", Type: types.String()},
			},
			PrimaryKey: []string{"id"}, PrimaryKeyName: "PK_id",
		},
	}
	require.Equal(t, map[string]string{
		"comment": "orders", "connector": "x",
		"schema.0.name": "id", "schema.0.data-type": "BIGINT NOT NULL", "schema.0.comment": "key",
		"schema.1.name": "name", "schema.1.data-type": "STRING",
		"schema.primary-key.name": "PK_id", "schema.primary-key.columns": "0",
	}, table.Properties())
}

func TestPropertyKeysOfTheRest(t *testing.T) {
	at := types.WithPrecision(types.Timestamp, 3)
	table := &catalog.CatalogTable{
		Kind: catalog.KindTable, Options: map[string]string{}, PartitionKeys: []string{"id"},
		Schema: types.Schema{Columns: []types.Column{{Name: "id", Type: types.Of(types.Int)}}},
		Virtual: []catalog.VirtualColumn{
			{Name: "at", Position: 1, Type: at, Expr: "TO_TIMESTAMP(`id`)"}, {Name: "off", Position: 2, Type: types.Of(types.BigInt), Key: "offset"},
		},
		Watermark:    &catalog.Watermark{Column: "at", Expr: "`at` - INTERVAL '1' SECOND", Type: at},
		Distribution: &catalog.Distribution{Kind: "HASH", Columns: []string{"id"}, Buckets: 4},
	}
	require.Equal(t, map[string]string{
		"schema.0.name": "id", "schema.0.data-type": "INT",
		"schema.1.name": "at", "schema.1.data-type": "TIMESTAMP(3)", "schema.1.expr": "TO_TIMESTAMP(`id`)",
		"schema.2.name": "off", "schema.2.data-type": "BIGINT", "schema.2.metadata": "offset", "schema.2.virtual": "true",
		"schema.watermark.0.rowtime": "at", "schema.watermark.0.strategy.expr": "`at` - INTERVAL '1' SECOND", "schema.watermark.0.strategy.data-type": "TIMESTAMP(3)",
		"partition.keys.0.name":    "id",
		"schema.distribution.kind": "HASH", "schema.distribution.buckets": "4", "schema.distribution.columns.0.name": "id",
	}, table.Properties())
	view := &catalog.CatalogTable{Kind: catalog.KindView, View: &catalog.View{Original: "SELECT 1", Expanded: "SELECT 1 AS `a`"}}
	require.Equal(t, map[string]string{
		"schema.kind": "VIEW", "schema.view-original-query": "SELECT 1", "schema.view-expanded-query": "SELECT 1 AS `a`",
	}, view.Properties())
}

func TestFromPropertiesRefusals(t *testing.T) {
	column := map[string]string{"schema.0.name": "a", "schema.0.data-type": "INT"}
	for _, c := range []struct{ key, value, want string }{
		{"schema.0.data-type", "INTEGR", "table property schema.0.data-type: "},
		{"schema.primary-key.columns", "1", `table property: column position "1" is not one of 1 columns`},
		{"schema.read-only", "-1", `table property: column position "-1" is not one of 1 columns`},
		{"schema.defaults", "a", `table property: column position "a" is not one of 1 columns`},
		{"schema.0.expr", "", `table property schema.0.expr: column "a" is computed from nothing`},
		{"schema.0.metadata", "", `table property schema.0.metadata: column "a" has no metadata key`},
		{"schema.0.metadata", "k", `table property schema.0.virtual: "" is neither true nor false`},
		{"schema.watermark.0.rowtime", "a", "table property schema.watermark.0.strategy.data-type: "},
		{"schema.distribution.kind", "HASH", `table property schema.distribution.buckets: "" is not a number of buckets`},
	} {
		p := maps.Clone(column)
		p[c.key] = c.value
		_, err := catalog.FromProperties(p)
		require.ErrorContains(t, err, c.want)
	}
}
