package filesystem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sort"
	"time"

	"github.com/sluice-sql/sluice/connector"
)

// watch is what a source knows that looks for new files, by the option 'source.monitor-interval'.
//
// A file is read once, and only when nobody writes it any more. Nobody can say for certain that it is so; what
// is taken for it is that the file has not changed for one interval: its time is that long ago, or a look that
// long ago found it as it is. A file that comes by a rename, as this connector's own do, is whole anyway. One
// that changes before it is opened waits another interval. One that changes while it is read may have been
// read in half: that is an error, which ends the job before the rows of the checkpoint are there.
type watch struct {
	s      *source
	now    func() time.Time
	looked time.Time
	looks  int
	known  map[string]*sighting
	next   int // number of the next file
}

// sighting is a file that has been seen, by its path.
type sighting struct {
	file    file
	since   time.Time // when it was first seen as it is
	number  int       // among the source's files; -1: it is not ready yet
	done    bool
	changed bool // after it had been read, which has been said
	look    int  // the last that found it
}

// watching is a source to which files come.
type watching struct{ *source }

var _ connector.Watcher = watching{}

func newWatching(s *source) watching {
	s.watch = &watch{s: s, now: time.Now, known: map[string]*sighting{}}
	return watching{s}
}

// Splits returns the files that are there and ready. There need not be a directory yet.
func (w watching) Splits(ctx context.Context, _ int) ([]connector.Split, error) {
	sweep(w.t.path)
	return w.watch.look(ctx)
}

// Discover returns the files that have become ready since.
func (w watching) Discover(ctx context.Context) ([]connector.Split, error) {
	if w.watch.now().Sub(w.watch.looked) < w.t.interval {
		return nil, nil
	}
	return w.watch.look(ctx)
}

// look lists the files. What is new and ready comes by the time of its last change, then by name.
func (w *watch) look(ctx context.Context) ([]connector.Split, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	w.looked = w.now()
	w.looks++
	var files []file
	if _, err := os.Stat(w.s.t.path); !errors.Is(err, fs.ErrNotExist) {
		if files, err = list(w.s.t.path, w.s.t.pattern); err != nil {
			return nil, err
		}
	}
	var ready []*sighting
	for _, f := range files {
		k := w.known[f.path]
		switch {
		case k == nil:
			k = &sighting{file: f, since: w.looked, number: -1}
			w.known[f.path] = k
		case k.number >= 0:
			w.compare(k, f)
		case !same(k.file, f):
			k.file, k.since = f, w.looked
		}
		k.look = w.looks
		if k.number < 0 && (w.looked.Sub(k.since) >= w.s.t.interval || w.looked.Sub(f.info.ModTime()) >= w.s.t.interval) {
			ready = append(ready, k)
		}
	}
	for path, k := range w.known {
		if k.look != w.looks && (k.number < 0 || k.done) {
			delete(w.known, path) // removed; should there be such a file again, it is another
		}
	}
	sort.SliceStable(ready, func(i, j int) bool {
		a, b := ready[i].file, ready[j].file
		if t, u := a.info.ModTime(), b.info.ModTime(); !t.Equal(u) {
			return t.Before(u)
		}
		return a.path < b.path
	})
	splits := make([]connector.Split, len(ready))
	for i, k := range ready {
		k.number = w.next
		w.next++
		w.s.files[k.number] = k.file
		state, err := json.Marshal(piece{File: k.number, End: k.file.info.Size(), Last: true})
		if err != nil {
			return nil, err
		}
		splits[i] = connector.Split{ID: k.number, State: state}
	}
	if len(splits) == 0 {
		return nil, nil
	}
	return splits, nil
}

// same reports whether a file is as it was.
func same(a, b file) bool {
	return os.SameFile(a.info, b.info) && a.info.Size() == b.info.Size() && a.info.ModTime().Equal(b.info.ModTime())
}

// compare says once of a file that it has changed since it was read.
func (w *watch) compare(k *sighting, now file) {
	if !k.done || k.changed || same(k.file, now) {
		return
	}
	k.changed = true
	if env := w.s.t.env; env != nil && env.Err != nil {
		_, _ = fmt.Fprintf(env.Err, "[WARNING] %s has changed since it was read for table %s; a file is read once, so give new rows a file of their own\n", k.file.path, w.s.t.id)
	}
}

// postponed looks at a file once more before it is opened. One that is not what it was is left to later looks.
func (w *watch) postponed(number int) bool {
	f := w.s.files[number]
	st, err := os.Stat(f.path)
	if err == nil && same(f, file{f.path, st}) {
		return false
	}
	delete(w.s.files, number)
	delete(w.known, f.path)
	return true
}

// read notes that a file has been read to its end.
func (w *watch) read(number int) error {
	f := w.s.files[number]
	delete(w.s.files, number)
	k := w.known[f.path]
	if k == nil || k.number != number {
		return nil
	}
	k.done = true
	if st, err := os.Stat(f.path); err == nil && os.SameFile(st, f.info) && !same(f, file{f.path, st}) {
		return fmt.Errorf("%s was written while it was read, so that its last row may be torn; write files under another name, beginning with a point, and rename them when they are whole, or make '%s' longer", f.path, keyInterval)
	}
	return nil
}
