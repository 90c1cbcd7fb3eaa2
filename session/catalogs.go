package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/catalog/filestore"
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
	d := catalog.Descriptor{Ref: catalog.Ref{Name: st.Name.Name, Properties: properties}}
	if st.Comment != nil {
		d.Comment = st.Comment.Text
	}
	switch err := s.catalogs.CreateCatalog(ctx, d); {
	case st.IfNotExists && errors.Is(err, catalog.ErrCatalogAlreadyExist):
		return &Result{Kind: Notice, Message: fmt.Sprintf("Catalog %s already exists.", d.Name)}, nil
	case err != nil:
		return nil, err
	}
	return &Result{Kind: OK, Message: s.missingStore(st.Name.Name)}, nil
}

// missingStore says that the store of a catalog is not there yet; "" when it is.
func (s *Session) missingStore(name string) string {
	c, _ := s.catalogs.Live(name)
	p, ok := c.(catalog.Prober)
	if !ok || p.Missing() == "" {
		return ""
	}
	text := p.Missing()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// catalogStore returns where the definitions of catalogs are kept; nil keeps none.
func (o *options) catalogStore() (catalog.CatalogStore, error) {
	if kind, _ := o.get(keyStoreKind); kind != "file" {
		return nil, nil
	}
	dir, _ := o.get(keyStorePath)
	if dir == "" {
		return nil, fmt.Errorf("option '%s': there is no home directory to keep catalogs in; name a directory", keyStorePath)
	}
	return filestore.New(dir), nil
}

func (s *Session) dropCatalog(ctx context.Context, st *sqlparse.DropCatalog) (*Result, error) {
	err := s.catalogs.DropCatalog(ctx, st.Name.Name)
	if st.IfExists && errors.Is(err, catalog.ErrCatalogNotExist) {
		err = nil
	}
	if err != nil {
		return nil, err
	}
	return &Result{Kind: OK}, nil
}

func (s *Session) useCatalog(ctx context.Context, st *sqlparse.UseCatalog) (*Result, error) {
	if err := s.catalogs.UseCatalog(ctx, st.Name.Name); err != nil {
		return nil, err
	}
	return &Result{Kind: OK}, nil
}

// showCatalogs lists the catalogs and says where they are kept.
func (s *Session) showCatalogs(ctx context.Context, st *sqlparse.ShowCatalogs) (*Result, error) {
	names, err := s.catalogs.AllCatalogs(ctx)
	r := list("catalog name", filterLike(names, st.Like))
	r.Message = s.catalogs.StoreWhere()
	if err != nil {
		r.Message += fmt.Sprintf("\nNot all are listed: %s", s.scrub(&execution{}, err.Error()))
	}
	return r, nil
}

// alterCatalog changes a catalog's options or comment. The catalog is opened again with what it has then.
func (s *Session) alterCatalog(ctx context.Context, st *sqlparse.AlterCatalog) (*Result, error) {
	set, err := optionMap(st.Set)
	if err != nil {
		return nil, err
	}
	for _, key := range st.Reset {
		switch key.Text {
		case "":
			return nil, refuse(key.Span(), "ALTER CATALOG RESET does not support empty key")
		case "type":
			return nil, refuse(key.Span(), "ALTER CATALOG RESET does not support changing 'type'")
		}
	}
	d, err := s.catalogs.Descriptor(ctx, st.Name.Name)
	if err != nil {
		return nil, err
	}
	if typ, ok := set["type"]; ok && typ != d.Properties["type"] {
		for _, o := range st.Set.Items {
			if o.Key.Text == "type" {
				return nil, &sqlparse.Error{Span: o.Key.Span(), Msg: "ALTER CATALOG SET does not support changing 'type'", Hint: "DROP CATALOG and CREATE CATALOG make one of another type"}
			}
		}
	}
	err = s.catalogs.AlterCatalog(ctx, st.Name.Name, func(d catalog.Descriptor) catalog.Descriptor {
		d.Properties = maps.Clone(d.Properties)
		maps.Copy(d.Properties, set)
		for _, key := range st.Reset {
			delete(d.Properties, key.Text)
		}
		if st.Comment != nil {
			d.Comment = st.Comment.Text
		}
		return d
	})
	if err != nil {
		return nil, err
	}
	return &Result{Kind: OK, Message: s.missingStore(st.Name.Name)}, nil
}

// describeCatalog gives a catalog's name, type and comment, and with EXTENDED its other options. Only
// values of options that are declared public are printed.
func (s *Session) describeCatalog(ctx context.Context, st *sqlparse.DescribeCatalog) (*Result, error) {
	d, err := s.catalogs.Descriptor(ctx, st.Name.Name)
	if err != nil {
		return nil, err
	}
	m := newMetadata("info name", "info value")
	m.add("name", d.Name)
	m.add("type", d.Properties["type"])
	m.add("comment", d.Comment)
	if st.Extended {
		declared := catalogOptions(s.registry, d.Properties)
		for _, key := range sortedKeys(d.Properties) {
			if key != "type" {
				m.add("option:"+key, connector.Printable(declared, key, d.Properties[key]))
			}
		}
	}
	return m.result(), nil
}

// showCreateCatalog prints the statement in Flink 2's form. Only values of options that are declared
// public are printed.
func (s *Session) showCreateCatalog(ctx context.Context, st *sqlparse.ShowCreateCatalog) (*Result, error) {
	d, err := s.catalogs.Descriptor(ctx, st.Name.Name)
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
