package expr

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

func printfFunctions() []Function {
	return []Function{{
		Name: "PRINTF", Group: "string", Syntax: "PRINTF(format [, value, …])",
		Doc: "The format with the values in it, each where a % directive asks for it: %s any value, %d %x %o integers, " +
			"%f %e %g numbers with a point, %c a character, %b a truth, %n a new line, %% a percent sign; %2$s takes the second value, " +
			"and flags, width and precision are those of Java's Formatter. NULL when the format is wrong or asks for what a value is not.",
		Example: "PRINTF('%s: %05.1f %,d', 'sum', 2.25, 1234567)", Result: "sum: 002.3 1,234,567", Min: 1, Max: -1, Nulls: NullsOwn,
		Bind: func(args []Expr) ([]types.Type, types.Type, error) {
			params := make([]types.Type, len(args))
			for i, a := range args {
				take := anyType
				if i == 0 {
					take = text
				}
				t, ok := take(a.Type())
				if !ok {
					return nil, types.Type{}, errMismatch
				}
				params[i] = t
			}
			return params, types.String(), nil
		},
		UsesEnv: true,
		Kernel: func(c *Call, env *Env) (Step, error) {
			// A format that is constant is read once.
			var fixed []directive
			var wrong error
			given, isConst := constText(c.Args[0])
			if isConst {
				fixed, wrong = readFormat([]byte(given))
			}
			return textStep(func(dst []byte, a []Arg, i int) ([]byte, error) {
				if a[0].null(i) {
					return nil, errNull
				}
				ds, err := fixed, wrong
				if !isConst {
					ds, err = readFormat(a[0].text(i))
				}
				if err == nil {
					dst, err = printf(dst, ds, a[1:], i, env)
				}
				if err != nil {
					return nil, errNull
				}
				return dst, nil
			}), nil
		},
	}}
}

// errFormat says that a format is wrong, or that a value is not what its directive takes.
var errFormat = errors.New("bad format")

// directive is a piece of a format: literal text, or one conversion.
type directive struct {
	text  []byte // literal; the rest is then zero
	index int    // which value, from 1; 0 the next one, -1 the one before
	flags string
	width int
	prec  int // -1: none
	verb  byte
	upper bool
}

func (d *directive) has(flag byte) bool { return strings.IndexByte(d.flags, flag) >= 0 }

