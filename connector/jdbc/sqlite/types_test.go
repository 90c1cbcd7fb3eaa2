package sqlite

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// writable are the types that a table can have, with parameters at both ends.
func writable() []types.Type {
	ts := []types.Type{
		types.Of(types.Boolean), types.Of(types.TinyInt), types.Of(types.SmallInt), types.Of(types.Int), types.Of(types.BigInt),
		types.Of(types.Float), types.Of(types.Double), types.String(), types.Bytes(), types.Of(types.Date),
		types.WithPrecision(types.Char, 1), types.WithPrecision(types.Char, 255), types.WithPrecision(types.VarChar, 1),
		types.WithPrecision(types.VarChar, 65535), types.WithPrecision(types.Binary, 4), types.WithPrecision(types.VarBinary, 9),
		types.DecimalOf(1, 0), types.DecimalOf(12, 2), types.DecimalOf(18, 18), types.DecimalOf(19, 4), types.DecimalOf(38, 0), types.DecimalOf(38, 18), types.DecimalOf(38, 38),
	}
	for p := 0; p <= 9; p++ {
		ts = append(ts, types.WithPrecision(types.Time, p), types.WithPrecision(types.Timestamp, p), types.WithPrecision(types.TimestampLTZ, p))
	}
	return ts
}

// TestDeclaredTypes: what CREATE TABLE declares is read as the same type.
func TestDeclaredTypes(t *testing.T) {
	for _, want := range writable() {
		declared, reason := DeclaredType(want)
		require.Empty(t, reason, want)
		got, known := ReadType(declared)
		require.True(t, known, declared)
		require.True(t, want.SameKind(got), "%s is declared %s and read as %s", want, declared, got)
	}
	for _, k := range []types.Kind{types.Null, types.IntervalDayTime, types.IntervalYearMonth} {
		_, reason := DeclaredType(types.Of(k))
		require.NotEmpty(t, reason, k)
	}
	_, reason := DeclaredType(types.ArrayOf(types.Of(types.Int)))
	require.Equal(t, "ARRAY<INT> has no form in SQLite; CAST it to STRING", reason)
}

// TestAffinity: no declared type that we emit makes SQLite turn a value into another storage class. A
// probe of each class that the type is written as must come back as it went in.
func TestAffinity(t *testing.T) {
	probes := func(k types.Type) []string {
		switch k.Kind {
		case types.Boolean, types.TinyInt, types.SmallInt, types.Int, types.BigInt:
			return []string{"0", "1", "-9223372036854775808", "9223372036854775807"}
		case types.Float, types.Double:
			return []string{"1.5", "1.0", "-1e300", "9e999"}
		case types.Binary, types.VarBinary:
			return []string{"x'3132'", "x''", "x'00ff'"}
		case types.Date:
			return []string{"'0001-01-01'", "'9999-12-31'"}
		case types.Time:
			return []string{"'00:00:00'", "'23:59:59.999'"}
		case types.Timestamp, types.TimestampLTZ:
			return []string{"'0001-01-01 00:00:00'", "'9999-12-31 23:59:59.999999'", "'2024-01-01 00:00:00.000Z'"}
		}
		return []string{"'1'", "'1.50'", "'1e5'", "''", "' 12 '", "'12345678901234567890123456789012345678'", "'0.10'"}
	}
	path := file(t)
	for _, k := range writable() {
		declared, _ := DeclaredType(k)
		exe(t, path, "DROP TABLE IF EXISTS a", "CREATE TABLE a (v "+declared+")")
		for _, p := range probes(k) {
			exe(t, path, "PRAGMA synchronous = OFF", "DELETE FROM a", "INSERT INTO a VALUES ("+p+")")
			same := one(t, path, "SELECT typeof(v) = typeof("+p+") AND v IS "+p+" FROM a")
			require.Equal(t, "1", same, "%s into %s became %s", p, declared, one(t, path, "SELECT typeof(v) || ' ' || v FROM a"))
		}
	}
}

