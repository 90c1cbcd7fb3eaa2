package column

import "math/bits"

// Bitmap is a validity bitmap, least significant bit first: bit i set means row i is not NULL.
// A nil Bitmap means that no row is NULL.
type Bitmap []uint64

// NewBitmap returns a bitmap of n set bits.
func NewBitmap(n int) Bitmap {
	b := make(Bitmap, (n+63)/64)
	for i := range b {
		b[i] = ^uint64(0)
	}
	return b
}

// Get reports whether bit i is set; a nil bitmap has every bit set.
func (b Bitmap) Get(i int) bool { return b == nil || b[i>>6]>>(uint(i)&63)&1 != 0 }

// Set sets bit i.
func (b Bitmap) Set(i int) { b[i>>6] |= 1 << (uint(i) & 63) }

// Clear clears bit i.
func (b Bitmap) Clear(i int) { b[i>>6] &^= 1 << (uint(i) & 63) }

func (b Bitmap) put(i int, set bool) {
	if set {
		b.Set(i)
	} else {
		b.Clear(i)
	}
}

// Count returns the number of set bits among the first n.
func (b Bitmap) Count(n int) int {
	if b == nil {
		return n
	}
	c := 0
	for i := 0; i < n>>6; i++ {
		c += bits.OnesCount64(b[i])
	}
	if r := uint(n) & 63; r != 0 {
		c += bits.OnesCount64(b[n>>6] & (1<<r - 1))
	}
	return c
}
