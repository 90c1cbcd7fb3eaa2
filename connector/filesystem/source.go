package filesystem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// source reads the files that are there when Splits is called.
type source struct {
	t    *table
	scan connector.Scan

	columns []int // positions in the files of the columns wanted that stand there
	files   map[int]file
	watch   *watch // nil: no files come later
}

// Source returns a source of the columns that the scan names.
func (t *table) Source(_ context.Context, scan connector.Scan) (connector.Source, error) {
	s := &source{t: t, scan: scan, files: map[int]file{}}
	for _, c := range scan.Columns {
		if c < 0 || c >= len(t.schema.Columns) {
			return nil, fmt.Errorf("read table %s: it has no column at position %d", t.id, c)
		}
		if c < t.physical {
			s.columns = append(s.columns, c)
		}
	}
	if !t.Bounded() {
		return newWatching(s), nil
	}
	return s, nil
}

// Bounded reports whether the table ends.
func (s *source) Bounded() bool { return s.t.Bounded() }

// pieceSize is how large pieces of a file are to be.
const pieceSize = 8 << 20

// piece is a split: a part of a file.
type piece struct {
	File  int
	Start connector.Place
	End   int64 // the offset; of a compressed file nothing
	Last  bool  // the file ends with it
}

// Splits lists the files, and cuts large ones when several readers can read.
func (s *source) Splits(ctx context.Context, parallelism int) ([]connector.Split, error) {
	sweep(s.t.path)
	files, err := list(s.t.path, s.t.pattern)
	if err != nil {
		return nil, err
	}
	var splits []connector.Split
	for i, f := range files {
		s.files[i] = f
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		var cuts []connector.Place
		if parallelism > 1 && s.scan.Limit < 0 && f.info.Size() >= 2*pieceSize && !f.compressed() {
			if cuts, err = s.cuts(ctx, f); err != nil {
				return nil, err
			}
		}
		var start connector.Place
		for k := 0; k <= len(cuts); k++ {
			p := piece{File: i, Start: start, End: f.info.Size(), Last: k == len(cuts)}
			if k < len(cuts) {
				p.End, start = cuts[k].Offset, cuts[k]
			}
			state, err := json.Marshal(p)
			if err != nil {
				return nil, err
			}
			splits = append(splits, connector.Split{ID: len(splits), State: state})
		}
	}
	return splits, nil
}

