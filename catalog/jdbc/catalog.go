package jdbc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc"
	"github.com/sluice-sql/sluice/connector/jdbc/sqlite"
)

// Catalog is the tables of a SQLite file, or of the files of a directory. It holds no connection: each
// call opens the file, so that it always says what is there now.
type Catalog struct {
	name       string
	address    jdbc.Address
	properties map[string]string
	env        *connector.Env
}

// fault is an error with words of its own that is still one of package catalog's sentinels.
type fault struct {
	msg      string
	sentinel error
}

// Error returns the words.
func (f *fault) Error() string { return f.msg }

// Unwrap returns the sentinel.
func (f *fault) Unwrap() error { return f.sentinel }

// Open checks that the directory is there. What the files are is seen at their first use.
func (c *Catalog) Open(context.Context) error {
	dir := c.address.Path
	if !c.address.Dir {
		dir = filepath.Dir(dir)
	}
	st, err := os.Stat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("catalog %s: %w", c.name, dirError(dir, err))
	case !st.IsDir():
		return fmt.Errorf("catalog %s: %s is not a directory", c.name, dir)
	}
	return nil
}

// Close does nothing: no connection is kept.
func (c *Catalog) Close() error { return nil }

// Stores: a SQLite file keeps columns, NOT NULL and PRIMARY KEY, nothing else.
func (c *Catalog) Stores() catalog.Clause { return 0 }

// Factory opens the catalog's own tables.
func (c *Catalog) Factory() connector.Factory { return tables{c} }

// StoreKey names the file a table lives in.
func (c *Catalog) StoreKey(path catalog.ObjectPath) string {
	s, err := c.store(path.Database)
	if err != nil {
		return "" // whoever uses the table next is told
	}
	return sqlite.Key(s.Path)
}

// ListTables returns the names of tables and views, sorted. A file that is yet to be made has none.
func (c *Catalog) ListTables(ctx context.Context, database string) ([]string, error) {
	return c.names(ctx, database, (*sqlite.Conn).Names)
}

// ListViews returns the names of views, sorted.
func (c *Catalog) ListViews(ctx context.Context, database string) ([]string, error) {
	return c.names(ctx, database, (*sqlite.Conn).Views)
}

func (c *Catalog) names(ctx context.Context, database string, list func(*sqlite.Conn) ([]string, error)) ([]string, error) {
	s, err := c.store(database)
	if err != nil || c.unmade(s) {
		return nil, err
	}
	var names []string
	err = s.Read(ctx, func(conn *sqlite.Conn) error {
		names, err = list(conn)
		return err
	})
	return names, err
}

// unmade reports whether the catalog's one file is not there yet.
func (c *Catalog) unmade(s *sqlite.Store) bool {
	if c.address.Dir {
		return false
	}
	_, err := os.Stat(s.Path)
	return os.IsNotExist(err)
}

// Table returns a table's or view's definition.
func (c *Catalog) Table(ctx context.Context, path catalog.ObjectPath) (*catalog.CatalogTable, error) {
	s, err := c.store(path.Database)
	if err != nil {
		return nil, err
	}
	var info *sqlite.TableInfo
	var names []string
	if !c.unmade(s) {
		err = s.Read(ctx, func(conn *sqlite.Conn) error {
			if info, err = s.Describe(conn, path.Object, true); err == nil && info == nil {
				names, err = conn.Names()
			}
			return err
		})
		var broken *sqlite.BrokenViewError
		switch {
		case errors.As(err, &broken):
			return nil, &fault{broken.Error(), catalog.ErrBrokenView}
		case err != nil:
			return nil, err
		}
	}
	if info == nil {
		return nil, missing(path, names)
	}
	t := &catalog.CatalogTable{Kind: catalog.KindTable, Schema: info.Schema(), Options: map[string]string{}, NativeText: info.SQL}
	if info.View {
		t.Kind = catalog.KindView
	}
	for _, col := range info.Columns {
		if col.Generated {
			t.ReadOnly = append(t.ReadOnly, col.Name)
		} else if col.Default {
			t.Defaults = append(t.Defaults, col.Name)
		}
	}
	return t, nil
}

// CreateTable makes an empty table.
func (c *Catalog) CreateTable(ctx context.Context, path catalog.ObjectPath, table *catalog.CatalogTable) (created bool, identity string, err error) {
	s, err := c.store(path.Database)
	if err != nil {
		return false, "", err
	}
	if err := checkTable(path.Object, table); err != nil {
		return false, "", err
	}
	identity, err = s.CreateTable(ctx, path.Object, table.Schema)
	return err == nil, identity, exists(err)
}

// exists turns SQLite's "exists" into the catalog's.
func exists(err error) error {
	var e *sqlite.ExistsError
	if errors.As(err, &e) {
		return &fault{e.Error(), catalog.ErrTableAlreadyExist}
	}
	return err
}

