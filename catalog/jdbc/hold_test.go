package jdbc

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"
)

// hold takes a file's exclusive lock until the process ends.
func hold(t *testing.T, path string) {
	db, err := sql.Open("sqlite3", path)
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	_, err = db.Exec("BEGIN EXCLUSIVE")
	require.NoError(t, err)
}
