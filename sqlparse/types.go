package sqlparse

import (
	"strconv"
	"strings"
)

// Nullability is embedded in every TypeName.
type Nullability struct {
	// NotNull is set for T NOT NULL. T and T NULL are the same.
	NotNull bool
}

// IsNotNull reports whether NOT NULL was written behind the type.
func (n Nullability) IsNotNull() bool { return n.NotNull }

// ScalarType is a type with a fixed name. Name is the canonical one: BOOLEAN,
// TINYINT, SMALLINT, INT, BIGINT, FLOAT, DOUBLE, DECIMAL, CHAR, VARCHAR, STRING,
// BINARY, VARBINARY, BYTES, DATE, TIME, TIMESTAMP, TIMESTAMP_LTZ,
// TIMESTAMP WITH TIME ZONE, NULL, VARIANT, BITMAP, UUID, GEOGRAPHY.
type ScalarType struct {
	Pos
	Nullability
	Name string
	// Params are the numbers in parentheses: length; or precision and scale.
	// Empty where none are written. Their range is not checked here.
	Params []int
}

// IntervalType is INTERVAL DAY TO SECOND(3) and its like.
type IntervalType struct {
	Pos
	Nullability
	Qualifier IntervalQualifier
}

// ArrayType is ARRAY<T> or T ARRAY.
type ArrayType struct {
	Pos
	Nullability
	Elem TypeName
}

// MultisetType is MULTISET<T> or T MULTISET.
type MultisetType struct {
	Pos
	Nullability
	Elem TypeName
}

// MapType is MAP<K, V>.
type MapType struct {
	Pos
	Nullability
	Key, Value TypeName
}

// RowType is ROW<name type ['comment'], …> or ROW(…).
type RowType struct {
	Pos
	Nullability
	Fields []FieldDef
}

// StructuredType is STRUCTURED<'class', name type, …>.
type StructuredType struct {
	Pos
	Nullability
	Class  *Literal
	Fields []FieldDef
}

// FieldDef is one field of a ROW or STRUCTURED type.
type FieldDef struct {
	Pos
	Name    Ident
	Type    TypeName
	Comment *Literal // nil: none
}

// RawType is RAW('class', 'snapshot').
type RawType struct {
	Pos
	Nullability
	Class, Snapshot *Literal
}

// NamedType is a type by the name of a user: [catalog.][database.]name.
type NamedType struct {
	Pos
	Nullability
	Name ObjectName
}

func (*ScalarType) typeName()     {}
func (*IntervalType) typeName()   {}
func (*ArrayType) typeName()      {}
func (*MultisetType) typeName()   {}
func (*MapType) typeName()        {}
func (*RowType) typeName()        {}
func (*StructuredType) typeName() {}
func (*RawType) typeName()        {}
func (*NamedType) typeName()      {}

// typeName: type {[NOT] NULL | ARRAY | MULTISET}
func (p *parser) typeName() TypeName {
	p.enter()
	defer p.leave()
	start, height := p.tok.start, p.height
	p.height = 0 // of a type: how deep it nests
	t := p.baseType()
	p.nestType()
	for p.err == nil {
		switch {
		case p.isWord("NOT") && p.peekIsWord(1, "NULL"):
			p.accept("NOT", "NULL")
			t = withNotNull(t, p.pos(start))
			continue
		case p.isWord("NULL") && !p.peekIsWord(1, "ON"):
			p.next()
			continue
		case p.accept("ARRAY"):
			t = &ArrayType{Pos: p.pos(start), Elem: t}
			p.nestType()
			continue
		case p.accept("MULTISET"):
			t = &MultisetType{Pos: p.pos(start), Elem: t}
			p.nestType()
			continue
		}
		break
	}
	p.height = max(height, p.height)
	return t
}

// nestType counts a level of a type: INT ARRAY ARRAY is as deep as
// ARRAY<ARRAY<INT>>, as which it is printed.
func (p *parser) nestType() {
	p.height++
	if p.depth+p.height > MaxDepth {
		p.tooDeep()
	}
}

// withNotNull sets NOT NULL and the span that includes it.
func withNotNull(t TypeName, pos Pos) TypeName {
	switch t := t.(type) {
	case *ScalarType:
		t.NotNull, t.Pos = true, pos
	case *IntervalType:
		t.NotNull, t.Pos = true, pos
	case *ArrayType:
		t.NotNull, t.Pos = true, pos
	case *MultisetType:
		t.NotNull, t.Pos = true, pos
	case *MapType:
		t.NotNull, t.Pos = true, pos
	case *RowType:
		t.NotNull, t.Pos = true, pos
	case *StructuredType:
		t.NotNull, t.Pos = true, pos
	case *RawType:
		t.NotNull, t.Pos = true, pos
	case *NamedType:
		t.NotNull, t.Pos = true, pos
	}
	return t
}

const expectedType = "a data type"

