package sqlite

import (
	"errors"
	"strings"
)

// Extended codes of constraints.
const (
	constraintNotNull    = 1299
	constraintPrimaryKey = 1555
	constraintUnique     = 2067
	constraintRowid      = 2579
)

// wordConstraint says what a constraint failure is, with the values of the row that broke it.
func wordConstraint(err *Error, values string) string {
	switch err.Code {
	case constraintUnique, constraintPrimaryKey, constraintRowid:
		return "duplicate key " + values
	case constraintNotNull:
		return "NULL in a NOT NULL column (" + values + ")"
	}
	if values != "" {
		return err.Msg + " (" + values + ")"
	}
	return err.Msg
}

// mentions reports whether "t.c" stands in a message such as "UNIQUE constraint failed: t.a, t.b".
func mentions(msg, name string) bool {
	for i := 0; i+len(name) <= len(msg); i++ {
		if msg[i:i+len(name)] == name {
			end := i + len(name)
			if (end == len(msg) || msg[end] == ',') && i > 0 && msg[i-1] == ' ' {
				return true
			}
		}
	}
	return false
}

// copyStep is how many rows are copied at a time to find the one that breaks a constraint.
const copyStep = 1000

// copyError names the scratch row at which the copy into the file failed. SQLite does not say: the rows
// are copied again, in steps, into the transaction that is lost anyway.
func (t *Transaction) copyError(err *Error, copyRows, conflict string) error {
	e := &RowError{Table: t.target.Table, Msg: err.Msg, Err: err}
	taken := map[string]bool{}
	for _, c := range t.target.Columns {
		taken[strings.ToLower(c.Name)] = true
	}
	id := ""
	for _, alias := range []string{"rowid", "_rowid_", "oid"} {
		if !taken[alias] {
			id = alias
		}
	}
	if id == "" || !t.conn.InTransaction() || t.info == nil { // ROLLBACK has ended the transaction
		return e
	}
	// WHERE true stands before ON CONFLICT.
	some := copyRows + " WHERE " + id + " BETWEEN ?1 AND ?2" + strings.TrimPrefix(conflict, " WHERE true")
	step := int64(copyStep)
	for from, end := int64(1), t.stored; from <= end && e.Row == 0; {
		again := t.conn.whole(func() error { return t.conn.Exec(some, from, from+step-1) })
		switch {
		case !t.conn.InTransaction(): // whatever follows would commit
			return e
		case again == nil:
			from += step
		case primary(again) != codeConstraint:
			return e
		case step > 1:
			end, step = from+step-1, 1
		default:
			e.Row = from
		}
	}
	if e.Row > 0 {
		e.Msg = wordConstraint(err, t.scratchValues(err, id, e.Row))
	}
	return e
}

// scratchValues returns the values of the columns that a message names, in one scratch row.
func (t *Transaction) scratchValues(err *Error, id string, row int64) string {
	var values []string
	for _, c := range t.target.Columns {
		if !mentions(err.Msg, t.target.Table+"."+c.Name) {
			continue
		}
		text, readErr := t.conn.Text("SELECT quote("+Quote(c.Name)+") FROM "+scratchName+"."+Quote(t.target.Table)+" WHERE "+id+" = ?1", row)
		if readErr != nil {
			return ""
		}
		values = append(values, c.Name+" = "+clip(text, 60))
	}
	return strings.Join(values, ", ")
}

// whole runs a statement of which nothing stays when it fails. SQLite itself sees to that unless FAIL stands in a clause
// ON CONFLICT or in a trigger, of whatever table of the file.
func (c *Conn) whole(run func() error) error {
	keeps, err := c.Int("SELECT EXISTS (SELECT 1 FROM main.sqlite_schema WHERE sql LIKE '%FAIL%')")
	if err == nil && keeps == 0 {
		return run()
	}
	if err == nil {
		err = c.Exec("SAVEPOINT _sluice_whole")
	}
	if err != nil {
		return err
	}
	err = run()
	if !c.InTransaction() { // the savepoint is gone with it
		return err
	}
	if err != nil {
		err = errors.Join(err, c.Exec("ROLLBACK TO _sluice_whole"))
	}
	return errors.Join(err, c.Exec("RELEASE _sluice_whole"))
}
