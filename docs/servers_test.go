package docs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/connector/jdbc"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

const postgresDoc = "# PostgreSQL: catalogs, tables, types\n\nPrinted from `connector/jdbc/postgres`.\n\n" +
	"    CREATE CATALOG pg WITH ('type' = 'jdbc', 'base-url' = 'jdbc:postgresql://localhost:5432/shop',\n" +
	"      'username' = 'me', 'password' = 'env:PGPASSWORD');\n" +
	"    USE CATALOG pg;\n\n" +
	"A catalog is a server, seen as one user; its databases are the server's. A table of the schema `public` has its own\n" +
	"name, one of another schema is written `schema.table` in back-quotes, as one name: ``pg.shop.`sales.orders` ``.\n" +
	"`default-database`, or the one in `base-url`, is where USE CATALOG leads; without either it is `postgres`. CREATE and\n" +
	"DROP make and drop databases and tables; the server's views are listed, read and dropped, and SHOW CREATE shows its own\n" +
	"statement.\n"

const mysqlDoc = "# MySQL and MariaDB: catalogs, tables, types\n\nPrinted from `connector/jdbc/mysql`.\n\n" +
	"    CREATE CATALOG my WITH ('type' = 'jdbc', 'base-url' = 'jdbc:mysql://localhost:3306/shop',\n" +
	"      'username' = 'me', 'password' = 'file:/home/me/.mysql-password');\n" +
	"    USE CATALOG my;\n\n" +
	"A catalog is a server, seen as one user; its databases are the server's. `jdbc:mariadb:` is the same. A database is in\n" +
	"use once `default-database` or `base-url` names one, or USE enters one. CREATE and DROP make and drop databases and\n" +
	"tables; the server's views are listed, read and dropped, and SHOW CREATE shows its own statement.\n"

// passwordDoc is about what both have.
const passwordDoc = "\nA password need not stand in a statement: `env:NAME` is a variable of the environment, `file:PATH` a file. Only the\n" +
	"place is kept, and read when the catalog is opened. A password that is written out is shown nowhere, and kept where\n" +
	"catalogs are. One in the address is refused.\n"

func TestServers(t *testing.T) {
	for _, d := range jdbc.Dialects(nil).All() {
		page := map[string]string{"postgresql": postgresDoc, "mysql": mysqlDoc}[d.Name()]
		require.NotEmpty(t, page, d.Name())
		check(t, d.Name()+".md", page+passwordDoc+typeTables(t, d))
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
