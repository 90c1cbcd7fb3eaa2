package plan

import (
	"strings"
	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/expr"
)

// Explain prints a tree, one node a line, with Flink's glyphs; each line's text is prefix and Describe, with
// what more says of the node, after a comma, inside its last parenthesis.
func Explain(n Node, prefix string, more func(Node) string) string {
	var b strings.Builder
	text := func(n Node) string {
		open := prefix + strings.TrimSuffix(n.Describe(), ")")
		if strings.HasSuffix(open, "(") {
			return open + strings.TrimPrefix(more(n), ", ") + ")"
		}
		return open + more(n) + ")"
	}
	Tree(&b, n, text, Node.Children)
	return b.String()
}

// Tree prints any tree with Flink's glyphs, the last child at +-, the others at :-.
func Tree[N any](b *strings.Builder, root N, text func(N) string, children func(N) []N) {
	var print func(n N, first, rest string)
	print = func(n N, first, rest string) {
		b.WriteString(first)
		b.WriteString(text(n))
		b.WriteByte('\n')
		cs := children(n)
		for i, c := range cs {
			if i < len(cs)-1 {
				print(c, rest+":- ", rest+":  ")
			} else {
				print(c, rest+"+- ", rest+"   ")
			}
		}
	}
	print(root, "", "")
}

func texts(es []expr.Expr) []string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = expr.String(e)
	}
	return parts
}

// shownText is how many bytes of a text value EXPLAIN prints.
const shownText = 40

func literalText(v *column.Vector, i int) string {
	if v.IsNull(i) {
		return "NULL"
	}
	s := string(column.AppendText(nil, v, i, time.UTC))
	if len(s) > shownText {
		s = strings.ToValidUTF8(s[:shownText], "") + "…"
	}
	if v.Type.IsString() {
		s = "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return s
}
