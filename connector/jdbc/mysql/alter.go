package mysql

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

var _ server.Alterer = (*Server)(nil)

// AlterTable changes the definition of a table by one statement, which takes effect whole or not at all.
func (s *Server) AlterTable(ctx context.Context, database, name string, steps []server.Step, expect func(*server.TableInfo) bool) error {
	if isOurs(name) || nameFault(name) != "" {
		return fmt.Errorf("%w: %s", server.ErrNotThere, name)
	}
	return s.with(ctx, "", func(c *conn) error {
		// Without the right to lock, or without the table, what follows has the answer.
		if _, err := c.exec(ctx, "LOCK TABLES "+qualified(database, name)+" WRITE"); lost(err) {
			return err
		}
		t, err := c.present(ctx, database, name)
		switch {
		case err != nil:
			return err
		case t.view():
			return fmt.Errorf("%s is a view of the server, and not changed here: use mysql", name)
		case !expect(t.info()):
			return fmt.Errorf("%w: %s", server.ErrChanged, name)
		}
		var clauses []string
		touched := map[string]bool{}
		for i, step := range steps {
			clause, err := alterClause(t, step, touched, &c.facts)
			if err != nil {
				return &server.StepError{Index: i, Err: err}
			}
			clauses = append(clauses, clause)
		}
		if _, err = c.exec(ctx, "ALTER TABLE "+qualified(database, name)+" "+strings.Join(clauses, ", ")); err != nil {
			return &server.StepError{Err: err}
		}
		return nil
	})
}

// alterClause is the part of ALTER TABLE of a step. All parts are of the table as it was before, so that no name may
// be in two of them.
func alterClause(t *table, step server.Step, touched map[string]bool, f *facts) (string, error) {
	names := []string{step.Column.Name}
	if step.Kind == server.RenameColumn {
		names = append(names, step.NewName)
	}
	for _, n := range names {
		n = strings.ToLower(n)
		if n != "" && touched[n] {
			return "", errors.New("MySQL changes a column once in a statement: write two")
		}
		touched[n] = true
	}
	column := quote(step.Column.Name)
	switch step.Kind {
	case server.AddColumn:
		if fault := nameFault(step.Column.Name); fault != "" {
			return "", errors.New(fault)
		}
		declared, reason := declaredType(step.Column.Type, f)
		switch {
		case reason != "":
			return "", errors.New(reason)
		case step.Column.Type.NotNull:
			return "", errors.New("MySQL would give the rows that are there a value that nobody has chosen: leave out NOT NULL")
		}
		clause := "ADD COLUMN " + column + " " + declared + " NULL DEFAULT NULL"
		if step.Comment != "" {
			if err := checkComment(step.Comment); err != nil {
				return "", err
			}
			clause += " COMMENT " + literal(step.Comment)
		}
		return clause, nil
	case server.DropColumn:
		return "DROP COLUMN " + column, nil
	case server.RenameColumn:
		if fault := nameFault(step.NewName); fault != "" {
			return "", errors.New(fault)
		}
		return "RENAME COLUMN " + column + " TO " + quote(step.NewName), nil
	case server.CommentTable:
		if err := checkComment(step.Comment); err != nil {
			return "", err
		}
		comment := step.Comment
		if t.mark != nil { // a job's, which says what became of it
			comment = t.mark.comment(comment)
		}
		return "COMMENT = " + literal(comment), nil
	case server.CommentColumn:
		return "", errors.New("MySQL takes a column's comment together with its whole definition: use mysql")
	}
	return "", fmt.Errorf("MySQL has no such change (%d)", step.Kind)
}
