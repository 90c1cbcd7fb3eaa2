package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/types"
)

// A table that is made, or that takes the place of another, is filled under a name of ours in the target's schema, in
// the transaction that gives it its own name at the end. Until COMMIT nobody else sees it, and the old table is read
// and written by others as before.
//
// The end comes in Seal, since it may have to wait: for those who use the old table now, and for a rival who has made
// a table of the name and not committed yet. It takes the old table's exclusive lock, looks whether it is still the
// one of Begin, drops it and renames the new one. Readers who come between that and COMMIT wait for the lock, and then
// find the new table under the name: PostgreSQL looks a name up again when what it has locked is gone. Only a reader
// whose snapshot is older than COMMIT would find the new table empty, as its rows are younger than the snapshot. They
// are not: rows of a table made in the same transaction can be copied as frozen, which is visible to all. So
// everybody sees all the old rows or all the new ones.
//
// Whether the name was taken, or the old table changed, is Commit's to say.

// stage is the work of a target that is made or replaced.
type stage struct {
	target server.Target
	rel    relation
	name   string // of the new table up to the end, unquoted
	old    string // identity of the table to replace, "" where there is none
	load   *load
	merge  *merge // of rows that may have a key twice; nil: they are copied straight into the table
}

// Stage returns the transaction of a table that is made or replaced.
func (s *Server) Stage(target server.Target) connector.Transaction {
	return &Transaction{server: s, database: target.Database, work: &stage{target: target}}
}

// CheckStage says whether the write of a target would be all or nothing, and what stands in its way.
func (s *Server) CheckStage(ctx context.Context, target server.Target) (reason string, notes []string, err error) {
	rel, err := newRelation(target.Table)
	if err != nil {
		return "", nil, err
	}
	if err := checkDefinition(target.Table, target.Definition); err != nil {
		return "", nil, err
	}
	if s.onConflict() != "" && len(target.Definition.Schema.PrimaryKey) == 0 {
		return "", nil, errNoKeyFor(rel.String(), s.onConflict())
	}
	err = s.with(ctx, target.Database, func(c *conn) error {
		old, err := c.replaceable(ctx, rel, target)
		if err != nil {
			return err
		}
		reason = "the table is made and filled in one transaction of PostgreSQL"
		if old != "" {
			reason = "the new table is made and filled, and takes the place of the old one, in one transaction of PostgreSQL"
			notes = append(notes, "at the end, those who use the old table are waited for")
		}
		off, err := c.one(ctx, "SELECT pg_catalog.current_setting('fsync')")
		if err == nil && off == "off" {
			notes = append(notes, "the server runs with fsync = off: what it has committed may be lost when its machine loses power")
		}
		return err
	})
	return reason, notes, err
}

// replaceable checks the target's name and returns the identity of the table to replace, "" where there is none.
func (c *conn) replaceable(ctx context.Context, rel relation, target server.Target) (identity string, err error) {
	oid, kind, identity, err := c.find(ctx, rel)
	switch {
	case err != nil:
		return "", err
	case oid == "" && target.Mode == server.Replace:
		return "", server.ErrNotThere
	case oid == "":
		return "", c.schemaThere(ctx, rel)
	case target.Mode == server.Create:
		return "", &server.ExistsError{Table: rel.String(), Kind: kindName(kind)}
	case kind != ordinary:
		what := kindName(kind)
		switch kind {
		case partitioned:
			what = "partitioned table"
		case foreignTable:
			what = "foreign table"
		}
		return "", fmt.Errorf("%s is a %s; only an ordinary table can be replaced", rel, what)
	}
	if err := c.schemaThere(ctx, rel); err != nil {
		return "", err
	}
	lost, err := c.dependents(ctx, oid, target.Definition)
	if err != nil {
		return "", err
	}
	if len(lost) > 0 {
		return "", fmt.Errorf("table %s cannot be replaced, since this would be lost with it: %s; INSERT OVERWRITE replaces the rows and keeps the rest", rel, strings.Join(lost, "; "))
	}
	return identity, nil
}