// readFormat reads %[index$][flags][width][.precision]conversion.
func readFormat(f []byte) ([]directive, error) {
	var out []directive
	for len(f) > 0 {
		i := bytes.IndexByte(f, '%')
		if i != 0 {
			if i < 0 {
				i = len(f)
			}
			out = append(out, directive{text: f[:i]})
			f = f[i:]
			continue
		}
		f = f[1:]
		d := directive{prec: -1}
		number := func() (int, bool) {
			n, k := 0, 0
			for k < len(f) && f[k] >= '0' && f[k] <= '9' && n < 1<<20 {
				n = n*10 + int(f[k]-'0')
				k++
			}
			f = f[k:]
			return n, k > 0
		}
		// A number that does not begin with 0 and ends in $ is an index.
		if rest := f; len(f) > 0 && f[0] >= '1' && f[0] <= '9' {
			if n, _ := number(); len(f) > 0 && f[0] == '$' {
				d.index = n
				f = f[1:]
			} else {
				f = rest
			}
		} else if len(f) > 0 && f[0] == '<' {
			d.index = -1
			f = f[1:]
		}
		k := 0
		for k < len(f) && strings.IndexByte("-#+ 0,(", f[k]) >= 0 {
			if strings.IndexByte(string(f[:k]), f[k]) >= 0 {
				return nil, errFormat
			}
			k++
		}
		d.flags = string(f[:k])
		f = f[k:]
		d.width, _ = number()
		if len(f) > 0 && f[0] == '.' {
			f = f[1:]
			p, ok := number()
			if !ok {
				return nil, errFormat
			}
			d.prec = p
		}
		if len(f) == 0 || d.width > maxPrintWidth || d.prec > maxPrintWidth {
			return nil, errFormat
		}
		d.verb = f[0]
		f = f[1:]
		if strings.IndexByte("BHSCXEG", d.verb) >= 0 {
			d.upper = true
			d.verb |= 0x20
		}
		if err := d.check(); err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// maxPrintWidth bounds the width and precision of a directive, so that no short format fills the memory.
const maxPrintWidth = 10_000

// check refuses flags that do not go with the conversion or with each other.
func (d *directive) check() error {
	allowed, precision := "", true
	switch d.verb {
	case 's', 'b', 'h':
		allowed = "-"
	case 'c':
		allowed, precision = "-", false
	case 'd':
		allowed, precision = "-+ 0,(", false
	case 'o', 'x':
		allowed, precision = "-#0", false
	case 'e':
		allowed = "-#+ 0("
	case 'f':
		allowed = "-#+ 0,("
	case 'g':
		allowed = "-+ 0,("
	case '%':
		allowed, precision = "-", false
	case 'n':
		if d.width > 0 {
			return errFormat
		}
		precision = false
	default:
		return errFormat
	}
	for i := range d.flags {
		if strings.IndexByte(allowed, d.flags[i]) < 0 {
			return errFormat
		}
	}
	if d.prec >= 0 && !precision || d.has('+') && d.has(' ') || d.has('-') && d.has('0') || d.width == 0 && (d.has('-') || d.has('0')) {
		return errFormat
	}
	return nil
}

// printf appends what the directives make of the values of row i.
func printf(dst []byte, ds []directive, values []Arg, i int, env *Env) ([]byte, error) {
	next, last := 0, -1
	for k := range ds {
		d := &ds[k]
		switch {
		case d.verb == 0:
			dst = append(dst, d.text...)
			continue
		case d.verb == 'n':
			dst = append(dst, '\n')
			continue
		case d.verb == '%':
			dst = d.pad(dst, []byte("%"))
			continue
		case d.index > 0:
			last = d.index - 1
		case d.index == 0:
			last = next
			next++
		}
		if last < 0 || last >= len(values) {
			return nil, errFormat
		}
		var err error
		if dst, err = d.value(dst, values[last], i, env); err != nil {
			return nil, err
		}
	}
	return dst, nil
}

// pad appends a text in the directive's width.
func (d *directive) pad(dst, s []byte) []byte {
	if d.upper {
		s = bytes.ToUpper(s)
	}
	n := d.width - utf8.RuneCount(s)
	if d.has('-') {
		dst = append(dst, s...)
	}
	for ; n > 0; n-- {
		dst = append(dst, ' ')
	}
	if !d.has('-') {
		dst = append(dst, s...)
	}
	return dst
}

// cut shortens a text to the directive's precision.
func (d *directive) cut(s []byte) []byte {
	if d.prec >= 0 {
		for k, n := 0, 0; k < len(s); n++ {
			if n == d.prec {
				return s[:k]
			}
			_, size := utf8.DecodeRune(s[k:])
			k += size
		}
	}
	return s
}

// value appends one value.
func (d *directive) value(dst []byte, a Arg, i int, env *Env) ([]byte, error) {
	at := a.At(i)
	if a.null(i) {
		s := "null"
		if d.verb == 'b' {
			s = "false"
		}
		return d.pad(dst, d.cut([]byte(s))), nil
	}
	switch d.verb {
	case 's':
		if a.Type.Kind == types.Boolean {
			return d.pad(dst, d.cut(strconv.AppendBool(nil, a.Bool[at]))), nil
		}
		return d.pad(dst, d.cut(valueText(a.Vector, at, env.Zone))), nil
	case 'b':
		s := "true"
		if a.Type.Kind == types.Boolean {
			s = strconv.FormatBool(a.Bool[at])
		}
		return d.pad(dst, d.cut([]byte(s))), nil
	case 'h':
		return d.hash(dst, a.Vector, at)
	case 'c':
		if !a.Type.IsInteger() || a.Type.Kind == types.BigInt {
			return nil, errFormat
		}
		r := a.Int64(at)
		if r < 0 || r > unicode.MaxRune {
			return nil, errFormat
		}
		return d.pad(dst, []byte(string(rune(r)))), nil
	case 'd':
		if !a.Type.IsInteger() {
			return nil, errFormat
		}
		n := a.Int64(at)
		digits := strconv.AppendInt(nil, n, 10)
		if n < 0 {
			digits = digits[1:]
		}
		return d.number(dst, digits, n < 0), nil
	case 'o', 'x':
		if !a.Type.IsInteger() {
			return nil, errFormat
		}
		return d.bits(dst, a.Int64(at), a.Type), nil
	}
	switch {
	case a.Type.IsFloat():
		return d.float(dst, asFloat(a.Vector, at)), nil
	case a.Type.Kind == types.Decimal:
		return d.decimal(dst, a.Vector, at), nil
	}
	return nil, errFormat
}

func asFloat(v *column.Vector, i int) float64 {
	if v.Type.Kind == types.Float {
		return float64(v.F32[i])
	}
	return v.F64[i]
}

// hash writes Java's hash code, of those types of which it is a matter of the value alone.
func (d *directive) hash(dst []byte, v *column.Vector, i int) ([]byte, error) {
	var h int32
	switch {
	case v.Type.Kind == types.Boolean:
		h = 1237
		if v.Bool[i] {
			h = 1231
		}
	case v.Type.Kind == types.BigInt:
		n := uint64(v.I64[i])
		h = int32(n ^ n>>32)
	case v.Type.IsInteger():
		h = int32(v.Int64(i))
	default:
		return nil, errFormat
	}
	return d.pad(dst, d.cut(strconv.AppendUint(nil, uint64(uint32(h)), 16))), nil
}

// bits writes an integer as unsigned octal or hexadecimal digits of its type's width.
func (d *directive) bits(dst []byte, n int64, t types.Type) []byte {
	width := map[types.Kind]uint{types.TinyInt: 8, types.SmallInt: 16, types.Int: 32, types.BigInt: 64}[t.Kind]
	u := uint64(n) & (math.MaxUint64 >> (64 - width))
	base, prefix := 16, "0x"
	if d.verb == 'o' {
		base, prefix = 8, "0"
	}
	if !d.has('#') {
		prefix = ""
	}
	s := strconv.AppendUint(nil, u, base)
	if d.has('0') {
		for len(prefix)+len(s) < d.width {
			s = append([]byte{'0'}, s...)
		}
	}
	return d.pad(dst, append([]byte(prefix), s...))
}

// number writes digits, perhaps with a point and an exponent, with sign, groups and zeros.
func (d *directive) number(dst, digits []byte, negative bool) []byte {
	if d.has(',') {
		whole := len(digits)
		if dot := bytes.IndexByte(digits, '.'); dot >= 0 {
			whole = dot
		}
		var s []byte
		for k, c := range digits {
			if k > 0 && k < whole && (whole-k)%3 == 0 {
				s = append(s, ',')
			}
			s = append(s, c)
		}
		digits = s
	}
	before, after := "", ""
	switch {
	case negative && d.has('('):
		before, after = "(", ")"
	case negative:
		before = "-"
	case d.has('+'):
		before = "+"
	case d.has(' '):
		before = " "
	}
	if d.has('0') {
		for len(before)+len(digits)+len(after) < d.width {
			digits = append([]byte{'0'}, digits...)
		}
	}
	return d.pad(dst, append(append([]byte(before), digits...), after...))
}

// float writes a FLOAT or DOUBLE. As in Java it is the shortest decimal of the value that is rounded, half up.
func (d *directive) float(dst []byte, x float64) []byte {
	switch {
	case math.IsNaN(x):
		return (&directive{flags: strings.ReplaceAll(d.flags, "0", ""), width: d.width, upper: d.upper}).pad(dst, []byte("NaN"))
	case math.IsInf(x, 0):
		e := directive{flags: strings.ReplaceAll(strings.ReplaceAll(d.flags, "0", ""), ",", ""), width: d.width, upper: d.upper}
		return e.number(dst, []byte("Infinity"), x < 0)
	}
	digits := strconv.AppendFloat(nil, math.Abs(x), 'e', -1, 64)
	return d.rounded(dst, digits, math.Signbit(x))
}

func (d *directive) decimal(dst []byte, v *column.Vector, i int) []byte {
	s := valueText(v, i, nil)
	negative := len(s) > 0 && s[0] == '-'
	if negative {
		s = s[1:]
	}
	return d.rounded(dst, s, negative)
}

// rounded writes the decimal number s as the conversion has it.
func (d *directive) rounded(dst, s []byte, negative bool) []byte {
	prec := d.prec
	if prec < 0 {
		prec = 6
	}
	digits, point := splitDecimal(s) // 0.digits * 10^point
	verb := d.verb
	if verb == 'g' {
		if prec == 0 {
			prec = 1
		}
		// Rounded to that many digits it is at least 10^-4 and below 10^precision, or it has an exponent.
		r, p := roundDigits(digits, point, prec)
		switch {
		case len(r) == 0:
			verb, prec = 'f', prec-1
		case p >= -3 && p <= prec:
			verb, prec = 'f', max(0, prec-p)
		default:
			verb, prec = 'e', prec-1
		}
		digits, point = r, p
	}
	var out []byte
	if verb == 'f' {
		r, p := roundDigits(digits, point, point+prec)
		for k := 0; k < max(1, p); k++ {
			out = append(out, digitAt(r, p, p-k))
		}
		if p <= 0 {
			out = []byte{'0'}
		}
		if prec > 0 || d.has('#') {
			out = append(out, '.')
		}
		for k := 1; k <= prec; k++ {
			out = append(out, digitAt(r, p, 1-k))
		}
		return d.number(dst, out, negative)
	}
	r, p := roundDigits(digits, point, prec+1)
	exp := p - 1
	if len(r) == 0 {
		exp = 0
		p = 1
	}
	out = append(out, digitAt(r, p, p))
	if prec > 0 || d.has('#') {
		out = append(out, '.')
	}
	for k := 1; k <= prec; k++ {
		out = append(out, digitAt(r, p, p-k))
	}
	out = append(out, 'e', '+')
	if exp < 0 {
		out[len(out)-1] = '-'
		exp = -exp
	}
	if exp < 10 {
		out = append(out, '0')
	}
	return d.number(dst, strconv.AppendInt(out, int64(exp), 10), negative)
}

// digitAt returns the digit that stands for 10^(place-1) in the number 0.digits * 10^point.
func digitAt(digits []byte, point, place int) byte {
	if k := point - place; k >= 0 && k < len(digits) {
		return digits[k]
	}
	return '0'
}

// splitDecimal reads a decimal, with an exponent or without: 0.digits * 10^point, without zeros at either end.
func splitDecimal(s []byte) (digits []byte, point int) {
	exp := 0
	if e := bytes.IndexByte(s, 'e'); e >= 0 {
		exp, _ = strconv.Atoi(string(s[e+1:]))
		s = s[:e]
	}
	whole := len(s)
	if dot := bytes.IndexByte(s, '.'); dot >= 0 {
		whole = dot
		s = append(append([]byte(nil), s[:dot]...), s[dot+1:]...)
	}
	lead := 0
	for lead < len(s) && s[lead] == '0' {
		lead++
	}
	digits = bytes.TrimRight(s[lead:], "0")
	if len(digits) == 0 {
		return nil, 0
	}
	return digits, whole - lead + exp
}

// roundDigits keeps the first n digits, rounding half up.
func roundDigits(digits []byte, point, n int) ([]byte, int) {
	if n >= len(digits) {
		return digits, point
	}
	if n < 0 {
		return nil, point
	}
	r := append([]byte{'0'}, digits[:n]...)
	if digits[n] >= '5' {
		k := n
		for ; r[k] == '9'; k-- {
			r[k] = '0'
		}
		r[k]++
	}
	if r[0] == '0' {
		r = r[1:]
	} else {
		point++
	}
	return bytes.TrimRight(r, "0"), point
}
