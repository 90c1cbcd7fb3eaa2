package catalog

import (
	"context"
	"fmt"
	"maps"
)

// OpenCatalog opens a catalog for this session alone: the Store does not get it, and one of its name that the
// Store has stands behind it. That the session has the very same catalog already is no error.
func (m *CatalogManager) OpenCatalog(ctx context.Context, d Descriptor) error {
	if reservedCatalog(d.Name) {
		return &Error{Name: d.Name, Part: CatalogPart, Msg: fmt.Sprintf("The name %s is reserved: names that begin with _sluice cannot be created.", d.Name)}
	}
	d, c, err := m.open(ctx, d)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if e, ok := m.catalogs[d.Name]; ok {
		if !maps.Equal(e.desc.Properties, d.Properties) {
			err = alreadyThere(d.Name)
		}
		if cerr := c.Close(); err == nil {
			err = cerr
		}
		return err
	}
	m.catalogs[d.Name] = newEntry(d, false, c)
	return nil
}
