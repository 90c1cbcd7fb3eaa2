package sqlparse

import "strings"

// Print writes a node as SQL: one line (but for newlines in literals), keywords
// in upper case, names in back-quotes, parentheses only where they are needed.
// What Print writes parses to an equal tree.
func Print(n Node) string {
	var p printer
	n.print(&p)
	return string(p.buf)
}

// QuoteIdent writes a name in back-quotes.
func QuoteIdent(name string) string {
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}

// QuoteString writes a string literal.
func QuoteString(s string) string {
	var p printer
	p.quoteString(s)
	return string(p.buf)
}

// printer collects the text. Its methods chain nothing and never fail.
type printer struct{ buf []byte }

func (p *printer) str(s string) { p.buf = append(p.buf, s...) }

func (p *printer) opt(cond bool, s string) {
	if cond {
		p.str(s)
	}
}

func (p *printer) quoteString(s string) {
	if strings.IndexByte(s, 0) >= 0 {
		// A NUL can only come from an escape and only go back into one.
		s = strings.NewReplacer(`\`, `\\`, "\x00", `\0000`, `'`, `''`).Replace(s)
		p.str("U&'" + s + "'")
		return
	}
	p.str("'" + strings.ReplaceAll(s, "'", "''") + "'")
}

func (p *printer) name(name string) {
	p.buf = append(p.buf, '`')
	p.str(strings.ReplaceAll(name, "`", "``"))
	p.buf = append(p.buf, '`')
}

func (p *printer) path(parts []Ident) {
	for i, id := range parts {
		p.opt(i > 0, ".")
		p.name(id.Name)
	}
}

// list writes n items with commas between.
func (p *printer) list(n int, item func(int)) {
	for i := range n {
		p.opt(i > 0, ", ")
		item(i)
	}
}

// names writes ( a, b ).
func (p *printer) names(ids []Ident) {
	p.str("(")
	p.list(len(ids), func(i int) { p.name(ids[i].Name) })
	p.str(")")
}

func (p *printer) exprs(list []Expr) {
	p.list(len(list), func(i int) { list[i].print(p) })
}

func (p *printer) optionItems(items []Option) {
	p.str("(")
	p.list(len(items), func(i int) {
		items[i].Key.print(p)
		p.str(" = ")
		items[i].Value.print(p)
	})
	p.str(")")
}

func (p *printer) options(o *Options) {
	if o != nil {
		p.str(" WITH ")
		p.optionItems(o.Items)
	}
}

func (p *printer) comment(c *Literal) {
	if c != nil {
		p.str(" COMMENT ")
		c.print(p)
	}
}

func (n Ident) print(p *printer)       { p.name(n.Name) }
func (Ident) children(func(Node))      {}
func (n ObjectName) print(p *printer)  { p.path(n.Parts) }
func (ObjectName) children(func(Node)) {}
