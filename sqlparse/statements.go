package sqlparse

import "strings"

// Form is one form of statement: a line of the statement table.
type Form struct {
	// Name is what Statement.Form returns.
	Name string
	// Lead is the words that the form starts with, optional ones in brackets.
	Lead string
	// Syntax is the form's grammar for HELP and error messages.
	Syntax string
	// Why says, of a form that is refused for good, what is missing here or what
	// to write instead; "" where the form is supported or only not yet.
	Why string

	parse func(p *parser, start int) Statement
	leads [][]string // all ways to write Lead
}

// Supported reports whether the form can be parsed; else it is refused by name.
func (f Form) Supported() bool { return f.parse != nil }

// Forms returns the statement table: every statement of Flink SQL and of its
// client, the supported and the refused, in the order in which they are matched.
func Forms() []Form { return append([]Form(nil), forms...) }

func can(name, lead, syntax string, parse func(*parser, int) Statement) Form {
	return Form{Name: name, Lead: lead, Syntax: syntax, parse: parse, leads: leads(lead)}
}

func cannot(name, lead, syntax, why string) Form {
	return Form{Name: name, Lead: lead, Syntax: syntax, Why: why, leads: leads(lead)}
}

// The reasons that several forms share.
const (
	whyFunction     = "there is no JVM here to load code; functions are built in, SHOW FUNCTIONS lists them"
	whyJar          = "there is no JVM here; functions, connectors and formats are built in"
	whyModule       = "there is no JVM here to load modules; the functions of the core module are built in"
	whyModel        = "nothing here calls machine learning models"
	whyConnection   = "there are no connection objects here; the options of CREATE CATALOG and CREATE TABLE say where to connect"
	whyMaterialized = "no service runs here that would keep a materialized table fresh; DROP TABLE and CREATE TABLE … AS query make it anew"
	whyPlan         = "plans are not kept in files here; EXPLAIN shows a statement's plan"
	whyProcedure    = "no catalog here has procedures"
)

