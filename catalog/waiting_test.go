package catalog_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/catalog/memory"
	"github.com/sluice-sql/sluice/connector"
)

// slowStore is a store in memory whose changes wait until they are let through, or called off.
type slowStore struct {
	mu      sync.Mutex
	kept    map[string]catalog.Descriptor
	waiting chan struct{} // gets one for each change that begins
	through chan struct{}
}

func newSlowStore() *slowStore {
	return &slowStore{kept: map[string]catalog.Descriptor{}, waiting: make(chan struct{}), through: make(chan struct{})}
}

func (s *slowStore) change(ctx context.Context, f func()) error {
	s.waiting <- struct{}{}
	select {
	case <-s.through:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
	return nil
}

func (s *slowStore) Store(ctx context.Context, d catalog.Descriptor) error {
	return s.change(ctx, func() { s.kept[d.Name] = d })
}

func (s *slowStore) Replace(ctx context.Context, _, next catalog.Descriptor) error {
	return s.change(ctx, func() { s.kept[next.Name] = next })
}

func (s *slowStore) Remove(ctx context.Context, name string) error {
	return s.change(ctx, func() { delete(s.kept, name) })
}

func (s *slowStore) Get(_ context.Context, name string) (catalog.Descriptor, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.kept[name]
	return d, ok, nil
}

func (s *slowStore) List(context.Context) (names []string, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range s.kept {
		names = append(names, n)
	}
	return names, nil
}

func (s *slowStore) Where() string { return "Catalogs are kept slowly." }

// While the store takes its time jobs and completion get what they ask for, and whoever waits can be
// called off.
func TestStoreIsNotWaitedForUnderALock(t *testing.T) {
	m, _ := newManager(t)
	store := newSlowStore()
	m.Store = store
	for _, c := range []struct {
		name string
		run  func(ctx context.Context) error
	}{
		{"create", func(ctx context.Context) error {
			return m.CreateCatalog(ctx, descriptor("x", "type", "vault", "path", "p"))
		}},
		{"alter", func(ctx context.Context) error {
			return m.AlterCatalog(ctx, "x", func(d catalog.Descriptor) catalog.Descriptor { d.Comment = "c"; return d })
		}},
		{"drop", func(ctx context.Context) error { return m.DropCatalog(ctx, "x") }},
	} {
		done := make(chan error)
		canceled, cancel := context.WithCancel(ctx)
		go func() { done <- c.run(canceled) }()
		<-store.waiting
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			_, live := m.Live("default_catalog")
			require.True(t, live)
			m.Identify([]string{"t"})
			m.AllKnown()
		}()
		select {
		case <-answered:
		case <-time.After(time.Minute):
			t.Fatal(c.name + " holds up everybody")
		}
		if c.name == "drop" {
			require.ErrorContains(t, m.UseCatalog(timeout(t), "x"), "context deadline exceeded", "it is going")
		}
		cancel()
		require.ErrorIs(t, <-done, context.Canceled, c.name)
		go func() { done <- c.run(ctx) }()
		<-store.waiting
		store.through <- struct{}{}
		require.NoError(t, <-done, c.name)
	}
	require.Equal(t, []string{"default_catalog"}, m.ListCatalogs(ctx))
	require.Equal(t, "default_catalog", m.CurrentCatalog())
}

func timeout(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
	t.Cleanup(cancel)
	return ctx
}

// hanging is a catalog type whose instances open when they are told to, or called off.
type hanging struct {
	memory.Factory
	opening chan struct{}
}

func (hanging) Type() string { return "hanging" }

func (f hanging) Catalog(name string, _ map[string]string, r *catalog.Registry) (catalog.Catalog, error) {
	c, err := f.Factory.Catalog(name, map[string]string{}, r)
	return hangingCatalog{c, f}, err
}

type hangingCatalog struct {
	catalog.Catalog
	f hanging
}

func (c hangingCatalog) Open(ctx context.Context) error {
	c.f.opening <- struct{}{}
	<-ctx.Done()
	return context.Cause(ctx)
}

// A kept catalog that hangs when it is opened can be called off, by each of those who wait for it.
func TestOpeningIsCanceled(t *testing.T) {
	f := hanging{opening: make(chan struct{})}
	m, err := catalog.NewCatalogManager(&catalog.Registry{Catalogs: []catalog.Factory{memory.Factory{}, f}, Env: &connector.Env{}})
	require.NoError(t, err)
	store := newSlowStore()
	store.kept["x"] = descriptor("x", "type", "hanging")
	m.Store = store
	first, cancel := context.WithCancel(ctx)
	done := make(chan error)
	go func() { done <- m.UseCatalog(first, "x") }()
	<-f.opening
	require.ErrorIs(t, m.UseCatalog(timeout(t), "x"), context.DeadlineExceeded)
	_, err = m.Catalog(timeout(t), "x")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, m.DropCatalog(timeout(t), "x"), context.DeadlineExceeded)
	cancel()
	require.ErrorIs(t, <-done, context.Canceled)
	require.Equal(t, "default_catalog", m.CurrentCatalog())
}

// A catalog that is being dropped does not become the current one.
func TestDroppedIsNotUsed(t *testing.T) {
	for range 200 {
		m, _ := newManager(t)
		require.NoError(t, m.CreateCatalog(ctx, descriptor("x", "type", "vault", "path", "p")))
		var wg sync.WaitGroup
		for _, f := range []func() error{
			func() error { return m.DropCatalog(ctx, "x") },
			func() error { return m.UseCatalog(ctx, "x") },
			func() error { return m.UseDatabase(ctx, "x", "main") },
		} {
			wg.Add(1)
			go func() {
				defer wg.Done()
				_ = f() // whoever is first wins
			}()
		}
		wg.Wait()
		require.Contains(t, m.ListCatalogs(ctx), m.CurrentCatalog())
		require.NotEmpty(t, m.CurrentDatabase())
	}
}