func (s *source) cuts(ctx context.Context, f file) (cuts []connector.Place, err error) {
	in, err := f.openAt(s.t.openFiles())
	if err != nil {
		return nil, pickHelp(err, s.t.path, s.t.codec.Extension(), f)
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return s.t.codec.Cuts(ctx, in, f.info.Size(), int(min(f.info.Size()/pieceSize, 1024)))
}

// Reader returns a reader of pieces.
func (s *source) Reader(_ context.Context, splits []connector.Split) (connector.Reader, error) {
	r := &reader{source: s, left: s.scan.Limit}
	for _, sp := range splits {
		var p piece
		err := json.Unmarshal(sp.State, &p)
		if _, ok := s.files[p.File]; err != nil || !ok {
			return nil, fmt.Errorf("read table %s: split %d is not one of this table", s.t.id, sp.ID)
		}
		r.pieces = append(r.pieces, p)
	}
	return r, nil
}

// Close does nothing: files are open only while a reader reads them.
func (s *source) Close() error { return nil }

// reader reads pieces one after the other.
type reader struct {
	source *source
	pieces []piece
	left   int64 // rows that the limit still allows; negative: no limit

	decoder connector.Decoder // of pieces[0], once it is open
	in      io.Closer
	raw     *opened          // of an uncompressed file, which is checked at the end
	data    []*column.Vector // those of a batch that stand in the file
}

// Read fills b with the next rows.
func (r *reader) Read(ctx context.Context, b *column.Batch) (connector.Status, error) {
	if ctx.Err() != nil {
		return connector.End, context.Cause(ctx)
	}
	r.prepare(b)
	for len(r.pieces) > 0 && r.left != 0 {
		if r.decoder == nil {
			if w := r.source.watch; w != nil && w.postponed(r.pieces[0].File) {
				r.pieces = r.pieces[1:]
				continue
			}
			if err := r.open(); err != nil {
				return connector.End, err
			}
		}
		n, err := r.decoder.Read(r.data)
		if err == io.EOF {
			if err := r.finish(); err != nil {
				return connector.End, err
			}
			if ctx.Err() != nil {
				return connector.End, context.Cause(ctx)
			}
			continue
		}
		if err != nil {
			return connector.End, stranger(err, r.source.t.path, r.source.t.codec.Extension(), r.source.files[r.pieces[0].File])
		}
		b.N = n
		if r.left >= 0 {
			if int64(n) > r.left {
				b.N = int(r.left)
				for _, v := range r.data {
					*v = *v.Head(b.N)
				}
			}
			r.left -= int64(b.N)
		}
		r.metadata(b)
		return connector.More, nil
	}
	return connector.End, nil
}

// prepare empties b and finds its vectors for what stands in the files.
func (r *reader) prepare(b *column.Batch) {
	t, columns := r.source.t, r.source.scan.Columns
	if len(b.Cols) != len(columns) || b.Shared {
		ts := make([]types.Type, len(columns))
		for i, c := range columns {
			ts[i] = t.schema.Columns[c].Type
		}
		*b = *column.NewBatch(ts, column.DefaultRows)
	}
	b.Reset()
	r.data = r.data[:0]
	for i, c := range columns {
		if c < t.physical {
			r.data = append(r.data, b.Cols[i])
		}
	}
}

func (r *reader) open() error {
	p := r.pieces[0]
	f := r.source.files[p.File]
	in := connector.Piece{Name: f.path, Start: p.Start, Last: p.Last, Memory: r.source.t.memory()}
	if f.compressed() {
		s, err := f.open(r.source.t.openFiles())
		if err != nil {
			return r.foreign(err, f)
		}
		in.Data, r.in = s, s
	} else {
		raw, err := f.openAt(r.source.t.openFiles())
		if err != nil {
			return r.foreign(err, f)
		}
		in.Data, in.File, r.in, r.raw = io.NewSectionReader(raw, p.Start.Offset, p.End-p.Start.Offset), raw, raw, raw
	}
	d, err := r.source.t.codec.Decoder(in, r.source.columns)
	if err != nil {
		return errors.Join(err, r.close())
	}
	r.decoder = d
	return nil
}

func (r *reader) foreign(err error, f file) error {
	return pickHelp(err, r.source.t.path, r.source.t.codec.Extension(), f)
}

// finish ends the first piece.
func (r *reader) finish() error {
	n := r.pieces[0].File
	f := r.source.files[n]
	var err error
	if r.raw != nil {
		err = f.unchanged(r.raw)
	}
	if w := r.source.watch; w != nil && err == nil {
		err = w.read(n)
	}
	r.pieces = r.pieces[1:]
	return errors.Join(err, r.close())
}

func (r *reader) close() error {
	if r.decoder != nil {
		r.decoder.Close()
	}
	var err error
	if r.in != nil {
		err = r.in.Close()
	}
	r.decoder, r.in, r.raw = nil, nil, nil
	return err
}

// metadata fills the columns that say of which file the rows are.
func (r *reader) metadata(b *column.Batch) {
	t := r.source.t
	f := r.source.files[r.pieces[0].File]
	for i, c := range r.source.scan.Columns {
		if c < t.physical {
			continue
		}
		v := b.Cols[i]
		switch t.metadata[c-t.physical] {
		case metaPath:
			path := f.path
			if abs, err := filepath.Abs(path); err == nil {
				path = abs
			}
			for range b.N {
				v.AppendString(path)
			}
		case metaName:
			for range b.N {
				v.AppendString(filepath.Base(f.path))
			}
		case metaSize:
			for range b.N {
				v.AppendI64(f.info.Size())
			}
		case metaTime:
			ms := f.info.ModTime().UnixMilli()
			at, _ := types.RescaleTimestamp(ms*1000, types.WithPrecision(types.TimestampLTZ, 3), v.Type)
			for range b.N {
				v.AppendI64(at)
			}
		}
	}
}

// position is where a reader stands.
type position struct {
	File  string
	Place connector.Place
}

// Position names the file being read and the place in it.
func (r *reader) Position() []byte {
	var p position
	if len(r.pieces) > 0 {
		p.File, p.Place = r.source.files[r.pieces[0].File].path, r.pieces[0].Start
		if r.decoder != nil {
			p.Place = r.decoder.Place()
		}
	}
	b, _ := json.Marshal(p) // a string and two numbers
	return b
}

// Close ends the reading.
func (r *reader) Close() error {
	r.pieces = nil
	return r.close()
}
