package session_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// hostileNames are names that a statement can only have in back-quotes.
func hostileNames() []string {
	return []string{"t", "We\"ird; drop table x; --", "it's", "a``b", "select", "äöü ☃", "a.b", "-- x", "/* y", " lead", "new\nline", "100%", `back\slash`}
}

// What SHOW CREATE VIEW prints makes the same view again, whatever the names, stored and temporary.
func TestShowCreateViewMakesTheSame(t *testing.T) {
	w := newWorld(t, nil)
	for i, name := range hostileNames() {
		base, column, other := "`base of "+name+"`", "`"+name+"`", "`x "+name+"`"
		require.Equal(t, "ok\n1 rows written\n", w.script(t, "CREATE TABLE "+base+" ("+column+" STRING, "+other+" INT); INSERT INTO "+base+" VALUES ('it''s; --', 1)", false))
		temporary := ""
		if i%2 == 1 {
			temporary = "TEMPORARY "
		}
		list, comment := "", ""
		if i%3 == 0 {
			list, comment = " (`1 "+name+"`, `2 "+name+"`)", " COMMENT 'it''s; -- "+strings.ReplaceAll(name, "'", "''")+"'"
		}
		view := "`" + name + " as a view`"
		require.Equal(t, "ok\n", w.script(t, "CREATE "+temporary+"VIEW "+view+list+comment+" AS SELECT v.*  FROM "+base+" AS v WHERE "+column+" LIKE 'it''s; --' OR "+other+" IN (1, 2)", false))
		shown := w.script(t, "SHOW CREATE VIEW "+view, false)
		described := w.script(t, "DESCRIBE "+view+"; SELECT * FROM "+view, false)
		text, ok := strings.CutPrefix(shown, "result\n")
		require.True(t, ok, shown)
		require.Equal(t, "ok\nok\n", w.script(t, "DROP "+temporary+"VIEW "+view+";"+text, false), text)
		require.Equal(t, shown, w.script(t, "SHOW CREATE VIEW "+view, false))
		require.Equal(t, described, w.script(t, "DESCRIBE "+view+"; SELECT * FROM "+view, false))
	}
}
