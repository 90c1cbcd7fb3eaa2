package session

import (
	"context"

	"github.com/sluice-sql/sluice/catalog"
)

// OpenCatalog opens a catalog for this session alone, whatever store keeps those that CREATE CATALOG makes, as
// a program does with what its command line names. The same catalog again is no error.
func (s *Session) OpenCatalog(ctx context.Context, name string, properties map[string]string) error {
	return s.catalogs.OpenCatalog(ctx, catalog.Descriptor{Ref: catalog.Ref{Name: name, Properties: properties}})
}
