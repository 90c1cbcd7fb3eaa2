package text

// EachByte times a byte is a word of eight such bytes.
const EachByte = 0x0101010101010101

const low7 = 0x7f * EachByte

// Zeros returns a word with the top bit of every byte of x that is 0, and nothing else.
func Zeros(x uint64) uint64 { return ^((x&low7 + low7) | x | low7) }

// Below16 returns a word with the top bit of every byte of x that is below 16, line ends and NUL among them.
func Below16(x uint64) uint64 { return Zeros(x & (0xf0 * EachByte)) }

// Below32 returns a word with the top bit of every byte of x that is below 32.
func Below32(x uint64) uint64 { return Zeros(x & (0xe0 * EachByte)) }
