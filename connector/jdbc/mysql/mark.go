package mysql

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/sluice-sql/sluice/connector"
)

// mark is what a table's comment says of the job that made the table, until all of the job is cleared up.
type mark struct {
	Job connector.JobID `json:"job"`
	// Table is the name that the table is made for.
	Table string `json:"table"`
}

// markPrefix begins the comment of a table with a mark.
const markPrefix = "sluice:"

// comment is the mark, and behind it the user's own comment.
func (m mark) comment(users string) string {
	text, _ := json.Marshal(m) // of an id and a text; cannot fail
	if users == "" {
		return markPrefix + string(text)
	}
	return markPrefix + string(text) + "\n" + users
}

// parseMark takes a comment apart.
func parseMark(comment string) (*mark, string) {
	rest, ok := strings.CutPrefix(comment, markPrefix+"{")
	if !ok {
		return nil, comment
	}
	text, users, _ := strings.Cut("{"+rest, "\n")
	m := &mark{}
	if json.Unmarshal([]byte(text), m) != nil {
		return nil, comment
	}
	return m, users
}

// The endings of our tables' names.
const (
	stagedName    = "new"  // being filled
	displacedName = "old"  // replaced
	markName      = "mark" // has a row once the job's transaction is committed
)

// ownName is the name of a table of a job.
func ownName(job connector.JobID, ending string) string {
	return ours + "_" + job.String() + "_" + ending
}

// parseOwn reads the name of a table of ours; false for anything not exactly of the form.
func parseOwn(name string) (job connector.JobID, ending string, ok bool) {
	m := regexp.MustCompile(`^_sluice_([0-9a-f]{32})_(new|old|mark)$`).FindStringSubmatch(name)
	if m == nil {
		return job, "", false
	}
	return job, m[2], job.UnmarshalText([]byte(m[1])) == nil
}
