package session_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What SHOW CREATE TABLE prints makes the same table again, whatever its names and types, in every kind
// of catalog.
func TestShowCreateMakesTheSame(t *testing.T) {
	names := []string{"t", "We\"ird; drop table x; --", "it's", "a``b", "select", "äöü ☃", "a.b", "-- x", "/* y", " lead", "new\nline", "100%"}
	types := []string{"BOOLEAN", "TINYINT", "SMALLINT NOT NULL", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(38, 18)", "DECIMAL", "CHAR(3)",
		"VARCHAR(7)", "STRING NOT NULL", "BINARY(2)", "VARBINARY(9)", "BYTES", "DATE", "TIME(3)", "TIMESTAMP(9)", "TIMESTAMP_LTZ(0)"}
	for _, way := range everyStore() {
		w := newWorld(t, way.options)
		w.setUp(t, way)
		for i, name := range names {
			name = "`" + name + "`"
			var columns []string
			for j, typ := range types {
				columns = append(columns, "`"+names[j%len(names)]+strings.Repeat("_", j)+"` "+typ)
			}
			columns = append(columns, "`key` INT", "`other key` STRING")
			if strings.HasSuffix(way.name, " on memory") { // which keeps every clause
				columns = append(columns, "`computed "+name[1:]+" AS `"+names[i]+strings.Repeat("_", i)+"` IS NULL OR `key` + 1 = 2 COMMENT 'it''s; --'", "WATERMARK FOR `ts "+name[1:]+" AS `ts "+name[1:]+" - INTERVAL '1' DAY", "`ts "+name[1:]+" TIMESTAMP(3)")
			}
			constraint := ", PRIMARY KEY (`key`, `other key`) NOT ENFORCED"
			if i%2 == 1 {
				constraint = ""
			}
			require.Equal(t, "ok\n", w.script(t, "CREATE TABLE "+name+" ("+strings.Join(columns, ", ")+constraint+")", false), way.name)
			shown := w.script(t, "SHOW CREATE TABLE "+name, false)
			described := w.script(t, "DESCRIBE "+name, false)
			text, ok := strings.CutPrefix(shown, "result\n")
			require.True(t, ok, shown)
			require.Equal(t, "ok\nok\n", w.script(t, "DROP TABLE "+name+";"+text, false), "%s: %s", way.name, text)
			require.Equal(t, shown, w.script(t, "SHOW CREATE TABLE "+name, false))
			require.Equal(t, described, w.script(t, "DESCRIBE "+name, false))
		}
	}
}
