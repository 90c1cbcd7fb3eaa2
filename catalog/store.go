package catalog

import (
	"errors"
	"maps"
	"slices"
	"sync"
)

// Sentinels of a CatalogStore.
var (
	// ErrCatalogAlreadyExist: the name of the catalog to keep is taken.
	ErrCatalogAlreadyExist = errors.New("catalog already exists")
	// ErrCatalogNotExist: the catalog named is not kept.
	ErrCatalogNotExist = errors.New("catalog does not exist")
	// ErrCatalogChanged: what is kept of a catalog is not what it was thought to be.
	ErrCatalogChanged = errors.New("catalog was changed by another session")
)

// CatalogStore is where catalog definitions are kept between sessions; the catalogs' tables are not. A
// change is durable when the method returns. Several sessions may use one store.
type CatalogStore interface {
	// Store keeps a new catalog; ErrCatalogAlreadyExist when the name is taken.
	Store(d Descriptor) error
	// Replace makes of what is kept the new descriptor of the same name; ErrCatalogChanged when it is not
	// old any more, ErrCatalogNotExist when it is gone.
	Replace(old, new Descriptor) error
	// Remove forgets a catalog; ErrCatalogNotExist when it is not kept.
	Remove(name string) error
	// Get returns what is kept of a catalog.
	Get(name string) (Descriptor, bool, error)
	// List returns the names, sorted.
	List() ([]string, error)
	// Where says in a sentence where catalogs are kept.
	Where() string
}

func sameDescriptor(a, b Descriptor) bool {
	return a.Name == b.Name && a.Comment == b.Comment && maps.Equal(a.Properties, b.Properties)
}

// memoryStore is the catalog store of kind generic_in_memory.
type memoryStore struct {
	mu   sync.Mutex
	kept map[string]Descriptor
}

// NewMemoryStore returns a store that goes with the process.
func NewMemoryStore() CatalogStore { return &memoryStore{kept: map[string]Descriptor{}} }

func (s *memoryStore) Store(d Descriptor) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.kept[d.Name]; taken {
		return ErrCatalogAlreadyExist
	}
	s.kept[d.Name] = d
	return nil
}

func (s *memoryStore) Replace(old, new Descriptor) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept, ok := s.kept[old.Name]
	switch {
	case !ok:
		return ErrCatalogNotExist
	case !sameDescriptor(kept, old):
		return ErrCatalogChanged
	}
	s.kept[old.Name] = new
	return nil
}

func (s *memoryStore) Remove(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.kept[name]; !ok {
		return ErrCatalogNotExist
	}
	delete(s.kept, name)
	return nil
}

func (s *memoryStore) Get(name string) (Descriptor, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d, ok := s.kept[name]
	return d, ok, nil
}

func (s *memoryStore) List() ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.kept)), nil
}

func (s *memoryStore) Where() string { return inMemory }

const inMemory = "Catalogs are kept in memory and are gone with this session."
