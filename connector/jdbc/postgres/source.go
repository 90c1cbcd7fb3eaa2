package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// A table of more pages than this is cut into morsels of about morselPages, of which there are no more than maxMorsels.
const (
	bigPages    = 1024
	morselPages = 512
	maxMorsels  = 1024
)

var errOneReader = errors.New("this server cannot let several connections see one state of the database, as a job that reads it twice needs")

// Source returns a new source of the table. Sources made with a context of one scope see one snapshot.
func (t *Table) Source(ctx context.Context, scan connector.Scan) (connector.Source, error) {
	s := &source{table: t, scan: scan}
	for _, at := range scan.Columns {
		if at == len(t.schema.Columns) {
			if err := t.hasRowid(); err != nil {
				return nil, err
			}
			s.cols = append(s.cols, rowidPlan())
			s.types = append(s.types, rowidType())
			continue
		}
		col, err := t.column(at)
		if err != nil {
			return nil, err
		}
		want := t.schema.Columns[at].Type
		plan, err := planRead(col, want, t.utf8)
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.info.rel, err)
		}
		s.cols = append(s.cols, plan)
		s.types = append(s.types, want)
	}
	s.join(ctx)
	return s, nil
}

// source reads one table or view once, all its readers from one snapshot.
type source struct {
	table *Table
	scan  connector.Scan
	cols  []readPlan
	types []types.Type
	snap  *snapshot
	one   bool // there is but one split
	held  bool // what it reads is held by the snapshot's leader

	mu   sync.Mutex
	free []*conn // that hold the snapshot and read nothing now
}

// Bounded reports that a table ends.
func (s *source) Bounded() bool { return true }

// Splits fixes the snapshot and cuts the pages into ranges.
func (s *source) Splits(ctx context.Context, parallelism int) ([]connector.Split, error) {
	if err := s.snap.open(ctx, s); err != nil {
		return nil, err
	}
	pages := s.table.info.pages
	if s.one = parallelism <= 1 || pages < bigPages || !s.ranged() || s.scan.Limit >= 0; s.one {
		return []connector.Split{{ID: 0}}, nil
	}
	n := min(max(pages/morselPages, int64(parallelism)), maxMorsels)
	step := (pages + n - 1) / n
	var splits []connector.Split
	for i, from := 0, int64(0); from < pages; i, from = i+1, from+step {
		state := binary.LittleEndian.AppendUint64(nil, uint64(from))
		to := from + step
		if to >= pages {
			to = -1 // to the end, wherever that is in the snapshot
		}
		splits = append(splits, connector.Split{ID: i, State: binary.LittleEndian.AppendUint64(state, uint64(to))})
	}
	return splits, nil
}

// ranged reports whether a part of the table's pages can be read alone.
func (s *source) ranged() bool {
	i := s.table.info
	return (i.kind == ordinary && !i.parts || i.kind == materialised) && s.table.version >= 14 && s.snap.many()
}

// from is the FROM and WHERE of a split's statement.
func (s *source) from(split connector.Split) string {
	var where []string
	if len(split.State) == 16 {
		from, to := int64(binary.LittleEndian.Uint64(split.State)), int64(binary.LittleEndian.Uint64(split.State[8:]))
		where = append(where, "t.ctid >= '("+strconv.FormatInt(from, 10)+",0)'::pg_catalog.tid")
		if to >= 0 {
			where = append(where, "t.ctid < '("+strconv.FormatInt(to, 10)+",0)'::pg_catalog.tid")
		}
	}
	for _, f := range s.scan.Filters {
		if text, ok := s.table.condition(f); ok {
			where = append(where, text)
		}
	}
	sql := " FROM " + s.table.info.rel.sql() + " AS t"
	if len(where) > 0 {
		sql += " WHERE " + strings.Join(where, " AND ")
	}
	if s.scan.Limit >= 0 {
		sql += " LIMIT " + strconv.FormatInt(s.scan.Limit, 10)
	}
	return sql
}

// sql is the statement of a split.
func (s *source) sql(split connector.Split) string {
	var b strings.Builder
	b.WriteString("COPY (SELECT ")
	for i, c := range s.cols {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString("t." + quote(c.name) + c.cast)
	}
	b.WriteString(s.from(split) + ") TO STDOUT (FORMAT binary)")
	return b.String()
}

// Reader reads splits in order.
func (s *source) Reader(ctx context.Context, splits []connector.Split) (connector.Reader, error) {
	s.mu.Lock()
	var c *conn
	if n := len(s.free); n > 0 {
		c, s.free = s.free[n-1], s.free[:n-1]
	}
	s.mu.Unlock()
	if c == nil {
		var err error
		if c, err = s.snap.reader(ctx, s, s.one); err != nil {
			return nil, err
		}
		if !s.table.info.isView() {
			// Workers of the server would mix the order of the rows. A view has the order that its query gives.
			if _, err := c.exec(ctx, "SET LOCAL max_parallel_workers_per_gather = 0"); err != nil {
				s.snap.giveBack(c)
				return nil, err
			}
		}
	}
	return &reader{src: s, c: c, splits: splits, position: -1}, nil
}

// Close ends the source's part of the snapshot.
func (s *source) Close() error {
	s.mu.Lock()
	free := s.free
	s.free = nil
	s.mu.Unlock()
	for _, c := range free {
		s.snap.giveBack(c)
	}
	s.snap.leave(s)
	return nil
}
