// Sluice is a SQL shell and engine that speaks the Flink SQL dialect. This file wires it: flags, the
// environment of the process, and the visible lists of catalogs and connectors.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones must not depend on the machine

	"github.com/spf13/pflag"

	"github.com/sluice-sql/sluice/catalog"
	jdbccatalog "github.com/sluice-sql/sluice/catalog/jdbc"
	memorycatalog "github.com/sluice-sql/sluice/catalog/memory"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc"
	"github.com/sluice-sql/sluice/repl"
	"github.com/sluice-sql/sluice/session"
)

// version is set by the linker.
var version = "development"

// catalogs are the catalog types there are.
func catalogs() []catalog.Factory {
	return []catalog.Factory{memorycatalog.Factory{}, jdbccatalog.Factory{}}
}

// connectors are what a table's 'connector' option can name.
func connectors() []connector.Factory {
	return []connector.Factory{jdbc.Connector{}}
}

const usage = `sluice — SQL shell and engine: Flink's SQL, tables made all or nothing

  sluice [FILE.db ...]         shell; each SQLite file is opened as a catalog
  sluice -f script.sql         run a file ("-": standard input) and leave
  sluice -c 'SELECT 1 + 1'     run statements and leave
  sluice < script.sql          the same as -f

Options
  -f, --file FILE          run the statements of FILE; may be repeated
  -c, --command SQL        run SQL; may be repeated
  -D, --define KEY=VALUE   set an option, as SET does; may be repeated
      --format FORMAT      how rows are printed: tableau, csv, json, markdown
  -h, --help               show this text
      --version            show the version

Examples
  sluice shop.db -c 'SELECT * FROM orders'
  sluice --format csv -c "VALUES (1, 'a'), (2, 'b')" > rows.csv
  sluice -D table.local-time-zone=UTC -f nightly.sql

Results go to standard output, everything else to standard error. A script stops
at its first error. Exit codes: 0 ok, 1 SQL or job error, 2 usage, 129 hang-up,
130 interrupt, 141 reader of the output is gone, 143 terminate.
HELP; in the shell lists the statements, SET; the options.
`