// DropTable drops a table.
func (c *Catalog) DropTable(ctx context.Context, path catalog.ObjectPath, identity string) error {
	s, err := c.store(path.Database)
	if err != nil {
		return err
	}
	err = sqlite.ErrNotThere
	if !c.unmade(s) {
		err = s.DropTable(ctx, path.Object, identity)
	}
	switch {
	case errors.Is(err, sqlite.ErrNotThere):
		return &fault{fmt.Sprintf("table %s does not exist in database %s", path.Object, path.Database), catalog.ErrTableNotExist}
	case errors.Is(err, sqlite.ErrChanged):
		return fmt.Errorf("table %s was changed by another session; it is not dropped: %w", path.Object, err)
	}
	return err
}

// DropView drops a view of SQLite's own.
func (c *Catalog) DropView(ctx context.Context, path catalog.ObjectPath) error {
	s, err := c.store(path.Database)
	if err == nil {
		err = s.DropView(ctx, path.Object)
	}
	if errors.Is(err, sqlite.ErrNotThere) {
		return &fault{fmt.Sprintf("view %s does not exist in database %s", path.Object, path.Database), catalog.ErrTableNotExist}
	}
	return err
}

// checkName refuses what cannot be a table's name.
func checkName(name string) error {
	switch {
	case sqlite.Reserved(name):
		return fmt.Errorf("the name %s is reserved: names that begin with sqlite_, _sluice or .sluice cannot be created", name)
	case name == "" || strings.IndexByte(name, 0) >= 0:
		return fmt.Errorf("%q cannot be a table's name in SQLite", name)
	}
	return nil
}

// checkTable refuses what a SQLite file cannot hold.
func checkTable(name string, t *catalog.CatalogTable) error {
	if err := checkName(name); err != nil {
		return err
	}
	switch {
	case t.Kind == catalog.KindView:
		return fmt.Errorf("a jdbc catalog keeps no views in Flink SQL; create %s in %s, or as TEMPORARY", name, catalog.DefaultCatalog)
	case len(t.Virtual) > 0:
		return &catalog.ColumnError{Column: t.Virtual[0].Name, Msg: fmt.Sprintf("column %s: a jdbc catalog keeps no computed and no metadata columns; create the table in %s, or as TEMPORARY", t.Virtual[0].Name, catalog.DefaultCatalog)}
	case t.Watermark != nil || len(t.PartitionKeys) > 0 || t.Distribution != nil:
		return fmt.Errorf("table %s: a jdbc catalog keeps no WATERMARK, no PARTITIONED BY and no DISTRIBUTED; create the table in %s, or as TEMPORARY", name, catalog.DefaultCatalog)
	case len(t.Schema.Columns) == 0:
		return fmt.Errorf("table %s has no columns", name)
	case len(t.Schema.Columns) > 2000:
		return fmt.Errorf("table %s has %d columns; SQLite takes at most 2,000", name, len(t.Schema.Columns))
	case len(t.Options) > 0:
		return fmt.Errorf("table %s: a jdbc catalog keeps no WITH options; create the table in %s, or as TEMPORARY", name, catalog.DefaultCatalog)
	}
	for i, col := range t.Schema.Columns {
		if why := badColumnName(col.Name); why != "" {
			return &catalog.ColumnError{Column: col.Name, Msg: why}
		}
		if _, reason := sqlite.DeclaredType(col.Type); reason != "" {
			return &catalog.ColumnError{Column: col.Name, Msg: fmt.Sprintf("column %s: %s", col.Name, reason)}
		}
		for j, other := range t.Schema.Columns[:i] {
			if foldASCII(other.Name) == foldASCII(col.Name) {
				return &catalog.ColumnError{Column: col.Name, Msg: fmt.Sprintf("columns %d (%s) and %d (%s): SQLite does not tell names apart by case; give one an alias", j+1, other.Name, i+1, col.Name)}
			}
		}
	}
	for _, k := range t.Schema.PrimaryKey {
		if t.Schema.Index(k) < 0 {
			return &catalog.ColumnError{Column: k, Msg: "PRIMARY KEY names a column that is not there: " + k}
		}
	}
	return nil
}

