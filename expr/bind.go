package expr

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// errMismatch is what Bind returns when a function does not take such arguments; NewCall spells it out.
var errMismatch = errors.New("arguments of these types are not taken")

// argMismatch is errMismatch where it is known which argument does not go with those before it.
type argMismatch struct{ arg int }

func (argMismatch) Error() string { return errMismatch.Error() }

// param is a kind of parameter: it says to which type an argument of type t is cast, if it is taken.
type param func(t types.Type) (types.Type, bool)

func anyType(t types.Type) (types.Type, bool) {
	if t.Kind == types.Null {
		return types.String(), true
	}
	return t, true
}

func text(t types.Type) (types.Type, bool) {
	if t.Kind == types.Null {
		return types.String(), true
	}
	return t, t.IsString()
}

func textOrBytes(t types.Type) (types.Type, bool) {
	if t.Kind == types.Null {
		return types.String(), true
	}
	return t, t.IsString() || t.IsBinary()
}

// integer takes any integer; kernels see BIGINT.
func integer(t types.Type) (types.Type, bool) {
	return types.Of(types.BigInt), t.IsInteger() || t.Kind == types.Null
}

func numeric(t types.Type) (types.Type, bool) {
	if t.Kind == types.Null {
		return types.Of(types.Int), true
	}
	return t, t.IsNumeric()
}

// double takes any number; kernels see DOUBLE.
func double(t types.Type) (types.Type, bool) {
	return types.Of(types.Double), t.IsNumeric() || t.Kind == types.Null
}

func boolean(t types.Type) (types.Type, bool) {
	return types.Of(types.Boolean), t.Kind == types.Boolean || t.Kind == types.Null
}

func dateOrTimestamp(t types.Type) (types.Type, bool) {
	if t.Kind == types.Null {
		return types.WithPrecision(types.Timestamp, 3), true
	}
	return t, t.Kind == types.Date || t.Kind == types.Timestamp || t.Kind == types.TimestampLTZ
}

// takes makes a Bind of parameters, the last of which repeats, and the result's type.
func takes(result func(ts []types.Type) types.Type, ps ...param) func([]Expr) ([]types.Type, types.Type, error) {
	return func(args []Expr) ([]types.Type, types.Type, error) {
		ts := make([]types.Type, len(args))
		for i, a := range args {
			t, ok := ps[min(i, len(ps)-1)](a.Type())
			if !ok {
				return nil, types.Type{}, errMismatch
			}
			ts[i] = t
		}
		return ts, result(ts), nil
	}
}

// returns makes a constant result type.
func returns(t types.Type) func([]types.Type) types.Type {
	return func([]types.Type) types.Type { return t }
}

func sameAs(k int) func([]types.Type) types.Type {
	return func(ts []types.Type) types.Type { return ts[k] }
}

// varyingAs is the k-th argument's type without padding: CHAR(n) becomes VARCHAR(n).
func varyingAs(k int) func([]types.Type) types.Type {
	return func(ts []types.Type) types.Type {
		t := ts[k]
		switch t.Kind {
		case types.Char:
			t.Kind = types.VarChar
		case types.Binary:
			t.Kind = types.VarBinary
		}
		return t
	}
}

// constText returns the value of a literal of a text type.
func constText(e Expr) (string, bool) {
	l, ok := e.(*Literal)
	if !ok || !l.Value.Type.IsString() || l.Value.IsNull(0) {
		return "", false
	}
	return string(l.Value.Value(0)), true
}

// constInt returns the value of a literal of an integer type.
func constInt(e Expr) (int64, bool) {
	l, ok := e.(*Literal)
	if !ok || !l.Value.Type.IsInteger() || l.Value.IsNull(0) {
		return 0, false
	}
	return l.Value.Int64(0), true
}

func isNullLiteral(e Expr) bool {
	l, ok := e.(*Literal)
	return ok && l.Value.IsNull(0)
}

