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

// run runs one statement and prints its result.
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
	out := sh.show(ctx, res, rows)
	stop()
	if err := rows.Close(); err != nil && out == done {
		return sh.report(err)
	}
	return out
}

// show prints a result.
func (sh *shell) show(ctx context.Context, res *session.Result, rows rows) outcome {
	if res.Message != "" && res.Kind != session.Help {
		sh.screen.message("[INFO] " + visible(res.Message) + "\n")
	}
	switch res.Kind {
	case session.Rows:
		return sh.print(ctx, res, rows)
	case session.OK:
		sh.screen.message("[INFO] Execute statement succeeded.\n")
	case session.Written:
		sh.screen.message(fmt.Sprintf("[INFO] Complete execution of the SQL update statement.\n%s written%s\n", count(res.Affected), sh.took(rows.Time())))
	case session.Quit:
		return quit
	case session.Clear:
		sh.screen.clearScreen()
	case session.Help:
		if _, err := (results{sh.screen}).Write([]byte(strings.TrimSuffix(res.Message, "\n") + "\n")); err != nil {
			return sh.unwritable(err)
		}
		if err := sh.screen.Flush(); err != nil {
			return sh.unwritable(err)
		}
	}
	return done
}

// print prints rows as they come.
func (sh *shell) print(ctx context.Context, res *session.Result, rows rows) outcome {
	format := sh.engine.Option("sluice.format")
	l := layout{w: results{sh.screen}, zone: sh.engine.Zone(), terminal: sh.screen.outTTY, query: res.IsQuery,
		maxWidth: sh.engine.IntOption("table.display.max-column-width")}
	most := int64(-1) // rows to show
	if table := format != "csv" && format != "json"; table && l.terminal && res.IsQuery {
		most = int64(sh.engine.IntOption("sluice.max-rows"))
	}
	p := newPrinter(format, l)
	if err := p.begin(res.Schema); err != nil {
		return sh.unwritable(err)
	}
	n, ended := int64(0), false
	for {
		b, err := rows.Next(ctx)
		if err != nil {
			if e := (*session.Error)(nil); errors.As(err, &e) && e.Canceled {
				if err := p.end(); err != nil {
					return sh.unwritable(err)
				}
				if err := sh.screen.Flush(); err != nil {
					return sh.unwritable(err)
				}
				sh.screen.message(visible(fmt.Sprintf("[INFO] Query %s, received a total of %s.\n", e.Msg, count(n))))
				return canceled
			}
			return sh.report(err)
		}
		if b == nil {
			break
		}
		if most >= 0 && n+int64(b.Rows()) > most {
			b, ended = b.Slice(0, int(most-n)), true
		}
		if err := p.batch(b); err != nil {
			return sh.unwritable(err)
		}
		n += int64(b.Rows())
		if l.terminal {
			if err := sh.screen.Flush(); err != nil {
				return sh.unwritable(err)
			}
		}
		if ended {
			break
		}
	}
	if err := p.end(); err != nil {
		return sh.unwritable(err)
	}
	if err := sh.screen.Flush(); err != nil {
		return sh.unwritable(err)
	}
	switch {
	case ended:
		sh.screen.message(fmt.Sprintf("The first %s%s; the query was ended there. SET 'sluice.max-rows' = '…' shows more.\n", count(n), sh.took(rows.Time())))
	case n == 0:
		sh.screen.message(fmt.Sprintf("Empty set%s\n", sh.took(rows.Time())))
	default:
		sh.screen.message(fmt.Sprintf("%s in set%s\n", count(n), sh.took(rows.Time())))
	}
	if t, ok := p.(*tableau); ok && t.cut > 0 {
		what := "1 value was"
		if t.cut > 1 {
			what = strconv.FormatInt(t.cut, 10) + " values were"
		}
		sh.screen.message(fmt.Sprintf("%s cut to %d columns, shown by …; SET 'table.display.max-column-width' = '…' shows more.\n", what, l.maxWidth))
	}
	return done
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

// unwritable is for errors of writing results.
func (sh *shell) unwritable(err error) outcome {
	if errors.Is(err, syscall.EPIPE) {
		return unread
	}
	return sh.report(fmt.Errorf("write the result: %w", err))
}

// took is the time of a statement, for a person who is watching.
func (sh *shell) took(d time.Duration) string {
	if !sh.screen.errTTY {
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
