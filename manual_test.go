package main

import (
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/repl"
)

// manual is the manual page, docs/sluice.1, in the man macros of roff.
func manual() string {
	var b strings.Builder
	b.WriteString(`.\" Printed from the tables of flags and commands: go test . -run TestManual -update` + "\n")
	b.WriteString(".TH SLUICE 1 \"2026-11-30\" \"Sluice\" \"User Commands\"\n.SH NAME\nsluice \\- " + roff(tagline) + "\n.SH SYNOPSIS\n")
	b.WriteString(".B sluice\n.RI [ options ]\n.RI [ FILE.db \" ...]\"\n.SH DESCRIPTION\n")
	paragraphs := []string{
		"Sluice is a SQL shell with its own engine. It speaks the SQL of Apache Flink, reads and writes SQLite databases, PostgreSQL, MySQL and MariaDB servers, and files, and makes tables all or nothing: a CREATE TABLE AS that fails, is interrupted or is killed leaves nothing behind, and nobody sees a table before it is whole.",
		"Without -f and -c it talks to the user when there is a terminal; else it runs its standard input as a script. Results go to standard output, everything else to standard error. Each FILE.db is a SQLite file, or a directory of them, that is opened as a catalog named after it; the last one becomes the current catalog.",
		"A script stops at its first error, unless --on-error says otherwise.",
	}
	b.WriteString(strings.Join(mapped(paragraphs, roff), "\n.PP\n"))
	b.WriteString("\n.SH OPTIONS\n")
	for _, f := range flags() {
		b.WriteString(".TP\n")
		spelt := "\\fB\\-\\-" + roff(f.name) + "\\fR"
		if f.short != "" {
			spelt = "\\fB\\-" + f.short + "\\fR, " + spelt
		}
		if f.value != "" {
			spelt += " \\fI" + roff(f.value) + "\\fR"
		}
		b.WriteString(spelt + "\n" + roff(sentence(f.doc)) + "\n")
		if f.words != nil {
			b.WriteString(roff("It is one of "+strings.Join(f.words, ", ")+".") + "\n")
		}
		if f.more != "" {
			b.WriteString(roff(f.more) + "\n")
		}
	}
	b.WriteString(".SH COMMANDS\nIn the shell a statement ends with ; and may span lines. With \\eG instead of ; its rows are printed one column a line. HELP; lists the statements. " +
		"A line that begins with a backslash is a short form, in scripts too:\n")
	for _, c := range repl.Commands() {
		fmt.Fprintf(&b, ".TP\n\\fB%s\\fR\n%s\n", roff(c.Form), roff(sentence(c.Doc)))
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, e := range exitCodes() {
		fmt.Fprintf(&b, ".TP\n.B %d\n%s\n", e.code, roff(sentence(e.doc)))
	}
	b.WriteString(".SH FILES\n")
	for _, f := range [][2]string{
		{"~/.config/sluice/init.sql", "Run first by shells on a terminal. In $XDG_CONFIG_HOME/sluice where that is set."},
		{"~/.local/state/sluice/", "The history of the shell and the journal of jobs. In $XDG_STATE_HOME/sluice where that is set."},
	} {
		fmt.Fprintf(&b, ".TP\n.I %s\n%s\n", roff(f[0]), roff(f[1]))
	}
	b.WriteString(".SH EXAMPLES\n.nf\n")
	for _, e := range []string{
		"sluice shop.db -c 'SELECT * FROM orders'",
		`sluice --format csv -c "VALUES (1, 'a'), (2, 'b')" > rows.csv`,
		"sluice -D table.local-time-zone=UTC -f nightly.sql",
	} {
		b.WriteString(roff(e) + "\n")
	}
	b.WriteString(".fi\n")
	return b.String()
}

// roff escapes a text for roff.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", "\\(ga", "~", `\(ti`, "^", `\(ha`, "—", `\(em`, "…", "...").Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}

// sentence makes a sentence of a line of help.
func sentence(s string) string {
	s = strings.ToUpper(s[:1]) + s[1:]
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

func mapped(list []string, f func(string) string) (out []string) {
	for _, s := range list {
		out = append(out, f(s))
	}
	return out
}
