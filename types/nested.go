package types

import (
	"fmt"
	"strings"
)

// Field is a part of a nested type: the element of an ARRAY or MULTISET, the key or the value of a MAP, a
// field of a ROW.
type Field struct {
	Name    string // of a ROW's field; else empty
	Type    Type
	Comment string // of a ROW's field
}

// MaxNesting is how deep types may be nested.
const MaxNesting = 32

// ArrayOf returns the nullable type ARRAY<element>.
func ArrayOf(element Type) Type { return Type{Kind: Array, Fields: []Field{{Type: element}}} }

// MultisetOf returns the nullable type MULTISET<element>.
func MultisetOf(element Type) Type { return Type{Kind: Multiset, Fields: []Field{{Type: element}}} }

// MapOf returns the nullable type MAP<key, value>.
func MapOf(key, value Type) Type { return Type{Kind: Map, Fields: []Field{{Type: key}, {Type: value}}} }

// RowOf returns the nullable type ROW<fields>; the slice is kept.
func RowOf(fields ...Field) Type { return Type{Kind: Row, Fields: fields} }

// IsNested reports whether t is an ARRAY, MULTISET, MAP or ROW.
func (t Type) IsNested() bool { return t.Kind >= Array && t.Kind <= Row }

// IsCollection reports whether t is an ARRAY, MULTISET or MAP: a nested type whose values have any number
// of elements.
func (t Type) IsCollection() bool { return t.Kind >= Array && t.Kind <= Map }

// Element returns the type of the elements of an ARRAY or MULTISET.
func (t Type) Element() Type { return t.Fields[0].Type }

// MapKey returns the type of the keys of a MAP.
func (t Type) MapKey() Type { return t.Fields[0].Type }

// MapValue returns the type of the values of a MAP.
func (t Type) MapValue() Type { return t.Fields[1].Type }

// FieldIndex returns the position of the field of a ROW with exactly this name, or -1.
func (t Type) FieldIndex(name string) int {
	for i, f := range t.Fields {
		if f.Name == name {
			return i
		}
	}
	return -1
}

// Comparable reports whether values of t can be ordered, as ORDER BY, < and MAX do. Those of a MAP and
// a MULTISET cannot, nor can nested types with such a part; values of every type can be equal.
func (t Type) Comparable() bool {
	if t.Kind == Map || t.Kind == Multiset {
		return false
	}
	for _, f := range t.Fields {
		if !f.Type.Comparable() {
			return false
		}
	}
	return true
}

// Equal reports whether t and u are the same type, nullability and the names of fields included. Comments
// do not count.
func (t Type) Equal(u Type) bool {
	if t.Kind != u.Kind || t.NotNull != u.NotNull || t.Precision != u.Precision || t.Scale != u.Scale || len(t.Fields) != len(u.Fields) {
		return false
	}
	for i, f := range t.Fields {
		if g := u.Fields[i]; f.Name != g.Name || !f.Type.Equal(g.Type) {
			return false
		}
	}
	return true
}

// SameKind reports whether t and u are the same type apart from nullability, their own and that of their
// parts.
func (t Type) SameKind(u Type) bool {
	if t.Kind != u.Kind || t.Precision != u.Precision || t.Scale != u.Scale || len(t.Fields) != len(u.Fields) {
		return false
	}
	for i, f := range t.Fields {
		if g := u.Fields[i]; f.Name != g.Name || !f.Type.SameKind(g.Type) {
			return false
		}
	}
	return true
}

// nestedString writes a nested type; the names of fields are in back-quotes, as Flink prints them.
func (t Type) nestedString() string {
	var b strings.Builder
	switch t.Kind {
	case Array:
		b.WriteString("ARRAY<")
	case Multiset:
		b.WriteString("MULTISET<")
	case Map:
		b.WriteString("MAP<")
	case Row:
		b.WriteString("ROW<")
	}
	for i, f := range t.Fields {
		if i > 0 {
			b.WriteString(", ")
		}
		if t.Kind == Row {
			b.WriteString("`" + strings.ReplaceAll(f.Name, "`", "``") + "` ")
		}
		b.WriteString(f.Type.String())
		if f.Comment != "" {
			b.WriteString(" '" + strings.ReplaceAll(f.Comment, "'", "''") + "'")
		}
	}
	b.WriteByte('>')
	return b.String()
}

