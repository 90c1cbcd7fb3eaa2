package expr

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// sqlParser reads expressions for the tests of this package, which lies below the real parser. It knows
// the syntax that the functions' examples use and panics with *Error on what it or NewCall refuses.
type sqlParser struct {
	src  string
	toks []sqlTok
	pos  int
	cols []types.Column
}

type sqlTok struct {
	kind       byte // 'n' number, 's' string, 'x' bytes, 'i' word, 'o' sign, 'e' end
	text       string
	start, end int
}

func parseSQL(src string, cols []types.Column) (e Expr, err error) {
	p := &sqlParser{src: src, cols: cols}
	defer func() {
		if r := recover(); r != nil {
			x, ok := r.(*Error)
			if !ok {
				panic(r)
			}
			err = x
		}
	}()
	p.lex()
	e = p.expr(0)
	if p.tok().kind != 'e' {
		p.fail("unexpected " + p.tok().text)
	}
	return e, nil
}

func (p *sqlParser) lex() {
	s := p.src
	for i := 0; i < len(s); {
		c := s[i]
		start := i
		word := func(b byte) bool {
			return b == '_' || b >= '0' && b <= '9' || b|0x20 >= 'a' && b|0x20 <= 'z'
		}
		switch {
		case c == ' ' || c == '\n':
			i++
			continue
		case c == '\'' || (c == 'X' || c == 'x') && i+1 < len(s) && s[i+1] == '\'':
			kind := byte('s')
			if c != '\'' {
				kind = 'x'
				i++
			}
			var b strings.Builder
			for i++; i < len(s); i++ {
				if s[i] == '\'' {
					if i+1 < len(s) && s[i+1] == '\'' {
						i++
					} else {
						break
					}
				}
				b.WriteByte(s[i])
			}
			i++
			p.toks = append(p.toks, sqlTok{kind, b.String(), start, i})
			continue
		case c >= '0' && c <= '9' || c == '.' && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9':
			for i < len(s) && (s[i] == '.' || s[i] >= '0' && s[i] <= '9' || s[i]|0x20 == 'e' || (s[i] == '-' || s[i] == '+') && s[i-1]|0x20 == 'e') {
				i++
			}
			p.toks = append(p.toks, sqlTok{'n', s[start:i], start, i})
			continue
		case word(c):
			for i < len(s) && word(s[i]) {
				i++
			}
			p.toks = append(p.toks, sqlTok{'i', s[start:i], start, i})
			continue
		}
		n := 1
		switch {
		case i+1 == len(s):
		case s[i:i+2] == "<=", s[i:i+2] == ">=", s[i:i+2] == "<>", s[i:i+2] == "||", s[i:i+2] == "!=":
			n = 2
		}
		i += n
		p.toks = append(p.toks, sqlTok{'o', s[start:i], start, i})
	}
	p.toks = append(p.toks, sqlTok{kind: 'e', start: len(s), end: len(s)})
}

func (p *sqlParser) tok() sqlTok { return p.toks[p.pos] }

func (p *sqlParser) fail(msg string) {
	panic(&Error{Span: Span{Start: uint32(p.tok().start), End: uint32(p.tok().end)}, Msg: msg, Row: -1})
}

func (p *sqlParser) is(words ...string) bool {
	for i, w := range words {
		if p.pos+i >= len(p.toks) {
			return false
		}
		t := p.toks[p.pos+i]
		if t.kind == 's' || !strings.EqualFold(t.text, w) {
			return false
		}
	}
	return true
}

func (p *sqlParser) accept(words ...string) bool {
	if p.is(words...) {
		p.pos += len(words)
		return true
	}
	return false
}

func (p *sqlParser) expect(word string) {
	if !p.accept(word) {
		p.fail("expected " + word)
	}
}

func (p *sqlParser) span(start int) Span {
	return Span{Start: uint32(start), End: uint32(p.toks[p.pos-1].end)}
}

func (p *sqlParser) call(start int, name string, args ...Expr) Expr {
	e, err := NewCall(name, args, p.span(start))
	if err != nil {
		panic(err)
	}
	return e
}

