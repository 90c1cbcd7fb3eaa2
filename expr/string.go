package expr

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// String writes e as SQL for EXPLAIN. Implicit casts are left out; columns go by name.
func String(e Expr) string {
	var b strings.Builder
	write(&b, e, 0)
	return b.String()
}

// Binding strengths of operators, weakest first.
const (
	precOr = iota + 1
	precAnd
	precNot
	precCompare
	precAdd
	precMul
	precUnary
)

func precedence(name string) int {
	switch name {
	case "OR":
		return precOr
	case "AND":
		return precAnd
	case "NOT":
		return precNot
	case "=", "<>", "<", "<=", ">", ">=", "BETWEEN", "IN", "LIKE", "SIMILAR TO", "OVERLAPS", "IS DISTINCT FROM", "IS NOT DISTINCT FROM",
		"IS JSON VALUE", "IS JSON OBJECT", "IS JSON ARRAY", "IS JSON SCALAR",
		"IS NULL", "IS NOT NULL", "IS TRUE", "IS NOT TRUE", "IS FALSE", "IS NOT FALSE", "IS UNKNOWN", "IS NOT UNKNOWN":
		return precCompare
	case "+", "-", "||":
		return precAdd
	case "*", "/", "%":
		return precMul
	case "NEG":
		return precUnary
	}
	return 0
}

// write writes e, in parentheses where an operator of strength above would tear it apart.
func write(b *strings.Builder, e Expr, above int) {
	switch e := e.(type) {
	case *Column:
		if e.Name == "" {
			b.WriteString("$" + strconv.Itoa(e.Index))
			return
		}
		b.WriteString(quoteName(e.Name))
	case *Literal:
		b.WriteString(literalSQL(e.Value))
	case *Cast:
		if e.Implicit {
			write(b, e.Arg, above)
			return
		}
		if e.Try {
			b.WriteString("TRY_")
		}
		b.WriteString("CAST(")
		write(b, e.Arg, 0)
		b.WriteString(" AS " + e.T.AsNullable().String() + ")")
	case *Call:
		p := precedence(e.Func.Name)
		if p != 0 && p <= above {
			b.WriteByte('(')
			defer b.WriteByte(')')
		}
		writeCall(b, e, p)
	}
}

func writeCall(b *strings.Builder, c *Call, p int) {
	name, args := c.Func.Name, c.Args
	list := func(args []Expr) {
		for i, a := range args {
			if i > 0 {
				b.WriteString(", ")
			}
			write(b, a, 0)
		}
	}
	switch {
	case name == "NOT":
		b.WriteString("NOT ")
		write(b, args[0], p)
	case name == "NEG":
		b.WriteString("-")
		write(b, args[0], p)
	case name == "CASE":
		b.WriteString("CASE")
		for k := 0; k+1 < len(args); k += 2 {
			b.WriteString(" WHEN ")
			write(b, args[k], 0)
			b.WriteString(" THEN ")
			write(b, args[k+1], 0)
		}
		b.WriteString(" ELSE ")
		write(b, args[len(args)-1], 0)
		b.WriteString(" END")
	case name == "OVERLAPS":
		b.WriteString("(")
		list(args[:2])
		b.WriteString(") OVERLAPS (")
		list(args[2:])
		b.WriteString(")")
	case name == "BETWEEN":
		write(b, args[0], p)
		b.WriteString(" BETWEEN ")
		write(b, args[1], p)
		b.WriteString(" AND ")
		write(b, args[2], p)
	case name == "IN":
		write(b, args[0], p)
		b.WriteString(" IN (")
		list(args[1:])
		b.WriteString(")")
	case name == "LIKE" || name == "SIMILAR TO":
		write(b, args[0], p)
		b.WriteString(" " + name + " ")
		write(b, args[1], p)
		if len(args) == 3 {
			b.WriteString(" ESCAPE ")
			write(b, args[2], p)
		}
	case strings.HasPrefix(name, "IS ") && len(args) == 1:
		write(b, args[0], p)
		b.WriteString(" " + name)
	case p != 0:
		for i, a := range args {
			if i > 0 {
				b.WriteString(" " + name + " ")
			}
			// a - (b - c) keeps its parentheses, a - b - c needs none.
			q := p
			if i == 0 && p >= precAdd || name == "AND" || name == "OR" {
				q = p - 1
			}
			write(b, a, q)
		}
	case name == "EXTRACT" || (name == "FLOOR" || name == "CEIL") && len(args) == 2 ||
		name == "TIMESTAMPADD" || name == "TIMESTAMPDIFF" || name == "TRIM" && len(args) == 3 || name == "POSITION":
		writeKeyworded(b, name, args)
	case name == "ITEM":
		write(b, args[0], precUnary)
		b.WriteString("[")
		write(b, args[1], 0)
		b.WriteString("]")
	case name == "FIELD":
		write(b, args[0], precUnary)
		k, _ := constInt(args[1])
		b.WriteString("." + quoteName(args[0].Type().Fields[k].Name))
	case c.Func.Group == "json" && strings.HasPrefix(name, "JSON_"):
		writeJSONCall(b, c)
	case c.Func.Group == "construction" && name != "ROW":
		b.WriteString(name + "[")
		list(args)
		b.WriteString("]")
	case len(args) == 0 && c.Func.Syntax == name: // CURRENT_DATE
		b.WriteString(name)
	default:
		b.WriteString(name + "(")
		list(args)
		b.WriteString(")")
	}
}

