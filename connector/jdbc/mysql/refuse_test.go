package mysql

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/internal/testserver"
	"github.com/sluice-sql/sluice/types"
)

// What would go with a replaced table is named, and the table stays as it is.
func TestReplaceRefuses(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE parent (id INT PRIMARY KEY) ENGINE=InnoDB")
	for ddl, want := range map[string]string{
		"CREATE TABLE t (a INT, KEY k (a))":                                                    "index k",
		"CREATE TABLE t (a INT, UNIQUE u (a))":                                                 "index u",
		"CREATE TABLE t (a INT AUTO_INCREMENT PRIMARY KEY)":                                    "AUTO_INCREMENT of column a",
		"CREATE TABLE t (a INT, g INT AS (a + 1) STORED)":                                      "generated column g",
		"CREATE TABLE t (a INT DEFAULT 5)":                                                     "default of column a",
		"CREATE TABLE t (a TIMESTAMP NULL ON UPDATE CURRENT_TIMESTAMP)":                        "ON UPDATE of column a",
		"CREATE TABLE t (a INT COMMENT 'x')":                                                   "comment of column a",
		"CREATE TABLE t (a INT) COMMENT='x'":                                                   "its comment",
		"CREATE TABLE t (a INT, CHECK (a > 0))":                                                "CHECK",
		"CREATE TABLE t (a INT) PARTITION BY HASH (a) PARTITIONS 2":                            "its partitions",
		"CREATE TABLE t (a INT) ENGINE=MyISAM":                                                 "its engine (MyISAM)",
		"CREATE TABLE t (a INT, CONSTRAINT fk FOREIGN KEY (a) REFERENCES parent (id))":         "foreign key fk",
		"CREATE TABLE t (a INT PRIMARY KEY); CREATE TABLE c (x INT REFERENCES t (a))":          "foreign key c_ibfk_1 of table",
		"CREATE TABLE t (a INT); CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW SET @x = 1": "trigger tr",
		"CREATE TABLE t (a BIGINT, z INT); CREATE VIEW v AS SELECT z FROM t":                   "view",
		"CREATE TABLE t (s TEXT CHARACTER SET ascii, a INT)":                                   "the collation of column s (ascii_general_ci)",
		"CREATE TABLE t (s TEXT CHARACTER SET ascii COMMENT '', a INT) /* gone */":             "the collation of column s (ascii_general_ci)",
		"CREATE TABLE t (s TEXT, a INT) COLLATE utf8mb4_swedish_ci":                            "the collation of column s (utf8mb4_swedish_ci)",
	} {
		f.sql("DROP VIEW IF EXISTS v; DROP TABLE IF EXISTS c; DROP TABLE IF EXISTS t; " + ddl)
		before := f.createText("t")
		into := schema(t, "a INT")
		if strings.Contains(ddl, "s TEXT") && !strings.Contains(ddl, "gone") {
			into = schema(t, "a INT", "s STRING")
		}
		tx := f.stage("t", server.Replace, into)
		_, err := f.write(tx, numbers(0, 1))
		require.ErrorContains(t, err, "table t is not replaced, since with the old table would be lost: ", ddl)
		require.ErrorContains(t, err, want, ddl)
		require.NoError(t, tx.Abort(f.ctx))
		_, _, err = f.s.CheckStage(f.ctx, server.Target{Database: f.db, Table: "t", Definition: server.Definition{Schema: into}, Mode: server.CreateOrReplace})
		require.ErrorContains(t, err, want, ddl)
		require.Equal(t, before, f.createText("t"), ddl)
	}
	// Views that find all they name again, and grants, stay.
	f.sql("DROP VIEW IF EXISTS v; DROP TABLE IF EXISTS c; DROP TABLE IF EXISTS t; CREATE TABLE t (a INT); CREATE VIEW v AS SELECT a FROM t; GRANT SELECT ON t TO '" + testserver.User + "'@'%'")
	f.done(f.stage("t", server.Replace, schema(t, "a INT", "b INT")))
	require.Empty(t, f.sql("SELECT * FROM v"))
	require.Contains(t, f.sql("SHOW GRANTS FOR '"+testserver.User+"'@'%'"), "GRANT SELECT ON `"+f.db+"`.`t`")
	require.Empty(t, f.ours())
}

