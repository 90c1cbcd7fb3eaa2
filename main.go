// Sluice is a SQL shell and engine that speaks the Flink SQL dialect. This file wires it: flags, the
// environment of the process, and the visible lists of catalogs and connectors.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // zones must not depend on the machine

	"github.com/sluice-sql/sluice/catalog"
	jdbccatalog "github.com/sluice-sql/sluice/catalog/jdbc"
	memorycatalog "github.com/sluice-sql/sluice/catalog/memory"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/blackhole"
	"github.com/sluice-sql/sluice/connector/datagen"
	"github.com/sluice-sql/sluice/connector/filesystem"
	"github.com/sluice-sql/sluice/connector/format/csv"
	"github.com/sluice-sql/sluice/connector/format/json"
	"github.com/sluice-sql/sluice/connector/jdbc"
	"github.com/sluice-sql/sluice/connector/jdbc/sqlite"
	"github.com/sluice-sql/sluice/connector/print"
	"github.com/sluice-sql/sluice/internal/failpoint"
	"github.com/sluice-sql/sluice/repl"
	"github.com/sluice-sql/sluice/session"
	"github.com/sluice-sql/sluice/sqlparse"
)

// version is set by the linker.
var version = "development"

// catalogs are the catalog types there are.
func catalogs() []catalog.Factory {
	return []catalog.Factory{memorycatalog.Factory{}, jdbccatalog.Factory{}}
}

// connectors are what a table's 'connector' option can name.
func connectors(files *connector.Files) []connector.Factory {
	return []connector.Factory{
		jdbc.Connector{},
		filesystem.Connector{Formats: []connector.Format{csv.Format{}, json.Format{}}, Files: files},
		datagen.Connector{},
		print.Connector{},
		blackhole.Connector{},
	}
}

