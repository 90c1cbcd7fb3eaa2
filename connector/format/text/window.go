package text

import (
	"errors"
	"fmt"
	"io"

	"github.com/sluice-sql/sluice/connector"
)

// Window is a buffer over a reader. The bytes at hand are Buf[Pos:End]; Buf[End] is always 0, so that a loop
// which stops at 0 need not look for the end, and eight bytes can be loaded from every place before End.
type Window struct {
	Buf      []byte
	Pos, End int
	// EOF says that the reader has no more than what is at hand.
	EOF bool

	r        io.Reader
	budget   *connector.Memory
	reserved int64
	base     int64 // where Buf[0] stands in the reader's bytes
	size     int
}

// WindowSize is the usual size of a window. A window grows when one record is longer.
const WindowSize = 512 << 10

// pad are the bytes behind a full window.
const pad = 8

// maxWindow bounds the length of a record: positions within a window and offsets within a vector have 31 bits.
const maxWindow = 1 << 30

// NewWindow returns a window of the given size over r. What a longer record needs is reserved from budget,
// which may be nil.
func NewWindow(r io.Reader, size int, budget *connector.Memory) *Window {
	size = max(size, 4) // a byte order mark, and more
	return &Window{Buf: make([]byte, size+pad), r: r, budget: budget, size: size}
}

// errTooLong says that a record exceeds what a window can ever hold.
var errTooLong = fmt.Errorf("it is longer than %d MiB, the most that one row may have", maxWindow>>20)

// Fill reads more: as much as there is room for when the bytes before Pos are dropped, which moves Pos to 0.
// A window that is full of one record grows.
func (w *Window) Fill() error {
	if w.EOF {
		return nil
	}
	rest := w.End - w.Pos
	if rest > w.size*3/4 {
		if err := w.grow(); err != nil {
			return err
		}
	} else if w.Pos > 0 {
		copy(w.Buf, w.Buf[w.Pos:w.End])
	}
	w.base += int64(w.Pos)
	w.Pos, w.End = 0, rest
	for stuck := 0; w.End < w.size; {
		n, err := w.r.Read(w.Buf[w.End:w.size])
		w.End += n
		if err == io.EOF {
			w.EOF = true
			break
		}
		if n > 0 {
			stuck = 0
		} else if stuck++; err == nil && stuck == 100 {
			err = io.ErrNoProgress
		}
		if err != nil {
			w.Buf[w.End] = 0
			return err
		}
	}
	w.Buf[w.End] = 0
	return nil
}

func (w *Window) grow() error {
	if w.size >= maxWindow {
		return errTooLong
	}
	size := min(2*w.size, maxWindow)
	if w.budget != nil {
		if err := w.budget.Reserve(int64(size - w.size)); err != nil {
			return fmt.Errorf("it does not fit the memory: %w", err)
		}
		w.reserved += int64(size - w.size)
	}
	buf := make([]byte, size+pad)
	copy(buf, w.Buf[w.Pos:w.End])
	w.Buf, w.size = buf, size
	return nil
}

// TooLong reports whether an error of Fill says that a record is too long, as opposed to one of reading.
func TooLong(err error) bool {
	var m *connector.MemoryError
	return errors.Is(err, errTooLong) || errors.As(err, &m)
}

// Offset returns how many bytes the reader had before Pos.
func (w *Window) Offset() int64 { return w.base + int64(w.Pos) }

// Base returns how many bytes the reader had before Buf[0].
func (w *Window) Base() int64 { return w.base }

// Close gives back what was reserved.
func (w *Window) Close() {
	if w.reserved > 0 {
		_ = w.budget.Reserve(-w.reserved) // giving back cannot fail
		w.reserved = 0
	}
}
