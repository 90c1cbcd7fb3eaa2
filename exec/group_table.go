package exec

import (
	"slices"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// groupTable numbers the distinct keys that it is shown, from 0, in order of appearance. NULL equals NULL.
//
// Keys that pack into 16 bytes are found in a table that holds them inline; all others by their hash in a
// table of 32-bit tags, and then compared column by column. A key always takes the same road, so the two
// tables share the numbers.
type groupTable struct {
	keys    *rowStore // by group
	packing *packing  // nil: no key can be packed
	packed  []packedEntry
	nPacked int
	slots   []uint64 // tag<<32 | index+1 of a long key; 0: empty
	long    []longKey

	// grow is told before so many bytes more are taken.
	grow func(n int64) error

	// fresh are the rows of the last find that made a group, as positions in its selection.
	fresh []uint16

	packs  []packedKey
	spill  []uint16
	sub    []uint16
	hashes []uint64
}

// packedEntry is a packed key and its group, counted from 1; 0 is an empty entry.
type packedEntry struct {
	key   packedKey
	group uint32
}

type longKey struct {
	hash  uint64
	group uint32
}

func newGroupTable(ts []types.Type, grow func(int64) error) *groupTable {
	return &groupTable{grow: grow, keys: newRowStore(ts), packing: newPacking(ts)}
}

// groups returns how many groups there are.
func (t *groupTable) groups() int { return t.keys.n }

// bytes returns the memory the table takes.
func (t *groupTable) bytes() int64 {
	return t.keys.bytes() + int64(len(t.packed))*24 + int64(len(t.slots))*8 + int64(cap(t.long))*16
}

// find writes the group of the k-th selected row to groups[k], making groups for new keys.
func (t *groupTable) find(keys []*column.Vector, sel []uint16, n int, groups []uint32) error {
	t.fresh = t.fresh[:0]
	if sel != nil {
		n = len(sel)
	}
	if t.packing == nil {
		return t.findLong(keys, sel, n, groups)
	}
	if cap(t.packs) < n {
		t.packs = make([]packedKey, max(n, column.DefaultRows))
	}
	t.spill = t.packing.pack(keys, sel, t.packs[:n], t.spill[:0])
	if len(t.spill) == 0 {
		return t.findPacked(keys, sel, t.packs[:n], groups)
	}
	slices.Sort(t.spill)
	t.spill = slices.Compact(t.spill) // a row with two long texts was noted twice
	// Long keys take their numbers in order of appearance too: the rows are gone through in runs.
	return t.findMixed(keys, sel, t.packs[:n], groups)
}

func (t *groupTable) findPacked(keys []*column.Vector, sel []uint16, packs []packedKey, groups []uint32) error {
	if t.packed == nil {
		t.packed = make([]packedEntry, 64)
	}
	mask := uint64(len(t.packed) - 1)
	for k, key := range packs {
		i := key.hash() & mask
		for {
			e := &t.packed[i]
			if e.group != 0 && e.key == key {
				groups[k] = e.group - 1
				break
			}
			if e.group == 0 {
				g, err := t.keys.appendRow(keys, rowAt(sel, k))
				if err != nil {
					return err
				}
				*e = packedEntry{key, g + 1}
				groups[k] = g
				t.fresh = append(t.fresh, uint16(k))
				if t.nPacked++; t.nPacked*2 > len(t.packed) {
					if err := t.growPacked(); err != nil {
						return err
					}
					mask = uint64(len(t.packed) - 1)
				}
				break
			}
			i = (i + 1) & mask
		}
	}
	return nil
}

func (t *groupTable) growPacked() error {
	old := t.packed
	n := 4 * len(old)
	if len(old) >= 1<<20 {
		n = 2 * len(old)
	}
	if err := t.grow(int64(n) * 24); err != nil {
		return err
	}
	t.packed = make([]packedEntry, n)
	mask := uint64(len(t.packed) - 1)
	for _, e := range old {
		if e.group != 0 {
			i := e.key.hash() & mask
			for t.packed[i].group != 0 {
				i = (i + 1) & mask
			}
			t.packed[i] = e
		}
	}
	return nil
}

// findMixed goes through runs of rows that can and cannot be packed.
func (t *groupTable) findMixed(keys []*column.Vector, sel []uint16, packs []packedKey, groups []uint32) error {
	n := len(packs)
	if cap(t.sub) < n {
		t.sub = make([]uint16, 0, max(n, column.DefaultRows))
	}
	spill := t.spill
	var fresh []uint16
	for from := 0; from < n; {
		long := len(spill) > 0 && int(spill[0]) == from
		to := from
		for to < n && long == (len(spill) > 0 && int(spill[0]) == to) {
			if long {
				spill = spill[1:]
			}
			to++
		}
		sub := t.sub[:0]
		for k := from; k < to; k++ {
			sub = append(sub, uint16(rowAt(sel, k)))
		}
		t.fresh = t.fresh[:0]
		var err error
		if long {
			err = t.findLong(keys, sub, len(sub), groups[from:to])
		} else {
			err = t.findPacked(keys, sub, packs[from:to], groups[from:to])
		}
		if err != nil {
			return err
		}
		for _, k := range t.fresh {
			fresh = append(fresh, uint16(from)+k)
		}
		from = to
	}
	t.fresh = fresh
	return nil
}

// findLong finds keys by hash, then compares.
func (t *groupTable) findLong(keys []*column.Vector, sel []uint16, n int, groups []uint32) error {
	if cap(t.hashes) < n {
		t.hashes = make([]uint64, max(n, column.DefaultRows))
	}
	hashes := t.hashes[:n]
	column.Hash(keys, sel, n, hashes)
	if t.slots == nil {
		t.slots = make([]uint64, 64)
	}
	mask := uint64(len(t.slots) - 1)
	for k, h := range hashes {
		row := rowAt(sel, k)
		i := h & mask
		for {
			s := t.slots[i]
			if s == 0 {
				g, err := t.keys.appendRow(keys, row)
				if err != nil {
					return err
				}
				t.long = append(t.long, longKey{h, g})
				t.slots[i] = h>>32<<32 | uint64(len(t.long))
				groups[k] = g
				t.fresh = append(t.fresh, uint16(k))
				if len(t.long)*2 > len(t.slots) {
					if err := t.growLong(); err != nil {
						return err
					}
					mask = uint64(len(t.slots) - 1)
				}
				break
			}
			if s>>32 == h>>32 {
				l := t.long[uint32(s)-1]
				if l.hash == h && column.EqualRows(keys, row, t.keys.chunks[l.group>>chunkBits], int(l.group&chunkMask)) {
					groups[k] = l.group
					break
				}
			}
			i = (i + 1) & mask
		}
	}
	return nil
}

func (t *groupTable) growLong() error {
	if err := t.grow(int64(len(t.slots)) * 2 * 8); err != nil {
		return err
	}
	t.slots = make([]uint64, 2*len(t.slots))
	mask := uint64(len(t.slots) - 1)
	for n, l := range t.long {
		i := l.hash & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = l.hash>>32<<32 | uint64(n+1)
	}
	return nil
}
