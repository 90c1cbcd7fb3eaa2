package bind

import (
	"encoding/hex"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// literal makes a literal of its own type: 1 is INT, 3000000000 BIGINT, 1.50 DECIMAL(3, 2), 1e3 DOUBLE,
// 'abc' CHAR(3). negative is a minus sign before a number.
func literal(l *sqlparse.Literal, negative bool) (*expr.Literal, error) {
	t, err := literalType(l, negative)
	if err != nil {
		return nil, err
	}
	v := column.New(t, 1)
	if err := appendLiteral(v, l, negative); err != nil {
		return nil, err
	}
	return &expr.Literal{Value: v, At: span(l.Span())}, nil
}

// literalType returns the type of a literal.
func literalType(l *sqlparse.Literal, negative bool) (types.Type, error) {
	t := types.Of(types.Null)
	switch l.Kind {
	case sqlparse.NullLiteral:
		return t, nil
	case sqlparse.UnknownLiteral:
		return types.Of(types.Boolean), nil
	case sqlparse.BooleanLiteral:
		t = types.Of(types.Boolean)
	case sqlparse.NumberLiteral:
		if strings.IndexByte(l.Text, '.') < 0 && len(l.Text) <= 19 {
			v, err := types.ParseInt64(signed(l, negative))
			switch {
			case err != nil: // 20 digits' worth; a DECIMAL below
			case v >= math.MinInt32 && v <= math.MaxInt32:
				return types.Of(types.Int).AsNotNull(), nil
			default:
				return types.Of(types.BigInt).AsNotNull(), nil
			}
		}
		d, ok := types.DecimalTypeOf([]byte(l.Text))
		if !ok {
			return t, errAt(l.Span(), "Numeric literal '%s' out of range: DECIMAL has at most %d digits", clip(l.Text), types.MaxDecimalPrecision)
		}
		t = d
	case sqlparse.ApproxLiteral:
		t = types.Of(types.Double)
	case sqlparse.StringLiteral:
		// '' is no CHAR(0), which is no type; as a VARCHAR it gets no blanks.
		if n := utf8.RuneCountInString(l.Text); n > 0 {
			t = types.WithPrecision(types.Char, n)
		} else {
			t = types.WithPrecision(types.VarChar, 1)
		}
	case sqlparse.BinaryLiteral:
		if n := len(l.Text) / 2; n > 0 {
			t = types.WithPrecision(types.Binary, n)
		} else {
			t = types.WithPrecision(types.VarBinary, 1)
		}
	case sqlparse.DateLiteral:
		t = types.Of(types.Date)
	case sqlparse.TimeLiteral:
		t = types.WithPrecision(types.Time, decimals(l.Text))
		if t.Precision > 3 {
			return t, errAt(l.Span(), "TIME literal '%s' has more than 3 decimals of a second", clip(l.Text))
		}
	case sqlparse.TimestampLiteral:
		t = types.WithPrecision(types.Timestamp, decimals(l.Text))
		if t.Precision > 9 {
			return t, errAt(l.Span(), "TIMESTAMP literal '%s' has more than 9 decimals of a second", clip(l.Text))
		}
	}
	return t.AsNotNull(), nil
}

// decimals counts the digits behind the point.
func decimals(text string) int {
	if dot := strings.LastIndexByte(text, '.'); dot >= 0 {
		return len(text) - dot - 1
	}
	return 0
}

func signed(l *sqlparse.Literal, negative bool) []byte {
	if negative {
		return append([]byte{'-'}, l.Text...)
	}
	return []byte(l.Text)
}

// appendLiteral appends a literal's value to a vector of a type that holds it: its own or a common one of
// the same family.
func appendLiteral(v *column.Vector, l *sqlparse.Literal, negative bool) error {
	bad := func(kind string, err error) error {
		e := errAt(l.Span(), "Illegal %s literal '%s'", kind, clip(l.Text))
		if err != nil {
			e.Hint = err.Error()
		}
		return e
	}
	switch l.Kind {
	case sqlparse.NullLiteral, sqlparse.UnknownLiteral:
		v.AppendNull()
	case sqlparse.BooleanLiteral:
		v.AppendBool(l.Text == "TRUE")
	case sqlparse.NumberLiteral, sqlparse.ApproxLiteral:
		text := signed(l, negative)
		switch {
		case v.Type.IsFloat():
			f, err := types.ParseFloat64(text)
			if err != nil {
				return bad("numeric", err)
			}
			if math.IsInf(f, 0) {
				return errAt(l.Span(), "Numeric literal '%s' out of range: it is beyond DOUBLE", clip(l.Text))
			}
			v.AppendF64(f)
		case v.Type.Kind == types.Decimal:
			d, err := types.ParseDecimalExact(text, v.Type.Precision, v.Type.Scale)
			if err != nil {
				return bad("numeric", err)
			}
			v.AppendI128(d)
		default:
			i, err := types.ParseInt64(text)
			if err != nil {
				return bad("numeric", err)
			}
			v.AppendI64(i)
		}
	case sqlparse.StringLiteral:
		v.AppendString(l.Text)
	case sqlparse.BinaryLiteral:
		raw, err := hex.DecodeString(l.Text)
		if err != nil {
			return bad("BINARY", nil)
		}
		v.AppendBytes(raw)
	case sqlparse.DateLiteral:
		d, err := types.ParseISODate([]byte(l.Text))
		if err != nil {
			return bad("DATE", err)
		}
		v.AppendI64(int64(d))
	case sqlparse.TimeLiteral:
		text := l.Text
		if len(text) > 1 && text[1] == ':' { // 2:55:00
			text = "0" + text
		}
		ms, err := types.ParseISOTime([]byte(text), v.Type.Precision)
		if err != nil {
			return bad("TIME", err)
		}
		v.AppendI64(int64(ms))
	case sqlparse.TimestampLiteral:
		ts, err := types.ParseISOTimestamp([]byte(l.Text), v.Type, time.UTC)
		if err != nil {
			return bad("TIMESTAMP", err)
		}
		v.AppendI64(ts)
	}
	return nil
}

// clip shortens a long text for a message.
func clip(s string) string {
	const most = 60
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
