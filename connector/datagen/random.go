package datagen

import (
	"hash/fnv"
	"math/bits"
)

// gamma is the step of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators",
// 2014). That generator's n-th number is a function of the seed and of n alone.
const gamma = 0x9e3779b97f4a7c15

// mix is the output function of SplitMix64.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// stream is an endless row of random numbers.
type stream uint64

// at returns number n.
func (s stream) at(n uint64) uint64 { return mix(uint64(s) + n*gamma) }

// name turns the path of a generator into what sets its numbers apart from those of others.
func name(path string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(path)) // never fails
	return h.Sum64()
}

// below turns a random number into one below n; 0 stands for 2^64.
func below(random, n uint64) uint64 {
	if n == 0 {
		return random
	}
	hi, _ := bits.Mul64(random, n)
	return hi
}

// unit turns a random number into one from 0 to below 1.
func unit(random uint64) float64 { return float64(random>>11) / (1 << 53) }
