package sqlparse

// CreateMode tells CREATE TABLE from its replacing forms.
type CreateMode uint8

// The modes of CreateTable.
const (
	Create          CreateMode = iota // CREATE TABLE
	Replace                           // REPLACE TABLE … AS
	CreateOrReplace                   // CREATE OR REPLACE TABLE … AS
)

// CreateTable is CREATE [TEMPORARY] TABLE, REPLACE TABLE or CREATE OR REPLACE
// TABLE with all its clauses. Every clause has its own span for errors.
type CreateTable struct {
	Pos
	Mode          CreateMode
	Temporary     bool
	TemporarySpan Span
	IfNotExists   bool
	Name          ObjectName
	Columns       []ColumnDef // with types; nil: no such list
	ColumnNames   []Ident     // the identifier-only list of CTAS; nil: no such list
	ColumnsSpan   Span        // the ( … ) of either
	Watermark     *WatermarkDef
	PrimaryKey    *PrimaryKey // from a column or the table
	Comment       *Literal    // nil: none
	Distribution  *Distribution
	PartitionedBy *PartitionedBy
	Options       *Options
	Like          *LikeClause
	As            Query // nil: not a CTAS
}

// ColumnKind tells physical, metadata and computed columns apart.
type ColumnKind uint8

// The kinds of columns.
const (
	PhysicalColumn ColumnKind = iota // name type
	MetadataColumn                   // name type METADATA [FROM 'key'] [VIRTUAL]
	ComputedColumn                   // name AS expr
)

// ColumnDef is one column of a CreateTable.
type ColumnDef struct {
	Pos
	Name        Ident
	Kind        ColumnKind
	Type        TypeName // nil for ComputedColumn
	MetadataKey *Literal // nil: none
	Virtual     bool
	Expr        Expr     // of ComputedColumn
	Comment     *Literal // nil: none
}

// WatermarkDef is WATERMARK FOR column AS expr. Column may be a path into a ROW.
type WatermarkDef struct {
	Pos
	Column ObjectName
	Expr   Expr
}

// PrimaryKey is [CONSTRAINT name] PRIMARY KEY (columns) NOT ENFORCED.
type PrimaryKey struct {
	Pos
	Name    *Ident // nil: none
	Columns []Ident
}

// Distribution is DISTRIBUTED [BY [HASH|RANGE] (columns)] [INTO n BUCKETS].
type Distribution struct {
	Pos
	Kind    string // "", "HASH" or "RANGE"
	Columns []Ident
	Buckets *Literal // nil: none
}

// PartitionedBy is PARTITIONED BY (columns).
type PartitionedBy struct {
	Pos
	Columns []Ident
}

// LikeClause is LIKE source [(options)].
type LikeClause struct {
	Pos
	Source  ObjectName
	Options []LikeOption
}

// LikeOption is {INCLUDING|EXCLUDING|OVERWRITING} feature.
type LikeOption struct {
	Pos
	Merge   string // "INCLUDING", "EXCLUDING", "OVERWRITING"
	Feature string // "ALL", "CONSTRAINTS", "DISTRIBUTION", "PARTITIONS", "GENERATED", "METADATA", "OPTIONS", "WATERMARKS"
}

func (*CreateTable) statement() {}

// Form names the statement.
func (c *CreateTable) Form() string {
	switch {
	case c.Mode == Replace:
		return "REPLACE TABLE AS"
	case c.Mode == CreateOrReplace:
		return "CREATE OR REPLACE TABLE AS"
	case c.As != nil:
		return "CREATE TABLE AS"
	case c.Like != nil:
		return "CREATE TABLE LIKE"
	}
	return "CREATE TABLE"
}
