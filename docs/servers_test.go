package docs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/connector/jdbc"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

const postgresDoc = "# PostgreSQL: catalogs, tables, types\n\nThe tables of options and types are printed from `connector/jdbc/postgres`. It is written for PostgreSQL 12 and later.\n\n" +
	"    CREATE CATALOG pg WITH ('type' = 'jdbc', 'base-url' = 'jdbc:postgresql://localhost:5432/shop',\n" +
	"      'username' = 'me', 'password' = 'env:PGPASSWORD');\n" +
	"    USE CATALOG pg;\n\n" +
	"A catalog is a server, seen as one user; its databases are the server's. `default-database`, or the one in `base-url`,\n" +
	"is where USE CATALOG leads; without either it is `postgres`. CREATE and DROP make and drop databases and tables, and\n" +
	"ALTER TABLE adds, drops and renames columns and sets comments. The server's views are listed, read and dropped; SHOW\n" +
	"CREATE VIEW shows its own statement.\n\n" +
	"## Names\n\n" +
	"A table of the schema `public` has its own name; one of another schema is written `schema.table`, as one name in\n" +
	"back-quotes: ``SELECT * FROM pg.shop.`sales.orders` ``. A part that has a dot in it, or begins with a double quote, goes\n" +
	"between double quotes: `` `\"a.b\"` `` is the table `a.b` of the schema `public`. A name has at most 63 bytes; a longer\n" +
	"one is refused, not cut. Schemas are made and dropped in psql.\n\n" +
	"## What a write does\n\n" +
	"Each is one transaction of the server, which makes it all or nothing, whatever happens to Sluice. CREATE TABLE AS fills a\n" +
	"table of a hidden name, which gets its own name last, so that nobody waits for it before. REPLACE TABLE AS refuses, and\n" +
	"names it, when something would be lost with the old table: views and foreign keys that lead to it, indexes, CHECKs\n" +
	"that do not stand for a type of Sluice's, triggers, rules, defaults, rights, comments. EXPLAIN tells of a PRIMARY KEY and of\n" +
	"NOT NULL that the new table has not. INSERT OVERWRITE keeps all of that. When the answer to a COMMIT is lost, the server is\n" +
	"asked what became of the transaction; only when it cannot be asked is the outcome in doubt, and the next session that\n" +
	"reaches it tells. All tables of one query are read from one snapshot, a large one by several connections; they are held\n" +
	"while they are read, so that who drops, replaces or truncates one waits for the reader.\n\n" +
	"## Keys\n\n" +
	"Sluice tells texts apart by every character. A collation that is not deterministic may not, nor may types such as `citext`,\n" +
	"and then a row with the key 'A' would replace that with 'a': INSERT with `'sink.on-conflict'`, and streaming into a PRIMARY\n" +
	"KEY, refuse them in the key; so they do `bpchar` without a length, and where they come as text `interval`, `jsonb` and\n" +
	"`numeric` without a scale. The tables that CREATE TABLE makes have none of them. A text for another type, such as `uuid`,\n" +
	"is the key that the server reads in it: a UUID in capitals is the same key. A row that meets another in a unique index\n" +
	"that is not the PRIMARY KEY's is an error, also in one of the same columns. UPDATE and DELETE go by the row's place, or in\n" +
	"a table that has parts by the PRIMARY KEY as it compares.\n\n" +
	"## Rights\n\n" +
	"Reading needs SELECT, and USAGE of the schema. CREATE TABLE AS needs CREATE in the schema, REPLACE TABLE AS and ALTER TABLE\n" +
	"the table's owner. INSERT, UPDATE, DELETE and TRUNCATE need the right of that name, and but for INSERT\n" +
	"to the whole table; UPDATE, DELETE and INSERT with 'sink.on-conflict' also TEMPORARY in the database, which everybody has unless it was taken.\n"