// comparable returns the types to which the operands of a comparison are cast. Operands of the same
// physical form and scale stay as they are, so that a column is compared without being copied.
func comparable(a, b Expr) (types.Type, types.Type, error) {
	s, t := a.Type(), b.Type()
	switch {
	case s.Kind == types.Null && t.Kind == types.Null:
		return types.Of(types.Boolean), types.Of(types.Boolean), nil
	case s.Kind == types.Null:
		return t, t, nil
	case t.Kind == types.Null:
		return s, s, nil
	case s.IsNested() && t.IsNested():
		if s.SameKind(t) {
			return s, t, nil
		}
		if w, ok := types.CommonType(s, t); ok {
			return w, w, nil
		}
	case s.IsString() && t.IsString(), s.IsBinary() && t.IsBinary(), s.Kind == types.Boolean && t.Kind == types.Boolean,
		s.IsInterval() && s.Kind == t.Kind, s.Kind == types.Time && t.Kind == types.Time:
		return s, t, nil
	case s.IsInteger() && t.IsInteger():
		if s.Kind == t.Kind {
			return s, t, nil
		}
		if n, ok := constInt(b); ok && fitsInt(n, s.Kind) {
			return s, s, nil
		}
		if n, ok := constInt(a); ok && fitsInt(n, t.Kind) {
			return t, t, nil
		}
		w := s
		if t.Kind > s.Kind {
			w = t
		}
		return w, w, nil
	case s.IsNumeric() && t.IsNumeric():
		if s.Kind == types.Decimal && t.Kind == types.Decimal && s.Scale == t.Scale && s.Wide() == t.Wide() {
			return s, t, nil
		}
		if s.IsFloat() || t.IsFloat() {
			if s.Kind == types.Float && t.Kind == types.Float {
				return s, t, nil
			}
			return types.Of(types.Double), types.Of(types.Double), nil
		}
		s, t = asDecimal(s), asDecimal(t)
		scale := max(s.Scale, t.Scale)
		whole := max(s.Precision-s.Scale, t.Precision-t.Scale)
		if whole+scale > types.MaxDecimalPrecision {
			// No DECIMAL holds both exactly; the kernel compares them digit by digit.
			return s, t, nil
		}
		// An operand that has the form of the common type stays as it is.
		w := types.DecimalOf(whole+scale, scale)
		stay := func(t types.Type) types.Type {
			if t.Scale == w.Scale && t.Wide() == w.Wide() {
				return t
			}
			return w
		}
		if s, t := a.Type(), b.Type(); s.Kind == types.Decimal && t.Kind == types.Decimal {
			return stay(s), stay(t), nil
		} else if s.Kind == types.Decimal {
			return stay(s), w, nil
		}
		return w, stay(b.Type()), nil
	case s.IsTemporal() && t.IsTemporal():
		if s.Kind == t.Kind && s.Nanos() == t.Nanos() {
			return s, t, nil
		}
		if w, ok := types.CommonType(s, t); ok {
			return w, w, nil
		}
	case s.IsTemporal() && t.IsString():
		if x, ok := constText(b); ok {
			w := temporalFor(x, s)
			if w.Nanos() != s.Nanos() {
				return w, w, nil
			}
			return s, w, nil
		}
	case s.IsString() && t.IsTemporal():
		if x, ok := constText(a); ok {
			w := temporalFor(x, t)
			if w.Nanos() != t.Nanos() {
				return w, w, nil
			}
			return w, t, nil
		}
	}
	return types.Type{}, types.Type{}, errMismatch
}

// temporalFor returns the temporal type t with enough fractional digits for the text x.
func temporalFor(x string, t types.Type) types.Type {
	if dot := strings.LastIndexByte(x, '.'); dot >= 0 && t.Kind != types.Date {
		limit := 9
		if t.Kind == types.Time {
			limit = 3
		}
		t.Precision = max(t.Precision, min(limit, len(x)-dot-1))
	}
	return t
}

func fitsInt(n int64, k types.Kind) bool {
	switch k {
	case types.TinyInt:
		return n == int64(int8(n))
	case types.SmallInt:
		return n == int64(int16(n))
	case types.Int:
		return n == int64(int32(n))
	}
	return true
}

