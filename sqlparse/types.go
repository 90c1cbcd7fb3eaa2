package sqlparse

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
