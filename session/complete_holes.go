package session

import (
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/sqlparse"
)

// hole adds what may stand in a hole of the grammar; n tokens stand before it, the query or statement begins
// at from.
func (c *completing) hole(e expectation, from, n int) {
	switch e.hole {
	case "expr", "value":
		c.expression(e, from, n)
	case "…":
		if e.form == "EXPLAIN" || !e.inside {
			return
		}
	case "query":
		if !e.inside {
			c.words(n, "SELECT", "VALUES", "WITH")
		} else if e.depth > 0 && c.toks[n-1].text == "(" {
			c.words(n, "SELECT", "VALUES", "WITH")
		}
	case "insert", "update", "delete":
		if !e.inside {
			c.words(n, strings.ToUpper(e.hole))
		}
	case "type":
		if !e.inside || c.toks[n-1].text == "<" {
			c.types(n)
		} else if endsOperand(c.toks, n-1) || c.toks[n-1].Class == sqlparse.Keyword || c.toks[n-1].text == ">" {
			c.words(n, "NOT NULL", "COMMENT", "PRIMARY KEY")
		}
	case "new": // a column with its type, which MODIFY has as well
		if e.form == "ALTER TABLE" {
			c.targetColumns(n)
		}
	case "column":
		c.targetColumns(n)
	case "source":
		c.tables(anyTable)
	case "table", "view", "name":
		c.object(e, n)
	case "database":
		c.databases(n)
	case "catalog":
		c.catalogs("")
	default:
		if e.hole[0] == '\'' && !e.inside && len(c.path) == 0 && c.prefix == "" && !c.quoted {
			c.stringItems()
		}
	}
}

// words adds keywords, of several words the first that is not written yet.
func (c *completing) words(n int, words ...string) {
	if len(c.path) > 0 || c.quoted {
		return
	}
	for _, w := range words {
		first, rest, more := strings.Cut(w, " ")
		if more && n > 0 && c.toks[n-1].word == first {
			c.keyword(rest, n)
		} else {
			c.keyword(first, n)
		}
	}
}

// object adds the names that a form's table, view or name may be.
func (c *completing) object(e expectation, n int) {
	form := e.form
	word := func(w string) bool { return strings.Contains(" "+form+" ", " "+w+" ") }
	before := ""
	if n > 0 {
		before = c.toks[n-1].word
	}
	switch {
	case e.hole == "name" && (before == "TO" || before == "CONSTRAINT" || form == "WITH"): // a new name
	case strings.HasPrefix(form, "CREATE ") || strings.HasPrefix(form, "REPLACE "):
		if !word("CATALOG") {
			c.places(n, word("DATABASE"))
		}
	case word("CATALOG"):
		c.catalogs("")
	case word("DATABASE"):
		c.databases(n)
	case word("FUNCTION"):
		if len(c.path) == 0 && !c.quoted {
			for _, f := range allFunctions() {
				if !f.operator && hasPrefixFold(f.names[0], c.prefix) {
					c.add(CompletionItem{Text: c.cased(f.names[0], n), Kind: CompleteFunction, Doc: f.syntax})
				}
			}
		}
	case form == "SELECT":
		c.commonTables(n)
		c.tables(anyTable)
	case word("VIEW"):
		c.tables(onlyViews)
	case strings.HasPrefix(form, "DROP ") || strings.HasPrefix(form, "ALTER ") || strings.HasPrefix(form, "INSERT "),
		form == "UPDATE", form == "DELETE", form == "TRUNCATE TABLE":
		c.tables(noViews)
	default:
		c.tables(anyTable)
	}
}

// catalogs adds the catalogs; more is written behind each.
func (c *completing) catalogs(more string) {
	if len(c.path) > 0 {
		return
	}
	for _, name := range c.s.catalogNames(c.ctx) {
		c.name(name, more, CompleteCatalog, "")
	}
}

// databases adds the databases of the current catalog, or of the one that is written, and catalogs that
// have some.
func (c *completing) databases(n int) {
	switch len(c.path) {
	case 0:
		for _, name := range c.s.databaseNames(c.ctx, c.s.CurrentCatalog()) {
			c.name(name, "", CompleteDatabase, "")
		}
		c.catalogs(".")
	case 1:
		for _, name := range c.s.databaseNames(c.ctx, c.path[0]) {
			c.name(name, "", CompleteDatabase, "")
		}
	}
}

