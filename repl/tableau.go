package repl

// tableauStyle prints rows as Flink's SQL client does in batch mode, every cell to the right:
//
//	+----+-------+
//	| id |  name |
//	+----+-------+
//	|  1 | Alice |
//	+----+-------+
//
// Flink cuts every value at table.display.max-column-width, numbers and times too, and marks it by "...".
// Here only texts and bytes are cut, on a terminal only.
//
// tablewriter draws the same form, and a test holds the two against each other. It is not used here
// because it keeps all rows and takes some forty times as long.
func tableauStyle() style {
	r := rule{"+", "-", "+", "+"}
	return style{bar: "|", top: r, middle: r, bottom: r}
}
