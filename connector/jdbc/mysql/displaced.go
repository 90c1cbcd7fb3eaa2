package mysql

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

// KeptError says that a table which was replaced is kept, since something would be lost with it.
type KeptError struct {
	Table          string // that was replaced, "" where nobody knows any more
	Database, Kept string // where the old one is
	Why            string
}

// Error says what to do.
func (e *KeptError) Error() string {
	what := "a table of database " + e.Database
	if e.Table != "" {
		what = "table " + e.Database + "." + e.Table
	}
	return fmt.Sprintf("%s is replaced, but the old one %s: it is kept as %s; take from it what is needed, then drop it on the server",
		what, e.Why, qualified(e.Database, e.Kept))
}

// changedSince is why a table is kept that is not as it was when the job looked at it.
const changedSince = "was changed by another session at the last moment"

// seenAs is by what a table is known again after a RENAME: its definition, and InnoDB's number of it where the user may
// know that.
func seenAs(t *table, id string) string { return digest(definition(t.text)) + " " + id }

// sameAs reports whether a table was seen as such before; what was not noted may be the same.
func sameAs(noted, now string) bool {
	if noted == "" {
		return true
	}
	was, wasID, _ := strings.Cut(noted, " ")
	is, isID, _ := strings.Cut(now, " ")
	return was == is && (wasID == isID || wasID == "" || isID == "")
}

// dropOwn drops a table of a job.
func (c *conn) dropOwn(ctx context.Context, database string, job connector.JobID, ending string) error {
	_, err := c.exec(ctx, "DROP TABLE IF EXISTS "+qualified(database, ownName(job, ending)))
	return err
}

// dropDisplaced drops the table that a job has replaced, which had nothing to lose when it was looked at, and was seen
// as noted. What it has got between that look and the RENAME is not dropped with it, nor is another table that has
// come into its place by then: it is kept under a name of which every sweep tells.
func (c *conn) dropDisplaced(ctx context.Context, database string, job connector.JobID, replaced, noted string) error {
	name := ownName(job, displacedName)
	keep := func(why string) error {
		kept := ownName(job, keptName)
		if _, err := c.exec(ctx, "RENAME TABLE "+qualified(database, name)+" TO "+qualified(database, kept)); err != nil {
			return err
		}
		return &KeptError{replaced, database, kept, why}
	}
	old, _, err := c.describe(ctx, database, name)
	if err != nil || old == nil {
		return err
	}
	switch loses, err := c.has(ctx, old); {
	case err != nil:
		return err
	case loses != "":
		return keep(loses)
	case !sameAs(noted, seenAs(old, c.tableID(ctx, database, name))):
		return keep(changedSince)
	}
	err = c.dropOwn(ctx, database, job, displacedName)
	if isReferenced(err) {
		return keep("has got foreign keys of other tables")
	}
	return err
}

// kept is the error that tells of a table which was kept before, nil once it is gone.
func (c *conn) kept(ctx context.Context, database string, job connector.JobID) error {
	name := ownName(job, keptName)
	old, _, err := c.describe(ctx, database, name)
	if err != nil || old == nil {
		return err
	}
	loses, err := c.has(ctx, old)
	switch {
	case err != nil:
		return err
	case loses == "":
		loses = changedSince
	}
	return &KeptError{"", database, name, loses}
}

// has says what a table has that is no definition of ours, and would be lost with it.
func (c *conn) has(ctx context.Context, old *table) (string, error) {
	info := old.info() // its own definition is no loss
	loses, err := c.wouldLose(ctx, old, server.Definition{Schema: info.Schema, Comment: info.Comment, Comments: info.Comments})
	if err != nil || len(loses) == 0 {
		return "", err
	}
	return "has got " + strings.Join(loses, ", ") + ", which would be lost with it", nil
}

// isReferenced reports that a table is not dropped because foreign keys of others lead to it.
func isReferenced(err error) bool {
	switch numberOf(err) {
	case errRowReferenced, 1217, 3730:
		return true
	}
	return false
}
