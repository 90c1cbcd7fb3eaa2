package sqlite

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/types"
)

// Store is one database file and the options it is used with.
type Store struct {
	Path string
	Env  *connector.Env
	// Alter is the statement that changes the options, without its SET: "ALTER CATALOG shop". "" for a table of
	// which there is none.
	Alter string
	// MisfitNull reads a cell that is no value of its column's type as NULL; otherwise it is an error.
	MisfitNull bool
	// TemporalNumbers says what numbers in DATE and TIMESTAMP columns are: "unix-seconds", "unix-millis",
	// "julian", or "" for misfits.
	TemporalNumbers string
	// AsText names columns, as "column" or "table.column", that are read as STRING whatever they hold.
	AsText map[string]bool
	// OnConflict says what a row becomes whose primary key is there already: "update" or "ignore"; "" for
	// an error.
	OnConflict string
	// Staging sends every write into a rollback-journal file through a scratch file.
	Staging bool
	// CommitWait is how long a COMMIT waits for readers; 0 is 30 s.
	CommitWait time.Duration
}

// Options are the options of a store, for catalogs and tables alike.
func Options() []connector.Option {
	return []connector.Option{
		{Key: "sqlite.misfit", Public: true, Default: "error", Allowed: []string{"error", "null"},
			Doc: "what a cell becomes that is no value of its column's type: an error or NULL"},
		{Key: "sqlite.temporal-numbers", Public: true, Allowed: []string{"unix-seconds", "unix-millis", "julian"},
			Doc: "what numbers in DATE and TIMESTAMP columns mean; unset, they are misfits"},
		{Key: "sqlite.columns.", Prefix: true, Public: true, Allowed: []string{"STRING"},
			Doc: "'sqlite.columns.<column>' or 'sqlite.columns.<table>.<column>' = 'STRING' reads a column as text"},
		{Key: "sink.on-conflict", Public: true, Allowed: []string{"update", "ignore"},
			Doc: "what is done with a row whose primary key is there already: 'update' replaces the other columns written, 'ignore' drops the row; unset, it is an error"},
		{Key: "sink.staging", Public: true, Default: "false", Allowed: []string{"true", "false"},
			Doc: "'true' writes to a scratch file first and locks the database only for a short copy at the end"},
	}
}

// NewStore returns the store of a file with options that have been checked against [Options].
func NewStore(path string, options map[string]string, env *connector.Env) *Store {
	s := &Store{Path: path, Env: env, AsText: map[string]bool{}}
	s.MisfitNull = options["sqlite.misfit"] == "null"
	s.TemporalNumbers = options["sqlite.temporal-numbers"]
	s.OnConflict = options["sink.on-conflict"]
	s.Staging = options["sink.staging"] == "true"
	for k := range options {
		if name, ok := strings.CutPrefix(k, "sqlite.columns."); ok {
			s.AsText[name] = true
		}
	}
	return s
}

// files is where this process notes what it has open; nil when nobody asks.
func (s *Store) files() *connector.Files {
	if s.Env == nil {
		return nil
	}
	return s.Env.Files
}

func (s *Store) open(mode Mode) (*Conn, error) { return Open(s.files(), s.Path, mode) }

// setting says how an option is given a value.
func (s *Store) setting(key, value string) string {
	pair := "'" + strings.ReplaceAll(key, "'", "''") + "' = '" + value + "'"
	if s.Alter == "" {
		return "WITH (" + pair + ")"
	}
	return s.Alter + " SET (" + pair + ")"
}

func (s *Store) asText(table, column string) bool {
	return s.AsText[column] || s.AsText[table+"."+column]
}

// Reserved reports whether a name belongs to SQLite or to us: such tables are not listed and not made.
func Reserved(name string) bool {
	low := strings.ToLower(name)
	return strings.HasPrefix(low, "sqlite_") || strings.HasPrefix(low, "_sluice") || strings.HasPrefix(low, ".sluice")
}

// ColumnInfo is a column as the file declares it.
type ColumnInfo struct {
	Name      string
	Declared  string // its declared type, as written
	Type      types.Type
	Default   bool // the store gives it a value in a row that comes without one
	Generated bool // computed by SQLite
	Key       int  // 1-based place in the primary key, 0 when it has none
}

// TableInfo is a table or view as the file declares it.
type TableInfo struct {
	Name       string
	View       bool
	Virtual    bool
	SQL        string
	Columns    []ColumnInfo
	PrimaryKey []string
	Triggers   []string
	// Rowid is a name under which SQLite gives the rowid; "" for a view, a WITHOUT ROWID or virtual
	// table, and a table whose own columns hide every such name.
	Rowid string
	// UTF16 says that the database keeps text as UTF-16.
	UTF16 bool

	uniques []uniqueKey // over the columns of the primary key
	beside  []string    // columns of a UNIQUE constraint that are others; nil: there is none
}