// TestReadType: the names that foreign files use.
func TestReadType(t *testing.T) {
	for declared, want := range map[string]string{
		"INTEGER": "BIGINT", "int": "INT", "Int Unsigned": "BIGINT", "UNSIGNED BIG INT": "BIGINT", "INT8": "BIGINT", "mediumint": "BIGINT",
		"bigint": "BIGINT", "tinyint": "TINYINT", "POINT": "BIGINT",
		"NVARCHAR(160)": "VARCHAR(160)", "varchar ( 10 )": "VARCHAR(10)", "CHARACTER(20)": "VARCHAR(20)", "char(3)": "CHAR(3)",
		"VARCHAR": "STRING", "CLOB": "STRING", "text": "STRING", "TEXT(100)": "STRING", "LONGTEXT": "STRING",
		"BLOB": "BYTES", "LONGBLOB": "BYTES", "BINARY": "BYTES",
		"NUMERIC(10,2)": "DECIMAL(10, 2)", "decimal ( 8 , 3 )": "DECIMAL(8, 3)", "DECIMAL(5)": "DECIMAL(5, 0)", "DECIMAL(50,2)": "DOUBLE",
		"NUMERIC": "DOUBLE", "DECIMAL": "DOUBLE", "REAL": "DOUBLE", "FLOAT": "DOUBLE", "double precision": "DOUBLE", "FLOAT(24)": "FLOAT",
		"DATETIME": "TIMESTAMP(6)", "timestamp": "TIMESTAMP(6)", "TIMESTAMP(3)": "TIMESTAMP(3)", "DATE": "DATE", "TIME": "TIME(3)",
		"BOOL": "BOOLEAN", "boolean": "BOOLEAN", "DECIMAL_TEXT(38,18)": "DECIMAL(38, 18)", "TIMESTAMP_LTZ(9)": "TIMESTAMP_LTZ(9)",
	} {
		got, known := ReadType(declared)
		require.True(t, known, declared)
		require.Equal(t, want, got.String(), declared)
	}
	for _, declared := range []string{"", "JSON", "UUID", "MONEY"} {
		_, known := ReadType(declared)
		require.False(t, known, declared)
	}
}

// extremes fills a batch with the ends of every type's range, ” and NULL.
func extremes() (types.Schema, *column.Batch) {
	var s types.Schema
	for _, k := range writable() {
		s.Columns = append(s.Columns, types.Column{Name: k.String(), Type: k})
	}
	b := column.NewBatch(s.Types(), 8)
	for i, c := range s.Columns {
		v := b.Cols[i]
		low, high := int64(math.MinInt64), int64(math.MaxInt64)
		switch c.Type.Kind {
		case types.Boolean:
			v.AppendBool(false)
			v.AppendBool(true)
			v.AppendBool(true)
		case types.TinyInt:
			ints(v, math.MinInt8, math.MaxInt8, 0)
		case types.SmallInt:
			ints(v, math.MinInt16, math.MaxInt16, 0)
		case types.Int:
			ints(v, math.MinInt32, math.MaxInt32, -1)
		case types.BigInt:
			ints(v, low, high, 9007199254740993)
		case types.Float:
			v.AppendF64(math.MaxFloat32)
			v.AppendF64(float64(float32(0.1)))
			v.AppendF64(math.SmallestNonzeroFloat32)
		case types.Double:
			v.AppendF64(math.MaxFloat64)
			v.AppendF64(5e-324)
			v.AppendF64(math.Inf(-1))
		case types.Char, types.VarChar:
			v.AppendString("")
			v.AppendString("1")
			v.AppendString("€")
		case types.Binary, types.VarBinary:
			v.AppendBytes(nil)
			v.AppendBytes([]byte{0, 255, '1'})
			v.AppendBytes([]byte("1"))
		case types.Date:
			ints(v, minDays, maxDays, -1)
		case types.Time:
			step := int64(1)
			for p := c.Type.Precision; p < 3; p++ {
				step *= 10
			}
			ints(v, 0, 86400000-step, step)
		case types.Timestamp, types.TimestampLTZ:
			if c.Type.Nanos() {
				step := types.Pow10Int64(9 - c.Type.Precision)
				ints(v, low/step*step, high/step*step, -step)
			} else {
				step := types.Pow10Int64(6 - c.Type.Precision)
				ints(v, minDays*86400000000, (maxDays+1)*86400000000-step, -step)
			}
		case types.Decimal:
			max, _ := types.Pow10(c.Type.Precision - 1).Mul(types.Int128From(10))
			if c.Type.Precision < 38 {
				max = types.Pow10(c.Type.Precision)
			}
			max = max.Sub(types.Int128From(1))
			v.AppendI128(max)
			v.AppendI128(max.Neg())
			v.AppendI128(types.Int128From(1))
		}
		v.AppendNull()
	}
	b.N = 4
	return s, b
}

func ints(v *column.Vector, list ...int64) {
	for _, x := range list {
		v.AppendI64(x)
	}
}

// TestRoundTrip: the ends of every type go in and come out, on both roads.
func TestRoundTrip(t *testing.T) {
	schema, b := extremes()
	want := texts(b)
	for _, staging := range []string{"false", "true"} {
		path := file(t, "CREATE TABLE other (x)")
		s := NewStore(path, map[string]string{"sink.staging": staging}, newEnv())
		tx := NewTransaction(Target{Store: s, Table: "t", Columns: schema.Columns, Create: &schema})
		n, out, err := write(tx, batches(b))
		require.NoError(t, err)
		require.Equal(t, connector.Done, out)
		require.EqualValues(t, 4, n)
		got, read, err := readStore(s, "t")
		require.NoError(t, err)
		require.Equal(t, schema.Columns, read.Columns)
		for i := range want {
			for c := range want[i] {
				require.Equal(t, want[i][c], got[i][c], "%s, row %d", schema.Columns[c].Name, i)
			}
		}
		require.Equal(t, "ok", one(t, path, "PRAGMA integrity_check"))
	}
}

