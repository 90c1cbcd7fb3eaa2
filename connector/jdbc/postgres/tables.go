package postgres

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/types"
)

// listed is the condition of relations that are shown: ordinary, partitioned and foreign tables, views and
// materialised views, but for the server's own and ours.
const listed = `n.nspname <> 'information_schema' AND n.nspname::pg_catalog.text NOT LIKE 'pg\_%' AND c.relname::pg_catalog.text NOT LIKE '\_sluice%' AND c.relname::pg_catalog.text NOT LIKE '.sluice%'`

// ListTables returns the names of tables and views, sorted.
func (s *Server) ListTables(ctx context.Context, database string) ([]string, error) {
	return s.list(ctx, database, "'r', 'p', 'f', 'v', 'm'")
}

// ListViews returns the names of views and materialised views, sorted.
func (s *Server) ListViews(ctx context.Context, database string) ([]string, error) {
	return s.list(ctx, database, "'v', 'm'")
}

func (s *Server) list(ctx context.Context, database, kinds string) (names []string, err error) {
	err = s.with(ctx, database, func(c *conn) error {
		r, err := c.query(ctx, "SELECT n.nspname, c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ("+kinds+") AND "+listed)
		if err != nil {
			return err
		}
		for _, row := range r.rows {
			names = append(names, relation{text(row[0]), text(row[1])}.String())
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}

// Kinds of relation, as pg_class.relkind has them.
const (
	ordinary     = "r"
	partitioned  = "p"
	foreignTable = "f"
	view         = "v"
	materialised = "m"
)

// columnInfo is a column as the server has it.
type columnInfo struct {
	name      string
	stored    storedType
	t         types.Type // as it is read
	shown     string     // the type as the server writes it, domains and all
	collation string     // of its own, as the server writes it; "" when it is the type's
	notNull   bool
	def       string // of a default, as the server writes it
	identity  string // a, d or ""
	generated bool   // computed from others
	comment   string
}

// readOnly: the server gives the value, and takes none.
func (c *columnInfo) readOnly() bool { return c.generated || c.identity == "a" }

// hasDefault: the server gives a value when a row comes without.
func (c *columnInfo) hasDefault() bool { return c.def != "" && !c.generated || c.identity != "" }

// tableInfo is a table or view as the server has it.
type tableInfo struct {
	rel      relation
	oid      string
	identity string // oid and version of the catalog's row: tells it from a later one, and from itself changed
	kind     string
	columns  []columnInfo
	key      []string      // the primary key's columns
	loose    []looseColumn // of key
	keyName  string
	comment  string
	parts    bool  // others inherit from it
	pages    int64 // of its file; of ordinary tables only
	triggers []string
	rules    []string // on INSERT, UPDATE or DELETE
	secured  bool     // row-level security applies to this user
}

func (t *tableInfo) isView() bool { return t.kind == view || t.kind == materialised }

func (t *tableInfo) column(name string) *columnInfo {
	for i := range t.columns {
		if t.columns[i].name == name {
			return &t.columns[i]
		}
	}
	return nil
}

// find returns the oid of a relation, "" where there is none, with its kind and identity.
func (c *conn) find(ctx context.Context, rel relation) (oid, kind, identity string, err error) {
	r, err := c.query(ctx, "SELECT c.oid, c.relkind, c.oid OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) c.xmin FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2", rel.schema, rel.name)
	if err != nil || len(r.rows) == 0 {
		return "", "", "", err
	}
	return text(r.rows[0][0]), text(r.rows[0][1]), text(r.rows[0][2]), nil
}

// kindName is how a relation of a kind is called.
func kindName(kind string) string {
	switch kind {
	case view:
		return "view"
	case materialised:
		return "materialised view"
	case "i", "I":
		return "index"
	case "S":
		return "sequence"
	case "c":
		return "composite type"
	}
	return "table"
}

// describe returns a table or view, nil where there is none.
func (c *conn) describe(ctx context.Context, rel relation) (*tableInfo, error) {
	if reserved(rel.name) || system(rel.schema) {
		return nil, nil
	}
	for {
		oid, kind, identity, err := c.find(ctx, rel)
		if err != nil || oid == "" {
			return nil, err
		}
		t, err := c.describeOne(ctx, rel, oid, kind, identity)
		if err != nil || t == nil || len(t.columns) > 0 && (t.keyName == "" || len(t.key) > 0) {
			return t, err
		}
		// Without columns it is a table that has none, or one that was dropped or replaced between two queries.
		if again, _, _, err := c.find(ctx, rel); err != nil || again == oid {
			return t, err
		}
	}
}

// describeOne describes a relation that find has found.
func (c *conn) describeOne(ctx context.Context, rel relation, oid, kind, identity string) (*tableInfo, error) {
	switch kind {
	case ordinary, partitioned, foreignTable, view, materialised:
	default:
		return nil, nil
	}
	t := &tableInfo{rel: rel, oid: oid, kind: kind, identity: identity}
	r, err := c.query(ctx, `SELECT a.attname, b.oid, b.typmod, pg_catalog.format_type(b.oid, b.typmod), pg_catalog.format_type(a.atttypid, a.atttypmod),
  a.attnotnull, pg_catalog.pg_get_expr(d.adbin, d.adrelid), a.attidentity, a.attgenerated <> '', pg_catalog.col_description(a.attrelid, a.attnum),
  CASE WHEN a.attcollation <> t.typcollation THEN pg_catalog.quote_ident(cn.nspname) OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(co.collname) END,
  (SELECT pg_catalog.string_agg(CASE
     WHEN k.def = pg_catalog.format('CHECK (((%1$I >= ''-128''::integer) AND (%1$I <= 127)))', a.attname) THEN 'tinyint'
     WHEN pg_catalog.left(k.def, pg_catalog.length(k.exactly)) = k.exactly THEN 'binary ' OPERATOR(pg_catalog.||) pg_catalog.substr(k.def, pg_catalog.length(k.exactly) + 1)
     WHEN pg_catalog.left(k.def, pg_catalog.length(k.most)) = k.most THEN 'varbinary ' OPERATOR(pg_catalog.||) pg_catalog.substr(k.def, pg_catalog.length(k.most) + 1)
   END, ';') FROM (SELECT pg_catalog.pg_get_constraintdef(q.oid) AS def, pg_catalog.format('CHECK ((octet_length(%I) = ', a.attname) AS exactly,
     pg_catalog.format('CHECK ((octet_length(%I) <= ', a.attname) AS most FROM pg_catalog.pg_constraint q
     WHERE q.conrelid = a.attrelid AND q.contype = 'c' AND q.convalidated AND q.conkey OPERATOR(pg_catalog.=) ARRAY[a.attnum]) k),
  CASE WHEN b.typtype IN ('c', 'r', 'm') OR b.typcategory = 'A' THEN (WITH RECURSIVE part AS (
      SELECT b.oid, b.typmod
      UNION
      SELECT x.oid, x.typmod FROM part JOIN pg_catalog.pg_type y ON y.oid = part.oid CROSS JOIN LATERAL (
        SELECT m.atttypid, m.atttypmod FROM pg_catalog.pg_attribute m WHERE y.typtype = 'c' AND m.attrelid = y.typrelid AND m.attnum > 0 AND NOT m.attisdropped
        UNION ALL SELECT y.typelem, part.typmod WHERE y.typcategory = 'A'
        UNION ALL SELECT y.typbasetype, greatest(y.typtypmod, part.typmod) WHERE y.typtype = 'd'
        UNION ALL SELECT r.rngsubtype, -1 FROM pg_catalog.pg_range r WHERE r.rngtypid = y.oid OR (pg_catalog.to_jsonb(r) OPERATOR(pg_catalog.->>) 'rngmultitypid') = y.oid::pg_catalog.text) AS x(oid, typmod))
    SELECT CASE WHEN pg_catalog.bool_or(part.oid::pg_catalog.regtype::pg_catalog.text IN ('"char"', 'name', 'money', 'interval', 'time with time zone')
        OR part.typmod >= 0 AND part.oid::pg_catalog.regtype::pg_catalog.text IN ('numeric', 'character', 'character varying', 'time without time zone', 'timestamp without time zone', 'timestamp with time zone')) THEN 'cut'
      WHEN pg_catalog.bool_or(part.oid::pg_catalog.regtype::pg_catalog.text IN ('time without time zone', 'timestamp without time zone', 'timestamp with time zone')) THEN 'time' END FROM part) END
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
LEFT JOIN pg_catalog.pg_collation co ON co.oid = a.attcollation
LEFT JOIN pg_catalog.pg_namespace cn ON cn.oid = co.collnamespace
CROSS JOIN LATERAL (WITH RECURSIVE dom AS (
    SELECT y.oid, a.atttypmod AS typmod, y.typtype, y.typcategory, y.typbasetype, y.typtypmod FROM pg_catalog.pg_type y WHERE y.oid = a.atttypid
    UNION ALL
    SELECT y.oid, dom.typtypmod, y.typtype, y.typcategory, y.typbasetype, y.typtypmod FROM dom JOIN pg_catalog.pg_type y ON y.oid = dom.typbasetype WHERE dom.typtype = 'd')
  SELECT dom.oid, dom.typmod, dom.typtype, dom.typcategory FROM dom WHERE dom.typtype <> 'd' LIMIT 1) b
WHERE a.attrelid = $1::pg_catalog.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`, oid)
	if err != nil {
		return nil, err
	}
	for _, row := range r.rows {
		base, err1 := strconv.ParseUint(text(row[1]), 10, 32)
		mod, err2 := strconv.Atoi(text(row[2]))
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("%s: table %s: the server's answer cannot be read", c.s.place(c.database), rel)
		}
		col := columnInfo{name: text(row[0]), shown: text(row[4]), notNull: yes(row[5]), def: text(row[6]), identity: text(row[7]), generated: yes(row[8]), comment: text(row[9]), collation: text(row[10])}
		col.stored.oid, col.stored.mod, col.stored.name = oidOf(base), mod, text(row[3])
		col.stored.parts = text(row[12])
		col.t = checkedType(readType(col.stored), col.stored.oid, text(row[11])).WithNullable(!col.notNull)
		t.columns = append(t.columns, col)
	}
	r, err = c.query(ctx, `SELECT pg_catalog.obj_description(c.oid, 'pg_class'), c.relhassubclass AND c.relkind = 'r',
  CASE WHEN c.relkind IN ('r', 'm') THEN pg_catalog.pg_relation_size(c.oid) / pg_catalog.current_setting('block_size')::int8 END, pg_catalog.row_security_active(c.oid),
  (SELECT pg_catalog.string_agg(g.tgname, ', ' ORDER BY g.tgname) FROM pg_catalog.pg_trigger g WHERE g.tgrelid = c.oid AND NOT g.tgisinternal AND g.tgenabled <> 'D'),
  (SELECT pg_catalog.string_agg(w.rulename, ', ' ORDER BY w.rulename) FROM pg_catalog.pg_rewrite w WHERE w.ev_class = c.oid AND w.ev_type <> '1' AND w.ev_enabled <> 'D'),
  (SELECT k.conname FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'p')
FROM pg_catalog.pg_class c WHERE c.oid = $1::pg_catalog.oid`, oid)
	if err != nil {
		return nil, err
	}
	if len(r.rows) == 0 {
		t.columns = nil // dropped meanwhile
		return t, nil
	}
	row := r.rows[0]
	t.comment, t.parts, t.secured, t.keyName = text(row[0]), yes(row[1]), yes(row[3]), text(row[6])
	t.pages, _ = strconv.ParseInt(text(row[2]), 10, 64) // NULL: 0
	if row[4] != nil {
		t.triggers = strings.Split(*row[4], ", ")
	}
	if row[5] != nil {
		t.rules = strings.Split(*row[5], ", ")
	}
	if t.keyName != "" {
		err = t.readKey(ctx, c)
	}
	return t, err
}

func oidOf(n uint64) oid { return oid(n) }

// checkedType narrows a type by the conditions that tables of ours have, see declared.
func checkedType(t types.Type, stored oid, checks string) types.Type {
	for _, check := range strings.Split(checks, ";") {
		what, rest, _ := strings.Cut(check, " ")
		n, err := strconv.Atoi(strings.TrimSuffix(rest, "))"))
		switch {
		case what == "tinyint" && stored == oidInt2:
			return types.Of(types.TinyInt)
		case err != nil || n < 1 || stored != oidBytea:
		case what == "binary":
			return types.WithPrecision(types.Binary, n)
		case what == "varbinary":
			return types.WithPrecision(types.VarBinary, n)
		}
	}
	return t
}

// schema is the table's as it is read.
func (t *tableInfo) schema(asText func(column string) bool) types.Schema {
	s := types.Schema{PrimaryKey: t.key, PrimaryKeyName: t.keyName}
	for i := range t.columns {
		c := &t.columns[i]
		typ := c.t
		if asText != nil && asText(c.name) {
			typ = types.String().WithNullable(!c.notNull)
		}
		s.Columns = append(s.Columns, types.Column{Name: c.name, Type: typ, Comment: c.comment})
	}
	return s
}

// asText reports whether a column is read as text because an option says so.
func (s *Server) asText(rel relation) func(string) bool {
	return func(column string) bool {
		const prefix = "postgresql.columns."
		_, one := s.config.Options[prefix+column]
		_, full := s.config.Options[prefix+rel.String()+"."+column]
		return one || full
	}
}

// Describe returns a table or view of exactly this name.
func (s *Server) Describe(ctx context.Context, database, table string) (info *server.TableInfo, near string, err error) {
	rel, err := parseRelation(table)
	if err != nil {
		return nil, "", nil // no table has such a name
	}
	err = s.with(ctx, database, func(c *conn) error {
		t, err := c.describe(ctx, rel)
		if err != nil {
			return err
		}
		if t == nil {
			near, err = c.near(ctx, rel)
			return err
		}
		info = t.info(s.asText(rel))
		info.Text, err = c.statement(ctx, t)
		return err
	})
	return info, near, err
}

func (t *tableInfo) info(asText func(string) bool) *server.TableInfo {
	info := &server.TableInfo{View: t.isView(), Schema: t.schema(asText), Comment: t.comment, Comments: map[string]string{}, Identity: t.identity}
	for i := range t.columns {
		c := &t.columns[i]
		if c.comment != "" {
			info.Comments[c.name] = c.comment
		}
		switch {
		case c.readOnly():
			info.ReadOnly = append(info.ReadOnly, c.name)
		case c.hasDefault():
			info.Defaults = append(info.Defaults, c.name)
		}
	}
	return info
}

// near returns the name of a relation that differs from rel in case only.
func (c *conn) near(ctx context.Context, rel relation) (string, error) {
	r, err := c.query(ctx, "SELECT n.nspname, c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm') AND "+listed+
		" AND pg_catalog.lower(n.nspname) = pg_catalog.lower($1) AND pg_catalog.lower(c.relname) = pg_catalog.lower($2) ORDER BY c.oid LIMIT 1", rel.schema, rel.name)
	if err != nil || len(r.rows) == 0 {
		return "", err
	}
	return relation{text(r.rows[0][0]), text(r.rows[0][1])}.String(), nil
}

// statement is the server's own text of a view, and for a table one that shows what the server keeps of it.
func (c *conn) statement(ctx context.Context, t *tableInfo) (string, error) {
	if t.isView() {
		def, err := c.one(ctx, "SELECT pg_catalog.pg_get_viewdef($1::pg_catalog.oid)", t.oid)
		if err != nil {
			return "", err
		}
		kind := "VIEW "
		if t.kind == materialised {
			kind = "MATERIALIZED VIEW "
		}
		return "CREATE " + kind + t.rel.sql() + " AS\n" + strings.TrimSuffix(def, ";"), nil
	}
	var lines []string
	for i := range t.columns {
		col := &t.columns[i]
		line := quote(col.name) + " " + col.shown
		if col.collation != "" {
			line += " COLLATE " + col.collation
		}
		switch {
		case col.generated:
			line += " GENERATED ALWAYS AS (" + col.def + ") STORED"
		case col.identity == "a":
			line += " GENERATED ALWAYS AS IDENTITY"
		case col.identity == "d":
			line += " GENERATED BY DEFAULT AS IDENTITY"
		case col.def != "":
			line += " DEFAULT " + col.def
		}
		if col.notNull {
			line += " NOT NULL"
		}
		lines = append(lines, line)
	}
	constraints, err := c.texts(ctx, "SELECT 'CONSTRAINT ' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(conname) OPERATOR(pg_catalog.||) ' ' OPERATOR(pg_catalog.||) pg_catalog.pg_get_constraintdef(oid) FROM pg_catalog.pg_constraint WHERE conrelid = $1::pg_catalog.oid AND contype IN ('p', 'u', 'c', 'f', 'x') ORDER BY contype = 'p' DESC, contype, conname", t.oid)
	if err != nil {
		return "", err
	}
	lines = append(lines, constraints...)
	kind := "TABLE "
	if t.kind == foreignTable {
		kind = "FOREIGN TABLE "
	}
	sql := "CREATE " + kind + t.rel.sql() + " (\n  " + strings.Join(lines, ",\n  ") + "\n)"
	if t.kind == partitioned {
		by, err := c.one(ctx, "SELECT pg_catalog.pg_get_partkeydef($1::pg_catalog.oid)", t.oid)
		if err != nil {
			return "", err
		}
		sql += " PARTITION BY " + by
	}
	return sql, nil
}
