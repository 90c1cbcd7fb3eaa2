package mysql

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

// as returns the server as a user with rights in the database of the test, for whose password nobody asks.
func (f *fixture) as(rights string) *Server {
	f.t.Helper()
	f.sql("CREATE OR REPLACE USER few@'%'; GRANT " + rights + " ON `" + f.db + "`.* TO few@'%'")
	s := f.server(f.ts.Addr(), nil, nil)
	s.config.User, s.config.Password = "few", connector.NewSecret("")
	return s
}

// Of the rights that a hidden table needs one is missing: nothing is made, and the error has the right and the GRANT.
// Rows are inserted all the same.
func TestRights(t *testing.T) {
	f := setUp(t)
	defer f.sql("DROP USER few@'%'")
	f.sql("CREATE TABLE t (a INT) ENGINE=InnoDB")
	all := []string{"CREATE", "DROP", "ALTER", "INSERT"}
	for _, without := range all {
		has := slices.DeleteFunc(slices.Clone(all), func(r string) bool { return r == without })
		s := f.as(strings.Join(has, ", ") + ", SELECT")
		for name, mode := range map[string]server.Mode{"t": server.Replace, "u": server.Create} {
			tx := s.Stage(server.Target{Database: f.db, Table: name, Definition: server.Definition{Schema: schema(t, "a INT")}, Mode: mode})
			tx.(connector.Evident).NoteEvidence(func(string) error { return nil })
			err := tx.Begin(f.ctx, connector.NewJobID())
			require.ErrorContains(t, err, "table "+name+": the user has not got the right "+without+" in database "+f.db, without)
			require.ErrorContains(t, err, "GRANT CREATE, DROP, ALTER, INSERT ON `"+f.db+"`.* TO 'few'@'%'", without)
			require.Empty(t, f.ours(), without)
			require.NoError(t, tx.Abort(f.ctx))
			require.Empty(t, f.ours(), without)
		}
		for _, overwrite := range []bool{false, true} {
			if without == "INSERT" {
				continue
			}
			f.sql("GRANT DELETE ON `" + f.db + "`.* TO few@'%'")
			tx, err := f.openBy(s, "t").Transaction(f.ctx, connector.Insert{Columns: []int{0}, Overwrite: overwrite})
			require.NoError(t, err)
			note := ""
			tx.(connector.Evident).NoteEvidence(func(text string) error { note = text; return nil })
			_, err = f.write(tx, numbers(0, 3))
			require.NoError(t, err, without)
			require.Equal(t, without == "ALTER", strings.Contains(f.ours(), "_mark"), without)
			out, err := tx.Commit(f.ctx)
			require.NoError(t, err, without)
			require.Equal(t, connector.Done, out)
			require.Equal(t, without == "ALTER", note != "")
			require.Empty(t, f.ours(), without)
		}
	}
	require.NoError(t, f.fits(f.as("CREATE, DROP, ALTER, INSERT, SELECT")))
}

// fits makes a table.
func (f *fixture) fits(s *Server) error {
	tx := s.Stage(server.Target{Database: f.db, Table: "u", Definition: server.Definition{Schema: schema(f.t, "a INT")}})
	if _, err := f.write(tx, numbers(0, 3)); err != nil {
		return err
	}
	_, err := tx.Commit(f.ctx)
	return err
}