// asDecimal returns the DECIMAL that holds every value of an exact numeric type.
func asDecimal(t types.Type) types.Type {
	switch t.Kind {
	case types.TinyInt:
		return types.DecimalOf(3, 0)
	case types.SmallInt:
		return types.DecimalOf(5, 0)
	case types.Int:
		return types.DecimalOf(10, 0)
	case types.BigInt:
		return types.DecimalOf(19, 0)
	}
	return t.AsNullable()
}

// signature writes F(<INT>, <STRING>).
func signature(name string, args []Expr) string {
	var b strings.Builder
	b.WriteString(name + "(")
	for i, a := range args {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "<%s>", a.Type().AsNullable())
	}
	b.WriteString(")")
	return b.String()
}

// NewLiteral returns a literal of type t. v is nil, bool, int64, float64, string, []byte, types.Int128
// or, for a nested type, a vector whose row 0 is the value; t decides the physical form: an int64 is also the unscaled value of a DECIMAL, the days
// of a DATE, the units of a TIMESTAMP and so on. The literal's type is NOT NULL unless v is nil.
func NewLiteral(t types.Type, v any, at Span) *Literal {
	vec := column.New(t.WithNullable(v == nil), 1)
	switch v := v.(type) {
	case nil:
		vec.AppendNull()
	case bool:
		vec.AppendBool(v)
	case int64:
		if t.IsFloat() {
			vec.AppendF64(float64(v))
		} else {
			vec.AppendI64(v)
		}
	case int:
		vec.AppendI64(int64(v))
	case float64:
		vec.AppendF64(v)
	case string:
		vec.AppendString(v)
	case []byte:
		vec.AppendBytes(v)
	case types.Int128:
		vec.AppendI128(v)
	case *column.Vector:
		vec.AppendFrom(v, 0)
	default:
		panic(fmt.Sprintf("expr: literal of Go type %T", v))
	}
	return &Literal{Value: vec, At: at}
}

// NewCall resolves a function or operator by name, checks the number and types of its arguments, adds
// implicit casts and types the result. Operators go by their sign (see fn_*.go for all): "+", "=", "AND",
// "NEG", "IS NULL", "BETWEEN", "IN", "LIKE", "CASE". Function names are matched without case.
func NewCall(name string, args []Expr, at Span) (Expr, error) {
	f, ok := Lookup(name)
	if !ok {
		f, ok = Lookup(strings.ToUpper(name))
	}
	if !ok {
		if agg, ok := LookupAggregate(strings.ToUpper(name)); ok {
			return nil, &Error{Span: at, Row: -1, Msg: agg.Name + " is an aggregate function and cannot be used here"}
		}
		return nil, noFunction(name, args, at)
	}
	if len(args) < f.Min || f.Max >= 0 && len(args) > f.Max {
		return nil, &Error{Span: at, Row: -1, Hint: "write " + f.Syntax,
			Msg: wrongCount(f.Name, f.Min, f.Max, len(args))}
	}
	params, result, err := f.Bind(args)
	if err != nil {
		return nil, misapplied(f, args, err, at)
	}
	if result.Kind == types.Null {
		return NewLiteral(result, nil, at), nil
	}
	if result.TooDeep() {
		return nil, tooDeep(at)
	}
	c := &Call{Func: f, Args: make([]Expr, len(args)), T: result, At: at}
	nullable := f.Nulls == NullsMade && (f.NeverNull == nil || !f.NeverNull(args))
	for i, a := range args {
		c.Args[i] = implicit(a, params[i])
		nullable = nullable || a.Type().Nullable()
	}
	if f.Nulls != NullsOwn {
		c.T = result.WithNullable(nullable)
	}
	return c, nil
}

func tooDeep(at Span) error {
	return &Error{Span: at, Row: -1, Msg: fmt.Sprintf("types may be nested %d deep at most", types.MaxNesting)}
}

// noFunction is the error for a name that neither a function nor an aggregate has.
func noFunction(name string, args []Expr, at Span) error {
	if err := Refusal(name, at); err != nil {
		return err
	}
	return &Error{Span: at, Row: -1, Msg: "No match found for function signature " + signature(name, args), Hint: suggestion(name)}
}

