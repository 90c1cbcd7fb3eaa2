package connector

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"
)

// Env is the one value of a process that is handed to every factory; nothing else is shared.
type Env struct {
	Clock    func() time.Time
	TempDir  string // where a factory may keep files while a job runs; "" is the system's
	StateDir string // journals; "" keeps none
	Memory   *Memory
	Files    *Files
	Waits    *Waits // for locks, of all statements and jobs; nil keeps no account
	Out, Err io.Writer
}

// Memory is a budget: whoever keeps rows reserves first.
type Memory struct {
	mu    sync.Mutex
	find  func() int64 // gives the limit when it is first asked for; nil once it has
	limit int64
	used  int64
}

// NewMemory returns a budget of limit bytes.
func NewMemory(limit int64) *Memory { return &Memory{limit: limit} }

// NewMemoryOf returns a budget of as many bytes as find says, which is called when that first matters:
// asking the machine takes longer than a small statement.
func NewMemoryOf(find func() int64) *Memory { return &Memory{find: find} }

// settle finds the limit. The caller holds the lock.
func (m *Memory) settle() {
	if m.find != nil {
		m.limit, m.find = m.find(), nil
	}
}

// MemoryError says that a reservation would exceed the budget.
type MemoryError struct{ Want, Used, Limit int64 }

// Error names the sizes and the option that raises the budget.
func (e *MemoryError) Error() string {
	return fmt.Sprintf("out of the memory budget: %d bytes wanted, %d of %d in use; raise it with SET 'sluice.memory' = '<size>'", e.Want, e.Used, e.Limit)
}

// Reserve takes n bytes (or gives back -n when n is negative); over the budget it takes nothing and
// returns a *MemoryError.
func (m *Memory) Reserve(n int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.settle()
	if n > 0 && m.used+n > m.limit {
		return &MemoryError{n, m.used, m.limit}
	}
	m.used += n
	return nil
}

// Limit returns the budget in bytes.
func (m *Memory) Limit() int64 { m.mu.Lock(); defer m.mu.Unlock(); m.settle(); return m.limit }

// SetLimit changes the budget.
func (m *Memory) SetLimit(n int64) { m.mu.Lock(); defer m.mu.Unlock(); m.limit, m.find = n, nil }

// Used returns the bytes reserved now.
func (m *Memory) Used() int64 { m.mu.Lock(); defer m.mu.Unlock(); return m.used }

// Files queues the writers of one file inside this process, by the file's identity, so that two jobs
// take turns instead of finding each other's lock. It also keeps SQLite's files and all others apart.
type Files struct {
	mu        sync.Mutex
	locks     map[string]chan struct{}
	databases map[*Database]struct{} // that SQLite has open
	plain     map[int]fs.FileInfo    // that something else has open, by claim
	claims    int
}

// NewFiles returns an empty queue.
func NewFiles() *Files { return &Files{locks: map[string]chan struct{}{}} }

// Lock waits for the turn to write the file named by key (device and inode, or the path of a file
// that does not exist yet) and returns the release. The wait ends with ctx.
func (f *Files) Lock(ctx context.Context, key string) (release func(), err error) {
	f.mu.Lock()
	c, ok := f.locks[key]
	if !ok {
		c = make(chan struct{}, 1)
		f.locks[key] = c
	}
	f.mu.Unlock()
	select {
	case c <- struct{}{}:
		var once sync.Once
		return func() { once.Do(func() { <-c }) }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
