package repl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/sluice-sql/sluice/session"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// Command is a short form: a line that begins with a backslash, where a statement would begin. It is an
// alias: its text is made into a statement, which then runs as if it had been written.
type Command struct {
	Form string // such as \d [name]
	Doc  string
	// translate makes the statement. The argument is the rest of the line, without space around it; what is
	// wrong with it is a *sqlparse.Error whose span counts from the argument's start, or any other error.
	translate func(ctx context.Context, sh *shell, arg string) (sql string, err error)
}

// Commands returns the table of short forms, which \?, HELP and the manual print.
func Commands() []Command {
	return []Command{
		{`\d [name]`, "SHOW TABLES, or DESCRIBE name", describeOrTables},
		{`\d+ name`, "SHOW CREATE TABLE name, or VIEW", showCreate},
		{`\dt [pattern]`, "SHOW TABLES LIKE 'pattern'", showLike("SHOW TABLES")},
		{`\dv [pattern]`, "SHOW VIEWS LIKE 'pattern'", showLike("SHOW VIEWS")},
		{`\df [pattern]`, "SHOW FUNCTIONS ILIKE 'pattern'", showLike("SHOW FUNCTIONS")},
		{`\dn [pattern]`, "SHOW DATABASES LIKE 'pattern'", showLike("SHOW DATABASES")},
		{`\l [pattern]`, "SHOW CATALOGS LIKE 'pattern'", showLike("SHOW CATALOGS")},
		{`\c name`, "USE a database, or USE CATALOG", useName},
		{`\j [id]`, "SHOW JOBS, or DESCRIBE JOB 'id'", showJobs},
		{`\i file`, "SOURCE 'file': run the statements of a file", sourceFile},
		{`\o [file]`, "SET 'sluice.output' = 'file': write rows there, or RESET", setOutput},
		{`\f [format]`, "SET 'sluice.format' = 'format', or show it", setFormat},
		{`\x [on|off]`, "SET 'sluice.format' = 'vertical', and back", toggleVertical},
		{`\timing [on|off]`, "SET 'sluice.timing' = 'true', and back: time taken", toggleTiming},
		{`\h [topic]`, "HELP topic", helpOn},
		{`\?`, "show these short forms", alone("")},
		{`\q`, "QUIT", alone("QUIT")},
	}
}

// word is what a line begins with that means the command.
func (c Command) word() string {
	w, _, _ := strings.Cut(c.Form, " ")
	return w
}

// typedCommand returns the short form that a line begins with, as somebody has typed it who wanted just that.
func typedCommand(line string) (string, bool) {
	word, _, _ := strings.Cut(strings.TrimRight(strings.TrimSpace(line), "; "), " ")
	known := word == `\r` || slices.ContainsFunc(Commands(), func(c Command) bool { return c.word() == word })
	return word, known
}

// commandsText is the table as \? prints it.
func commandsText() string {
	var b strings.Builder
	b.WriteString("Short forms stand on a line of their own. Names are written as in SQL; in a\npattern % and * are any text, _ is one character.\n\n")
	width := 0
	for _, c := range Commands() {
		width = max(width, len(c.Form))
	}
	for _, c := range Commands() {
		fmt.Fprintf(&b, "  %-*s  %s\n", width, c.Form, c.Doc)
	}
	fmt.Fprintf(&b, "  %-*s  %s\n", width, `\G`, "instead of ; at a statement's end prints a column a line")
	return b.String()
}

// command runs a short form; name, line and column say where it stands.
func (sh *shell) command(ctx context.Context, name string, t sqlparse.StatementText) outcome {
	word, arg := t.Text, ""
	if i := strings.IndexFunc(t.Text, unicode.IsSpace); i >= 0 {
		word, arg = t.Text[:i], strings.TrimSpace(t.Text[i:])
	}
	all := Commands()
	i := slices.IndexFunc(all, func(c Command) bool { return c.word() == word })
	if i < 0 {
		return sh.misread(name, t, unknownCommand(word))
	}
	// What a short form means may have to be looked up, in a file that somebody has locked.
	looking, release := sh.signals.begin(ctx)
	sql, err := all[i].translate(looking, sh, arg)
	stopped := looking.Err() != nil
	release()
	if stopped {
		sh.screen.message("[INFO] The statement was canceled.\n")
		return canceled
	}
	if err != nil {
		at := strings.LastIndex(t.Text, arg)
		if arg == "" {
			at = 0
		}
		var e *sqlparse.Error
		if errors.As(err, &e) {
			start := min(max(e.Span.Start, 0), len(arg))
			e = &sqlparse.Error{Span: sqlparse.Span{Start: at + start, End: at + min(max(e.Span.End, start), len(arg))}, Msg: e.Msg, Hint: e.Hint}
		} else {
			e = &sqlparse.Error{Span: sqlparse.Span{Start: at, End: len(t.Text)}, Msg: err.Error(), Hint: "it is written " + all[i].Form}
		}
		return sh.misread(name, t, e)
	}
	if sql == "" {
		return sh.say(commandsText())
	}
	t.Text, t.Command = sql, false
	out := sh.execute(ctx, name, t)
	if out == done {
		sh.sayNow(word)
	}
	return out
}

