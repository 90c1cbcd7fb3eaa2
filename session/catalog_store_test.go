package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Catalogs that the store file keeps are there in the next session, as they were altered, and are opened
// when they are first used; a catalog that cannot be opened any more can be dropped.
func TestCatalogStore(t *testing.T) {
	dir, rows := t.TempDir(), t.TempDir()
	options := map[string]string{"table.catalog-store.kind": "file", "table.catalog-store.file.path": filepath.Join(dir, "kept")}
	kept := "info: Catalogs are kept in " + filepath.Join(dir, "kept")

	require.NoError(t, os.Mkdir(filepath.Join(rows, "gone"), 0o755))
	first := newWorld(t, options)
	require.Contains(t, first.script(t, "SHOW CATALOGS", false), kept)
	require.NoDirExists(t, filepath.Join(dir, "kept"), "nothing is kept yet")
	require.Equal(t, "info: There is no file "+rows+"/shop.db yet; the first CREATE TABLE makes it.\nok\n1 rows written\nok\nok\n", first.script(t, `
		CREATE CATALOG shop COMMENT 'it''s' WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:`+rows+`/shop.db');
		CREATE TABLE shop.shop.t AS SELECT 42 AS a;
		CREATE CATALOG gone WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:`+rows+`/gone/');
		CREATE CATALOG `+"`we\"ird; drop table x; --`"+` WITH ('type' = 'generic_in_memory');`, false))
	require.Equal(t, "ok\nok\n", first.script(t, "ALTER CATALOG shop SET ('default-database' = 'books'); ALTER CATALOG shop COMMENT 'books'", false))
	shown := first.script(t, "SHOW CREATE CATALOG shop", false)
	require.NoError(t, first.Close())
	require.NoError(t, os.Remove(filepath.Join(rows, "gone")))

	second := newWorld(t, options)
	require.Equal(t, kept+".\ncatalog name\ndefault_catalog\ngone\nshop\nwe\"ird; drop table x; --\n", second.script(t, "SHOW CATALOGS", false))
	require.Equal(t, shown, second.script(t, "SHOW CREATE CATALOG shop", false))
	require.Equal(t, "ok\ncurrent database name\nbooks\na INT NOT NULL\n42\n", second.script(t, "USE CATALOG shop; SHOW CURRENT DATABASE; SELECT * FROM shop.books.t", false))
	require.Contains(t, second.script(t, "SHOW TABLES FROM gone.x", false), rows)
	require.Equal(t, "ok\nok\n", second.script(t, "DROP CATALOG gone; DROP CATALOG `we\"ird; drop table x; --`", false))

	third := newWorld(t, options)
	require.Contains(t, third.script(t, "SHOW CATALOGS", false), "catalog name\ndefault_catalog\nshop\n")
	require.Contains(t, third.script(t, "USE CATALOG gone", false), "A catalog with name [gone] does not exist.")

	// Without the option nothing of it is there.
	fourth := newWorld(t, nil)
	require.Contains(t, fourth.script(t, "SHOW CATALOGS", false), "catalog name\ndefault_catalog\n")

	// What cannot be read is told, and the rest of the shell works.
	require.NoError(t, os.RemoveAll(filepath.Join(dir, "kept")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "kept"), nil, 0o600))
	fifth := newWorld(t, options)
	require.Contains(t, fifth.script(t, "SHOW CATALOGS", false), "Not all are listed: ")
	require.Equal(t, "EXPR$0 INT NOT NULL\n1\n", fifth.script(t, "SELECT 1", false))
}