func main() { os.Exit(start(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// arguments are the command line.
type arguments struct {
	files, commands []string
	options         map[string]string
	catalogs        []string // SQLite files to open
}

// parse reads the command line. done is true when there is nothing left to do but leave with code.
func parse(args []string, stdout, stderr io.Writer) (a arguments, code int, done bool) {
	flags := pflag.NewFlagSet("sluice", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	files := flags.StringArrayP("file", "f", nil, "")
	commands := flags.StringArrayP("command", "c", nil, "")
	defines := flags.StringArrayP("define", "D", nil, "")
	format := flags.String("format", "", "")
	help := flags.BoolP("help", "h", false, "")
	showVersion := flags.Bool("version", false, "")
	fail := func(format string, args ...any) (arguments, int, bool) {
		fmt.Fprintf(stderr, "sluice: "+format+"\nsluice --help says more.\n", args...)
		return arguments{}, 2, true
	}
	if err := flags.Parse(args); err != nil {
		return fail("%v", err)
	}
	switch {
	case *help:
		fmt.Fprint(stdout, usage)
		return a, 0, true
	case *showVersion:
		fmt.Fprintln(stdout, "sluice "+version)
		return a, 0, true
	case len(*files) > 0 && len(*commands) > 0:
		return fail("-f and -c cannot be given together")
	}
	a = arguments{files: *files, commands: *commands, options: map[string]string{}, catalogs: flags.Args()}
	for _, d := range *defines {
		key, value, ok := strings.Cut(d, "=")
		if !ok || key == "" {
			return fail("-D %s: expected KEY=VALUE", d)
		}
		a.options[key] = value
	}
	if *format != "" {
		a.options["sluice.format"] = *format
	}
	return a, 0, false
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
		Out:      screen.Out(),
		Err:      screen.Err(),
	}
	s, err := session.New(session.Config{Env: env, Catalogs: catalogs(), Connectors: connectors(), Options: a.options})
	if err != nil {
		fmt.Fprintf(stderr, "sluice: %v\n", err)
		return 2
	}
	ctx := context.Background()
	code = openFiles(ctx, s, a.catalogs, stderr)
	if code == 0 {
		code = serve(ctx, a, repl.Config{Session: s, Screen: screen, History: history(env.StateDir), Version: version})
	}
	if err := s.Close(); err != nil {
		fmt.Fprintf(stderr, "sluice: %v\n", err)
		code = max(code, 1)
	}
	return code
}

// serve runs what the command line asks for, up to the first that fails; else the shell.
func serve(ctx context.Context, a arguments, cfg repl.Config) (code int) {
	if len(a.files)+len(a.commands) == 0 {
		return repl.Run(ctx, cfg)
	}
	for _, name := range a.files {
		if code = repl.RunScript(ctx, cfg, name); code != 0 {
			return code
		}
	}
	for _, sql := range a.commands {
		if code = repl.RunCommand(ctx, cfg, sql); code != 0 {
			return code
		}
	}
	return 0
}

// history is the file of the shell's history; "" keeps none.
func history(stateDir string) string {
	if stateDir == "" {
		return ""
	}
	return filepath.Join(stateDir, "history")
}

// openFiles opens SQLite files as catalogs named by their stems; the last one becomes current. Their tables
// are listed so that what is no SQLite file is found out now, and by SQLite.
func openFiles(ctx context.Context, s *session.Session, paths []string, stderr io.Writer) int {
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			fmt.Fprintf(stderr, "sluice: cannot open %s: %v\n", path, errors.Unwrap(err))
			return 2
		}
		extension := filepath.Ext(path)
		name := strings.TrimSuffix(filepath.Base(path), extension)
		open := []string{
			"CREATE CATALOG " + connector.QuoteName(name) + " WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:" + strings.ReplaceAll(path, "'", "''") + "')",
			"USE CATALOG " + connector.QuoteName(name),
		}
		if !info.IsDir() { // the files of a directory are opened as they are used
			open = append(open, "SHOW TABLES")
		}
		for _, sql := range open {
			if _, err := s.Execute(ctx, session.Text{SQL: sql}); err != nil {
				fmt.Fprintf(stderr, "sluice: open %s: %v\n", path, err)
				if extension != ".db" && extension != ".sqlite" {
					fmt.Fprintf(stderr, "hint: if it is a script, sluice -f %s runs it\n", path)
				}
				return 1
			}
		}
	}
	return 0
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

// memoryBudget is a quarter of what the machine, or the control group the process is in, has.
func memoryBudget() int64 {
	total := int64(2 << 30) // for a machine that does not say
	if n, ok := meminfo(); ok {
		total = n
	}
	if n, ok := cgroupLimit(); ok {
		total = min(total, n)
	}
	return max(total/4, 64<<20)
}

func meminfo() (int64, bool) {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	line, _, _ := strings.Cut(string(b), "\n") // MemTotal comes first
	f := strings.Fields(line)
	if len(f) < 2 || f[0] != "MemTotal:" {
		return 0, false
	}
	kb, err := strconv.ParseInt(f[1], 10, 64)
	return kb << 10, err == nil
}

// cgroupLimit is the smallest limit of the process's control group and those above it, in either of the
// two hierarchies that Linux has.
func cgroupLimit() (limit int64, ok bool) {
	b, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	look := func(file string) {
		text, err := os.ReadFile(file)
		if err != nil {
			return
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // "max" is none
		if err == nil && n > 0 && n < 1<<60 && (!ok || n < limit) {
			limit, ok = n, true
		}
	}
	for _, line := range strings.Split(string(b), "\n") {
		f := strings.SplitN(line, ":", 3)
		if len(f) < 3 {
			continue
		}
		root, file := "/sys/fs/cgroup", "memory.max"
		if f[0] != "0" {
			if !strings.Contains(","+f[1]+",", ",memory,") {
				continue
			}
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		for dir := filepath.Clean("/" + f[2]); ; dir = filepath.Dir(dir) {
			look(filepath.Join(root, dir, file))
			if dir == "/" {
				break
			}
		}
	}
	return limit, ok
}
