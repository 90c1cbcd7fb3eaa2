package session

import (
	"context"

	"github.com/sluice-sql/sluice/sqlparse"
)

// runner runs a statement of one form.
type runner func(s *Session, ctx context.Context, x *execution) (*Result, error)

// statement is a form of statement, as Statement.Form names it, and what runs it; one that can be read but
// not run has the refusal instead, which says what to do.
type statement struct {
	form    string
	run     runner
	refusal string
}

// family is a line of HELP and the statements that it is about.
type family struct {
	syntax, does string
	statements   []statement
}

// The methods that run statements take as much of the statement at hand as they need.

// text adapts a method that needs the statement's text, as whatever plans a query does.
func text[S sqlparse.Statement](f func(*Session, context.Context, *execution, S) (*Result, error)) runner {
	return func(s *Session, ctx context.Context, x *execution) (*Result, error) { return f(s, ctx, x, x.stmt.(S)) }
}

// on adapts a method that asks a catalog.
func on[S sqlparse.Statement](f func(*Session, context.Context, S) (*Result, error)) runner {
	return func(s *Session, ctx context.Context, x *execution) (*Result, error) { return f(s, ctx, x.stmt.(S)) }
}

// quick adapts a method that needs the session alone.
func quick[S sqlparse.Statement](f func(*Session, S) (*Result, error)) runner {
	return func(s *Session, _ context.Context, x *execution) (*Result, error) { return f(s, x.stmt.(S)) }
}

// gives adapts a result that is the same every time.
func gives(kind ResultKind) runner {
	return func(*Session, context.Context, *execution) (*Result, error) { return &Result{Kind: kind}, nil }
}

const statementSetRefusal = "A statement set is one job with several sinks, which is not supported yet"

