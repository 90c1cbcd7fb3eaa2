package sqlparse

import "reflect"

// equal reports whether two trees are the same but for their spans. It works without recursion.
func equal(a, b Node) bool {
	type pair struct{ a, b reflect.Value }
	pos, span := reflect.TypeFor[Pos](), reflect.TypeFor[Span]()
	todo := []pair{{reflect.ValueOf(a), reflect.ValueOf(b)}}
	for len(todo) > 0 {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if x.a.IsValid() != x.b.IsValid() {
			return false
		}
		if !x.a.IsValid() {
			continue
		}
		if x.a.Type() != x.b.Type() {
			return false
		}
		if x.a.Type() == pos || x.a.Type() == span {
			continue
		}
		switch x.a.Kind() {
		case reflect.Pointer, reflect.Interface:
			if x.a.IsNil() != x.b.IsNil() {
				return false
			}
			if !x.a.IsNil() {
				todo = append(todo, pair{x.a.Elem(), x.b.Elem()})
			}
		case reflect.Struct:
			for i := range x.a.NumField() {
				todo = append(todo, pair{x.a.Field(i), x.b.Field(i)})
			}
		case reflect.Slice:
			if x.a.Len() != x.b.Len() {
				return false
			}
			for i := range x.a.Len() {
				todo = append(todo, pair{x.a.Index(i), x.b.Index(i)})
			}
		default:
			if !x.a.Equal(x.b) {
				return false
			}
		}
	}
	return true
}