// sayNow says what a short form that goes back and forth has left on.
func (sh *shell) sayNow(word string) {
	switch word {
	case `\x`:
		sh.screen.message("[INFO] Rows are printed as " + sh.engine.Option("sluice.format") + ".\n")
	case `\timing`:
		now := "on"
		if sh.engine.Option("sluice.timing") == "false" {
			now = "off"
		}
		sh.screen.message("[INFO] Timing is " + now + ".\n")
	}
}

// unknownCommand is the error of a short form that is not in the table.
func unknownCommand(word string) error {
	e := &sqlparse.Error{Span: sqlparse.Span{End: len(word)}, Msg: "there is no short form " + word, Hint: `\? lists them`}
	var words []string
	for _, c := range Commands() {
		words = append(words, c.word())
	}
	switch near := nearCommand(word, words); {
	case elsewhere()[word] != "":
		e.Hint = elsewhere()[word]
	case near != "":
		e.Hint = "did you mean " + near + "?"
	}
	return e
}

// nearCommand is the short form that a word is a slip of: one edit away, or a variation with signs behind it.
func nearCommand(word string, words []string) string {
	if bare := strings.TrimRight(word, "+S"); slices.Contains(words, bare) && bare != `\` {
		return bare
	}
	return types.Nearest(word, words, 1)
}

// elsewhere are words that other shells have, and what does the same here.
func elsewhere() map[string]string {
	const mode, open = `\f csv sets how rows are printed`, `sluice FILE opens one, CREATE CATALOG c WITH ('type' = 'jdbc', 'base-url' = 'jdbc:sqlite:FILE') does in the shell`
	return map[string]string{
		`\set`:       "SET 'key' = 'value'; sets an option, SET; lists them",
		`\pset`:      mode,
		`\a`:         mode,
		`\t`:         mode,
		`\H`:         mode,
		`\copy`:      `\o FILE and \f csv write rows to a file`,
		`\connect`:   `\c does it here`,
		`\!`:         "commands of the system are run by its own shell, not by this one",
		`\e`:         "a statement is edited at the prompt; the up arrow brings the last one back",
		`\s`:         "the up arrow and Ctrl-R find earlier statements",
		`\r`:         "Ctrl-C drops the statement that was begun",
		`\g`:         "; ends a statement",
		`\G`:         `\G stands at the end of a statement`,
		`\ir`:        `\i does it here; a file's name counts from the current directory`,
		`.tables`:    `\dt lists the tables`,
		`.views`:     `\dv lists the views`,
		`.schema`:    `\d t lists a table's columns, \d+ t its CREATE TABLE`,
		`.columns`:   `\d t lists a table's columns`,
		`.indexes`:   `\d+ t shows a table's CREATE TABLE`,
		`.databases`: `\dn lists the databases, \l the catalogs`,
		`.mode`:      mode,
		`.headers`:   mode,
		`.header`:    mode,
		`.separator`: mode,
		`.timer`:     `\timing does it here`,
		`.read`:      `\i FILE runs a file`,
		`.output`:    `\o FILE writes rows to a file`,
		`.once`:      `\o FILE writes rows to a file, \o alone ends it`,
		`.open`:      open,
		`.import`:    open,
		`.attach`:    open,
		`.help`:      `HELP; lists the statements, \? the short forms`,
		`.quit`:      `\q or QUIT; leaves`,
		`.exit`:      `\q or QUIT; leaves`,
	}
}

