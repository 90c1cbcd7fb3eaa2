package session_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/session"
)

// A catalog over a file that is not there is made, since CREATE TABLE makes the file, and says so; what is no
// database is refused at once.
func TestMissingFile(t *testing.T) {
	w := newWorld(t, nil)
	run := func(sql string) (string, error) {
		r, err := w.Execute(context.Background(), session.Text{SQL: sql})
		if err != nil {
			return "", err
		}
		defer r.Close()
		return r.Message, nil
	}
	says := "here is no file " + w.tmp + "/shop.db yet; the first CREATE TABLE makes it"
	shown := strings.ReplaceAll(says, w.tmp, "$TMP")
	message, err := run("CREATE CATALOG c WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:" + w.tmp + "/shop.db')")
	require.NoError(t, err)
	require.Equal(t, "T"+says+".", message)
	require.Contains(t, w.script(t, "SELECT * FROM c.shop.t", false), "Object 't' not found within 'c.shop'\n  SELECT * FROM c.shop.t\n                ^^^^^^^^\nhint: t"+shown)
	require.Contains(t, w.script(t, "DESCRIBE c.shop.t", false), "hint: t"+shown)
	message, err = run("CREATE TABLE c.shop.t (x INT)")
	require.NoError(t, err)
	require.Empty(t, message)
	require.NotContains(t, w.script(t, "SELECT * FROM c.shop.u", false), "no file")

	text := filepath.Join(w.tmp, "text.db")
	require.NoError(t, os.WriteFile(text, []byte("hello\n"), 0o600))
	for _, sql := range []string{
		"CREATE CATALOG d WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:" + text + "')",
		"ALTER CATALOG c SET ('base-url' = 'jdbc:sqlite:" + text + "')",
	} {
		_, err = run(sql)
		require.ErrorContains(t, err, text+": the file is not a SQLite database")
	}
	require.Equal(t, "catalog name\nc\ndefault_catalog\n", w.script(t, "SHOW CATALOGS LIKE '%'", false)[len("info: Catalogs are kept in memory and are gone with this session.\n"):])
	message, err = run("ALTER CATALOG c SET ('base-url' = 'jdbc:sqlite:" + w.tmp + "/gone.db')")
	require.NoError(t, err)
	require.Equal(t, "There is no file "+w.tmp+"/gone.db yet; the first CREATE TABLE makes it.", message)
}
