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

	parse func(p *parser, start int) Statement
}

// Supported reports whether the form can be parsed; else it is refused by name.
func (f Form) Supported() bool { return f.parse != nil }

// Forms returns the statement table: every statement of Flink SQL and of its
// client, the supported and the refused, in the order in which they are matched.
func Forms() []Form { return append([]Form(nil), forms...) }

// forms is matched from top to bottom by the leading words; the first match
// decides. A form without a parse function is refused.
var forms = []Form{
	// Queries.
	{"SELECT", "SELECT", "SELECT [ALL | DISTINCT] expr [[AS] alias], … [FROM table, …] [WHERE …] [GROUP BY …] [HAVING …] [WINDOW …] [ORDER BY …] [LIMIT n] [OFFSET n]", queryStatement},
	{"WITH", "WITH", "WITH name [(column, …)] AS (query), … query", queryStatement},
	{"VALUES", "VALUES", "VALUES (expr, …), …", queryStatement},
	{"TABLE", "TABLE", "TABLE [catalog.][database.]table", queryStatement},
	{"EXPLAIN STATEMENT SET", "EXPLAIN STATEMENT SET", "EXPLAIN STATEMENT SET BEGIN insert; … END", nil},
	{"EXPLAIN", "EXPLAIN", "EXPLAIN [ESTIMATED_COST | CHANGELOG_MODE | PLAN_ADVICE | JSON_EXECUTION_PLAN, … | PLAN FOR] {query | insert | CREATE TABLE … AS query}", (*parser).explain},

	// Changing data.
	{"INSERT INTO", "INSERT", "INSERT {INTO | OVERWRITE} [catalog.][database.]table [PARTITION (column [= value], …)] [(column, …)] {query | VALUES (expr, …), …}", (*parser).insert},
	{"INSERT OVERWRITE", "INSERT OVERWRITE", "INSERT OVERWRITE [catalog.][database.]table [PARTITION (column [= value], …)] [(column, …)] query", (*parser).insert},
	{"EXECUTE INSERT", "EXECUTE INSERT", "EXECUTE INSERT {INTO | OVERWRITE} table …", (*parser).insert},
	{"EXECUTE STATEMENT SET", "EXECUTE STATEMENT SET", "EXECUTE STATEMENT SET BEGIN insert; … END", nil},
	{"EXECUTE PLAN", "EXECUTE PLAN", "EXECUTE PLAN 'file'", nil},
	{"BEGIN STATEMENT SET", "BEGIN STATEMENT SET", "BEGIN STATEMENT SET", nil},
	{"END", "END", "END", nil},
	{"UPDATE", "UPDATE", "UPDATE table SET column = expr, … [WHERE …]", nil},
	{"DELETE", "DELETE", "DELETE FROM table [WHERE …]", nil},
	{"TRUNCATE TABLE", "TRUNCATE TABLE", "TRUNCATE TABLE table", nil},
	{"CALL", "CALL", "CALL procedure(arg, …)", nil},
	{"COMPILE AND EXECUTE PLAN", "COMPILE AND EXECUTE PLAN", "COMPILE AND EXECUTE PLAN 'file' FOR insert", nil},
	{"COMPILE PLAN", "COMPILE PLAN", "COMPILE PLAN 'file' [IF NOT EXISTS] FOR insert", nil},
	{"ANALYZE TABLE", "ANALYZE TABLE", "ANALYZE TABLE table COMPUTE STATISTICS [FOR COLUMNS column, … | FOR ALL COLUMNS]", nil},

	// Creating. The forms of CREATE TABLE share one parse function.
	{"CREATE MATERIALIZED TABLE", "CREATE [OR ALTER] MATERIALIZED TABLE", "CREATE [OR ALTER] MATERIALIZED TABLE name … AS query", nil},
	{"CREATE TABLE", "CREATE [TEMPORARY] TABLE", "CREATE [TEMPORARY] TABLE [IF NOT EXISTS] [catalog.][database.]table (column type [COMMENT 'x'], … [, WATERMARK FOR column AS expr] [, PRIMARY KEY (column, …) NOT ENFORCED]) [COMMENT 'x'] [DISTRIBUTED …] [PARTITIONED BY (column, …)] [WITH ('key' = 'value', …)]", (*parser).createTable},
	{"CREATE TABLE LIKE", "CREATE [TEMPORARY] TABLE", "CREATE [TEMPORARY] TABLE [IF NOT EXISTS] table [(column type, …)] … LIKE source [({INCLUDING | EXCLUDING | OVERWRITING} feature …)]", (*parser).createTable},
	{"CREATE TABLE AS", "CREATE [TEMPORARY] TABLE", "CREATE TABLE [IF NOT EXISTS] [catalog.][database.]table [(column type, … | column, …)] [COMMENT 'x'] [WITH ('key' = 'value', …)] AS query", (*parser).createTable},
	{"CREATE OR REPLACE TABLE AS", "CREATE OR REPLACE [TEMPORARY] TABLE", "CREATE OR REPLACE TABLE [catalog.][database.]table … AS query", (*parser).createTable},
	{"REPLACE TABLE AS", "REPLACE [TEMPORARY] TABLE", "REPLACE TABLE [catalog.][database.]table … AS query", (*parser).createTable},
	{"CREATE CATALOG", "CREATE CATALOG", "CREATE CATALOG [IF NOT EXISTS] name [COMMENT 'x'] WITH ('type' = '…', …)", (*parser).createCatalog},
	{"CREATE DATABASE", "CREATE DATABASE", "CREATE DATABASE [IF NOT EXISTS] [catalog.]name [COMMENT 'x'] [WITH ('key' = 'value', …)]", (*parser).createDatabase},
	{"CREATE VIEW", "CREATE [TEMPORARY] VIEW", "CREATE [TEMPORARY] VIEW [IF NOT EXISTS] name [(column, …)] [COMMENT 'x'] AS query", nil},
	{"CREATE FUNCTION", "CREATE [TEMPORARY [SYSTEM]] FUNCTION", "CREATE [TEMPORARY | TEMPORARY SYSTEM] FUNCTION name AS 'class' …", nil},
	{"CREATE MODEL", "CREATE [TEMPORARY] MODEL", "CREATE [TEMPORARY] MODEL name …", nil},
	{"CREATE CONNECTION", "CREATE [TEMPORARY [SYSTEM]] CONNECTION", "CREATE CONNECTION name WITH (…)", nil},

	// Changing definitions.
	{"ALTER MATERIALIZED TABLE", "ALTER MATERIALIZED TABLE", "ALTER MATERIALIZED TABLE name …", nil},
	{"ALTER TABLE", "ALTER TABLE", "ALTER TABLE table …", nil},
	{"ALTER VIEW", "ALTER VIEW", "ALTER VIEW name …", nil},
	{"ALTER DATABASE", "ALTER DATABASE", "ALTER DATABASE name SET (…)", nil},
	{"ALTER FUNCTION", "ALTER [TEMPORARY [SYSTEM]] FUNCTION", "ALTER FUNCTION name …", nil},
	{"ALTER CATALOG", "ALTER CATALOG", "ALTER CATALOG name …", nil},
	{"ALTER MODEL", "ALTER MODEL", "ALTER MODEL name …", nil},
	{"ALTER CONNECTION", "ALTER CONNECTION", "ALTER CONNECTION name …", nil},

	// Dropping.
	{"DROP MATERIALIZED TABLE", "DROP MATERIALIZED TABLE", "DROP MATERIALIZED TABLE [IF EXISTS] name", nil},
	{"DROP TABLE", "DROP [TEMPORARY] TABLE", "DROP [TEMPORARY] TABLE [IF EXISTS] [catalog.][database.]table", (*parser).dropTable},
	{"DROP CATALOG", "DROP CATALOG", "DROP CATALOG [IF EXISTS] name", (*parser).dropCatalog},
	{"DROP DATABASE", "DROP DATABASE", "DROP DATABASE [IF EXISTS] [catalog.]name [RESTRICT | CASCADE]", (*parser).dropDatabase},
	{"DROP VIEW", "DROP [TEMPORARY] VIEW", "DROP [TEMPORARY] VIEW [IF EXISTS] name", nil},
	{"DROP FUNCTION", "DROP [TEMPORARY [SYSTEM]] FUNCTION", "DROP FUNCTION [IF EXISTS] name", nil},
	{"DROP MODEL", "DROP [TEMPORARY] MODEL", "DROP MODEL [IF EXISTS] name", nil},
	{"DROP CONNECTION", "DROP [TEMPORARY [SYSTEM]] CONNECTION", "DROP CONNECTION [IF EXISTS] name", nil},

	// Showing.
	{"SHOW CATALOGS", "SHOW CATALOGS", "SHOW CATALOGS [[NOT] {LIKE | ILIKE} 'pattern']", (*parser).showCatalogs},
	{"SHOW CURRENT CATALOG", "SHOW CURRENT CATALOG", "SHOW CURRENT CATALOG", (*parser).showCurrentCatalog},
	{"SHOW CURRENT DATABASE", "SHOW CURRENT DATABASE", "SHOW CURRENT DATABASE", (*parser).showCurrentDatabase},
	{"SHOW DATABASES", "SHOW DATABASES", "SHOW DATABASES [{FROM | IN} catalog] [[NOT] {LIKE | ILIKE} 'pattern']", (*parser).showDatabases},
	{"SHOW TABLES", "SHOW TABLES", "SHOW TABLES [{FROM | IN} [catalog.]database] [[NOT] {LIKE | ILIKE} 'pattern']", (*parser).showTables},
	{"SHOW CREATE CATALOG", "SHOW CREATE CATALOG", "SHOW CREATE CATALOG name", (*parser).showCreateCatalog},
	{"SHOW CREATE TABLE", "SHOW CREATE TABLE", "SHOW CREATE TABLE [catalog.][database.]table", (*parser).showCreateTable},
	{"SHOW JOBS", "SHOW JOBS", "SHOW JOBS", (*parser).showJobs},
	{"SHOW CREATE VIEW", "SHOW CREATE VIEW", "SHOW CREATE VIEW name", nil},
	{"SHOW CREATE MATERIALIZED TABLE", "SHOW CREATE [OR ALTER] MATERIALIZED TABLE", "SHOW CREATE [OR ALTER] MATERIALIZED TABLE name", nil},
	{"SHOW CREATE MODEL", "SHOW CREATE MODEL", "SHOW CREATE MODEL name", nil},
	{"SHOW CREATE CONNECTION", "SHOW CREATE CONNECTION", "SHOW CREATE CONNECTION name", nil},
	{"SHOW COLUMNS", "SHOW COLUMNS", "SHOW COLUMNS {FROM | IN} table [[NOT] LIKE 'pattern']", nil},
	{"SHOW PARTITIONS", "SHOW PARTITIONS", "SHOW PARTITIONS table [PARTITION (…)]", nil},
	{"SHOW PROCEDURES", "SHOW PROCEDURES", "SHOW PROCEDURES [{FROM | IN} database] [[NOT] {LIKE | ILIKE} 'pattern']", nil},
	{"SHOW VIEWS", "SHOW VIEWS", "SHOW VIEWS [{FROM | IN} database] [[NOT] LIKE 'pattern']", nil},
	{"SHOW MATERIALIZED TABLES", "SHOW MATERIALIZED TABLES", "SHOW MATERIALIZED TABLES", nil},
	{"SHOW FUNCTIONS", "SHOW [USER] FUNCTIONS", "SHOW [USER] FUNCTIONS [{FROM | IN} database] [[NOT] {LIKE | ILIKE} 'pattern']", nil},
	{"SHOW MODULES", "SHOW [FULL] MODULES", "SHOW [FULL] MODULES", nil},
	{"SHOW JARS", "SHOW JARS", "SHOW JARS", nil},
	{"SHOW MODELS", "SHOW MODELS", "SHOW MODELS", nil},
	{"SHOW CONNECTIONS", "SHOW CONNECTIONS", "SHOW CONNECTIONS", nil},

	// Describing. A table may be called catalog or job: see describesTable.
	{"DESCRIBE CATALOG", "{DESCRIBE|DESC} CATALOG", "{DESCRIBE | DESC} CATALOG [EXTENDED] name", nil},
	{"DESCRIBE DATABASE", "{DESCRIBE|DESC} DATABASE", "{DESCRIBE | DESC} DATABASE [EXTENDED] name", nil},
	{"DESCRIBE FUNCTION", "{DESCRIBE|DESC} FUNCTION", "{DESCRIBE | DESC} FUNCTION [EXTENDED] name", nil},
	{"DESCRIBE MODEL", "{DESCRIBE|DESC} MODEL", "{DESCRIBE | DESC} MODEL name", nil},
	{"DESCRIBE JOB", "{DESCRIBE|DESC} JOB", "{DESCRIBE | DESC} JOB 'id'", nil},
	{"DESCRIBE CONNECTION", "{DESCRIBE|DESC} CONNECTION", "{DESCRIBE | DESC} CONNECTION name", nil},
	{"DESCRIBE", "{DESCRIBE|DESC}", "{DESCRIBE | DESC} [EXTENDED] [catalog.][database.]table", (*parser).describe},

	// The session.
	{"USE CATALOG", "USE CATALOG", "USE CATALOG name", (*parser).useCatalog},
	{"USE MODULES", "USE MODULES", "USE MODULES name, …", nil},
	{"USE", "USE", "USE [catalog.]database", (*parser).useDatabase},
	{"LOAD MODULE", "LOAD MODULE", "LOAD MODULE name [WITH (…)]", nil},
	{"UNLOAD MODULE", "UNLOAD MODULE", "UNLOAD MODULE name", nil},
	{"SET", "SET", "SET ['key' = 'value']", (*parser).set},
	{"RESET", "RESET", "RESET ['key']", (*parser).reset},
	{"ADD JAR", "ADD JAR", "ADD JAR 'path'", nil},
	{"REMOVE JAR", "REMOVE JAR", "REMOVE JAR 'path'", nil},
	{"STOP JOB", "STOP JOB", "STOP JOB 'id' [WITH SAVEPOINT] [WITH DRAIN]", nil},
	{"HELP", "HELP", "HELP", (*parser).help},
	{"QUIT", "{QUIT|EXIT}", "{QUIT | EXIT}", (*parser).quit},
	{"CLEAR", "CLEAR", "CLEAR", (*parser).clear},
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
		if f.parse != nil {
			return f.parse(p, start)
		}
		if f.Lead[0] == '{' && p.describesTable(n) {
			continue
		}
		end := p.tok.end
		if n > 1 {
			end = p.peek(n - 1).end
		}
		p.failAt(Span{start, end}, f.Name+" is not supported yet", "")
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
	e := &Error{Span: t.span(), Msg: "found " + p.found(t) + ", expected a statement"}
	var second []string
	for _, f := range p.forms {
		if rest, ok := strings.CutPrefix(f.Lead, t.kw+" "); ok && t.kw != "" {
			if i := strings.LastIndexByte(rest, ']'); i >= 0 {
				rest = rest[i+2:]
			}
			word, _, _ := strings.Cut(rest, " ")
			second = append(second, word)
		}
	}
	if len(second) > 0 {
		next := p.peek(1)
		e.Span = next.span()
		e.Msg = "found " + p.found(next) + " behind " + t.kw + ", expected " + oneOf(second)
		if s := nearest(next.text, second); s != "" {
			e.Hint = "did you mean " + t.kw + " " + s + "?"
		}
	} else {
		var first []string
		for _, f := range p.forms {
			word, _, _ := strings.Cut(f.Lead, " ")
			first = append(first, strings.Split(strings.Trim(word, "{}"), "|")...)
		}
		if s := nearest(t.text, first); s != "" {
			e.Hint = "did you mean " + s + "?"
		} else if t.text == "." {
			e.Hint = hintMetaCommand
		} else {
			e.Hint = "HELP lists all statements"
		}
	}
	p.fail(e)
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