// dotted answers a line that is a command of sqlite3 or DuckDB, which begin with a dot as no statement does.
// It is for a user who is watching: in a script such a line is the start of a statement, and an error of it.
func (sh *shell) dotted(line string) bool {
	line = strings.TrimSpace(line)
	if len(line) < 2 || line[0] != '.' || !unicode.IsLetter(rune(line[1])) {
		return false
	}
	word, _, _ := strings.Cut(strings.TrimRight(line, "; "), " ")
	hint := elsewhere()[word]
	if hint == "" {
		hint = `\? lists the short forms there are, HELP; the statements`
	}
	e := &sqlparse.Error{Span: sqlparse.Span{End: len(word)}, Msg: "commands do not begin with a dot here", Hint: hint}
	sh.misread("", sqlparse.StatementText{Text: line}, e)
	return true
}

// say prints a text that was asked for where results go.
func (sh *shell) say(text string) outcome {
	if _, err := (results{sh.screen}).Write([]byte(text)); err != nil {
		return sh.unwritable(err)
	}
	if err := sh.screen.Flush(); err != nil {
		return sh.unwritable(err)
	}
	return done
}

// literal writes a text as SQL does.
func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// checked returns head and rest as one statement if that is what the parser makes of it: one whose form is
// among those given. So what a user wrote as a name can be nothing else.
func checked(head, rest string, forms ...string) (string, error) {
	sql := head + " " + rest
	st, err := sqlparse.Parse(sql)
	if err == nil && slices.Contains(forms, st.Form()) {
		return sql, nil
	}
	var e *sqlparse.Error
	if errors.As(err, &e) && e.Span.End > len(head)+1 {
		return "", &sqlparse.Error{Span: sqlparse.Span{Start: e.Span.Start - len(head) - 1, End: e.Span.End - len(head) - 1}, Msg: e.Msg,
			Hint: "a name is written as in SQL: in back-quotes when it is a keyword or has odd characters"}
	}
	return "", errors.New("a name is missing")
}

// unquoted returns what a literal or a quoted name that is all of arg means; false for anything else.
func unquoted(arg string, quote string) (string, bool) {
	if len(arg) < 2 || !strings.HasPrefix(arg, quote) || !strings.HasSuffix(arg, quote) {
		return "", false
	}
	inner := arg[1 : len(arg)-1]
	plain := strings.ReplaceAll(inner, quote+quote, "")
	return strings.ReplaceAll(inner, quote+quote, quote), !strings.Contains(plain, quote)
}

// pattern writes an argument as the pattern of LIKE. Unless it is quoted, * stands for any text too.
func pattern(arg string) string {
	for _, q := range []string{"'", "`"} {
		if s, ok := unquoted(arg, q); ok {
			return literal(s)
		}
	}
	return literal(strings.ReplaceAll(arg, "*", "%"))
}

// lastDot is where the name in front of the last dot of an argument ends that stands outside quotes; -1: none.
func lastDot(arg string) int {
	at, quote := -1, rune(0)
	for i, r := range arg {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '`' || r == '\'':
			quote = r
		case r == '.':
			at = i
		}
	}
	return at
}

// showLike is a SHOW with an optional pattern, behind the name of what to look in.
func showLike(show string) func(context.Context, *shell, string) (string, error) {
	like := " LIKE "
	if show == "SHOW FUNCTIONS" { // whose case means nothing
		like = " ILIKE "
	}
	return func(_ context.Context, _ *shell, arg string) (string, error) {
		if arg == "" {
			return show, nil
		}
		at := lastDot(arg)
		if at < 0 {
			return show + like + pattern(arg), nil
		}
		from, err := checked(show+" FROM", arg[:at], show)
		if err != nil || arg[at+1:] == "" {
			return from, err
		}
		return from + like + pattern(arg[at+1:]), nil
	}
}

func describeOrTables(ctx context.Context, sh *shell, arg string) (string, error) {
	last := arg[lastDot(arg)+1:]
	if arg == "" || !strings.HasPrefix(last, "`") && strings.ContainsAny(last, "%*'") {
		return showLike("SHOW TABLES")(ctx, sh, arg)
	}
	return checked("DESCRIBE", arg, "DESCRIBE")
}

