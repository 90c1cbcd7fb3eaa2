package repl

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sluice-sql/sluice/session"
)

// shell runs statements and says what became of them.
type shell struct {
	engine  engine
	screen  *Screen
	signals *signals
	reading
	background
}

// outcome is what a statement means for the ones to come.
type outcome uint8

const (
	done        outcome = iota
	failed              // the error has been printed
	failedBelow         // so has one in a file that it runs
	canceled            // by a signal
	quit                // the user wants to leave
	unread              // nobody reads the results any more
)

// run runs one statement and prints its result; vertical prints rows so whatever the format is.
func (sh *shell) run(ctx context.Context, t session.Text, vertical bool) outcome {
	ctx, release := sh.signals.begin(ctx)
	defer release()
	stop := sh.watch()
	defer stop()

	res, rows, err := sh.engine.Execute(ctx, t)
	if err != nil {
		stop()
		return sh.report(err)
	}
	if res.Kind == session.Help && strings.EqualFold(t.SQL, "HELP") {
		res.Message = strings.TrimSuffix(res.Message, "\n") + "\n\n" + commandsText()
	}
	if res.Message != "" && res.Kind != session.Help {
		sh.screen.message("[INFO] " + visible(res.Message) + "\n")
	}
	if res.Kind == session.Rows {
		return sh.print(ctx, res, rows, vertical, stop)
	}
	out := sh.show(ctx, res, rows, stop)
	stop()
	if err := rows.Close(); err != nil && out == done {
		return sh.report(err)
	}
	if setsOutput(t.SQL) {
		if name := sh.engine.Option("sluice.output"); name != "" {
			if _, err := sh.find(ctx, name); err != nil {
				sh.screen.message("[WARN] " + visible(firstUpper(unwritten(name, err).Error())) + "\n")
			}
		}
	}
	return out
}

// show says what became of a statement without rows.
func (sh *shell) show(ctx context.Context, res *session.Result, rows rows, stop func()) outcome {
	switch res.Kind {
	case session.OK:
		sh.screen.message("[INFO] Execute statement succeeded.\n")
	case session.Written:
		sh.screen.message(fmt.Sprintf("[INFO] Complete execution of the SQL update statement.\n%s %s%s\n", count(res.Affected), res.Did, sh.took(rows.Time())))
	case session.Submitted:
		sh.screen.message("[INFO] Submitting SQL update statement to the cluster...\n" +
			"[INFO] SQL update statement has been successfully submitted to the cluster:\nJob ID: " + res.Job.String() + "\n")
	case session.Quit:
		return quit
	case session.Clear:
		sh.screen.clearScreen()
	case session.Help:
		var d destination = shown{results: results{sh.screen}}
		if p := sh.pager(); p != "" {
			d = &spool{sh: sh, pager: p}
		}
		if _, err := d.Write([]byte(visible(strings.TrimSuffix(res.Message, "\n")) + "\n")); err != nil {
			return sh.unwritable(err)
		}
		stop()
		if err := d.commit(ctx); err != nil {
			return sh.unwritable(err)
		}
	}
	return done
}