func main() {
	code := start(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	failpoint.Left()
	os.Exit(code)
}

// start runs the program and returns its exit code.
func start(args []string, stdin, stdout, stderr *os.File) int {
	a, code, done := parse(args, stdout, stderr)
	if done {
		return code
	}
	screen := repl.NewScreen(stdin, stdout, stderr)
	env := &connector.Env{
		Clock:    time.Now,
		TempDir:  os.TempDir(),
		StateDir: stateDir(),
		Memory:   connector.NewMemoryOf(memoryBudget),
		Files:    connector.NewFiles(),
		Waits:    &connector.Waits{},
		Out:      screen.Out(),
		Err:      screen.Err(),
	}
	s, err := session.New(session.Config{Env: env, Catalogs: catalogs(), Connectors: connectors(env.Files), Options: a.options})
	if err != nil {
		complain(stderr, "sluice: %v\n", err)
		return 2
	}
	cfg := repl.Config{Session: s, Screen: screen, History: history(env.StateDir), Version: version}
	if a.history != nil {
		cfg.History = *a.history
	}
	ctx := context.Background()
	code = initialise(ctx, a, cfg, stderr)
	if code == 0 {
		stop := repl.Watch(cfg)
		code = openFiles(ctx, s, a.catalogs, stderr)
		stop()
	}
	if code == 0 {
		code = serve(ctx, a, cfg)
	}
	if err := s.Close(); err != nil {
		complain(stderr, "sluice: %v\n", err)
		code = max(code, 1)
	}
	return code
}

// initialise runs the init files: the user's own, which greets nobody but a user, and those of the command
// line. What the command line says of an option stands against them.
func initialise(ctx context.Context, a arguments, cfg repl.Config, stderr io.Writer) int {
	given := map[string]string{}
	for key := range a.options {
		given[key] = cfg.Session.Option(key)
	}
	ran := len(a.inits) > 0
	if own := configFile("init.sql"); own != "" && !a.noInit && len(a.files)+len(a.commands) == 0 && cfg.Screen.Interactive() {
		if _, err := os.Stat(own); err == nil {
			ran = true
			repl.RunInit(ctx, cfg, own) // an error has been said, and locks nobody out of the shell
		}
	}
	for _, name := range a.inits {
		if code := repl.RunInit(ctx, cfg, name); code != 0 {
			return code
		}
	}
	if !ran {
		return 0
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if cfg.Session.Option(key) == given[key] {
			continue
		}
		if _, err := cfg.Session.Execute(ctx, session.Text{SQL: "SET " + quote(key) + " = " + quote(a.options[key])}); err != nil {
			complain(stderr, "sluice: -D %s: %v\n", key, err)
			return 2
		}
	}
	return 0
}

// quote writes a text as SQL does.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// serve runs what the command line asks for, up to the first that fails; else the shell.
func serve(ctx context.Context, a arguments, cfg repl.Config) (code int) {
	if len(a.files)+len(a.commands) == 0 {
		return repl.Run(ctx, cfg)
	}
	for _, name := range a.files {
		c := repl.RunScript(ctx, cfg, name)
		if code = max(code, c); c > 1 || c == 1 && !continues(cfg) {
			return c
		}
	}
	for _, sql := range a.commands {
		c := repl.RunCommand(ctx, cfg, sql)
		if code = max(code, c); c > 1 || c == 1 && !continues(cfg) {
			return c
		}
	}
	return code
}

// continues reports whether an error does not end what is to be run.
func continues(cfg repl.Config) bool { return cfg.Session.Option("sluice.on-error") == "continue" }

// versions is the text of --version.
func versions() string {
	return fmt.Sprintf("sluice %s\nGo %s\nSQLite %s\n", version, strings.TrimPrefix(runtime.Version(), "go"), sqlite.Version())
}

// history is the file of the shell's history; "" keeps none.
func history(stateDir string) string {
	if stateDir == "" {
		return ""
	}
	return filepath.Join(stateDir, "history")
}

// openHint says what a word of the command line that is no file was meant to be.
func openHint(path string, paths []string) string {
	word := strings.ToUpper(path)
	if first, _, _ := strings.Cut(word, " "); path == paths[0] && filepath.Ext(path) == "" {
		if word == "HELP" || word == "VERSION" {
			return "sluice --" + strings.ToLower(word)
		}
		for _, f := range sqlparse.Forms() {
			if lead, _, _ := strings.Cut(f.Name, " "); lead == first {
				return "sluice -c \"" + strings.Join(paths, " ") + "\" runs a statement"
			}
		}
	}
	return "an empty file is a new database: touch FILE.db makes one"
}

// openFiles opens SQLite files as catalogs named by their stems; the last one becomes current. Their tables
// are listed so that what is no SQLite file is found out now, and by SQLite.
func openFiles(ctx context.Context, s *session.Session, paths []string, stderr io.Writer) int {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			complain(stderr, "sluice: cannot open %s: %v\nhint: %s\n", path, errors.Unwrap(err), openHint(path, paths))
			return 2
		}
		extension := filepath.Ext(path)
		name := strings.TrimSuffix(filepath.Base(path), extension)
		err = s.OpenCatalog(ctx, name, map[string]string{"type": "jdbc", "base-url": "jdbc:sqlite:" + path})
		open := []string{"USE CATALOG " + connector.QuoteName(name)}
		if !info.IsDir() { // the files of a directory are opened as they are used
			open = append(open, "SHOW TABLES")
		}
		for _, sql := range open {
			if err == nil {
				_, err = s.Execute(ctx, session.Text{SQL: sql})
			}
		}
		if err != nil {
			complain(stderr, "sluice: open %s: %v\n", path, err)
			switch {
			case errors.Is(err, catalog.ErrCatalogAlreadyExist):
				complain(stderr, "hint: catalogs are named after their files, and two cannot have one name; in the shell CREATE CATALOG opens a file by any name\n")
			case extension == ".csv" || extension == ".json":
				complain(stderr, "hint: a file is read as a table: CREATE TABLE t WITH ('connector' = 'filesystem', 'path' = %s, 'format' = %s) in the shell lists its columns\n", quote(path), quote(extension[1:]))
			case extension != ".db" && extension != ".sqlite" && extension != ".sqlite3":
				complain(stderr, "hint: if it is a script, sluice -f %s runs it\n", path)
			}
			return 1
		}
	}
	return 0
}

// complain prints to standard error what may hold names and errors of any kind.
func complain(stderr io.Writer, format string, args ...any) {
	fmt.Fprint(stderr, repl.Visible(fmt.Sprintf(format, args...)))
}

// stateDir is where journals are kept; "" when there is no home to keep them in.
func stateDir() string {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "sluice")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "state", "sluice")
}

// configFile is a file of the user's configuration; "" when there is no home to keep it in.
func configFile(name string) string {
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "sluice", name)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".config", "sluice", name)
}
