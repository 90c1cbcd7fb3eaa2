package sqlparse

// CreateCatalog is CREATE CATALOG [IF NOT EXISTS] name [COMMENT 'x'] WITH (…).
type CreateCatalog struct {
	Pos
	IfNotExists bool
	Name        Ident
	Comment     *Literal // nil: none
	Options     *Options // never nil after parsing
}

// DropCatalog is DROP CATALOG [IF EXISTS] name.
type DropCatalog struct {
	Pos
	IfExists bool
	Name     Ident
}

// UseCatalog is USE CATALOG name.
type UseCatalog struct {
	Pos
	Name Ident
}

// ShowCatalogs is SHOW CATALOGS [like].
type ShowCatalogs struct {
	Pos
	Like *ShowLike // nil: all
}

// ShowCurrentCatalog is SHOW CURRENT CATALOG.
type ShowCurrentCatalog struct{ Pos }

// ShowCreateCatalog is SHOW CREATE CATALOG name.
type ShowCreateCatalog struct {
	Pos
	Name Ident
}

func (*CreateCatalog) statement()        {}
func (*CreateCatalog) Form() string      { return "CREATE CATALOG" }
func (*DropCatalog) statement()          {}
func (*DropCatalog) Form() string        { return "DROP CATALOG" }
func (*UseCatalog) statement()           {}
func (*UseCatalog) Form() string         { return "USE CATALOG" }
func (*ShowCatalogs) statement()         {}
func (*ShowCatalogs) Form() string       { return "SHOW CATALOGS" }
func (*ShowCurrentCatalog) statement()   {}
func (*ShowCurrentCatalog) Form() string { return "SHOW CURRENT CATALOG" }
func (*ShowCreateCatalog) statement()    {}
func (*ShowCreateCatalog) Form() string  { return "SHOW CREATE CATALOG" }
