package mysql

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/sluice-sql/sluice/connector"
)

// The endings of our tables' names.
const (
	stagedName    = "new"  // being filled
	displacedName = "old"  // replaced, and to be dropped
	keptName      = "kept" // replaced, and not to be dropped
	markName      = "mark" // has a row once the job's transaction is committed
	doneName      = "done" // what the mark is called once the job's table is published
)

// ownName is the name of a table of a job.
func ownName(job connector.JobID, ending string) string {
	return ours + "_" + job.String() + "_" + ending
}

// parseOwn reads the name of a table of ours; false for anything not exactly of the form.
func parseOwn(name string) (job connector.JobID, ending string, ok bool) {
	m := regexp.MustCompile(`^_sluice_([0-9a-f]{32})_(new|old|kept|mark|done)$`).FindStringSubmatch(name)
	if m == nil {
		return job, "", false
	}
	return job, m[2], job.UnmarshalText([]byte(m[1])) == nil
}

// lacks lists which of some rights the user has not got on a table that is not there, and which is not made by asking.
func (c *conn) lacks(ctx context.Context, database, name string, rights ...string) (list []string, err error) {
	table := qualified(database, name)
	for _, right := range rights {
		// The server looks at the rights first, then for the table.
		statement := map[string]string{
			"DROP":   "DROP TABLE IF EXISTS " + table,
			"ALTER":  "ALTER TABLE " + table + " COMMENT=''",
			"INSERT": "INSERT INTO " + table + " VALUES (1)",
			"SELECT": "SELECT 1 FROM " + table,
		}[right]
		switch _, err := c.query(ctx, statement); {
		case isDenied(err):
			list = append(list, right)
		case lost(err):
			return nil, err
		}
	}
	return list, nil
}

// grant explains a missing right by the statement that gives all that are needed.
func (c *conn) grant(ctx context.Context, table, database, rights, has string) error {
	user := "the user"
	if me, err := c.value(ctx, "SELECT CURRENT_USER()"); err == nil && !me.null {
		at := max(0, strings.LastIndexByte(me.text, '@'))
		user = literal(me.text[:at]) + "@" + literal(strings.TrimPrefix(me.text[at:], "@"))
	}
	return fmt.Errorf("table %s: the user has not got the right %s in database %s, where a table is made under a hidden name first: GRANT %s ON %s.* TO %s gives what that needs", table, has, database, rights, quote(database), user)
}

// isDenied reports that the server refuses for want of a right.
func isDenied(err error) bool {
	n := numberOf(err)
	return n == errDenied || n == errTableDenied
}