func (p *sqlParser) text(s string, start int) Expr {
	return NewLiteral(types.WithPrecision(types.Char, max(1, len([]rune(s)))), s, p.span(start))
}

func (p *sqlParser) expr(min int) Expr {
	start := p.tok().start
	var left Expr
	switch {
	case p.accept("NOT"):
		left = p.call(start, "NOT", p.expr(precNot))
	case p.accept("-"):
		if t := p.tok(); t.kind == 'n' {
			p.pos++
			left = p.number("-"+t.text, start)
		} else {
			left = p.call(start, "NEG", p.expr(precUnary))
		}
	default:
		left = p.primary()
		for {
			if p.accept("[") {
				i := p.expr(0)
				p.expect("]")
				left = p.call(start, "ITEM", left, i)
			} else if p.accept(".") {
				i := left.Type().FieldIndex(p.tok().text)
				p.pos++
				left = p.call(start, "FIELD", left, NewLiteral(types.Of(types.Int), int64(i), Span{}))
			} else {
				break
			}
		}
	}
	for {
		var prec int
		name := strings.ToUpper(p.tok().text)
		negate := false
		if p.tok().kind == 's' || p.tok().kind == 'x' {
			return left
		}
		if name == "NOT" && (p.is("NOT", "LIKE") || p.is("NOT", "IN") || p.is("NOT", "BETWEEN")) {
			negate = true
			name = strings.ToUpper(p.toks[p.pos+1].text)
		}
		if name == "IS" || name == "SIMILAR" {
			prec = precCompare
		} else if name == "!=" {
			prec = precCompare
		} else {
			prec = precedence(name)
		}
		if prec == 0 || prec <= min || name == "NOT" || name == "NEG" {
			return left
		}
		p.pos++
		if negate {
			p.pos++
		}
		switch name {
		case "IS":
			name = "IS"
			if p.accept("NOT") {
				name += " NOT"
			}
			if p.accept("DISTINCT", "FROM") {
				right := p.expr(prec)
				left = p.call(start, name+" DISTINCT FROM", left, right)
				continue
			}
			if p.accept("JSON") {
				left = p.isJSON(start, left, name == "IS NOT")
				continue
			}
			name += " " + strings.ToUpper(p.tok().text)
			p.pos++
			left = p.call(start, name, left)
		case "BETWEEN":
			lo := p.expr(prec)
			p.expect("AND")
			hi := p.expr(prec)
			left = p.call(start, name, left, lo, hi)
		case "IN":
			p.expect("(")
			left = p.call2(start, name, append([]Expr{left}, p.list()...))
		case "LIKE", "SIMILAR":
			if name == "SIMILAR" {
				p.expect("TO")
				name = "SIMILAR TO"
			}
			args := []Expr{left, p.expr(prec)}
			if p.accept("ESCAPE") {
				args = append(args, p.expr(prec))
			}
			left = p.call2(start, name, args)
		default:
			right := p.expr(prec)
			left = p.call(start, name, left, right)
		}
		if negate {
			left = p.call(start, "NOT", left)
		}
	}
}

func (p *sqlParser) call2(start int, name string, args []Expr) Expr {
	return p.call(start, name, args...)
}

// list reads expressions up to a closing parenthesis, listTo up to another sign.
func (p *sqlParser) list() []Expr { return p.listTo(")") }

func (p *sqlParser) listTo(end string) []Expr {
	var es []Expr
	if p.accept(end) {
		return nil
	}
	for {
		es = append(es, p.expr(0))
		if p.accept(end) {
			return es
		}
		p.expect(",")
	}
}

func (p *sqlParser) number(s string, start int) Expr {
	if strings.ContainsAny(s, "eE") {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			p.fail(err.Error())
		}
		return NewLiteral(types.Of(types.Double), f, p.span(start))
	}
	if !strings.Contains(s, ".") {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			t := types.Of(types.Int)
			if n != int64(int32(n)) {
				t = types.Of(types.BigInt)
			}
			return NewLiteral(t, n, p.span(start))
		}
	}
	t, ok := types.DecimalTypeOf([]byte(s))
	if !ok {
		p.fail("bad number " + s)
	}
	v, err := types.ParseDecimal([]byte(s), t.Precision, t.Scale)
	if err != nil {
		p.fail(err.Error())
	}
	return NewLiteral(t, v, p.span(start))
}

