package repl

// boxStyle prints rows in a box of Unicode's lines, numbers to the right and everything else to the left:
//
//	┌────┬───────┐
//	│ id │ name  │
//	├────┼───────┤
//	│  1 │ Alice │
//	└────┴───────┘
func boxStyle() style {
	return style{bar: "│", textLeft: true,
		top: rule{"┌", "─", "┬", "┐"}, middle: rule{"├", "─", "┼", "┤"}, bottom: rule{"└", "─", "┴", "┘"}}
}
