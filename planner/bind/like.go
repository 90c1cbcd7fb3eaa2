package bind

import (
	"maps"
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/sqlparse"
)

// merging says for each feature of the table in LIKE how it comes into the new one.
type merging map[string]string

const (
	including   = "INCLUDING"
	excluding   = "EXCLUDING"
	overwriting = "OVERWRITING"
)

// mergingOf returns what is said of each feature; ALL is said of all that are not named. What is not said
// is INCLUDING, and OVERWRITING for the options.
func mergingOf(l *sqlparse.LikeClause) (merging, error) {
	m := merging{"OPTIONS": overwriting}
	features := []string{"CONSTRAINTS", "DISTRIBUTION", "PARTITIONS", "GENERATED", "METADATA", "OPTIONS", "WATERMARKS"}
	said := map[string]bool{}
	for _, o := range l.Options {
		if said[o.Feature] {
			return nil, errAt(o.Span(), "Each like option feature can be declared only once.")
		}
		if said[o.Feature] = true; o.Feature == "ALL" {
			for _, f := range features {
				m[f] = o.Merge
			}
		}
	}
	for _, o := range l.Options {
		m[o.Feature] = o.Merge
	}
	for _, f := range features {
		if m[f] == "" {
			m[f] = including
		}
	}
	return m, nil
}

// like makes the definition of CREATE TABLE … LIKE: what the other table has comes first, then what the
// statement declares.
func (b *Binder) like(s *sqlparse.CreateTable, t *target) error {
	m, err := mergingOf(s.Like)
	if err != nil {
		return err
	}
	name := s.Like.Source
	d, err := b.find(name, "Source table '"+b.identify(name).SQL()+"' of the LIKE clause not found in the catalog")
	if err != nil {
		return err
	}
	if d.table.Kind == catalog.KindView {
		return errAt(name.Span(), "Source table '%s' of the LIKE clause can not be a VIEW", d.id.SQL())
	}
	if err := t.likeColumns(m, d.table, s); err != nil {
		return err
	}
	if err := b.likeOptions(m, d.table, t, s); err != nil {
		return err
	}
	source := d.table
	at := name.Span()
	if source.Watermark != nil && m["WATERMARKS"] != excluding {
		if t.cat.Stores()&catalog.StoresWatermark == 0 {
			return unstoredOf(at, t, "a WATERMARK", "WATERMARKS")
		}
		if s.Watermark != nil && m["WATERMARKS"] != overwriting {
			return errAt(s.Watermark.Span(), "There already exists a watermark spec for column '%s' in the base table. You might want to specify EXCLUDING WATERMARKS or OVERWRITING WATERMARKS.", source.Watermark.Column)
		}
		t.watermark = &watermark{column: source.Watermark.Column, at: at, text: source.Watermark.Expr}
	}
	key := source.Schema.PrimaryKey != nil && m["CONSTRAINTS"] != excluding
	if key && s.PrimaryKey != nil {
		return errAt(s.PrimaryKey.Span(), "The base table already has a primary key. You might want to specify EXCLUDING CONSTRAINTS.")
	}
	partitions := source.PartitionKeys != nil && m["PARTITIONS"] != excluding
	distribution := source.Distribution != nil && m["DISTRIBUTION"] != excluding
	switch stores := t.cat.Stores(); {
	case partitions && s.PartitionedBy != nil:
		return errAt(s.PartitionedBy.Span(), "The base table already has partitions defined. You might want to specify EXCLUDING PARTITIONS.")
	case partitions && stores&catalog.StoresPartitions == 0:
		return unstoredOf(at, t, "PARTITIONED BY", "PARTITIONS")
	case distribution && s.Distribution != nil:
		return errAt(s.Distribution.Span(), "The base table already has a distribution defined. You might want to specify EXCLUDING DISTRIBUTION.")
	case distribution && stores&catalog.StoresDistribution == 0:
		return unstoredOf(at, t, "DISTRIBUTED", "DISTRIBUTION")
	}
	if err := b.define(s, t); err != nil {
		return err
	}
	if key {
		t.table.Schema.PrimaryKey, t.table.Schema.PrimaryKeyName = slices.Clone(source.Schema.PrimaryKey), source.Schema.PrimaryKeyName
	}
	if partitions {
		t.table.PartitionKeys = slices.Clone(source.PartitionKeys)
	}
	if distribution {
		t.table.Distribution = source.Distribution
	}
	return nil
}

