package sqlite

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/types"
)

// codeError is the result code of a statement that cannot be.
const codeError = 1

// Step is one ALTER TABLE statement of SQLite's own.
type Step struct {
	action string
}

// AddColumn adds a column behind the others, with NULL in every row. It returns why that cannot be, "" when
// it can.
func AddColumn(c types.Column) (s Step, fault string) {
	declared, fault := DeclaredType(c.Type)
	if fault == "" && c.Type.NotNull {
		fault = "SQLite adds only columns that may be NULL, which is what the rows get: declare it without NOT NULL"
	}
	return Step{"ADD COLUMN " + Quote(c.Name) + " " + declared}, fault
}

// DropColumn drops a column.
func DropColumn(name string) Step { return Step{"DROP COLUMN " + Quote(name)} }

// RenameColumn renames a column, also where views, triggers and indexes name it.
func RenameColumn(from, to string) Step {
	return Step{"RENAME COLUMN " + Quote(from) + " TO " + Quote(to)}
}

// StepError says why SQLite does not do one step. Nothing has been changed.
type StepError struct {
	Index  int
	Reason string
}

// Error gives the reason.
func (e *StepError) Error() string { return e.Reason }

// ViewError says that a view was to be altered, which only SQLite's own tools do.
type ViewError struct{ Name string }

// Error names the view.
func (e *ViewError) Error() string {
	return e.Name + " is a view of SQLite; change it with SQLite's own tools"
}

// AlterTable runs the steps in one transaction. unchanged is given the table as it is found there, and
// reports whether it is what the steps were made for; ErrChanged otherwise.
func (s *Store) AlterTable(ctx context.Context, table string, steps []Step, unchanged func(*TableInfo) bool) error {
	return s.write(ctx, Write, func(c *Conn) error {
		info, err := s.alterable(c, table)
		if err != nil {
			return err
		}
		if !unchanged(info) {
			return ErrChanged
		}
		before, err := c.compiling()
		if err != nil {
			return err
		}
		var after map[string]string
		since := map[string]int{} // writes that fail, and the step that broke them
		for i, step := range steps {
			if err := c.Exec("ALTER TABLE main." + Quote(table) + " " + step.action); err != nil {
				return stepError(i, err)
			}
			if len(before) == 0 { // there are no triggers
				continue
			}
			if after, err = c.compiling(); err != nil {
				return err
			}
			for what, reason := range after {
				if _, broken := since[what]; reason == "" {
					delete(since, what)
				} else if !broken && before[what] == "" { // what was broken already is not the change's fault
					since[what] = i
				}
			}
		}
		var first *StepError // that breaks something for good, and of what it breaks the first by name
		for _, what := range slices.Sorted(maps.Keys(since)) {
			if i := since[what]; first == nil || i < first.Index {
				first = &StepError{i, "a trigger would fail on " + what + ": " + after[what]}
			}
		}
		if first != nil {
			return first
		}
		return nil
	})
}

// compiling has the writes of all tables and views with triggers, each with the reason why SQLite does not
// compile it, "" when it does. ALTER TABLE itself looks at what triggers read, and not at the columns that
// they set.
func (c *Conn) compiling() (map[string]string, error) {
	tables, err := c.Rows("SELECT DISTINCT tbl_name FROM main.sqlite_schema WHERE type = 'trigger'")
	if err != nil {
		return nil, err
	}
	reasons := map[string]string{}
	for _, r := range tables {
		table, _ := r[0].(string)
		writes, err := c.writesOf(table)
		if err != nil {
			return nil, err
		}
		for what, sql := range writes {
			s, err := c.prepare(sql)
			var e *Error
			switch {
			case err == nil:
				s.close()
				reasons[what] = ""
			case errors.As(err, &e) && e.Primary() == codeError:
				reasons[what] = e.Msg
			default:
				return nil, err
			}
		}
	}
	return reasons, nil
}

// writesOf returns statements that compile all triggers of a table or view.
func (c *Conn) writesOf(table string) (map[string]string, error) {
	rows, err := c.Rows("SELECT name FROM pragma_table_xinfo(?1, 'main') WHERE hidden = 0", table)
	if err != nil {
		return nil, err
	}
	var set []string
	for _, r := range rows {
		col, _ := r[0].(string)
		set = append(set, Quote(col)+" = NULL")
	}
	name := "main." + Quote(table)
	return map[string]string{
		"INSERT INTO " + table: "INSERT INTO " + name + " DEFAULT VALUES",
		"UPDATE " + table:      "UPDATE " + name + " SET " + strings.Join(set, ", "),
		"DELETE FROM " + table: "DELETE FROM " + name,
	}, nil
}

// RenameTable gives a table another name, also where views, triggers and foreign keys name it.
func (s *Store) RenameTable(ctx context.Context, table, to string) error {
	return s.write(ctx, Write, func(c *Conn) error {
		if _, err := s.alterable(c, table); err != nil {
			return err
		}
		if err := Taken(c, to); err != nil {
			return err
		}
		return stepError(0, c.Exec("ALTER TABLE main."+Quote(table)+" RENAME TO "+Quote(to)))
	})
}

// alterable describes a table that can be altered.
func (s *Store) alterable(c *Conn, table string) (*TableInfo, error) {
	info, err := s.Describe(c, table, false)
	switch {
	case err != nil:
		return nil, err
	case info == nil:
		return nil, ErrNotThere
	case info.View:
		return nil, &ViewError{table}
	case info.Virtual:
		return nil, fmt.Errorf("%s is a virtual table of SQLite, which cannot be altered", table)
	}
	return info, nil
}

// stepError tells what SQLite refuses (a view that would break, a name that is taken) from what failed.
func stepError(i int, err error) error {
	var e *Error
	if errors.As(err, &e) && e.Primary() == codeError {
		// "error in view v: why" is of one that was broken before; of one that the change breaks it says "after".
		if what, why, ok := strings.Cut(strings.TrimPrefix(e.Msg, "error in "), ": "); ok && e.Msg != what+": "+why && !strings.Contains(what, " after ") {
			if view, ok := strings.CutPrefix(what, "view "); ok {
				return &StepError{i, fmt.Sprintf("SQLite changes no names while a view is broken, and %s is: %s; DROP VIEW drops it", view, why)}
			}
		}
		return &StepError{i, "SQLite refuses it: " + e.Msg}
	}
	return err
}
