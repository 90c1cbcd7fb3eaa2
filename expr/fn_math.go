package expr

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

func mathFunctions() []Function {
	doubleType := types.Of(types.Double)
	real := func(name, doc, example, result string, f func(float64) float64) Function {
		return Function{
			Name: name, Group: "arithmetic", Syntax: name + "(number)", Doc: doc, Example: example, Result: result,
			Min: 1, Max: 1, Bind: takes(returns(doubleType), double), Total: true, Kernel: floatOf1(f),
		}
	}
	real2 := func(name, syntax, doc, example, result string, f func(x, y float64) float64) Function {
		return Function{
			Name: name, Group: "arithmetic", Syntax: syntax, Doc: doc, Example: example, Result: result,
			Min: 2, Max: 2, Bind: takes(returns(doubleType), double, double), Total: true,
			Kernel: func(*Call, *Env) (Step, error) {
				return func(r Rows, args []Arg, out *column.Vector) error {
					x, y := args[0], args[1]
					for k, n := 0, r.Count(); k < n; k++ {
						i := r.Row(k)
						out.F64[i] = f(x.float(i), y.float(i))
					}
					return nil
				}, nil
			},
		}
	}
	constant := func(name, doc, result string, value float64) Function {
		return Function{
			Name: name, Group: "arithmetic", Syntax: name + "()", Doc: doc, Example: name + "()", Result: result,
			Bind: takes(returns(doubleType), double),
			Kernel: func(*Call, *Env) (Step, error) {
				return func(r Rows, _ []Arg, out *column.Vector) error {
					for k, n := 0, r.Count(); k < n; k++ {
						out.F64[r.Row(k)] = value
					}
					return nil
				}, nil
			},
		}
	}
	return []Function{
		{
			Name: "ABS", Group: "arithmetic", Syntax: "ABS(number)", Doc: "The value, which may be an interval, without its sign.", Example: "ABS(-1.50)", Result: "1.50",
			Min: 1, Max: 1, Fallible: true,
			Bind: takes(sameAs(0), func(t types.Type) (types.Type, bool) {
				if t.IsInterval() {
					return t, true
				}
				return numeric(t)
			}),
			MayFail: func(c *Call) bool { return c.T.IsInteger() || c.T.IsInterval() },
			Kernel: func(c *Call, _ *Env) (Step, error) {
				neg := negateStep(c.T)
				return bySign(c.T, nil, neg), nil
			},
		},
		{
			Name: "SIGN", Group: "arithmetic", Syntax: "SIGN(number)", Doc: "-1, 0 or 1 as the value is negative, zero or positive, in the value's type.",
			Example: "SIGN(-7)", Result: "-1", Min: 1, Max: 1,
			Bind: takes(func(ts []types.Type) types.Type {
				t := ts[0]
				if t.Kind == types.Decimal && t.Precision == t.Scale {
					t.Precision++
					if t.Precision > types.MaxDecimalPrecision {
						t.Precision, t.Scale = types.MaxDecimalPrecision, t.Scale-1
					}
				}
				return t
			}, numeric),
			Kernel: func(c *Call, _ *Env) (Step, error) { return signStep(c.Args[0].Type(), c.T), nil },
		},
		real("SQRT", "The square root; NaN for a negative value.", "SQRT(2.25)", "1.5", math.Sqrt),
		real2("POWER", "POWER(base, exponent)", "The base raised to the exponent.", "POWER(2, 10)", "1024.0", math.Pow),
		real("EXP", "e raised to the value.", "EXP(0)", "1.0", math.Exp),
		real("LN", "The natural logarithm.", "LN(1)", "0.0", naturalLog),
		real("LOG10", "The logarithm to base 10.", "LOG10(1000)", "3.0", log10),
		real("LOG2", "The logarithm to base 2.", "LOG2(8)", "3.0", math.Log2),
		{
			Name: "LOG", Group: "arithmetic", Syntax: "LOG([base,] number)", Doc: "The logarithm to the base, or the natural one.",
			Example: "LOG(2, 8)", Result: "3.0", Min: 1, Max: 2, Bind: takes(returns(doubleType), double, double), Total: true,
			Kernel: func(c *Call, _ *Env) (Step, error) {
				two := len(c.Args) == 2
				return func(r Rows, args []Arg, out *column.Vector) error {
					for k, n := 0, r.Count(); k < n; k++ {
						i := r.Row(k)
						if two {
							out.F64[i] = logBase(args[0].float(i), args[1].float(i))
						} else {
							out.F64[i] = naturalLog(args[0].float(i))
						}
					}
					return nil
				}, nil
			},
		},
		real("SIN", "The sine of an angle in radians.", "SIN(0)", "0.0", math.Sin),
		real("COS", "The cosine of an angle in radians.", "COS(0)", "1.0", math.Cos),
		real("TAN", "The tangent of an angle in radians.", "TAN(0)", "0.0", math.Tan),
		real("COT", "The cotangent of an angle in radians.", "ROUND(COT(1), 4)", "0.6421", func(x float64) float64 { return 1 / math.Tan(x) }),
		real("ASIN", "The angle in radians whose sine is the value.", "ASIN(0)", "0.0", math.Asin),
		real("ACOS", "The angle in radians whose cosine is the value.", "ACOS(1)", "0.0", arcCosine),
		real("ATAN", "The angle in radians whose tangent is the value.", "ATAN(0)", "0.0", math.Atan),
		real2("ATAN2", "ATAN2(y, x)", "The angle in radians of the point (x, y).", "ATAN2(0, 1)", "0.0", math.Atan2),
		real("SINH", "The hyperbolic sine.", "SINH(0)", "0.0", math.Sinh),
		real("COSH", "The hyperbolic cosine.", "COSH(0)", "1.0", math.Cosh),
		real("TANH", "The hyperbolic tangent.", "TANH(0)", "0.0", math.Tanh),
		real("DEGREES", "An angle in radians as degrees.", "DEGREES(PI())", "180.0", func(x float64) float64 { return x / math.Pi * 180 }),
		real("RADIANS", "An angle in degrees as radians.", "RADIANS(180) = PI()", "TRUE", func(x float64) float64 { return x / 180 * math.Pi }),
		constant("PI", "The number pi.", "3.141592653589793", math.Pi),
		constant("E", "The base of the natural logarithm.", "2.718281828459045", math.E),
		{
			Name: "CEIL", Aliases: []string{"CEILING"}, Group: "arithmetic", Syntax: "CEIL(number) or CEIL(time TO unit)",
			Doc:     "The least whole number not below the value; of a date or time, the next start of the unit.",
			Example: "CEIL(-1.5)", Result: "-1", Min: 1, Max: 2, Fallible: true, UsesEnv: true, Bind: bindRounding, Kernel: roundingKernel(true),
			MayFail: func(c *Call) bool { return len(c.Args) == 2 },
		},
		{
			Name: "FLOOR", Group: "arithmetic", Syntax: "FLOOR(number) or FLOOR(time TO unit)",
			Doc:     "The greatest whole number not above the value; of a date or time, the start of the unit it is in.",
			Example: "FLOOR(TIMESTAMP '2024-05-17 13:40:00' TO MONTH)", Result: "2024-05-01 00:00:00", Min: 1, Max: 2, Fallible: true, UsesEnv: true,
			Bind: bindRounding, Kernel: roundingKernel(false),
			MayFail: func(c *Call) bool { return len(c.Args) == 2 },
		},
		{
			Name: "ROUND", Group: "arithmetic", Syntax: "ROUND(number [, decimals])",
			Doc:     "The value rounded to a number of decimals, half away from zero; negative decimals round before the point.",
			Example: "ROUND(2.345, 2)", Result: "2.35", Min: 1, Max: 2, Fallible: true, Bind: bindRound, Kernel: roundKernel(true),
			MayFail: func(c *Call) bool { return !c.T.IsFloat() },
		},
		{
			Name: "TRUNCATE", Group: "arithmetic", Syntax: "TRUNCATE(number [, decimals])", Doc: "The value with further decimals cut off.",
			Example: "TRUNCATE(42.324, 2)", Result: "42.32", Min: 1, Max: 2, Bind: bindRound, Kernel: roundKernel(false),
		},
		{
			Name: "RAND", Group: "arithmetic", Syntax: "RAND([seed])", Doc: "A random DOUBLE from 0 to below 1; with a seed, the same numbers every time.",
			Example: "RAND() < 1", Result: "TRUE", Max: 1, Volatile: true, UsesEnv: true, Bind: takes(returns(doubleType), integer),
			Kernel: func(c *Call, env *Env) (Step, error) {
				src := randomOf(c, 0, len(c.Args) == 1, env)
				return func(r Rows, args []Arg, out *column.Vector) error {
					for k, n := 0, r.Count(); k < n; k++ {
						i := r.Row(k)
						out.F64[i] = src(args, i).Float64()
					}
					return nil
				}, nil
			},
		},
		{
			Name: "RAND_INTEGER", Group: "arithmetic", Syntax: "RAND_INTEGER([seed,] bound)", Doc: "A random INT from 0 to below the bound.",
			Example: "RAND_INTEGER(1)", Result: "0", Min: 1, Max: 2, Volatile: true, UsesEnv: true, Fallible: true,
			Bind: takes(returns(types.Of(types.Int)), integer, integer),
			Kernel: func(c *Call, env *Env) (Step, error) {
				src := randomOf(c, 0, len(c.Args) == 2, env)
				return intStepOf(func(a []Arg, i int) (int64, error) {
					bound := a[len(a)-1].int(i)
					if bound <= 0 || bound > math.MaxInt32 {
						return 0, failure(fmt.Sprintf("the bound of RAND_INTEGER must be from 1 to 2147483647, not %d", bound), "")
					}
					return src(a, i).Int64N(bound), nil
				}), nil
			},
		},
		{
			Name: "UUID", Group: "arithmetic", Syntax: "UUID()", Doc: "A random UUID (RFC 9562, version 4) as text.",
			Example: "CHAR_LENGTH(UUID())", Result: "36", Volatile: true, UsesEnv: true,
			Bind: takes(returns(types.WithPrecision(types.Char, 36)), anyType),
			Kernel: func(c *Call, env *Env) (Step, error) {
				src := rand.NewPCG(env.Seed, spanWord(c.At)^0x75756964)
				return textStep(func(dst []byte, _ []Arg, _ int) ([]byte, error) {
					return appendUUID(dst, src.Uint64(), src.Uint64()), nil
				}), nil
			},
		},
		{
			Name: "BIN", Group: "arithmetic", Syntax: "BIN(integer)", Doc: "The integer in binary digits, negative ones in two's complement of 64 bits.",
			Example: "BIN(5)", Result: "101", Min: 1, Max: 1, Bind: takes(returns(types.String()), integer),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				return strconv.AppendUint(dst, uint64(a[0].int(i)), 2), nil
			}),
		},
		{
			Name: "HEX", Group: "arithmetic", Syntax: "HEX(integer) or HEX(string)", Doc: "The integer, or the text's UTF-8 bytes, in upper-case hexadecimal digits.",
			Example: "HEX('Az')", Result: "417A", Min: 1, Max: 1,
			Bind: takes(returns(types.String()), func(t types.Type) (types.Type, bool) {
				if t.IsInteger() {
					return types.Of(types.BigInt), true
				}
				return textOrBytes(t)
			}),
			Kernel: func(c *Call, _ *Env) (Step, error) {
				if c.Args[0].Type().IsInteger() {
					return textStep(func(dst []byte, a []Arg, i int) ([]byte, error) {
						return append(dst, strings.ToUpper(strconv.FormatUint(uint64(a[0].int(i)), 16))...), nil
					}), nil
				}
				return textStep(func(dst []byte, a []Arg, i int) ([]byte, error) {
					const digits = "0123456789ABCDEF"
					for _, b := range a[0].text(i) {
						dst = append(dst, digits[b>>4], digits[b&15])
					}
					return dst, nil
				}), nil
			},
		},
		{
			Name: "UNHEX", Group: "arithmetic", Syntax: "UNHEX(string)", Doc: "The bytes that hexadecimal digits spell; NULL when they do not.",
			Example: "UNHEX('417A') = X'417A'", Result: "TRUE", Min: 1, Max: 1, Nulls: NullsMade, Bind: takes(returns(types.Bytes()), text),
			Kernel: textOf(func(dst []byte, a []Arg, i int) ([]byte, error) {
				x := a[0].text(i)
				if len(x)%2 == 1 {
					x = append([]byte{'0'}, x...)
				}
				b, err := hex.AppendDecode(dst, x)
				if err != nil {
					return nil, errNull
				}
				return b, nil
			}),
		},
	}
}

