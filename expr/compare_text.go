package expr

import (
	"bytes"
	"encoding/binary"
)

// textConst compares texts with one constant. The first eight bytes, read as one number, decide most
// comparisons of dates, codes and names.
type textConst struct {
	text  []byte
	head  uint64 // its first eight bytes, if it has as many
	long  bool
	truth [3]bool
}

func newTextConst(op cmpOp, c []byte) textConst {
	t := textConst{text: c, truth: op.truth()}
	if len(c) >= 8 {
		t.head, t.long = binary.BigEndian.Uint64(c), true
	}
	return t
}

// test reports whether v op the constant holds.
func (t *textConst) test(v []byte) bool {
	if t.long && len(v) >= 8 {
		if head := binary.BigEndian.Uint64(v); head < t.head {
			return t.truth[0]
		} else if head > t.head {
			return t.truth[2]
		}
		return t.truth[1+bytes.Compare(v[8:], t.text[8:])]
	}
	return t.truth[1+bytes.Compare(v, t.text)]
}

// textWithConst returns the operand that is no constant, and the comparison of its values with the one
// that is; false unless exactly one is constant.
func textWithConst(op cmpOp, args []Arg) (Arg, textConst, bool) {
	x, y := args[0], args[1]
	if x.Const == y.Const {
		return x, textConst{}, false
	}
	if x.Const {
		x, y, op = y, x, op.flip()
	}
	return x, newTextConst(op, y.Value(0)), true
}

// selectTextOrder is <, <=, >, >= and <> of texts for filters.
func selectTextOrder(op cmpOp) SelectStep {
	general := selectOther(op, cmpTexts)
	return func(r Rows, args []Arg, buf []uint16) ([]uint16, error) {
		x, c, ok := textWithConst(op, args)
		if !ok {
			return general(r, args, buf)
		}
		data, offsets := x.Bytes, x.Offsets
		j := 0
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			buf[j] = uint16(i)
			if c.test(data[offsets[i]:offsets[i+1]]) {
				j++
			}
		}
		return buf[:j], nil
	}
}
