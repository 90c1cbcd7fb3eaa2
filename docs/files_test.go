package docs_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/filesystem"
	"github.com/sluice-sql/sluice/connector/format/csv"
	"github.com/sluice-sql/sluice/connector/format/json"
	"github.com/sluice-sql/sluice/types"
)

func TestFiles(t *testing.T) {
	formats := []connector.Format{csv.Format{}, json.Format{}}
	c := filesystem.Connector{Formats: formats}
	var b strings.Builder
	b.WriteString("# Files: connector 'filesystem', formats 'csv' and 'json'\n\nPrinted from `connector/filesystem` and `connector/format`.\n\n" +
		"    CREATE TABLE orders (id BIGINT, customer STRING, amount DECIMAL(10, 2))\n" +
		"    WITH ('connector' = 'filesystem', 'path' = 'orders.csv', 'format' = 'csv', 'csv.header' = 'true');\n\n" +
		"Without the columns the statement is answered with a list of those that the file's first rows fit. A path that\n" +
		"is a directory is all files in it and below but those whose names begin with `.` or `_`; names that end in .gz,\n" +
		".bz2 or .deflate are decompressed. INSERT adds one file to a directory, which it makes when there is none, all or\n" +
		"nothing; a path that is a file is only read.\n\n" +
		"With `source.monitor-interval` the table has no end: its directory, which may be one that is still to come, is\n" +
		"looked at so often, and new files are read in the order of their last change, then by name. A file is read once,\n" +
		"and not before it has stayed as it is for one interval, so that one that is being written is not read in half;\n" +
		"Flink reads it when it finds it. Writers that pause for longer than that give their files a name that begins with\n" +
		"`.` or `_`, and rename them when they are whole. A file that changes while it is read fails the job; one that\n" +
		"changes afterwards is told of on stderr, and not read again. A streaming job that writes adds a file at each checkpoint,\n" +
		"`part-<job>-<number>`, by a rename: other readers see whole checkpoints.\n")
	optionRows := func(list []connector.Option) {
		b.WriteString("\n| option | default | what it says |\n|---|---|---|\n")
		for _, o := range list {
			def := o.Default
			if o.Required {
				def = "required"
			} else if def != "" {
				def = "`" + def + "`"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", o.Key, def, cell(o.Doc))
		}
	}
	own := len(c.Options())
	for _, f := range formats {
		own -= len(f.Options())
	}
	optionRows(c.Options()[:own])
	b.WriteString("\n## Metadata columns\n\nSuch as ``source STRING METADATA FROM 'file.name'``.\n\n| key | type | what it is |\n|---|---|---|\n")
	for _, m := range c.Metadata() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", m.Key, m.Type, m.Doc)
	}
	for _, f := range formats {
		fmt.Fprintf(&b, "\n## Format '%s'\n", f.Identifier())
		optionRows(f.Options())
	}
	b.WriteString("\n## How values are written\n\nWhat is written reads back as the same type and value. `json` also has ARRAY, MAP, MULTISET and ROW, whose keys are texts; `csv` refuses them.\n\n| type | csv | json |\n|---|---|---|\n")
	for _, x := range []struct {
		t    types.Type
		fill func(v *column.Vector)
	}{
		{types.Of(types.Boolean), func(v *column.Vector) { v.AppendBool(true) }},
		{types.Of(types.BigInt), func(v *column.Vector) { v.AppendI64(math.MinInt64) }},
		{types.Of(types.Double), func(v *column.Vector) { v.AppendF64(1.5) }},
		{types.Of(types.Double), func(v *column.Vector) { v.AppendF64(math.Inf(-1)) }},
		{types.DecimalOf(10, 2), func(v *column.Vector) { v.AppendI64(1250) }},
		{types.String(), func(v *column.Vector) { v.AppendString(`a "b", c`) }},
		{types.String(), func(v *column.Vector) { v.AppendString("") }},
		{types.String(), (*column.Vector).AppendNull},
		{types.Bytes(), func(v *column.Vector) { v.AppendString("\x00\xff") }},
		{types.Of(types.Date), func(v *column.Vector) { v.AppendI64(20000) }},
		{types.WithPrecision(types.Time, 3), func(v *column.Vector) { v.AppendI64(45_000_123) }},
		{types.WithPrecision(types.Timestamp, 6), func(v *column.Vector) { v.AppendI64(1_728_000_000_000_001) }},
		{types.WithPrecision(types.TimestampLTZ, 3), func(v *column.Vector) { v.AppendI64(1_728_000_000_001_000) }},
		{types.Of(types.IntervalYearMonth), func(v *column.Vector) { v.AppendI64(14) }},
		{types.Of(types.IntervalDayTime), func(v *column.Vector) { v.AppendI64(86_400_001) }},
	} {
		v := column.New(x.t, 1)
		x.fill(v)
		fmt.Fprintf(&b, "| %s |", x.t)
		for _, f := range formats {
			codec, err := f.Codec(types.Schema{Columns: []types.Column{{Name: "x", Type: x.t}}}, nil)
			require.NoError(t, err)
			row, err := codec.Encoder().Rows(nil, []*column.Vector{v}, 1)
			require.NoError(t, err)
			shown := "`" + cell(strings.TrimSuffix(string(row), "\n")) + "`"
			if shown == "``" {
				shown = "nothing"
			}
			b.WriteString(" " + shown + " |")
		}
		b.WriteByte('\n')
	}
	check(t, "files.md", b.String())
}
