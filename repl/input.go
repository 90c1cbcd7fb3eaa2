package repl

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// input reads a file in a way that another goroutine can end. For a terminal it also takes pastes
// apart from keys: what a terminal sends between ESC [200~ and ESC [201~ is text, in which a tab is a
// space, a newline ends the line, and other control characters are left out. The text of each pasted line
// is handed out as one rune, pasted, which the editor replaces by what nextPasted returns: readline draws
// the whole line again for every rune that it gets.
type input struct {
	fd    int
	wake  [2]int // a pipe that ends the wait
	keys  bool   // filter pastes
	chunk []byte

	mu     sync.Mutex
	closed bool
	hurry  bool   // Read does not wait any more
	typed  []byte // put in by typeKey, before what comes from the file

	pastes []string // texts that pasted stands for, in order

	held    []byte // not yet filtered: what may be the start of a mark
	text    []byte // of a pasted line, not yet handed out
	ready   []byte // filtered, to be handed out
	pasting bool
	wasCR   bool // in a paste: the last byte was \r
}

// pasted stands for a pasted text. It is no character that anybody could mean.
const pasted = '\U0010fffd'

// nextPasted returns the text that the next pasted stands for.
func (in *input) nextPasted() string {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.pastes) == 0 {
		return ""
	}
	s := in.pastes[0]
	in.pastes = in.pastes[1:]
	return s
}

// flush hands out the text of a pasted line as far as it has come.
func (in *input) flush() {
	if len(in.text) == 0 {
		return
	}
	in.mu.Lock()
	in.pastes = append(in.pastes, strings.ToValidUTF8(string(in.text), "\ufffd"))
	in.mu.Unlock()
	in.text = in.text[:0]
	in.ready = utf8.AppendRune(in.ready, pasted)
}

// Marks around a paste, and the switches for a terminal to send them.
const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	pasteOn    = "\x1b[?2004h"
	pasteOff   = "\x1b[?2004l"
)

// markWait is how long, in milliseconds, a lone ESC waits for the rest of a mark, and pasteWait how long
// the text of a pasted line waits for its end.
const (
	markWait  = 25
	pasteWait = 250
)

func newInput(f *os.File, keys bool) (*input, error) {
	in := &input{fd: int(f.Fd()), keys: keys, chunk: make([]byte, 64<<10)}
	if err := unix.Pipe(in.wake[:]); err != nil {
		return nil, os.NewSyscallError("pipe", err)
	}
	for _, fd := range in.wake {
		unix.CloseOnExec(fd)
		if err := unix.SetNonblock(fd, true); err != nil {
			in.free()
			return nil, os.NewSyscallError("fcntl", err)
		}
	}
	return in, nil
}

// errStopped is the end of an input that is not the end of its file.
var errStopped = errors.New("reading was stopped")

// Read returns what there is, waiting for the first byte; errStopped after stop.
func (in *input) Read(p []byte) (int, error) {
	for {
		if len(in.ready) > 0 {
			n := copy(p, in.ready)
			in.ready = in.ready[n:]
			return n, nil
		}
		timeout := -1
		switch {
		case len(in.held) > 0:
			timeout = markWait
		case len(in.text) > 0:
			timeout = pasteWait
		}
		if in.hurried() {
			timeout = 0
		}
		fds := []unix.PollFd{{Fd: int32(in.fd), Events: unix.POLLIN}, {Fd: int32(in.wake[0]), Events: unix.POLLIN}}
		n, err := unix.Poll(fds, timeout)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, os.NewSyscallError("poll", err)
		}
		if n == 0 {
			if len(in.held)+len(in.text) == 0 {
				return 0, errStopped
			}
			in.release()
			in.flush()
			continue
		}
		if fds[1].Revents != 0 {
			if in.woken() {
				return 0, errStopped
			}
			continue
		}
		n, err = unix.Read(in.fd, in.chunk)
		if err == unix.EINTR || err == unix.EAGAIN {
			continue
		}
		if err == unix.EIO && in.keys { // the terminal has gone
			return 0, io.EOF
		}
		if err != nil {
			return 0, os.NewSyscallError("read", err)
		}
		if n == 0 {
			in.release()
			in.flush()
			if len(in.ready) > 0 {
				continue
			}
			return 0, io.EOF
		}
		if !in.keys {
			in.ready = in.chunk[:n]
			continue
		}
		in.filter(in.chunk[:n])
	}
}

// woken takes what was typed for the user and reports whether the input is closed.
func (in *input) woken() bool {
	var drain [16]byte
	_, _ = unix.Read(in.wake[0], drain[:]) // there is a byte, or another reader took it
	in.mu.Lock()
	defer in.mu.Unlock()
	in.ready = append(in.ready, in.typed...)
	in.typed = nil
	return in.closed
}

// typeKey puts a key in as if it were typed.
func (in *input) typeKey(b byte) {
	in.mu.Lock()
	in.typed = append(in.typed, b)
	in.mu.Unlock()
	_, _ = unix.Write(in.wake[1], []byte{0}) // a full pipe wakes as well
}

// stopWaiting makes Read return errStopped once it would have to wait.
func (in *input) stopWaiting() {
	in.mu.Lock()
	in.hurry = true
	in.mu.Unlock()
	_, _ = unix.Write(in.wake[1], []byte{0})
}

func (in *input) hurried() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.hurry
}

// stop makes Read return errStopped, now and from then on.
func (in *input) stop() {
	in.mu.Lock()
	in.closed = true
	in.mu.Unlock()
	_, _ = unix.Write(in.wake[1], []byte{0})
}

// Close is stop; readline calls it. The file stays open.
func (in *input) Close() error { in.stop(); return nil }

// free closes the pipe, once nobody reads any more.
func (in *input) free() {
	_ = unix.Close(in.wake[0])
	_ = unix.Close(in.wake[1])
}

// filter takes in bytes of a terminal.
func (in *input) filter(p []byte) {
	p = append(in.held, p...)
	in.held = nil
	for len(p) > 0 {
		if p[0] == 0x1b {
			switch {
			case bytes.HasPrefix(p, []byte(pasteStart)):
				in.pasting, in.wasCR = true, false
				p = p[len(pasteStart):]
				continue
			case bytes.HasPrefix(p, []byte(pasteEnd)):
				in.flush()
				in.pasting = false
				p = p[len(pasteEnd):]
				continue
			case bytes.HasPrefix([]byte(pasteStart), p), bytes.HasPrefix([]byte(pasteEnd), p):
				in.held = append([]byte(nil), p...)
				return
			}
		}
		in.put(p[0], len(p) > 1)
		p = p[1:]
	}
}

// release gives up waiting for the rest of a mark: it was a key.
func (in *input) release() {
	for i, b := range in.held {
		in.put(b, i+1 < len(in.held))
	}
	in.held = nil
}

// put hands out one byte. A tab with more behind it was not typed by hand either, even where the
// terminal does not mark pastes.
func (in *input) put(b byte, more bool) {
	if in.pasting {
		wasCR := in.wasCR
		in.wasCR = b == '\r'
		switch {
		case b == '\n' && wasCR:
		case b == '\n', b == '\r':
			in.flush()
			in.ready = append(in.ready, '\r')
		case b == '\t':
			in.text = append(in.text, ' ')
		case b >= 0x20 && b != 0x7f:
			in.text = append(in.text, b)
		}
		return
	}
	if b == '\t' && more {
		b = ' '
	} else if b == 0 { // readline takes it for the end
		return
	}
	in.ready = append(in.ready, b)
}
