package expr

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/types"
)

// isJSON reads what may follow IS JSON.
func (p *sqlParser) isJSON(start int, x Expr, negated bool) Expr {
	name := "VALUE"
	for _, w := range []string{"VALUE", "OBJECT", "ARRAY", "SCALAR"} {
		if p.accept(w) {
			name = w
		}
	}
	if x = p.call(start, "IS JSON "+name, x); negated {
		x = p.call(start, "NOT", x)
	}
	return x
}

// isJSONKeyword says which arguments of the JSON functions are syntax.
func isJSONKeyword(name string, i int) bool {
	switch name {
	case "JSON_EXISTS", "JSON_VALUE", "JSON_QUERY":
		return i == 2
	case "JSON_OBJECT":
		return i%2 == 1 || i == 0
	case "JSON_ARRAY":
		return i == 0
	case "JSON_LENGTH", "JSON_TYPE":
		return i == 1
	}
	return false
}

// json reads the JSON functions that have clauses, after the parenthesis.
func (p *sqlParser) json(name string, start int) Expr {
	var e Expr
	var err error
	switch name {
	case "JSON_OBJECT", "JSON_ARRAY":
		var parts []JSONPart
		absent := name == "JSON_ARRAY"
		for !p.accept(")") {
			if p.accept("ABSENT", "ON", "NULL") {
				absent = true
				continue
			} else if p.accept("NULL", "ON", "NULL") {
				absent = false
				continue
			}
			p.accept(",")
			var part JSONPart
			if name == "JSON_OBJECT" {
				p.accept("KEY")
				part.Key = p.expr(0)
				if !p.accept("VALUE") {
					p.expect(":")
				}
			}
			part.Raw = p.is("JSON_OBJECT", "(") || p.is("JSON_ARRAY", "(") || p.is("JSON", "(")
			part.Value = p.expr(0)
			parts = append(parts, part)
		}
		e, err = NewJSONConstructor(name, parts, absent, p.span(start))
	default:
		var c JSONClauses
		var defaults []Expr
		input := p.expr(0)
		p.expect(",")
		path := p.expr(0)
		if p.accept("RETURNING") {
			c.Returning = p.jsonType()
		}
		for _, w := range [][]string{{"WITHOUT"}, {"WITH", "CONDITIONAL"}, {"WITH", "UNCONDITIONAL"}, {"WITH"}} {
			if p.accept(w...) {
				if c.Wrapper = strings.Join(w, " "); c.Wrapper == "WITH" {
					c.Wrapper = "WITH UNCONDITIONAL"
				}
				p.accept("ARRAY")
				p.expect("WRAPPER")
			}
		}
		for !p.accept(")") {
			how := strings.ToUpper(p.tok().text)
			p.pos++
			if how == "DEFAULT" {
				defaults = append(defaults, p.expr(0))
			} else if how == "EMPTY" {
				how += " " + strings.ToUpper(p.tok().text)
				p.pos++
			}
			p.expect("ON")
			if p.accept("EMPTY") {
				c.OnEmpty = how
			} else {
				p.expect("ERROR")
				c.OnError = how
			}
		}
		e, err = NewJSONCall(name, input, path, c, defaults, p.span(start))
	}
	if err != nil {
		panic(err)
	}
	return e
}

// jsonType reads the type after RETURNING.
func (p *sqlParser) jsonType() types.Type {
	start := p.tok().start
	p.pos++
	for depth := 0; p.is("(") || p.is("<") || depth > 0; p.pos++ {
		switch p.tok().text {
		case "(", "<":
			depth++
		case ")", ">":
			depth--
		}
		if depth == 0 {
			p.pos++
			break
		}
	}
	t, err := types.ParseType(p.src[start:p.toks[p.pos-1].end])
	if err != nil {
		p.fail(err.Error())
	}
	return t
}

// jsonAggregateArgs reads what stands in the parentheses of JSON_OBJECTAGG and JSON_ARRAYAGG.
func jsonAggregateArgs(t testing.TB, name, inner string, cols []types.Column) []Expr {
	clause := ""
	for _, c := range []string{JSONAbsentOnNull, JSONNullOnNull} {
		if rest, ok := strings.CutSuffix(inner, " "+c); ok {
			inner, clause = rest, c
		}
	}
	var args []Expr
	key, value, ok := strings.Cut(strings.TrimPrefix(inner, "KEY "), " VALUE ")
	require.Equal(t, name == "JSON_OBJECTAGG", ok)
	if ok {
		e, err := parseSQL(key, cols)
		require.NoError(t, err)
		args, inner = append(args, e), value
	}
	e, err := parseSQL("JSON_STRING("+inner+")", cols)
	require.NoError(t, err)
	args = append(args, e)
	if clause == JSONAbsentOnNull && ok || clause == JSONNullOnNull && !ok {
		args = append(args, NewLiteral(types.WithPrecision(types.Char, len(clause)), clause, Span{}))
	}
	return args
}
