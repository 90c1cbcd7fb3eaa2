package repl

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// signals is what the process does when it is signalled. SIGINT cancels the statement at hand; the
// second says what is being waited for; the third ends the process at once, which is as safe as a
// crash. SIGTERM and SIGHUP cancel too, and end the shell once the statement's hooks have run. A
// statement whose commit has begun is no longer canceled: it is waited for.
type signals struct {
	screen *Screen
	engine engine
	tty    *tty // nil unless interactive

	ch   chan os.Signal
	done chan struct{}
	exit func(code int)

	mu     sync.Mutex
	cancel context.CancelFunc // of the statement at hand
	heard  int                // signals since it began
	idle   func()             // what SIGINT does when no statement runs
	last   os.Signal          // what ends the shell: SIGTERM, SIGHUP, and SIGINT in a script
	late   os.Signal          // the same in a script, but too late for its statement
	stop   func()             // makes the shell stop reading
	hurry  func()             // makes it stop once it would have to wait
	paging bool               // a pager has the terminal, and SIGINT is its own
	halted bool               // SIGINT came since resume, in a shell that goes on
}

// signalExit is the exit code of a shell that a signal ended.
func signalExit(s os.Signal) int {
	if n, ok := s.(syscall.Signal); ok {
		return 128 + int(n)
	}
	return 1
}

// listen starts. A closed pipe is an error of the write that meets it, never the process's end.
func (g *signals) listen() {
	signal.Ignore(syscall.SIGPIPE)
	g.ch = make(chan os.Signal, 8)
	g.done = make(chan struct{})
	signal.Notify(g.ch, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGCONT)
	go func() {
		defer close(g.done)
		for s := range g.ch {
			g.handle(s)
		}
	}()
}

// close ends listening and waits for the last signal to be handled. The program is about to leave with an
// exit code that is decided: a signal from here on must not change it.
func (g *signals) close() {
	signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGCONT) // nobody reads it
	signal.Stop(g.ch)
	close(g.ch)
	<-g.done
}

// begin says that a statement runs, with the context that a signal cancels.
func (g *signals) begin(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cancel, g.heard = cancel, 0
	if g.last != nil {
		cancel()
	}
	return ctx, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.cancel = nil
		cancel()
	}
}

// ended returns the signal that ends the shell, or nil.
func (g *signals) ended() os.Signal {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.last
}

// ends returns the signal that keeps a further statement of a script from being run, or nil. One that
// came while a statement was being committed does too, but if there is none the script has ended well.
func (g *signals) ends() os.Signal {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.last == nil {
		return g.late
	}
	return g.last
}

// resume says that the user has given something new to do.
func (g *signals) resume() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.halted = false
}

// isHalted reports whether the user has had enough of what was given to do.
func (g *signals) isHalted() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.halted
}

// reads says that a further file is read, whose end signals bring about too, until what it returns is called.
func (g *signals) reads(in *input) (over func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	stop, hurry, idle := g.stop, g.hurry, g.idle
	g.stop = func() { in.stop(); stop() }
	g.hurry = func() { in.stopWaiting(); hurry() }
	if idle != nil {
		g.idle = in.stop
	}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.stop, g.hurry, g.idle = stop, hurry, idle
	}
}

func (g *signals) handle(s os.Signal) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.paging && (s == os.Interrupt || s == syscall.SIGCONT) {
		return
	}
	if s == syscall.SIGCONT {
		if g.tty != nil && g.cancel != nil {
			_ = g.tty.running() // a shell that resumes us may have set its own modes
		}
		return
	}
	p, running := g.engine.Progress()
	committing := g.cancel != nil && running && p.Committing
	switch {
	case s == os.Interrupt && g.idle != nil: // interactive: the shell goes on
		g.halted = true
	case g.idle == nil && committing:
		g.late = s
		g.hurry()
	default:
		if g.last == nil {
			g.last = s
		}
		g.stop()
	}
	if g.cancel == nil {
		if s == os.Interrupt && g.idle != nil {
			g.idle()
		}
		return
	}
	g.heard++
	defer g.cancel()
	if s != os.Interrupt {
		g.notForEver(s)
	}
	last := ""
	if g.heard == 2 {
		last = " Once more ends the shell at once."
	}
	switch {
	case g.heard >= 3:
		if g.tty != nil {
			_ = g.tty.restore()
		}
		g.exit(signalExit(s))
	case committing:
		g.say("[INFO] The statement is committing" + waitingFor(p) + ", please wait." + last + "\n")
	case g.heard == 2:
		what := waitingFor(p)
		if what == "" {
			what = ", waiting for the statement to stop"
		}
		g.say("[INFO] Canceling" + what + "." + last + "\n")
	}
}

// How long a signal waits for a screen that takes nothing, because nobody reads the pipe it writes to or a
// terminal is stopped: until its message is given up, and until a signal that ends the process does so
// although a statement hangs in writing its rows.
const (
	messageWait = 300 * time.Millisecond
	blockedWait = 5 * time.Second
)

// say prints a message, unless the screen takes none: the next signal must be heard.
func (g *signals) say(text string) {
	said := make(chan struct{})
	go func() {
		defer close(said)
		g.screen.message(text)
	}()
	select {
	case <-said:
	case <-time.After(messageWait):
	}
}

// notForEver ends the process by a signal, as the third one would, if all that is in its way is a screen that
// takes nothing.
func (g *signals) notForEver(s os.Signal) {
	go func() {
		if !g.screen.free(blockedWait) {
			g.exit(signalExit(s))
		}
	}()
}