// forms is matched from top to bottom by the leading words; the first match
// decides. A form without a parse function is refused.
var forms = []Form{
	// Queries.
	can("SELECT", "SELECT", "SELECT [ALL | DISTINCT] expr [[AS] alias], … [FROM table, …] [WHERE …] [GROUP BY …] [HAVING …] [ORDER BY …] [LIMIT n] [OFFSET n]", queryStatement),
	can("WITH", "WITH", "WITH name [(column, …)] AS (query), … query", queryStatement),
	can("VALUES", "VALUES", "VALUES (expr, …), …", queryStatement),
	can("TABLE", "TABLE", "TABLE [catalog.][database.]table", queryStatement),
	can("EXPLAIN STATEMENT SET", "EXPLAIN STATEMENT SET", "EXPLAIN STATEMENT SET BEGIN insert; … END", (*parser).explain),
	can("EXPLAIN", "EXPLAIN", "EXPLAIN [CHANGELOG_MODE | JSON_EXECUTION_PLAN, … | PLAN FOR] {query | insert | update | delete | {CREATE | CREATE OR REPLACE | REPLACE} TABLE … AS query}", (*parser).explain),

	// Changing data.
	can("INSERT INTO", "INSERT", "INSERT INTO [catalog.][database.]table [PARTITION (column [= value], …)] [(column, …)] {query | VALUES (expr, …), …}", (*parser).insert),
	can("INSERT OVERWRITE", "INSERT OVERWRITE", "INSERT OVERWRITE [catalog.][database.]table [(column, …)] {query | VALUES (expr, …), …}", (*parser).insert),
	can("EXECUTE INSERT", "EXECUTE INSERT", "EXECUTE INSERT INTO table …", (*parser).insert),
	can("EXECUTE STATEMENT SET", "EXECUTE STATEMENT SET", "EXECUTE STATEMENT SET BEGIN insert; … END", (*parser).executeStatementSet),
	cannot("EXECUTE PLAN", "EXECUTE PLAN", "EXECUTE PLAN 'file'", whyPlan),
	can("BEGIN STATEMENT SET", "BEGIN STATEMENT SET", "BEGIN STATEMENT SET", (*parser).beginStatementSet),
	can("END", "END", "END", (*parser).endStatementSet),
	can("UPDATE", "UPDATE", "UPDATE [catalog.][database.]table [[AS] alias] SET column = expr, … [WHERE expr]", (*parser).update),
	can("DELETE", "DELETE", "DELETE FROM [catalog.][database.]table [[AS] alias] [WHERE expr]", (*parser).deleteRows),
	can("TRUNCATE TABLE", "TRUNCATE TABLE", "TRUNCATE TABLE [catalog.][database.]table", (*parser).truncateTable),
	cannot("CALL", "CALL", "CALL procedure(arg, …)", whyProcedure),
	cannot("COMPILE AND EXECUTE PLAN", "COMPILE AND EXECUTE PLAN", "COMPILE AND EXECUTE PLAN 'file' FOR insert", whyPlan),
	cannot("COMPILE PLAN", "COMPILE PLAN", "COMPILE PLAN 'file' [IF NOT EXISTS] FOR insert", whyPlan),
	cannot("ANALYZE TABLE", "ANALYZE TABLE", "ANALYZE TABLE table COMPUTE STATISTICS [FOR COLUMNS column, … | FOR ALL COLUMNS]", ""),

	// Creating. The forms of CREATE TABLE share one parse function.
	cannot("CREATE MATERIALIZED TABLE", "CREATE [OR ALTER] MATERIALIZED TABLE", "CREATE [OR ALTER] MATERIALIZED TABLE name … AS query", whyMaterialized),
	can("CREATE TABLE", "CREATE [TEMPORARY] TABLE", "CREATE [TEMPORARY] TABLE [IF NOT EXISTS] [catalog.][database.]table (column type [COMMENT 'x'], … [, WATERMARK FOR column AS expr] [, PRIMARY KEY (column, …) NOT ENFORCED]) [COMMENT 'x'] [DISTRIBUTED …] [PARTITIONED BY (column, …)] [WITH ('key' = 'value', …)]", (*parser).createTable),
	can("CREATE TABLE LIKE", "CREATE [TEMPORARY] TABLE", "CREATE [TEMPORARY] TABLE [IF NOT EXISTS] table [(column type, …)] … LIKE source [({INCLUDING | EXCLUDING | OVERWRITING} feature …)]", (*parser).createTable),
	can("CREATE TABLE AS", "CREATE [TEMPORARY] TABLE", "CREATE TABLE [IF NOT EXISTS] [catalog.][database.]table [(column type, … | column, …)] [COMMENT 'x'] [WITH ('key' = 'value', …)] AS query", (*parser).createTable),
	can("CREATE OR REPLACE TABLE AS", "CREATE OR REPLACE [TEMPORARY] TABLE", "CREATE OR REPLACE TABLE [catalog.][database.]table … AS query", (*parser).createTable),
	can("REPLACE TABLE AS", "REPLACE [TEMPORARY] TABLE", "REPLACE TABLE [catalog.][database.]table … AS query", (*parser).createTable),
	can("CREATE CATALOG", "CREATE CATALOG", "CREATE CATALOG [IF NOT EXISTS] name [COMMENT 'x'] WITH ('type' = '…', …)", (*parser).createCatalog),
	can("CREATE DATABASE", "CREATE DATABASE", "CREATE DATABASE [IF NOT EXISTS] [catalog.]name [COMMENT 'x'] [WITH ('key' = 'value', …)]", (*parser).createDatabase),
	can("CREATE VIEW", "CREATE [TEMPORARY] VIEW", "CREATE [TEMPORARY] VIEW [IF NOT EXISTS] [catalog.][database.]view [(column, …)] [COMMENT 'x'] AS query", (*parser).createView),
	cannot("CREATE OR REPLACE VIEW", "CREATE OR REPLACE [TEMPORARY] VIEW", "CREATE OR REPLACE VIEW name AS query", "a view is replaced by ALTER VIEW name AS query"),
	cannot("CREATE FUNCTION", "CREATE [TEMPORARY [SYSTEM]] FUNCTION", "CREATE [TEMPORARY | TEMPORARY SYSTEM] FUNCTION name AS 'class' …", whyFunction),
	cannot("CREATE MODEL", "CREATE [TEMPORARY] MODEL", "CREATE [TEMPORARY] MODEL name …", whyModel),
	cannot("CREATE CONNECTION", "CREATE [TEMPORARY [SYSTEM]] CONNECTION", "CREATE CONNECTION name WITH (…)", whyConnection),

	// Changing definitions.
	cannot("ALTER MATERIALIZED TABLE", "ALTER MATERIALIZED TABLE", "ALTER MATERIALIZED TABLE name …", whyMaterialized),
	can("ALTER TABLE", "ALTER TABLE", "ALTER TABLE [IF EXISTS] [catalog.][database.]table {{ADD | MODIFY} {part | (part, …)} | DROP {column | (column, …) | PRIMARY KEY | CONSTRAINT name | WATERMARK | DISTRIBUTION} | RENAME column TO name | RENAME TO name | SET ('key' = 'value', …) | RESET ('key', …)}; a part is column type [FIRST | AFTER column], WATERMARK FOR column AS expr, PRIMARY KEY (column, …) NOT ENFORCED, or DISTRIBUTION BY (column, …)", (*parser).alterTable),
	can("ALTER VIEW", "ALTER VIEW", "ALTER VIEW [catalog.][database.]view {RENAME TO name | AS query}", (*parser).alterView),
	can("ALTER DATABASE", "ALTER DATABASE", "ALTER DATABASE [catalog.]name SET ('key' = 'value', …)", (*parser).alterDatabase),
	cannot("ALTER FUNCTION", "ALTER [TEMPORARY [SYSTEM]] FUNCTION", "ALTER FUNCTION name …", whyFunction),
	can("ALTER CATALOG", "ALTER CATALOG", "ALTER CATALOG name {SET ('key' = 'value', …) | RESET ('key', …) | COMMENT 'x'}", (*parser).alterCatalog),
	cannot("ALTER MODEL", "ALTER MODEL", "ALTER MODEL name …", whyModel),
	cannot("ALTER CONNECTION", "ALTER CONNECTION", "ALTER CONNECTION name …", whyConnection),

	// Dropping.
	cannot("DROP MATERIALIZED TABLE", "DROP MATERIALIZED TABLE", "DROP MATERIALIZED TABLE [IF EXISTS] name", whyMaterialized),
	can("DROP TABLE", "DROP [TEMPORARY] TABLE", "DROP [TEMPORARY] TABLE [IF EXISTS] [catalog.][database.]table", (*parser).dropTable),
	can("DROP CATALOG", "DROP CATALOG", "DROP CATALOG [IF EXISTS] name", (*parser).dropCatalog),
	can("DROP DATABASE", "DROP DATABASE", "DROP DATABASE [IF EXISTS] [catalog.]name [RESTRICT | CASCADE]", (*parser).dropDatabase),
	can("DROP VIEW", "DROP [TEMPORARY] VIEW", "DROP [TEMPORARY] VIEW [IF EXISTS] [catalog.][database.]view", (*parser).dropView),
	cannot("DROP FUNCTION", "DROP [TEMPORARY [SYSTEM]] FUNCTION", "DROP FUNCTION [IF EXISTS] name", whyFunction),
	cannot("DROP MODEL", "DROP [TEMPORARY] MODEL", "DROP MODEL [IF EXISTS] name", whyModel),
	cannot("DROP CONNECTION", "DROP [TEMPORARY [SYSTEM]] CONNECTION", "DROP CONNECTION [IF EXISTS] name", whyConnection),

	// Showing.
	can("SHOW CATALOGS", "SHOW CATALOGS", "SHOW CATALOGS [[NOT] {LIKE | ILIKE} 'pattern']", (*parser).showCatalogs),
	can("SHOW CURRENT CATALOG", "SHOW CURRENT CATALOG", "SHOW CURRENT CATALOG", (*parser).showCurrentCatalog),
	can("SHOW CURRENT DATABASE", "SHOW CURRENT DATABASE", "SHOW CURRENT DATABASE", (*parser).showCurrentDatabase),
	can("SHOW DATABASES", "SHOW DATABASES", "SHOW DATABASES [{FROM | IN} catalog] [[NOT] {LIKE | ILIKE} 'pattern']", (*parser).showDatabases),
	can("SHOW TABLES", "SHOW TABLES", "SHOW TABLES [{FROM | IN} [catalog.]database] [[NOT] {LIKE | ILIKE} 'pattern']", (*parser).showTables),
	can("SHOW CREATE CATALOG", "SHOW CREATE CATALOG", "SHOW CREATE CATALOG name", (*parser).showCreateCatalog),
	can("SHOW CREATE TABLE", "SHOW CREATE TABLE", "SHOW CREATE TABLE [catalog.][database.]table", (*parser).showCreateTable),
	can("SHOW JOBS", "SHOW JOBS", "SHOW JOBS", (*parser).showJobs),
	can("SHOW CREATE VIEW", "SHOW CREATE VIEW", "SHOW CREATE VIEW [catalog.][database.]view", (*parser).showCreateView),
	cannot("SHOW CREATE MATERIALIZED TABLE", "SHOW CREATE [OR ALTER] MATERIALIZED TABLE", "SHOW CREATE [OR ALTER] MATERIALIZED TABLE name", whyMaterialized),
	cannot("SHOW CREATE MODEL", "SHOW CREATE MODEL", "SHOW CREATE MODEL name", whyModel),
	cannot("SHOW CREATE CONNECTION", "SHOW CREATE CONNECTION", "SHOW CREATE CONNECTION name", whyConnection),
	can("SHOW COLUMNS", "SHOW COLUMNS", "SHOW COLUMNS {FROM | IN} [catalog.][database.]table [[NOT] {LIKE | ILIKE} 'pattern']", (*parser).showColumns),
	can("SHOW PARTITIONS", "SHOW PARTITIONS", "SHOW PARTITIONS [catalog.][database.]table [PARTITION (column = value, …)]", (*parser).showPartitions),
	cannot("SHOW PROCEDURES", "SHOW PROCEDURES", "SHOW PROCEDURES [{FROM | IN} database] [[NOT] {LIKE | ILIKE} 'pattern']", whyProcedure),
	can("SHOW VIEWS", "SHOW VIEWS", "SHOW VIEWS [{FROM | IN} [catalog.]database] [[NOT] {LIKE | ILIKE} 'pattern']", (*parser).showViews),
	cannot("SHOW MATERIALIZED TABLES", "SHOW MATERIALIZED TABLES", "SHOW MATERIALIZED TABLES", whyMaterialized),
	can("SHOW FUNCTIONS", "SHOW [USER] FUNCTIONS", "SHOW [USER] FUNCTIONS [{FROM | IN} [catalog.]database] [[NOT] {LIKE | ILIKE} 'pattern']", (*parser).showFunctions),
	can("SHOW MODULES", "SHOW [FULL] MODULES", "SHOW [FULL] MODULES", (*parser).showModules),
	cannot("SHOW JARS", "SHOW JARS", "SHOW JARS", whyJar),
	cannot("SHOW MODELS", "SHOW MODELS", "SHOW MODELS", whyModel),
	cannot("SHOW CONNECTIONS", "SHOW CONNECTIONS", "SHOW CONNECTIONS", whyConnection),

	// Describing. A table may be called catalog or job: see describesTable.
	can("DESCRIBE CATALOG", "{DESCRIBE|DESC} CATALOG", "{DESCRIBE | DESC} CATALOG [EXTENDED] name", (*parser).describeCatalog),
	can("DESCRIBE DATABASE", "{DESCRIBE|DESC} DATABASE", "{DESCRIBE | DESC} DATABASE [EXTENDED] [catalog.]name", (*parser).describeDatabase),
	can("DESCRIBE FUNCTION", "{DESCRIBE|DESC} FUNCTION", "{DESCRIBE | DESC} FUNCTION [EXTENDED] name", (*parser).describeFunction),
	cannot("DESCRIBE MODEL", "{DESCRIBE|DESC} MODEL", "{DESCRIBE | DESC} MODEL name", whyModel),
	can("DESCRIBE JOB", "{DESCRIBE|DESC} JOB", "{DESCRIBE | DESC} JOB 'id'", (*parser).describeJob),
	cannot("DESCRIBE CONNECTION", "{DESCRIBE|DESC} CONNECTION", "{DESCRIBE | DESC} CONNECTION name", whyConnection),
	can("DESCRIBE", "{DESCRIBE|DESC}", "{DESCRIBE | DESC} [EXTENDED] [catalog.][database.]table", (*parser).describe),

	// The session.
	can("USE CATALOG", "USE CATALOG", "USE CATALOG name", (*parser).useCatalog),
	cannot("USE MODULES", "USE MODULES", "USE MODULES name, …", whyModule),
	can("USE", "USE", "USE [catalog.]database", (*parser).useDatabase),
	cannot("LOAD MODULE", "LOAD MODULE", "LOAD MODULE name [WITH (…)]", whyModule),
	cannot("UNLOAD MODULE", "UNLOAD MODULE", "UNLOAD MODULE name", whyModule),
	can("SET", "SET", "SET ['key' = 'value']", (*parser).set),
	can("RESET", "RESET", "RESET ['key']", (*parser).reset),
	cannot("ADD JAR", "ADD JAR", "ADD JAR 'path'", whyJar),
	cannot("REMOVE JAR", "REMOVE JAR", "REMOVE JAR 'path'", whyJar),
	can("STOP JOB", "STOP JOB", "STOP JOB 'id'", (*parser).stopJob),
	can("HELP", "HELP", "HELP [topic]", (*parser).help),
	can("SOURCE", "SOURCE", "SOURCE 'file'", (*parser).source),
	can("QUIT", "{QUIT|EXIT}", "{QUIT | EXIT}", (*parser).quit),
	can("CLEAR", "CLEAR", "CLEAR", (*parser).clear),
}