// Names returns the names of the tables and views of a file, sorted, without reserved ones.
func (c *Conn) Names() ([]string, error) { return c.names("'table', 'view'") }

// Views returns the names of the views of a file, as Names does.
func (c *Conn) Views() ([]string, error) { return c.names("'view'") }

func (c *Conn) names(types string) ([]string, error) {
	rows, err := c.Rows("SELECT name FROM main.sqlite_schema WHERE type IN (" + types + ") ORDER BY name")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, r := range rows {
		if name, ok := r[0].(string); ok && !Reserved(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// Describe returns what the file says of a table or view with exactly this name, nil when it has none.
// With a store's options in s it also decides each column's SQL type; untyped columns are judged by their
// first 1,000 rows when sample is set, and have the type NULL otherwise.
func (s *Store) Describe(c *Conn, name string, sample bool) (*TableInfo, error) {
	rows, err := c.Rows("SELECT type, sql FROM main.sqlite_schema WHERE name = ?1 AND type IN ('table', 'view')", name)
	if err != nil || len(rows) == 0 || Reserved(name) {
		return nil, err
	}
	t := &TableInfo{Name: name, View: rows[0][0] == "view"}
	t.SQL, _ = rows[0][1].(string)
	if enc, err := c.Text("PRAGMA main.encoding"); err != nil {
		return nil, err
	} else {
		t.UTF16 = enc != "UTF-8"
	}
	without := false
	rows, err = c.Rows(`SELECT type, wr FROM pragma_table_list WHERE "schema" = 'main' AND name = ?1`, name)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		t.Virtual = r[0] == "virtual"
		without = r[1] == int64(1)
	}
	rows, err = c.Rows(`SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?1, 'main') ORDER BY cid`, name)
	if err != nil {
		return nil, t.broken(err)
	}
	keys := map[int64]string{}
	names := map[string]bool{}
	for _, r := range rows {
		hidden, _ := r[5].(int64)
		if hidden == 1 {
			continue
		}
		col := ColumnInfo{Default: r[3] != nil, Generated: hidden == 2 || hidden == 3}
		col.Name, _ = r[0].(string)
		col.Declared, _ = r[1].(string)
		names[strings.ToLower(col.Name)] = true
		if col.Generated { // SQLite appends GENERATED ALWAYS to the declared type
			col.Declared = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(col.Declared), "GENERATED ALWAYS"))
		}
		var known bool
		if col.Type, known = ReadType(col.Declared); !known || t.View && inferredName(col.Declared) {
			col.Type = types.Type{}
		}
		if s.asText(name, col.Name) {
			col.Type = types.String()
		}
		if pk, _ := r[4].(int64); pk > 0 && !t.View {
			keys[pk] = col.Name
			col.Key = int(pk)
		}
		if r[2] == int64(1) {
			col.Type.NotNull = true
		}
		t.Columns = append(t.Columns, col)
	}
	if err := s.finishKey(c, t, keys, without); err != nil {
		return nil, err
	}
	if err := t.readUniques(c); err != nil {
		return nil, err
	}
	if !t.View && !t.Virtual && !without {
		for _, alias := range []string{"rowid", "_rowid_", "oid"} {
			if !names[alias] {
				t.Rowid = alias
				break
			}
		}
	}
	rows, err = c.Rows("SELECT name FROM main.sqlite_schema WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE ORDER BY name", name)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		trigger, _ := r[0].(string)
		t.Triggers = append(t.Triggers, trigger)
	}
	if sample {
		if err := sampleTypes(c, t); err != nil {
			return nil, t.broken(err)
		}
	}
	if s.MisfitNull {
		for i := range t.Columns {
			if t.Columns[i].Key == 0 {
				t.Columns[i].Type.NotNull = false
			}
		}
	}
	return t, nil
}

// BrokenViewError says that a view cannot be compiled, mostly since what it reads is gone.
type BrokenViewError struct{ Path, Name, Reason string }

// Error names the view and what it lacks.
func (e *BrokenViewError) Error() string {
	return fmt.Sprintf("database %s: view %s is broken: %s; DROP VIEW drops it", e.Path, e.Name, e.Reason)
}

// broken makes a *BrokenViewError of what SQLite says of a view's statement.
func (t *TableInfo) broken(err error) error {
	var e *Error
	if t.View && errors.As(err, &e) && e.Primary() == codeError {
		return &BrokenViewError{e.Path, t.Name, e.Msg}
	}
	return err
}

