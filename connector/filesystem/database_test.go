package filesystem

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	_ "github.com/mattn/go-sqlite3"
	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/connector"
)

// database makes a SQLite file that is in the WAL mode and has one open, so that all its files are there.
func database(t *testing.T, path string) {
	db, err := sql.Open("sqlite3", path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	_, err = db.Exec("PRAGMA journal_mode = WAL")
	require.NoError(t, err)
	_, err = db.Exec("CREATE TABLE t (a INT)")
	require.NoError(t, err)
}

// TestDatabases: no file of a database is read as text, whatever its name and whether SQLite has it open or not.
func TestDatabases(t *testing.T) {
	dir := t.TempDir()
	shop := filepath.Join(dir, "shop.db")
	database(t, shop)
	require.NoError(t, os.Symlink(shop, filepath.Join(dir, "link.csv")))
	require.NoError(t, os.Link(shop, filepath.Join(dir, "hard.csv")))
	require.NoError(t, os.Link(shop+"-shm", filepath.Join(dir, "shared.csv")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "rows.csv"), []byte("1\n2\n"), 0o600))
	const only = ", which only SQLite may open: read it through a catalog of type 'jdbc'"

	files := connector.NewFiles()
	read := func(path string, options ...string) error {
		tab, err := factory.Table(ctx, def(t, "a STRING", path, options...), &connector.Env{Memory: connector.NewMemory(64 << 20), Files: files})
		require.NoError(t, err)
		_, err = rows(tab.(*table), everything(tab.(*table)), 1)
		return err
	}
	for name, what := range map[string]string{
		"shop.db": "is a SQLite database", "link.csv": "is a SQLite database", "hard.csv": "is a SQLite database",
		"shop.db-wal": "belongs to the database " + shop, "shop.db-shm": "belongs to the database " + shop,
	} {
		require.EqualError(t, read(filepath.Join(dir, name)), filepath.Join(dir, name)+" "+what+only)
	}
	held, err := files.Database(filepath.Join(dir, "link.csv"))
	require.NoError(t, err)
	held.Opened()
	for _, name := range []string{"link.csv", "hard.csv", "shared.csv"} {
		require.EqualError(t, read(filepath.Join(dir, name)), filepath.Join(dir, name)+" is of the SQLite database "+shop+only)
	}
	require.EqualError(t, read(dir), filepath.Join(dir, "hard.csv")+" is of the SQLite database "+shop+only+"; 'source.path.regex-pattern' = '.*\\.csv' leaves it out")
	require.NoError(t, read(dir, keyPattern+" = .*rows.csv"))

	infer := Connector{Formats: factory.Formats, Files: files}
	_, err = infer.Infer(ctx, map[string]string{"path": shop, "format": "csv"})
	require.EqualError(t, err, shop+" is of the SQLite database "+shop+only)

	// A database that is renamed is the same file, also to those who come for its new name.
	require.NoError(t, os.Rename(shop, filepath.Join(dir, "moved.csv")))
	require.ErrorContains(t, read(filepath.Join(dir, "moved.csv")), "is of the SQLite database "+shop)
	held.Close()
	require.ErrorContains(t, read(filepath.Join(dir, "moved.csv")), "is a SQLite database")
}

// TestReadBeforeSQLite: SQLite does not open what is being read as text, until the reading ends.
func TestReadBeforeSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows.csv")
	require.NoError(t, os.WriteFile(path, []byte("1\n"), 0o600))
	files := connector.NewFiles()
	in, err := openFile(path, files)
	require.NoError(t, err)
	_, err = files.Database(path)
	require.EqualError(t, err, "database "+path+": this process reads it as a plain file at the moment, and SQLite's locks on it would be lost with the end of that")
	require.NoError(t, in.Close())
	d, err := files.Database(path)
	require.NoError(t, err)
	d.Close()
}
