package types

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluice-sql/sluice/internal/testfile"
	"github.com/stretchr/testify/require"
)

// cast reads text as a value of t and writes the value's text, by the parsers that CAST uses or by the
// strict ones.
func cast(text string, t Type, zone *time.Location, strict bool) (string, error) {
	b := []byte(text)
	switch t.Kind {
	case Boolean:
		v, err := ParseBoolean(b)
		return string(AppendBoolean(nil, v)), err
	case TinyInt, SmallInt, Int, BigInt:
		v, err := ParseInt(b, t.Kind)
		return string(AppendInt(nil, v)), err
	case Float:
		v, err := ParseFloat32(b)
		return string(AppendFloat32(nil, v)), err
	case Double:
		v, err := ParseFloat64(b)
		return string(AppendFloat64(nil, v)), err
	case Decimal:
		parse := ParseDecimal
		if strict {
			parse = ParseDecimalExact
		}
		v, err := parse(b, t.Precision, t.Scale)
		return string(AppendDecimal(nil, v, t.Scale)), err
	case Date:
		parse := ParseDate
		if strict {
			parse = ParseISODate
		}
		v, err := parse(b)
		return string(AppendDate(nil, v)), err
	case Time:
		parse := ParseTime
		if strict {
			parse = ParseISOTime
		}
		v, err := parse(b, t.Precision)
		return string(AppendTime(nil, v, t.Precision)), err
	case Timestamp, TimestampLTZ:
		parse := ParseTimestamp
		if strict {
			parse = ParseISOTimestamp
		}
		v, err := parse(b, t, zone)
		return string(AppendTimestamp(nil, v, t, zone)), err
	case Char, VarChar, Binary, VarBinary:
		return "'" + string(AppendFitted(nil, b, t)) + "'", nil
	}
	panic("no parser for " + t.String())
}

// TestFiles runs testdata. A case's input is a type and then a text a line, each in quotes, that is read
// as the type and written again: `cast` as CAST does, `strict` as a store's reader does. `type` reads and
// prints types; `common`, `arithmetic`, `castable` and `implicit` print the type rules.
func TestFiles(t *testing.T) {
	testfile.Walk(t, "testdata", ".test", func(t *testing.T, path string) {
		testfile.Run(t, path, func(t *testing.T, c *testfile.Case) string {
			var out strings.Builder
			lines := strings.Split(strings.TrimRight(c.Input, "\n"), "\n")
			switch c.Cmd {
			case "cast", "strict":
				zone := time.UTC
				if z := testfile.Values(c, "zone"); len(z) == 1 {
					var err error
					zone, err = time.LoadLocation(z[0])
					require.NoError(t, err)
				}
				typ, err := ParseType(lines[0])
				require.NoError(t, err)
				for _, l := range lines[1:] {
					require.True(t, len(l) >= 2 && l[0] == '\'' && l[len(l)-1] == '\'', l)
					text := strings.NewReplacer(`\t`, "\t", "''", "'").Replace(l[1 : len(l)-1])
					v, err := cast(text, typ, zone, c.Cmd == "strict")
					if err != nil {
						v = "error: " + err.Error()
					}
					fmt.Fprintln(&out, v)
				}
			case "type":
				for _, l := range lines {
					typ, err := ParseType(l)
					if err != nil {
						fmt.Fprintln(&out, "error:", err)
						continue
					}
					again, err := ParseType(typ.String())
					require.NoError(t, err)
					require.True(t, typ.Equal(again), "%s", typ)
					fmt.Fprintln(&out, typ)
				}
			case "common":
				for _, l := range lines {
					common, ok := CommonType(typeList(t, l)...)
					fmt.Fprintln(&out, orNone(common, ok))
				}
			case "arithmetic":
				for _, l := range lines {
					op := strings.IndexAny(l, "+-*/%")
					a, b := typeList(t, l[:op])[0], typeList(t, l[op+1:])[0]
					result, ok := ArithmeticType(l[op], a, b)
					fmt.Fprintln(&out, orNone(result, ok))
				}
			case "castable", "implicit":
				matrix(&out, map[string]func(from, to Type) bool{"castable": CastAllowed, "implicit": ImplicitCast}[c.Cmd])
			default:
				t.Fatalf("unknown directive %s", c.Cmd)
			}
			return out.String()
		})
	})
}

// typeList reads types set apart by semicolons.
func typeList(t *testing.T, s string) []Type {
	var ts []Type
	for _, w := range strings.Split(s, ";") {
		typ, err := ParseType(strings.TrimSpace(w))
		require.NoError(t, err)
		ts = append(ts, typ)
	}
	return ts
}

