package catalog

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
)

// Alterer is a catalog whose properties can be changed in place. One that lives in the process is lost
// when it is made anew, and so can be altered only this way.
type Alterer interface {
	// Alter takes new properties, which have been checked against the type's options. What would lose data
	// is refused, with the reason.
	Alter(properties map[string]string) error
}

// AlterCatalog changes a catalog's properties or comment, here and in the Store. The catalog is made anew
// and opened with them before anything is changed; running jobs keep their own instances, and the
// current catalog stays the current one. change is given a copy and returns what is to be.
func (m *CatalogManager) AlterCatalog(ctx context.Context, name string, change func(Descriptor) Descriptor) error {
	e, err := m.find(ctx, name)
	if err != nil {
		return err
	}
	if err := e.lock(ctx); err != nil {
		return err
	}
	defer e.unlock()
	m.mu.Lock()
	old, cat, stored := e.desc, e.cat, e.stored && m.Store != nil
	m.mu.Unlock()
	if stored {
		kept, ok, err := m.Store.Get(ctx, name)
		switch {
		case err != nil:
			return &Error{Name: name, Part: CatalogPart, Msg: err.Error(), Err: err}
		case !ok:
			return &Error{Name: name, Part: CatalogPart, Err: ErrCatalogNotExist, Msg: fmt.Sprintf("Catalog %s was dropped by another session.", name)}
		}
		old = kept
	}
	next := old
	next.Properties = maps.Clone(old.Properties)
	next = change(next)
	next.Name = name
	if next.Properties["type"] != old.Properties["type"] {
		return &Error{Name: name, Part: CatalogPart, Msg: "ALTER CATALOG does not support changing 'type'", Hint: "drop the catalog and create another"}
	}
	if maps.Equal(next.Properties, old.Properties) {
		return m.altered(ctx, name, e, old, next, stored, nil)
	}
	f, err := m.Registry.factoryOf(next.Properties)
	if err != nil {
		return err
	}
	if cat != nil && !f.Serialized() {
		if _, err := m.Registry.New(next.Ref); err != nil { // checks them, and makes nothing that is kept
			return err
		}
		a, ok := cat.(Alterer)
		if !ok {
			return &Error{Name: name, Part: CatalogPart, Msg: fmt.Sprintf("Catalog %s of type '%s' lives in this process: with other properties it would be another, empty one.", name, f.Type())}
		}
		if err := a.Alter(next.Properties); err != nil {
			return &Error{Name: name, Part: CatalogPart, Msg: fmt.Sprintf("Cannot alter catalog %s: %s.", name, err), Err: err}
		}
		if err := m.altered(ctx, name, e, old, next, stored, nil); err != nil {
			return errors.Join(err, a.Alter(old.Properties))
		}
		return nil
	}
	next, fresh, err := m.open(ctx, next)
	if err != nil {
		return err
	}
	if err := m.altered(ctx, name, e, old, next, stored, fresh); err != nil {
		return errors.Join(err, fresh.Close())
	}
	if cat != nil {
		return cat.Close()
	}
	return nil
}

// altered keeps the new descriptor and, if there is one, the new instance. The entry's lock is held: it is
// not dropped before the end.
func (m *CatalogManager) altered(ctx context.Context, name string, e *entry, old, next Descriptor, stored bool, fresh Catalog) error {
	if !m.registered(name, e) { // dropped meanwhile
		return m.unknownCatalog(name, m.ListCatalogs(ctx))
	}
	if stored {
		if err := m.Store.Replace(ctx, old, next); err != nil {
			if errors.Is(err, ErrCatalogChanged) || errors.Is(err, ErrCatalogNotExist) {
				err = &Error{Name: name, Part: CatalogPart, Err: err, Msg: fmt.Sprintf("Catalog %s was changed by another session; look at it and try again.", name)}
			}
			return err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	e.desc = next
	if fresh != nil {
		e.cat, e.first = fresh, &sync.Once{}
	}
	return nil
}