func (p *sqlParser) typeName() types.Type {
	start := p.tok().start
	depth := 0
	for !(depth == 0 && p.is(")")) {
		if p.is("(") {
			depth++
		} else if p.is(")") {
			depth--
		}
		p.pos++
	}
	t, err := types.ParseType(p.src[start:p.tok().start])
	if err != nil {
		p.fail(err.Error())
	}
	return t
}

func (p *sqlParser) primary() Expr {
	t := p.tok()
	start := t.start
	p.pos++
	switch t.kind {
	case 'n':
		return p.number(t.text, start)
	case 's':
		return p.text(t.text, start)
	case 'x':
		b, err := hex.DecodeString(t.text)
		if err != nil {
			p.fail(err.Error())
		}
		return NewLiteral(types.WithPrecision(types.Binary, max(1, len(b))), b, p.span(start))
	case 'o':
		if t.text == "(" {
			e := p.expr(0)
			if p.accept(",") {
				return p.overlaps(start, e)
			}
			p.expect(")")
			return e
		}
	case 'i':
		return p.word(strings.ToUpper(t.text), t.text, start)
	}
	p.pos--
	p.fail("unexpected " + t.text)
	return nil
}

// overlaps reads the rest of (start, end) OVERLAPS (start, end).
func (p *sqlParser) overlaps(start int, first Expr) Expr {
	end := func(from Expr) Expr {
		x := p.expr(0)
		p.expect(")")
		if x.Type().IsInterval() {
			x = p.call(start, "+", from, x)
		}
		return x
	}
	args := []Expr{first, end(first)}
	p.expect("OVERLAPS")
	p.expect("(")
	second := p.expr(0)
	p.expect(",")
	return p.call2(start, "OVERLAPS", append(args, second, end(second)))
}

func (p *sqlParser) word(word, name string, start int) Expr {
	switch word {
	case "TRUE", "FALSE":
		return NewLiteral(types.Of(types.Boolean), word == "TRUE", p.span(start))
	case "NULL":
		return NewLiteral(types.Type{}, nil, p.span(start))
	case "DATE", "TIME", "TIMESTAMP":
		if p.tok().kind == 's' {
			return p.moment(word, start)
		}
	case "INTERVAL":
		return p.interval(start)
	case "CASE":
		return p.caseExpr(start)
	case "ARRAY", "MAP", "MULTISET":
		if p.accept("[") {
			return p.call2(start, word, p.listTo("]"))
		}
	}
	if p.is("(") {
		p.pos++
		return p.function(word, start)
	}
	if _, ok := Lookup(word); ok {
		return p.call(start, word)
	}
	for i, c := range p.cols {
		if c.Name == name {
			return &Column{Index: i, Name: name, T: c.Type, At: p.span(start)}
		}
	}
	p.fail("no column " + name)
	return nil
}

func (p *sqlParser) moment(word string, start int) Expr {
	s := p.tok().text
	p.pos++
	var t types.Type
	switch word {
	case "DATE":
		t = types.Of(types.Date)
	case "TIME":
		t = temporalFor(s, types.WithPrecision(types.Time, 0))
	default:
		t = temporalFor(s, types.WithPrecision(types.Timestamp, 0))
	}
	v := column.New(t, 1)
	if err := parseText([]byte(s), v, t, nil); err != nil {
		p.fail(err.Error())
	}
	return NewLiteral(t, v.Int64(0), p.span(start))
}

func (p *sqlParser) interval(start int) Expr {
	minus := p.accept("-")
	s := p.tok().text
	p.pos++
	unit := strings.ToUpper(p.tok().text)
	p.pos++
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		p.fail("bad interval " + s)
	}
	if minus {
		n = -n
	}
	ms := map[string]int64{"DAY": types.MillisPerDay, "HOUR": 3600_000, "MINUTE": 60_000, "SECOND": 1000}
	if f, ok := ms[unit]; ok {
		return NewLiteral(types.Of(types.IntervalDayTime), n*f, p.span(start))
	}
	if unit == "YEAR" {
		n *= 12
	}
	return NewLiteral(types.Of(types.IntervalYearMonth), n, p.span(start))
}

