package session

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// dataType is a type as HELP knows it.
type dataType struct {
	names  []string // the first is its own
	syntax string
	doc    string
	sample string // how a value is written
}

// dataTypes returns the types that a column can have.
func dataTypes() []dataType {
	return []dataType{
		{[]string{"BOOLEAN"}, "BOOLEAN", "TRUE or FALSE.", "TRUE"},
		{[]string{"TINYINT"}, "TINYINT", "A whole number from -128 to 127.", "CAST(7 AS TINYINT)"},
		{[]string{"SMALLINT"}, "SMALLINT", "A whole number from -32,768 to 32,767.", "CAST(7 AS SMALLINT)"},
		{[]string{"INT", "INTEGER"}, "INT", "A whole number from -2,147,483,648 to 2,147,483,647.", "42"},
		{[]string{"BIGINT"}, "BIGINT", "A whole number of 64 bits.", "CAST(42 AS BIGINT)"},
		{[]string{"FLOAT"}, "FLOAT", "A binary fraction of 32 bits, exact to about 7 digits.", "CAST(1.5 AS FLOAT)"},
		{[]string{"DOUBLE", "DOUBLE PRECISION"}, "DOUBLE", "A binary fraction of 64 bits, exact to about 15 digits.", "1.5E0"},
		{[]string{"DECIMAL", "DEC", "NUMERIC"}, "DECIMAL(p, s)", "An exact number of p digits, 1 to 38, of which s are decimals; DECIMAL(p) is DECIMAL(p, 0), DECIMAL is DECIMAL(10, 0).", "12.50"},
		{[]string{"CHAR", "CHARACTER"}, "CHAR(n)", "A text of n characters; shorter ones are filled with blanks.", "'GB'"},
		{[]string{"VARCHAR", "CHARACTER VARYING"}, "VARCHAR(n)", "A text of at most n characters.", "CAST('x' AS VARCHAR(20))"},
		{[]string{"STRING"}, "STRING", "A text of any length; the same as VARCHAR(2147483647).", "CAST('x' AS STRING)"},
		{[]string{"BINARY"}, "BINARY(n)", "n bytes.", "X'00FF'"},
		{[]string{"VARBINARY", "BINARY VARYING"}, "VARBINARY(n)", "At most n bytes.", "CAST(X'00FF' AS VARBINARY(20))"},
		{[]string{"BYTES"}, "BYTES", "Any number of bytes; the same as VARBINARY(2147483647).", "CAST(X'00FF' AS BYTES)"},
		{[]string{"DATE"}, "DATE", "A day.", "DATE '2024-02-29'"},
		{[]string{"TIME"}, "TIME(p)", "A time of day with p decimals of a second; TIME is TIME(0). At most 3 decimals are kept.", "TIME '12:30:00'"},
		{[]string{"TIMESTAMP"}, "TIMESTAMP(p)", "A day and a time of day without a zone, with p decimals of a second, 0 to 9; TIMESTAMP is TIMESTAMP(6).", "TIMESTAMP '2024-02-29 12:30:00'"},
		{[]string{"TIMESTAMP_LTZ", "TIMESTAMP WITH LOCAL TIME ZONE"}, "TIMESTAMP_LTZ(p)", "An instant with p decimals of a second, 0 to 9, shown in the zone 'table.local-time-zone'; TIMESTAMP_LTZ is TIMESTAMP_LTZ(6).", "TO_TIMESTAMP_LTZ(0, 3)"},
		{[]string{"INTERVAL", "INTERVAL YEAR TO MONTH"}, "INTERVAL YEAR TO MONTH", "A number of months; the units are YEAR and MONTH.", "INTERVAL '1-6' YEAR TO MONTH"},
		{[]string{"INTERVAL", "INTERVAL DAY TO SECOND"}, "INTERVAL DAY TO SECOND", "A number of milliseconds; the units are DAY, HOUR, MINUTE and SECOND.", "INTERVAL '1 02:30:00' DAY TO SECOND"},
		{[]string{"ARRAY"}, "ARRAY<type>", "Values of one type in order; a[1] is the first.", "ARRAY[1, 2]"},
		{[]string{"MAP"}, "MAP<type, type>", "Values by keys; m['k'] is the value of a key.", "MAP['k', 1]"},
		{[]string{"MULTISET"}, "MULTISET<type>", "Values without an order, each any number of times; COLLECT makes one.", ""},
		{[]string{"ROW"}, "ROW<name type, …>", "Named fields; r.name is one of them.", "ROW(1, 'x')"},
	}
}

// findTypes returns the types of a name.
func findTypes(name string) []dataType {
	name, _, _ = strings.Cut(strings.ToUpper(name), "(")
	name, _, _ = strings.Cut(name, "<")
	name = strings.TrimSpace(name)
	var found []dataType
	for _, t := range dataTypes() {
		if slices.Contains(t.names, name) {
			found = append(found, t)
		}
	}
	return found
}

func (t dataType) help() string {
	var b strings.Builder
	b.WriteString(wrapped("type "+t.syntax, "  ", "      "))
	b.WriteString(wrapped(t.doc, "      ", "      "))
	if t.sample != "" {
		b.WriteString(wrapped("written as in "+t.sample, "      ", "      "))
	}
	if len(t.names) > 1 && t.names[0] != "INTERVAL" {
		b.WriteString(wrapped("also called "+strings.Join(t.names[1:], ", "), "      ", "      "))
	}
	return b.String()
}

// helpTypes lists the types.
func helpTypes() string {
	width := 0
	for _, t := range dataTypes() {
		width = max(width, utf8.RuneCountInString(t.syntax))
	}
	var b strings.Builder
	for _, t := range dataTypes() {
		b.WriteString(wrapped(padded(t.syntax, width)+"  "+t.doc, "  ", strings.Repeat(" ", width+4)))
	}
	b.WriteString("\nA column that is NOT NULL has this behind its type. HELP DECIMAL says more of one type.\n")
	return b.String()
}
