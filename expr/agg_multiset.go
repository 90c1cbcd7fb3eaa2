package expr

import (
	"encoding/binary"
	"math"
	"sort"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// multisets is the state of MIN and MAX that can take rows back: it counts every value of a group. Values
// are kept as keys whose byte order is the values' order, so that a group is a map of strings whatever
// the type. The best value is looked for when a result is wanted, and only if the group has lost it.
type multisets struct {
	t        types.Type
	greatest bool
	groups   []multiset
	key      []byte
	size     int64
}

type multiset struct {
	counts[string]
	best  string
	known bool // best is right
}

func (m *multisets) Grow(groups int) { m.groups = growTo(m.groups, groups) }

func (m *multisets) Update(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	return m.addRows(groups, args[0], Rows{Sel: sel, N: n}, 1)
}

func (m *multisets) Retract(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	return m.addRows(groups, args[0], Rows{Sel: sel, N: n}, -1)
}

func (m *multisets) addRows(groups []uint32, x *column.Vector, r Rows, by int64) error {
	for k, n := 0, r.Count(); k < n; k++ {
		if i := r.Row(k); x.Valid.Get(i) {
			m.key = appendOrdered(m.key[:0], x, i)
			if m.add(&m.groups[groupOf(groups, k)], m.key, by) < 0 {
				return neverCame(i)
			}
		}
	}
	return nil
}

// add returns how often the value is there now.
func (m *multisets) add(g *multiset, key []byte, by int64) int64 {
	if n, there := g.m[string(key)]; there && n+by != 0 { // without a copy of the key
		g.m[string(key)] = n + by
		return n + by
	}
	before := g.size()
	text := string(key)
	was, is := g.counts.add(text, by)
	m.size += g.size() - before
	if was == 0 {
		m.size += int64(len(key)+15) &^ 15
	} else {
		m.size -= int64(len(key)+15) &^ 15
	}
	switch {
	case !g.known:
	case is == 0:
		g.known = text != g.best
	case m.better(text, g.best):
		g.best = text
	}
	return is
}

func (m *multisets) better(a, b string) bool {
	if m.greatest {
		return a > b
	}
	return a < b
}

func (m *multisets) StateTypes() []types.Type { return []types.Type{types.Bytes().AsNotNull()} }

// State writes each group as pairs of key and count, in the order of the keys.
func (m *multisets) State(out []*column.Vector, from, to int) error {
	var buf []byte
	for i := from; i < to; i++ {
		g := &m.groups[i]
		keys := make([]string, 0, len(g.m))
		for k := range g.m {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		buf = buf[:0]
		for _, k := range keys {
			buf = binary.AppendUvarint(buf, uint64(len(k)))
			buf = append(buf, k...)
			buf = binary.AppendVarint(buf, g.m[k])
		}
		out[0].AppendBytes(buf)
	}
	return nil
}

func (m *multisets) Merge(groups []uint32, state []*column.Vector, n int) error {
	for k := 0; k < n; k++ {
		b := state[0].Value(k)
		for len(b) > 0 {
			size, w := binary.Uvarint(b)
			if w <= 0 || size > uint64(len(b)-w) {
				return rowError(-1, "the saved state of MIN or MAX is damaged", "")
			}
			key := b[w : w+int(size)]
			b = b[w+int(size):]
			by, w := binary.Varint(b)
			if w <= 0 || m.t.Kind != types.Null && !validOrdered(key, m.t) {
				return rowError(-1, "the saved state of MIN or MAX is damaged", "")
			}
			b = b[w:]
			m.add(&m.groups[groupOf(groups, k)], key, by)
		}
	}
	return nil
}

func (m *multisets) Result(out *column.Vector, from, to int) error {
	for i := from; i < to; i++ {
		g := &m.groups[i]
		if !g.known {
			for k := range g.m {
				if !g.known || m.better(k, g.best) {
					g.best, g.known = k, true
				}
			}
		}
		if !g.known {
			out.AppendNull()
			continue
		}
		appendFromOrdered(out, g.best)
	}
	return nil
}

func (m *multisets) Size() int64 { return int64(40*cap(m.groups)) + m.size }

// appendOrdered appends row i of v as bytes whose order is that of the values.
func appendOrdered(dst []byte, v *column.Vector, i int) []byte {
	switch column.PhysicalOf(v.Type) {
	case column.PhysBool:
		return append(dst, byte(b2i(v.Bool[i])))
	case column.PhysF32:
		return binary.BigEndian.AppendUint64(dst, orderedFloat(float64(v.F32[i])))
	case column.PhysF64:
		return binary.BigEndian.AppendUint64(dst, orderedFloat(v.F64[i]))
	case column.PhysI128:
		x := v.I128[i]
		dst = binary.BigEndian.AppendUint64(dst, uint64(x.Hi)^1<<63)
		return binary.BigEndian.AppendUint64(dst, x.Lo)
	case column.PhysBytes:
		return append(dst, v.Value(i)...)
	}
	return binary.BigEndian.AppendUint64(dst, uint64(v.Int64(i))^1<<63)
}

func orderedFloat(f float64) uint64 {
	if f != f {
		return ^uint64(0)
	}
	b := math.Float64bits(f + 0) // -0.0 + 0 is 0.0
	if b>>63 != 0 {
		return ^b
	}
	return b | 1<<63
}

// validOrdered reports whether key is a value of type t.
func validOrdered(key []byte, t types.Type) bool {
	switch column.PhysicalOf(t) {
	case column.PhysBool:
		return len(key) == 1
	case column.PhysI128:
		return len(key) == 16
	case column.PhysBytes:
		return true
	}
	return len(key) == 8
}

func appendFromOrdered(out *column.Vector, key string) {
	word := func(at int) uint64 { return binary.BigEndian.Uint64([]byte(key[at : at+8])) }
	switch column.PhysicalOf(out.Type) {
	case column.PhysBool:
		out.AppendBool(key[0] != 0)
	case column.PhysF32, column.PhysF64:
		b := word(0)
		if b>>63 != 0 {
			b &^= 1 << 63
		} else {
			b = ^b
		}
		if word(0) == ^uint64(0) {
			out.AppendF64(math.NaN())
		} else {
			out.AppendF64(math.Float64frombits(b))
		}
	case column.PhysI128:
		out.AppendI128(types.Int128{Hi: int64(word(0) ^ 1<<63), Lo: word(8)})
	case column.PhysBytes:
		out.AppendString(key)
	default:
		out.AppendI64(int64(word(0) ^ 1<<63))
	}
}
