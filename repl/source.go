package repl

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/sluice-sql/sluice/session"
	"github.com/sluice-sql/sluice/sqlparse"
)

// mostFiles is how deep files may run each other.
const mostFiles = 16

// sourced returns the file that a statement is to run, when it is a SOURCE, and where it names it.
func sourced(sql string) (file string, at sqlparse.Span, ok bool) {
	before, _, quoted := strings.Cut(sql, "'")
	if !quoted || !strings.Contains(strings.ToUpper(before), "SOURCE") { // nearly every statement
		return "", at, false
	}
	st, err := sqlparse.Parse(sql)
	if err != nil {
		return "", at, false
	}
	s, ok := st.(*sqlparse.SourceFile)
	if !ok {
		return "", at, false
	}
	return s.File.Text, s.File.Span(), true
}

// source runs the statements of a file in the place of the SOURCE that names it. A relative name counts from
// the current directory, wherever the SOURCE stands.
func (sh *shell) source(ctx context.Context, name string, t sqlparse.StatementText, file string, at sqlparse.Span) outcome {
	refuse := func(format string, args ...any) outcome {
		return sh.misread(name, t, &sqlparse.Error{Span: at, Msg: fmt.Sprintf(format, args...)})
	}
	if len(sh.files) >= mostFiles {
		return refuse("%d files run each other, and no more can", mostFiles)
	}
	f, err := openScript(atHome(file))
	if err != nil {
		return refuse("cannot read the script %s: %s", file, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return refuse("cannot read the script %s: %s", file, errors.Unwrap(err))
	}
	for _, running := range sh.files {
		if running.info != nil && info.Mode().IsRegular() && os.SameFile(running.info, info) {
			return refuse("%s is being run already, and cannot run itself", file)
		}
	}
	in, err := newInput(f, false)
	if err != nil {
		return refuse("cannot read the script %s: %s", file, err)
	}
	defer in.free()
	defer sh.signals.reads(in)()

	by := ""
	if name != "" {
		by = fmt.Sprintf("%s:%d:%d", name, t.Line, t.Column)
	} else {
		sh.ran, sh.failed = 0, 0
	}
	sh.files = append(sh.files, runningFile{file, info, by})
	out := sh.statements(ctx, file, in)
	sh.files = sh.files[:len(sh.files)-1]
	if name == "" {
		sh.sum()
	}
	switch out {
	case failed:
		return failedBelow
	case quit: // the file's end, and no more
		return done
	case canceled:
		if sh.signals.ends() == nil {
			sh.screen.message(visible("[INFO] The rest of "+file+" was not run.") + "\n")
		}
	}
	return out
}

// atHome returns a file's name with the user's home in the place of a ~ in front.
func atHome(file string) string {
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return file
}

// RunInit runs a file that prepares a session: definitions, SET, RESET and USE. It says nothing unless there
// is something to say, and returns the process's exit code.
func RunInit(ctx context.Context, cfg Config, name string) int {
	return runInit(ctx, live{cfg.Session}, cfg, name)
}

func runInit(ctx context.Context, e engine, cfg Config, name string) int {
	sh := newShell(e, cfg)
	sh.init = true
	code := sh.named(ctx, name)
	// The program goes on: until somebody listens again, signals do what they do by themselves.
	signal.Reset(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGCONT)
	return code
}

// define runs a statement of an init file.
func (sh *shell) define(ctx context.Context, t session.Text) outcome {
	if st, err := sqlparse.Parse(t.SQL); err == nil { // what does not parse is the session's to refuse
		if why := unfitForInit(st.Form()); why != "" {
			end := strings.IndexAny(t.SQL, " \t\r\n")
			if end < 0 {
				end = len(t.SQL)
			}
			return sh.misread(t.Name, sqlparse.StatementText{Text: t.SQL, Line: t.Line, Column: t.Column}, &sqlparse.Error{
				Span: sqlparse.Span{End: end}, Msg: st.Form() + " cannot stand in an init file: it " + why,
				Hint: "an init file holds CREATE, ALTER, DROP, USE, SET and RESET; sluice -f FILE runs anything"})
		}
	}
	ctx, release := sh.signals.begin(ctx)
	defer release()
	res, rows, err := sh.engine.Execute(ctx, t)
	if err != nil {
		return sh.report(err)
	}
	if res.Message != "" {
		sh.screen.message("[INFO] " + visible(res.Message) + "\n")
	}
	if err := rows.Close(); err != nil {
		return sh.report(err)
	}
	return done
}

// unfitForInit is what a form of statement does that an init file may not; "" when it may stand there.
func unfitForInit(form string) string {
	verb, _, _ := strings.Cut(form, " ")
	switch verb {
	case "CREATE", "REPLACE":
		if strings.HasSuffix(form, " AS") {
			return "runs a job"
		}
		return ""
	case "ALTER", "DROP", "USE", "SET", "RESET":
		return ""
	case "SELECT", "VALUES", "WITH", "SHOW", "DESCRIBE", "DESC", "EXPLAIN", "HELP":
		return "prints rows"
	case "INSERT", "EXECUTE", "UPDATE", "DELETE", "TRUNCATE", "CALL", "BEGIN":
		return "runs a job"
	}
	return "is no definition"
}
