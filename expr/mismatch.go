package expr

import (
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/types"
)

// misapplied makes the error for a call of f out of what its Bind returned.
func misapplied(f *Function, args []Expr, err error, at Span) error {
	switch err := err.(type) {
	case *Error:
		if err.Span == (Span{}) {
			err.Span = at
		}
		return err
	case argMismatch:
		if s := args[err.arg].Span(); s != (Span{}) {
			at = s
		}
		return &Error{Span: at, Row: -1, Msg: cannotApply(f, args), Hint: mismatchHint(f, []Expr{args[0], args[err.arg]})}
	}
	if err == errMismatch {
		return &Error{Span: at, Row: -1, Msg: cannotApply(f, args), Hint: mismatchHint(f, args)}
	}
	return &Error{Span: at, Row: -1, Msg: err.Error(), Hint: "write " + f.Syntax}
}

func cannotApply(f *Function, args []Expr) string {
	name := f.Name
	if name == "NEG" {
		name = "-"
	}
	return fmt.Sprintf("Cannot apply '%s' to arguments of type '%s'", name, applied(name, f.Hidden && f.Group != "construction", args))
}

// applied writes the types around an operator, as Flink does: <INT> + <STRING>.
func applied(name string, operator bool, args []Expr) string {
	if operator {
		switch {
		case len(args) == 1 && strings.HasPrefix(name, "IS "):
			return fmt.Sprintf("<%s> %s", args[0].Type().AsNullable(), name)
		case len(args) == 1:
			return fmt.Sprintf("%s <%s>", name, args[0].Type().AsNullable())
		case len(args) == 2:
			return fmt.Sprintf("<%s> %s <%s>", args[0].Type().AsNullable(), name, args[1].Type().AsNullable())
		}
	}
	return signature(name, args)
}

// mismatchHint says how a call could be written for arguments of such types.
func mismatchHint(f *Function, args []Expr) string {
	switch f.Group {
	case "comparison":
		if (f.Name == "LIKE" || f.Name == "SIMILAR TO") && len(args) > 1 {
			return textsHint(f.Name+" compares texts", args)
		}
		if f.Hidden && len(args) > 1 {
			return compareHint(args[0], args[1])
		}
	case "logical":
		return conditionHint(args)
	case "arithmetic":
		if f.Name == "NEG" {
			return numberHint(args[0], types.Of(types.Double))
		}
		if len(args) == 2 && (f.Hidden || f.Name == "MOD") {
			return arithmeticHint(f.Name, args[0], args[1])
		}
	case "string":
		if f.Name == "||" {
			return textsHint("|| joins texts", args)
		}
	case "conditional":
		if len(args) == 2 {
			return sameTypeHint(args[0], args[1])
		}
	}
	return "write " + f.Syntax
}

// shown writes an argument for a hint, or x for a long one.
func shown(e Expr) string {
	if s := String(e); len(s) <= 40 {
		return s
	}
	return "x"
}

func castTo(e Expr, t types.Type) string {
	return "CAST(" + shown(e) + " AS " + t.AsNullable().String() + ")"
}

func isLiteral(e Expr) bool { _, ok := e.(*Literal); return ok }

// numberText returns the number that a text literal spells.
func numberText(e Expr) (string, bool) {
	s, ok := constText(e)
	if !ok {
		return "", false
	}
	s = strings.TrimSpace(s)
	_, ok = types.DecimalTypeOf([]byte(s))
	return s, ok
}

// numberHint says how the text e becomes a number, of type t if it is no literal; nothing for what is no text.
func numberHint(e Expr, t types.Type) string {
	if !e.Type().IsString() {
		return ""
	}
	if s, ok := numberText(e); ok {
		return "a number has no quotes: write " + s
	}
	if isLiteral(e) {
		return shown(e) + " is a text and no number"
	}
	return "write " + castTo(e, t) + " to read the text as a number"
}

// numberType is the type to which a text is cast to go with the number e.
func numberType(e Expr) types.Type {
	t := e.Type().AsNullable()
	if !t.IsNumeric() || isLiteral(e) && t.Kind == types.Decimal {
		return types.Of(types.Double)
	}
	return t
}

// asText writes e as a text: a number in quotes, all else in a CAST.
func asText(e Expr) string {
	if isLiteral(e) && e.Type().IsNumeric() {
		return "'" + String(e) + "'"
	}
	return castTo(e, types.String())
}

