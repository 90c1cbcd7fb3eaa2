package session

import (
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/sqlparse"
)

// isSlip reports whether a value that nothing declares may be shown all the same: where the connector or type
// is unknown, that of a key which somebody declares public and nobody declares secret; and that of a key which
// is rather a misspelt public one.
func (s *Session) isSlip(stmt sqlparse.Statement, declared []connector.Option, key, value string) bool {
	if _, isSet := stmt.(*sqlparse.Set); isSet || sqlparse.IsSecretKey(key) || connector.ScrubURL(value) != value {
		return false
	}
	if len(declared) <= 1 { // the key that names the connector or type, and no more
		declared = declared[:len(declared):len(declared)]
		for _, d := range s.declarers() {
			declared = append(declared, d.options...)
		}
	}
	public := false
	var names []string
	for _, o := range declared {
		if names = append(names, o.Key); !o.Matches(key) {
			continue
		}
		if !o.Public {
			return false
		}
		public = true
	}
	meant := connector.Closest(key, names)
	if public || meant == "" || sqlparse.IsSecretKey(meant) {
		return public
	}
	for _, o := range declared {
		if o.Key == meant && !o.Public {
			return false
		}
	}
	return true
}
