package expr

import (
	"strconv"

	"github.com/sluice-sql/sluice/types"
)

// networkFunctions are those of addresses of the Internet.
func networkFunctions() []Function {
	return []Function{
		{
			Name: "INET_ATON", Group: "string", Syntax: "INET_ATON(string)",
			Doc:     "The number of an IPv4 address; an address of less than four parts has the zeros before its last one. NULL when it is none.",
			Example: "INET_ATON('192.168.1.1')", Result: "3232235777", Min: 1, Max: 1, Nulls: NullsMade,
			Bind: takes(returns(types.Of(types.BigInt)), text),
			Kernel: intOf(func(a []Arg, i int) (int64, error) {
				n, ok := inetNumber(a[0].text(i))
				if !ok {
					return 0, errNull
				}
				return n, nil
			}),
		},
		{
			Name: "INET_NTOA", Group: "string", Syntax: "INET_NTOA(integer)",
			Doc:     "The IPv4 address of a number, which a type smaller than BIGINT may hold as a negative one; NULL when it is none.",
			Example: "INET_NTOA(3232235777)", Result: "192.168.1.1", Min: 1, Max: 1, Nulls: NullsMade,
			Bind: takes(returns(types.String()), func(t types.Type) (types.Type, bool) {
				if t.Kind == types.Null {
					return types.Of(types.BigInt), true
				}
				return t, t.IsInteger()
			}),
			Kernel: func(c *Call, _ *Env) (Step, error) {
				mask := map[types.Kind]int64{types.TinyInt: 0xff, types.SmallInt: 0xffff, types.Int: 0xffffffff, types.BigInt: -1}[c.Args[0].Type().Kind]
				return textStep(func(dst []byte, a []Arg, i int) ([]byte, error) {
					n := a[0].Int64(a[0].At(i)) & mask
					if n < 0 || n > 0xffffffff {
						return nil, errNull
					}
					for shift := 24; shift >= 0; shift -= 8 {
						dst = strconv.AppendInt(dst, n>>shift&0xff, 10)
						if shift > 0 {
							dst = append(dst, '.')
						}
					}
					return dst, nil
				}), nil
			},
		},
	}
}

// inetNumber reads an IPv4 address of one to four decimal parts, of which the last stands for the lowest byte
// and a single one for the whole number.
func inetNumber(s []byte) (int64, bool) {
	var parts [4]int64
	n, digits := 0, 0
	for _, c := range s {
		switch {
		case c == '.':
			if digits == 0 || n == 3 {
				return 0, false
			}
			n++
			digits = 0
		case c >= '0' && c <= '9':
			digits++
			if parts[n] = parts[n]*10 + int64(c-'0'); parts[n] > 0xffffffff {
				return 0, false
			}
		default:
			return 0, false
		}
	}
	if digits == 0 {
		return 0, false
	}
	if n == 0 {
		return parts[0], true
	}
	var v int64
	for k := 0; k < n; k++ {
		if parts[k] > 0xff {
			return 0, false
		}
		v |= parts[k] << (24 - 8*k)
	}
	return v | parts[n], parts[n] <= 0xff
}
