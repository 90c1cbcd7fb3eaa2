package repl

import (
	"fmt"
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

// watch draws the progress line of the statement at hand until stop, which may be called again. On a terminal
// or not, it says once what others hold that the statement's job waits for.
func (sh *shell) watch() (stop func()) {
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

func (sh *shell) progressLine() string {
	p, ok := sh.engine.Progress()
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
	line += waitingFor(p)
	most := 78
	if _, columns := sh.screen.size(); columns > 0 {
		most = min(most, columns-1)
	}
	if text := []byte(line); width(text) > most {
		line = string(cut(text, most)) // one line of the terminal, so that it can be redrawn
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