// statement: any statement of the table
func (p *parser) statement(table []Form) Statement {
	p.forms = table
	start := p.tok.start
	if p.isOp("(") {
		return queryStatement(p, start)
	}
	for i := range table {
		f := &table[i]
		n := p.matchLead(f.Lead)
		if n == 0 {
			continue
		}
		if f.Lead[0] == '{' && n > 1 && p.describesTable(n) {
			continue
		}
		if f.parse != nil {
			return f.parse(p, start)
		}
		end := p.tok.end
		if n > 1 {
			end = p.peek(n - 1).end
		}
		msg := f.Name + " is not supported"
		if f.Why == "" {
			msg += " yet"
		}
		p.failAt(Span{start, end}, msg, f.Why)
		return nil
	}
	p.notAStatement()
	return nil
}

// matchLead counts the tokens that match the leading words; 0: they do not. A
// pattern has words, [optional words] and {alternative|words}.
func (p *parser) matchLead(lead string) int {
	n := 0
	at := func(i int) string {
		if i == 0 {
			return p.tok.kw
		}
		return p.peek(i).kw
	}
	for lead != "" {
		var word string
		word, lead, _ = strings.Cut(lead, " ")
		switch {
		case word[0] == '{':
			a, b, _ := strings.Cut(word[1:len(word)-1], "|")
			if kw := at(n); kw == "" || kw != a && kw != b {
				return 0
			}
			n++
		case word[0] == '[':
			// An optional group: [A], [A B] or [A [B]].
			group := word
			for strings.Count(group, "[") > strings.Count(group, "]") {
				var more string
				more, lead, _ = strings.Cut(lead, " ")
				group += " " + more
			}
			group = group[1 : len(group)-1]
			first, rest, _ := strings.Cut(group, " ")
			if at(n) != first {
				continue
			}
			inner, optional := strings.CutPrefix(rest, "[")
			inner = strings.TrimSuffix(inner, "]")
			switch {
			case rest == "":
				n++
			case at(n+1) == inner:
				n += 2
			case optional:
				n++
			default:
				return 0
			}
		default:
			if at(n) != word {
				return 0
			}
			n++
		}
	}
	return n
}

