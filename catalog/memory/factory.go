package memory

import (
	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
)

// Factory makes catalogs of type generic_in_memory.
type Factory struct{}

var _ catalog.Factory = Factory{}

// Type returns generic_in_memory.
func (Factory) Type() string { return "generic_in_memory" }

// Options returns default-database.
func (Factory) Options() []connector.Option {
	return []connector.Option{{
		Key: "default-database", Default: "default", Public: true,
		Doc: "the database that the catalog starts with and that is current after USE CATALOG",
	}}
}

// Catalog makes an empty catalog.
func (Factory) Catalog(name string, properties map[string]string, r *catalog.Registry) (catalog.Catalog, error) {
	db, ok := properties["default-database"]
	if !ok {
		db = "default"
	}
	if db == "" {
		return nil, &connector.OptionError{Key: "default-database", Msg: "option 'default-database' is empty; it needs a name"}
	}
	var budget *connector.Memory
	if r.Env != nil {
		budget = r.Env.Memory
	}
	return &Catalog{name: name, defaultDB: db, budget: budget, connectors: r, databases: map[string]*database{db: newDatabase(catalog.Database{})}}, nil
}

// Resolve returns the properties unchanged.
func (Factory) Resolve(properties map[string]string) (map[string]string, error) {
	return properties, nil
}

// Serialized returns false: the data is reached in this process only.
func (Factory) Serialized() bool { return false }
