package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
	reads  bool   // the job reads that table
	load   *load
	fold   *fold // of rows that may have a key twice; nil: they are copied straight into the table
	rows   *load // what rows are copied into first: load, or the table of fold
}

// Stage returns the transaction of a table that is made or replaced.
func (s *Server) Stage(target server.Target) connector.Transaction {
	return &Transaction{server: s, database: target.Database, work: &stage{target: target}}
}

// ReadsTarget says, before Begin, that the job reads the table that is to be replaced: others do not write it meanwhile.
func (t *Transaction) ReadsTarget() {
	if w, ok := t.work.(*stage); ok {
		w.reads = true
	}
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
			now, err := c.describe(ctx, rel)
			if err != nil {
				return err
			}
			notes = append(notes, now.looser(target.Definition.Schema)...)
		}
		off, err := c.one(ctx, "SELECT pg_catalog.current_setting('fsync')")
		if err == nil && off == "off" {
			notes = append(notes, "the server runs with fsync = off: what it has committed may be lost when its machine loses power")
		}
		return err
	})
	return reason, notes, err
}

// looser says what a table demands of its rows that a new one of a schema does not.
func (t *tableInfo) looser(schema types.Schema) (notes []string) {
	if t == nil {
		return nil
	}
	if len(t.key) > 0 && !sameNames(t.key, schema.PrimaryKey) {
		notes = append(notes, "the old table has the PRIMARY KEY ("+strings.Join(t.key, ", ")+"), which the new one has not")
	}
	var free []string
	for i := range t.columns {
		at := schema.Index(t.columns[i].name)
		if t.columns[i].notNull && at >= 0 && !schema.Columns[at].Type.NotNull && !slices.Contains(schema.PrimaryKey, t.columns[i].name) {
			free = append(free, t.columns[i].name)
		}
	}
	if len(free) > 0 {
		notes = append(notes, "NOT NULL in the old table, and not in the new one: "+strings.Join(free, ", "))
	}
	return notes
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
	if w.reads && w.old != "" {
		// Rows that others commit after the job has read the table would go with it.
		if _, err := t.c.exec(ctx, "LOCK TABLE ONLY "+w.rel.sql()+" IN "+tableLock+" MODE"); err != nil {
			return err
		}
		if w.old, err = t.c.replaceable(ctx, w.rel, w.target); err != nil {
			return err
		}
	}
	w.name = stagingName(job)
	made := relation{w.rel.schema, w.name}
	def := w.target.Definition
	// The index of the key is made when the rows are there, see addKey.
	if _, err := t.c.exec(ctx, createSQL(made.sql(), keyless(def.Schema))+commentSQL(made.sql(), def)); err != nil {
		return err
	}
	columns := make([]writePlan, len(def.Schema.Columns))
	for i, col := range def.Schema.Columns {
		if columns[i], err = planWrite(ownColumn(col), col.Type); err != nil {
			return err
		}
	}
	w.load = &load{name: made.sql(), relation: w.name, columns: columns, freeze: true, table: w.rel.String()}
	w.rows = w.load
	conflict := t.server.onConflict()
	if conflict == "" {
		return nil
	}
	w.fold = &fold{key: def.Schema.PrimaryKey, conflict: conflict}
	if len(w.fold.key) == 0 {
		return errNoKeyFor(w.rel.String(), conflict)
	}
	w.rows, err = w.fold.prepare(ctx, t.c, w.load)
	return err
}

func (w *stage) write(ctx context.Context, t *Transaction, next func() (*column.Batch, error)) error {
	return t.c.copyIn(ctx, w.rows, next)
}

func (w *stage) seal(ctx context.Context, t *Transaction) (int64, error) {
	rows := w.rows.stored
	if w.rows.sent != rows {
		return 0, lostRows(w.rows.sent-rows, w.rows.sent, "stored", nil)
	}
	if w.fold != nil {
		var err error
		if rows, err = w.fold.run(ctx, t.c, w.rows, w.load); err != nil {
			return 0, err
		}
	}
	err := addKey(ctx, t.c, w.load, w.target.Definition.Schema.PrimaryKey)
	if err != nil {
		return 0, err
	}
	err = w.publish(ctx, t)
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
