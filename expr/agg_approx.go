package expr

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

func approxAggregates() []Aggregate {
	return []Aggregate{{
		Name: "APPROX_COUNT_DISTINCT", Syntax: "APPROX_COUNT_DISTINCT(value)",
		Doc: fmt.Sprintf("About how many different values there are that are not NULL, in little memory whatever their number: "+
			"exact up to %d, and mostly within 1 %% beyond.", sketchExact),
		Example: "APPROX_COUNT_DISTINCT(x)", Result: "2", Min: 1, Max: 1, IgnoresDistinct: true,
		Bind: func(args []Expr) ([]types.Type, types.Type, error) {
			t, _ := anyType(args[0].Type())
			return []types.Type{t}, types.Of(types.BigInt).AsNotNull(), nil
		},
		New:           func([]types.Type, types.Type) Accumulator { return &sketches{} },
		NewRetracting: func([]types.Type, types.Type) Accumulator { return &hashCounts{} },
	}}
}

// A sketch knows a set of 64-bit hashes: all of them up to sketchExact, then the registers of HyperLogLog, one
// for each value of the first bits of a hash, that keep the greatest number of zeros with which the other bits
// began. What it answers depends on the set alone, not on how and in what order it was put together.
type sketch struct {
	hashes    []uint64 // an open table; 0 is a free place
	n         int      // hashes in it
	registers []byte   // once there are too many
	answer    int64    // the estimate
	known     bool     // answer is right
}

const (
	sketchBits  = 14 // 2^14 registers have a standard error of 0.8 %
	sketchExact = 1024
)

// add puts a hash in and returns by how many bytes the sketch grew.
func (s *sketch) add(h uint64) int64 {
	s.known = false
	if s.registers != nil {
		s.register(h)
		return 0
	}
	if h == 0 {
		h = 1
	}
	if !put(s.hashes, h) {
		return 0
	}
	s.n++
	switch {
	case s.n > sketchExact:
		grown := int64(1<<sketchBits - 8*len(s.hashes))
		s.registers = make([]byte, 1<<sketchBits)
		for _, h := range s.hashes {
			if h != 0 {
				s.register(h)
			}
		}
		s.register(h)
		s.hashes = nil
		return grown
	case 2*s.n > len(s.hashes):
		old := s.hashes
		s.hashes = make([]uint64, max(4, 2*len(old)))
		for _, h := range old {
			if h != 0 {
				put(s.hashes, h)
			}
		}
		put(s.hashes, h)
		return int64(8 * (len(s.hashes) - len(old)))
	}
	return 0
}

// put puts h, not 0, into the table; it returns false when it is there already. An empty table takes nothing.
func put(table []uint64, h uint64) bool {
	mask := uint64(len(table) - 1)
	if len(table) == 0 {
		return true
	}
	for i := h >> 20 & mask; ; i = (i + 1) & mask {
		switch table[i] {
		case 0:
			table[i] = h
			return true
		case h:
			return false
		}
	}
}

func (s *sketch) register(h uint64) {
	rank := byte(bits.LeadingZeros64(h<<sketchBits|1<<(sketchBits-1)) + 1)
	if r := &s.registers[h>>(64-sketchBits)]; *r < rank {
		*r = rank
	}
}

// estimate returns the number of hashes. Beyond the exact numbers it is Ertl's estimate (New cardinality
// estimation algorithms for HyperLogLog sketches, 2017), which needs no correction for small or great numbers.
func (s *sketch) estimate() int64 {
	if s.registers == nil {
		return int64(s.n)
	}
	if s.known {
		return s.answer
	}
	const q, m = 64 - sketchBits, float64(1 << sketchBits)
	var counts [q + 2]float64
	for _, r := range s.registers {
		counts[r]++
	}
	z := m * tau(1-counts[q+1]/m)
	for k := q; k >= 1; k-- {
		z = 0.5 * (z + counts[k])
	}
	z += m * sigma(counts[0]/m)
	s.answer, s.known = int64(math.Round(m*m/(2*math.Ln2*z))), true
	return s.answer
}

func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	for y, z := 1.0, x; ; {
		x *= x
		before := z
		z += x * y
		y += y
		if z == before {
			return z
		}
	}
}

func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	for y, z := 1.0, 1-x; ; {
		x = math.Sqrt(x)
		before := z
		y *= 0.5
		z -= (1 - x) * (1 - x) * y
		if z == before {
			return z / 3
		}
	}
}

// encode writes the sketch: 'h' and the hashes in order, or 'r' and the registers.
func (s *sketch) encode(dst []byte) []byte {
	if s.registers != nil {
		return append(append(dst, 'r'), s.registers...)
	}
	hs := make([]uint64, 0, s.n)
	for _, h := range s.hashes {
		if h != 0 {
			hs = append(hs, h)
		}
	}
	slices.Sort(hs)
	dst = append(dst, 'h')
	for _, h := range hs {
		dst = binary.BigEndian.AppendUint64(dst, h)
	}
	return dst
}

// merge adds an encoded sketch and returns by how many bytes this one grew.
func (s *sketch) merge(b []byte) (int64, error) {
	s.known = false
	var grown int64
	switch {
	case len(b)%8 == 1 && b[0] == 'h':
		for b = b[1:]; len(b) > 0; b = b[8:] {
			grown += s.add(binary.BigEndian.Uint64(b))
		}
		return grown, nil
	case len(b) == 1+1<<sketchBits && b[0] == 'r':
		if s.registers == nil {
			old := s.hashes
			s.hashes, s.registers = nil, make([]byte, 1<<sketchBits)
			grown = int64(len(s.registers) - 8*len(old))
			for _, h := range old {
				if h != 0 {
					s.register(h)
				}
			}
		}
		for i, r := range b[1:] {
			s.registers[i] = max(s.registers[i], min(r, 64-sketchBits+1))
		}
		return grown, nil
	}
	return 0, rowError(-1, "the partial state of APPROX_COUNT_DISTINCT is damaged", "")
}

