package jdbc

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Dialects are the databases that can be reached.
func Dialects() []string { return []string{"sqlite"} }

// Address is a parsed jdbc URL.
type Address struct {
	Dialect string
	Path    string // sqlite: a file, or a directory of databases; clean, without a trailing slash
	Dir     bool
}

// ParseURL reads jdbc:sqlite:PATH. A path that ends in a slash, or at which there is a directory, is a
// directory of databases.
func ParseURL(url string) (Address, error) {
	rest, ok := strings.CutPrefix(url, "jdbc:")
	dialect, path, ok2 := strings.Cut(rest, ":")
	if !ok || !ok2 || dialect == "" {
		return Address{}, fmt.Errorf("'%s' is not a jdbc address; write for example jdbc:sqlite:/path/shop.db", url)
	}
	if dialect != "sqlite" {
		return Address{}, fmt.Errorf("the jdbc dialect '%s' is not supported; supported: '%s'", dialect, strings.Join(Dialects(), "', '"))
	}
	switch {
	case path == "":
		return Address{}, fmt.Errorf("'%s' names no file; write for example jdbc:sqlite:/path/shop.db, or jdbc:sqlite:/path/ for a directory of databases", url)
	case path == ":memory:":
		return Address{}, fmt.Errorf("'%s': an in-memory SQLite database is seen by one connection only; use a catalog of type 'generic_in_memory'", url)
	case strings.HasPrefix(path, "file:") || strings.Contains(path, "?"):
		return Address{}, fmt.Errorf("'%s': write a plain path; SQLite's URI parameters are not taken", url)
	case strings.IndexByte(path, 0) >= 0:
		return Address{}, fmt.Errorf("the address contains a NUL character")
	}
	a := Address{Dialect: dialect, Dir: strings.HasSuffix(path, "/"), Path: filepath.Clean(path)}
	if st, err := os.Stat(a.Path); err == nil && st.IsDir() {
		a.Dir = true
	}
	return a, nil
}

// String returns the address as a URL; that of a directory ends in a slash.
func (a Address) String() string {
	s := "jdbc:" + a.Dialect + ":" + a.Path
	if a.Dir && !strings.HasSuffix(s, "/") {
		s += "/"
	}
	return s
}

// Absolute returns the address with its path made absolute.
func (a Address) Absolute() (Address, error) {
	p, err := filepath.Abs(a.Path)
	a.Path = p
	return a, err
}
