package repl

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/chzyer/readline"
	"golang.org/x/sys/unix"
)

// input reads a file in a way that another goroutine can end. For a terminal it also takes pastes
// apart from keys: what a terminal sends between ESC [200~ and ESC [201~ is text, in which a tab is a
// space, a newline ends the line, and other control characters are left out.
//
// readline draws the whole line again for every rune that it gets. So text that comes in one go, pasted or
// typed, marked or not, is handed out as one rune, pasted, which the editor replaces by what nextPasted
// returns.
type input struct {
	fd    int
	wake  [2]int // a pipe that ends the wait
	keys  bool   // filter pastes
	chunk []byte

	mu     sync.Mutex
	closed bool
	hurry  bool   // Read does not wait any more
	gone   bool   // the terminal is
	typed  []byte // put in by typeKey, before what comes from the file

	pastes []string // texts that pasted stands for, in order

	held      []byte // not yet filtered: what may be the start of a mark
	text      []byte // of a line, not yet handed out
	ready     []byte // filtered, to be handed out
	pasting   bool
	wasCR     bool // in a paste: the last byte was \r
	keySoFar  keyPart
	searching bool // readline searches its history, and takes nothing but keys
}

// keyPart is how much has come of a key that is more than one byte.
type keyPart uint8

const (
	wholeKey  keyPart = iota
	escapeKey         // ESC
	csiKey            // ESC [ and perhaps numbers
	ss3Key            // ESC O and perhaps numbers
)

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

// expects reports whether there is a text that pasted stands for.
func (in *input) expects() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.pastes) > 0
}

// flush hands out the text of a line as far as it has come.
func (in *input) flush() { in.hand(len(in.text)) }

// hand hands out the first n bytes of the text: one rune as itself, more as pasted.
func (in *input) hand(n int) {
	if n == 0 {
		return
	}
	in.keySoFar = wholeKey
	text := strings.ToValidUTF8(string(in.text[:n]), "\ufffd")
	in.text = append(in.text[:0], in.text[n:]...)
	if r, size := utf8.DecodeRuneInString(text); size == len(text) && r != pasted || in.searching {
		in.ready = append(in.ready, text...)
		return
	}
	in.mu.Lock()
	in.pastes = append(in.pastes, text)
	in.mu.Unlock()
	in.ready = utf8.AppendRune(in.ready, pasted)
}

// settle hands out text that nobody has marked as a paste, once it is not long: then it has been typed,
// and there may be no more for long. A rune that has not come whole waits for its rest.
func (in *input) settle() {
	if in.pasting || len(in.text) > handful {
		return
	}
	n := len(in.text)
	for i := n - 1; i >= 0 && i >= n-utf8.UTFMax; i-- {
		if utf8.RuneStart(in.text[i]) {
			if !utf8.FullRune(in.text[i:]) {
				n = i
			}
			break
		}
	}
	in.hand(n)
}

// Marks around a paste, and the switches for a terminal to send them.
const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
	pasteOn    = "\x1b[?2004h"
	pasteOff   = "\x1b[?2004l"
)

// markWait is how long, in milliseconds, a lone ESC waits for the rest of a mark, and text that is no
// marked paste for more of it; pasteWait is how long the text of a pasted line waits for its end.
const (
	markWait  = 25
	pasteWait = 250
)

// handful is how many bytes may come at once from somebody who types.
const handful = 64

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
		case len(in.held) > 0, len(in.text) > 0 && !in.pasting:
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
		if err == unix.EIO && in.keys {
			n, err = 0, nil
		}
		if err != nil {
			return 0, os.NewSyscallError("read", err)
		}
		if n == 0 {
			in.mu.Lock()
			in.gone = in.keys
			in.mu.Unlock()
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
		in.settle()
	}
}

// woken takes what was typed for the user and reports whether the input is closed.
func (in *input) woken() bool {
	var drain [16]byte
	_, _ = unix.Read(in.wake[0], drain[:]) // there is a byte, or another reader took it
	in.mu.Lock()
	typed, closed := in.typed, in.closed
	in.typed = nil
	in.mu.Unlock()
	for _, b := range typed {
		in.key(b)
	}
	return closed
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

// hungUp reports whether the terminal has gone.
func (in *input) hungUp() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.gone
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
				in.flush()
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

// put takes one byte. A tab with more behind it was not typed by hand either, even where the terminal
// does not mark pastes.
func (in *input) put(b byte, more bool) {
	if in.pasting {
		wasCR := in.wasCR
		in.wasCR = b == '\r'
		switch {
		case b == '\n' && wasCR:
		case b == '\n', b == '\r':
			in.key('\r')
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
	if in.keySoFar == wholeKey && b >= 0x20 && b != 0x7f {
		in.text = append(in.text, b)
		return
	}
	in.key(b)
}

// key hands out a byte that is a key or part of one, behind the text so far. It follows how readline reads
// keys: what is part of one is no text.
func (in *input) key(b byte) {
	in.flush()
	in.ready = append(in.ready, b)
	switch {
	case b == 0x1b:
		in.keySoFar = escapeKey
	case in.keySoFar == escapeKey && b == '[':
		in.keySoFar = csiKey
	case in.keySoFar == escapeKey && b == 'O':
		in.keySoFar = ss3Key
	case in.keySoFar > escapeKey && (b == ';' || '0' <= b && b <= '9'):
	default:
		in.keySoFar = wholeKey
	}
	switch b {
	case readline.CharBckSearch, readline.CharFwdSearch:
		in.searching = true
	case readline.CharBackspace, readline.CharCtrlH, 0x0f, 0x11, 0x16, 0x18, 0x1c, 0x1d, 0x1e, 0x1f: // it goes on
	default:
		in.searching = false
	}
}