// baseType: a type without what may follow it
func (p *parser) baseType() TypeName {
	start := p.tok.start
	if p.tok.kind != tokWord {
		if p.tok.kind == tokQuoted {
			name := p.objectName(expectedType, 3)
			return &NamedType{Pos: p.pos(start), Name: name}
		}
		p.unexpected(expectedType)
		return &ScalarType{}
	}
	scalar := func(name string, maxParams int) TypeName {
		t := &ScalarType{Name: name}
		if maxParams > 0 && p.acceptOp("(") {
			t.Params = append(t.Params, p.smallNumber("the length or precision"))
			if maxParams > 1 && p.acceptOp(",") {
				t.Params = append(t.Params, p.smallNumber("the scale"))
			}
			p.expectOp(")")
		}
		t.Pos = p.pos(start)
		return t
	}
	word := upperASCII(p.tok.text)
	qualified := p.peekIsOp(1, ".")
	if !qualified {
		switch word {
		case "BOOLEAN", "TINYINT", "SMALLINT", "BIGINT", "FLOAT", "STRING", "BYTES", "DATE", "VARIANT", "BITMAP", "UUID",
			"GEOGRAPHY", "NULL":
			p.next()
			return scalar(word, 0)
		case "INT", "INTEGER":
			p.next()
			return scalar("INT", 0)
		case "REAL":
			p.next()
			return scalar("FLOAT", 0)
		case "DOUBLE":
			p.next()
			p.accept("PRECISION")
			return scalar("DOUBLE", 0)
		case "DECIMAL", "DEC", "NUMERIC":
			p.next()
			return scalar("DECIMAL", 2)
		case "CHAR", "CHARACTER":
			p.next()
			if p.accept("VARYING") {
				return scalar("VARCHAR", 1)
			}
			return scalar("CHAR", 1)
		case "BINARY":
			p.next()
			if p.accept("VARYING") {
				return scalar("VARBINARY", 1)
			}
			return scalar("BINARY", 1)
		case "VARCHAR", "VARBINARY", "TIMESTAMP_LTZ":
			p.next()
			return scalar(word, 1)
		case "TIME", "TIMESTAMP":
			p.next()
			t := scalar(word, 1).(*ScalarType)
			p.zone(t)
			t.Pos = p.pos(start)
			return t
		case "INTERVAL":
			p.next()
			q := p.intervalQualifier()
			return &IntervalType{Pos: p.pos(start), Qualifier: q}
		case "ARRAY", "MULTISET":
			p.next()
			p.expectOp("<")
			elem := p.typeName()
			p.expectOp(">")
			if word == "ARRAY" {
				return &ArrayType{Pos: p.pos(start), Elem: elem}
			}
			return &MultisetType{Pos: p.pos(start), Elem: elem}
		case "MAP":
			if p.peekIsOp(1, "<") {
				p.next()
				p.next()
				key := p.typeName()
				p.expectOp(",")
				value := p.typeName()
				p.expectOp(">")
				return &MapType{Pos: p.pos(start), Key: key, Value: value}
			}
		case "ROW":
			p.next()
			fields := p.rowFields()
			return &RowType{Pos: p.pos(start), Fields: fields}
		case "STRUCTURED":
			if p.peekIsOp(1, "<") {
				p.next()
				p.next()
				t := &StructuredType{Class: p.stringLiteral("the class name in single quotes")}
				if p.acceptOp(",") {
					t.Fields = p.fieldDefs(">")
				} else {
					p.expectOp(">")
				}
				t.Pos = p.pos(start)
				return t
			}
		case "RAW":
			if p.peekIsOp(1, "(") {
				p.next()
				p.next()
				t := &RawType{Class: p.stringLiteral("the class name in single quotes")}
				p.expectOp(",")
				t.Snapshot = p.stringLiteral("the serializer snapshot in single quotes")
				p.expectOp(")")
				t.Pos = p.pos(start)
				return t
			}
		case "METADATA", "TEXT", "DATETIME", "NUMBER", "BLOB", "CLOB", "SERIAL", "BIGSERIAL", "LONG", "BOOL":
			p.unknownType(word)
			return &ScalarType{}
		}
	}
	if p.tok.reserved {
		p.unexpected(expectedType)
		return &ScalarType{}
	}
	if !qualified && p.peekIsOp(1, "(") { // no user's type has parameters
		p.misspeltType()
		return &ScalarType{}
	}
	name := p.objectName(expectedType, 3)
	return &NamedType{Pos: p.pos(start), Name: name}
}

// misspeltType fails with the type whose name is nearest.
func (p *parser) misspeltType() {
	hint := ""
	if s := NearestType(p.tok.text); s != "" {
		hint = "did you mean " + s + "?"
	}
	p.failAt(p.tok.span(), "found "+p.found(p.tok)+", expected "+expectedType, hint)
}

// unknownType fails with the Flink name of a type of other databases.
func (p *parser) unknownType(word string) {
	instead := map[string]string{"TEXT": "STRING", "CLOB": "STRING", "DATETIME": "TIMESTAMP", "NUMBER": "DECIMAL(p, s)",
		"BLOB": "BYTES", "SERIAL": "INT", "BIGSERIAL": "BIGINT", "LONG": "BIGINT", "BOOL": "BOOLEAN"}[word]
	hint := ""
	if instead != "" {
		hint = "the Flink SQL type is " + instead
	}
	p.failAt(p.tok.span(), "found "+p.found(p.tok)+", expected "+expectedType, hint)
}

