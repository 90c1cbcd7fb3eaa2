package mysql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/types"
)

var _ server.Alterer = (*Server)(nil)

// AlterTable changes a table's definition by one ALTER TABLE, which is all or nothing. The table is locked first, so
// that it is the one that expect was asked about.
func (s *Server) AlterTable(ctx context.Context, database, name string, steps []server.Step, expect func(*server.TableInfo) bool) error {
	return s.with(ctx, "", func(c *conn) error {
		if isOurs(name) || nameFault(name) != "" {
			return fmt.Errorf("%w: %s", server.ErrNotThere, name)
		}
		if err := c.exactDatabase(ctx, database); err != nil {
			return err
		}
		// Without the right to lock, or without the table, what follows has the answer.
		if _, err := c.exec(ctx, "LOCK TABLES "+qualified(database, name)+" WRITE"); lost(err) {
			return err
		}
		t, err := c.present(ctx, database, name)
		switch {
		case err != nil:
			return err
		case t.view():
			return fmt.Errorf("%s is a view of MySQL; it is not altered here", name)
		case !expect(t.info()):
			return fmt.Errorf("%w: %s", server.ErrChanged, name)
		}
		a, err := alterationOf(t, steps)
		if err != nil {
			return err
		}
		if err := a.mayAdd(ctx, c); err != nil {
			return err
		}
		clauses, err := a.clauses(&c.facts)
		if err != nil || len(clauses) == 0 {
			return err
		}
		err = c.change(ctx, "table "+name+" was altered", "ALTER TABLE "+qualified(database, name)+" "+strings.Join(clauses, ", "))
		if numberOf(err) != 0 && !interrupted(err) {
			return &server.StepError{Index: a.blame(err), Err: err}
		}
		return err
	})
}

// alteration is what steps that follow each other come to.
type alteration struct {
	t       *table
	steps   []server.Step
	columns []*altered
	comment *string
}

// altered is a column before and after.
type altered struct {
	was     string // "" for one that is added
	name    string // "" for one that is dropped
	t       types.Type
	comment *string // nil: as it is
	step    int     // the last that concerns it
}

// alterationOf adds the steps up.
func alterationOf(t *table, steps []server.Step) (*alteration, error) {
	a := &alteration{t: t, steps: steps}
	for _, c := range t.columns {
		a.columns = append(a.columns, &altered{was: c.name, name: c.name})
	}
	for i, step := range steps {
		refuse := func(format string, args ...any) (*alteration, error) {
			return nil, &server.StepError{Index: i, Err: fmt.Errorf(format, args...)}
		}
		if step.Kind == server.CommentTable {
			if err := checkComment(step.Comment); err != nil {
				return refuse("%w", err)
			}
			a.comment = &step.Comment
			continue
		}
		if step.Kind == server.AddColumn || step.Kind == server.RenameColumn {
			name := step.NewName
			if step.Kind == server.AddColumn {
				name = step.Column.Name
			}
			if err := checkName("column", name); err != nil {
				return refuse("%w", err)
			}
			if step.Kind == server.AddColumn {
				a.columns = append(a.columns, &altered{name: name, t: step.Column.Type, comment: &step.Comment, step: i})
				continue
			}
		}
		at := slices.IndexFunc(a.columns, func(c *altered) bool { return c.name != "" && c.name == step.Column.Name })
		if at < 0 {
			return refuse("there is no column %s", connector.QuoteName(step.Column.Name))
		}
		c := a.columns[at]
		c.step = i
		switch step.Kind {
		case server.DropColumn:
			for _, k := range t.keys {
				if slices.Contains(k.columns, c.was) && c.was != "" {
					return refuse("column %s is part of the index %s, from which MySQL would take it without a word: drop the index first", connector.QuoteName(c.name), k.name)
				}
			}
			c.name = ""
		case server.RenameColumn:
			c.name = step.NewName
		case server.CommentColumn:
			c.comment = &step.Comment
		default:
			return refuse("the change (%d) is not known to MySQL's dialect", step.Kind)
		}
	}
	return a, nil
}

