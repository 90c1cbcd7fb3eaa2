package datagen

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// source reads a table once.
type source struct {
	t     *table
	scan  connector.Scan
	types []types.Type
	batch int // rows
	seed  uint64
	zone  *time.Location
	pace  *pace
}

// Source returns a source of the columns that the scan names.
func (t *table) Source(_ context.Context, scan connector.Scan) (connector.Source, error) {
	s := &source{t: t, scan: scan, pace: &pace{rate: t.rate, now: time.Now}}
	size := int64(1)
	for _, c := range scan.Columns {
		if c < 0 || c >= len(t.columns) {
			return nil, fmt.Errorf("read table %s: it has no column at position %d", t.id, c)
		}
		s.types = append(s.types, t.columns[c].Type)
		size += t.generators[c].size()
	}
	s.batch = int(min(max(batchBytes/size, 1), column.DefaultRows))
	return s, nil
}

// batchBytes is about what a batch takes at most, if a row does not take more.
const batchBytes = 16 << 20

// Bounded reports whether the table ends.
func (s *source) Bounded() bool { return s.t.Bounded() }

// piece is a split: rows by number. It is a reader's position, too.
type piece struct {
	From uint64
	To   uint64
}

const (
	pieceRows = 1 << 17 // the least rows worth a split of their own
	maxPieces = 4096
	fast      = 1e6 // rows a second from which on several readers are worth it
)

// Splits cuts the rows, for several readers, unless there is no end to them or they come slowly anyway.
func (s *source) Splits(ctx context.Context, parallelism int) ([]connector.Split, error) {
	settings := connector.ScopeOf(ctx).Job
	s.seed, s.zone = mix(settings.Seed^name(s.t.id.String())), settings.Zone
	if s.zone == nil {
		s.zone = time.UTC
	}
	end := uint64(math.MaxInt64)
	if s.t.rows >= 0 {
		end = uint64(s.t.rows)
	}
	if s.scan.Limit >= 0 {
		end = min(end, uint64(s.scan.Limit))
	}
	pieces := uint64(1)
	if parallelism > 1 && s.t.rate >= fast && s.Bounded() {
		pieces = min(max(end/pieceRows, 1), maxPieces)
	}
	if s.t.parallelism > 0 {
		pieces = min(pieces, uint64(s.t.parallelism))
	}
	splits := make([]connector.Split, pieces)
	for i := range splits {
		p := piece{From: end / pieces * uint64(i), To: end / pieces * uint64(i+1)}
		if i == len(splits)-1 {
			p.To = end
		}
		splits[i] = connector.Split{ID: i, State: p.encode()}
	}
	return splits, nil
}

func (p piece) encode() []byte {
	b, _ := json.Marshal(p) // two numbers
	return b
}

// Reader returns a reader of rows.
func (s *source) Reader(_ context.Context, splits []connector.Split) (connector.Reader, error) {
	r := &reader{s: s, now: s.t.clock()}
	for _, sp := range splits {
		var p piece
		if err := json.Unmarshal(sp.State, &p); err != nil || p.From > p.To {
			return nil, fmt.Errorf("read table %s: split %d is not one of this table", s.t.id, sp.ID)
		}
		r.pieces = append(r.pieces, p)
	}
	return r, nil
}

// Close does nothing.
func (s *source) Close() error { return nil }

// reader makes the rows of pieces one after the other.
type reader struct {
	s      *source
	now    func() time.Time
	pieces []piece // the first is being read
}

// patience is how long a Read waits for a row.
const patience = 50 * time.Millisecond

// Read makes the next rows.
func (r *reader) Read(ctx context.Context, b *column.Batch) (connector.Status, error) {
	if ctx.Err() != nil {
		return connector.End, context.Cause(ctx)
	}
	r.prepare(b)
	for len(r.pieces) > 1 && r.pieces[0].From == r.pieces[0].To {
		r.pieces = r.pieces[1:]
	}
	if len(r.pieces) == 0 || r.pieces[0].From == r.pieces[0].To {
		return connector.End, nil
	}
	p := &r.pieces[0]
	n, err := r.due(ctx, int(min(uint64(r.s.batch), p.To-p.From)))
	if err != nil {
		return connector.End, err
	}
	if n == 0 {
		if r.s.Bounded() {
			return connector.More, nil
		}
		return connector.Idle, nil
	}
	a := rows{seed: r.s.seed, row: p.From, n: n, now: r.now().In(r.s.zone)}
	for i, c := range r.s.scan.Columns {
		r.s.t.generators[c].fill(b.Cols[i], a)
	}
	b.N = n
	p.From += uint64(n)
	if p.From == p.To && len(r.pieces) == 1 {
		return connector.End, nil
	}
	return connector.More, nil
}

// due waits for rows to be due, and returns how many.
func (r *reader) due(ctx context.Context, want int) (int, error) {
	for left := patience; ; {
		n, wait := r.s.pace.take(want)
		if n > 0 || left <= 0 {
			return n, nil
		}
		wait = min(wait, left)
		left -= wait
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return 0, context.Cause(ctx)
		case <-timer.C:
		}
	}
}

func (r *reader) prepare(b *column.Batch) {
	if len(b.Cols) != len(r.s.types) || b.Shared {
		*b = *column.NewBatch(r.s.types, r.s.batch)
	}
	b.Reset()
}

// Position is the rest of the rows being read.
func (r *reader) Position() []byte {
	if len(r.pieces) == 0 {
		return piece{}.encode()
	}
	return r.pieces[0].encode()
}

// Close ends the reading.
func (r *reader) Close() error {
	r.pieces = nil
	return nil
}
