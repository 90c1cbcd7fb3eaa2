package session

import "strings"

// completedColumn is a column as a candidate.
type completedColumn struct{ name, doc string }

// relation is a table, view or query that columns can come from.
type relation struct {
	alias   string
	path    []string // of a table: the parts of its name
	columns func() []completedColumn
}

// columnsOf adds the columns of what is written before the dot.
func (c *completing) columnsOf(n int) {
	for _, r := range c.relations(n) {
		if r.is(c.path) {
			for _, col := range r.columns() {
				c.name(col.name, "", CompleteColumn, col.doc)
			}
			return
		}
	}
	if p := c.targetName(n); p != nil && p[len(p)-1] == c.path[len(c.path)-1] {
		c.targetColumnsNamed(n)
	}
}

// is reports whether a qualifier means the relation: its alias, or the end of its name.
func (r relation) is(path []string) bool {
	if len(path) == 1 && strings.EqualFold(path[0], r.alias) {
		return true
	}
	if len(path) > len(r.path) {
		return false
	}
	for i, p := range r.path[len(r.path)-len(path):] {
		if !strings.EqualFold(p, path[i]) {
			return false
		}
	}
	return len(r.path) > 0 && r.alias == r.path[len(r.path)-1]
}

// deepest is how deep queries in queries are looked through for their columns.
const deepest = 8

// relations returns what the columns at token n can come from: the tables of the query around it, then
// those of the queries around that.
func (c *completing) relations(n int) []relation {
	var list []relation
	// The beginnings of the queries that n is in, innermost last, and the end of each.
	starts := []int{-1}
	for i, t := range c.toks[:n] {
		switch {
		case t.text == "(":
			starts = append(starts, -1)
		case t.text == ")" && len(starts) > 1:
			starts = starts[:len(starts)-1]
		case t.word == "SELECT":
			starts[len(starts)-1] = i
		}
	}
	for i := len(starts) - 1; i >= 0; i-- {
		if starts[i] >= 0 {
			list = append(list, c.from(starts[i], 0)...)
		}
	}
	at := 0 // of the table whose rows an UPDATE or DELETE changes
	switch {
	case len(c.toks) > 0 && c.toks[0].word == "UPDATE":
		at = 1
	case len(c.toks) > 1 && c.toks[0].word == "DELETE" && c.toks[1].word == "FROM":
		at = 2
	}
	if at > 0 {
		if r, next := c.tableAt(at, len(c.toks), 0); next > at {
			list = append(list, r)
		}
	}
	return list
}

// endOfQuery returns the token that ends the query or clause list that begins at i.
func (c *completing) endOfQuery(i int) int {
	for ; i < len(c.toks); i++ {
		t := &c.toks[i]
		switch {
		case t.text == "(":
			if t.pair < 0 {
				return len(c.toks)
			}
			i = t.pair
		case t.text == ")", t.word == "UNION", t.word == "INTERSECT", t.word == "EXCEPT", t.word == "MINUS":
			return i
		}
	}
	return i
}

// from returns the relations in the FROM of the query whose SELECT is token i.
func (c *completing) from(i, depth int) []relation {
	end := c.endOfQuery(i)
	var list []relation
	inFrom := false
	for i++; i < end; i++ {
		t := &c.toks[i]
		switch t.word {
		case "FROM", "JOIN":
			inFrom = true
		case "WHERE", "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT", "OFFSET", "FETCH", "ON", "USING":
			if t.word != "ON" && t.word != "USING" && inFrom {
				return list
			}
			inFrom = false
			continue
		default:
			if t.text == "(" {
				if t.pair < 0 {
					return list
				}
				i = t.pair
				continue
			}
			if t.text != "," || !inFrom {
				continue
			}
		}
		if r, next := c.tableAt(i+1, end, depth); next > i+1 {
			list = append(list, r)
			i = next - 1
		}
	}
	return list
}