// writeKeyworded writes the functions whose arguments are joined by words.
func writeKeyworded(b *strings.Builder, name string, args []Expr) {
	word := func(e Expr) {
		if s, ok := constText(e); ok {
			b.WriteString(strings.ToUpper(s))
			return
		}
		write(b, e, 0)
	}
	b.WriteString(name + "(")
	defer b.WriteByte(')')
	switch name {
	case "EXTRACT":
		word(args[0])
		b.WriteString(" FROM ")
		write(b, args[1], 0)
	case "FLOOR", "CEIL":
		write(b, args[0], 0)
		b.WriteString(" TO ")
		word(args[1])
	case "TRIM":
		word(args[0])
		b.WriteString(" ")
		write(b, args[1], 0)
		b.WriteString(" FROM ")
		write(b, args[2], 0)
	case "POSITION":
		write(b, args[0], 0)
		b.WriteString(" IN ")
		write(b, args[1], 0)
	default:
		word(args[0])
		for _, a := range args[1:] {
			b.WriteString(", ")
			write(b, a, 0)
		}
	}
}

// quoteName leaves plain names alone and puts others between back-quotes.
func quoteName(s string) string {
	plain := true
	for i, c := range s {
		plain = plain && (c == '_' || c == '$' && i > 0 || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' && i > 0)
	}
	if plain {
		return s
	}
	return "`" + strings.ReplaceAll(s, "`", "``") + "`"
}

// literalSQL writes a literal so that it would be read back as the same value.
func literalSQL(v *column.Vector) string {
	if v.IsNull(0) {
		return "NULL"
	}
	t := v.Type
	if t.IsNested() {
		return nestedSQL(v, 0)
	}
	quoted := func(prefix, suffix string) string {
		return prefix + "'" + strings.ReplaceAll(string(valueText(v, 0, time.UTC)), "'", "''") + "'" + suffix
	}
	switch t.Kind {
	case types.Char, types.VarChar:
		return quoted("", "")
	case types.Binary, types.VarBinary:
		return string(types.AppendHexLiteral(nil, v.Value(0)))
	case types.Date:
		return quoted("DATE ", "")
	case types.Time:
		return quoted("TIME ", "")
	case types.Timestamp:
		return quoted("TIMESTAMP ", "")
	case types.TimestampLTZ:
		return "CAST(" + quoted("", "") + " AS " + t.AsNullable().String() + ")"
	case types.IntervalYearMonth:
		return quoted("INTERVAL ", " YEAR TO MONTH")
	case types.IntervalDayTime:
		return quoted("INTERVAL ", " DAY TO SECOND")
	case types.Float, types.Double:
		s := string(valueText(v, 0, nil))
		if strings.ContainsAny(s, "NI") {
			return "CAST('" + s + "' AS " + t.AsNullable().String() + ")"
		}
		if !strings.Contains(s, "E") {
			s += "E0"
		}
		return s
	}
	return string(valueText(v, 0, nil))
}

// literalText is the exact text of a literal in the graph: numbers in decimal, floats in their shortest
// form, dates and times as the number that holds them, bytes and nested values in base64.
func literalText(v *column.Vector) []byte {
	switch column.PhysicalOf(v.Type) {
	case column.PhysBool:
		return strconv.AppendBool(nil, v.Bool[0])
	case column.PhysF32:
		return strconv.AppendFloat(nil, float64(v.F32[0]), 'g', -1, 32)
	case column.PhysF64:
		return strconv.AppendFloat(nil, v.F64[0], 'g', -1, 64)
	case column.PhysI128:
		return types.AppendDecimal(nil, v.I128[0], 0)
	case column.PhysBytes:
		if v.Type.IsBinary() {
			return base64.StdEncoding.AppendEncode(nil, v.Value(0))
		}
		return v.Value(0)
	case column.PhysList, column.PhysRow:
		return nestedLiteral(v)
	}
	return strconv.AppendInt(nil, v.Int64(0), 10)
}

// parseLiteral reads literalText back.
func parseLiteral(s string, t types.Type) (any, bool) {
	switch column.PhysicalOf(t) {
	case column.PhysNone:
		return nil, false
	case column.PhysBool:
		b, err := strconv.ParseBool(s)
		return b, err == nil
	case column.PhysF32:
		f, err := strconv.ParseFloat(s, 32)
		return f, err == nil
	case column.PhysF64:
		f, err := strconv.ParseFloat(s, 64)
		return f, err == nil
	case column.PhysI128:
		x, err := types.ParseDecimal([]byte(s), types.MaxDecimalPrecision, 0)
		return x, err == nil && x.Fits(t.Precision)
	case column.PhysBytes:
		if t.IsBinary() {
			b, err := base64.StdEncoding.DecodeString(s)
			return b, err == nil
		}
		return s, true
	case column.PhysList, column.PhysRow:
		return parseNestedLiteral(s, t)
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil && inRange(n, t)
}

// inRange reports whether n is a value of a type of integer form.
func inRange(n int64, t types.Type) bool {
	switch t.Kind {
	case types.Decimal:
		return types.FitsInt64(n, t.Precision)
	case types.Date:
		return n >= int64(types.MinDate) && n <= int64(types.MaxDate)
	case types.Time:
		return n >= 0 && n < types.MillisPerDay
	case types.Timestamp, types.TimestampLTZ:
		return t.Nanos() || n >= types.MinMicros && n <= types.MaxMicros
	case types.IntervalYearMonth:
		return n >= math.MinInt32 && n <= math.MaxInt32
	case types.IntervalDayTime:
		return true
	}
	return types.IntInRange(n, t.Kind)
}
