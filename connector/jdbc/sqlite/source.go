package sqlite

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

const (
	morselRows   = 16384 // rowids a split
	maxMorsels   = 1024
	snapshotRuns = 3 // tries for one snapshot of a WAL file before its writers are held up
)

// source reads one table or view once, all its readers from one snapshot.
type source struct {
	store *Store
	info  *TableInfo
	def   types.Schema
	scan  connector.Scan

	cols []scanColumn
	key  scanKey
	snap *snapshot

	mu   sync.Mutex
	free []*session // connections that hold the snapshot and read nothing now
	all  []*session
}

// session is one connection of the snapshot with its statement.
type session struct {
	c    *Conn
	scan *scanner
}

// newSource returns a source of a described table; schema says as what its columns are read.
func newSource(ctx context.Context, s *Store, info *TableInfo, schema types.Schema, scan connector.Scan) (*source, error) {
	src := &source{store: s, info: info, def: schema, scan: scan}
	for _, i := range scan.Columns {
		if i == len(schema.Columns) && info.Rowid != "" { // of an UPDATE or DELETE
			src.cols = append(src.cols, scanColumn{name: info.Rowid, t: types.Of(types.BigInt).AsNotNull()})
			continue
		}
		col := schema.Columns[i]
		had, ok := info.column(col.Name)
		if !ok {
			return nil, fmt.Errorf("table %s has no column %s", info.Name, col.Name)
		}
		sc := scanColumn{name: col.Name, t: col.Type}
		if col.Type.IsString() {
			sc.hexBlob = s.asText(info.Name, col.Name)
			sc.anyText = sc.hexBlob || info.View || affinityOf(had.Declared) != affinityText
		}
		src.cols = append(src.cols, sc)
	}
	switch {
	case len(src.cols) == 0:
	case info.Rowid != "":
		src.key.rowid = true
	case !info.View && !info.Virtual:
		src.key.names = info.PrimaryKey
	}
	src.join(ctx)
	return src, nil
}

// Bounded reports that a table ends.
func (s *source) Bounded() bool { return true }

// Splits opens the snapshot and cuts the rowids into ranges.
func (s *source) Splits(ctx context.Context, parallelism int) ([]connector.Split, error) {
	err := s.snap.openFor(ctx, s, max(1, parallelism))
	var splits []connector.Split
	if err == nil {
		most := maxMorsels
		if len(s.all) < parallelism { // each split may have a reader of its own
			most = len(s.all)
		}
		splits, err = s.cut(ctx, parallelism, most)
	}
	if err != nil {
		s.closeAll()
		return nil, err
	}
	return splits, nil
}

// cut returns at most most splits for some readers: one when more make no sense.
func (s *source) cut(ctx context.Context, parallelism, most int) ([]connector.Split, error) {
	if parallelism <= 1 || most == 1 || s.info.Rowid == "" || s.scan.Limit >= 0 {
		return []connector.Split{{ID: 0}}, nil
	}
	return s.ranges(ctx, most)
}

// ranges cuts the rowids between the first and the last into at most most equal morsels.
func (s *source) ranges(ctx context.Context, most int) ([]connector.Split, error) {
	c := s.all[0].c
	defer c.interruptOn(ctx)()
	t, id := "main."+Quote(s.info.Name), Quote(s.info.Rowid)
	rows, err := c.Rows("SELECT (SELECT min(t." + id + ") FROM " + t + " AS t), (SELECT max(t." + id + ") FROM " + t + " AS t)")
	if err != nil {
		return nil, err
	}
	lo, ok := rows[0][0].(int64)
	hi, _ := rows[0][1].(int64)
	if !ok {
		return []connector.Split{{ID: 0}}, nil
	}
	width := uint64(hi) - uint64(lo) // one less than the rowids; cannot overflow
	n := min(width/morselRows+1, uint64(most))
	step := width/n + 1
	var splits []connector.Split
	for i := uint64(0); i < n; i++ {
		from := uint64(lo) + i*step
		if i*step > width {
			break
		}
		to := uint64(hi)
		if left := width - i*step; left >= step {
			to = from + step - 1
		}
		state := binary.LittleEndian.AppendUint64(nil, from)
		state = binary.LittleEndian.AppendUint64(state, to)
		splits = append(splits, connector.Split{ID: int(i), State: state})
	}
	return splits, nil
}

// touch reads something, so that a transaction takes its snapshot.
func touch(c *Conn) error { return c.Exec("SELECT 1 FROM main.sqlite_schema LIMIT 1") }

func (s *source) openReader() error {
	c, err := s.store.open(Read)
	if err != nil {
		return err
	}
	ses := &session{c: c}
	s.all = append(s.all, ses)
	s.free = append(s.free, ses)
	if err := c.Exec("BEGIN"); err != nil {
		return err
	}
	return touch(c)
}

func (s *source) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ses := range s.all {
		if ses.scan != nil {
			ses.scan.close()
		}
		_ = ses.c.Close() // a read transaction has nothing to lose
	}
	s.all, s.free = nil, nil
}