func orNone(t Type, ok bool) string {
	if !ok {
		return "none"
	}
	return t.String()
}

func everyKind() []Type {
	return []Type{
		Of(Null), Of(Boolean), Of(TinyInt), Of(SmallInt), Of(Int), Of(BigInt), Of(Float), Of(Double), DecimalOf(10, 2),
		WithPrecision(Char, 3), String(), WithPrecision(Binary, 3), Bytes(), Of(Date), Of(Time), WithPrecision(Timestamp, 6),
		WithPrecision(TimestampLTZ, 6), Of(IntervalYearMonth), Of(IntervalDayTime),
	}
}

func matrix(out *strings.Builder, allowed func(from, to Type) bool) {
	for _, from := range everyKind() {
		var to []string
		for _, t := range everyKind() {
			if allowed(from, t) {
				to = append(to, t.String())
			}
		}
		if len(to) == len(everyKind()) {
			to = []string{"everything"}
		}
		fmt.Fprintf(out, "%s -> %s\n", from, strings.Join(to, ", "))
	}
}

// One value costs no memory, to or from text.
func TestOneValueAllocatesNothing(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	dst := make([]byte, 0, 256)
	ts, ns, ltz := WithPrecision(Timestamp, 6), WithPrecision(Timestamp, 9), WithPrecision(TimestampLTZ, 3)
	wide, _ := ParseDecimal([]byte("12345678901234567890123456789012345.678"), 38, 3)
	for name, f := range map[string]func(){
		"int":            func() { _, _ = ParseInt([]byte("-9223372036854775808"), BigInt) },
		"decimal":        func() { _, _ = ParseDecimal([]byte("1234567.891"), 12, 2) },
		"wide decimal":   func() { _, _ = ParseDecimal([]byte("12345678901234567890123456789012345.678"), 38, 3) },
		"double":         func() { _, _ = ParseFloat64([]byte("1234.5678")) },
		"double, long":   func() { _, _ = ParseFloat64([]byte("1.7976931348623157e308")) },
		"boolean":        func() { _, _ = ParseBoolean([]byte("TRUE")) },
		"date":           func() { _, _ = ParseDate([]byte("2024-01-02")) },
		"timestamp":      func() { _, _ = ParseTimestamp([]byte("2024-01-02 03:04:05.123456"), ts, nil) },
		"ltz":            func() { _, _ = ParseTimestamp([]byte("2024-01-02 03:04:05.123456"), ltz, berlin) },
		"append double":  func() { dst = AppendFloat64(dst[:0], 1.0/3) },
		"append decimal": func() { dst = AppendDecimal(dst[:0], wide, 3) },
		"append ltz":     func() { dst = AppendTimestamp(dst[:0], 1_704_160_000_123_000, ltz, berlin) },
		"append nanos":   func() { dst = AppendTimestamp(dst[:0], 1_704_160_000_123_456_789, ns, nil) },
		"add decimal":    func() { _, _ = AddDecimal(wide, 3, wide, 3, DecimalOf(38, 3)) },
		"divide decimal": func() { _, _ = DivDecimal(wide, 3, Int128From(7), 0, DecimalOf(38, 6)) },
		"multiply":       func() { _, _ = MulDecimal(wide, 3, Int128From(7), 1, DecimalOf(38, 3)) },
	} {
		require.Zero(t, testing.AllocsPerRun(100, f), name)
	}
}

func TestAggregateAndRoundTypes(t *testing.T) {
	for _, c := range []struct{ in, sum, avg, round1 string }{
		{"INT NOT NULL", "INT NOT NULL", "INT NOT NULL", ""},
		{"DOUBLE", "DOUBLE", "DOUBLE", ""},
		{"DECIMAL(10, 2)", "DECIMAL(38, 2)", "DECIMAL(38, 6)", "DECIMAL(10, 1)"},
		{"DECIMAL(30, 10) NOT NULL", "DECIMAL(38, 10) NOT NULL", "DECIMAL(38, 10) NOT NULL", "DECIMAL(22, 1) NOT NULL"},
		{"DECIMAL(38, 0)", "DECIMAL(38, 0)", "DECIMAL(38, 6)", "DECIMAL(38, 0)"},
	} {
		in, err := ParseType(c.in)
		require.NoError(t, err)
		require.Equal(t, c.sum, SumType(in).String())
		require.Equal(t, c.avg, AvgType(in).String())
		if c.round1 != "" {
			require.Equal(t, c.round1, RoundType(in, 1).String())
		}
	}
	require.Equal(t, "DECIMAL(9, 0)", RoundType(DecimalOf(10, 2), -1).String())
}