func (p *sqlParser) caseExpr(start int) Expr {
	var args []Expr
	for p.accept("WHEN") {
		args = append(args, p.expr(0))
		p.expect("THEN")
		args = append(args, p.expr(0))
	}
	if p.accept("ELSE") {
		args = append(args, p.expr(0))
	} else {
		args = append(args, NewLiteral(types.Type{}, nil, Span{}))
	}
	p.expect("END")
	return p.call2(start, "CASE", args)
}

func (p *sqlParser) function(name string, start int) Expr {
	switch name {
	case "CAST", "TRY_CAST":
		arg := p.expr(0)
		p.expect("AS")
		t := p.typeName()
		p.expect(")")
		e, err := NewCast(arg, t, name == "TRY_CAST", p.span(start))
		if err != nil {
			panic(err)
		}
		return e
	case "JSON_EXISTS", "JSON_VALUE", "JSON_QUERY", "JSON_OBJECT", "JSON_ARRAY":
		return p.json(name, start)
	case "EXTRACT", "TIMESTAMPADD", "TIMESTAMPDIFF":
		unit := p.tok()
		p.pos++
		args := []Expr{p.text(unit.text, unit.start)}
		if name == "EXTRACT" {
			p.expect("FROM")
		} else {
			p.expect(",")
		}
		return p.call2(start, name, append(args, p.list()...))
	case "FLOOR", "CEIL":
		args := []Expr{p.expr(0)}
		if p.accept("TO") {
			unit := p.tok()
			p.pos++
			args = append(args, p.text(unit.text, unit.start))
		}
		p.expect(")")
		return p.call2(start, name, args)
	case "TRIM":
		how := ""
		for _, w := range []string{"BOTH", "LEADING", "TRAILING"} {
			if p.accept(w) {
				how = w
			}
		}
		x := p.text(" ", start)
		if !p.is("FROM") {
			x = p.expr(0)
		}
		if how == "" && !p.is("FROM") {
			p.expect(")")
			return p.call(start, name, x)
		}
		p.expect("FROM")
		if how == "" {
			how = "BOTH"
		}
		s := p.expr(0)
		p.expect(")")
		return p.call(start, name, p.text(how, start), x, s)
	case "POSITION":
		x := p.expr(precCompare)
		p.expect("IN")
		s := p.expr(0)
		p.expect(")")
		return p.call(start, name, x, s)
	case "SUBSTRING", "OVERLAY":
		args := []Expr{p.expr(0)}
		for _, w := range []string{"PLACING", "FROM", "FOR"} {
			if p.accept(w) || p.accept(",") {
				args = append(args, p.expr(0))
			}
		}
		p.expect(")")
		return p.call2(start, name, args)
	}
	args := p.list()
	return p.call2(start, name, args)
}

// testEnv is the world of the tests: half past noon of 17 May 2024 UTC, on a clock in Berlin.
func testEnv(t testing.TB) *Env {
	zone, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	return &Env{Now: time.Date(2024, 5, 17, 12, 30, 0, 0, time.UTC), Zone: zone, Seed: 42}
}

// show writes row i of a vector.
func show(v *column.Vector, i int, env *Env) string {
	if v.IsNull(i) {
		return "NULL"
	}
	if v.Type.IsBinary() {
		return string(types.AppendHexLiteral(nil, v.Value(i)))
	}
	return string(valueText(v, i, env.Zone))
}

// showError writes an error with the piece of the statement it points at.
func showError(err error, src string) string {
	e, ok := err.(*Error)
	if !ok {
		return "error: " + err.Error()
	}
	at := "?"
	if int(e.Span.End) <= len(src) && e.Span.Start < e.Span.End {
		at = src[e.Span.Start:e.Span.End]
	}
	s := fmt.Sprintf("error at %s: %s", at, e.Msg)
	if e.Hint != "" {
		s += " (" + e.Hint + ")"
	}
	return s
}
