package exec

import (
	"fmt"
	"math"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// Rows kept by an operator lie in chunks of chunkRows rows, so that growing copies nothing. A row's id is
// its number: chunk and place are the high and low bits.
const (
	chunkBits = 14
	chunkRows = 1 << chunkBits
	chunkMask = chunkRows - 1
)

// noRow is the id of a row that is not there; gathered, it is all NULL.
const noRow = math.MaxUint32

// maxChunkText is the most bytes of one text column in a chunk, whose offsets have 31 bits.
const maxChunkText = math.MaxInt32

// rowStore keeps rows. Append first, then freeze, then gather.
type rowStore struct {
	types  []types.Type
	chunks [][]*column.Vector
	n      int
	size   int64 // of full chunks
	text   bool  // some column is of text or bytes
	views  []colView
	widest int64 // of a row's texts; set by freeze
}

// colView lists the chunks of one column by their typed slices.
type colView struct {
	vectors []*column.Vector
	nulls   bool
	bools   [][]bool
	i8      [][]int8
	i16     [][]int16
	i32     [][]int32
	i64     [][]int64
	i128    [][]types.Int128
	f32     [][]float32
	f64     [][]float64
}

func newRowStore(ts []types.Type) *rowStore {
	s := &rowStore{types: ts}
	for _, t := range ts {
		s.text = s.text || column.PhysicalOf(t) == column.PhysBytes || t.IsNested()
	}
	return s
}

// last returns the chunk to append to and how many rows fit in it.
func (s *rowStore) last() ([]*column.Vector, int) {
	if s.n == len(s.chunks)*chunkRows {
		if len(s.chunks) > 0 {
			s.size += sizeOf(s.chunks[len(s.chunks)-1])
		}
		chunk := make([]*column.Vector, len(s.types))
		room := 0 // the first chunk grows as needed: most stores are small
		if len(s.chunks) > 0 {
			room = chunkRows
		}
		for i, t := range s.types {
			chunk[i] = column.New(t, room)
		}
		s.chunks = append(s.chunks, chunk)
	}
	return s.chunks[len(s.chunks)-1], len(s.chunks)*chunkRows - s.n
}

// append adds the selected rows of the columns.
func (s *rowStore) append(cols []*column.Vector, sel []uint16, n int) error {
	if sel != nil {
		n = len(sel)
	}
	for at := 0; at < n; {
		chunk, room := s.last()
		to := min(n, at+room)
		for c, v := range chunk {
			if err := checkText(v, cols[c]); err != nil {
				return err
			}
			if sel != nil {
				v.AppendVector(cols[c], sel[at:to], 0)
			} else {
				v.AppendRange(cols[c], at, to-at)
			}
		}
		s.n += to - at
		at = to
	}
	return nil
}

// checkText refuses to append to v what might not fit.
func checkText(v, more *column.Vector) error {
	for k, c := range more.Children {
		if err := checkText(v.Children[k], c); err != nil {
			return err
		}
	}
	if len(more.Bytes) > 0 && len(v.Bytes)+len(more.Bytes) > maxChunkText {
		return &Error{Row: -1, Msg: fmt.Sprintf("the values of one column exceed 2 GiB in %d rows", chunkRows), Hint: "select fewer or shorter columns"}
	}
	return nil
}

// appendRow adds one row and returns its id.
func (s *rowStore) appendRow(cols []*column.Vector, row int) (uint32, error) {
	chunk, _ := s.last()
	for c, v := range chunk {
		if s.text {
			if err := checkRowText(v, cols[c], row); err != nil {
				return 0, err
			}
		}
		v.AppendFrom(cols[c], row)
	}
	s.n++
	return uint32(s.n - 1), nil
}

func checkRowText(v, more *column.Vector, row int) error {
	if more.Children != nil {
		return checkText(v, more)
	}
	if more.Offsets != nil && len(v.Bytes)+int(more.Offsets[row+1]-more.Offsets[row]) > maxChunkText {
		return checkText(v, more)
	}
	return nil
}

func sizeOf(cols []*column.Vector) int64 {
	n := int64(0)
	for _, v := range cols {
		n += v.Size()
	}
	return n
}

// rowBytes returns the memory that the selected rows of the columns take in a store.
func rowBytes(cols []*column.Vector, sel []uint16, n int) int64 {
	if sel != nil {
		n = len(sel)
	}
	total := int64(0)
	for _, v := range cols {
		switch width := fixedWidth(column.PhysicalOf(v.Type)); {
		case width >= 0:
			total += int64(width * n)
		case v.Children != nil:
			if total += v.Size(); sel != nil && v.Len > 0 {
				total -= v.Size() / int64(v.Len) * int64(v.Len-n)
			}
		case v.Offsets == nil:
			total += int64(16 * n)
		case sel == nil:
			total += int64(v.Offsets[n]-v.Offsets[0]) + int64(4*n)
		default:
			for _, i := range sel {
				total += int64(v.Offsets[int(i)+1]-v.Offsets[i]) + 4
			}
		}
	}
	return total
}

// bytes returns the memory that the rows take.
func (s *rowStore) bytes() int64 {
	if len(s.chunks) == 0 {
		return 0
	}
	return s.size + sizeOf(s.chunks[len(s.chunks)-1])
}

// freeze prepares gathering; nothing may be appended afterwards.
func (s *rowStore) freeze() {
	s.views = make([]colView, len(s.types))
	for c := range s.types {
		s.views[c] = s.view(c)
	}
	s.widest = s.measure()
}

// measure returns a size that the texts of no row exceed.
func (s *rowStore) measure() int64 {
	n := int64(0)
	if s.text {
		for _, chunk := range s.chunks {
			n = max(n, widest(chunk))
		}
	}
	return n
}

// textBytes returns the size of a row's texts.
func (s *rowStore) textBytes(id uint32) int64 {
	if id == noRow || !s.text {
		return 0
	}
	return textBytes(s.chunks[id>>chunkBits], int(id&chunkMask))
}

// cut returns where a batch of the rows ids[from:to] has to end.
func (s *rowStore) cut(ids []uint32, from, to int) int {
	return cut(from, to, s.widest, maxBytes, func(i int) int64 { return s.textBytes(ids[i]) })
}

func (s *rowStore) view(c int) colView {
	var w colView
	for _, chunk := range s.chunks {
		v := chunk[c]
		w.vectors = append(w.vectors, v)
		w.nulls = w.nulls || v.NullCount() > 0
		switch column.PhysicalOf(v.Type) {
		case column.PhysBool:
			w.bools = append(w.bools, v.Bool)
		case column.PhysI8:
			w.i8 = append(w.i8, v.I8)
		case column.PhysI16:
			w.i16 = append(w.i16, v.I16)
		case column.PhysI32:
			w.i32 = append(w.i32, v.I32)
		case column.PhysI64:
			w.i64 = append(w.i64, v.I64)
		case column.PhysI128:
			w.i128 = append(w.i128, v.I128)
		case column.PhysF32:
			w.f32 = append(w.f32, v.F32)
		case column.PhysF64:
			w.f64 = append(w.f64, v.F64)
		}
	}
	return w
}

// gather appends column c of the rows with these ids to dst. missing says that noRow may be among them.
func (s *rowStore) gather(c int, ids []uint32, missing bool, dst *column.Vector) error {
	v := &s.views[c]
	if missing || v.nulls || s.types[c].IsNested() {
		for _, id := range ids {
			if id == noRow {
				dst.AppendNull()
				continue
			}
			dst.AppendFrom(v.vectors[id>>chunkBits], int(id&chunkMask))
		}
		return nil
	}
	switch column.PhysicalOf(s.types[c]) {
	case column.PhysNone:
		dst.Len += len(ids)
		return nil
	case column.PhysBool:
		dst.Bool = gather(dst.Bool, v.bools, ids)
	case column.PhysI8:
		dst.I8 = gather(dst.I8, v.i8, ids)
	case column.PhysI16:
		dst.I16 = gather(dst.I16, v.i16, ids)
	case column.PhysI32:
		dst.I32 = gather(dst.I32, v.i32, ids)
	case column.PhysI64:
		dst.I64 = gather(dst.I64, v.i64, ids)
	case column.PhysI128:
		dst.I128 = gather(dst.I128, v.i128, ids)
	case column.PhysF32:
		dst.F32 = gather(dst.F32, v.f32, ids)
	case column.PhysF64:
		dst.F64 = gather(dst.F64, v.f64, ids)
	case column.PhysBytes:
		for _, id := range ids {
			from, k := v.vectors[id>>chunkBits], id&chunkMask
			dst.Bytes = append(dst.Bytes, from.Bytes[from.Offsets[k]:from.Offsets[k+1]]...)
			dst.Offsets = append(dst.Offsets, int32(len(dst.Bytes)))
		}
		if len(dst.Bytes) > math.MaxInt32 {
			return &Error{Row: -1, Msg: "the values of one column exceed 2 GiB in one batch of rows", Hint: "select fewer or shorter columns"}
		}
	}
	dst.Len += len(ids)
	if dst.Valid == nil {
		return nil
	}
	for len(dst.Valid)*64 < dst.Len {
		dst.Valid = append(dst.Valid, ^uint64(0))
	}
	for i := dst.Len - len(ids); i < dst.Len; i++ {
		dst.Valid.Set(i) // bits past the end may be either
	}
	return nil
}

func gather[T any](dst []T, chunks [][]T, ids []uint32) []T {
	n := len(dst)
	if cap(dst) < n+len(ids) {
		dst = append(make([]T, 0, n+len(ids)), dst...)
	}
	dst = dst[:n+len(ids)]
	out := dst[n:]
	for i, id := range ids {
		out[i] = chunks[id>>chunkBits][id&chunkMask]
	}
	return dst
}

// copyRange appends the rows from (included) to to (excluded) of column c to dst.
func (s *rowStore) copyRange(c, from, to int, dst *column.Vector) {
	for from < to {
		chunk, at := s.chunks[from>>chunkBits][c], from&chunkMask
		n := min(to-from, chunkRows-at)
		dst.AppendRange(chunk, at, n)
		from += n
	}
}