// sketchHash is the hash of row i, mixed once more: registers need every bit to be as good as the others.
func sketchHash(v *column.Vector, i int) uint64 {
	h := column.HashRow(v, i)
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// sketches is the state of APPROX_COUNT_DISTINCT.
type sketches struct {
	groups []sketch
	bytes  int64
}

func (s *sketches) Grow(groups int) { s.groups = growTo(s.groups, groups) }

func (s *sketches) Update(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	r := Rows{Sel: sel, N: n}
	for k, n := 0, r.Count(); k < n; k++ {
		if i := r.Row(k); !args[0].IsNull(i) {
			s.bytes += s.groups[groupOf(groups, k)].add(sketchHash(args[0], i))
		}
	}
	return nil
}

func (s *sketches) Retract([]uint32, []*column.Vector, []uint16, int) error {
	return notRetracting("APPROX_COUNT_DISTINCT")
}

func (s *sketches) StateTypes() []types.Type { return []types.Type{types.Bytes()} }

func (s *sketches) State(out []*column.Vector, from, to int) error {
	for g := from; g < to; g++ {
		out[0].AppendBytes(s.groups[g].encode(nil))
	}
	return nil
}

func (s *sketches) Merge(groups []uint32, state []*column.Vector, n int) error {
	for k := 0; k < n; k++ {
		grown, err := s.groups[groupOf(groups, k)].merge(state[0].Value(k))
		if err != nil {
			return err
		}
		s.bytes += grown
	}
	return nil
}

func (s *sketches) Result(out *column.Vector, from, to int) error {
	for g := from; g < to; g++ {
		out.AppendI64(s.groups[g].estimate())
	}
	return nil
}

func (s *sketches) Size() int64 { return s.bytes + int64(72*cap(s.groups)) }

// hashCounts is the state of APPROX_COUNT_DISTINCT where rows are taken back: how often each hash is there.
// It answers what sketches do, of the hashes that are left.
type hashCounts struct {
	groups []hashCount
	size   int64
}

type hashCount struct {
	counts[uint64]
	answer int64
	known  bool // answer is right
}

func (c *hashCounts) Grow(groups int) { c.groups = growTo(c.groups, groups) }

func (c *hashCounts) Update(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	return c.count(groups, args[0], sel, n, 1)
}

func (c *hashCounts) Retract(groups []uint32, args []*column.Vector, sel []uint16, n int) error {
	return c.count(groups, args[0], sel, n, -1)
}

func (c *hashCounts) count(groups []uint32, x *column.Vector, sel []uint16, n int, by int64) error {
	r := Rows{Sel: sel, N: n}
	for k, n := 0, r.Count(); k < n; k++ {
		i := r.Row(k)
		if x.IsNull(i) {
			continue
		}
		if c.add(groupOf(groups, k), sketchHash(x, i), by) < 0 {
			return neverCame(i)
		}
	}
	return nil
}

// add returns how often the hash is there now.
func (c *hashCounts) add(group uint32, h uint64, by int64) int64 {
	g := &c.groups[group]
	before := g.size()
	was, is := g.counts.add(max(h, 1), by) // as in a sketch
	c.size += g.size() - before
	g.known = g.known && was != 0 && is != 0
	return is
}

func (c *hashCounts) StateTypes() []types.Type { return []types.Type{types.Bytes()} }

func (c *hashCounts) State(out []*column.Vector, from, to int) error {
	for g := from; g < to; g++ {
		hs := make([]uint64, 0, len(c.groups[g].m))
		for h := range c.groups[g].m {
			hs = append(hs, h)
		}
		slices.Sort(hs)
		var b []byte
		for _, h := range hs {
			b = binary.BigEndian.AppendUint64(b, h)
			b = binary.BigEndian.AppendUint64(b, uint64(c.groups[g].m[h]))
		}
		out[0].AppendBytes(b)
	}
	return nil
}

func (c *hashCounts) Merge(groups []uint32, state []*column.Vector, n int) error {
	for k := 0; k < n; k++ {
		b := state[0].Value(k)
		if len(b)%16 != 0 {
			return rowError(-1, "the partial state of APPROX_COUNT_DISTINCT is damaged", "")
		}
		for ; len(b) > 0; b = b[16:] {
			c.add(groupOf(groups, k), binary.BigEndian.Uint64(b), int64(binary.BigEndian.Uint64(b[8:])))
		}
	}
	return nil
}

func (c *hashCounts) Result(out *column.Vector, from, to int) error {
	for i := from; i < to; i++ {
		g := &c.groups[i]
		switch {
		case g.known:
		case len(g.m) <= sketchExact:
			g.answer = int64(len(g.m))
		default:
			s := sketch{registers: make([]byte, 1<<sketchBits)}
			for h := range g.m {
				s.register(h)
			}
			g.answer = s.estimate()
		}
		g.known = true
		out.AppendI64(g.answer)
	}
	return nil
}

func (c *hashCounts) Size() int64 { return int64(32*cap(c.groups)) + c.size }
