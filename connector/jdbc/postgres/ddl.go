package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/types"
)

// maxColumns is what PostgreSQL takes.
const maxColumns = 1600

// systemColumns are the columns that every table has beside its own.
func systemColumns() []string { return []string{"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"} }

// ColumnError says that the server cannot hold a column.
type ColumnError = connector.ColumnError

// checkDefinition refuses what the server cannot hold.
func checkDefinition(table string, def server.Definition) error {
	if n := len(def.Schema.Columns); n == 0 {
		return fmt.Errorf("table %s has no columns", table)
	} else if n > maxColumns {
		return fmt.Errorf("table %s has %d columns; PostgreSQL takes at most %d", table, n, maxColumns)
	}
	for i, c := range def.Schema.Columns {
		if err := checkName("column", c.Name); err != nil {
			return &ColumnError{Column: c.Name, Msg: err.Error()}
		}
		if slices.Contains(systemColumns(), c.Name) {
			return &ColumnError{Column: c.Name, Msg: fmt.Sprintf("column %s: every table of PostgreSQL has a system column of this name; give it an alias", c.Name)}
		}
		if _, _, reason := declared(c.Type); reason != "" {
			return &ColumnError{Column: c.Name, Msg: fmt.Sprintf("column %s: %s", c.Name, reason)}
		}
		for _, other := range def.Schema.Columns[:i] {
			if other.Name == c.Name {
				return &ColumnError{Column: c.Name, Msg: "there are two columns " + c.Name}
			}
		}
		if strings.IndexByte(def.Comments[c.Name]+c.Comment, 0) >= 0 {
			return &ColumnError{Column: c.Name, Msg: fmt.Sprintf("column %s: its comment has a NUL character, which PostgreSQL cannot keep", c.Name)}
		}
	}
	for _, k := range def.Schema.PrimaryKey {
		if def.Schema.Index(k) < 0 {
			return &ColumnError{Column: k, Msg: "PRIMARY KEY names a column that is not there: " + k}
		}
	}
	if len(def.Schema.PrimaryKey) > 32 {
		return fmt.Errorf("table %s: a key of PostgreSQL has at most 32 columns", table)
	}
	if strings.IndexByte(def.Comment, 0) >= 0 {
		return fmt.Errorf("table %s: its comment has a NUL character, which PostgreSQL cannot keep", table)
	}
	return nil
}

// createSQL is the statement that makes a table under a name.
func createSQL(name string, schema types.Schema) string {
	var lines []string
	names := map[string]bool{}
	for _, c := range schema.Columns {
		sql, check, _ := declared(c.Type)
		line := quote(c.Name) + " " + sql
		if c.Type.NotNull || slices.Contains(schema.PrimaryKey, c.Name) {
			line += " NOT NULL"
		}
		if check != "" {
			// By itself the name would be made of the table's, which is not always its last one.
			line += " CONSTRAINT " + quote(derived(c.Name, "check", func(n string) bool { was := names[n]; names[n] = true; return was })) + " CHECK (" + strings.ReplaceAll(check, "$", quote(c.Name)) + ")"
		}
		lines = append(lines, line)
	}
	if len(schema.PrimaryKey) > 0 {
		lines = append(lines, "PRIMARY KEY ("+quoteAll(schema.PrimaryKey)+")")
	}
	return "CREATE TABLE " + name + " (\n  " + strings.Join(lines, ",\n  ") + "\n)"
}

// derived makes a name of another one and of what it is for, as PostgreSQL does, that is not taken.
func derived(name, what string, taken func(string) bool) string {
	for i := 0; ; i++ {
		end := "_" + what
		if i > 0 {
			end += strconv.Itoa(i)
		}
		cut := name
		for len(cut)+len(end) > maxName {
			_, size := utf8.DecodeLastRuneInString(cut)
			cut = cut[:len(cut)-size]
		}
		if !taken(cut + end) {
			return cut + end
		}
	}
}

// commentSQL are the statements that give a table its comments, each after a semicolon.
func commentSQL(name string, def server.Definition) string {
	var b strings.Builder
	if def.Comment != "" {
		b.WriteString(";\nCOMMENT ON TABLE " + name + " IS " + literal(def.Comment))
	}
	for _, c := range def.Schema.Columns {
		comment := def.Comments[c.Name]
		if comment == "" {
			comment = c.Comment
		}
		if comment != "" {
			b.WriteString(";\nCOMMENT ON COLUMN " + name + "." + quote(c.Name) + " IS " + literal(comment))
		}
	}
	return b.String()
}

