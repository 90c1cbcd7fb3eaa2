// Package catalog holds the contracts of catalogs and the session's registry of them; it has no
// implementation of a catalog. Those are one folder each below it.
//
// A [Catalog] lists, describes, creates, alters and drops the tables and views of its databases, and stages
// the tables of CREATE TABLE AS. [CatalogManager] keeps the catalogs of a session together with the
// properties each was created with: name and properties are the whole serialised form of a catalog, from
// which a job opens its own instance. It also has the session's temporary objects (temporary.go).
// [CatalogStore] is where catalogs are kept between sessions; without one they go with the session.
// [CatalogTable] and its flat property map (properties.go, Flink's CatalogPropertiesUtil keys) are the
// serialised form of a table.
package catalog