// zone: [{WITH|WITHOUT} [LOCAL] TIME ZONE] behind TIME or TIMESTAMP
func (p *parser) zone(t *ScalarType) {
	switch {
	case p.accept("WITHOUT", "TIME", "ZONE"):
	case t.Name == "TIMESTAMP" && p.accept("WITH", "TIME", "ZONE"):
		t.Name = "TIMESTAMP WITH TIME ZONE"
	case t.Name == "TIMESTAMP" && p.accept("WITH", "LOCAL", "TIME", "ZONE"):
		t.Name = "TIMESTAMP_LTZ"
	}
}

// rowFields: < field, … > or ( field, … )
func (p *parser) rowFields() []FieldDef {
	switch {
	case p.acceptOp("<>"):
		return nil
	case p.acceptOp("<"):
		return p.fieldDefs(">")
	case p.acceptOp("("):
		if p.acceptOp(")") {
			return nil
		}
		return p.fieldDefs(")")
	}
	p.unexpected(`"<" and the fields of the ROW`)
	return nil
}

// fieldDefs: name type ['comment'] {, …}, up to the bracket, which is taken
func (p *parser) fieldDefs(bracket string) []FieldDef {
	var list []FieldDef
	for p.err == nil {
		start := p.tok.start
		f := FieldDef{Name: p.ident("a field's name")}
		f.Type = p.typeName()
		if p.tok.kind == tokString || p.tok.kind == tokUnicode {
			f.Comment = p.stringLiteral("")
		}
		f.Pos = p.pos(start)
		list = append(list, f)
		p.checkColumns(len(list))
		if p.isOp(bracket) {
			p.next()
			break
		}
		if !p.acceptOp(",") {
			p.unexpected(`"," or "` + bracket + `"`)
		}
	}
	return list
}

func (n Nullability) print(p *printer) { p.opt(n.NotNull, " NOT NULL") }

func (t *ScalarType) print(p *printer) {
	name, rest, _ := strings.Cut(t.Name, " ") // TIMESTAMP(3) WITH TIME ZONE
	p.str(name)
	if len(t.Params) > 0 {
		p.str("(")
		p.list(len(t.Params), func(i int) { p.str(strconv.Itoa(t.Params[i])) })
		p.str(")")
	}
	if rest != "" {
		p.str(" " + rest)
	}
	t.Nullability.print(p)
}

func (t *IntervalType) print(p *printer) {
	p.str("INTERVAL ")
	t.Qualifier.print(p)
	t.Nullability.print(p)
}

func (t *ArrayType) print(p *printer) {
	p.str("ARRAY<")
	t.Elem.print(p)
	p.str(">")
	t.Nullability.print(p)
}

func (t *MultisetType) print(p *printer) {
	p.str("MULTISET<")
	t.Elem.print(p)
	p.str(">")
	t.Nullability.print(p)
}

func (t *MapType) print(p *printer) {
	p.str("MAP<")
	t.Key.print(p)
	p.str(", ")
	t.Value.print(p)
	p.str(">")
	t.Nullability.print(p)
}

func (t *RowType) print(p *printer) {
	p.str("ROW<")
	p.fieldDefs(t.Fields)
	p.str(">")
	t.Nullability.print(p)
}

func (t *StructuredType) print(p *printer) {
	p.str("STRUCTURED<")
	t.Class.print(p)
	p.opt(len(t.Fields) > 0, ", ")
	p.fieldDefs(t.Fields)
	p.str(">")
	t.Nullability.print(p)
}

func (p *printer) fieldDefs(list []FieldDef) {
	p.list(len(list), func(i int) {
		f := &list[i]
		p.name(f.Name.Name)
		p.str(" ")
		f.Type.print(p)
		if f.Comment != nil {
			p.str(" ")
			f.Comment.print(p)
		}
	})
}

func (t *RawType) print(p *printer) {
	p.str("RAW(")
	t.Class.print(p)
	p.str(", ")
	t.Snapshot.print(p)
	p.str(")")
	t.Nullability.print(p)
}

func (t *NamedType) print(p *printer) {
	p.path(t.Name.Parts)
	t.Nullability.print(p)
}

func (*ScalarType) children(func(Node))           {}
func (*IntervalType) children(func(Node))         {}
func (*RawType) children(func(Node))              {}
func (*NamedType) children(func(Node))            {}
func (t *ArrayType) children(visit func(Node))    { visit(t.Elem) }
func (t *MultisetType) children(visit func(Node)) { visit(t.Elem) }

func (t *MapType) children(visit func(Node)) {
	visit(t.Key)
	visit(t.Value)
}

func (t *RowType) children(visit func(Node))        { visitFields(visit, t.Fields) }
func (t *StructuredType) children(visit func(Node)) { visitFields(visit, t.Fields) }

func visitFields(visit func(Node), list []FieldDef) {
	for i := range list {
		visit(list[i].Type)
	}
}
