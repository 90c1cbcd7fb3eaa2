package exec

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// sortEntry stands for a row. class and prefix order the rows by the first key, or by as much of it as
// fits in 64 bits; the sort looks at the rows themselves only where these are equal.
type sortEntry struct {
	prefix uint64
	id     uint32
	class  uint32 // 0: NULL that sorts first, 1: a value, 2: NULL that sorts last
}

const entrySize = 16

// before reports whether e's row surely stands before f's.
func (e sortEntry) before(f sortEntry) bool {
	return e.class < f.class || e.class == f.class && e.prefix < f.prefix
}

// exactPrefix reports whether values of a type are equal when their prefixes are.
func exactPrefix(t types.Type) bool {
	switch column.PhysicalOf(t) {
	case column.PhysBytes, column.PhysI128, column.PhysList, column.PhysRow:
		return false
	}
	return true
}

// appendEntries appends the entries of the selected rows, whose ids count from id.
func appendEntries(es []sortEntry, v *column.Vector, k sortKey, sel []uint16, n int, id uint32) []sortEntry {
	if sel != nil {
		n = len(sel)
	}
	first := len(es)
	es = slices.Grow(es, n)[:first+n]
	part := es[first:]
	for i := range part {
		part[i] = sortEntry{id: id + uint32(i), class: 1}
	}
	const sign = 1 << 63
	switch column.PhysicalOf(v.Type) {
	case column.PhysBool:
		for i := range part {
			if v.Bool[rowAt(sel, i)] {
				part[i].prefix = 1
			}
		}
	case column.PhysI8:
		intPrefixes(part, v.I8, sel)
	case column.PhysI16:
		intPrefixes(part, v.I16, sel)
	case column.PhysI32:
		intPrefixes(part, v.I32, sel)
	case column.PhysI64:
		intPrefixes(part, v.I64, sel)
	case column.PhysI128:
		for i := range part {
			part[i].prefix = uint64(v.I128[rowAt(sel, i)].Hi) ^ sign
		}
	case column.PhysF32:
		for i := range part {
			part[i].prefix = floatPrefix(float64(v.F32[rowAt(sel, i)]))
		}
	case column.PhysF64:
		for i := range part {
			part[i].prefix = floatPrefix(v.F64[rowAt(sel, i)])
		}
	case column.PhysBytes:
		for i := range part {
			part[i].prefix = textPrefix(v.Value(rowAt(sel, i)))
		}
	}
	if k.desc {
		for i := range part {
			part[i].prefix = ^part[i].prefix
		}
	}
	if v.Valid != nil || v.Type.Kind == types.Null {
		for i := range part {
			if v.IsNull(rowAt(sel, i)) {
				part[i].prefix, part[i].class = 0, 0
				if k.nullsLast {
					part[i].class = 2
				}
			}
		}
	}
	return es
}

func intPrefixes[T int8 | int16 | int32 | int64](part []sortEntry, values []T, sel []uint16) {
	const sign = 1 << 63
	if sel == nil {
		for i, x := range values[:len(part)] {
			part[i].prefix = uint64(int64(x)) ^ sign
		}
		return
	}
	for i, row := range sel {
		part[i].prefix = uint64(int64(values[row])) ^ sign
	}
}

// floatPrefix orders as column.CompareFloat does.
func floatPrefix(f float64) uint64 {
	const sign = 1 << 63
	b := math.Float64bits(column.CanonicalFloat(f))
	switch {
	case f != f:
		return math.MaxUint64
	case b&sign != 0:
		return ^b
	}
	return b | sign
}

// textPrefix is the first eight bytes, as a number; a shorter text is filled up with zeros.
func textPrefix(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	var x uint64
	for i, c := range b {
		x |= uint64(c) << (56 - 8*uint(i))
	}
	return x
}

// ordering sorts entries by all keys, and by id where they are equal.
type ordering struct {
	keys           []sortKey
	rows, computed *rowStore

	canceled func() error
	steps    int
	err      error // of canceled; whatever is still done then is of no use
}

// stopped asks now and then whether the work is to end, and is to be asked at every step.
func (o *ordering) stopped() bool {
	if o.steps++; o.steps&cancelMask == 0 && o.err == nil {
		o.err = o.canceled()
	}
	return o.err != nil
}

// value returns where a key of a row lies.
func (o *ordering) value(k sortKey, id uint32) (*column.Vector, int) {
	st := o.rows
	if k.computed {
		st = o.computed
	}
	return st.chunks[id>>chunkBits][k.column], int(id & chunkMask)
}

// compare compares two rows by the keys from the given one on, then by id.
func (o *ordering) compare(a, b uint32, from int) int {
	if o.stopped() {
		return 0
	}
	for _, k := range o.keys[from:] {
		v, i := o.value(k, a)
		w, j := o.value(k, b)
		n, m := v.IsNull(i), w.IsNull(j)
		c := 0
		switch {
		case n && m:
			continue
		case n || m:
			c = -1
			if m {
				c = 1
			}
			if k.nullsLast {
				c = -c
			}
			return c
		}
		if c = column.Compare(v, i, w, j); c != 0 {
			if k.desc {
				return -c
			}
			return c
		}
	}
	return cmp.Compare(a, b)
}

