package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/sqlparse"
)

func (s *Session) createCatalog(ctx context.Context, st *sqlparse.CreateCatalog) (*Result, error) {
	properties, err := optionMap(st.Options)
	if err != nil {
		return nil, err
	}
	if st.Name.Name == "" {
		return nil, refuse(st.Name.Span(), "A catalog needs a name")
	}
	if st.IfNotExists {
		if _, err := s.catalogs.Descriptor(st.Name.Name); err == nil {
			return &Result{Kind: Notice, Message: fmt.Sprintf("Catalog %s already exists.", st.Name.Name)}, nil
		}
	}
	d := catalog.Descriptor{Ref: catalog.Ref{Name: st.Name.Name, Properties: properties}}
	if st.Comment != nil {
		d.Comment = st.Comment.Text
	}
	if err := s.catalogs.CreateCatalog(ctx, d, st.IfNotExists); err != nil {
		return nil, err
	}
	return &Result{Kind: OK}, nil
}

func (s *Session) dropCatalog(st *sqlparse.DropCatalog) (*Result, error) {
	if err := s.catalogs.DropCatalog(st.Name.Name, st.IfExists); err != nil {
		return nil, err
	}
	return &Result{Kind: OK}, nil
}

func (s *Session) useCatalog(st *sqlparse.UseCatalog) (*Result, error) {
	if err := s.catalogs.UseCatalog(st.Name.Name); err != nil {
		return nil, err
	}
	return &Result{Kind: OK}, nil
}

func (s *Session) showCatalogs(st *sqlparse.ShowCatalogs) (*Result, error) {
	r := list("catalog name", filterLike(s.catalogs.ListCatalogs(), st.Like))
	r.Message = "Catalogs are kept in memory and are gone with this session." // the catalog store generic_in_memory
	return r, nil
}

// showCreateCatalog prints the statement in Flink 2's form. Only values of options that are declared
// public are printed.
func (s *Session) showCreateCatalog(st *sqlparse.ShowCreateCatalog) (*Result, error) {
	d, err := s.catalogs.Descriptor(st.Name.Name)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE CATALOG %s\n", sqlparse.QuoteIdent(d.Name))
	if d.Comment != "" {
		fmt.Fprintf(&b, "COMMENT %s\n", sqlparse.QuoteString(d.Comment))
	}
	writeWith(&b, catalogOptions(s.registry, d.Properties), d.Properties)
	return one("result", b.String()), nil
}

// catalogOptions returns the declared options of a catalog's type, 'type' among them.
func catalogOptions(r *catalog.Registry, properties map[string]string) []connector.Option {
	declared := []connector.Option{{Key: "type", Public: true}}
	if f := r.Factory(properties["type"]); f != nil {
		declared = append(declared, f.Options()...)
	}
	return declared
}

// writeWith writes a WITH clause with its keys sorted; nothing for no options.
func writeWith(b *strings.Builder, declared []connector.Option, values map[string]string) {
	if len(values) == 0 {
		return
	}
	b.WriteString("WITH (\n")
	for i, key := range sortedKeys(values) {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(b, "  %s = %s", sqlparse.QuoteString(key), sqlparse.QuoteString(connector.Printable(declared, key, values[key])))
	}
	b.WriteString("\n)\n")
}

// optionMap returns the options of a WITH clause; a key given twice is refused.
func optionMap(o *sqlparse.Options) (map[string]string, error) {
	m := map[string]string{}
	if o == nil {
		return m, nil
	}
	for _, item := range o.Items {
		if _, twice := m[item.Key.Text]; twice {
			return nil, refuse(item.Key.Span(), "option '%s' is given twice", item.Key.Text)
		}
		m[item.Key.Text] = item.Value.Text
	}
	return m, nil
}