// wrongCount is the message for a call with got arguments; most is -1 for any number.
func wrongCount(name string, least, most, got int) string {
	number := fmt.Sprint(least)
	switch {
	case most < 0:
		number = "at least " + number
	case least != most:
		number += " to " + fmt.Sprint(most)
	}
	if number == "1" || number == "at least 1" {
		number += " argument"
	} else {
		number += " arguments"
	}
	return fmt.Sprintf("Invalid number of arguments to function '%s'. Was expecting %s, got %d", name, number, got)
}

// implicit casts an argument to the type that a kernel takes; Bind has made sure that it may.
func implicit(arg Expr, to types.Type) Expr {
	if arg.Type().SameKind(to) {
		return arg
	}
	return newCast(arg, to, false, true, arg.Span())
}

func newCast(arg Expr, to types.Type, try, implicit bool, at Span) Expr {
	nullable := arg.Type().Nullable() || try
	if isNullLiteral(arg) {
		return NewLiteral(to, nil, at)
	}
	return foldLiteralCast(&Cast{Arg: arg, T: to.WithNullable(nullable), Try: try, Implicit: implicit, At: at})
}

// foldLiteralCast makes a literal of a literal's cast, unless that fails or needs the session's zone.
func foldLiteralCast(c *Cast) Expr {
	if _, ok := c.Arg.(*Literal); ok && !castUsesEnv(c.Arg.Type(), c.T) {
		return Fold(c, &Env{})
	}
	return c
}

// NewCast makes CAST(arg AS to), or TRY_CAST. It refuses what no value can be cast, and returns arg
// itself when it has that type already. The nullability of to is ignored.
func NewCast(arg Expr, to types.Type, try bool, at Span) (Expr, error) {
	from := arg.Type()
	if from.SameKind(to) && !tightens(from, to) {
		return arg, nil
	}
	if from.Kind != types.Null && !types.CastAllowed(from, to) {
		e := &Error{Span: at, Row: -1, Msg: fmt.Sprintf("Cast function cannot convert value of type %s to type %s", from.AsNullable(), to.AsNullable())}
		switch {
		case from.IsInteger() && (to.Kind == types.Timestamp || to.Kind == types.TimestampLTZ):
			e.Hint = "use TO_TIMESTAMP_LTZ(number, precision) instead"
		case types.CastAllowed(from, types.String()) && types.CastAllowed(types.String(), to):
			e.Hint = fmt.Sprintf("go through text: CAST(CAST(x AS STRING) AS %s)", to.AsNullable())
		}
		return nil, e
	}
	return newCast(arg, to, try, false, at), nil
}

// Coerce casts arg to a column's type as INSERT, CTAS and set operations do, without being asked:
// numbers to wider numbers, CHAR to VARCHAR, among DATE and TIMESTAMP. Others are an error. Unlike a CAST
// that the user writes it never alters a value: what the type does not hold exactly fails at its row
// (FLOAT and DOUBLE hold the nearest number).
func Coerce(arg Expr, to types.Type) (Expr, error) {
	from := arg.Type()
	if from.SameKind(to) && !tightens(from, to) {
		return arg, nil
	}
	if isNullLiteral(arg) {
		return NewLiteral(to, nil, arg.Span()), nil
	}
	if types.ImplicitCast(from, to) {
		c := &Cast{Arg: arg, T: to.WithNullable(from.Nullable()), Implicit: true, Exact: true, At: arg.Span()}
		return foldLiteralCast(c), nil
	}
	return nil, &Error{Span: arg.Span(), Row: -1, Msg: fmt.Sprintf("a value of type %s cannot be stored as %s", from.AsNullable(), to.AsNullable()),
		Hint: fmt.Sprintf("write CAST(… AS %s)", to.AsNullable())}
}

// CommonType returns the type that holds the values of all the types, for CASE, UNION, IN and VALUES;
// it is nullable when one of them is.
func CommonType(ts ...types.Type) (types.Type, bool) { return types.CommonType(ts...) }