func showCreate(ctx context.Context, sh *shell, arg string) (string, error) {
	if arg == "" {
		return "", errors.New("a name is missing")
	}
	view, err := checked("SHOW CREATE VIEW", arg, "SHOW CREATE VIEW")
	if err != nil {
		return "", err
	}
	if res, rows, err := sh.engine.Execute(ctx, session.Text{SQL: view}); err == nil {
		if err := rows.Close(); err == nil && res.Kind == session.Rows {
			return view, nil
		}
	}
	return checked("SHOW CREATE TABLE", arg, "SHOW CREATE TABLE")
}

func showJobs(_ context.Context, _ *shell, arg string) (string, error) {
	if arg == "" {
		return "SHOW JOBS", nil
	}
	if s, ok := unquoted(arg, "'"); ok {
		arg = s
	}
	return "DESCRIBE JOB " + literal(arg), nil
}

// useName makes a database current, and a catalog when no database has the name.
func useName(ctx context.Context, sh *shell, arg string) (string, error) {
	if arg == "" {
		return "", errors.New("a name is missing")
	}
	database, err := checked("USE", arg, "USE")
	if err != nil {
		return "", err
	}
	if name, ok := unquoted(arg, "`"); ok || lastDot(arg) < 0 {
		if !ok {
			name = arg
		}
		if !sh.lists(ctx, "SHOW DATABASES", name) && sh.lists(ctx, "SHOW CATALOGS", name) {
			return checked("USE CATALOG", arg, "USE CATALOG")
		}
	}
	return database, nil
}

// lists reports whether the first column of a SHOW has a value.
func (sh *shell) lists(ctx context.Context, show, value string) bool {
	_, rows, err := sh.engine.Execute(ctx, session.Text{SQL: show})
	if err != nil {
		return false
	}
	defer rows.Close()
	for {
		b, err := rows.Next(ctx)
		if err != nil || b == nil {
			return false
		}
		for i := range b.Rows() {
			if string(b.Cols[0].Value(i)) == value {
				return true
			}
		}
	}
}

func sourceFile(_ context.Context, _ *shell, arg string) (string, error) {
	if arg == "" {
		return "", errors.New("a file's name is missing")
	}
	return "SOURCE " + fileName(arg), nil
}

// fileName writes an argument as a literal. It is a file's name to the end of the line, or a literal.
func fileName(arg string) string {
	if s, ok := unquoted(arg, "'"); ok {
		return literal(s)
	}
	return literal(arg)
}

func setOutput(_ context.Context, _ *shell, arg string) (string, error) {
	if arg == "" {
		return "RESET 'sluice.output'", nil
	}
	return "SET 'sluice.output' = " + fileName(arg), nil
}

func setFormat(_ context.Context, _ *shell, arg string) (string, error) {
	if arg == "" {
		return "SET 'sluice.format'", nil
	}
	return "SET 'sluice.format' = " + literal(arg), nil
}

// toggleVertical goes to the vertical format, and back to the one before.
func toggleVertical(_ context.Context, sh *shell, arg string) (string, error) {
	now := sh.engine.Option("sluice.format")
	on, err := onOff(arg, now != "vertical")
	switch {
	case err != nil:
		return "", err
	case on:
		if now != "vertical" {
			sh.before = now
		}
		return "SET 'sluice.format' = 'vertical'", nil
	case now != "vertical":
		return "SET 'sluice.format' = " + literal(now), nil
	case sh.before == "":
		return "RESET 'sluice.format'", nil
	}
	return "SET 'sluice.format' = " + literal(sh.before), nil
}

func toggleTiming(_ context.Context, sh *shell, arg string) (string, error) {
	on, err := onOff(arg, sh.engine.Option("sluice.timing") != "true")
	return fmt.Sprintf("SET 'sluice.timing' = '%t'", on), err
}

// onOff reads on or off; nothing is what is not so now.
func onOff(arg string, other bool) (bool, error) {
	switch strings.ToLower(arg) {
	case "":
		return other, nil
	case "on", "true":
		return true, nil
	case "off", "false":
		return false, nil
	}
	return false, errors.New("expected on or off")
}

func helpOn(_ context.Context, _ *shell, arg string) (string, error) {
	if arg == "" {
		return "HELP", nil
	}
	return checked("HELP", arg, "HELP")
}

// alone is a short form that takes nothing.
func alone(sql string) func(context.Context, *shell, string) (string, error) {
	return func(_ context.Context, _ *shell, arg string) (string, error) {
		if arg != "" {
			return "", errors.New("nothing is expected behind it")
		}
		return sql, nil
	}
}