// foldASCII folds names as SQLite does: A to Z only.
func foldASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// Check says what the target of a CREATE TABLE would be.
func (c *Catalog) Check(ctx context.Context, path catalog.ObjectPath, table *catalog.CatalogTable, purpose catalog.Purpose) (*catalog.Check, error) {
	s, err := c.store(path.Database)
	if err != nil {
		return nil, err
	}
	if err := checkTable(path.Object, table); err != nil {
		return nil, err
	}
	mode, err := s.JournalMode(ctx)
	if err != nil {
		return nil, err
	}
	replaced, err := c.checkPlace(ctx, s, path, purpose, mode == "")
	if err != nil {
		return nil, err
	}
	if err := sqlite.Writable(s.Path); err != nil {
		return nil, err
	}
	sql, col, reason := sqlite.CreateSQL("", path.Object, table.Schema)
	if reason != "" {
		return nil, &catalog.ColumnError{Column: col, Msg: fmt.Sprintf("column %s: %s", col, reason)}
	}
	check := &catalog.Check{DDL: sql, Guarantee: catalog.Atomic, Reason: reasonFor(mode, s.Staging, replaced)}
	for _, column := range table.Schema.Columns {
		declared, _ := sqlite.DeclaredType(column.Type)
		t := column.Type
		if slices.Contains(table.Schema.PrimaryKey, column.Name) {
			t = t.AsNotNull()
		}
		check.Mapping = append(check.Mapping, catalog.Mapping{Column: column.Name, Type: t.String(), Stored: declared + ", kept as " + sqlite.StoredForm(column.Type)})
	}
	if mode != "" && mode != "wal" && !s.Staging && purpose != catalog.CreateTable {
		check.Notes = append(check.Notes, "other processes wait for the file while the rows are written; 'sink.staging' = 'true' keeps that short")
	}
	return check, nil
}

// checkPlace makes sure that the name is free, or has a table that can give way, and reports whether there is one.
func (c *Catalog) checkPlace(ctx context.Context, s *sqlite.Store, path catalog.ObjectPath, purpose catalog.Purpose, empty bool) (replaced bool, err error) {
	how := replaceOf(purpose)
	if empty {
		if how == sqlite.ReplaceOld {
			return false, missing(path, nil)
		}
		return false, nil
	}
	var names []string
	err = s.Read(ctx, func(conn *sqlite.Conn) error {
		if how == sqlite.ReplaceNever {
			return sqlite.Taken(conn, path.Object)
		}
		replaced, err = sqlite.CheckReplace(conn, path.Object, how)
		if errors.Is(err, sqlite.ErrNotThere) {
			var namesErr error
			if names, namesErr = conn.Names(); namesErr != nil {
				return namesErr
			}
		}
		return err
	})
	var taken *sqlite.ExistsError
	switch {
	case errors.Is(err, sqlite.ErrNotThere):
		return false, missing(path, names)
	case errors.As(err, &taken) && how != sqlite.ReplaceNever && taken.Taken == taken.Table:
		return false, &fault{fmt.Sprintf("%s is the name of %s %s, which is no table and cannot be replaced by one", path.Object, article(taken.Kind), taken.Kind), catalog.ErrTableAlreadyExist}
	}
	return replaced, exists(err)
}

func article(kind string) string {
	if kind == "index" {
		return "an"
	}
	return "a"
}

// missing is the error of a table that is not there; names are those that are.
func missing(path catalog.ObjectPath, names []string) error {
	msg := fmt.Sprintf("table %s does not exist in database %s", path.Object, path.Database)
	for _, n := range names {
		if strings.EqualFold(n, path.Object) {
			msg += fmt.Sprintf("; names are case-sensitive, did you mean %s?", connector.QuoteName(n))
		}
	}
	return &fault{msg, catalog.ErrTableNotExist}
}

func reasonFor(mode string, staging, replaced bool) string {
	if replaced {
		how := "the old table gives way to the new one in the SQLite transaction that writes its rows"
		if staging && mode != "wal" {
			how = "the rows are written to a scratch file; one short SQLite transaction copies them and removes the old table"
		}
		return how + "; until that commits the old one stands"
	}
	switch {
	case mode == "":
		return "the table is made and filled in one SQLite transaction of a new file"
	case mode == "wal":
		return "the table is made and filled in one SQLite transaction; readers of this WAL file are not disturbed"
	case staging:
		return "the rows are written to a scratch file and copied in one short SQLite transaction"
	}
	return "the table is made and filled in one SQLite transaction"
}

// Sweep removes the scratch files of jobs that are dead.
func (c *Catalog) Sweep(ctx context.Context, decide func(connector.JobID) catalog.Decision) (catalog.Report, error) {
	var report catalog.Report
	files, err := c.files()
	if err != nil {
		return report, nil // whoever uses the catalog is told; no remains are at fault
	}
	var errs []error
	for _, path := range files {
		removed, kept, err := sqlite.Sweep(ctx, path, func(job connector.JobID) bool { return decide(job) != catalog.Remove })
		report.Removed = append(report.Removed, removed...)
		report.Kept = append(report.Kept, kept...)
		errs = append(errs, err)
	}
	return report, errors.Join(errs...)
}