// places adds what may stand before the dot of a name: catalogs, and databases unless it is a database's.
func (c *completing) places(n int, ofDatabase bool) {
	if len(c.path) == 0 && c.prefix == "" {
		return // a name that is new: nothing is likelier than another
	}
	c.catalogs(".")
	if ofDatabase {
		return
	}
	in := c.s.CurrentCatalog()
	if len(c.path) == 1 {
		in = c.path[0]
	} else if len(c.path) > 1 {
		return
	}
	for _, name := range c.s.databaseNames(c.ctx, in) {
		c.name(name, ".", CompleteDatabase, "")
	}
}

// tableChoice says whether views count as tables.
type tableChoice uint8

const (
	anyTable tableChoice = iota
	noViews
	onlyViews
)

// tables adds tables or views: of the current database, or of what is written before the last dot.
func (c *completing) tables(which tableChoice) {
	list := func(catalog, database string) {
		var names, views []string
		if which != onlyViews {
			names = c.s.tableNames(c.ctx, catalog, database)
		}
		if which != anyTable {
			views = c.s.viewNames(c.ctx, catalog, database)
		}
		if which == onlyViews {
			names, views = views, nil
		}
		for _, name := range names {
			if !slices.Contains(views, name) {
				c.name(name, "", CompleteTable, "")
			}
		}
	}
	switch len(c.path) {
	case 0:
		list(c.s.CurrentCatalog(), c.s.CurrentDatabase())
		for _, name := range c.s.databaseNames(c.ctx, c.s.CurrentCatalog()) {
			c.name(name, ".", CompleteDatabase, "")
		}
		c.catalogs(".")
	case 1:
		list(c.s.CurrentCatalog(), c.path[0])
		for _, name := range c.s.databaseNames(c.ctx, c.path[0]) {
			c.name(name, ".", CompleteDatabase, "")
		}
	case 2:
		list(c.path[0], c.path[1])
	}
}

// types adds the names of data types.
func (c *completing) types(n int) {
	if len(c.path) > 0 || c.quoted {
		return
	}
	for _, name := range sqlparse.TypeNames() {
		if hasPrefixFold(name, c.prefix) {
			c.add(CompletionItem{Text: c.cased(name, n), Kind: CompleteType})
		}
	}
}

// expression adds what may stand in an expression: an operand, or what comes behind one.
func (c *completing) expression(e expectation, from, n int) {
	if !e.inside || n == 0 || !endsOperand(c.toks, n-1) {
		c.operand(e, from, n)
		return
	}
	if len(c.path) > 0 || c.quoted {
		return
	}
	for _, f := range expr.Functions() { // operators that are words, and have something before them
		if f.Hidden && f.Syntax != "" && !isKeywordNotation(f.Syntax) {
			for _, w := range strings.Fields(f.Syntax) {
				if len(w) > 1 && strings.ToUpper(w) == w && isKeywordNotation(w) {
					c.keyword(w, n)
					break
				}
			}
		}
	}
	if c.units(n) {
		return
	}
	c.words(n, "NOT")
	if c.openCase(from, n) {
		c.words(n, "WHEN", "THEN", "ELSE", "END")
	}
	if p := c.openParen(n); p > 0 && e.depth > 0 {
		switch c.toks[p-1].word {
		case "CAST", "TRY_CAST":
			c.words(n, "AS")
		case "OVER":
			c.words(n, "ORDER BY", "ASC", "DESC")
		}
	}
	if c.toks[n-1].text == ")" {
		c.words(n, "OVER", "FILTER")
	}
}

// openCase reports whether a CASE between the tokens has no END.
func (c *completing) openCase(from, n int) bool {
	open := 0
	for _, t := range c.toks[from:n] {
		switch t.word {
		case "CASE":
			open++
		case "END":
			open--
		}
	}
	return open > 0
}

