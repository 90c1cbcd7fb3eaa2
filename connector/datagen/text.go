package datagen

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// text makes texts of hexadecimal digits, and bytes.
type text struct {
	name    uint64
	length  int
	varies  bool // from 1 to length
	lengths uint64
	binary  bool
	nulls   *nulls
}

func (g *text) size() int64 { return int64(g.length) + 4 }

func (g *text) fill(v *column.Vector, a rows) {
	v.Reset()
	v.Len = a.n
	b := slices.Grow(v.Bytes, a.n*g.length+16)
	v.Offsets = slices.Grow(v.Offsets, a.n)[:a.n+1]
	s, lengths := a.stream(g.name), a.stream(g.lengths)
	var missing stream
	if g.nulls != nil {
		missing = a.stream(g.nulls.name)
	}
	end := 0
	for i := range a.n {
		row := a.row + uint64(i)
		switch {
		case g.nulls != nil && g.nulls.at(missing, row):
			v.SetNull(i)
		case g.binary:
			end = g.bytes(b, end, g.lengthOf(lengths, row), s.at(row))
		default:
			end = g.digits(b, end, g.lengthOf(lengths, row), s.at(row))
		}
		v.Offsets[i+1] = int32(end)
	}
	v.Bytes = b[:end]
}

func (g *text) lengthOf(s stream, row uint64) int {
	if !g.varies || g.length == 0 {
		return g.length
	}
	return 1 + int(below(s.at(row), uint64(g.length)))
}

// digits writes n digits at b[at:], sixteen at a time: what is too much is written over by what follows. x
// is random.
func (g *text) digits(b []byte, at, n int, x uint64) int {
	b = b[:cap(b)]
	for k := at; k < at+n; k += 16 {
		x += gamma
		r := mix(x)
		to := b[k : k+16]
		binary.LittleEndian.PutUint64(to, hexDigits(uint32(r)))
		binary.LittleEndian.PutUint64(to[8:], hexDigits(uint32(r>>32)))
	}
	return at + n
}

func (g *text) bytes(b []byte, at, n int, x uint64) int {
	b = b[:cap(b)]
	for k := at; k < at+n; k += 8 {
		x += gamma
		binary.LittleEndian.PutUint64(b[k:k+8], mix(x))
	}
	return at + n
}

// hexDigits returns the eight hexadecimal digits of x, each in a byte: the nibbles are spread, and those
// above 9 moved on to the letters, all at once.
func hexDigits(x uint32) uint64 {
	const each = 0x0101010101010101
	v := uint64(x)
	v = (v | v<<16) & 0x0000ffff0000ffff
	v = (v | v<<8) & 0x00ff00ff00ff00ff
	v = (v | v<<4) & 0x0f0f0f0f0f0f0f0f
	letters := (v + 6*each) >> 4 & each
	return v + '0'*each + letters*('a'-'0'-10)
}

// maxLength is the greatest length of texts and collections that can be asked for.
const maxLength = 1 << 24

func (f *fields) text(path string, t types.Type, missing *nulls) (generator, error) {
	g := &text{name: name(path), lengths: name(path + "\x00length"), binary: t.IsBinary(), nulls: missing, length: t.Precision}
	if t.Kind == types.VarChar || t.Kind == types.VarBinary {
		preset := int64(t.Precision)
		if t.Precision == types.MaxLength {
			preset = 100
		}
		n, err := f.number("length", min(preset, maxLength), 0, min(int64(t.Precision), maxLength))
		if err != nil {
			return nil, err
		}
		key, varies, ok := f.get("var-len")
		if ok && varies != "true" && varies != "false" {
			return nil, fault(key, varies, "is neither true nor false")
		}
		g.length, g.varies = int(n), varies == "true"
	}
	if g.length > maxLength {
		return nil, &connector.ColumnError{Column: f.parts[0].path, Msg: fmt.Sprintf("the connector 'datagen' makes values of up to %d characters or bytes, but column %s is %s", maxLength, connector.QuoteName(path), t)}
	}
	return g, nil
}