// likeColumns puts the columns of the other table before those declared.
func (t *target) likeColumns(m merging, source *catalog.CatalogTable, s *sqlparse.CreateTable) error {
	own := t.columns
	t.columns = nil
	for _, c := range declaredOf(source, s.Like.Source.Span()) {
		feature := featureOf(c.kind)
		if feature != "" && m[feature] == excluding {
			continue
		}
		switch stores := t.cat.Stores(); {
		case c.kind == sqlparse.ComputedColumn && stores&catalog.StoresComputed == 0:
			return unstoredOf(c.at, t, "a computed column", feature)
		case c.kind == sqlparse.MetadataColumn && stores&catalog.StoresMetadata == 0:
			return unstoredOf(c.at, t, "a METADATA column", feature)
		case stores&catalog.StoresComment == 0:
			c.Comment = ""
		}
		t.columns = append(t.columns, c)
	}
	for i, c := range own {
		at := s.Columns[i].Name.Span()
		k := t.column(c.Name)
		if k < 0 {
			t.columns = append(t.columns, c)
			continue
		}
		feature := featureOf(c.kind)
		what := map[string]string{"GENERATED": "generated", "METADATA": "metadata"}[feature]
		switch {
		case feature == "":
			return errAt(at, "A column named '%s' already exists in the base table.", c.Name)
		case t.columns[k].kind != c.kind:
			kind := map[string]string{"GENERATED": "computed", "METADATA": "metadata"}[feature]
			return errAt(at, "A column named '%s' already exists in the base table. %s columns can only overwrite other %s columns.",
				c.Name, strings.ToUpper(kind[:1])+kind[1:], kind)
		case m[feature] != overwriting:
			return errAt(at, "A %s column named '%s' already exists in the base table. You might want to specify EXCLUDING %s or OVERWRITING %s.", what, c.Name, feature, feature)
		}
		t.columns[k] = c
	}
	return nil
}

// featureOf is what LIKE calls a kind of column; "" for physical ones, which always come along.
func featureOf(k sqlparse.ColumnKind) string {
	switch k {
	case sqlparse.ComputedColumn:
		return "GENERATED"
	case sqlparse.MetadataColumn:
		return "METADATA"
	}
	return ""
}

// likeOptions merges the options and checks them.
func (b *Binder) likeOptions(m merging, source *catalog.CatalogTable, t *target, s *sqlparse.CreateTable) error {
	given, err := optionsOf(s.Options)
	if err != nil {
		return err
	}
	at := s.Like.Source.Span()
	if m["OPTIONS"] != excluding {
		if len(source.Options) > 0 && t.cat.Stores()&catalog.StoresOptions == 0 {
			return unstoredOf(at, t, "WITH options", "OPTIONS")
		}
		for key, value := range source.Options {
			t.table.Options[key] = value
		}
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		o := given[key]
		if _, ok := t.table.Options[key]; ok && m["OPTIONS"] != overwriting {
			return errAt(o.Key.Span(), "There already exists an option ['%s'] in the base table. You might want to specify EXCLUDING OPTIONS or OVERWRITING OPTIONS.", key)
		}
		t.table.Options[key] = o.Value.Text
	}
	return placeOption(b.checkOptions(t), given, at)
}

// unstoredOf refuses what the table in LIKE has and the catalog cannot keep.
func unstoredOf(at sqlparse.Span, t *target, what, feature string) error {
	e := unstored(at, t.id, what).(*sqlparse.Error)
	return withHint(errAt(at, "%s, which the table in LIKE has", e.Msg), "EXCLUDING %s leaves it out, or %s", feature, e.Hint)
}