// logBase keeps powers of the base exact where the plain quotient of logarithms does not.
func logBase(base, x float64) float64 {
	switch base {
	case 2:
		return math.Log2(x)
	case 10:
		return log10(x)
	}
	return naturalLog(x) / naturalLog(base)
}

// arcCosine is more exact near 1 than math.Acos, which takes the arc sine from a right angle.
func arcCosine(x float64) float64 {
	return 2 * math.Atan2(math.Sqrt(1-x), math.Sqrt(1+x))
}

// smallestNormal is the least DOUBLE of full precision. On some processors math.Log takes what is smaller for more
// than it is.
const smallestNormal = 0x1p-1022

func naturalLog(x float64) float64 {
	if x > 0 && x < smallestNormal {
		return math.Log(x*0x1p52) - 52*math.Ln2
	}
	return math.Log(x)
}

func log10(x float64) float64 {
	if x > 0 && x < smallestNormal {
		return math.Log10(x*0x1p52) - 52*math.Ln2/math.Ln10
	}
	return math.Log10(x)
}

// bySign copies values that are not negative and applies neg to the others.
func bySign(t types.Type, sel []uint16, neg Step) Step {
	return func(r Rows, args []Arg, out *column.Vector) error {
		x := args[0]
		sel = room(&sel, r.N)
		j := 0
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			if signOf(x.Vector, x.At(i), t) < 0 {
				sel[j] = uint16(i)
				j++
				continue
			}
			copyRow(out, i, x.Vector, x.At(i))
			if t.Kind == types.Double {
				out.F64[i] = math.Abs(out.F64[i]) // -0.0
			} else if t.Kind == types.Float {
				out.F32[i] = float32(math.Abs(float64(out.F32[i])))
			}
		}
		return neg(Rows{Sel: sel[:j], N: r.N}, args, out)
	}
}