// A collation that the database gives to all its tables is nobody's choice: it gives way, and EXPLAIN says so.
func TestReplaceCollation(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE t (s TEXT, gone TEXT, a INT)")
	into := schema(t, "a INT", "s STRING")
	_, notes, err := f.s.CheckStage(f.ctx, server.Target{Database: f.db, Table: "t", Definition: server.Definition{Schema: into}, Mode: server.Replace})
	require.NoError(t, err)
	require.Contains(t, notes, "the new table's texts have the collation utf8mb4_nopad_bin, which tells them all apart; the old table's columns have another: s (utf8mb4_general_ci)")
	tx := f.stage("t", server.Replace, into)
	f.done(tx)
	_, notes, err = f.s.CheckStage(f.ctx, server.Target{Database: f.db, Table: "t", Definition: server.Definition{Schema: into}, Mode: server.Replace})
	require.NoError(t, err)
	require.NotContains(t, strings.Join(notes, "\n"), "collation")
}

// Without the right SHOW VIEW nobody is told what a view uses: it may be the table that is to be replaced by one of other
// columns.
func TestReplaceUnseenView(t *testing.T) {
	f := setUp(t)
	user := "u" + f.db
	f.sql("CREATE TABLE t (a BIGINT, z INT); CREATE VIEW v AS SELECT z FROM t; CREATE USER '" + user + "'@'%' IDENTIFIED BY " + literal(testserver.Password) +
		"; GRANT SELECT, INSERT, CREATE, ALTER, DROP ON " + f.db + ".* TO '" + user + "'@'%'")
	defer f.sql("DROP USER '" + user + "'@'%'")
	s := Dialect{}.Server(server.Config{Host: "127.0.0.1", Port: f.ts.Port, User: user, Password: connector.NewSecret(testserver.Password)})
	target := func(columns ...string) server.Target {
		return server.Target{Database: f.db, Table: "t", Definition: server.Definition{Schema: schema(t, columns...)}, Mode: server.Replace}
	}
	_, _, err := s.CheckStage(f.ctx, target("a INT"))
	require.ErrorContains(t, err, "view "+f.db+".v maybe (what it uses is seen with the right SHOW VIEW on it)")
	_, _, err = s.CheckStage(f.ctx, target("a BIGINT", "z INT", "more INT"))
	require.NoError(t, err)
	f.sql("GRANT SHOW VIEW ON " + f.db + ".* TO '" + user + "'@'%'")
	_, _, err = s.CheckStage(f.ctx, target("a INT"))
	require.ErrorContains(t, err, "would be lost: view "+f.db+".v;")
	f.sql("DROP VIEW v; CREATE VIEW v AS SELECT 1 AS z")
	_, _, err = s.CheckStage(f.ctx, target("a INT"))
	require.NoError(t, err)
}

// Tables whose writes could not be undone are refused by the name of their engine.
func TestEngines(t *testing.T) {
	f := setUp(t)
	for _, engine := range []string{"MyISAM", "Aria", "MEMORY", "CSV"} {
		f.sql("DROP TABLE IF EXISTS t; CREATE TABLE t (a INT NOT NULL) ENGINE=" + engine)
		tx, err := f.open("t").Transaction(f.ctx, connector.Insert{Columns: []int{0}})
		if err == nil {
			err = tx.Begin(f.ctx, connector.NewJobID())
			require.NoError(t, tx.Abort(f.ctx))
		}
		require.ErrorContains(t, err, "table t has the engine "+engine+", which has no transactions")
		require.ErrorContains(t, f.open("t").Truncate(f.ctx), "engine "+engine)
	}
	require.Empty(t, f.ours())
}

// What a trigger writes to a table without transactions cannot be undone, and is told of.
func TestTriggerWithoutTransactions(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE log (a INT) ENGINE=Aria; CREATE TABLE kept (a INT) ENGINE=InnoDB; CREATE TABLE t (a INT NOT NULL PRIMARY KEY) ENGINE=InnoDB; INSERT INTO t VALUES (2)")
	for table, want := range map[string]string{
		"log":  "a trigger of table t has written to tables without transactions, such as those of MyISAM: the table is as it was, and what the trigger wrote there stays",
		"kept": "",
	} {
		f.sql("CREATE OR REPLACE TRIGGER g BEFORE INSERT ON t FOR EACH ROW INSERT INTO " + table + " VALUES (NEW.a)")
		tx, err := f.open("t").Transaction(f.ctx, connector.Insert{Columns: []int{0}})
		require.NoError(t, err)
		_, err = f.write(tx, numbers(0, 5))
		require.ErrorContains(t, err, "duplicate key '2'")
		err = tx.Abort(f.ctx)
		if want == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, want)
		}
		require.Equal(t, "2\n", f.sql("SELECT * FROM t"))
	}
	require.Empty(t, f.sql("SELECT * FROM kept"))
	require.Empty(t, f.ours())
}

