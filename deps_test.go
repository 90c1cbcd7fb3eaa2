package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const module = "github.com/sluice-sql/sluice"

// house is the table of docs/architecture.md: the packages there may be, and what of the project each may
// import, name by name. Tests are exempt. What is not listed here may not exist: a new package is a line here
// first.
var house = []struct {
	pkg     string
	imports string
}{
	{"types", ""},
	{"sqlparse", "types"},
	{"column", "types"},
	{"expr", "types column"},
	{"connector", "types column expr"},
	{"connector/memory", "connector types column expr internal/failpoint"},
	{"connector/filesystem", "connector types column expr internal/failpoint"},
	{"connector/datagen", "connector types column"},
	{"connector/print", "connector types column"},
	{"connector/blackhole", "connector column"},
	{"connector/format/text", "connector types column"},
	{"connector/format/csv", "connector connector/format/text types column"},
	{"connector/format/json", "connector connector/format/text types column"},
	{"connector/jdbc", "connector connector/jdbc/server connector/jdbc/sqlite connector/jdbc/postgres connector/jdbc/mysql types column expr"},
	{"connector/jdbc/pushdown", "types column expr"},
	{"connector/jdbc/server", "connector types column expr"},
	{"connector/jdbc/sqlite", "connector connector/jdbc/pushdown types column expr internal/failpoint"},
	{"connector/jdbc/sqlite/faultfs", ""},
	{"connector/jdbc/postgres", "connector connector/jdbc/pushdown connector/jdbc/server types column expr internal/failpoint"},
	{"connector/jdbc/mysql", "connector connector/jdbc/pushdown connector/jdbc/server types column expr internal/failpoint"},
	{"catalog", "types column expr connector"},
	{"catalog/filestore", "catalog connector"},
	{"catalog/memory", "catalog connector connector/memory types column expr internal/failpoint"},
	{"catalog/jdbc", "catalog connector connector/jdbc connector/jdbc/server connector/jdbc/sqlite types column expr internal/failpoint"},
	{"hooks", "catalog connector"},
	{"job", "types column expr hooks catalog connector"},
	{"planner", "planner/bind planner/lower planner/optimize planner/plan sqlparse types column expr connector catalog hooks job"},
	{"planner/plan", "types column expr connector catalog job"},
	{"planner/bind", "planner/plan sqlparse types column expr connector catalog job"},
	{"planner/optimize", "planner/plan types column expr job"},
	{"planner/lower", "planner/plan types column expr connector catalog hooks job"},
	{"exec", "exec/store internal/failpoint types column expr connector catalog hooks job"},
	{"exec/store", "connector"},
	{"session", "planner exec exec/store sqlparse types column expr connector catalog catalog/filestore hooks job"},
	{"repl", "session sqlparse column types"},
	{"internal/testfile", ""},
	{"internal/testserver", ""},
	{"internal/failpoint", ""},
	{"internal/testrows", "connector column types"},
	{"internal/testformat", "connector column types internal/testfile"},
	{"docs", ""},
	{"scripts/bench", "expr column types internal/testserver"},
	{".", "*"},
}

// cgo stays inside the folder of the SQLite dialect.
const cgoFolder = "connector/jdbc/sqlite"

// forbidden are package names that say nothing of what is in the package.
var forbidden = []string{"util", "utils", "common", "helper", "helpers", "model", "models", "config", "engine", "misc", "base"}

type goPackage struct {
	ImportPath string
	Name       string
	Imports    []string
	CgoFiles   []string
	CFiles     []string
}

func packages(t *testing.T) []goPackage {
	out, err := exec.Command("go", "list", "-e", "-json=ImportPath,Name,Imports,CgoFiles,CFiles", "./...").Output()
	require.NoError(t, err)
	var list []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		list = append(list, p)
	}
	require.NotEmpty(t, list)
	return list
}

// inProject returns a package's path below the module, "." for the module itself.
func inProject(importPath string) (rel string, ok bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}

// TestArrowsPointDown holds the imports of every package against the table.
func TestArrowsPointDown(t *testing.T) {
	for _, p := range packages(t) {
		pkg, ok := inProject(p.ImportPath)
		require.True(t, ok, p.ImportPath)
		may, found := "", false
		for _, row := range house {
			if row.pkg == pkg {
				may, found = row.imports, true
				break
			}
		}
		if !found {
			t.Errorf("package %s is not in the table of the house", pkg)
			continue
		}
		for _, imported := range p.Imports {
			dep, ours := inProject(imported)
			if !ours {
				continue
			}
			allowed := false
			for _, name := range strings.Fields(may) {
				allowed = allowed || name == "*" || name == dep
			}
			if !allowed {
				t.Errorf("%s imports %s; it may import: %s", pkg, dep, may)
			}
		}
	}
}

// TestHouseRules checks what the table cannot say: where cgo may be, and names that say nothing.
func TestHouseRules(t *testing.T) {
	for _, p := range packages(t) {
		pkg, _ := inProject(p.ImportPath)
		if len(p.CgoFiles)+len(p.CFiles) > 0 && pkg != cgoFolder && !strings.HasPrefix(pkg, cgoFolder+"/") {
			t.Errorf("%s uses cgo; cgo belongs into %s", pkg, cgoFolder)
		}
		for _, name := range forbidden {
			if path.Base(pkg) == name || p.Name == name {
				t.Errorf("package %s: %q says nothing of what is in it", pkg, name)
			}
		}
	}
}

// TestTheThreeAbsences names the arrows that carry the design, also where they would be indirect.
func TestTheThreeAbsences(t *testing.T) {
	list := packages(t)
	imports := map[string][]string{}
	for _, p := range list {
		imports[p.ImportPath] = p.Imports
	}
	reaches := func(from, to string) bool {
		seen := map[string]bool{}
		var walk func(string) bool
		walk = func(p string) bool {
			if p == to || strings.HasPrefix(p, to+"/") {
				return true
			}
			if seen[p] {
				return false
			}
			seen[p] = true
			for _, dep := range imports[p] {
				if walk(dep) {
					return true
				}
			}
			return false
		}
		for _, dep := range imports[from] {
			if walk(dep) {
				return true
			}
		}
		return false
	}
	for _, p := range list {
		pkg, _ := inProject(p.ImportPath)
		top, _, _ := strings.Cut(pkg, "/")
		for _, ban := range []struct{ from, to string }{
			{"exec", "planner"}, {"exec", "sqlparse"}, {"planner", "exec"}, {"catalog", "sqlparse"}, {"job", "sqlparse"},
		} {
			if top == ban.from && reaches(p.ImportPath, module+"/"+ban.to) {
				t.Errorf("%s reaches %s; %s must never know %s", pkg, ban.to, ban.from, ban.to)
			}
		}
	}
}