func signOf(v *column.Vector, i int, t types.Type) int {
	var f float64
	switch {
	case t.Wide():
		return v.I128[i].Sign()
	case t.Kind == types.Float:
		f = float64(v.F32[i])
	case t.Kind == types.Double:
		f = v.F64[i]
	default:
		return threeWay(v.Int64(i), 0)
	}
	return b2i(f > 0) - b2i(f < 0)
}

func signStep(t, to types.Type) Step {
	one := types.Pow10(to.Scale)
	return func(r Rows, args []Arg, out *column.Vector) error {
		x := args[0]
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			s := signOf(x.Vector, x.At(i), t)
			switch to.Kind {
			case types.Float:
				out.F32[i] = float32(s)
				if v := x.F32[x.At(i)]; v != v {
					out.F32[i] = v
				}
			case types.Double:
				out.F64[i] = float64(s)
				if v := x.F64[x.At(i)]; v != v {
					out.F64[i] = v
				}
			case types.Decimal:
				v := types.Int128{}
				if s > 0 {
					v = one
				} else if s < 0 {
					v = one.Neg()
				}
				setDecimal(out, i, v)
			default:
				setInt(out, i, int64(s))
			}
		}
		return nil
	}
}

func bindRounding(args []Expr) ([]types.Type, types.Type, error) {
	t := args[0].Type().AsNullable()
	if len(args) == 2 {
		u, err := unitArg(args[1])
		if err != nil {
			return nil, t, err
		}
		if t.Kind == types.Null {
			t = types.WithPrecision(types.Timestamp, 3)
		}
		if !t.IsTemporal() {
			return nil, t, errMismatch
		}
		if !u.rounds(t) {
			return nil, t, fmt.Errorf("a %s cannot be rounded to %s", t, u)
		}
		return []types.Type{t, args[1].Type()}, t, nil
	}
	t, ok := numeric(t)
	if !ok {
		return nil, t, errMismatch
	}
	to := t
	if t.Kind == types.Decimal {
		to = types.DecimalOf(t.Precision, 0)
	}
	return []types.Type{t}, to, nil
}