// Names are data: whatever characters they have. What the server has no name for is refused.
func TestNames(t *testing.T) {
	f := setUp(t)
	for _, name := range []string{"a`b", "x` (\ny", "it's", `back\slash`, "a.b", "%s", "-- ", "/*", "ключ", strings.Repeat("n", 64), strings.Repeat("ü", 64), `"q"`, "; DROP TABLE t"} {
		if strings.HasSuffix(name, " ") {
			require.ErrorContains(t, checkNew(name), "cannot end with a blank")
			continue
		}
		s := schema(t, "a INT")
		s.Columns = append(s.Columns, types.Column{Name: name, Type: types.Of(types.Int)})
		b := numbers(0, 2)
		two := column.NewBatch([]types.Type{types.Of(types.Int), types.Of(types.Int)}, 2)
		for i := range 2 {
			two.Cols[0].AppendI64(int64(i))
			two.Cols[1].AppendI64(int64(i + 10))
		}
		two.N = b.N
		for _, mode := range []server.Mode{server.Create, server.Replace} {
			f.done(f.s.Stage(server.Target{Database: f.db, Table: name, Definition: server.Definition{Schema: s}, Mode: mode}), two)
		}
		tab := f.open(name)
		require.Equal(t, name, tab.schema.Columns[1].Name)
		require.Equal(t, "0|10\n1|11\n", f.text(tab), name)
		tx, err := tab.Transaction(f.ctx, connector.Insert{Columns: []int{1}})
		require.NoError(t, err)
		f.done(tx, numbers(5, 1))
		require.NoError(t, f.alter(name, server.Step{Kind: server.RenameColumn, Column: types.Column{Name: name}, NewName: "b"}, columnStep(server.CommentColumn, "b", name)))
		require.NoError(t, f.s.RenameTable(f.ctx, f.db, name, "plain"))
		require.NoError(t, f.s.DropTable(f.ctx, f.db, "plain", ""))
		require.Empty(t, f.ours(), name)
	}
	for name, want := range map[string]string{
		"":                      "no empty names",
		"a\x00b":                "NUL",
		strings.Repeat("n", 65): "65 characters, and MySQL takes 64",
		"end ":                  "end with a blank",
		"end\n":                 "end with a blank",
		"\xff":                  "not valid UTF-8",
		"smile 😀":               "cannot have the character",
		"_sluice_x":             "kept for Sluice's own",
		"_SLUICE_":              "kept for Sluice's own",
	} {
		_, _, err := f.s.CheckTable(name, server.Definition{Schema: schema(t, "a INT")})
		require.ErrorContains(t, err, want)
		_, err = f.s.CreateTable(f.ctx, f.db, name, server.Definition{Schema: schema(t, "a INT")})
		require.ErrorContains(t, err, want)
		info, _, err := f.s.Describe(f.ctx, f.db, name)
		require.NoError(t, err)
		require.Nil(t, info)
	}
}