// validateNested checks the parts of a nested type; depth is how deep it stands itself.
func (t Type) validateNested(depth int) error {
	if depth > MaxNesting {
		return fmt.Errorf("types may be nested %d deep at most", MaxNesting)
	}
	want := map[Kind]int{Array: 1, Multiset: 1, Map: 2}[t.Kind]
	switch {
	case t.Precision != 0 || t.Scale != 0:
		return fmt.Errorf("%s has no precision", kindName(t.Kind))
	case t.Kind == Row && len(t.Fields) == 0:
		return fmt.Errorf("a ROW needs a field")
	case t.Kind != Row && len(t.Fields) != want:
		return fmt.Errorf("%s with %d parts", kindName(t.Kind), len(t.Fields))
	}
	names := map[string]bool{}
	for _, f := range t.Fields {
		switch {
		case t.Kind != Row && (f.Name != "" || f.Comment != ""):
			return fmt.Errorf("the part of a %s has no name", kindName(t.Kind))
		case t.Kind == Row && names[f.Name]:
			return fmt.Errorf("a ROW with two fields named '%s'", f.Name)
		}
		names[f.Name] = true
		if f.Type.IsNested() {
			if err := f.Type.validateNested(depth + 1); err != nil {
				return err
			}
		} else if err := f.Type.Validate(); err != nil {
			return err
		}
	}
	return nil
}

// castNested is CastAllowed for two nested types, or for one and a scalar one: a nested value casts to a
// text, and to a nested type of the same kind part by part.
func castNested(from, to Type) bool {
	if from.Kind != to.Kind || len(from.Fields) != len(to.Fields) {
		return false
	}
	for i, f := range from.Fields {
		if !CastAllowed(f.Type, to.Fields[i].Type) {
			return false
		}
	}
	return true
}

// implicitNested is ImplicitCast for two nested types: part by part, the names of fields aside.
func implicitNested(from, to Type) bool {
	if from.Kind != to.Kind || len(from.Fields) != len(to.Fields) {
		return false
	}
	for i, f := range from.Fields {
		if !ImplicitCast(f.Type, to.Fields[i].Type) {
			return false
		}
	}
	return true
}

// commonNested is the common type of two nested types of one kind: part by part, a ROW's names from a.
func commonNested(a, b Type) (Type, bool) {
	if a.Kind != b.Kind || len(a.Fields) != len(b.Fields) {
		return Type{}, false
	}
	c := Type{Kind: a.Kind, Fields: make([]Field, len(a.Fields))}
	for i, f := range a.Fields {
		g := b.Fields[i]
		t, ok := CommonType(f.Type, g.Type)
		if !ok {
			return Type{}, false
		}
		c.Fields[i] = Field{Name: f.Name, Type: t, Comment: f.Comment}
	}
	return c, true
}

// Unnested returns the types of the columns that one element of a collection is: the fields of a ROW in an
// ARRAY or MULTISET, the key and the value of a MAP, or else the element itself. A ROW that is NULL has NULL
// in every field.
func (t Type) Unnested() []Type {
	if t.Kind == Map {
		return []Type{t.MapKey(), t.MapValue()}
	}
	e := t.Element()
	if e.Kind != Row {
		return []Type{e}
	}
	ts := make([]Type, len(e.Fields))
	for i, f := range e.Fields {
		ts[i] = f.Type
		if e.Nullable() {
			ts[i] = f.Type.AsNullable()
		}
	}
	return ts
}

// TooDeep reports whether a type has more parts inside one another than a type may have.
func (t Type) TooDeep() bool { return t.deeperThan(MaxNesting) }

func (t Type) deeperThan(n int) bool {
	if !t.IsNested() {
		return false
	}
	if n == 0 {
		return true
	}
	for _, f := range t.Fields {
		if f.Type.deeperThan(n - 1) {
			return true
		}
	}
	return false
}