// compareHint says how a and b, which do not compare, could.
func compareHint(a, b Expr) string {
	x, y := a, b
	if y.Type().IsString() {
		x, y = y, x
	}
	if !x.Type().IsString() {
		if x, y = a, b; y.Type().Kind == types.Boolean {
			x, y = y, x
		}
		switch t := y.Type(); {
		case x.Type().Kind == types.Boolean && t.IsInteger():
			if n, ok := constInt(y); ok && (n == 0 || n == 1) {
				return "write " + [2]string{"FALSE", "TRUE"}[n] + " instead of " + shown(y)
			}
			return "write " + castTo(x, types.Of(types.Int)) + ", which is 0 or 1"
		case a.Type().IsTemporal() && b.Type().IsNumeric():
			return momentHint(a.Type())
		case b.Type().IsTemporal() && a.Type().IsNumeric():
			return momentHint(b.Type())
		}
		return ""
	}
	t := y.Type().AsNullable()
	switch {
	case t.IsNumeric():
		if isLiteral(x) {
			if hint := numberHint(x, t); isLiteral(y) || strings.HasPrefix(hint, "a number") {
				return hint
			}
			return "write " + castTo(y, types.String()) + " to compare texts"
		}
		return "write " + castTo(x, numberType(y)) + " to compare numbers, or " + asText(y) + " to compare texts"
	case t.IsTemporal() || t.Kind == types.Boolean:
		if s, ok := constText(x); ok && (strings.EqualFold(s, "true") || strings.EqualFold(s, "false")) {
			return "write " + strings.ToUpper(s) + " without quotes"
		}
		return "write " + castTo(x, t)
	case t.IsBinary():
		return "write ENCODE(" + shown(x) + ", 'UTF-8')"
	}
	return ""
}

// momentHint shows a literal of a temporal type.
func momentHint(t types.Type) string {
	switch t.Kind {
	case types.Date:
		return "a date is written DATE '2024-05-17'"
	case types.Time:
		return "a time is written TIME '10:00:00'"
	}
	return "a timestamp is written TIMESTAMP '2024-05-17 10:00:00'"
}

// conditionHint says how the first argument that is no condition becomes one.
func conditionHint(args []Expr) string {
	for _, e := range args {
		switch t := e.Type(); {
		case t.Kind == types.Boolean || t.Kind == types.Null:
		case t.IsNumeric():
			return "write a comparison: " + shown(e) + " <> 0"
		case t.IsString():
			return "write a comparison, or " + castTo(e, types.Of(types.Boolean))
		default:
			return "write a comparison"
		}
	}
	return ""
}

// textsHint says how the first argument that is no text becomes one, and why.
func textsHint(why string, args []Expr) string {
	for _, e := range args {
		if t := e.Type(); !t.IsString() && t.Kind != types.Null {
			if t.IsBinary() {
				return "write DECODE(" + shown(e) + ", 'UTF-8') to read bytes as a text"
			}
			return why + ": write " + asText(e)
		}
	}
	return ""
}

// arithmeticHint says how a op b could be written.
func arithmeticHint(op string, a, b Expr) string {
	s, t := a.Type(), b.Type()
	switch {
	case s.IsString() && t.IsString():
		if op == "+" {
			return "|| joins texts: write " + shown(a) + " || " + shown(b)
		}
		return numberHint(a, types.Of(types.Double))
	case s.IsString() && t.IsInterval():
		if x, ok := constText(a); ok {
			if _, err := types.ParseISODate([]byte(x)); err == nil {
				return "write DATE " + shown(a)
			}
		}
		return "write " + castTo(a, types.WithPrecision(types.Timestamp, 3))
	case s.IsTemporal() && t.IsString():
		return "an interval is written INTERVAL '1' DAY"
	case s.IsString() || t.IsString():
		text, other := a, b
		if t.IsString() {
			text, other = b, a
		}
		hint := numberHint(text, numberType(other))
		if op == "+" && !strings.HasPrefix(hint, "a number") {
			x, y := a, b
			parts := [2]string{}
			for i, e := range []Expr{x, y} {
				if parts[i] = shown(e); e == other {
					parts[i] = asText(e)
				}
			}
			hint += "; || joins texts: write " + parts[0] + " || " + parts[1]
		}
		return hint
	case s.IsTemporal() && t.IsInteger() && (op == "+" || op == "-"):
		n := "7"
		if v, ok := constInt(b); ok {
			n = fmt.Sprint(v)
		}
		return "write " + shown(a) + " " + op + " INTERVAL '" + n + "' DAY"
	case (s.IsInterval() && t.IsNumeric() || s.IsNumeric() && t.IsInterval()) && op == "*", s.IsInterval() && t.IsNumeric() && op == "/":
		return "an interval is multiplied and divided by integers"
	case s.Kind == types.Boolean:
		return "write " + castTo(a, types.Of(types.Int)) + ", which is 0 or 1"
	case t.Kind == types.Boolean:
		return "write " + castTo(b, types.Of(types.Int)) + ", which is 0 or 1"
	case s.IsFloat() && t.IsNumeric() && (op == "%" || op == "MOD"):
		return "write " + castTo(a, types.DecimalOf(38, 6)) + ": it takes exact numbers"
	case s.IsNumeric() && t.IsFloat() && (op == "%" || op == "MOD"):
		return "write " + castTo(b, types.DecimalOf(38, 6)) + ": it takes exact numbers"
	}
	return ""
}

// sameTypeHint says how b gets a type that goes with a's.
func sameTypeHint(a, b Expr) string {
	s, t := a.Type(), b.Type()
	switch {
	case s.IsNumeric() && t.IsString():
		if _, ok := numberText(b); ok {
			return numberHint(b, s)
		}
		return "write " + asText(a) + " to make all of them texts"
	case s.IsString():
		if _, ok := numberText(a); ok && t.IsNumeric() {
			return numberHint(a, t)
		}
		return "write " + asText(b) + " to make all of them texts"
	case types.CastAllowed(t, s):
		return "write " + castTo(b, s)
	}
	return ""
}
