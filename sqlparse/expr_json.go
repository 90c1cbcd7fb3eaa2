package sqlparse

// JSONCall is one of the functions with clauses of the SQL/JSON standard:
// JSON_EXISTS, JSON_VALUE, JSON_QUERY, JSON_OBJECT, JSON_OBJECTAGG, JSON_ARRAY,
// JSON_ARRAYAGG. (JSON_STRING and the rest are plain calls.)
type JSONCall struct {
	Pos
	Name      string     // in upper case
	Args      []Expr     // input and path; or the elements of JSON_ARRAY, JSON_ARRAYAGG
	Pairs     []JSONPair // of JSON_OBJECT, JSON_OBJECTAGG
	Returning TypeName   // nil: not written
	Wrapper   string     // JSON_QUERY: "", "WITHOUT", "WITH CONDITIONAL", "WITH UNCONDITIONAL"
	OnEmpty   *JSONBehavior
	OnError   *JSONBehavior
	OnNull    string // "", "NULL" or "ABSENT": … ON NULL
	OrderBy   []OrderItem
	Filter    Expr // of the two aggregates
}

// JSONPair is KEY k VALUE v.
type JSONPair struct {
	Pos
	Key, Value Expr
}

// JSONBehavior is what ON EMPTY or ON ERROR does: NULL, ERROR, TRUE, FALSE,
// UNKNOWN, EMPTY ARRAY, EMPTY OBJECT, or DEFAULT with a value.
type JSONBehavior struct {
	Pos
	Kind    string
	Default Expr
}

func (*JSONCall) expr() {}

// jsonCall: a JSON function; its name is the current token, ( the next
func (p *parser) jsonCall() Expr {
	start := p.tok.start
	c := &JSONCall{Name: p.tok.kw}
	p.next()
	p.expectOp("(")
	aggregate := false
	switch c.Name {
	case "JSON_EXISTS", "JSON_VALUE", "JSON_QUERY":
		c.Args = append(c.Args, p.expr())
		p.expectOp(",")
		c.Args = append(c.Args, p.expr())
		if c.Name != "JSON_EXISTS" && p.accept("RETURNING") {
			c.Returning = p.typeName()
		}
		if c.Name == "JSON_QUERY" {
			c.Wrapper = p.jsonWrapper()
		}
		for p.err == nil && !p.isOp(")") {
			p.jsonBehavior(c)
		}
	case "JSON_OBJECT":
		if !p.isOp(")") && !p.isJSONOnNull() {
			for p.err == nil {
				c.Pairs = append(c.Pairs, p.jsonPair())
				if !p.acceptOp(",") {
					break
				}
			}
		}
		p.jsonOnNull(c)
	case "JSON_OBJECTAGG":
		aggregate = true
		c.Pairs = append(c.Pairs, p.jsonPair())
		p.jsonOnNull(c)
	case "JSON_ARRAY":
		if !p.isOp(")") && !p.isJSONOnNull() {
			for p.err == nil {
				c.Args = append(c.Args, p.expr())
				if !p.acceptOp(",") {
					break
				}
			}
		}
		p.jsonOnNull(c)
	case "JSON_ARRAYAGG":
		aggregate = true
		c.Args = append(c.Args, p.expr())
		if p.isWord("ORDER") {
			c.OrderBy = p.orderBy()
		}
		p.jsonOnNull(c)
	}
	p.expectOp(")")
	if aggregate {
		c.Filter = p.filter()
	}
	c.Pos = p.pos(start)
	return c
}

// jsonPair: [KEY] k VALUE v, or k : v
func (p *parser) jsonPair() JSONPair {
	start := p.tok.start
	if p.isWord("KEY") && !p.peekIsWord(1, "VALUE") && !p.peekIsOp(1, ":") && !p.peekIsOp(1, ".") {
		p.next()
	}
	var pair JSONPair
	pair.Key = p.expr()
	if !p.acceptOp(":") && !p.accept("VALUE") {
		p.unexpected("VALUE and the value of the JSON key")
	}
	pair.Value = p.expr()
	pair.Pos = p.pos(start)
	return pair
}

func (p *parser) isJSONOnNull() bool {
	return (p.isWord("NULL") || p.isWord("ABSENT")) && p.peekIsWord(1, "ON") && p.peekIsWord(2, "NULL")
}

// jsonOnNull: [{NULL|ABSENT} ON NULL]
func (p *parser) jsonOnNull(c *JSONCall) {
	if p.isJSONOnNull() {
		c.OnNull = p.tok.kw
		p.accept(c.OnNull, "ON", "NULL")
	}
}

