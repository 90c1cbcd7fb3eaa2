package repl

import (
	"bufio"
	"io"
	"os"
	"sync"
	"time"
)

// Screen is where a process's output goes: standard output for results, standard error for the rest.
// Its methods may be called from several goroutines.
type Screen struct {
	in, out, err          *os.File
	inTTY, outTTY, errTTY bool

	mu     sync.Mutex
	buf    *bufio.Writer // of out
	outErr error         // the first error of writing results
	drawn  bool          // a progress line stands on the terminal
	prompt io.Writer     // while a prompt shows: lifts it, prints, and redraws it
	soon   bool          // the results are going to be flushed

	output output // the files of 'sluice.output', of all scripts and shells

	holding  bool // a pager shows
	held     []held
	heldSize int
}

// NewScreen returns the screen of three files, which are usually os.Stdin, os.Stdout and os.Stderr.
func NewScreen(in, out, err *os.File) *Screen {
	return &Screen{
		in: in, out: out, err: err,
		inTTY: isTerminal(in), outTTY: isTerminal(out), errTTY: isTerminal(err),
		buf: bufio.NewWriterSize(out, 64<<10),
	}
}

// Interactive reports whether there is somebody to talk to: what is read comes from a terminal, and a
// terminal shows what is written.
func (s *Screen) Interactive() bool { return s.inTTY && (s.outTTY || s.errTTY) }

// Out returns the writer for the rows of a print connector and the like.
func (s *Screen) Out() io.Writer { return screenWriter{s, s.outTTY, false, (*Screen).writeOut} }

// Err returns the writer for messages from the background.
func (s *Screen) Err() io.Writer { return screenWriter{s, s.errTTY, true, (*Screen).writeErr} }

// screenWriter is for whoever is not the shell. A terminal does not get its control characters.
type screenWriter struct {
	s        *Screen
	tty      bool
	messages bool
	write    func(*Screen, []byte) error
}

func (w screenWriter) Write(p []byte) (int, error) {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	shown := p
	if w.tty {
		shown = appendVisible(nil, p, true)
	}
	if w.messages {
		_ = w.s.flush() // what is buffered of the results comes first, so that no line of it is torn
	}
	err := w.write(w.s, shown)
	switch {
	case err != nil:
	case w.s.outTTY:
		err = w.s.flush()
	default:
		w.s.soonFlushed()
	}
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

// results is the writer of result rows: buffered until Flush or the next message.
type results struct{ s *Screen }

func (r results) Write(p []byte) (int, error) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if err := r.s.writeOut(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what is buffered of the results.
func (s *Screen) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flush()
}

// flushDelay is how long results may wait in a buffer where they are to be seen as they come.
const flushDelay = 100 * time.Millisecond

// flushSoon writes what is buffered of the results within flushDelay, so that rows which come one by one are
// seen, and many at once do not take a write each.
func (s *Screen) flushSoon() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.soonFlushed()
}

// soonFlushed is flushSoon with mu held.
func (s *Screen) soonFlushed() {
	if s.soon || s.buf.Buffered() == 0 {
		return
	}
	s.soon = true
	time.AfterFunc(flushDelay, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.soon = false
		_ = s.flush() // kept in outErr; whoever writes results next has it
	})
}

// message prints lines on standard error, behind the results so far; control characters in them are made
// visible. That it cannot be written is nobody's business: there is no other place to say so.
func (s *Screen) message(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = s.flush() // kept in outErr; whoever writes results asks for it
	_ = s.writeErr(appendVisible(nil, []byte(text), true))
}

// free reports whether the screen can be written to, now or within a time.
func (s *Screen) free(within time.Duration) bool {
	for limit := time.Now().Add(within); !s.mu.TryLock(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(limit) {
			return false
		}
	}
	s.mu.Unlock()
	return true
}

// clearScreen empties a terminal.
func (s *Screen) clearScreen() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drawn = false
	switch {
	case s.outTTY:
		_ = s.writeOut([]byte("\x1b[H\x1b[2J\x1b[3J"))
		_ = s.flush()
	case s.errTTY:
		_ = s.writeErr([]byte("\x1b[H\x1b[2J\x1b[3J"))
	}
}

// progress redraws the progress line; the empty text takes it away. Only a terminal has one.
func (s *Screen) progress(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.errTTY || s.prompt != nil || line == "" && !s.drawn {
		return
	}
	_ = s.flush() // the line stands below the rows so far
	if line == "" {
		s.clearProgress()
		return
	}
	_, _ = s.err.WriteString("\r" + line + "\x1b[K")
	s.drawn = true
}

func (s *Screen) clearProgress() {
	if s.drawn {
		s.drawn = false
		_, _ = s.err.WriteString("\r\x1b[K")
	}
}

// showPrompt says that a prompt shows, whose writer is given, or no longer does, for nil.
func (s *Screen) showPrompt(w io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prompt = w
}

// The methods below are called with mu held.

func (s *Screen) writeOut(p []byte) error {
	if s.outErr != nil {
		return s.outErr
	}
	if s.outTTY && s.hold((*Screen).writeOut, p) {
		return nil
	}
	s.clearProgress()
	if s.prompt != nil && s.outTTY {
		_, err := s.prompt.Write(p)
		return err
	}
	_, s.outErr = s.buf.Write(p)
	return s.outErr
}

func (s *Screen) writeErr(p []byte) error {
	if s.errTTY && s.hold((*Screen).writeErr, p) {
		return nil
	}
	s.clearProgress()
	if s.prompt != nil && s.errTTY {
		_, err := s.prompt.Write(p)
		return err
	}
	_, err := s.err.Write(p)
	return err
}

func (s *Screen) flush() error {
	if s.holding && s.outTTY {
		return nil
	}
	if s.outErr == nil && s.buf.Buffered() > 0 {
		s.clearProgress()
		s.outErr = s.buf.Flush()
	}
	return s.outErr
}
