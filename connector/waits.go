package connector

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Waits are the waits for locks that last at the moment, so that whoever waits for a statement can be told
// why. The zero value is ready, and nil has none.
type Waits struct {
	mu   sync.Mutex
	list []*Wait
}

// Wait is one of [Waits].
type Wait struct {
	// File is what is waited for.
	File string
	// Since is when the wait began.
	Since time.Time
	// Holder says who has the lock now, such as " by process 12 (sqlite3)"; "" when that is not known.
	Holder func() string
}

// Begin says that a wait begins; end says that it has ended.
func (w *Waits) Begin(file string, holder func() string) (end func()) {
	if w == nil {
		return func() {}
	}
	one := &Wait{File: file, Since: time.Now(), Holder: holder}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.list = append(w.list, one)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.list = slices.DeleteFunc(w.list, func(o *Wait) bool { return o == one })
	}
}

// Longest returns the wait that has lasted longest, nil when there is none.
func (w *Waits) Longest() *Wait {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.list) == 0 {
		return nil
	}
	return w.list[0]
}

type waitsKey struct{}

// WithWaits returns a context whose waits for locks are noted in w.
func WithWaits(ctx context.Context, w *Waits) context.Context {
	if w == nil {
		return ctx
	}
	return context.WithValue(ctx, waitsKey{}, w)
}

// WaitsOf returns where the waits of a context are noted, nil when nowhere.
func WaitsOf(ctx context.Context) *Waits {
	w, _ := ctx.Value(waitsKey{}).(*Waits)
	return w
}
