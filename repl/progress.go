package repl

import (
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/sluice-sql/sluice/session"
)

// A statement shows its progress once it has taken a while, several times a second.
const (
	progressAfter = 600 * time.Millisecond
	progressEvery = 200 * time.Millisecond
)

// waitAfter is how long a lock has been waited for when somebody is told who sees no progress line.
const waitAfter = 3 * time.Second

// Watch says of what runs until stop is called how far it is, as a statement's run does.
func Watch(cfg Config) (stop func()) { return newShell(live{cfg.Session}, cfg).watch() }

// watch draws the progress line of the statement at hand until stop, which may be called again. On a terminal
// or not, it says once what others hold that the statement's job waits for; off a terminal, also which lock is
// waited for, once for each wait.
func (sh *shell) watch() (stop func()) {
	var told time.Time // the wait that has been told of
	quit, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		t := time.NewTimer(progressAfter)
		defer t.Stop()
		said := false
		for {
			select {
			case <-quit:
				if sh.screen.errTTY {
					sh.screen.progress("")
				}
				return
			case <-t.C:
				if !said {
					said = sh.sayHeld()
				}
				if sh.screen.errTTY {
					sh.screen.progress(sh.progressLine())
				} else if w, ok := sh.engine.LockWait(); ok && !said && !w.Since.Equal(told) && time.Since(w.Since) >= waitAfter {
					told = w.Since
					sh.screen.message(visible(fmt.Sprintf("[INFO] Waiting for %s, locked%s. There is no time limit; Ctrl-C ends the wait.\n", w.File, lockedBy(w))))
				}
				t.Reset(progressEvery)
			}
		}
	}()
	var once sync.Once
	return func() {
		once.Do(func() { close(quit) })
		<-ended
	}
}

// sayHeld says what the job at hand waits for, if others hold it.
func (sh *shell) sayHeld() bool {
	p, ok := sh.engine.Progress()
	if !ok || !p.Held {
		return false
	}
	sh.screen.message(visible(fmt.Sprintf("[INFO] Job %s (%s) is waiting for %s.\n", p.Job, p.Name, p.Waiting)))
	return true
}

// lockedBy is the end of "locked": by whom.
func lockedBy(w session.LockWait) string {
	if w.Holder == "" {
		return " by another process"
	}
	return w.Holder
}

func (sh *shell) progressLine() string {
	lock, locked := sh.engine.LockWait()
	p, ok := sh.engine.Progress()
	if locked && !(ok && p.Committing) {
		return sh.oneLine(fmt.Sprintf("waiting for %s, locked%s, %.1f s; Ctrl-C ends it", filepath.Base(lock.File), lockedBy(lock), time.Since(lock.Since).Seconds()))
	}
	if !ok {
		return ""
	}
	line := fmt.Sprintf("%s rows read", thousands(p.Read))
	if p.Written > 0 {
		line += fmt.Sprintf(", %s written", thousands(p.Written))
	}
	line += fmt.Sprintf(", %.1f s", p.Elapsed.Seconds())
	if p.Committing {
		line += ", committing"
	}
	return sh.oneLine(line + waitingFor(p))
}

// oneLine cuts a text to a line of the terminal, so that it can be redrawn.
func (sh *shell) oneLine(line string) string {
	line = string(appendVisible(nil, []byte(line), false))
	most := 78
	if _, columns := sh.screen.size(); columns > 0 {
		most = min(most, columns-1)
	}
	if text := []byte(line); width(text) > most {
		line = string(cut(text, most))
	}
	return line
}

// waitingFor says what a job waits for, as the end of a sentence; "" if it does not.
func waitingFor(p session.Progress) string {
	if p.Waiting == "" {
		return ""
	}
	return ", waiting for " + string(appendVisible(nil, []byte(p.Waiting), false))
}

func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