// jsonWrapper: [WITHOUT [ARRAY] WRAPPER | WITH [CONDITIONAL|UNCONDITIONAL] [ARRAY] WRAPPER]
func (p *parser) jsonWrapper() string {
	w := ""
	switch {
	case p.accept("WITHOUT"):
		w = "WITHOUT"
	case p.accept("WITH"):
		w = "WITH UNCONDITIONAL"
		if p.accept("CONDITIONAL") {
			w = "WITH CONDITIONAL"
		} else {
			p.accept("UNCONDITIONAL")
		}
	default:
		return ""
	}
	p.accept("ARRAY")
	p.expect("WRAPPER")
	return w
}

// jsonBehavior: what ON {EMPTY|ERROR}
func (p *parser) jsonBehavior(c *JSONCall) {
	start := p.tok.start
	b := &JSONBehavior{Kind: p.tok.kw}
	var ok bool
	switch p.tok.kw {
	case "NULL", "DEFAULT":
		ok = c.Name != "JSON_EXISTS" && !(c.Name == "JSON_QUERY" && p.tok.kw == "DEFAULT")
	case "TRUE", "FALSE", "UNKNOWN":
		ok = c.Name == "JSON_EXISTS"
	case "ERROR":
		ok = true
	case "EMPTY":
		ok = c.Name == "JSON_QUERY"
	}
	if !ok {
		switch c.Name {
		case "JSON_EXISTS":
			p.unexpected(`TRUE, FALSE, UNKNOWN or ERROR with ON ERROR, or ")"`)
		case "JSON_VALUE":
			p.unexpected(`NULL, ERROR or DEFAULT with ON EMPTY or ON ERROR, or ")"`)
		default:
			p.unexpected(`NULL, ERROR, EMPTY ARRAY or EMPTY OBJECT with ON EMPTY or ON ERROR, or ")"`)
		}
		return
	}
	p.next()
	switch b.Kind {
	case "DEFAULT":
		b.Default = p.expr()
	case "EMPTY":
		if p.accept("OBJECT") {
			b.Kind = "EMPTY OBJECT"
		} else {
			p.accept("ARRAY")
			b.Kind = "EMPTY ARRAY"
		}
	}
	p.expect("ON")
	switch {
	case c.Name != "JSON_EXISTS" && c.OnEmpty == nil && c.OnError == nil && p.accept("EMPTY"):
		c.OnEmpty = b
	case c.OnError == nil && p.accept("ERROR"):
		c.OnError = b
	default:
		p.unexpected("one ON EMPTY and then one ON ERROR")
	}
	b.Pos = p.pos(start)
}

func (c *JSONCall) print(p *printer) {
	p.str(c.Name + "(")
	p.exprs(c.Args)
	p.list(len(c.Pairs), func(i int) {
		p.str("KEY ")
		c.Pairs[i].Key.print(p)
		p.str(" VALUE ")
		c.Pairs[i].Value.print(p)
	})
	if c.OrderBy != nil {
		p.str(" ")
		p.orderBy(c.OrderBy)
	}
	if c.Returning != nil {
		p.str(" RETURNING ")
		c.Returning.print(p)
	}
	if c.Wrapper != "" {
		p.str(" " + c.Wrapper + " WRAPPER")
	}
	c.OnEmpty.print(p, "EMPTY")
	c.OnError.print(p, "ERROR")
	if c.OnNull != "" {
		p.opt(len(c.Args)+len(c.Pairs) > 0, " ")
		p.str(c.OnNull + " ON NULL")
	}
	p.str(")")
	p.filter(c.Filter)
}

func (b *JSONBehavior) print(p *printer, event string) {
	if b == nil {
		return
	}
	p.str(" " + b.Kind)
	if b.Default != nil {
		p.str(" ")
		b.Default.print(p)
	}
	p.str(" ON " + event)
}

func (c *JSONCall) children(visit func(Node)) {
	visitExprs(visit, c.Args...)
	for _, pair := range c.Pairs {
		visitExprs(visit, pair.Key, pair.Value)
	}
	visitOrder(visit, c.OrderBy)
	if c.Returning != nil {
		visit(c.Returning)
	}
	for _, b := range []*JSONBehavior{c.OnEmpty, c.OnError} {
		if b != nil {
			visitExprs(visit, b.Default)
		}
	}
	visitExprs(visit, c.Filter)
}
