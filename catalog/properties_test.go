package catalog_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
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

func TestFromPropertiesRefusals(t *testing.T) {
	column := map[string]string{"schema.0.name": "a", "schema.0.data-type": "INT"}
	for _, c := range []struct{ key, value, want string }{
		{"schema.0.data-type", "INTEGR", "table property schema.0.data-type: "},
		{"schema.primary-key.columns", "1", `table property: column position "1" is not one of 1 columns`},
		{"schema.read-only", "-1", `table property: column position "-1" is not one of 1 columns`},
		{"schema.defaults", "a", `table property: column position "a" is not one of 1 columns`},
	} {
		p := maps.Clone(column)
		p[c.key] = c.value
		_, err := catalog.FromProperties(p)
		require.ErrorContains(t, err, c.want)
	}
}
