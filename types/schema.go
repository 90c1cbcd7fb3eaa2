package types

// Column is a named, typed column of a table or of a query's result.
type Column struct {
	Name    string
	Type    Type
	Comment string // empty when there is none
}

// Schema is an ordered list of columns and, for a table, its primary key.
type Schema struct {
	Columns []Column
	// PrimaryKey names the key's columns in order; nil when the table has no key.
	PrimaryKey []string
	// PrimaryKeyName is the constraint's name; empty when the user gave none.
	PrimaryKeyName string
}

// Names returns the columns' names in order.
func (s Schema) Names() []string {
	names := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		names[i] = c.Name
	}
	return names
}

// Types returns the columns' types in order.
func (s Schema) Types() []Type {
	ts := make([]Type, len(s.Columns))
	for i, c := range s.Columns {
		ts[i] = c.Type
	}
	return ts
}

// Index returns the position of the column with exactly this name, or -1.
func (s Schema) Index(name string) int {
	for i, c := range s.Columns {
		if c.Name == name {
			return i
		}
	}
	return -1
}
