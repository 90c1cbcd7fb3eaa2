package filesystem

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sluice-sql/sluice/connector"
)

var _ connector.Creator = Connector{}

// CheckCreate refuses a directory that has something in it.
func (c Connector) CheckCreate(ctx context.Context, def connector.TableDef, insert connector.Insert, env *connector.Env) (*connector.Creation, error) {
	t, err := c.newTable(def, env)
	if err != nil {
		return nil, err
	}
	if _, err := t.transaction(insert, true); err != nil {
		return nil, err
	}
	anchor, missing, err := anchorOf(t.path)
	if err == nil && len(missing) == 0 {
		err = vacant(anchor)
	}
	if err != nil {
		return nil, &connector.OptionError{Key: "path", Msg: err.Error()}
	}
	made := &connector.Creation{Reason: "one file gets its name by one rename when all rows are on the disk"}
	if len(missing) > 0 {
		made.Reason = "a directory with one file gets its name by one rename when all rows are on the disk"
	}
	for range insert.Columns {
		made.Stored = append(made.Stored, def.Options["format"])
	}
	if len(def.Schema.PrimaryKey) > 0 {
		made.Notes = append(made.Notes, "PRIMARY KEY is not enforced in files: duplicate keys are kept")
	}
	return made, nil
}

// Create returns the transaction that makes a table's directory, with one file, or puts that into an empty
// one.
func (c Connector) Create(_ context.Context, def connector.TableDef, insert connector.Insert, env *connector.Env) (connector.Transaction, error) {
	t, err := c.newTable(def, env)
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", def.Identifier, err)
	}
	return t.transaction(insert, true)
}

// readOnly is the error of a metadata column among those written.
func (t *table) readOnly(column int) error {
	name := t.schema.Columns[column].Name
	return &connector.ColumnError{Column: name, Msg: fmt.Sprintf("column %s: the metadata '%s' cannot be written; declare the column METADATA … VIRTUAL",
		connector.QuoteName(name), t.metadata[column-t.physical])}
}

// vacant returns an error when a directory has anything in it but names that begin with . or _.
func vacant(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var first string
	n := 0
	for _, e := range entries {
		if e.Name()[0] == '.' || e.Name()[0] == '_' {
			continue
		}
		if n++; n == 1 {
			first = e.Name()
		}
	}
	if n == 0 {
		return nil
	}
	if n > 1 {
		first += fmt.Sprintf(" and %d more", n-1)
	}
	return fmt.Errorf("the directory %s is not empty: it has %s; CREATE TABLE AS makes a table of its own rows only, so give it another 'path', or CREATE TABLE without AS and INSERT INTO it", dir, first)
}

// lockWait is how long a commit waits for that of another job.
const lockWait = 10 * time.Second

// lockDir locks a directory for the moment in which a file gets its name there: several INSERTs may do so at
// once, but none between the look of a CREATE TABLE AS at an empty directory and its rename.
func lockDir(dir string, alone bool) (unlock func(), err error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	how := unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX
	}
	for end := time.Now().Add(lockWait); ; time.Sleep(5 * time.Millisecond) {
		err = unix.Flock(int(d.Fd()), how|unix.LOCK_NB)
		switch {
		case err == nil:
			return func() { _ = d.Close() }, nil
		case errors.Is(err, unix.EWOULDBLOCK) && time.Now().Before(end), errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			err = errors.New("another job, which publishes its file there, does not come to an end")
		}
		return nil, errors.Join(&os.PathError{Op: "lock", Path: dir, Err: err}, d.Close())
	}
}
