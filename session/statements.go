package session

import (
	"context"

	"github.com/sluice-sql/sluice/sqlparse"
)

// runner runs a statement of one form.
type runner func(s *Session, ctx context.Context, x *execution) (*Result, error)

// statement is a form of statement, as Statement.Form names it, and what runs it.
type statement struct {
	form string
	run  runner
}

// family is a line of HELP and the statements that it is about.
type family struct {
	syntax, does string
	statements   []statement
}

// families is the one table of statements: what can be run and how, and what HELP prints. A statement that
// sqlparse knows and that is missing here is refused by name at its place.
func families() []family {
	createTable := func(s *Session, ctx context.Context, x *execution) (*Result, error) {
		return s.createTable(ctx, x, x.stmt.(*sqlparse.CreateTable))
	}
	insert := func(s *Session, ctx context.Context, x *execution) (*Result, error) {
		return s.insert(ctx, x, x.stmt.(*sqlparse.Insert))
	}
	return []family{
		{"SELECT … / WITH … / VALUES …", "show the rows of a query", []statement{
			{"SELECT", func(s *Session, ctx context.Context, x *execution) (*Result, error) {
				return s.query(ctx, x, x.stmt.(*sqlparse.QueryStatement))
			}},
		}},
		{"CREATE TABLE t AS SELECT …", "make a table of a query's rows, all or nothing", []statement{
			{"CREATE TABLE AS", createTable}, {"CREATE OR REPLACE TABLE AS", createTable}, {"REPLACE TABLE AS", createTable},
		}},
		{"CREATE TABLE t (c type, …)", "make an empty table; DROP TABLE t drops it", []statement{
			{"CREATE TABLE", createTable}, {"CREATE TABLE LIKE", createTable},
			{"DROP TABLE", func(s *Session, ctx context.Context, x *execution) (*Result, error) {
				return s.dropTable(ctx, x.stmt.(*sqlparse.DropTable))
			}},
		}},
		{"INSERT INTO t SELECT … / VALUES …", "add rows, all or nothing", []statement{
			{"INSERT INTO", insert}, {"INSERT OVERWRITE", insert}, {"EXECUTE INSERT", insert},
		}},
		{"EXPLAIN statement", "show the plan, the target and the guarantee; runs nothing", []statement{
			{"EXPLAIN", func(s *Session, ctx context.Context, x *execution) (*Result, error) {
				return s.explain(ctx, x, x.stmt.(*sqlparse.Explain))
			}},
		}},
		{"CREATE CATALOG c WITH ('type' = …)", "open a catalog; DROP CATALOG c forgets it", []statement{
			{"CREATE CATALOG", func(s *Session, ctx context.Context, x *execution) (*Result, error) {
				return s.createCatalog(ctx, x.stmt.(*sqlparse.CreateCatalog))
			}},
			{"DROP CATALOG", func(s *Session, _ context.Context, x *execution) (*Result, error) {
				return s.dropCatalog(x.stmt.(*sqlparse.DropCatalog))
			}},
		}},
		{"CREATE DATABASE d / DROP DATABASE d", "make or drop a database", []statement{
			{"CREATE DATABASE", func(s *Session, ctx context.Context, x *execution) (*Result, error) {
				return s.createDatabase(ctx, x.stmt.(*sqlparse.CreateDatabase))
			}},
			{"DROP DATABASE", func(s *Session, ctx context.Context, x *execution) (*Result, error) {
				return s.dropDatabase(ctx, x.stmt.(*sqlparse.DropDatabase))
			}},
		}},
		{"USE CATALOG c / USE d", "make a catalog or database the current one", []statement{
			{"USE CATALOG", func(s *Session, _ context.Context, x *execution) (*Result, error) {
				return s.useCatalog(x.stmt.(*sqlparse.UseCatalog))
			}},
			{"USE", func(s *Session, ctx context.Context, x *execution) (*Result, error) {
				return s.useDatabase(ctx, x.stmt.(*sqlparse.UseDatabase))
			}},
		}},
		{"SHOW CATALOGS / DATABASES / TABLES", "list them; LIKE 'a%' picks by name", []statement{
			{"SHOW CATALOGS", func(s *Session, _ context.Context, x *execution) (*Result, error) {
				return s.showCatalogs(x.stmt.(*sqlparse.ShowCatalogs))
			}},
			{"SHOW DATABASES", func(s *Session, ctx context.Context, x *execution) (*Result, error) {
				return s.showDatabases(ctx, x.stmt.(*sqlparse.ShowDatabases))
			}},
			{"SHOW TABLES", func(s *Session, ctx context.Context, x *execution) (*Result, error) {
				return s.showTables(ctx, x.stmt.(*sqlparse.ShowTables))
			}},
		}},
		{"SHOW CREATE TABLE t / CATALOG c", "show the statement that makes it again", []statement{
			{"SHOW CREATE TABLE", func(s *Session, ctx context.Context, x *execution) (*Result, error) {
				return s.showCreateTable(ctx, x.stmt.(*sqlparse.ShowCreateTable))
			}},
			{"SHOW CREATE CATALOG", func(s *Session, _ context.Context, x *execution) (*Result, error) {
				return s.showCreateCatalog(x.stmt.(*sqlparse.ShowCreateCatalog))
			}},
		}},
		{"SHOW CURRENT CATALOG / DATABASE", "show where names are looked up", []statement{
			{"SHOW CURRENT CATALOG", func(s *Session, _ context.Context, _ *execution) (*Result, error) {
				return one("current catalog name", s.CurrentCatalog()), nil
			}},
			{"SHOW CURRENT DATABASE", func(s *Session, _ context.Context, _ *execution) (*Result, error) {
				return one("current database name", s.CurrentDatabase()), nil
			}},
		}},
		{"DESCRIBE t", "show a table's columns", []statement{
			{"DESCRIBE", func(s *Session, ctx context.Context, x *execution) (*Result, error) {
				return s.describe(ctx, x.stmt.(*sqlparse.Describe))
			}},
		}},
		{"SHOW JOBS", "list the jobs of this process", []statement{
			{"SHOW JOBS", func(s *Session, _ context.Context, _ *execution) (*Result, error) { return s.showJobs() }},
		}},
		{"SET 'key' = 'value' / SET / RESET", "set, list or reset options; SET 'key' describes one", []statement{
			{"SET", func(s *Session, _ context.Context, x *execution) (*Result, error) {
				return s.set(x.stmt.(*sqlparse.Set))
			}},
			{"RESET", func(s *Session, _ context.Context, x *execution) (*Result, error) {
				return s.reset(x.stmt.(*sqlparse.Reset))
			}},
		}},
		{"HELP, CLEAR, QUIT", "this text; clear the screen; leave", []statement{
			{"HELP", func(*Session, context.Context, *execution) (*Result, error) {
				return &Result{Kind: Help, Message: helpText()}, nil
			}},
			{"CLEAR", func(*Session, context.Context, *execution) (*Result, error) { return &Result{Kind: Clear}, nil }},
			{"QUIT", func(*Session, context.Context, *execution) (*Result, error) { return &Result{Kind: Quit}, nil }},
		}},
	}
}

// run looks the statement up in the table and runs it.
func (s *Session) run(ctx context.Context, x *execution) (*Result, error) {
	form := x.stmt.Form()
	for _, f := range families() {
		for _, st := range f.statements {
			if st.form == form {
				return st.run(s, ctx, x)
			}
		}
	}
	return nil, refuse(x.stmt.Span(), "%s is not supported yet", form)
}
