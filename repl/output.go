package repl

import (
	"context"
	"io"
)

// destination is where the rows of one result go. Either commit or drop is called at the end.
type destination interface {
	io.Writer
	// terminal reports whether one shows what is written.
	terminal() bool
	// flush shows what has been written so far, where somebody is watching.
	flush() error
	// commit says that the result is whole.
	commit(context.Context) error
	// drop says that there will be no more of the result.
	drop()
}

// destination returns where the rows of the next result go: 'sluice.output' if it is set, else a pager if
// there is one, else the screen. file is the name of the file, "" for the screen. A changelog is shown as it
// comes, which a pager would keep from view.
func (sh *shell) destination(ctx context.Context, changelog bool) (d destination, file string, err error) {
	if name := sh.engine.Option("sluice.output"); name != "" {
		d, err := sh.screen.output.open(ctx, sh, name)
		if err != nil {
			return nil, name, err
		}
		if d != nil {
			return d, name, nil
		}
	}
	if p := sh.pager(); p != "" && !changelog {
		return &spool{sh: sh, pager: p}, "", nil
	}
	return shown{results{sh.screen}, changelog}, "", nil
}

// shown is a result on the screen.
type shown struct {
	results
	live bool // every batch is to be seen soon, by whoever reads a pipe too
}

func (d shown) terminal() bool { return d.s.outTTY }

func (d shown) flush() error {
	switch {
	case d.s.outTTY:
		return d.s.Flush()
	case d.live:
		d.s.flushSoon()
	}
	return nil
}

func (d shown) commit(context.Context) error { return d.s.Flush() }

func (d shown) drop() {}

// messages is a result among the messages.
type messages struct{ s *Screen }

func (d messages) Write(p []byte) (int, error) {
	d.s.mu.Lock()
	defer d.s.mu.Unlock()
	if err := d.s.writeErr(p); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (d messages) terminal() bool { return d.s.errTTY }

func (d messages) flush() error { return nil }

func (d messages) commit(context.Context) error { return nil }

func (d messages) drop() {}