// openParen returns the innermost parenthesis that is open before token n, or -1.
func (c *completing) openParen(n int) int {
	for i := n - 1; i >= 0; i-- {
		switch {
		case c.toks[i].text == ")" && c.toks[i].pair >= 0:
			i = c.toks[i].pair
		case c.toks[i].text == "(":
			return i
		}
	}
	return -1
}

// operand adds columns, functions, and words that begin an operand.
func (c *completing) operand(e expectation, from, n int) {
	prev := ""
	if n > 0 {
		prev = c.toks[n-1].word
	}
	if p := c.openParen(n); prev == "AS" && p > 0 && strings.HasSuffix(c.toks[p-1].word, "CAST") {
		c.types(n)
		return
	}
	if len(c.path) > 0 {
		c.columnsOf(n)
		return
	}
	if c.units(n) {
		return
	}
	if n > 1 && prev == "NOT" && endsOperand(c.toks, n-2) {
		c.words(n, "IN", "LIKE", "BETWEEN", "SIMILAR")
		return
	}
	if n > 1 && c.toks[n-1].text == "(" && c.toks[n-2].word == "EXISTS" {
		c.words(n, "SELECT", "VALUES", "WITH")
		return
	}
	if prev == "IS" {
		c.words(n, "NOT NULL", "NULL", "TRUE", "FALSE", "UNKNOWN", "DISTINCT FROM")
		return
	}
	if n > 1 && c.toks[n-1].text == "(" && c.toks[n-2].word == "OVER" {
		c.words(n, "PARTITION BY", "ORDER BY")
		return
	}
	for _, r := range c.relations(n) {
		for _, col := range r.columns() {
			c.name(col.name, "", CompleteColumn, col.doc)
		}
		if c.prefix != "" {
			c.name(r.alias, ".", CompleteTable, "")
		}
	}
	if e.form != "SELECT" && e.form != "VALUES" && e.form != "WITH" {
		c.targetColumns(n)
	}
	if c.quoted {
		return
	}
	if n > 0 && c.toks[n-1].text == "(" {
		c.words(n, "SELECT", "DISTINCT")
	}
	if prev == "PARTITION" || prev == "ORDER" {
		c.words(n, "BY")
	}
	if prev == "SELECT" {
		c.words(n, "DISTINCT", "ALL")
	}
	c.words(n, "CASE", "NOT", "NULL", "TRUE", "FALSE", "INTERVAL", "EXISTS")
	if prev == "CASE" {
		c.words(n, "WHEN")
	}
	isColumn := func(item CompletionItem) bool { return item.Kind == CompleteColumn }
	if c.prefix == "" && slices.ContainsFunc(c.items, isColumn) {
		return // who has columns to choose from and wants a function begins to type its name
	}
	for _, f := range allFunctions() {
		if f.operator {
			continue
		}
		for _, name := range f.names {
			if hasPrefixFold(name, c.prefix) {
				text := c.cased(name, n)
				if !bareCall(name) && !strings.HasPrefix(c.rest, "(") {
					text += "("
				}
				c.add(CompletionItem{Text: text, Kind: CompleteFunction, Doc: f.syntax})
			}
		}
	}
}

// bareCall reports whether a function is called without parentheses.
func bareCall(name string) bool {
	if plainWord(name) {
		return false
	}
	_, err := sqlparse.Parse("SELECT " + name)
	return err == nil
}

// units adds the units of time where one must stand; false elsewhere.
func (c *completing) units(n int) bool {
	word := func(i int) string {
		if i < 0 {
			return ""
		}
		return c.toks[i].word
	}
	wanted := n > 0 && c.toks[n-1].Class == sqlparse.String && word(n-2) == "INTERVAL"
	if p := c.openParen(n); p > 0 {
		switch word(p - 1) {
		case "EXTRACT", "TIMESTAMPADD", "TIMESTAMPDIFF":
			wanted = wanted || p == n-1
			if word(p-1) == "EXTRACT" && p == n-2 {
				c.words(n, "FROM")
				return true
			}
		case "FLOOR", "CEIL", "CEILING":
			wanted = wanted || word(n-1) == "TO"
		}
	}
	if wanted {
		c.words(n, expr.UnitNames()...)
	}
	return wanted
}
