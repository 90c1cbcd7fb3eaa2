package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/types"
)

// keyColumns is the query for the columns of a primary key in their order, each with what of its type, or of a part of
// that, may take two values for one: a collation, a type of texts, and a type of which one value has several texts.
const keyColumns = `WITH RECURSIVE part AS (
  SELECT u.at, a.attname, a.atttypid AS oid, a.atttypmod AS typmod, a.attcollation AS coll, true AS whole
  FROM pg_catalog.pg_constraint k CROSS JOIN LATERAL pg_catalog.unnest(k.conkey) WITH ORDINALITY AS u(num, at) JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.num
  WHERE k.conrelid = $1::pg_catalog.oid AND k.contype = 'p'
  UNION
  SELECT part.at, part.attname, x.oid, x.typmod, x.coll, x.whole FROM part JOIN pg_catalog.pg_type y ON y.oid = part.oid CROSS JOIN LATERAL (
    SELECT m.atttypid, m.atttypmod, m.attcollation, false FROM pg_catalog.pg_attribute m WHERE y.typtype = 'c' AND m.attrelid = y.typrelid AND m.attnum > 0 AND NOT m.attisdropped
    UNION ALL SELECT y.typelem, part.typmod, part.coll, false WHERE y.typcategory = 'A'
    UNION ALL SELECT y.typbasetype, greatest(y.typtypmod, part.typmod), part.coll, part.whole WHERE y.typtype = 'd'
    UNION ALL SELECT r.rngsubtype, -1, r.rngcollation, false FROM pg_catalog.pg_range r WHERE r.rngtypid = y.oid OR (pg_catalog.to_jsonb(r) OPERATOR(pg_catalog.->>) 'rngmultitypid') = y.oid::pg_catalog.text) AS x(oid, typmod, coll, whole))
SELECT part.attname,
  pg_catalog.min(pg_catalog.quote_ident(cn.nspname) OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(co.collname)) FILTER (WHERE NOT co.collisdeterministic),
  pg_catalog.min(CASE WHEN y.oid = '1042' THEN 'bpchar' ELSE pg_catalog.quote_ident(tn.nspname) OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) pg_catalog.quote_ident(y.typname) END)
    FILTER (WHERE y.typtype = 'b' AND y.typcategory = 'S' AND (y.oid >= '16384' OR y.oid = '1042' AND NOT (part.whole AND part.typmod > 4))),
  pg_catalog.min(y.typname::pg_catalog.text) FILTER (WHERE y.oid IN ('1186', '3802') OR y.oid = '1700' AND part.typmod < 0)
FROM part JOIN pg_catalog.pg_type y ON y.oid = part.oid JOIN pg_catalog.pg_namespace tn ON tn.oid = y.typnamespace
LEFT JOIN pg_catalog.pg_collation co ON co.oid = part.coll LEFT JOIN pg_catalog.pg_namespace cn ON cn.oid = co.collnamespace
GROUP BY part.at, part.attname ORDER BY part.at`

// looseColumn is what of a key's column may take two values for one, "" each where there is nothing.
type looseColumn struct{ collation, texts, values string }

// readKey reads the columns of the primary key.
func (t *tableInfo) readKey(ctx context.Context, c *conn) error {
	r, err := c.query(ctx, keyColumns, t.oid)
	if err != nil {
		return err
	}
	for _, row := range r.rows {
		t.key = append(t.key, text(row[0]))
		t.loose = append(t.loose, looseColumn{text(row[1]), text(row[2]), text(row[3])})
	}
	return nil
}

// replaceable says why a row cannot take the place of just that one which has its primary key. written are the columns
// as their values come.
func (t *tableInfo) replaceable(written []types.Column) error {
	for i, name := range t.key {
		c := t.column(name)
		if c == nil { // the columns were read before the key
			return fmt.Errorf("table %s: the PRIMARY KEY was altered by another session while it was read; try again", t.rel)
		}
		of := c.t
		if at := slices.IndexFunc(written, func(w types.Column) bool { return w.Name == name }); at >= 0 {
			of = written[at].Type
		}
		if fault := t.loose[i].fault(t.rel, c, of); fault != "" {
			return fmt.Errorf("table %s: a row with another PRIMARY KEY could be overwritten or deleted: column %s has the %s", t.rel, name, fault)
		}
	}
	return nil
}

// fault says why the server may take two values for one, which come as values of a type.
func (l looseColumn) fault(rel relation, c *columnInfo, of types.Type) string {
	alter := func(to string) string {
		return "; ALTER TABLE " + rel.sql() + " ALTER COLUMN " + quote(c.name) + " TYPE " + to + " on the server has them told apart"
	}
	exact := "text"
	if strings.HasSuffix(c.stored.name, "[]") {
		exact = "text[]"
	}
	isText := of.Kind == types.Char || of.Kind == types.VarChar
	switch {
	case l.collation != "":
		if c.stored.oid == oidVarchar || c.stored.oid == oidBpchar && c.stored.mod > 4 {
			exact = c.stored.name
		}
		return "collation " + l.collation + ", under which texts are equal that differ here, such as 'a' and 'A'" + alter(exact+` COLLATE "C"`)
	case l.texts == "bpchar":
		return "type bpchar, of which texts may be equal that differ here, such as 'a' and 'a '" + alter(exact)
	case l.texts != "":
		return "type " + l.texts + ", of which texts may be equal that differ here, such as 'a' and 'A'" + alter(exact)
	case l.values == "interval" && isText:
		return "type interval, of which values are equal that are different texts here, such as '30 days' and '1 mon'" + alter(exact)
	case l.values != "" && isText:
		return "type " + l.values + ", of which values are equal that are different texts here, such as '1.0' and '1.00'" + alter(exact)
	}
	return ""
}
