package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

var _ server.Alterer = (*Server)(nil)

// AlterTable changes a table's definition in one transaction, which keeps everybody else from the table.
func (s *Server) AlterTable(ctx context.Context, database, table string, steps []server.Step, expect func(*server.TableInfo) bool) error {
	rel, err := parseRelation(table)
	if err != nil || reserved(rel.name) || system(rel.schema) {
		return server.ErrNotThere
	}
	return s.change(ctx, database, func(c *conn) error {
		word := "TABLE "
		switch _, kind, _, err := c.holdNamed(ctx, rel); {
		case err != nil:
			return err
		case kind == view || kind == materialised:
			return fmt.Errorf("%s is a %s of PostgreSQL; it is not altered here", rel, kindName(kind))
		case kind == foreignTable:
			word = "FOREIGN TABLE "
		case kind != ordinary && kind != partitioned:
			return server.ErrNotThere
		}
		t, err := c.describe(ctx, rel)
		switch {
		case err != nil:
			return err
		case t == nil:
			return server.ErrNotThere
		case !expect(t.info(s.asText(rel))):
			return server.ErrChanged
		}
		for i, step := range steps {
			var failed error
			sql, err := alterSQL(word, rel, step, func(constraint string) bool {
				is, err := c.one(ctx, "SELECT 1 FROM pg_catalog.pg_constraint WHERE conrelid = $1::pg_catalog.oid AND conname = $2", t.oid, constraint)
				failed = cmp.Or(failed, err)
				return is != ""
			})
			if failed != nil {
				return failed
			}
			if err != nil {
				return &server.StepError{Index: i, Err: err}
			}
			err = c.locked(ctx, rel.String(), func(ctx context.Context) error {
				_, err := c.exec(ctx, sql)
				return err
			})
			var refused *Error
			switch {
			case code(err) == codeNotNull && step.Kind == server.AddColumn:
				return &server.StepError{Index: i, Err: errors.New("the rows that are there would have no value: leave out NOT NULL")}
			case errors.As(err, &refused) && ctx.Err() == nil:
				return &server.StepError{Index: i, Err: err}
			case err != nil:
				return err
			}
		}
		return nil
	})
}

// alterSQL is the statement of a step. taken says whether the table has a constraint of a name.
func alterSQL(word string, rel relation, step server.Step, taken func(constraint string) bool) (string, error) {
	named := step.Column.Name
	if step.Kind == server.RenameColumn {
		named = step.NewName
	}
	if step.Kind == server.AddColumn || step.Kind == server.RenameColumn {
		if err := checkName("column", named); err != nil {
			return "", err
		}
		if slices.Contains(systemColumns(), named) {
			return "", fmt.Errorf("column %s: every table of PostgreSQL has a system column of this name", named)
		}
	}
	if strings.IndexByte(step.Comment, 0) >= 0 {
		return "", errors.New("a comment has a NUL character, which PostgreSQL cannot keep")
	}
	column := quote(step.Column.Name)
	switch step.Kind {
	case server.AddColumn:
		sql, check, reason := declared(step.Column.Type)
		if reason != "" {
			return "", errors.New(reason)
		}
		add := "ALTER " + word + rel.sql() + " ADD COLUMN " + column + " " + sql
		if step.Column.Type.NotNull {
			add += " NOT NULL"
		}
		if check != "" {
			add += " CONSTRAINT " + quote(derived(step.Column.Name, "check", taken)) + " CHECK (" + strings.ReplaceAll(check, "$", column) + ")"
		}
		if step.Comment != "" {
			add += ";\nCOMMENT ON COLUMN " + rel.sql() + "." + column + " IS " + literal(step.Comment)
		}
		return add, nil
	case server.DropColumn:
		return "ALTER " + word + rel.sql() + " DROP COLUMN " + column, nil
	case server.RenameColumn:
		return "ALTER " + word + rel.sql() + " RENAME COLUMN " + column + " TO " + quote(step.NewName), nil
	case server.CommentTable:
		return "COMMENT ON " + word + rel.sql() + " IS " + literal(step.Comment), nil
	case server.CommentColumn:
		return "COMMENT ON COLUMN " + rel.sql() + "." + column + " IS " + literal(step.Comment), nil
	}
	return "", fmt.Errorf("PostgreSQL has no such change (%d)", step.Kind)
}