// tableAt reads the table, query or call at token i with its alias; next is i when there is none.
func (c *completing) tableAt(i, end, depth int) (r relation, next int) {
	switch {
	case i >= end:
		return r, i
	case c.toks[i].text == "(":
		open := c.toks[i]
		if open.pair < 0 {
			return r, i
		}
		r.columns = func() []completedColumn { return c.outputs(i+1, depth+1) }
		next = open.pair + 1
	case c.toks[i].word == "LATERAL" || c.toks[i].word == "UNNEST" || c.toks[i].word == "TABLE":
		r.columns = func() []completedColumn { return nil }
		for next = i; next < end && c.toks[next].text != "("; next++ {
		}
		if next >= end || c.toks[next].pair < 0 {
			return r, i
		}
		next = c.toks[next].pair + 1
	case c.toks[i].name != "":
		r.path, next = c.nameAt(i, end)
		if len(r.path) == 0 || c.typed != nil && next == i+1 && &c.toks[i] == c.typed { // is being typed
			return r, i
		}
		r.alias = r.path[len(r.path)-1]
		path := r.path
		r.columns = func() []completedColumn { return c.columnsNamed(path, i, depth) }
	default:
		return r, i
	}
	if next < end && c.toks[next].word == "AS" {
		next++
	}
	if next < end && c.toks[next].name != "" && (c.toks[next].word == "" || plainWord(c.toks[next].word)) {
		r.alias = c.toks[next].name
		next++
		if next < end && c.toks[next].text == "(" && c.toks[next].pair > 0 {
			names := c.namesIn(next)
			r.columns = func() []completedColumn { return names }
			next = c.toks[next].pair + 1
		}
	}
	return r, next
}

// nameAt reads a name of several parts.
func (c *completing) nameAt(i, end int) (path []string, next int) {
	for i < end && c.toks[i].name != "" {
		path = append(path, c.toks[i].name)
		i++
		if i+1 >= end || c.toks[i].text != "." {
			break
		}
		i++
	}
	return path, i
}

// namesIn returns the names in a list in parentheses.
func (c *completing) namesIn(open int) []completedColumn {
	var list []completedColumn
	for i := open + 1; i < c.toks[open].pair; i++ {
		if (i == open+1 || c.toks[i-1].text == ",") && c.toks[i].name != "" {
			list = append(list, completedColumn{name: c.toks[i].name})
		}
	}
	return list
}

// columnsNamed returns the columns of a table or of a common table expression that is seen at token at.
func (c *completing) columnsNamed(path []string, at, depth int) []completedColumn {
	if len(path) == 1 && depth < deepest {
		for _, w := range c.withs(at) {
			if w.name == path[0] {
				if w.columns != nil {
					return w.columns
				}
				return c.outputs(w.query, depth+1)
			}
		}
	}
	return c.s.columnNames(c.ctx, path)
}

// commonTable is an element of a WITH clause.
type commonTable struct {
	name    string
	columns []completedColumn // as declared, or nil
	query   int               // where its query begins
}

// withs returns the common table expressions that token n can name, the nearest first.
func (c *completing) withs(n int) []commonTable {
	var list []commonTable
	for i := n - 1; i >= 0; i-- {
		t := &c.toks[i]
		if t.text == ")" && t.pair >= 0 {
			i = t.pair
			continue
		}
		if t.word != "WITH" {
			continue
		}
		var here []commonTable
		for j := i + 1; j < n && c.toks[j].name != ""; {
			w := commonTable{name: c.toks[j].name}
			j++
			if j < n && c.toks[j].text == "(" && c.toks[j].pair > j {
				w.columns = c.namesIn(j)
				j = c.toks[j].pair + 1
			}
			if j+1 >= n || c.toks[j].word != "AS" || c.toks[j+1].text != "(" {
				break
			}
			w.query = j + 2
			end := c.toks[j+1].pair
			if end < 0 || end >= n { // n is in it: those before are seen
				break
			}
			here = append(here, w)
			if j = end + 1; j >= n || c.toks[j].text != "," {
				break
			}
			j++
		}
		list = append(list, here...)
	}
	return list
}

