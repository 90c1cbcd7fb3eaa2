package memory

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// maxMorsel is the most batches in a split.
const maxMorsel = 16

// source reads one version of a store.
type source struct {
	store   *Store
	columns []int
	limit   int64
	version *version
	done    func()
}

// Source returns a source of the columns that the scan names.
func (s *Store) Source(scan connector.Scan) (connector.Source, error) {
	for _, c := range scan.Columns {
		if c < 0 || c > len(s.schema.Columns) { // the one behind the last is the rowid
			return nil, fmt.Errorf("read table %s: it has no column at position %d", s.id, c)
		}
	}
	return &source{store: s, columns: scan.Columns, limit: scan.Limit}, nil
}

func (s *source) Bounded() bool { return true }

// Splits cuts the batches into ranges: enough for the readers to share the work evenly, few enough for
// each to be worth a turn. With a limit there is one range of what is needed.
func (s *source) Splits(_ context.Context, parallelism int) ([]connector.Split, error) {
	if s.version == nil {
		v, done, err := s.store.acquire()
		if err != nil {
			return nil, err
		}
		s.version, s.done = v, done
	}
	n := len(s.version.batches)
	size := min(max(n/(8*max(parallelism, 1)), 1), maxMorsel)
	if s.limit >= 0 {
		rows := int64(0)
		for i, b := range s.version.batches {
			if rows >= s.limit {
				n = i
				break
			}
			rows += int64(b.N)
		}
		size = max(n, 1)
	}
	var splits []connector.Split
	for from := 0; from < n; from += size {
		state := binary.AppendUvarint(nil, uint64(from))
		state = binary.AppendUvarint(state, uint64(min(from+size, n)))
		splits = append(splits, connector.Split{ID: len(splits), State: state})
	}
	return splits, nil
}

func (s *source) Reader(_ context.Context, splits []connector.Split) (connector.Reader, error) {
	r := &reader{batches: s.version.batches, schema: s.store.schema, columns: s.columns, left: s.limit}
	if slices.Contains(s.columns, len(r.schema.Columns)) {
		n := int64(1)
		for _, b := range r.batches {
			r.places = append(r.places, n)
			n += int64(b.N)
		}
	}
	for _, sp := range splits {
		from, a := binary.Uvarint(sp.State)
		to, b := binary.Uvarint(sp.State[max(a, 0):])
		if a <= 0 || b <= 0 || from > to || to > uint64(len(r.batches)) {
			return nil, fmt.Errorf("read table %s: split %d is not one of this table", s.store.id, sp.ID)
		}
		r.ranges = append(r.ranges, [2]int{int(from), int(to)})
	}
	return r, nil
}

func (s *source) Close() error {
	if s.done != nil {
		s.done()
		s.version, s.done = nil, nil
	}
	return nil
}

// reader lends out the table's own vectors.
type reader struct {
	batches []*column.Batch
	schema  types.Schema
	columns []int
	ranges  [][2]int
	places  []int64 // of the first row of each batch; nil when no rowid is read
	left    int64   // rows that the limit still allows; negative: no limit
}

func (r *reader) Read(ctx context.Context, b *column.Batch) (connector.Status, error) {
	if err := ctx.Err(); err != nil {
		return connector.End, err
	}
	for len(r.ranges) > 0 && r.ranges[0][0] == r.ranges[0][1] {
		r.ranges = r.ranges[1:]
	}
	b.Sel, b.Kind, b.N, b.Shared = nil, nil, 0, true
	b.Cols = make([]*column.Vector, len(r.columns)) // b's own list may still be read by whoever got it before
	if len(r.ranges) == 0 || r.left == 0 {
		for i, c := range r.columns {
			if c == len(r.schema.Columns) {
				b.Cols[i] = column.New(types.Of(types.BigInt).AsNotNull(), 0)
				continue
			}
			b.Cols[i] = column.New(r.schema.Columns[c].Type, 0)
		}
		return connector.End, nil
	}
	at := r.ranges[0][0]
	src := r.batches[at]
	r.ranges[0][0]++
	b.N = src.N
	if r.left >= 0 {
		b.N = int(min(int64(b.N), r.left))
		r.left -= int64(b.N)
	}
	for i, c := range r.columns {
		if c == len(r.schema.Columns) {
			b.Cols[i] = rowids(r.places[at], b.N)
			continue
		}
		b.Cols[i] = src.Cols[c]
		if b.N < src.N {
			b.Cols[i] = src.Cols[c].Head(b.N)
		}
	}
	return connector.More, nil
}

// rowids are n numbers in a row.
func rowids(first int64, n int) *column.Vector {
	v := column.New(types.Of(types.BigInt).AsNotNull(), n)
	for i := range int64(n) {
		v.AppendI64(first + i)
	}
	return v
}

// Position is the batch to read next, by its number in the table.
func (r *reader) Position() []byte {
	next := len(r.batches)
	for _, g := range r.ranges {
		if g[0] < g[1] {
			next = g[0]
			break
		}
	}
	return binary.AppendUvarint(nil, uint64(next))
}

func (r *reader) Close() error { return nil }