// CheckTable says how a table would be declared.
func (s *Server) CheckTable(table string, def server.Definition) (ddl string, stored []string, err error) {
	rel, err := newRelation(table)
	if err != nil {
		return "", nil, err
	}
	if err := checkDefinition(table, def); err != nil {
		return "", nil, err
	}
	for _, c := range def.Schema.Columns {
		stored = append(stored, storedForm(c.Type))
	}
	return createSQL(rel.sql(), def.Schema) + commentSQL(rel.sql(), def), stored, nil
}

// change runs f in one transaction and commits it. When it cannot be known whether it was, the error says so.
func (s *Server) change(ctx context.Context, database string, f func(*conn) error) error {
	c, err := s.connect(ctx, database)
	if err != nil {
		return err
	}
	defer c.close()
	if _, err := c.exec(ctx, "BEGIN"); err != nil {
		return err
	}
	if err := f(c); err != nil {
		return err // closing rolls back
	}
	out, err := s.commit(ctx, c, nil)
	switch out {
	case connector.Done:
		return nil
	case connector.Unknown:
		return fmt.Errorf("it is not known whether the change was committed, look before trying again: %w", err)
	}
	return err
}

// CreateTable makes an empty table.
func (s *Server) CreateTable(ctx context.Context, database, table string, def server.Definition) (identity string, err error) {
	rel, err := newRelation(table)
	if err != nil {
		return "", err
	}
	if err := checkDefinition(table, def); err != nil {
		return "", err
	}
	err = s.change(ctx, database, func(c *conn) error {
		if err := c.free(ctx, rel); err != nil {
			return err
		}
		err := c.locked(ctx, rel.String(), func(ctx context.Context) error {
			_, err := c.exec(ctx, createSQL(rel.sql(), def.Schema)+commentSQL(rel.sql(), def))
			return err
		})
		if err != nil {
			return taken(rel, err)
		}
		_, _, identity, err = c.find(ctx, rel)
		return err
	})
	return identity, err
}

// free returns an *server.ExistsError when a name is taken.
func (c *conn) free(ctx context.Context, rel relation) error {
	oid, kind, _, err := c.find(ctx, rel)
	if err != nil {
		return err
	}
	if oid != "" {
		return &server.ExistsError{Table: rel.String(), Kind: kindName(kind)}
	}
	return c.schemaThere(ctx, rel)
}

// schemaThere refuses a schema that is not there.
func (c *conn) schemaThere(ctx context.Context, rel relation) error {
	r, err := c.query(ctx, "SELECT pg_catalog.has_schema_privilege(n.oid, 'CREATE') FROM pg_catalog.pg_namespace n WHERE n.nspname = $1", rel.schema)
	switch {
	case err != nil:
		return err
	case len(r.rows) == 0:
		return fmt.Errorf("%s: there is no schema %s; create it with PostgreSQL's own CREATE SCHEMA", c.s.place(c.database), quote(rel.schema))
	case !yes(r.rows[0][0]):
		return fmt.Errorf("%s: user %s may not make tables in the schema %s", c.s.place(c.database), c.s.config.User, quote(rel.schema))
	}
	return nil
}

// taken turns the errors of a name that a rival has taken into an *server.ExistsError. A rival that commits while
// we wait for it is found by the unique index of the server's catalog.
func taken(rel relation, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	kind := ""
	switch {
	case e.Code == codeExists, e.Code == codeUnique && e.Table == "pg_class":
		kind = "table"
	case e.Code == codeDuplicateObject, e.Code == codeUnique && e.Table == "pg_type":
		kind = "type"
	default:
		return err
	}
	return &server.ExistsError{Table: rel.String(), Kind: kind}
}

