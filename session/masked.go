package session

import (
	"regexp"
	"strings"
	"time"

	"github.com/sluice-sql/sluice/sqlparse"
)

// assigned finds the text literals that stand behind an equals sign.
var assigned = regexp.MustCompile(`=\s*'(?:[^']|'')*'`)

// definition finds the beginnings of statements that may hold options.
var definition = regexp.MustCompile(`(?i)^\s*(?:EXPLAIN\b.*|CREATE|ALTER|SET)\b`)

// Masked returns the text of a statement as it may be kept: at the same length, without its secrets. Of a
// statement that does not parse, and so may hold a secret anywhere, every value of an option is masked.
func (s *Session) Masked(sql string) string {
	x := &execution{text: Text{SQL: sql}, masked: Text{SQL: sql}}
	stmt, err := sqlparse.Parse(sql)
	if err != nil && definition.MatchString(sql) {
		x.masked.SQL = assigned.ReplaceAllStringFunc(sql, func(m string) string {
			b := []byte(m)
			for i := strings.IndexByte(m, '\'') + 1; i < len(b)-1; i++ {
				if b[i] != '\n' {
					b[i] = '*'
				}
			}
			return string(b)
		})
	}
	if err == nil {
		x.stmt = stmt
		s.mask(x)
	}
	return s.scrubSource(x, x.masked.SQL)
}

// Zone returns the session's time zone.
func (s *Session) Zone() *time.Location { return location(s.Option(keyZone)) }
