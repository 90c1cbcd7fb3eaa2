package jdbc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/sqlite"
)

// suffixes are those of the files that a directory's databases are; the first is given to new ones.
func suffixes() []string { return []string{".db", ".sqlite", ".sqlite3"} }

// stem returns a file's name without its suffix.
func stem(file string) string { return strings.TrimSuffix(file, filepath.Ext(file)) }

// files returns the database files by name. Two files of one stem are an error.
func (c *Catalog) files() (map[string]string, error) {
	if !c.address.Dir {
		return map[string]string{c.DefaultDatabase(): c.address.Path}, nil
	}
	entries, err := os.ReadDir(c.address.Path)
	if err != nil {
		return nil, dirError(c.address.Path, err)
	}
	found := map[string]string{}
	for _, e := range entries {
		name := e.Name()
		if !slices.Contains(suffixes(), filepath.Ext(name)) || strings.HasPrefix(name, ".") {
			continue
		}
		path := filepath.Join(c.address.Path, name)
		if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
			continue
		}
		if other, ok := found[stem(name)]; ok {
			return nil, fmt.Errorf("catalog %s: the files %s and %s would both be the database %s; rename one", c.name, filepath.Base(other), name, stem(name))
		}
		found[stem(name)] = path
	}
	return found, nil
}

// Probe makes sure that the file is SQLite's, as far as that can be seen without waiting. The files of a
// directory are looked at when they are used.
func (c *Catalog) Probe(context.Context) error {
	if c.address.Dir {
		return nil
	}
	s, err := c.store(c.DefaultDatabase())
	if err != nil {
		return err
	}
	return s.Probe()
}

// Missing says that the file is not there yet.
func (c *Catalog) Missing() string {
	if c.address.Dir {
		return ""
	}
	if _, err := os.Stat(c.address.Path); !os.IsNotExist(err) {
		return ""
	}
	return "there is no file " + c.address.Path + " yet; the first CREATE TABLE makes it"
}

// Files returns the paths of the database files.
func (c *Catalog) Files() []string {
	files, err := c.files()
	if err != nil {
		return nil // whoever uses the catalog is told
	}
	return slices.Collect(maps.Values(files))
}

func dirError(dir string, err error) error {
	switch {
	case os.IsNotExist(err):
		return fmt.Errorf("the directory %s does not exist", dir)
	case os.IsPermission(err):
		return fmt.Errorf("the directory %s cannot be read: permission denied", dir)
	}
	return err
}

// store returns the file of a database.
func (c *Catalog) store(database string) (*sqlite.Store, error) {
	files, err := c.files()
	if err != nil {
		return nil, err
	}
	path, ok := files[database]
	if !ok {
		return nil, &fault{fmt.Sprintf("database %s does not exist in catalog %s", database, c.name), catalog.ErrDatabaseNotExist}
	}
	s := sqlite.NewStore(path, c.properties, c.env)
	s.Alter = "ALTER CATALOG " + connector.QuoteName(c.name)
	return s, nil
}

// ListDatabases returns the databases' names, sorted.
func (c *Catalog) ListDatabases(context.Context) ([]string, error) {
	files, err := c.files()
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(files))
	for n := range files {
		names = append(names, n)
	}
	sort.Strings(names)
	return names, nil
}

// DefaultDatabase is the option's, else the file's stem; of a directory the first database.
func (c *Catalog) DefaultDatabase() string {
	if db := c.properties["default-database"]; db != "" {
		return db
	}
	if !c.address.Dir {
		return stem(filepath.Base(c.address.Path))
	}
	names, err := c.ListDatabases(context.Background())
	if err != nil || len(names) == 0 {
		return "main"
	}
	return names[0]
}

// Database describes a database.
func (c *Catalog) Database(_ context.Context, name string) (*catalog.Database, error) {
	if _, err := c.store(name); err != nil {
		return nil, err
	}
	return &catalog.Database{}, nil
}

// CreateDatabase makes a database file in the directory.
func (c *Catalog) CreateDatabase(ctx context.Context, name string, db catalog.Database) error {
	if !c.address.Dir {
		return fmt.Errorf("catalog %s is the one file %s; a catalog whose 'base-url' is a directory, such as 'jdbc:sqlite:%s/', can have more databases", c.name, c.address.Path, filepath.Dir(c.address.Path))
	}
	if db.Comment != "" || len(db.Options) > 0 {
		return errors.New("a SQLite file keeps no comment and no properties of a database")
	}
	if why := badFileName(name); why != "" {
		return fmt.Errorf("database name %q cannot be a file's name: %s", name, why)
	}
	files, err := c.files()
	if err != nil {
		return err
	}
	if _, ok := files[name]; ok {
		return &fault{fmt.Sprintf("database %s already exists in catalog %s", name, c.name), catalog.ErrDatabaseAlreadyExist}
	}
	return sqlite.NewStore(filepath.Join(c.address.Path, name+suffixes()[0]), c.properties, c.env).CreateFile(ctx)
}

func badFileName(name string) string {
	switch {
	case name == "":
		return "it is empty"
	case strings.ContainsAny(name, "/\\\x00"):
		return "it contains a slash or NUL"
	case strings.HasPrefix(name, "."):
		return "it begins with a dot"
	case len(name) > 200:
		return "it is longer than 200 bytes"
	case sqlite.Reserved(name):
		return "it is reserved"
	}
	return ""
}

// DropDatabase removes a database file of the directory.
func (c *Catalog) DropDatabase(ctx context.Context, name string, cascade bool) error {
	if !c.address.Dir {
		return fmt.Errorf("catalog %s is the one file %s, which is not dropped; drop its tables", c.name, c.address.Path)
	}
	s, err := c.store(name)
	if err != nil {
		return err
	}
	if err = s.DropFile(ctx, cascade); errors.Is(err, sqlite.ErrNotEmpty) {
		return &fault{fmt.Sprintf("database %s has tables; drop them first, or write CASCADE", name), catalog.ErrDatabaseNotEmpty}
	}
	return err
}
