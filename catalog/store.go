package catalog

import (
	"context"
	"errors"
	"maps"
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
// change is durable when the method returns. Several sessions may use one store, and goroutines of one.
// Without a store catalogs go with the session.
type CatalogStore interface {
	// Store keeps a new catalog; ErrCatalogAlreadyExist when the name is taken.
	Store(ctx context.Context, d Descriptor) error
	// Replace makes of what is kept the new descriptor of the same name; ErrCatalogChanged when it is not
	// old any more, ErrCatalogNotExist when it is gone.
	Replace(ctx context.Context, old, next Descriptor) error
	// Remove forgets a catalog; ErrCatalogNotExist when it is not kept.
	Remove(ctx context.Context, name string) error
	// Get returns what is kept of a catalog.
	Get(ctx context.Context, name string) (Descriptor, bool, error)
	// List returns the names, sorted.
	List(ctx context.Context) ([]string, error)
	// Where says in a sentence where catalogs are kept.
	Where() string
}

// Equal reports whether two descriptors say the same.
func (d Descriptor) Equal(o Descriptor) bool {
	return d.Name == o.Name && d.Comment == o.Comment && maps.Equal(d.Properties, o.Properties)
}

const inMemory = "Catalogs are kept in memory and are gone with this session."