// TestWrittenForms: what another program sees in the file.
func TestWrittenForms(t *testing.T) {
	schema, b := extremes()
	path := filepath.Join(t.TempDir(), "new.db")
	_, _, err := write(ctas(path, schema), batches(b))
	require.NoError(t, err)
	for col, want := range map[string]string{
		"DECIMAL(38, 18)":  "text -99999999999999999999.999999999999999999",
		"DECIMAL(18, 18)":  "text -0.999999999999999999",
		"DECIMAL(38, 0)":   "text -99999999999999999999999999999999999999",
		"DATE":             "text 9999-12-31",
		"TIMESTAMP(3)":     "text 9999-12-31 23:59:59.999",
		"TIMESTAMP(9)":     "text 2262-04-11 23:47:16.854775807",
		"TIMESTAMP(0)":     "text 9999-12-31 23:59:59",
		"TIMESTAMP_LTZ(6)": "text 9999-12-31 23:59:59.999999Z",
		"TIME(3)":          "text 23:59:59.999",
		"TIME(0)":          "text 23:59:59",
		"BOOLEAN":          "integer 1",
		"BIGINT":           "integer 9223372036854775807",
	} {
		require.Equal(t, want, one(t, path, "SELECT typeof("+Quote(col)+") || ' ' || "+Quote(col)+" FROM t WHERE rowid = 2"), col)
	}
	require.Equal(t, "text ", one(t, path, `SELECT typeof("STRING") || ' ' || "STRING" FROM t WHERE rowid = 1`), "'' is not NULL")
	require.Equal(t, "blob", one(t, path, `SELECT typeof("BYTES") FROM t WHERE rowid = 1`))
}

// TestRefusedValues: what a value cannot be stored as fails its row, and nothing is stored.
func TestRefusedValues(t *testing.T) {
	try := func(declared string, k types.Type, fill func(v *column.Vector)) error {
		path := file(t, "CREATE TABLE t (id INTEGER PRIMARY KEY, v "+declared+")", "INSERT INTO t VALUES (1, NULL)")
		b := column.NewBatch([]types.Type{k}, 4)
		fill(b.Cols[0])
		b.N = b.Cols[0].Len
		tx := NewTransaction(Target{Store: NewStore(path, nil, newEnv()), Table: "t", Columns: []types.Column{{Name: "v", Type: k}}})
		_, _, err := write(tx, batches(b))
		if err != nil {
			require.Equal(t, "1", one(t, path, "SELECT count(*) FROM t"))
		}
		return err
	}
	require.EqualError(t, try("DOUBLE", types.Of(types.Double), func(v *column.Vector) { v.AppendF64(1); v.AppendF64(math.NaN()) }),
		"table t, column v, row 2: NaN cannot be stored in SQLite")
	require.EqualError(t, try("TIMESTAMP(6)", types.WithPrecision(types.Timestamp, 6), func(v *column.Vector) { v.AppendI64(math.MaxInt64) }),
		"table t, column v, row 1: 294247-01-10 04:00:54.775807: a date outside the years 0001 to 9999 cannot be stored")
	require.ErrorContains(t, try("DECIMAL(38,18)", types.DecimalOf(38, 18), func(v *column.Vector) { v.AppendI128(types.Pow10(37).Add(types.Int128From(1))) }),
		"SQLite's hold 15 decimal digits; this value has more")
	require.ErrorContains(t, try("JSON", types.String(), func(v *column.Vector) { v.AppendString("{}"); v.AppendString(" 007 ") }),
		"row 2:  007 : SQLite would turn this text into a number")
	require.ErrorContains(t, try("TEXT", types.Of(types.BigInt), func(v *column.Vector) { v.AppendI64(7) }),
		"SQLite would turn BIGINT values into text; CAST them to STRING")
	require.NoError(t, try("JSON", types.String(), func(v *column.Vector) { v.AppendString("{}"); v.AppendString("2024-01-01"); v.AppendString("1e") }))
	require.NoError(t, try("NUMERIC(10,2)", types.DecimalOf(10, 2), func(v *column.Vector) { v.AppendI64(99); v.AppendI64(1200) }))
	require.NoError(t, try("DOUBLE", types.Of(types.Double), func(v *column.Vector) { v.AppendF64(math.Copysign(0, -1)) }))
}