// Close ends the source's part of the snapshot.
func (s *source) Close() error {
	s.snap.leave(s)
	s.closeAll()
	return nil
}

// sql returns the statement of a split, ranged or whole, and the values of the filters. The range's ends
// are ?1 and ?2, the filters' values follow.
func (s *source) sql(ranged bool) (string, []any) {
	var b strings.Builder
	b.WriteString("SELECT ")
	for i, c := range s.cols {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("t." + Quote(c.name))
	}
	if len(s.cols) == 0 {
		b.WriteString("NULL")
	}
	var order []string
	if s.key.rowid {
		order = append(order, "t."+Quote(s.info.Rowid))
		b.WriteString(", t." + Quote(s.info.Rowid))
	}
	for _, k := range s.key.names {
		order = append(order, "t."+Quote(k))
		b.WriteString(", t." + Quote(k))
	}
	b.WriteString(" FROM main." + Quote(s.info.Name) + " AS t")
	var where []string
	if ranged {
		where = append(where, "t."+Quote(s.info.Rowid)+" BETWEEN ?1 AND ?2")
	}
	p := &pushed{info: s.info, schema: s.def, store: s.store, next: 3}
	for _, f := range s.scan.Filters {
		if text, ok := p.condition(f); ok {
			where = append(where, text)
		}
	}
	if len(where) > 0 {
		b.WriteString(" WHERE " + strings.Join(where, " AND "))
	}
	if len(order) > 0 {
		b.WriteString(" ORDER BY " + strings.Join(order, ", "))
	}
	if s.scan.Limit >= 0 {
		fmt.Fprintf(&b, " LIMIT %d", s.scan.Limit)
	}
	return b.String(), p.args
}

// Reader takes a connection of the snapshot and reads the splits in order.
func (s *source) Reader(ctx context.Context, splits []connector.Split) (connector.Reader, error) {
	s.mu.Lock()
	n := len(s.free)
	if n == 0 {
		s.mu.Unlock()
		return nil, fmt.Errorf("table %s: more readers than the snapshot was opened for", s.info.Name)
	}
	ses := s.free[n-1]
	s.free = s.free[:n-1]
	s.mu.Unlock()
	r := &reader{src: s, ses: ses, splits: splits, position: -1}
	if ses.scan == nil {
		ranged := len(splits) > 0 && splits[0].State != nil
		sql, args := s.sql(ranged)
		r.args = args
		sc, err := newScanner(ses.c, s.store, s.info.Name, sql, s.cols, s.key)
		if err != nil {
			_ = r.Close() // gives the connection back
			return nil, err
		}
		ses.scan = sc
	} else {
		_, r.args = s.sql(true)
	}
	return r, nil
}

// reader reads the rows of some splits, one after the other.
type reader struct {
	src      *source
	ses      *session
	splits   []connector.Split
	args     []any // of the filters
	open     bool  // the statement runs on splits[0]
	position int64 // the last split read to its end
	inSplit  int64
}

// Read fills b with the next rows.
func (r *reader) Read(ctx context.Context, b *column.Batch) (connector.Status, error) {
	if err := ctx.Err(); err != nil {
		return connector.End, context.Cause(ctx)
	}
	deadline := time.Now().Add(100 * time.Millisecond)
	if len(r.splits) == 0 {
		r.ses.scan.prepareBatch(b)
		b.Reset()
		return connector.End, nil
	}
	for len(r.splits) > 0 {
		if !r.open {
			args := append(make([]any, 0, 2+len(r.args)), nil, nil)
			if st := r.splits[0].State; len(st) == 16 {
				args[0] = int64(binary.LittleEndian.Uint64(st))
				args[1] = int64(binary.LittleEndian.Uint64(st[8:]))
			}
			if err := r.ses.scan.start(append(args, r.args...)...); err != nil {
				return connector.End, err
			}
			r.open, r.inSplit = true, 0
		}
		more, err := r.ses.scan.read(ctx, b)
		if err != nil {
			return connector.End, err
		}
		r.inSplit += int64(b.N)
		if !more {
			r.position = int64(r.splits[0].ID)
			r.splits = r.splits[1:]
			r.open, r.inSplit = false, 0
		}
		if b.N > 0 || time.Now().After(deadline) {
			break
		}
	}
	if len(r.splits) == 0 {
		return connector.End, nil
	}
	return connector.More, nil
}

// Position is the last split read whole and the rows returned of the next.
func (r *reader) Position() []byte {
	p := binary.LittleEndian.AppendUint64(nil, uint64(r.position))
	return binary.LittleEndian.AppendUint64(p, uint64(r.inSplit))
}

// Close gives the connection back to the snapshot.
func (r *reader) Close() error {
	if r.ses == nil {
		return nil
	}
	if r.ses.scan != nil {
		r.ses.scan.stop()
	}
	r.src.mu.Lock()
	defer r.src.mu.Unlock()
	r.src.free = append(r.src.free, r.ses)
	r.ses = nil
	return nil
}