// sort sorts entries made in the order of their ids.
func (o *ordering) sort(es []sortEntry) {
	// Classes first: a stable partition by counting.
	var count [3]int
	for _, e := range es {
		count[e.class]++
	}
	buf := make([]sortEntry, len(es))
	values := es
	if count[1] < len(es) {
		place := [3]int{0, count[0], count[0] + count[1]}
		for _, e := range es {
			buf[place[e.class]] = e
			place[e.class]++
		}
		copy(es, buf)
		values = es[count[0] : count[0]+count[1]]
		if len(o.keys) > 1 {
			o.rest(es[:count[0]], 1)
			o.rest(es[count[0]+count[1]:], 1)
		}
	}
	if len(values) == 0 {
		return
	}
	o.radix(values, buf)
	if o.err != nil {
		return
	}
	v, _ := o.value(o.keys[0], values[0].id)
	exact := exactPrefix(v.Type)
	if exact && len(o.keys) == 1 {
		return
	}
	text := column.PhysicalOf(v.Type) == column.PhysBytes
	o.runs(values, buf, exact, text, 8)
}

// runs sorts the entries of equal prefix further. For text keys depth bytes have been compared.
func (o *ordering) runs(es, buf []sortEntry, exact, text bool, depth int) {
	for from := 0; from < len(es) && o.err == nil; {
		to := from + 1
		for to < len(es) && es[to].prefix == es[from].prefix {
			to++
		}
		run := es[from:to]
		from = to
		switch {
		case len(run) == 1:
		case exact:
			o.rest(run, 1)
		case text && len(run) > 64:
			first := run[0].prefix
			if o.deepen(run, depth) {
				o.radix(run, buf)
				o.runs(run, buf, false, true, depth+8)
			} else {
				o.rest(run, 0)
			}
			for i := range run { // a Top-N goes on with these entries and compares new rows with them
				run[i].prefix = first
			}
		default:
			o.rest(run, 0)
		}
	}
}

// deepen makes the next eight bytes of the first key the entries' prefixes. It reports false when no text
// is longer than what has been compared: then zeros at the end and the end itself look alike.
func (o *ordering) deepen(run []sortEntry, depth int) bool {
	k := o.keys[0]
	longer := false
	for i := range run {
		v, row := o.value(k, run[i].id)
		b := v.Value(row)
		if len(b) <= depth {
			run[i].prefix = 0
		} else {
			longer = true
			run[i].prefix = textPrefix(b[depth:])
		}
		if k.desc {
			run[i].prefix = ^run[i].prefix
		}
	}
	return longer
}

// rest sorts by the rows, from the given key on.
func (o *ordering) rest(run []sortEntry, from int) {
	if len(o.keys) == 1 && from == 0 && len(run) > 1 {
		k := o.keys[0]
		v, _ := o.value(k, run[0].id)
		if column.PhysicalOf(v.Type) == column.PhysBytes {
			slices.SortFunc(run, func(a, b sortEntry) int {
				if o.stopped() {
					return 0
				}
				v, i := o.value(k, a.id)
				w, j := o.value(k, b.id)
				c := bytes.Compare(v.Value(i), w.Value(j))
				if k.desc {
					c = -c
				}
				if c == 0 {
					c = cmp.Compare(a.id, b.id)
				}
				return c
			})
			return
		}
	}
	slices.SortFunc(run, func(a, b sortEntry) int { return o.compare(a.id, b.id, from) })
}

// radix sorts by prefix, stably: byte by byte from the last, leaving out bytes that are all alike. buf is
// as long as es at least.
func (o *ordering) radix(es, buf []sortEntry) {
	if len(es) < 256 {
		slices.SortStableFunc(es, func(a, b sortEntry) int { return cmp.Compare(a.prefix, b.prefix) })
		return
	}
	var counts [8][256]uint32
	for part := range slices.Chunk(es, cancelMask+1) {
		for _, e := range part {
			p := e.prefix
			for d := range counts {
				counts[d][byte(p>>(8*uint(d)))]++
			}
		}
		if o.err = o.canceled(); o.err != nil {
			return
		}
	}
	src, dst := es, buf[:len(es)]
	for d := range counts {
		c := &counts[d]
		shift := 8 * uint(d)
		if c[byte(es[0].prefix>>shift)] == uint32(len(es)) {
			continue
		}
		sum := uint32(0)
		for i, n := range c {
			c[i] = sum
			sum += n
		}
		for part := range slices.Chunk(src, cancelMask+1) {
			for _, e := range part {
				b := byte(e.prefix >> shift)
				dst[c[b]] = e
				c[b]++
			}
			if o.err = o.canceled(); o.err != nil {
				return
			}
		}
		src, dst = dst, src
	}
	if &src[0] != &es[0] {
		copy(es, src)
	}
}
