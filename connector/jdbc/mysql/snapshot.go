package mysql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sluice-sql/sluice/connector"
)

// snapshot is what all the sources of a job on one server see. The server gives a snapshot to one session alone, and a
// session has one result at a time: so the sources share a session, and their readers take turns, each from its first
// row to its last. One that waits returns without rows now and then. Nobody waits for a reader that waits for him: the
// engine begins to read a table only when all that its rows are joined with has been read.
type snapshot struct {
	turn chan struct{} // full while a reader has the session

	mu      sync.Mutex
	sources []*source // that are neither read to the end nor closed
	c       *conn     // nil before the first is opened, and after the last is read
	err     error     // why the session is of no more use
}

// snapshotKey: two catalogs see one snapshot when they reach the server by the same address, user and parameters.
type snapshotKey struct{ server, parameters string }

// turnWait is how long a reader waits for its turn at a time.
const turnWait = 100 * time.Millisecond

// snapshotOf is the one of a job.
func (s *Server) snapshotOf(ctx context.Context) *snapshot {
	key := snapshotKey{server: s.Key()}
	for _, p := range slices.Sorted(maps.Keys(s.config.Parameters)) {
		key.parameters += strconv.Quote(p) + strconv.Quote(s.config.Parameters[p])
	}
	return connector.ScopeOf(ctx).Value(key, func() any { return &snapshot{turn: make(chan struct{}, 1)} }).(*snapshot)
}

// join adds a source.
func (n *snapshot) join(s *source) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if !slices.Contains(n.sources, s) {
		n.sources = append(n.sources, s)
	}
}

// open opens the session, and with it the snapshot, unless another source has.
func (n *snapshot) open(ctx context.Context, s *source) error {
	n.join(s)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.c != nil || n.err != nil {
		return n.err
	}
	c, err := s.s.connect(ctx, s.table.database)
	if err != nil {
		return err
	}
	for range holdTries {
		if err = n.begin(ctx, c); numberOf(err) != errDeadlock {
			break
		}
	}
	if err != nil {
		_ = c.close()
		return err
	}
	n.c = c
	return nil
}

// holdTries is how often all tables are held anew when another session wants several of them, too, in another order.
const holdTries = 20

// begin begins the transaction. Its tables are held before it has a snapshot, until it ends: otherwise a table could take
// the place of one of them in between, and the snapshot would have none of its rows. LIMIT 0 holds a table, or all
// tables of a view, and reads nothing; the first row that is read makes the snapshot. Views come after tables, since one
// that is worked out at once may read.
func (n *snapshot) begin(ctx context.Context, c *conn) error {
	if _, err := c.exec(ctx, "START TRANSACTION READ ONLY"); err != nil {
		return err
	}
	var first *table
	read := func(t *table, limit string) error {
		if _, err := c.query(ctx, "SELECT 1 FROM "+qualified(t.database, t.name)+" LIMIT "+limit); err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
		return nil
	}
	var tables, views []*table
	for _, s := range n.sources {
		t := s.table
		if t.view() {
			views = append(views, t)
			continue
		}
		tables = append(tables, t)
		if first == nil && strings.EqualFold(t.engine, "InnoDB") {
			first = t
		}
	}
	if len(n.sources) > 1 || first == nil { // to read the only one is to hold it
		for _, t := range append(tables, views...) {
			if err := read(t, "0"); err != nil {
				return err
			}
		}
	}
	if first != nil {
		if err := read(first, "1"); err != nil {
			return err
		}
	}
	for _, s := range n.sources {
		if err := s.unchanged(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// unchanged makes sure that the columns are still what the rows are to be read as.
func (s *source) unchanged(ctx context.Context, c *conn) error {
	now := &table{database: s.table.database, name: s.table.name, kind: s.table.kind}
	if err := c.describeColumns(ctx, now); err != nil {
		return err
	}
	for _, f := range s.fields {
		had, planned := now.column(f.name), s.table.column(f.name)
		if had == nil || had.text != planned.text || had.charset != planned.charset {
			return fmt.Errorf("table %s: column %s was altered or dropped by another session; run the statement again", s.table.name, f.name)
		}
	}
	return nil
}

// enter waits for the session; false: it is not the reader's turn yet.
func (n *snapshot) enter(ctx context.Context) (*conn, bool, error) {
	select {
	case n.turn <- struct{}{}:
	default:
		later := time.NewTimer(turnWait)
		defer later.Stop()
		select {
		case n.turn <- struct{}{}:
		case <-ctx.Done():
			return nil, false, context.Cause(ctx)
		case <-later.C:
			return nil, false, nil
		}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.c != nil {
		return n.c, true, nil
	}
	<-n.turn
	if n.err == nil {
		return nil, false, errors.New("the snapshot has ended")
	}
	return nil, false, n.err
}

// exit gives the session back; early: rows of the source are still to come, which nobody wants.
func (n *snapshot) exit(r *reader, early bool) {
	if early {
		n.mu.Lock()
		others := slices.ContainsFunc(n.sources, func(o *source) bool { return o != r.src })
		n.mu.Unlock()
		var err error
		if others {
			err = r.c.skip(r)
		}
		if !others || err != nil {
			r.c.abandon()
			n.mu.Lock()
			n.c, n.err = nil, err
			n.mu.Unlock()
		}
	}
	<-n.turn
	n.leave(r.src)
}

// leave takes a source out, and ends the session after the last: the snapshot would keep a REPLACE of the table waiting.
func (n *snapshot) leave(s *source) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sources = slices.DeleteFunc(n.sources, func(o *source) bool { return o == s })
	if len(n.sources) == 0 && n.c != nil {
		_ = n.c.close()
		n.c = nil
	}
}

// skip has the server send no more of the result at hand, and keeps the session and its snapshot.
func (c *conn) skip(r *reader) error {
	ctx, stop := context.WithTimeout(context.Background(), killTime)
	defer stop()
	// If that cannot be done the rest is read for nothing.
	if k, err := c.s.dial(ctx, "", false); err == nil {
		_, _ = k.exec(ctx, "KILL QUERY "+strconv.FormatUint(c.id, 10))
		_ = k.close()
	}
	var err error
	for err == nil {
		err = r.rows.Next(r.dest)
	}
	if !errors.Is(err, io.EOF) && lost(c.s.fault(err)) {
		return c.s.fault(err)
	}
	// The order to end may come when the result has ended: then it is this statement's.
	if _, err := c.exec(context.Background(), "DO 0"); lost(err) {
		return err
	}
	return nil
}