// holdNamed is find for a table that nobody can drop, rename or alter from then on: what comes next goes by its name,
// and a rival may have put another one there between the two. Views, of which nothing but the name is asked, are not held.
func (c *conn) holdNamed(ctx context.Context, rel relation) (oid, kind, identity string, err error) {
	oid, kind, identity, err = c.find(ctx, rel)
	lock := "LOCK TABLE ONLY " + rel.sql() + " IN ACCESS EXCLUSIVE MODE"
	// Who owns the schema may drop a table without a right to it, and LOCK takes no foreign table. A statement that is
	// prepared holds what it names, too, without a look at rights.
	prepare := "PREPARE " + rowsTable + " AS SELECT FROM " + rel.sql() + "; DEALLOCATE " + rowsTable
	switch {
	case err != nil || oid == "" || reserved(rel.name) || system(rel.schema):
		return oid, kind, identity, err
	case kind == foreignTable:
		lock = prepare
	case kind != ordinary && kind != partitioned:
		return oid, kind, identity, nil
	}
	err = c.locked(ctx, rel.String(), func(ctx context.Context) error {
		_, err := c.exec(ctx, "SAVEPOINT "+rowsTable+"; "+lock+"; RELEASE SAVEPOINT "+rowsTable)
		if code(err) == codeNoRight {
			_, err = c.exec(ctx, "ROLLBACK TO SAVEPOINT "+rowsTable+"; "+prepare+"; RELEASE SAVEPOINT "+rowsTable)
		}
		return err
	})
	if code(err) == codeNoTable {
		return "", "", "", nil
	} else if err != nil {
		return "", "", "", err
	}
	return c.find(ctx, rel)
}

// DropTable drops a table; with an identity other than "" only if it is still that one.
func (s *Server) DropTable(ctx context.Context, database, table, identity string) error {
	rel, err := parseRelation(table)
	if err != nil {
		return server.ErrNotThere
	}
	return s.change(ctx, database, func(c *conn) error {
		oid, kind, now, err := c.holdNamed(ctx, rel)
		switch {
		case err != nil:
			return err
		case oid == "" || reserved(rel.name) || system(rel.schema):
			return server.ErrNotThere
		case kind == view || kind == materialised:
			return fmt.Errorf("%s is a %s of PostgreSQL, not a table", rel, kindName(kind))
		case kind != ordinary && kind != partitioned && kind != foreignTable:
			return server.ErrNotThere
		case identity != "" && now != identity:
			return server.ErrChanged
		}
		word := "TABLE "
		if kind == foreignTable {
			word = "FOREIGN TABLE "
		}
		err = c.locked(ctx, rel.String(), func(ctx context.Context) error {
			_, err := c.exec(ctx, "DROP "+word+rel.sql())
			return err
		})
		if code(err) == codeNoTable {
			return server.ErrNotThere
		}
		return err
	})
}

// DropView drops a view or a materialised view.
func (s *Server) DropView(ctx context.Context, database, name string) error {
	rel, err := parseRelation(name)
	if err != nil {
		return server.ErrNotThere
	}
	return s.change(ctx, database, func(c *conn) error {
		_, kind, _, err := c.find(ctx, rel)
		if err != nil {
			return err
		}
		word := "VIEW "
		switch {
		case reserved(rel.name) || system(rel.schema):
			return server.ErrNotThere
		case kind == materialised:
			word = "MATERIALIZED VIEW "
		case kind != view:
			return server.ErrNotThere
		}
		err = c.locked(ctx, rel.String(), func(ctx context.Context) error {
			_, err := c.exec(ctx, "DROP "+word+rel.sql())
			return err
		})
		if code(err) == codeNoTable {
			return server.ErrNotThere
		}
		return err
	})
}

// RenameTable gives a table or view another name in its schema.
func (s *Server) RenameTable(ctx context.Context, database, table, newName string) error {
	rel, err := parseRelation(table)
	if err != nil {
		return server.ErrNotThere
	}
	to, err := newRelation(newName)
	if err != nil {
		return err
	}
	if to.schema != rel.schema {
		return fmt.Errorf("table %s is in the schema %s; renaming it to %s would take it to the schema %s, which is not supported", rel, rel.schema, to, to.schema)
	}
	return s.change(ctx, database, func(c *conn) error {
		oid, kind, _, err := c.holdNamed(ctx, rel)
		switch {
		case err != nil:
			return err
		case oid == "" || reserved(rel.name) || system(rel.schema):
			return server.ErrNotThere
		}
		word := map[string]string{ordinary: "TABLE ", partitioned: "TABLE ", foreignTable: "FOREIGN TABLE ", view: "VIEW ", materialised: "MATERIALIZED VIEW "}[kind]
		if word == "" {
			return server.ErrNotThere
		}
		if err := c.free(ctx, to); err != nil {
			return err
		}
		err = c.locked(ctx, rel.String(), func(ctx context.Context) error {
			_, err := c.exec(ctx, "ALTER "+word+rel.sql()+" RENAME TO "+quote(to.name))
			return err
		})
		if code(err) == codeNoTable {
			return server.ErrNotThere
		}
		return taken(to, err)
	})
}
