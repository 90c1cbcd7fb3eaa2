package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/pflag"

	"github.com/sluice-sql/sluice/session"
)

// cliFlag is one flag of the command line. The table of them is what the parser, --help, the manual page and
// the completion scripts are made of.
type cliFlag struct {
	name, short string
	value       string // what stands for its value; "" for a switch
	repeated    bool
	doc         string   // its line in --help
	more        string   // what the manual adds
	words       []string // the values there are
	keys        bool     // the value is an option's key, = and its value
	files       bool     // the value is a file's name
	hidden      bool     // not in --help, which has to fit a screen
}

// flags is the table.
func flags() []cliFlag {
	return []cliFlag{
		{name: "file", short: "f", value: "FILE", repeated: true, files: true, doc: `run the statements of FILE; may be repeated`,
			more: `"-" is standard input. Several are run one after the other.`},
		{name: "command", short: "c", value: "SQL", repeated: true, doc: "run SQL; may be repeated",
			more: "The last statement needs no semicolon."},
		{name: "init", short: "i", value: "FILE", repeated: true, files: true, doc: "first run FILE: its definitions, SET and USE",
			more: "What would run a job or print rows is refused there. An error ends the program with exit code 1."},
		{name: "no-init", doc: "do not run ~/.config/sluice/init.sql",
			more: "That file is an --init for shells on a terminal; $XDG_CONFIG_HOME moves it."},
		{name: "define", short: "D", value: "KEY=VALUE", repeated: true, keys: true, doc: "set an option, as SET does; may be repeated",
			more: "It stands against what an init file says."},
		{name: "format", value: "FORMAT", words: allowed("sluice.format"), doc: "how rows are printed: tableau, csv, json, ...",
			more: "The same as -D sluice.format=FORMAT."},
		{name: "output", value: "FILE", files: true, doc: "the file that rows are written to",
			more: "The same as -D sluice.output=FILE. Each result is written whole or not at all: the first takes the place of what FILE held, the next are appended, also those of further -c and -f. Whatever is printed as rows goes there, such as SHOW and EXPLAIN."},
		{name: "on-error", value: "ACTION", words: []string{"stop", "continue"}, doc: "what a script does at an error: stop or continue",
			more: "The same as -D sluice.on-error=ACTION. A script that went on ends with exit code 1 all the same, and says how many statements failed."},
		{name: "history", value: "FILE", files: true, doc: "where statements typed are kept; '' keeps none",
			more: "Without it: ~/.local/state/sluice/history; $XDG_STATE_HOME moves it. Secrets are masked in it."},
		{name: "completion", value: "SHELL", words: []string{"bash", "zsh", "fish"}, hidden: true, doc: "print the completion script of a shell"},
		{name: "help", short: "h", doc: "show this text"},
		{name: "version", doc: "show the versions of sluice, Go and SQLite"},
	}
}

// allowed are the values that an option of SET has.
func allowed(key string) []string {
	for _, o := range session.Options() {
		if o.Key == key {
			return o.Allowed
		}
	}
	return nil
}

// spelling is a flag as it is written, with what stands for its value.
func (f cliFlag) spelling() string {
	s := "    --" + f.name
	if f.short != "" {
		s = "-" + f.short + ", --" + f.name
	}
	if f.value != "" {
		s += " " + f.value
	}
	return s
}

// The parts of --help around the flags, which are parts of the manual too.
const tagline = "SQL shell and engine: Flink's SQL, tables made all or nothing"

func synopses() [][2]string {
	return [][2]string{
		{"sluice [FILE.db ...]", "shell; each SQLite file is opened as a catalog"},
		{"sluice -f script.sql", "run a file (\"-\": standard input) and leave"},
		{"sluice -c 'SELECT 1 + 1'", "run statements and leave"},
		{"sluice < script.sql", "the same as -f"},
	}
}

// exitCode is one of the codes the program ends with.
type exitCode struct {
	code int
	doc  string
}

func exitCodes() []exitCode {
	return []exitCode{
		{0, "ok"}, {1, "SQL or job error"}, {2, "usage"}, {129, "hang-up"}, {130, "interrupt"},
		{141, "nobody reads the output"}, {143, "terminate"},
	}
}