// dependents names what would be lost with a table, or would change, when another takes its place.
func (c *conn) dependents(ctx context.Context, oid string, def server.Definition) ([]string, error) {
	var commented []string
	if def.Comment != "" {
		commented = append(commented, "")
	}
	for _, col := range def.Schema.Columns {
		if col.Comment != "" || def.Comments[col.Name] != "" {
			commented = append(commented, col.Name)
		}
	}
	kept := "{}"
	if len(commented) > 0 {
		kept = "{"
		for i, name := range commented {
			if i > 0 {
				kept += ","
			}
			kept += `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
		}
		kept += "}"
	}
	return c.texts(ctx, `WITH t AS (SELECT c.oid, c.reltype, c.relowner, c.relacl, c.relpersistence, c.reltablespace, c.reloptions, c.relreplident, c.relrowsecurity OR c.relforcerowsecurity AS secured FROM pg_catalog.pg_class c WHERE c.oid = $1::pg_catalog.oid),
own AS (
  SELECT d.classid, d.objid FROM t JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = t.oid
  UNION
  SELECT d.classid, d.objid FROM t JOIN pg_catalog.pg_type y ON y.oid = t.reltype OR y.typelem = t.reltype AND y.typlen = -1 JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_catalog.pg_type'::pg_catalog.regclass AND d.refobjid = y.oid),
named AS (
  SELECT CASE WHEN w.ev_class IS NOT NULL AND w.rulename = '_RETURN' THEN pg_catalog.pg_describe_object('pg_catalog.pg_class'::pg_catalog.regclass, w.ev_class, 0)
    ELSE pg_catalog.pg_describe_object(own.classid, own.objid, 0) END AS what
  FROM t CROSS JOIN own
  LEFT JOIN pg_catalog.pg_rewrite w ON own.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND w.oid = own.objid
  LEFT JOIN pg_catalog.pg_constraint k ON own.classid = 'pg_catalog.pg_constraint'::pg_catalog.regclass AND k.oid = own.objid
  LEFT JOIN pg_catalog.pg_class r ON own.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND r.oid = own.objid
  LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
  WHERE NOT (own.classid = 'pg_catalog.pg_type'::pg_catalog.regclass AND EXISTS (SELECT 1 FROM pg_catalog.pg_type y WHERE y.oid = own.objid AND (y.oid = t.reltype OR y.typelem = t.reltype)))
    AND own.objid <> t.oid
    AND coalesce(r.relkind, '') <> 't'
    AND NOT (coalesce(k.contype, '') IN ('p', 'n') AND k.conrelid = t.oid)
    AND NOT (coalesce(k.contype, '') = 'c' AND k.conrelid = t.oid AND pg_catalog.cardinality(k.conkey) = 1 AND (pg_catalog.pg_get_constraintdef(k.oid) = pg_catalog.format('CHECK (((%1$I >= ''-128''::integer) AND (%1$I <= 127)))', a.attname)
      OR pg_catalog.pg_get_constraintdef(k.oid) LIKE 'CHECK ((octet\_length(%) %= %))'))
    AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_index i WHERE i.indexrelid = own.objid AND i.indisprimary AND i.indrelid = t.oid)
    AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_trigger g WHERE own.classid = 'pg_catalog.pg_trigger'::pg_catalog.regclass AND g.oid = own.objid AND g.tgisinternal)
  UNION ALL
  SELECT 'rights granted to ' || pg_catalog.string_agg(DISTINCT CASE x.grantee WHEN 0 THEN 'everybody' ELSE pg_catalog.pg_get_userbyid(x.grantee) END, ', ')
  FROM t, LATERAL (SELECT e.grantee FROM pg_catalog.aclexplode(t.relacl) e WHERE e.grantee <> t.relowner
    UNION SELECT e.grantee FROM pg_catalog.pg_attribute a, LATERAL pg_catalog.aclexplode(a.attacl) e WHERE a.attrelid = t.oid AND NOT a.attisdropped) x HAVING count(*) > 0
  UNION ALL
  SELECT 'the rights of its owner, which were changed' FROM t WHERE t.relacl IS NOT NULL AND NOT t.relacl @> (SELECT pg_catalog.array_agg(d) FROM pg_catalog.unnest(pg_catalog.acldefault('r', t.relowner)) d)
  UNION ALL
  SELECT 'its owner ' || pg_catalog.pg_get_userbyid(t.relowner) FROM t WHERE pg_catalog.pg_get_userbyid(t.relowner) <> current_user
  UNION ALL
  SELECT 'row-level security' FROM t WHERE t.secured
  UNION ALL
  SELECT 'its being a part of ' || pg_catalog.pg_describe_object('pg_catalog.pg_class'::pg_catalog.regclass, i.inhparent, 0) FROM t JOIN pg_catalog.pg_inherits i ON i.inhrelid = t.oid
  UNION ALL
  SELECT CASE o.objsubid WHEN 0 THEN 'the comment on the table' ELSE 'the comment on the column ' || a.attname END FROM t JOIN pg_catalog.pg_description o ON o.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND o.objoid = t.oid
    LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum = o.objsubid AND o.objsubid > 0 WHERE NOT coalesce(a.attname, '') = ANY ($2::pg_catalog.text[])
  UNION ALL
  SELECT 'the security label of ' || l.provider FROM t JOIN pg_catalog.pg_seclabel l ON l.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass AND l.objoid = t.oid
  UNION ALL
  SELECT 'its being unlogged' FROM t WHERE t.relpersistence = 'u'
  UNION ALL
  SELECT 'its tablespace ' || s.spcname FROM t JOIN pg_catalog.pg_tablespace s ON s.oid = t.reltablespace
  UNION ALL
  SELECT 'its storage options ' || pg_catalog.array_to_string(t.reloptions, ', ') FROM t WHERE t.reloptions IS NOT NULL
  UNION ALL
  SELECT 'its replica identity' FROM t WHERE t.relreplident <> 'd')
SELECT DISTINCT what FROM named ORDER BY what`, oid, kept)
}

func (w *stage) begin(ctx context.Context, t *Transaction, job connector.JobID) (err error) {
	if w.rel, err = newRelation(w.target.Table); err != nil {
		return err
	}
	if err := checkDefinition(w.target.Table, w.target.Definition); err != nil {
		return err
	}
	if w.old, err = t.c.replaceable(ctx, w.rel, w.target); err != nil {
		return err
	}
	w.name = stagingName(job)
	made := relation{w.rel.schema, w.name}
	def := w.target.Definition
	if _, err := t.c.exec(ctx, createSQL(made.sql(), def.Schema)+commentSQL(made.sql(), def)); err != nil {
		return err
	}
	columns := make([]writePlan, len(def.Schema.Columns))
	for i, col := range def.Schema.Columns {
		if columns[i], err = planWrite(ownColumn(col), col.Type); err != nil {
			return err
		}
	}
	w.load = &load{name: made.sql(), relation: w.name, columns: columns, freeze: true, table: w.rel.String()}
	if t.server.onConflict() == "" {
		return nil
	}
	w.merge = &merge{into: made.sql(), key: def.Schema.PrimaryKey, columns: columns, conflict: t.server.onConflict()}
	if len(w.merge.key) == 0 {
		return errNoKeyFor(w.rel.String(), w.merge.conflict)
	}
	w.load, err = w.merge.prepare(ctx, t.c, w.rel.String())
	return err
}

// ownColumn is what a column of a table of ours is on the server.
func ownColumn(c types.Column) *columnInfo {
	sql, _, _ := declared(c.Type)
	return &columnInfo{name: c.Name, shown: sql, stored: ownStored(c.Type), t: c.Type}
}

// ownStored is the stored type of what declared gives for a type.
func ownStored(t types.Type) storedType {
	switch t.Kind {
	case types.Boolean:
		return storedType{oid: oidBool, mod: -1}
	case types.TinyInt, types.SmallInt:
		return storedType{oid: oidInt2, mod: -1}
	case types.Int:
		return storedType{oid: oidInt4, mod: -1}
	case types.BigInt:
		return storedType{oid: oidInt8, mod: -1}
	case types.Float:
		return storedType{oid: oidFloat4, mod: -1}
	case types.Double:
		return storedType{oid: oidFloat8, mod: -1}
	case types.Decimal:
		return storedType{oid: oidNumeric, mod: t.Precision<<16 | t.Scale + 4}
	case types.Char:
		return storedType{oid: oidBpchar, mod: t.Precision + 4}
	case types.VarChar:
		if t.Precision == types.MaxLength {
			return storedType{oid: oidText, mod: -1}
		}
		return storedType{oid: oidVarchar, mod: t.Precision + 4}
	case types.Binary, types.VarBinary:
		return storedType{oid: oidBytea, mod: -1}
	case types.Date:
		return storedType{oid: oidDate, mod: -1}
	case types.Time:
		return storedType{oid: oidTime, mod: t.Precision}
	case types.Timestamp:
		return storedType{oid: oidTimestamp, mod: t.Precision}
	case types.TimestampLTZ:
		return storedType{oid: oidTimestamptz, mod: t.Precision}
	case types.IntervalYearMonth:
		return storedType{oid: oidInterval, mod: intervalYearMonth<<16 | 0xffff}
	case types.IntervalDayTime:
		return storedType{oid: oidInterval, mod: intervalDayTime<<16 | 3}
	case types.Array:
		e := ownStored(t.Element())
		for _, array := range []oid{1000, 1001, 1005, 1007, 1016, 1009, 1014, 1015, 1021, 1022, 1182, 1183, 1115, 1185, 1231} {
			if of, _ := elementOf(array); of == e.oid {
				return storedType{oid: array, mod: e.mod}
			}
		}
	}
	return storedType{}
}

func (w *stage) write(ctx context.Context, t *Transaction, next func() (*column.Batch, error)) error {
	return t.c.copyIn(ctx, w.load, next)
}

func (w *stage) seal(ctx context.Context, t *Transaction) (int64, error) {
	rows := w.load.stored
	if w.load.sent != w.load.stored {
		return 0, lostRows(w.load.sent-w.load.stored, w.load.sent, "stored", nil)
	}
	if w.merge != nil {
		var err error
		if rows, err = w.merge.run(ctx, t.c); err != nil {
			return 0, err
		}
	}
	err := w.publish(ctx, t)
	var exists *server.ExistsError
	if errors.As(err, &exists) || errors.Is(err, server.ErrChanged) {
		t.refused, err = err, nil
	}
	return rows, err
}

// publish gives the new table its name.
func (w *stage) publish(ctx context.Context, t *Transaction) error {
	c, rel := t.c, w.rel
	if w.old != "" {
		err := c.locked(ctx, rel.String(), func(ctx context.Context) error {
			_, err := c.exec(ctx, "LOCK TABLE ONLY "+rel.sql()+" IN ACCESS EXCLUSIVE MODE")
			return err
		})
		if code(err) == codeNoTable {
			return server.ErrChanged
		} else if err != nil {
			return err
		}
		oid, _, now, err := c.find(ctx, rel)
		if err != nil {
			return err
		}
		if now != w.old {
			return server.ErrChanged
		}
		// Nobody can add anything to it any more; up to now it was possible without a trace in its own row.
		lost, err := c.dependents(ctx, oid, w.target.Definition)
		if err != nil {
			return err
		}
		if len(lost) > 0 {
			return fmt.Errorf("table %s cannot be replaced any more, since this would be lost with it: %s", rel, strings.Join(lost, "; "))
		}
		if _, err := c.exec(ctx, "DROP TABLE "+rel.sql()); err != nil {
			return err
		}
	}
	err := c.locked(ctx, rel.String(), func(ctx context.Context) error {
		_, err := c.exec(ctx, "ALTER TABLE "+relation{rel.schema, w.name}.sql()+" RENAME TO "+quote(rel.name))
		return err
	})
	if err != nil {
		return taken(rel, err)
	}
	return w.nameKey(ctx, c)
}

// nameKey gives the index of the primary key, which was named after the staging table, its name.
func (w *stage) nameKey(ctx context.Context, c *conn) error {
	schema := w.target.Definition.Schema
	if len(schema.PrimaryKey) == 0 {
		return nil
	}
	var err error
	name := schema.PrimaryKeyName
	if name == "" {
		name = derived(w.rel.name, "pkey", func(n string) bool {
			var oid string
			if err == nil {
				oid, _, _, err = c.find(ctx, relation{w.rel.schema, n})
			}
			return oid != ""
		})
	}
	if err == nil {
		var now string
		if now, err = c.one(ctx, "SELECT k.conname FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2 AND k.contype = 'p'", w.rel.schema, w.rel.name); err == nil && now != name {
			err = c.locked(ctx, w.rel.String(), func(ctx context.Context) error {
				_, err := c.exec(ctx, "ALTER TABLE "+w.rel.sql()+" RENAME CONSTRAINT "+quote(now)+" TO "+quote(name))
				return err
			})
		}
	}
	return err
}