// What the server is set up to do for others does not change what is done here.
func TestServerSettings(t *testing.T) {
	f := setUp(t)
	was := strings.Fields(f.sql("SELECT @@GLOBAL.max_allowed_packet, @@GLOBAL.wait_timeout, @@GLOBAL.net_read_timeout"))
	mode := strings.TrimSpace(f.sql("SELECT @@GLOBAL.sql_mode"))
	defer f.sql("SET GLOBAL max_allowed_packet=" + was[0] + ", GLOBAL wait_timeout=" + was[1] + ", GLOBAL net_read_timeout=" + was[2] + ", GLOBAL autocommit=1, GLOBAL sql_mode='" + mode + "', GLOBAL time_zone='+00:00'")
	f.sql("SET GLOBAL max_allowed_packet=65536, GLOBAL wait_timeout=1, GLOBAL net_read_timeout=1, GLOBAL autocommit=0, GLOBAL sql_mode='ANSI_QUOTES,NO_BACKSLASH_ESCAPES,PIPES_AS_CONCAT,IGNORE_SPACE', GLOBAL time_zone='+05:30'")
	typ := types.String()
	text := func(lengths ...int) *column.Batch {
		b := column.NewBatch([]types.Type{typ}, len(lengths))
		for _, n := range lengths {
			b.Cols[0].AppendBytes([]byte(strings.Repeat(`\'"`, n/3)))
		}
		b.N = len(lengths)
		return b
	}
	s := types.Schema{Columns: []types.Column{{Name: "c", Type: typ}}}
	f.done(f.stage("t", server.Create, s), text(3000, 3000, 9000, 24000, 24000, 3, 3000))
	require.Equal(t, "7\t66003\n", f.sql("SELECT COUNT(*), SUM(LENGTH(c)) FROM t"))
	tx := f.stage("u", server.Create, s)
	_, err := f.write(tx, text(3, 90000))
	require.ErrorContains(t, err, "table u, row 2: the row takes ")
	require.ErrorContains(t, err, "and the server's max_allowed_packet is 65536")
	require.NoError(t, tx.Abort(f.ctx))

	// Values that do not fit are errors although the server's own mode is lenient.
	f.sql("CREATE TABLE n (a TINYINT NOT NULL) ENGINE=InnoDB")
	tab, err := f.s.OpenTable(f.ctx, f.db, "n", schema(t, "a INT"))
	require.NoError(t, err)
	tx, err = tab.(*Table).Transaction(f.ctx, connector.Insert{Columns: []int{0}})
	require.NoError(t, err)
	_, err = f.write(tx, numbers(120, 20))
	require.ErrorContains(t, err, "table n, row 9: ")
	require.NoError(t, tx.Abort(f.ctx))
	require.Equal(t, "0\n", f.sql("SELECT COUNT(*) FROM n"))
	require.Empty(t, f.ours())
}

// The password is in no error.
func TestNoSecret(t *testing.T) {
	f := setUp(t)
	wrong := Dialect{}.Server(server.Config{Host: "127.0.0.1", Port: f.ts.Port, User: "nobody", Password: connector.NewSecret(testserver.Password)})
	err := wrong.Ping(f.ctx, "")
	require.ErrorContains(t, err, "nobody")
	require.NotContains(t, err.Error(), testserver.Password)
	down := Dialect{}.Server(server.Config{Host: "127.0.0.1", Port: 1, User: "nobody", Password: connector.NewSecret(testserver.Password)})
	err = down.Ping(f.ctx, "")
	require.ErrorContains(t, err, "cannot be reached: connection refused")
	require.NotContains(t, err.Error(), testserver.Password)
	err = f.s.with(f.ctx, "", func(c *conn) error { _, err := c.exec(f.ctx, "SELECT "+testserver.Password); return err })
	require.Error(t, err)
	require.NotContains(t, err.Error(), testserver.Password)
}

// Limits that the server puts on its sessions by itself do not cut what is read, nor end a transaction of ours.
func TestServerLimits(t *testing.T) {
	f := setUp(t)
	defer f.sql("SET GLOBAL sql_select_limit=DEFAULT, GLOBAL completion_type=DEFAULT")
	f.sql("CREATE TABLE s (a INT) ENGINE=InnoDB; INSERT INTO s VALUES (1), (2), (3); SET GLOBAL sql_select_limit=1, GLOBAL completion_type=2")
	f.done(f.stage("t", server.Create, schema(t, "a INT")), numbers(1, 3))
	require.Equal(t, "3\n", f.sql("SELECT COUNT(*) FROM t"))
	c, err := f.s.connect(f.ctx, f.db)
	require.NoError(t, err)
	defer c.close()
	rows, err := c.query(f.ctx, "SELECT a FROM s")
	require.NoError(t, err)
	require.Len(t, rows, 3)
}

// A table that is altered between the plan and the first row is not written: its columns would round.
func TestAlteredBeforeFirstRow(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE s (a INT) ENGINE=InnoDB")
	tab, err := f.s.OpenTable(f.ctx, f.db, "s", schema(t, "a INT"))
	require.NoError(t, err)
	tx, err := tab.(*Table).Transaction(f.ctx, connector.Insert{Columns: []int{0}})
	require.NoError(t, err)
	require.NoError(t, tx.Begin(f.ctx, connector.NewJobID()))
	_, err = f.ts.TryQuery(f.db, "SET lock_wait_timeout=1; ALTER TABLE s MODIFY a TINYINT")
	require.Error(t, err) // the transaction holds it
	require.NoError(t, tx.Abort(f.ctx))
}
