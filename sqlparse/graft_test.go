package sqlparse

import (
	"math/rand"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestGraft puts expressions and queries of the test files into the place of
// others, at random, and sees whether the tree still survives printing and
// parsing. It finds missing parentheses that no one thought of.
func TestGraft(t *testing.T) {
	var statements []string
	var exprs []Expr
	var queries []Query
	collect := func(n Node) {
		Walk(n, func(n Node) bool {
			switch n := n.(type) {
			case *Star, *NamedArg, *DefaultArg, *TableArg, *Symbol, *Descriptor:
			case Expr:
				exprs = append(exprs, n)
			case Query:
				queries = append(queries, n)
			}
			return true
		})
	}
	for _, text := range corpus(t) {
		list, _ := split(text)
		for _, s := range list {
			if st, err := Parse(s.Text); err == nil {
				statements = append(statements, s.Text)
				collect(st)
			}
		}
		if e, err := parseExpr(text); err == nil {
			statements = append(statements, "select "+Print(e)+" from t")
			collect(e)
		}
	}
	require.Greater(t, len(exprs), 500)
	r := rand.New(rand.NewSource(7))
	for range 30_000 {
		st, err := Parse(statements[r.Intn(len(statements))])
		require.NoError(t, err)
		graft(reflect.ValueOf(st).Elem(), r, exprs, queries)
		text := Print(st)
		again, err := Parse(text)
		require.NoError(t, err, text)
		require.True(t, equal(st, again), "%s\nis not the same as\n%s", text, Print(again))
	}
}

// graft replaces some of the expressions and queries below v.
func graft(v reflect.Value, r *rand.Rand, exprs []Expr, queries []Query) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			graft(v.Elem(), r, exprs, queries)
		}
	case reflect.Interface:
		if v.IsNil() {
			return
		}
		if r.Intn(4) > 0 {
			graft(v.Elem(), r, exprs, queries)
			return
		}
		switch v.Interface().(type) {
		case *Star, *NamedArg, *DefaultArg, *TableArg, *Symbol, *Descriptor, *Interval:
		case Expr:
			v.Set(reflect.ValueOf(exprs[r.Intn(len(exprs))]))
		case Query:
			v.Set(reflect.ValueOf(queries[r.Intn(len(queries))]))
		}
	case reflect.Slice:
		for i := range v.Len() {
			graft(v.Index(i), r, exprs, queries)
		}
	case reflect.Struct:
		// What the parser would have read into another node is left alone.
		switch x := v.Addr().Interface().(type) {
		case *TableArg, *GroupItem:
			return
		case *In:
			graft(v.FieldByName("X"), r, exprs, queries)
			return
		case *Quantified:
			graft(v.FieldByName("X"), r, exprs, queries)
			return
		case *QueryExpr:
			graft(v.FieldByName("With"), r, exprs, queries)
			graft(v.FieldByName("OrderBy"), r, exprs, queries)
			return
		case *Call:
			if x.NoParens {
				return
			}
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				graft(v.Field(i), r, exprs, queries)
			}
		}
	}
}
