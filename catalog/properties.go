package catalog

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluice-sql/sluice/types"
)

// ReservedOption reports whether a key of the flat property map is not an option's: a table with such an
// option is refused where it is created.
func ReservedOption(key string) bool {
	return key == "comment" || strings.HasPrefix(key, "schema.") || strings.HasPrefix(key, "partition.keys.")
}

// Properties returns the flat property map of a table. [FromProperties] is its inverse. The keys are those
// of Flink's CatalogPropertiesUtil:
//
//	schema.<i>.name .data-type .comment           every declared column, by its position
//	schema.<i>.expr                               a computed column
//	schema.<i>.metadata .virtual                  a metadata column: its key, and whether it is VIRTUAL
//	schema.watermark.0.rowtime .strategy.expr .strategy.data-type
//	schema.primary-key.name .columns              columns by position among the physical ones, as "0;2"
//	partition.keys.<i>.name
//	comment
//
// our own are
//
//	schema.kind                                   VIEW
//	schema.view-original-query, schema.view-expanded-query
//	schema.distribution.kind .buckets .columns.<i>.name
//	schema.read-only, schema.defaults             columns by position among the physical ones
//
// and the options stand under their own keys.
func (t *CatalogTable) Properties() map[string]string {
	p := map[string]string{}
	for k, v := range t.Options {
		p[k] = v
	}
	for i, c := range t.Columns() {
		prefix := "schema." + strconv.Itoa(i)
		p[prefix+".name"] = c.Name
		p[prefix+".data-type"] = c.Type.String()
		if c.Comment != "" {
			p[prefix+".comment"] = c.Comment
		}
		switch v := c.Virtual; {
		case v == nil:
		case v.Key != "":
			p[prefix+".metadata"] = v.Key
			p[prefix+".virtual"] = strconv.FormatBool(!v.Stored)
		default:
			p[prefix+".expr"] = v.Expr
		}
	}
	if t.Schema.PrimaryKey != nil {
		p["schema.primary-key.name"] = t.Schema.PrimaryKeyName
		p["schema.primary-key.columns"] = t.positions(t.Schema.PrimaryKey)
	}
	if w := t.Watermark; w != nil {
		p["schema.watermark.0.rowtime"] = w.Column
		p["schema.watermark.0.strategy.expr"] = w.Expr
		p["schema.watermark.0.strategy.data-type"] = w.Type.String()
	}
	putNames(p, "partition.keys.", t.PartitionKeys)
	if d := t.Distribution; d != nil {
		p["schema.distribution.kind"] = d.Kind
		p["schema.distribution.buckets"] = strconv.Itoa(d.Buckets)
		putNames(p, "schema.distribution.columns.", d.Columns)
	}
	if t.Comment != "" {
		p["comment"] = t.Comment
	}
	if t.Kind == KindView {
		p["schema.kind"] = string(KindView)
	}
	if t.View != nil {
		p["schema.view-original-query"] = t.View.Original
		p["schema.view-expanded-query"] = t.View.Expanded
	}
	if len(t.ReadOnly) > 0 {
		p["schema.read-only"] = t.positions(t.ReadOnly)
	}
	if len(t.Defaults) > 0 {
		p["schema.defaults"] = t.positions(t.Defaults)
	}
	return p
}

// positions lists the places of physical columns.
func (t *CatalogTable) positions(columns []string) string {
	at := make([]string, len(columns))
	for i, c := range columns {
		at[i] = strconv.Itoa(t.Schema.Index(c))
	}
	return strings.Join(at, ";")
}

func putNames(p map[string]string, prefix string, names []string) {
	for i, n := range names {
		p[prefix+strconv.Itoa(i)+".name"] = n
	}
}

func namesAt(p map[string]string, prefix string) (names []string) {
	for i := 0; ; i++ {
		n, ok := p[prefix+strconv.Itoa(i)+".name"]
		if !ok {
			return names
		}
		names = append(names, n)
	}
}

// FromProperties returns the table that a flat property map describes.
func FromProperties(p map[string]string) (*CatalogTable, error) {
	t := &CatalogTable{Kind: KindTable, Options: map[string]string{}}
	for k, v := range p {
		if !ReservedOption(k) {
			t.Options[k] = v
		}
	}
	t.Comment = p["comment"]
	if p["schema.kind"] == string(KindView) {
		t.Kind = KindView
	}
	if expanded, ok := p["schema.view-expanded-query"]; ok {
		t.View = &View{Original: p["schema.view-original-query"], Expanded: expanded}
	}
	for i := 0; ; i++ {
		prefix := "schema." + strconv.Itoa(i)
		name, ok := p[prefix+".name"]
		if !ok {
			break
		}
		if err := t.addColumn(p, prefix, name, i); err != nil {
			return nil, err
		}
	}
	if rowtime, ok := p["schema.watermark.0.rowtime"]; ok {
		typ, err := typeAt(p, "schema.watermark.0.strategy.data-type")
		if err != nil {
			return nil, err
		}
		t.Watermark = &Watermark{Column: rowtime, Expr: p["schema.watermark.0.strategy.expr"], Type: typ}
	}
	t.PartitionKeys = namesAt(p, "partition.keys.")
	if kind, ok := p["schema.distribution.kind"]; ok {
		n, err := strconv.Atoi(p["schema.distribution.buckets"])
		if err != nil || n < 0 {
			return nil, fmt.Errorf("table property schema.distribution.buckets: %q is not a number of buckets", p["schema.distribution.buckets"])
		}
		t.Distribution = &Distribution{Kind: kind, Columns: namesAt(p, "schema.distribution.columns."), Buckets: n}
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

// addColumn adds the column declared at a position.
func (t *CatalogTable) addColumn(p map[string]string, prefix, name string, at int) error {
	typ, err := typeAt(p, prefix+".data-type")
	if err != nil {
		return err
	}
	v := VirtualColumn{Name: name, Position: at, Type: typ, Comment: p[prefix+".comment"]}
	var computed, metadata bool
	v.Expr, computed = p[prefix+".expr"]
	v.Key, metadata = p[prefix+".metadata"]
	switch {
	case computed && metadata:
		return fmt.Errorf("table property %s: column %q is both computed and metadata", prefix, name)
	case computed && v.Expr == "":
		return fmt.Errorf("table property %s.expr: column %q is computed from nothing", prefix, name)
	case metadata && v.Key == "":
		return fmt.Errorf("table property %s.metadata: column %q has no metadata key", prefix, name)
	case metadata:
		virtual, err := strconv.ParseBool(p[prefix+".virtual"])
		if err != nil {
			return fmt.Errorf("table property %s.virtual: %q is neither true nor false", prefix, p[prefix+".virtual"])
		}
		v.Stored = !virtual
	case !computed:
		t.Schema.Columns = append(t.Schema.Columns, types.Column{Name: name, Type: typ, Comment: v.Comment})
		return nil
	}
	t.Virtual = append(t.Virtual, v)
	return nil
}

func typeAt(p map[string]string, key string) (types.Type, error) {
	typ, err := types.ParseType(p[key])
	if err != nil {
		return typ, fmt.Errorf("table property %s: %w", key, err)
	}
	return typ, nil
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
