package catalog

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluice-sql/sluice/types"
)

// Properties returns the flat property map of a table, with the keys of Flink's CatalogPropertiesUtil:
// schema.<i>.name, schema.<i>.data-type, schema.<i>.comment, schema.primary-key.name,
// schema.primary-key.columns, comment, and the options under their own keys. [FromProperties] is its
// inverse. An option whose key begins with "schema." or is "comment" cannot be told apart and is
// refused where tables are created.
func (t *CatalogTable) Properties() map[string]string {
	p := map[string]string{}
	for k, v := range t.Options {
		p[k] = v
	}
	for i, c := range t.Schema.Columns {
		prefix := "schema." + strconv.Itoa(i)
		p[prefix+".name"] = c.Name
		p[prefix+".data-type"] = c.Type.String()
		if c.Comment != "" {
			p[prefix+".comment"] = c.Comment
		}
	}
	if t.Schema.PrimaryKey != nil {
		p["schema.primary-key.name"] = t.Schema.PrimaryKeyName
		quoted := make([]string, len(t.Schema.PrimaryKey))
		for i, c := range t.Schema.PrimaryKey {
			quoted[i] = strconv.Itoa(t.Schema.Index(c))
		}
		p["schema.primary-key.columns"] = strings.Join(quoted, ";")
	}
	if t.Comment != "" {
		p["comment"] = t.Comment
	}
	if t.Kind == KindView {
		p["schema.kind"] = string(KindView)
	}
	for _, l := range []struct {
		key  string
		cols []string
	}{{"schema.read-only", t.ReadOnly}, {"schema.defaults", t.Defaults}} {
		if len(l.cols) > 0 {
			idx := make([]string, len(l.cols))
			for i, c := range l.cols {
				idx[i] = strconv.Itoa(t.Schema.Index(c))
			}
			p[l.key] = strings.Join(idx, ";")
		}
	}
	return p
}

// FromProperties returns the table that a flat property map describes.
func FromProperties(p map[string]string) (*CatalogTable, error) {
	t := &CatalogTable{Kind: KindTable, Options: map[string]string{}}
	for k, v := range p {
		if !strings.HasPrefix(k, "schema.") && k != "comment" {
			t.Options[k] = v
		}
	}
	t.Comment = p["comment"]
	if p["schema.kind"] == string(KindView) {
		t.Kind = KindView
	}
	for i := 0; ; i++ {
		prefix := "schema." + strconv.Itoa(i)
		name, ok := p[prefix+".name"]
		if !ok {
			break
		}
		typ, err := types.ParseType(p[prefix+".data-type"])
		if err != nil {
			return nil, fmt.Errorf("table property %s.data-type: %w", prefix, err)
		}
		t.Schema.Columns = append(t.Schema.Columns, types.Column{Name: name, Type: typ, Comment: p[prefix+".comment"]})
	}
	var err error
	if list, ok := p["schema.primary-key.columns"]; ok {
		t.Schema.PrimaryKeyName = p["schema.primary-key.name"]
		if t.Schema.PrimaryKey, err = t.columnsAt(list); err != nil {
			return nil, err
		}
	}
	if t.ReadOnly, err = t.columnsAt(p["schema.read-only"]); err != nil {
		return nil, err
	}
	if t.Defaults, err = t.columnsAt(p["schema.defaults"]); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *CatalogTable) columnsAt(list string) ([]string, error) {
	if list == "" {
		return nil, nil
	}
	var names []string
	for _, s := range strings.Split(list, ";") {
		i, err := strconv.Atoi(s)
		if err != nil || i < 0 || i >= len(t.Schema.Columns) {
			return nil, fmt.Errorf("table property: column position %q is not one of %d columns", s, len(t.Schema.Columns))
		}
		names = append(names, t.Schema.Columns[i].Name)
	}
	return names, nil
}