// help is the text of --help.
func help() string {
	var b strings.Builder
	b.WriteString("sluice — " + tagline + "\n\n")
	width := 0
	for _, f := range flags() {
		width = max(width, len(f.spelling()))
	}
	line := func(left, right string) { fmt.Fprintf(&b, "  %-*s  %s\n", width, left, right) }
	for _, s := range synopses() {
		line(s[0], s[1])
	}
	b.WriteByte('\n')
	for _, f := range flags() {
		if !f.hidden {
			line(f.spelling(), f.doc)
		}
	}
	b.WriteByte('\n')
	text := "Results go to standard output, everything else to standard error. Exit codes: "
	for i, e := range exitCodes() {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%d %s", e.code, e.doc)
	}
	text += `. In the shell HELP; lists the statements, \? the short forms, SET; the options.`
	b.WriteString(wrap(text, 79))
	return b.String()
}

// wrap breaks a text into lines of a width.
func wrap(text string, width int) string {
	var b strings.Builder
	at := 0
	for _, w := range strings.Fields(text) {
		n := runewidth.StringWidth(w)
		switch {
		case at == 0:
		case at+1+n > width:
			b.WriteByte('\n')
			at = 0
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(w)
		at += n
	}
	b.WriteByte('\n')
	return b.String()
}

// arguments are the command line.
type arguments struct {
	files, commands, inits []string
	noInit                 bool
	options                map[string]string
	history                *string  // nil: the usual place
	catalogs               []string // SQLite files to open
}

// parse reads the command line. done is true when there is nothing left to do but leave with code.
func parse(args []string, stdout, stderr io.Writer) (a arguments, code int, done bool) {
	set := pflag.NewFlagSet("sluice", pflag.ContinueOnError)
	set.SetOutput(io.Discard)
	lists, switches := map[string]*[]string{}, map[string]*bool{}
	for _, f := range flags() {
		if f.value == "" {
			switches[f.name] = set.BoolP(f.name, f.short, false, "")
		} else {
			lists[f.name] = set.StringArrayP(f.name, f.short, nil, "")
		}
	}
	fail := func(format string, args ...any) (arguments, int, bool) {
		complain(stderr, "sluice: "+format+"\nsluice --help says more.\n", args...)
		return arguments{}, 2, true
	}
	if err := set.Parse(args); err != nil {
		return fail("%v", err)
	}
	for _, f := range flags() {
		if f.value == "" {
			continue
		}
		given := *lists[f.name]
		if len(given) > 1 && !f.repeated {
			return fail("--%s is given more than once", f.name)
		}
		for _, v := range given {
			if f.words != nil && !slices.Contains(f.words, v) {
				return fail("--%s %s: expected one of %s", f.name, v, strings.Join(f.words, ", "))
			}
		}
	}
	one := func(name string) (string, bool) {
		if l := *lists[name]; len(l) == 1 {
			return l[0], true
		}
		return "", false
	}
	shellName, completes := one("completion")
	switch {
	case *switches["help"]:
		fmt.Fprint(stdout, help())
		return a, 0, true
	case *switches["version"]:
		fmt.Fprint(stdout, versions())
		return a, 0, true
	case completes:
		fmt.Fprint(stdout, completion(shellName))
		return a, 0, true
	case len(*lists["file"]) > 0 && len(*lists["command"]) > 0:
		return fail("-f and -c cannot be given together")
	}
	a = arguments{files: *lists["file"], commands: *lists["command"], inits: *lists["init"], noInit: *switches["no-init"],
		options: map[string]string{}, catalogs: set.Args()}
	for _, d := range *lists["define"] {
		key, value, ok := strings.Cut(d, "=")
		if !ok || key == "" {
			return fail("-D %s: expected KEY=VALUE", d)
		}
		a.options[key] = value
	}
	for _, name := range []string{"format", "output", "on-error"} {
		if v, ok := one(name); ok {
			a.options["sluice."+name] = v
		}
	}
	if v, ok := one("history"); ok {
		a.history = &v
	}
	return a, 0, false
}