func roundingKernel(up bool) Kernel {
	return func(c *Call, env *Env) (Step, error) {
		if len(c.Args) == 2 {
			return roundMomentStep(c, env, up)
		}
		t := c.Args[0].Type()
		if t.IsInteger() {
			return func(r Rows, args []Arg, out *column.Vector) error {
				x := args[0]
				for k, n := 0, r.Count(); k < n; k++ {
					i := r.Row(k)
					copyRow(out, i, x.Vector, x.At(i))
				}
				return nil
			}, nil
		}
		if t.IsFloat() {
			f := math.Floor
			if up {
				f = math.Ceil
			}
			return eachFloat(t, f), nil
		}
		pow := types.Pow10(t.Scale)
		return func(r Rows, args []Arg, out *column.Vector) error {
			x := args[0]
			for k, n := 0, r.Count(); k < n; k++ {
				i := r.Row(k)
				q, rest := x.Int128(x.At(i)).QuoRem(pow)
				if up && rest.Sign() > 0 {
					q = q.Add(types.Int128From(1))
				} else if !up && rest.Sign() < 0 {
					q = q.Sub(types.Int128From(1))
				}
				setDecimal(out, i, q)
			}
			return nil
		}, nil
	}
}

func eachFloat(t types.Type, f func(float64) float64) Step {
	return func(r Rows, args []Arg, out *column.Vector) error {
		x := args[0]
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			if t.Kind == types.Float {
				out.F32[i] = float32(f(float64(x.F32[x.At(i)])))
			} else {
				out.F64[i] = f(x.F64[x.At(i)])
			}
		}
		return nil
	}
}

