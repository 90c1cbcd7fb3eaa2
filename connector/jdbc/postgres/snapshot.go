package postgres

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
)

// snapshot is what all the sources of a job on one database see. The first that is asked for its splits opens the
// leader, whose transaction exports it; it stays open until all sources are closed.
type snapshot struct {
	mu      sync.Mutex
	sources []*source // that are not closed
	leader  *conn
	id      string // of the exported snapshot; "" where the server exports none
	lent    bool   // the leader reads for the only source there is
}

type snapshotKey struct{ key, database string }

// begin makes a connection's transaction one that sees one snapshot.
const begin = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"

// join adds a source to its database's snapshot in a job.
func (s *source) join(ctx context.Context) {
	s.snap = connector.ScopeOf(ctx).Value(snapshotKey{s.table.server.Key(), s.table.database}, func() any { return &snapshot{} }).(*snapshot)
	s.snap.mu.Lock()
	defer s.snap.mu.Unlock()
	s.snap.sources = append(s.snap.sources, s)
}

// leave takes a source out, and ends the snapshot after the last.
func (n *snapshot) leave(s *source) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sources = slices.DeleteFunc(n.sources, func(o *source) bool { return o == s })
	if len(n.sources) == 0 && n.leader != nil {
		n.leader.close()
		n.leader, n.id, n.lent = nil, "", false
	}
}

// open opens the leader.
func (n *snapshot) open(ctx context.Context, s *source) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.sources, s) { // closed, and asked for its splits again
		n.sources = append(n.sources, s)
	}
	if n.leader != nil {
		return nil
	}
	c, err := s.table.server.connect(ctx, s.table.database)
	if err != nil {
		return err
	}
	if err := n.begin(ctx, c); err != nil {
		c.close()
		return err
	}
	n.leader = c
	return nil
}

// begin begins the leader's transaction. Its tables are held before it has a snapshot, which is then of the tables
// that are read: an older one would find none of the rows of a table that has taken the place of another.
func (n *snapshot) begin(ctx context.Context, c *conn) error {
	hold := func(first string) error {
		if _, err := c.exec(ctx, first+begin); err != nil {
			return err
		}
		for _, s := range n.sources {
			if err := s.hold(ctx, c); err != nil {
				return err
			}
		}
		return nil
	}
	if err := hold(""); err != nil {
		return err
	}
	row, err := c.row(ctx, 1, "SELECT pg_catalog.pg_export_snapshot()")
	switch {
	case err == nil:
		n.id = text(row[0])
	case c.broken != nil:
		return err
	default:
		// A server that exports none, as a standby may be, has one reader for all.
		if err := hold("ROLLBACK; "); err != nil {
			return err
		}
	}
	for _, s := range n.sources {
		if err := s.same(ctx, c); err != nil {
			return err
		}
		s.held = true
	}
	return nil
}

// hold keeps others from dropping, replacing and altering what the source reads, until the transaction ends.
func (s *source) hold(ctx context.Context, c *conn) error {
	t := s.table.info
	sql := "LOCK TABLE " + t.rel.sql() + " IN ACCESS SHARE MODE"
	switch {
	case t.kind == materialised: // which LOCK does not take, but a query does
		sql = "SELECT FROM " + t.rel.sql() + " LIMIT 0"
	case t.kind == foreignTable, t.kind == view && s.table.version < 11:
		return nil
	}
	err := c.locked(ctx, t.rel.String(), func(ctx context.Context) error {
		_, err := c.exec(ctx, sql)
		return err
	})
	if code(err) == codeNoTable {
		return fmt.Errorf("table %s: %w", t.rel, server.ErrNotThere)
	}
	return err
}

// same makes sure that the snapshot sees what is held, and that it is what was planned for. The snapshot shows the
// server's catalogs as they were; to_regclass and pg_relation_filenode look at them as they are.
func (s *source) same(ctx context.Context, c *conn) error {
	t := s.table.info
	changed := fmt.Errorf("table %s: %w", t.rel, server.ErrChanged)
	r, err := c.query(ctx, `SELECT c.oid OPERATOR(pg_catalog.||) '.' OPERATOR(pg_catalog.||) c.xmin, c.oid = pg_catalog.to_regclass($3)::pg_catalog.oid AND (c.relkind NOT IN ('r', 'm') OR c.relfilenode = pg_catalog.pg_relation_filenode(c.oid))
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = $2`, t.rel.schema, t.rel.name, t.rel.sql())
	switch {
	case err != nil:
		return err
	case len(r.rows) == 0 || !yes(r.rows[0][1]):
		return changed
	case text(r.rows[0][0]) == t.identity:
		return nil
	}
	now, err := c.describe(ctx, t.rel)
	switch {
	case err != nil:
		return err
	case now == nil || now.kind != t.kind || now.parts != t.parts:
		return changed
	}
	for i := range t.columns {
		planned := &t.columns[i]
		if !slices.ContainsFunc(s.cols, func(p readPlan) bool { return p.name == planned.name }) {
			continue
		}
		if col := now.column(planned.name); col == nil || col.stored != planned.stored || col.notNull != planned.notNull {
			return changed
		}
	}
	return nil
}

// many reports whether several connections can see the snapshot.
func (n *snapshot) many() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.id != ""
}

// reader returns a connection that sees the snapshot: the leader when it is alone, else a new one.
func (n *snapshot) reader(ctx context.Context, s *source, only bool) (*conn, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.lent && (n.id == "" || only && len(n.sources) == 1) {
		if err := s.holdLate(ctx, n.leader); err != nil {
			return nil, err
		}
		n.lent = true
		return n.leader, nil
	}
	if n.id == "" {
		return nil, errOneReader
	}
	c, err := s.table.server.connect(ctx, s.table.database)
	if err != nil {
		return nil, err
	}
	if _, err := c.exec(ctx, begin+"; SET TRANSACTION SNAPSHOT "+literal(n.id)); err != nil {
		c.close()
		return nil, err
	}
	if err := s.holdLate(ctx, c); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// holdLate holds what a source reads that came after the snapshot.
func (s *source) holdLate(ctx context.Context, c *conn) error {
	if s.held {
		return nil
	}
	if err := s.hold(ctx, c); err != nil {
		return err
	}
	return s.same(ctx, c)
}

// giveBack ends the use of a connection.
func (n *snapshot) giveBack(c *conn) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if c == n.leader {
		n.lent = false
		return
	}
	c.close()
}
