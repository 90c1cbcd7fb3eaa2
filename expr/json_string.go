package expr

import "strings"

// writeJSONCall writes the JSON functions with their clauses.
func writeJSONCall(b *strings.Builder, c *Call) {
	name, args := c.Func.Name, c.Args
	b.WriteString(name + "(")
	defer b.WriteByte(')')
	switch name {
	case "JSON_EXISTS", "JSON_VALUE", "JSON_QUERY":
		write(b, args[0], 0)
		b.WriteString(", ")
		write(b, args[1], 0)
		if len(args) > 2 {
			text, _ := constText(args[2])
			for _, d := range args[3:] {
				before, after, _ := strings.Cut(text, "DEFAULT ON")
				b.WriteString(blankBefore(strings.TrimSuffix(before, " ")) + " DEFAULT ")
				write(b, d, 0)
				text = "ON" + after
			}
			b.WriteString(blankBefore(text))
		}
	case "JSON_OBJECT", "JSON_ARRAY":
		each := 1
		if name == "JSON_OBJECT" {
			each = 2
		}
		absent, raw, err := jsonForm(args, each)
		if err != nil {
			return
		}
		for k := range len(raw) {
			if k > 0 {
				b.WriteString(", ")
			}
			if each == 2 {
				b.WriteString("KEY ")
				write(b, args[2*k+1], 0)
				b.WriteString(" VALUE ")
			}
			value := args[each*(k+1)]
			if _, folded := value.(*Literal); folded && raw[k] == 'r' {
				b.WriteString("JSON(")
				write(b, value, 0)
				b.WriteString(")")
				continue
			}
			write(b, value, 0)
		}
		switch blank := strings.Repeat(" ", min(1, len(raw))); {
		case absent && each == 2:
			b.WriteString(blank + "ABSENT ON NULL")
		case !absent && each == 1:
			b.WriteString(blank + "NULL ON NULL")
		}
	default:
		for i, a := range args {
			if i > 0 {
				b.WriteString(", ")
			}
			write(b, a, 0)
		}
	}
}

func blankBefore(s string) string {
	if s == "" || strings.HasPrefix(s, " ") {
		return s
	}
	return " " + s
}