const mysqlDoc = "# MySQL and MariaDB: catalogs, tables, types\n\nThe tables of options and types are printed from `connector/jdbc/mysql`. It is written for MySQL 8.0.17 and MariaDB 10.6 and later.\n\n" +
	"    CREATE CATALOG my WITH ('type' = 'jdbc', 'base-url' = 'jdbc:mysql://localhost:3306/shop',\n" +
	"      'username' = 'me', 'password' = 'file:/home/me/.mysql-password');\n" +
	"    USE CATALOG my;\n\n" +
	"A catalog is a server, seen as one user; its databases are the server's. `jdbc:mariadb:` is the same. A database is in\n" +
	"use once `default-database` or `base-url` names one, or USE enters one. CREATE and DROP make and drop databases and\n" +
	"tables, and ALTER TABLE adds, drops and renames columns and sets comments. The server's views are listed, read and\n" +
	"dropped; SHOW CREATE VIEW shows its own statement.\n\n" +
	"## What a write does\n\n" +
	"CREATE TABLE AS fills a hidden table and publishes it by one RENAME TABLE, which fails when the name is taken by then.\n" +
	"REPLACE TABLE AS moves the old table aside in the same RENAME, and refuses, and names it, when something would be lost\n" +
	"with it: views and foreign keys that lead to it, indexes, triggers, defaults, comments, a collation that is not the\n" +
	"database's default. Views that the user may not see at all are not seen. What others do to the old table in the moment\n" +
	"before the RENAME counts as done before the REPLACE; but should they alter it then, or put another table in its place,\n" +
	"that is kept as `_sluice_<job>_kept`, and a warning tells of it at each use of the catalog until it is dropped (without\n" +
	"the right PROCESS one of the very same definition is not told from the old one). Rows go into a\n" +
	"table that is there in one transaction, which needs InnoDB; so does INSERT OVERWRITE. What a trigger writes to a table\n" +
	"without transactions stays when the statement fails, which its error says. The hidden tables of a job that was killed\n" +
	"are dropped by the next session that uses the catalog, from any host: the server itself knows that the job's session\n" +
	"is over. Only `_sluice_<job>_done`, or a `_sluice_<job>_mark` with a row, waits for the host that has the job's\n" +
	"journal: it tells that the commit happened, and goes once that host has used the catalog, or after seven days. UPDATE\n" +
	"and DELETE tell rows apart by the PRIMARY KEY or a unique index without NULLs, and are refused without one.\n" +
	"On Galera, and in a group with several primaries, where a lock is known to one node only, CREATE TABLE AS and REPLACE\n" +
	"TABLE AS are refused, and INSERT has no mark.\n\n" +
	"## What a read sees\n\n" +
	"All tables that one statement reads of a server are read from one snapshot. A server of this kind gives it to one session\n" +
	"alone, so that they are read one after the other; catalogs of the same address, user and parameters share it. They are held\n" +
	"until all are read: who drops, alters or replaces one waits for the reader. Tables without transactions, as those of MyISAM,\n" +
	"are read as they are when their turn comes.\n\n" +
	"## Keys\n\n" +
	"Sluice tells texts apart by every character, blanks at the end too. A collation of the server may not, and then a row with\n" +
	"the key 'A' would replace that with 'a': INSERT with `'sink.on-conflict'`, and streaming into a PRIMARY KEY, refuse a text\n" +
	"in the key whose collation is not one such as `utf8mb4_nopad_bin` (MariaDB) or `utf8mb4_0900_bin` (MySQL). The tables that\n" +
	"CREATE TABLE makes have it.\n\n" +
	"## Rights\n\n" +
	"Reading needs SELECT. CREATE TABLE AS needs CREATE, ALTER, DROP and INSERT in the database, and says so before it makes\n" +
	"anything; a REPLACE TABLE AS that waits for those who use the old table hears Ctrl-C where there is LOCK TABLES and SELECT, too.\n" +
	"INSERT, UPDATE and DELETE need\n" +
	"the right of that name, UPDATE and DELETE also CREATE TEMPORARY TABLES. With CREATE, DROP, INSERT and SELECT in the database such a\n" +
	"write has a table of one row beside it, which tells what became of it when the answer to the COMMIT is lost; without,\n" +
	"that is in doubt.\n"