func bindRound(args []Expr) ([]types.Type, types.Type, error) {
	t, ok := numeric(args[0].Type().AsNullable())
	if !ok {
		return nil, t, errMismatch
	}
	params := []types.Type{t}
	decimals := int64(0)
	known := true
	if len(args) == 2 {
		p, ok := integer(args[1].Type())
		if !ok {
			return nil, t, errMismatch
		}
		params = append(params, p)
		decimals, known = constInt(args[1])
	}
	if t.Kind == types.Decimal && known {
		return params, types.RoundType(t, int(max(-38, min(38, decimals)))), nil
	}
	return params, t, nil
}

// roundKernel is ROUND and TRUNCATE.
func roundKernel(round bool) Kernel {
	return func(c *Call, _ *Env) (Step, error) {
		t, to := c.Args[0].Type(), c.T
		two := len(c.Args) == 2
		return func(r Rows, args []Arg, out *column.Vector) error {
			x := args[0]
			for k, n := 0, r.Count(); k < n; k++ {
				i := r.Row(k)
				j := x.At(i)
				d := 0
				if two {
					d = int(max(-400, min(400, args[1].int(i))))
				}
				switch t.Kind {
				case types.Float:
					out.F32[i] = float32(roundFloat(float64(x.F32[j]), d, round, 32))
				case types.Double:
					out.F64[i] = roundFloat(x.F64[j], d, round, 64)
				default:
					v := types.Int128{}
					scale := 0
					if t.Kind == types.Decimal {
						v, scale = x.Int128(j), t.Scale
					} else {
						v = types.Int128From(x.Int64(j))
					}
					w, ok := roundDecimal(v, scale, d, round)
					if ok {
						w, ok = w.Rescale(scale, to.Scale)
					}
					switch {
					case to.Kind == types.Decimal && ok && w.Fits(to.Precision):
						setDecimal(out, i, w)
					case to.IsInteger() && ok && fitsInteger(w, to.Kind):
						setInt(out, i, int64(w.Lo))
					default:
						return outOfRange(i, fmt.Sprintf("%s(%s, %d)", c.Func.Name, valueText(x.Vector, j, nil), d), to)
					}
				}
			}
			return nil
		}, nil
	}
}

func fitsInteger(v types.Int128, k types.Kind) bool {
	n, ok := v.Int64()
	return ok && types.IntInRange(n, k)
}

// roundDecimal rounds or cuts v, of a scale, to d decimals and keeps the scale.
func roundDecimal(v types.Int128, scale, d int, round bool) (types.Int128, bool) {
	drop := scale - d
	if drop <= 0 {
		return v, true
	}
	if drop > 38 {
		return types.Int128{}, true
	}
	pow := types.Pow10(drop)
	q, rest := v.QuoRem(pow)
	if round {
		twice := rest.Add(rest)
		if twice.Cmp(pow) >= 0 {
			q = q.Add(types.Int128From(1))
		} else if twice.Neg().Cmp(pow) >= 0 {
			q = q.Sub(types.Int128From(1))
		}
	}
	return q.Mul(pow)
}

// roundFloat rounds the shortest decimal text of x, so that ROUND(2.675, 2) is 2.68 as it reads.
func roundFloat(x float64, d int, round bool, bits int) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	if bits == 64 && round {
		if y, ok := roundDouble(x, d); ok {
			return y
		}
	}
	return roundText(x, d, round, bits)
}