// print prints rows as they come, and closes them.
func (sh *shell) print(ctx context.Context, res *session.Result, rows rows, vertical bool, stop func()) outcome {
	defer stop()
	d, file, err := sh.destination(ctx, res.Changelog)
	if err != nil {
		stop()
		return sh.report(errors.Join(err, rows.Close()))
	}
	l := layout{w: d, zone: sh.engine.Zone(), terminal: d.terminal(), query: res.IsQuery, changelog: res.Changelog,
		maxWidth: sh.engine.IntOption("table.display.max-column-width")}
	most := int64(-1)                                // rows to show
	if l.terminal && res.IsQuery && !res.Changelog { // one who watches a changelog ends it when he has seen enough
		most = int64(sh.engine.IntOption("sluice.max-rows"))
	}
	format := sh.engine.Option("sluice.format")
	if vertical {
		format = "vertical"
	}
	if s, ok := d.(*spool); ok {
		s.grid = format == "tableau" || format == "box" || format == ""
	}
	p := newPrinter(format, l)
	n, ended, err := pull(ctx, rows, res, p, d, most)
	took := sh.took(rows.Time())
	canceledAs := ""
	if e := (*session.Error)(nil); errors.As(err, &e) && e.Canceled && (file == "" || res.Changelog) {
		canceledAs, err = e.Msg, nil // what has come is worth showing
		if res.Changelog {
			canceledAs = "terminated" // as Flink has it: it is how such a query ends
		}
	}
	if err == nil {
		err = p.end()
	}
	// Nothing of the query is open any more while somebody reads its rows.
	if cerr := rows.Close(); err == nil {
		err = cerr
	}
	stop()
	if err != nil {
		d.drop()
		out := sh.unwritable(err)
		if _, ok := d.(*outputFile); ok {
			sh.screen.message("[INFO] Nothing was written to " + visible(file) + ".\n")
		}
		return out
	}
	if err := d.commit(ctx); err != nil {
		return sh.unwritable(err)
	}
	if file != "" && canceledAs != "" {
		sh.screen.message(fmt.Sprintf("[INFO] %s written to %s\n", count(n), visible(file)))
	}
	switch {
	case canceledAs != "":
		sh.screen.message(visible(fmt.Sprintf("[INFO] Query %s, received a total of %s.\n", canceledAs, count(n))))
		return canceled
	case file != "":
		what := "written"
		if f, ok := d.(*outputFile); ok && f.appends {
			what = "appended"
		}
		sh.screen.message(fmt.Sprintf("[INFO] %s %s to %s%s\n", count(n), what, visible(file), took))
	case ended:
		sh.screen.message(fmt.Sprintf("The first %s%s; the query was ended there. SET 'sluice.max-rows' = '…' shows more.\n", count(n), took))
	case res.Changelog:
		sh.screen.message("Received a total of " + count(n) + took + "\n")
	case n == 0:
		sh.screen.message("Empty set" + took + "\n")
	default:
		sh.screen.message(count(n) + " in set" + took + "\n")
	}
	if c, ok := p.(cutter); ok && c.cutValues() > 0 {
		what := "1 value was"
		if c.cutValues() > 1 {
			what = strconv.FormatInt(c.cutValues(), 10) + " values were"
		}
		sh.screen.message(fmt.Sprintf("%s cut to %d columns, shown by …; SET 'table.display.max-column-width' = '…' shows more.\n", what, l.maxWidth))
	}
	return done
}

// pull prints the rows of a result up to most, if that is not negative; ended says that there were more.
func pull(ctx context.Context, rows rows, res *session.Result, p printer, d destination, most int64) (n int64, ended bool, err error) {
	if err := p.begin(res.Schema); err != nil {
		return 0, false, err
	}
	for !ended {
		b, err := rows.Next(ctx)
		if err != nil || b == nil {
			return n, false, err
		}
		if most >= 0 && n+int64(b.Rows()) > most {
			b, ended = b.Slice(0, int(most-n)), true
		}
		if err := p.batch(b); err != nil {
			return n, false, err
		}
		n += int64(b.Rows())
		if err := d.flush(); err != nil {
			return n, false, err
		}
	}
	return n, ended, nil
}

// report prints an error.
func (sh *shell) report(err error) outcome {
	text := err.Error() + "\n"
	var e *session.Error
	if errors.As(err, &e) {
		if e.Canceled {
			sh.screen.message(visible("[INFO] The statement was " + e.Msg + ".\n"))
			return canceled
		}
		if r := e.Render(); r != "" {
			text = r
		}
	}
	sh.screen.message("[ERROR] Could not execute SQL statement. Reason:\n" + visible(text))
	return failed
}

// unwritable is for errors of a result on its way: of where the rows come from, or of where they go.
func (sh *shell) unwritable(err error) outcome {
	if e := (*session.Error)(nil); errors.As(err, &e) || errors.As(err, new(*fileError)) {
		return sh.report(err)
	}
	if errors.Is(err, syscall.EPIPE) {
		return unread
	}
	return sh.report(fmt.Errorf("write the result: %w", err))
}

// took is the time of a statement, for a person who is watching and has not switched it off.
func (sh *shell) took(d time.Duration) string {
	if !sh.screen.errTTY || sh.engine.Option("sluice.timing") == "false" {
		return ""
	}
	return fmt.Sprintf(" (%.2f seconds)", d.Seconds())
}

func count(n int64) string {
	if n == 1 {
		return "1 row"
	}
	return strconv.FormatInt(n, 10) + " rows"
}