// finishKey sets the primary key. SQLite lets the key of a rowid table hold NULLs unless told otherwise;
// such a key is reported only while it has none.
func (s *Store) finishKey(c *Conn, t *TableInfo, keys map[int64]string, without bool) error {
	alias, err := aliasOfRowid(c, t, keys, without)
	if err != nil {
		return err
	}
	var loose []string
	for i := 1; i <= len(keys); i++ {
		t.PrimaryKey = append(t.PrimaryKey, keys[int64(i)])
	}
	for i, col := range t.Columns {
		if col.Name == alias {
			t.Columns[i].Default = true
		} else if col.Key > 0 && !col.Type.NotNull && !without {
			loose = append(loose, "t."+Quote(col.Name)+" IS NULL")
		}
	}
	if len(loose) > 0 {
		n, err := c.Int("SELECT 1 FROM main." + Quote(t.Name) + " AS t WHERE " + strings.Join(loose, " OR ") + " LIMIT 1")
		if err != nil {
			return err
		}
		if n != 0 {
			t.PrimaryKey = nil
			for i := range t.Columns {
				t.Columns[i].Key = 0
			}
			return nil
		}
	}
	for i := range t.Columns {
		if t.Columns[i].Key > 0 {
			t.Columns[i].Type.NotNull = true
		}
	}
	return nil
}

// aliasOfRowid is the column that is another name of the rowid, "" when there is none: SQLite itself gives it a
// value in a row that comes without one. The key of such a table has no index.
func aliasOfRowid(c *Conn, t *TableInfo, keys map[int64]string, without bool) (string, error) {
	if len(keys) != 1 || without || t.Virtual {
		return "", nil
	}
	col, _ := t.column(keys[1])
	if !strings.EqualFold(col.Declared, "INTEGER") {
		return "", nil
	}
	n, err := c.Int("SELECT count(*) FROM pragma_index_list(?1) WHERE origin = 'pk'", t.Name)
	if err != nil || n > 0 { // as of INTEGER PRIMARY KEY DESC
		return "", err
	}
	return col.Name, nil
}

// inferredName reports whether a view's column may have the type only because SQLite names the affinity of
// an expression so: nobody declared it, and it binds no value.
func inferredName(declared string) bool {
	switch declared {
	case "INT", "NUM", "REAL", "TEXT", "BLOB":
		return true
	}
	return false
}

// sampleTypes gives the columns that declare no type the one their first rows have, or that of the
// affinity where they have none.
func sampleTypes(c *Conn, t *TableInfo) error {
	var exprs []string
	var at []int
	for i, col := range t.Columns {
		if col.Type.Kind == types.Null {
			exprs = append(exprs, "typeof(t."+Quote(col.Name)+")")
			at = append(at, i)
		}
	}
	if len(at) == 0 {
		return nil
	}
	seen := make([]map[string]bool, len(at))
	for i := range seen {
		seen[i] = map[string]bool{}
	}
	rows, err := c.Rows("SELECT " + strings.Join(exprs, ", ") + " FROM main." + Quote(t.Name) + " AS t LIMIT 1000")
	if err != nil {
		return err
	}
	for _, r := range rows {
		for i, cell := range r {
			if kind, _ := cell.(string); kind != "null" {
				seen[i][kind] = true
			}
		}
	}
	for i, kinds := range seen {
		col := &t.Columns[at[i]]
		only := func(allowed ...string) bool {
			n := 0
			for _, a := range allowed {
				if kinds[a] {
					n++
				}
			}
			return n > 0 && n == len(kinds)
		}
		notNull := col.Type.NotNull
		if len(kinds) == 0 && t.View && inferredName(col.Declared) {
			col.Type, _ = ReadType(map[string]string{"INT": "BIGINT", "NUM": "REAL", "REAL": "REAL"}[col.Declared])
			if col.Type.Kind == types.Null {
				col.Type = types.String()
			}
			col.Type.NotNull = notNull
			continue
		}
		switch {
		case only("integer"):
			col.Type = types.Of(types.BigInt)
		case only("integer", "real"):
			col.Type = types.Of(types.Double)
		case only("blob"):
			col.Type = types.Bytes()
		default:
			col.Type = types.String()
		}
		col.Type.NotNull = notNull
	}
	return nil
}

// Schema returns the SQL schema of a described table.
func (t *TableInfo) Schema() types.Schema {
	s := types.Schema{PrimaryKey: t.PrimaryKey}
	for _, c := range t.Columns {
		s.Columns = append(s.Columns, types.Column{Name: c.Name, Type: c.Type})
	}
	return s
}

func (t *TableInfo) column(name string) (ColumnInfo, bool) {
	for _, c := range t.Columns {
		if c.Name == name {
			return c, true
		}
	}
	return ColumnInfo{}, false
}

// triggerText lists triggers for a message.
func (t *TableInfo) triggerText() string {
	if len(t.Triggers) == 0 {
		return "the table has no triggers"
	}
	return fmt.Sprintf("table %s has triggers: %s", t.Name, strings.Join(t.Triggers, ", "))
}
