package expr

import "unsafe"

// counts says how often each value is in a group of an aggregate that takes rows back. It gives memory back
// when most of its values are gone.
type counts[K string | uint64] struct {
	m    map[K]int64 // none is 0
	most int         // the most values that m has held, for which it has room
}

// add counts a value by times up or down, and returns how often it was and is there.
func (c *counts[K]) add(key K, by int64) (was, is int64) {
	if c.m == nil {
		c.m = map[K]int64{}
	}
	was = c.m[key]
	is = was + by
	if is != 0 {
		c.m[key] = is
		c.most = max(c.most, len(c.m))
		return was, is
	}
	delete(c.m, key)
	switch {
	case len(c.m) == 0:
		*c = counts[K]{}
	case c.most > 64 && len(c.m) < c.most/4:
		old := c.m
		c.m, c.most = make(map[K]int64, len(old)), len(old)
		for k, n := range old {
			c.m[k] = n
		}
	}
	return was, is
}

// size is the memory that the counts take, without what keys point to.
func (c *counts[K]) size() int64 {
	var slot struct {
		k K
		n int64
	}
	return mapBytes(c.most, int64(unsafe.Sizeof(slot)))
}

// mapBytes is about what a Go map takes that has held so many entries: eight places come first, from then on
// there are up to twice as many as it needs.
func mapBytes(entries int, slot int64) int64 {
	switch {
	case entries == 0:
		return 0
	case entries <= 8:
		return 64 + 8*(slot+1)
	}
	return 256 + int64(entries)*(slot+1)*7/4
}
