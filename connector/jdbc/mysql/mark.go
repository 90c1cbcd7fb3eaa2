package mysql

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/connector"
)

// mark is what a table's comment says of the job that made the table, until all of the job is cleared up.
type mark struct {
	Job connector.JobID `json:"job"`
	// Table is the name that the table is made for.
	Table string `json:"table"`
	// Past are the jobs that made the tables replaced before, and had not cleared up yet.
	Past []connector.JobID `json:"past,omitempty"`
}

// maxPast is how many of them there is room for.
const maxPast = 8

// made reports that the job is the one that made the table, or one of those replaced since.
func (m *mark) made(job connector.JobID) bool {
	return m != nil && (m.Job == job || slices.Contains(m.Past, job))
}

// replaces says of the mark which table gives way.
func (m *mark) replaces(old *table) {
	if old.mark != nil {
		m.Past = append(slices.Clone(old.mark.Past), old.mark.Job)
		m.Past = m.Past[max(0, len(m.Past)-maxPast):]
	}
}

// unmarked takes the mark of a table's comment out of the server's statement.
func (t *table) unmarked(text string) string {
	if t.mark == nil {
		return text
	}
	was, is := " COMMENT="+serverLiteral(t.fullComment), ""
	if t.comment != "" {
		is = " COMMENT=" + serverLiteral(t.comment)
	}
	if i := strings.LastIndex(text, was); i >= 0 {
		text = text[:i] + is + text[i+len(was):]
	}
	return text
}

// serverLiteral writes a text as SHOW CREATE TABLE does.
func serverLiteral(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "\x00", `\0`, "\n", `\n`, "\r", `\r`, "'", "''").Replace(text) + "'"
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
