package repl

import (
	"os"

	"golang.org/x/sys/unix"
)

// tty is a terminal's line discipline. At a prompt it is raw: every key is readline's. While a
// statement runs only signals and output are its own: Ctrl-C is a signal, and what is typed or still to
// come of a paste waits, unchanged and without echo, for the next prompt.
type tty struct {
	fd    int
	saved unix.Termios
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), getTermios)
	return err == nil
}

func openTTY(f *os.File) (*tty, error) {
	saved, err := unix.IoctlGetTermios(int(f.Fd()), getTermios)
	if err != nil {
		return nil, err
	}
	return &tty{int(f.Fd()), *saved}, nil
}

func (t *tty) raw() error {
	m := t.quiet()
	m.Lflag &^= unix.ISIG | unix.IEXTEN
	return unix.IoctlSetTermios(t.fd, setTermios, &m)
}

func (t *tty) running() error {
	m := t.quiet()
	return unix.IoctlSetTermios(t.fd, setTermios, &m)
}

func (t *tty) quiet() unix.Termios {
	m := t.saved
	m.Iflag &^= unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	m.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON
	m.Lflag |= unix.ISIG
	m.Cc[unix.VMIN], m.Cc[unix.VTIME] = 1, 0
	return m
}

func (t *tty) restore() error { return unix.IoctlSetTermios(t.fd, setTermios, &t.saved) }