// commonTables adds the names of common table expressions.
func (c *completing) commonTables(n int) {
	if len(c.path) > 0 {
		return
	}
	for _, w := range c.withs(n) {
		c.name(w.name, "", CompleteTable, "")
	}
}

// outputs returns the columns of the query that begins at token i, as far as they have names.
func (c *completing) outputs(i, depth int) []completedColumn {
	if depth > deepest || i >= len(c.toks) {
		return nil
	}
	for i < len(c.toks) && c.toks[i].word != "SELECT" { // behind a WITH of its own
		switch t := &c.toks[i]; {
		case t.text == "(" && t.pair > i:
			i = t.pair + 1
		case t.text == "(", t.text == ")", t.word == "VALUES":
			return nil
		default:
			i++
		}
	}
	if i >= len(c.toks) {
		return nil
	}
	query, end := i, c.endOfQuery(i)
	var list []completedColumn
	item := i + 1
	if item < end && (c.toks[item].word == "DISTINCT" || c.toks[item].word == "ALL") {
		item++
	}
	for i = item; ; i++ {
		if i < end && c.toks[i].text == "(" && c.toks[i].pair > i {
			i = c.toks[i].pair
			continue
		}
		if i < end && c.toks[i].text != "," && c.toks[i].word != "FROM" {
			continue
		}
		if last := i - 1; last >= item {
			switch {
			case c.toks[last].text == "*":
				of, _ := c.nameAt(item, last)
				for _, r := range c.from(query, depth) {
					if len(of) == 0 || r.is(of) {
						list = append(list, r.columns()...)
					}
				}
			case c.toks[last].name != "" && c.toks[last].word != "END":
				list = append(list, completedColumn{name: c.toks[last].name})
			}
		}
		if i >= end || c.toks[i].word == "FROM" {
			return list
		}
		item = i + 1
	}
}

// targetName returns the name of the table that the statement is about: the first behind TABLE, INTO or the
// like.
func (c *completing) targetName(n int) []string {
	for i, t := range c.toks[:n] {
		switch t.word {
		case "TABLE", "INTO", "OVERWRITE", "VIEW", "PARTITIONS", "FROM", "UPDATE":
			j := i + 1
			for j < n && (c.toks[j].word == "IF" || c.toks[j].word == "NOT" || c.toks[j].word == "EXISTS" || c.toks[j].word == "TABLE") {
				j++
			}
			path, _ := c.nameAt(j, n)
			if len(path) == 0 {
				return nil
			}
			return path
		}
	}
	return nil
}

// targetColumns adds the columns of the statement's table: those it declares, or else has.
func (c *completing) targetColumns(n int) {
	if len(c.path) == 0 {
		c.targetColumnsNamed(n)
	}
}

func (c *completing) targetColumnsNamed(n int) {
	if c.toks[0].word == "CREATE" || c.toks[0].word == "REPLACE" {
		for i := range c.toks[:n] {
			if c.toks[i].text != "(" {
				continue
			}
			end := c.toks[i].pair
			if end < 0 {
				end = len(c.toks)
			}
			for j := i + 1; j < end; j++ {
				if c.toks[j].text == "(" && c.toks[j].pair > j {
					j = c.toks[j].pair
					continue
				}
				first := j == i+1 || c.toks[j-1].text == ","
				if first && c.toks[j].name != "" && (c.toks[j].word == "" || plainWord(c.toks[j].word)) && &c.toks[j] != c.typed {
					c.name(c.toks[j].name, "", CompleteColumn, "")
				}
			}
			return
		}
		return
	}
	if path := c.targetName(n); path != nil {
		for _, col := range c.s.columnNames(c.ctx, path) {
			c.name(col.name, "", CompleteColumn, col.doc)
		}
	}
}