// describesTable reports whether the word after DESCRIBE, n tokens in, is the
// name of a table after all.
func (p *parser) describesTable(n int) bool {
	t := p.peek(n)
	return t.kind == tokEOF || t.kind == tokOp
}

// notAStatement fails at a text that starts like no statement.
func (p *parser) notAStatement() {
	if p.err != nil {
		return
	}
	if p.tok.kind == tokEOF || p.isOp(";") {
		p.failAt(p.tok.span(), "the statement is empty", "")
		return
	}
	t := p.tok
	if behind, next := p.furthest(); len(behind) > 0 {
		after := p.peek(len(behind))
		e := &Error{Span: after.span()}
		lead := strings.Join(behind, " ")
		e.Msg = "found " + p.found(after) + " behind " + lead + ", expected " + oneOf(next)
		if s := nearest(after.text, next); s != "" {
			e.Hint = "did you mean " + lead + " " + s + "?"
		}
		p.fail(e)
		return
	}
	e := &Error{Span: t.span(), Msg: "found " + p.found(t) + ", expected a statement"}
	var first []string
	for _, f := range p.forms {
		for _, words := range f.leads {
			first = append(first, words[0])
		}
	}
	if s := nearest(t.text, first); s != "" {
		e.Hint = "did you mean " + s + "?"
	} else if t.text == "." {
		e.Hint = hintMetaCommand
	} else {
		e.Hint = "HELP lists all statements"
	}
	p.fail(e)
}

