package exec

import (
	"encoding/binary"
	"math"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// packing turns the key columns of a row into 16 bytes, where they are few and short: integers as they
// are, texts as length and bytes. Two rows with equal packed keys are equal, and the other way round
// among rows that can be packed; a row with a longer text cannot. The first byte of the first word has a
// bit for each NULL.
type packing struct {
	lanes []packLane
}

// packLane is a column's place: width bytes of a word.
type packLane struct {
	phys  column.Physical
	word  int
	shift uint // bits
	width int  // bytes; for texts with the byte that holds the length
	null  uint64
}

type packedKey struct{ a, b uint64 }

// hash mixes both words into every bit.
func (k packedKey) hash() uint64 {
	h := (k.a ^ 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
	h ^= h >> 32
	h = (h ^ k.b) * 0x94d049bb133111eb
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	return h ^ h>>32
}

// newPacking plans the lanes; nil when the keys do not fit.
func newPacking(ts []types.Type) *packing {
	if len(ts) == 0 || len(ts) > 8 {
		return nil
	}
	p := &packing{lanes: make([]packLane, len(ts))}
	free := [2]int{7, 8}
	place := func(i, width int) bool {
		word := -1
		for w, f := range free { // the tightest word
			if f >= width && (word < 0 || f < free[word]) {
				word = w
			}
		}
		if word < 0 {
			return false
		}
		p.lanes[i].word, p.lanes[i].width = word, width
		p.lanes[i].shift = uint(8 * (8 - free[word]))
		free[word] -= width
		return true
	}
	texts := []int{}
	for _, width := range []int{8, 4, 2, 1, 0} {
		for i, t := range ts {
			l := &p.lanes[i]
			l.phys, l.null = column.PhysicalOf(t), 1<<uint(i)
			switch {
			case l.phys == column.PhysBytes:
				if width == 0 {
					texts = append(texts, i)
				}
			case fixedWidth(l.phys) < 0:
				return nil
			case fixedWidth(l.phys) == width:
				if !place(i, width) {
					return nil
				}
			}
		}
	}
	// Texts share what is left: one after the other goes where a share is largest.
	var share [2][]int
	for _, i := range texts {
		w := 0
		if free[1]*(len(share[0])+1) > free[0]*(len(share[1])+1) {
			w = 1
		}
		share[w] = append(share[w], i)
	}
	for w, list := range share {
		if len(list) == 0 {
			continue
		}
		width := free[w] / len(list)
		if width < 2 {
			return nil
		}
		for _, i := range list {
			p.lanes[i].word, p.lanes[i].width = w, width
			p.lanes[i].shift = uint(8 * (8 - free[w]))
			free[w] -= width
		}
	}
	return p
}

// fixedWidth returns the bytes of a physical form, -1 for one that cannot be packed.
func fixedWidth(p column.Physical) int {
	switch p {
	case column.PhysNone:
		return 0
	case column.PhysBool, column.PhysI8:
		return 1
	case column.PhysI16:
		return 2
	case column.PhysI32, column.PhysF32:
		return 4
	case column.PhysI64, column.PhysF64:
		return 8
	}
	return -1
}

// pack writes the keys of the selected rows to out, and appends to spill the rows (as positions in the
// selection) that cannot be packed.
func (p *packing) pack(keys []*column.Vector, sel []uint16, out []packedKey, spill []uint16) []uint16 {
	clear(out)
	for i, l := range p.lanes {
		v := keys[i]
		switch l.phys {
		case column.PhysNone:
			for k := range out {
				out[k].a |= l.null
			}
			continue
		case column.PhysBool:
			for k := range out {
				if v.Bool[rowAt(sel, k)] {
					l.or(&out[k], 1)
				}
			}
		case column.PhysI8:
			packInts(l, v.I8, sel, out, 0xff)
		case column.PhysI16:
			packInts(l, v.I16, sel, out, 0xffff)
		case column.PhysI32:
			packInts(l, v.I32, sel, out, 0xffffffff)
		case column.PhysI64:
			packInts(l, v.I64, sel, out, math.MaxUint64)
		case column.PhysF32:
			for k := range out {
				l.or(&out[k], uint64(math.Float32bits(float32(column.CanonicalFloat(float64(v.F32[rowAt(sel, k)]))))))
			}
		case column.PhysF64:
			for k := range out {
				l.or(&out[k], math.Float64bits(column.CanonicalFloat(v.F64[rowAt(sel, k)])))
			}
		case column.PhysBytes:
			spill = p.packText(l, v, sel, out, spill)
		}
		if v.Valid != nil {
			p.nulls(l, v, sel, out)
		}
	}
	return spill
}

// nulls clears the lane at NULL rows, whose values are undefined, and sets their bit.
func (p *packing) nulls(l packLane, v *column.Vector, sel []uint16, out []packedKey) {
	mask := uint64(math.MaxUint64)
	if l.width < 8 {
		mask = 1<<(8*uint(l.width)) - 1
	}
	mask <<= l.shift
	for k := range out {
		if !v.Valid.Get(rowAt(sel, k)) {
			if l.word == 0 {
				out[k].a &^= mask
			} else {
				out[k].b &^= mask
			}
			out[k].a |= l.null
		}
	}
}

func (l packLane) or(k *packedKey, x uint64) {
	if l.word == 0 {
		k.a |= x << l.shift
	} else {
		k.b |= x << l.shift
	}
}

// rowAt returns the physical row of the k-th selected one.
func rowAt(sel []uint16, k int) int {
	if sel != nil {
		return int(sel[k])
	}
	return k
}

func packInts[T int8 | int16 | int32 | int64](l packLane, values []T, sel []uint16, out []packedKey, mask uint64) {
	switch {
	case l.word == 0 && sel == nil:
		for k, x := range values[:len(out)] {
			out[k].a |= uint64(x) & mask << l.shift
		}
	case sel == nil:
		for k, x := range values[:len(out)] {
			out[k].b |= uint64(x) & mask << l.shift
		}
	case l.word == 0:
		for k, i := range sel {
			out[k].a |= uint64(values[i]) & mask << l.shift
		}
	default:
		for k, i := range sel {
			out[k].b |= uint64(values[i]) & mask << l.shift
		}
	}
}

func (p *packing) packText(l packLane, v *column.Vector, sel []uint16, out []packedKey, spill []uint16) []uint16 {
	most := l.width - 1
	for k := range out {
		i := rowAt(sel, k)
		from, to := int(v.Offsets[i]), int(v.Offsets[i+1])
		n := to - from
		if n > most {
			if v.Valid.Get(i) {
				spill = append(spill, uint16(k))
			}
			continue
		}
		var x uint64
		if from+8 <= len(v.Bytes) {
			x = binary.LittleEndian.Uint64(v.Bytes[from:])
			x &= 1<<(8*uint(n)) - 1
		} else {
			for j := n - 1; j >= 0; j-- {
				x = x<<8 | uint64(v.Bytes[from+j])
			}
		}
		x = x<<8 | uint64(n)
		if l.word == 0 {
			out[k].a |= x << l.shift
		} else {
			out[k].b |= x << l.shift
		}
	}
	return spill
}
