package postgres

import (
	"context"
	"slices"
	"sync"

	"github.com/sluice-sql/sluice/connector"
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
	r, err := c.exec(ctx, begin+"; SELECT pg_catalog.pg_export_snapshot()")
	if err != nil {
		if c.broken != nil {
			c.close()
			return err
		}
		// A server that exports none, as a standby may be, has one reader for all.
		if _, err := c.exec(ctx, "ROLLBACK; "+begin+"; SELECT 1"); err != nil {
			c.close()
			return err
		}
	} else {
		n.id = text(r.rows[0][0])
	}
	n.leader = c
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
	return c, nil
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