// mayAdd refuses a NOT NULL column for rows that are there: the server would make up values.
func (a *alteration) mayAdd(ctx context.Context, c *conn) error {
	for _, col := range a.columns {
		if col.was != "" || col.name == "" || !col.t.NotNull {
			continue
		}
		some, err := c.value(ctx, "SELECT EXISTS (SELECT 1 FROM "+qualified(a.t.database, a.t.name)+")")
		if err != nil {
			return err
		}
		if some.text != "0" {
			return &server.StepError{Index: col.step, Err: fmt.Errorf("column %s is NOT NULL, and the rows that are there have no value for it: leave out NOT NULL", connector.QuoteName(col.name))}
		}
	}
	return nil
}

// clauses are those of ALTER TABLE.
func (a *alteration) clauses(f *facts) (list []string, err error) {
	var written map[string]string
	for _, c := range a.columns {
		switch {
		case c.was == "" && c.name == "":
		case c.was == "":
			declared, reason := declaredType(c.t, f)
			if reason != "" {
				return nil, &server.StepError{Index: c.step, Err: fmt.Errorf("column %s: %s", connector.QuoteName(c.name), reason)}
			}
			list = append(list, "ADD COLUMN "+quote(c.name)+" "+declared+textAttributes(c.t, f)+nullAttribute(c.t)+commentAttribute(*c.comment))
		case c.name == "":
			list = append(list, "DROP COLUMN "+quote(c.was))
		case c.comment == nil && c.name == c.was:
		case c.comment == nil && f.renamesColumns():
			list = append(list, "RENAME COLUMN "+quote(c.was)+" TO "+quote(c.name))
		default:
			// The server takes a comment with the whole of the definition only.
			if written == nil {
				written = columnDefinitions(a.t.text)
			}
			def, ok := written[c.was]
			if !ok {
				return nil, &server.StepError{Index: c.step, Err: fmt.Errorf("the server does not tell how column %s is defined", connector.QuoteName(c.was))}
			}
			if c.name != c.was && strings.Contains(def, " CHECK (") {
				return nil, &server.StepError{Index: c.step, Err: fmt.Errorf("column %s has a CHECK, which MySQL does not take along when name and comment are changed at once: change one after the other", connector.QuoteName(c.was))}
			}
			text := a.t.column(c.was).comment
			if c.comment != nil {
				text = *c.comment
			}
			list = append(list, "CHANGE COLUMN "+quote(c.was)+" "+quote(c.name)+" "+withComment(def, text))
		}
	}
	if a.comment != nil {
		list = append(list, "COMMENT = "+literal(*a.comment))
	}
	return list, nil
}

// renamesColumns reports that there is RENAME COLUMN.
func (f *facts) renamesColumns() bool {
	if f.maria {
		return f.number >= 10_05_02
	}
	return f.number >= 8_00_00
}

// textAttributes give a text column of another's table the character set of our own.
func textAttributes(t types.Type, f *facts) string {
	if !t.IsString() {
		return ""
	}
	return " CHARACTER SET utf8mb4 COLLATE " + f.collation()
}

func nullAttribute(t types.Type) string {
	if t.NotNull {
		return " NOT NULL"
	}
	return " NULL"
}

func commentAttribute(text string) string {
	if text == "" {
		return ""
	}
	return " COMMENT " + literal(text)
}

// blame finds the step that the server's message speaks of, by the column that it names.
func (a *alteration) blame(err error) int {
	var e *Error
	if !errors.As(err, &e) {
		return 0
	}
	for i, step := range a.steps {
		for _, name := range []string{step.NewName, step.Column.Name} {
			if name != "" && (strings.Contains(e.Msg, "'"+name+"'") || strings.Contains(e.Msg, quote(name))) {
				return i
			}
		}
	}
	return 0
}
