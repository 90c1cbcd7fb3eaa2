package mysql

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/internal/testserver"
	"github.com/sluice-sql/sluice/types"
)

// The answer to a statement that commits by itself is lost: that it failed is not said, nor that it did not.
func TestChangeWithoutAnswer(t *testing.T) {
	f := setUp(t)
	other := f.db + "_x"
	defer f.sql("DROP DATABASE IF EXISTS " + other)
	def := server.Definition{Schema: schema(t, "a INT")}
	for _, x := range []struct {
		setup, statement, want string
		do                     func(s *Server) error
	}{
		{"CREATE TABLE t (a INT); INSERT INTO t VALUES (1)", "TRUNCATE TABLE", "table t was truncated", func(s *Server) error { return f.openBy(s, "t").Truncate(f.ctx) }},
		{"", "CREATE TABLE", "table t was made", func(s *Server) error { _, err := s.CreateTable(f.ctx, f.db, "t", def); return err }},
		{"CREATE TABLE t (a INT)", "DROP TABLE", "table t was dropped", func(s *Server) error { return s.DropTable(f.ctx, f.db, "t", "") }},
		{"CREATE TABLE t (a INT)", "RENAME TABLE", "table t was renamed", func(s *Server) error { return s.RenameTable(f.ctx, f.db, "t", "u") }},
		{"CREATE TABLE t (a INT)", "ALTER TABLE", "table t was altered", func(s *Server) error {
			return s.AlterTable(f.ctx, f.db, "t", []server.Step{{Kind: server.AddColumn, Column: types.Column{Name: "b", Type: types.Of(types.Int)}}}, func(*server.TableInfo) bool { return true })
		}},
		{"CREATE VIEW v AS SELECT 1 AS a", "DROP VIEW", "view v was dropped", func(s *Server) error { return s.DropView(f.ctx, f.db, "v") }},
		{"", "CREATE DATABASE", "database " + other + " was made", func(s *Server) error { return s.CreateDatabase(f.ctx, other) }},
		{"CREATE DATABASE IF NOT EXISTS " + other, "DROP DATABASE", "database " + other + " was dropped", func(s *Server) error { return s.DropDatabase(f.ctx, other, false) }},
	} {
		for _, verdict := range []testserver.Verdict{testserver.Cut, testserver.PassAndCut} {
			f.sql("DROP TABLE IF EXISTS t, u; DROP VIEW IF EXISTS v; DROP DATABASE IF EXISTS " + other + ";" + x.setup)
			s, _ := f.through(func(d testserver.Direction, b []byte) testserver.Verdict {
				if d == testserver.ToServer && bytes.Contains(b, []byte(x.statement+" ")) && !bytes.Contains(b, []byte("SHOW")) {
					return verdict
				}
				return testserver.Pass
			})
			require.ErrorContains(t, x.do(s), "whether "+x.want+" is not known; look at it: MySQL server ", x.statement)
		}
	}
}

// What the server says of the hidden table is said of the one that it is for, with the limit.
func TestLimits(t *testing.T) {
	f := setUp(t)
	var wide types.Schema
	for i := range 1600 {
		wide.Columns = append(wide.Columns, types.Column{Name: "c" + string(rune('a'+i%26)) + string(rune('a'+i/26%26)) + string(rune('a'+i/676)), Type: types.Of(types.Int)})
	}
	tx := f.stage("t", server.Create, wide)
	err := tx.Begin(f.ctx, connector.NewJobID())
	require.ErrorContains(t, err, "table t: it has more columns than a table of InnoDB can have, 1017")
	require.NotContains(t, err.Error(), "_sluice")
	require.NoError(t, tx.Abort(f.ctx))
	_, err = f.s.CreateTable(f.ctx, f.db, "t", server.Definition{Schema: wide})
	require.ErrorContains(t, err, "table t: it has more columns than a table of InnoDB can have, 1017")
	full := &Error{errTableFull, "The table '_sluice_0_new' is full"}
	require.NotContains(t, limits(full).Error(), "_sluice")
	require.Equal(t, errTableFull, numberOf(limits(full)))
	require.Empty(t, f.ours())
}
