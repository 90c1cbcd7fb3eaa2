package catalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/sluice-sql/sluice/connector"
)

// Ref is the serialised form of a catalog: its name and its properties, 'type' among them.
type Ref struct {
	Name       string            `json:"name"`
	Properties map[string]string `json:"properties"`
}

// Registry is the list of what a process can open: the catalog types, the connectors and the
// environment they share. main makes the one value.
type Registry struct {
	Catalogs   []Factory
	Connectors []connector.Factory
	Env        *connector.Env
}

// Factory returns the factory of a catalog type, or nil.
func (r *Registry) Factory(typ string) Factory {
	for _, f := range r.Catalogs {
		if f.Type() == typ {
			return f
		}
	}
	return nil
}

// New checks the properties and makes an instance of a catalog, not opened.
func (r *Registry) New(ref Ref) (Catalog, error) {
	f, err := r.factoryOf(ref.Properties)
	if err != nil {
		return nil, err
	}
	if err := connector.CheckOptions("catalog type '"+f.Type()+"'", withType(f), ref.Properties); err != nil {
		return nil, err
	}
	return f.Catalog(ref.Name, ref.Properties, r)
}

func (r *Registry) factoryOf(properties map[string]string) (Factory, error) {
	names := make([]string, len(r.Catalogs))
	for i, f := range r.Catalogs {
		names[i] = f.Type()
	}
	typ, ok := properties["type"]
	if !ok {
		return nil, &connector.OptionError{Msg: fmt.Sprintf("a catalog needs the option 'type', one of %s", quoteList(names))}
	}
	f := r.Factory(typ)
	if f == nil {
		return nil, &connector.OptionError{Key: "type", Msg: fmt.Sprintf("unknown catalog type '%s'; available: %s%s", typ, quoteList(names), didYouMean(typ, names))}
	}
	return f, nil
}

func withType(f Factory) []connector.Option {
	return append([]connector.Option{{Key: "type", Required: true, Public: true, Doc: "the catalog's type"}}, f.Options()...)
}

// Table opens a table of a catalog: through the connector its options name, else the catalog's own
// factory.
func (r *Registry) Table(ctx context.Context, c Catalog, id connector.ObjectIdentifier, t *CatalogTable) (connector.Table, error) {
	f := c.Factory()
	if name, ok := t.Options["connector"]; ok {
		var err error
		if f, err = r.Connector(id, name); err != nil {
			return nil, err
		}
	}
	if f == nil {
		return nil, fmt.Errorf("table %s has no 'connector' option, and its catalog keeps no rows itself", id)
	}
	def := t.Def(id)
	if err := checkMetadata(id, def, f); err != nil {
		return nil, err
	}
	return f.Table(ctx, def, r.Env)
}

// Connector returns the connector of a name, for a table.
func (r *Registry) Connector(id connector.ObjectIdentifier, name string) (connector.Factory, error) {
	names := make([]string, len(r.Connectors))
	for i, f := range r.Connectors {
		if names[i] = f.Identifier(); names[i] == name {
			return f, nil
		}
	}
	return nil, fmt.Errorf("table %s: unknown connector '%s'; available: %s%s", id, name, quoteList(names), didYouMean(name, names))
}

// Creator returns the connector of a table that CREATE TABLE AS is to fill, and what that writes.
func (r *Registry) Creator(id connector.ObjectIdentifier, t *CatalogTable) (connector.Creator, connector.TableDef, connector.Insert, error) {
	def := t.Def(id)
	name := t.Options["connector"]
	f, err := r.Connector(id, name)
	if err == nil {
		err = checkMetadata(id, def, f)
	}
	if err != nil {
		return nil, def, connector.Insert{}, err
	}
	c, ok := f.(connector.Creator)
	if !ok {
		return nil, def, connector.Insert{}, &connector.OptionError{Key: "connector", Msg: fmt.Sprintf(
			"the connector '%s' cannot make table %s together with its rows; CREATE TABLE it without AS, then INSERT INTO it", name, id)}
	}
	return c, def, connector.Insert{Columns: t.Persisted()}, nil
}

// checkMetadata refuses metadata columns that a connector does not have.
func checkMetadata(id connector.ObjectIdentifier, def connector.TableDef, f connector.Factory) error {
	var keys []string
	if r, ok := f.(connector.MetadataReader); ok {
		for _, m := range r.Metadata() {
			keys = append(keys, m.Key)
		}
	}
	for i, k := range def.Metadata {
		if !slices.Contains(keys, k) {
			name := def.Schema.Columns[len(def.Schema.Columns)-len(def.Metadata)+i].Name
			return fmt.Errorf("table %s, column %s: the connector '%s' has no metadata '%s'; it has: %s%s",
				id, connector.QuoteName(name), f.Identifier(), k, quoteList(keys), didYouMean(k, keys))
		}
	}
	return nil
}

// Instances are the catalogs that one job opened for itself from their serialised form. Catalogs that
// cannot be serialised are found live by name and stay open.
type Instances struct {
	Registry *Registry
	Live     func(name string) (Catalog, bool)

	mu   sync.Mutex
	open map[string]Catalog
}

// Catalog returns the job's instance of a catalog, opening it at first use.
func (in *Instances) Catalog(ctx context.Context, ref Ref) (Catalog, error) {
	f, err := in.Registry.factoryOf(ref.Properties)
	if err != nil {
		return nil, fmt.Errorf("catalog %s: %w", ref.Name, err)
	}
	if !f.Serialized() {
		if in.Live != nil {
			if c, ok := in.Live(ref.Name); ok {
				return c, nil
			}
		}
		return nil, fmt.Errorf("catalog %s of type '%s' lives in the process that created it and is not there", ref.Name, f.Type())
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if c, ok := in.open[ref.Name]; ok {
		return c, nil
	}
	c, err := in.Registry.New(ref)
	if err == nil {
		err = c.Open(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("open catalog %s: %w", ref.Name, err)
	}
	if in.open == nil {
		in.open = map[string]Catalog{}
	}
	in.open[ref.Name] = c
	return c, nil
}

// Close closes what the job opened.
func (in *Instances) Close() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	var errs []error
	for _, c := range in.open {
		errs = append(errs, c.Close())
	}
	in.open = nil
	return errors.Join(errs...)
}

func quoteList(names []string) string {
	s := ""
	for i, n := range names {
		if i > 0 {
			s += ", "
		}
		s += "'" + n + "'"
	}
	if s == "" {
		return "none"
	}
	return s
}

func didYouMean(name string, names []string) string {
	if c := connector.Closest(name, names); c != "" {
		return fmt.Sprintf("; did you mean '%s'?", c)
	}
	return ""
}