// families is the one table of statements: what can be run and how, and what HELP prints. A statement that
// sqlparse knows and that is missing here is refused by name at its place.
func families() []family {
	createTable, insert := text((*Session).createTable), text((*Session).insert)
	return []family{
		{"SELECT … / WITH … / VALUES …", "show the rows of a query", []statement{
			{form: "SELECT", run: text((*Session).query)},
		}},
		{"CREATE TABLE t AS SELECT …", "make a table of a query's rows, all or nothing", []statement{
			{form: "CREATE TABLE AS", run: createTable},
		}},
		{"[CREATE OR] REPLACE TABLE t AS …", "make it anew; the old table stays up to the last step", []statement{
			{form: "REPLACE TABLE AS", run: createTable}, {form: "CREATE OR REPLACE TABLE AS", run: createTable},
		}},
		{"CREATE TABLE t (c type, …)", "make an empty table; LIKE u makes one like another", []statement{
			{form: "CREATE TABLE", run: createTable}, {form: "CREATE TABLE LIKE", run: createTable},
		}},
		{"ALTER TABLE t ADD / MODIFY / …", "change a table; DROP TABLE t drops it", []statement{
			{form: "ALTER TABLE", run: text((*Session).alterTable)}, {form: "DROP TABLE", run: on((*Session).dropTable)},
		}},
		{"CREATE VIEW v AS SELECT …", "name a query; ALTER VIEW, DROP VIEW", []statement{
			{form: "CREATE VIEW", run: text((*Session).createView)}, {form: "ALTER VIEW", run: text((*Session).alterView)},
			{form: "DROP VIEW", run: on((*Session).dropView)},
		}},
		{"INSERT INTO t SELECT … / VALUES …", "add rows, all or nothing", []statement{
			{form: "INSERT INTO", run: insert}, {form: "INSERT OVERWRITE", run: insert}, {form: "EXECUTE INSERT", run: insert},
			{form: "EXECUTE STATEMENT SET", refusal: statementSetRefusal},
			{form: "BEGIN STATEMENT SET", refusal: statementSetRefusal}, {form: "END", refusal: statementSetRefusal},
		}},
		{"UPDATE t SET c = …, … WHERE …", "change rows; DELETE FROM t WHERE …, TRUNCATE TABLE t", []statement{
			{form: "UPDATE", run: text((*Session).update)}, {form: "DELETE", run: text((*Session).deleteRows)},
			{form: "TRUNCATE TABLE", run: text((*Session).truncateTable)},
		}},
		{"EXPLAIN statement", "show the plan, the target and the guarantee; runs nothing", []statement{
			{form: "EXPLAIN", run: text((*Session).explain)},
			{form: "EXPLAIN STATEMENT SET", refusal: statementSetRefusal},
		}},
		{"CREATE CATALOG c WITH ('type' = …)", "open a catalog; ALTER CATALOG, DROP CATALOG", []statement{
			{form: "CREATE CATALOG", run: on((*Session).createCatalog)}, {form: "ALTER CATALOG", run: on((*Session).alterCatalog)},
			{form: "DROP CATALOG", run: on((*Session).dropCatalog)},
		}},
		{"CREATE DATABASE d", "make a database; ALTER DATABASE, DROP DATABASE", []statement{
			{form: "CREATE DATABASE", run: on((*Session).createDatabase)}, {form: "ALTER DATABASE", run: on((*Session).alterDatabase)},
			{form: "DROP DATABASE", run: on((*Session).dropDatabase)},
		}},
		{"USE CATALOG c / USE d", "make a catalog or database the current one", []statement{
			{form: "USE CATALOG", run: on((*Session).useCatalog)}, {form: "USE", run: on((*Session).useDatabase)},
		}},
		{"SHOW CATALOGS / DATABASES / TABLES", "list them; VIEWS, FUNCTIONS, MODULES; LIKE 'a%' picks", []statement{
			{form: "SHOW CATALOGS", run: on((*Session).showCatalogs)}, {form: "SHOW DATABASES", run: on((*Session).showDatabases)},
			{form: "SHOW TABLES", run: on((*Session).showTables)}, {form: "SHOW VIEWS", run: on((*Session).showViews)},
			{form: "SHOW FUNCTIONS", run: on((*Session).showFunctions)}, {form: "SHOW MODULES", run: quick((*Session).showModules)},
		}},
		{"SHOW CREATE TABLE t / VIEW v", "show the statement that makes it again; CATALOG c too", []statement{
			{form: "SHOW CREATE TABLE", run: on((*Session).showCreateTable)}, {form: "SHOW CREATE VIEW", run: on((*Session).showCreateView)},
			{form: "SHOW CREATE CATALOG", run: on((*Session).showCreateCatalog)},
		}},
		{"SHOW CURRENT CATALOG / DATABASE", "show where names are looked up", []statement{
			{form: "SHOW CURRENT CATALOG", run: quick(func(s *Session, _ *sqlparse.ShowCurrentCatalog) (*Result, error) {
				return one("current catalog name", s.CurrentCatalog()), nil
			})},
			{form: "SHOW CURRENT DATABASE", run: quick(func(s *Session, _ *sqlparse.ShowCurrentDatabase) (*Result, error) {
				return one("current database name", s.CurrentDatabase()), nil
			})},
		}},
		{"SHOW COLUMNS FROM t", "show its columns; SHOW PARTITIONS t", []statement{
			{form: "SHOW COLUMNS", run: on((*Session).showColumns)}, {form: "SHOW PARTITIONS", run: text((*Session).showPartitions)},
		}},
		{"DESCRIBE t", "show its columns; CATALOG c, DATABASE d, FUNCTION f", []statement{
			{form: "DESCRIBE", run: on((*Session).describe)},
			{form: "DESCRIBE CATALOG", run: on((*Session).describeCatalog)}, {form: "DESCRIBE DATABASE", run: on((*Session).describeDatabase)},
			{form: "DESCRIBE FUNCTION", run: quick((*Session).describeFunction)},
		}},
		{"SHOW JOBS / DESCRIBE JOB 'id'", "list the jobs of this process; STOP JOB 'id' ends one", []statement{
			{form: "SHOW JOBS", run: quick((*Session).showJobs)}, {form: "DESCRIBE JOB", run: quick((*Session).describeJob)},
			{form: "STOP JOB", run: on((*Session).stopJob)},
		}},
		{"SET 'key' = 'value' / SET / RESET", "set, list or reset options; SET 'key' describes one", []statement{
			{form: "SET", run: quick((*Session).set)}, {form: "RESET", run: quick((*Session).reset)},
		}},
		{"SOURCE 'file'", "run the statements of a file", []statement{
			{form: "SOURCE", run: quick(func(_ *Session, st *sqlparse.SourceFile) (*Result, error) {
				return &Result{Kind: Source, Message: st.File.Text}, nil
			})},
		}},
		{"HELP, CLEAR, QUIT", "this text; clear the screen; leave", []statement{
			{form: "HELP", run: quick((*Session).help)}, {form: "CLEAR", run: gives(Clear)}, {form: "QUIT", run: gives(Quit)},
		}},
	}
}

// statementsByForm is the table of statements by the name of the form.
func statementsByForm() map[string]statement {
	index := map[string]statement{}
	for _, f := range families() {
		for _, st := range f.statements {
			index[st.form] = st
		}
	}
	return index
}

// run looks the statement up in the table and runs it.
func (s *Session) run(ctx context.Context, x *execution) (*Result, error) {
	form := x.stmt.Form()
	st, ok := s.statements[form]
	switch {
	case !ok:
		return nil, refuse(x.stmt.Span(), "%s is not supported yet", form)
	case st.refusal != "":
		return nil, refuse(x.stmt.Span(), "%s", st.refusal)
	}
	return st.run(s, ctx, x)
}

// inRefusedSet refuses an INSERT that stands between a BEGIN STATEMENT SET, which has been refused, and its END:
// it was to be written together with others, or not at all. Any other statement ends such a set.
func (s *Session) inRefusedSet(stmt sqlparse.Statement) error {
	switch stmt.(type) {
	case *sqlparse.BeginStatementSet:
		s.refusedSet.Store(true)
	case *sqlparse.Insert:
		if s.refusedSet.Load() {
			e := refuse(stmt.Span(), "This INSERT is of the statement set that BEGIN STATEMENT SET was to begin, which was refused")
			e.Hint = "END ends the set; an INSERT without BEGIN and END is written by itself"
			return e
		}
	default:
		s.refusedSet.Store(false)
	}
	return nil
}
