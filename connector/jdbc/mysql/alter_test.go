package mysql

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/types"
)

func (f *fixture) alter(name string, steps ...server.Step) error {
	return f.s.AlterTable(f.ctx, f.db, name, steps, func(*server.TableInfo) bool { return true })
}

func columnStep(kind server.StepKind, name, comment string) server.Step {
	return server.Step{Kind: kind, Column: types.Column{Name: name}, Comment: comment}
}

// All steps are taken or none; what the server keeps beside, it keeps.
func TestAlter(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(10) CHARACTER SET latin1 DEFAULT 'x,''\\\\' COMMENT 'it''s, a \\\\ \\n c', b INT COMMENT 'b' CHECK (b > 0), " +
		"g INT GENERATED ALWAYS AS (id + 1) STORED COMMENT 'gen', `we``i,rd (` INT, k INT, KEY (k)) ENGINE=InnoDB COMMENT='hi'; INSERT INTO t (id, b) VALUES (1, 2)")
	rename := func(from, to string) server.Step {
		return server.Step{Kind: server.RenameColumn, Column: types.Column{Name: from}, NewName: to}
	}
	add := func(name, typ, comment string) server.Step {
		return server.Step{Kind: server.AddColumn, Column: types.Column{Name: name, Type: parseType(t, typ)}, Comment: comment}
	}
	require.NoError(t, f.alter("t",
		columnStep(server.CommentColumn, "b", "it's \\ \"b\"\n"), rename("a", "aa"), columnStep(server.CommentColumn, "g", ""),
		columnStep(server.CommentColumn, "we`i,rd (", "w"), rename("we`i,rd (", "we`i"), add("n", "STRING", "new"), add("gone", "INT", ""), columnStep(server.DropColumn, "gone", ""),
		rename("n", "nn"), server.Step{Kind: server.CommentTable, Comment: "it's"}))
	require.Equal(t, "CREATE TABLE `t` (\n"+
		"  `id` int(11) NOT NULL,\n"+
		"  `aa` varchar(10) CHARACTER SET latin1 COLLATE latin1_swedish_ci DEFAULT 'x,''\\\\' COMMENT 'it''s, a \\\\ \\n c',\n"+
		"  `b` int(11) DEFAULT NULL COMMENT 'it''s \\\\ \"b\"\\n' CHECK (`b` > 0),\n"+
		"  `g` int(11) GENERATED ALWAYS AS (`id` + 1) STORED,\n"+
		"  `we``i` int(11) DEFAULT NULL COMMENT 'w',\n"+
		"  `k` int(11) DEFAULT NULL,\n"+
		"  `nn` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin DEFAULT NULL COMMENT 'new',\n"+
		"  PRIMARY KEY (`id`),\n"+
		"  KEY `k` (`k`)\n"+
		") ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci COMMENT='it''s'", f.createText("t"))

	require.NoError(t, f.alter("t", rename("b", "bb")))
	require.Contains(t, f.createText("t"), "`bb` int(11) DEFAULT NULL COMMENT 'it''s \\\\ \"b\"\\n' CHECK (`bb` > 0)")

	before := f.createText("t")
	for want, steps := range map[string][]server.Step{
		"column `k` is part of the index k":        {columnStep(server.DropColumn, "k", "")},
		"column `id` is part of the index PRIMARY": {columnStep(server.DropColumn, "id", "")},
		"column `x` is NOT NULL, and the rows":     {add("x", "INT NOT NULL", "")},
		"column `bb` has a CHECK, which MySQL":     {rename("bb", "bbb"), columnStep(server.CommentColumn, "bbb", "x")},
		"there is no column `nosuch`":              {rename("nosuch", "x")},
		"MySQL names cannot have a NUL":            {add("x\x00", "INT", "")},
		"MySQL keeps at most 6 decimals":           {add("x", "TIMESTAMP(9)", "")},
		"Duplicate column name 'aa'":               {columnStep(server.CommentColumn, "bb", "lost"), add("aa", "INT", "")},
	} {
		err := f.alter("t", steps...)
		var step *server.StepError
		require.ErrorAs(t, err, &step, want)
		require.ErrorContains(t, err, want)
		require.Equal(t, len(steps)-1, step.Index, want)
		require.Equal(t, before, f.createText("t"), want)
	}
	f.sql("DELETE FROM t")
	require.NoError(t, f.alter("t", add("x", "INT NOT NULL", "")))

	require.ErrorIs(t, f.alter("nosuch", rename("a", "b")), server.ErrNotThere)
	err := f.s.AlterTable(f.ctx, f.db, "t", []server.Step{rename("x", "y")}, func(*server.TableInfo) bool { return false })
	require.ErrorIs(t, err, server.ErrChanged)
	f.sql("CREATE VIEW v AS SELECT 1 AS one")
	require.ErrorContains(t, f.alter("v", rename("one", "two")), "v is a view")
}

// createText is the server's own statement of a table.
func (f *fixture) createText(name string) string {
	f.t.Helper()
	var text string
	require.NoError(f.t, f.s.with(f.ctx, f.db, func(c *conn) error {
		rows, err := c.query(f.ctx, "SHOW CREATE TABLE "+quote(name))
		if err == nil {
			text = rows[0][1].text
		}
		return err
	}))
	return text
}