// roundText does it by the text.
func roundText(x float64, d int, round bool, bits int) float64 {
	// mantissa digits and exponent: x = 0.DIGITS · 10^point
	s := strconv.FormatFloat(math.Abs(x), 'e', -1, bits)
	e := strings.IndexByte(s, 'e')
	exp, _ := strconv.Atoi(s[e+1:])
	digits := strings.Replace(s[:e], ".", "", 1)
	keep := exp + 1 + d // digits that stay
	if keep >= len(digits) {
		return x
	}
	if keep < 0 {
		return math.Copysign(0, x)
	}
	up := round && digits[keep] >= '5'
	kept := []byte("0" + digits[:keep])
	if up {
		i := len(kept) - 1
		for kept[i] == '9' {
			kept[i] = '0'
			i--
		}
		kept[i]++
	}
	f, _ := strconv.ParseFloat(string(kept)+"e"+strconv.Itoa(-d), bits)
	return math.Copysign(f, x)
}

// roundDouble is roundFloat where it is clear without the text: the text is within half a unit of the last place
// of x, so that it rounds as x does unless x is about as near to the middle between two results. Of a result
// below 2^52 and a power of ten both are exact, and their quotient is the number nearest to the text of the result.
func roundDouble(x float64, d int) (float64, bool) {
	if d < 0 || d > 15 {
		return 0, false
	}
	pow := math.Pow10(d)
	scaled := math.Abs(x) * pow
	if scaled >= 1<<52 {
		return 0, false
	}
	n := math.Floor(scaled)
	part := scaled - n
	if math.Abs(part-0.5) <= scaled*(1.0/(1<<50)) {
		return 0, false
	}
	if part > 0.5 {
		n++
	}
	return math.Copysign(n/pow, x), true
}

// spanWord tells the calls of a statement apart, for their random numbers.
func spanWord(s Span) uint64 { return uint64(s.Source)<<48 ^ uint64(s.Start)<<20 ^ uint64(s.End) }

// randomOf returns the source of a call's random numbers: one for the call, seeded by its seed argument if
// that is constant, else one for each row's seed.
func randomOf(c *Call, arg int, seeded bool, env *Env) func(a []Arg, i int) randomSource {
	if !seeded {
		src := rand.New(rand.NewPCG(env.Seed, spanWord(c.At)))
		return func([]Arg, int) randomSource { return src }
	}
	if n, ok := constInt(c.Args[arg]); ok {
		src := newSeededRandom(n)
		return func([]Arg, int) randomSource { return src }
	}
	return func(a []Arg, i int) randomSource { return newSeededRandom(a[arg].int(i)) }
}

// randomSource gives random numbers.
type randomSource interface {
	Float64() float64
	Int64N(bound int64) int64
}

// seededRandom gives the numbers that Flink gives for a seed, which are those of a linear congruential generator
// of 48 bits.
type seededRandom struct{ state uint64 }

const (
	seededMultiplier = 0x5DEECE66D
	seededMask       = 1<<48 - 1
)

func newSeededRandom(seed int64) *seededRandom {
	return &seededRandom{(uint64(seed) ^ seededMultiplier) & seededMask}
}

func (r *seededRandom) next(bits uint) int32 {
	r.state = (r.state*seededMultiplier + 0xB) & seededMask
	return int32(r.state >> (48 - bits))
}

// Float64 returns a number from 0 to below 1.
func (r *seededRandom) Float64() float64 {
	hi := int64(r.next(26)) << 27
	return float64(hi+int64(r.next(27))) / (1 << 53)
}

// Int64N returns an integer from 0 to below a bound of up to 31 bits.
func (r *seededRandom) Int64N(bound int64) int64 {
	n := r.next(31)
	if bound&(bound-1) == 0 {
		return bound * int64(n) >> 31
	}
	for {
		v := n % int32(bound)
		if n-v+int32(bound-1) >= 0 { // else n is of the last numbers, too few for every remainder
			return int64(v)
		}
		n = r.next(31)
	}
}

func appendUUID(dst []byte, hi, lo uint64) []byte {
	hi = hi&^0xf000 | 0x4000
	lo = lo&^(3<<62) | 2<<62
	s := fmt.Sprintf("%016x%016x", hi, lo)
	dst = append(dst, s[:8]...)
	dst = append(dst, '-')
	dst = append(dst, s[8:12]...)
	dst = append(dst, '-')
	dst = append(dst, s[12:16]...)
	dst = append(dst, '-')
	dst = append(dst, s[16:20]...)
	dst = append(dst, '-')
	return append(dst, s[20:]...)
}