// passwordDoc is about what both have.
const passwordDoc = "\n## Password\n\n" +
	"It need not stand in a statement: `env:NAME` is a variable of the environment, `file:PATH` a file, without the newline\n" +
	"at its end. Only the place is kept, and it is read when the catalog is opened. A password that is written out is shown\n" +
	"nowhere, and kept in the catalog store if there is one. One in the address is refused.\n"

const addressDoc = "\n## Address\n\n`jdbc:%s://host:port/database?parameter=value&…`; the port is %d unless given. Parameters are, with\n" +
	"values for example:\n\n%s\nOthers are refused, with the reason where there is one.\n"

// parameters are those of an address, each with a value that is taken.
func parameters() map[string][][2]string {
	return map[string][][2]string{
		"postgresql": {{"sslmode", "require"}, {"sslrootcert", "ca.pem"}, {"sslcert", "me.pem"}, {"sslkey", "me.key"}, {"connectTimeout", "5"}, {"ApplicationName", "nightly"}, {"options", "-c work_mem=64MB"}},
		"mysql":      {{"sslMode", "VERIFY_IDENTITY"}, {"serverSslCert", "ca.pem"}, {"connectTimeout", "5000"}, {"socketTimeout", "60000"}, {"tinyInt1isBit", "false"}, {"zeroDateTimeBehavior", "convertToNull"}},
	}
}

func TestServers(t *testing.T) {
	for _, d := range jdbc.Dialects(nil).All() {
		page := map[string]string{"postgresql": postgresDoc, "mysql": mysqlDoc}[d.Name()]
		require.NotEmpty(t, page, d.Name())
		var list []string
		for _, p := range parameters()[d.Name()] {
			require.Empty(t, d.CheckParameter(p[0], p[1]))
			list = append(list, "- `"+p[0]+"="+p[1]+"`\n")
		}
		page += passwordDoc + fmt.Sprintf(addressDoc, d.Name(), d.DefaultPort(), strings.Join(list, "")) + "\n## Options\n\nOf a catalog, and of a table `WITH ('connector' = 'jdbc')`.\n\n| option | default | values | what it is for |\n|---|---|---|---|\n"
		for _, o := range d.Options() {
			key := o.Key
			if o.Prefix {
				key += "#"
			}
			values := "any"
			if len(o.Allowed) > 0 {
				values = "`" + strings.Join(o.Allowed, "`, `") + "`"
			}
			preset := ""
			if o.Default != "" {
				preset = "`" + o.Default + "`"
			}
			page += fmt.Sprintf("| `%s` | %s | %s | %s |\n", key, preset, values, cell(o.Doc))
		}
		check(t, d.Name()+".md", page+typeTables(t, d))
	}
}

// typeTables prints a dialect's types: those that are written, then those that are only read.
func typeTables(t *testing.T, d server.Dialect) string {
	var written, read []server.TypeMapping
	for _, m := range d.TypeTable() {
		require.NotEmpty(t, m.Stored+m.Notes)
		if m.SQL == "" {
			read = append(read, m)
		} else {
			written = append(written, m)
		}
	}
	require.NotEmpty(t, written)
	require.NotEmpty(t, read)
	var b strings.Builder
	b.WriteString("\n## Written by CREATE TABLE and CREATE TABLE AS\n\n| SQL type | column of the server | read back as | notes |\n|---|---|---|---|\n")
	for _, m := range written {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", cell(m.SQL), cell(m.Stored), cell(m.Read), cell(m.Notes))
	}
	b.WriteString("\n## Read from existing tables\n\n| column of the server | read as | notes |\n|---|---|---|\n")
	for _, m := range read {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", cell(m.Stored), cell(m.Read), cell(m.Notes))
	}
	return b.String()
}