// furthest returns the words that the text has in common with the leads that
// agree with it for longest, and what these have next. Of what is next, forms
// that are refused are left out where there are others.
func (p *parser) furthest() (behind, next []string) {
	var refused []string
	for _, f := range p.forms {
		for _, words := range f.leads {
			n := 0
			for n < len(words) && (n == 0 && p.tok.kw == words[0] || n > 0 && p.peekIsWord(n, words[n])) {
				n++
			}
			if n == len(words) || n < len(behind) {
				continue
			}
			if n > len(behind) {
				behind, next, refused = words[:n], nil, nil
			}
			if f.Supported() {
				next = append(next, words[n])
			} else {
				refused = append(refused, words[n])
			}
		}
	}
	if len(next) == 0 {
		next = refused
	}
	return behind, next
}

// leads lists the ways to write a lead: all its options and alternatives.
func leads(lead string) [][]string {
	word, rest, more := strings.Cut(lead, " ")
	var heads [][]string
	switch word[0] {
	case '{':
		for _, w := range strings.Split(word[1:len(word)-1], "|") {
			heads = append(heads, []string{w})
		}
	case '[':
		for strings.Count(word, "[") > strings.Count(word, "]") {
			var w string
			w, rest, more = strings.Cut(rest, " ")
			word += " " + w
		}
		heads = append(leads(word[1:len(word)-1]), nil)
	default:
		heads = [][]string{{word}}
	}
	if !more {
		return heads
	}
	var all [][]string
	for _, head := range heads {
		for _, tail := range leads(rest) {
			all = append(all, append(append([]string(nil), head...), tail...))
		}
	}
	return all
}

// oneOf writes the distinct words as a choice, in order.
func oneOf(words []string) string {
	var list []string
	seen := map[string]bool{}
	for _, w := range words {
		if !seen[w] {
			seen[w] = true
			list = append(list, w)
		}
	}
	if len(list) == 1 {
		return list[0]
	}
	return strings.Join(list[:len(list)-1], ", ") + " or " + list[len(list)-1]
}

// queryStatement: a query
func queryStatement(p *parser, start int) Statement {
	q := p.query()
	return &QueryStatement{p.pos(start), q}
}
