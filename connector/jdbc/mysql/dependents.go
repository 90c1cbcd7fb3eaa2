package mysql

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/types"
)

// wouldLose lists what would go with a table that is replaced: all of it that the new definition does not have. Grants
// are by name in MySQL, and stay.
func (c *conn) wouldLose(ctx context.Context, t *table, def server.Definition) ([]string, error) {
	var all []string
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if t.kind != "BASE TABLE" {
		add("its kind (%s)", strings.ToLower(t.kind))
	} else if !strings.EqualFold(t.engine, "InnoDB") {
		add("its engine (%s)", t.engine)
	}
	for _, k := range t.keys {
		if k.name != "PRIMARY" {
			add("index %s", k.name)
		}
	}
	for _, col := range t.columns {
		switch {
		case col.generated:
			add("generated column %s", col.name)
		case col.increment:
			add("AUTO_INCREMENT of column %s", col.name)
		case col.onUpdate:
			add("ON UPDATE of column %s", col.name)
		case col.fallback != "":
			add("default of column %s", col.name)
		}
		at := def.Schema.Index(col.name)
		if col.comment != "" && (at < 0 || columnComment(def, def.Schema.Columns[at]) != col.comment) {
			add("comment of column %s", col.name)
		}
	}
	if strings.Contains(strings.ToLower(t.options), "partitioned") {
		add("its partitions")
	}
	if t.comment != "" && t.comment != def.Comment {
		add("its comment")
	}
	for _, more := range []func(context.Context, string, string) ([]string, error){c.linksOf, c.linksTo, c.checks, func(ctx context.Context, database, name string) ([]string, error) {
		return c.triggers(ctx, database, name, "")
	}} {
		list, err := more(ctx, t.database, t.name)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	collations, _, err := c.collationsLost(ctx, t, def)
	if err != nil {
		return nil, err
	}
	all = append(all, collations...)
	if keepsColumns(t, def.Schema) {
		return all, nil // views go by name, and find all they name
	}
	views, err := c.viewsOn(ctx, t.database, t.name)
	return append(all, views...), err
}

// keepsColumns reports whether all columns are there again, with their types.
func keepsColumns(t *table, schema types.Schema) bool {
	return !slices.ContainsFunc(t.columns, func(c tableColumn) bool {
		at := schema.Index(c.name)
		return at < 0 || !schema.Columns[at].Type.AsNullable().Equal(c.t.AsNullable())
	})
}

// named runs a query of two columns, a kind and a name, and returns "kind name" for each row.
func (c *conn) named(ctx context.Context, statement string) ([]string, error) {
	rows, err := c.query(ctx, statement)
	var list []string
	for _, r := range rows {
		list = append(list, r[0].text+" "+r[1].text)
	}
	slices.Sort(list)
	return slices.Compact(list), err
}

// linksTo are the foreign keys of other tables that lead to a table.
func (c *conn) linksTo(ctx context.Context, database, name string) ([]string, error) {
	return c.named(ctx, "SELECT 'foreign key', CONCAT(CONSTRAINT_NAME, ' of table ', CONSTRAINT_SCHEMA, '.', TABLE_NAME) FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE UNIQUE_CONSTRAINT_SCHEMA = "+
		literal(database)+" AND REFERENCED_TABLE_NAME = "+literal(name)+" AND NOT (CONSTRAINT_SCHEMA = "+literal(database)+" AND TABLE_NAME = "+literal(name)+")")
}

// linksOf are the foreign keys of a table.
func (c *conn) linksOf(ctx context.Context, database, name string) ([]string, error) {
	return c.named(ctx, "SELECT 'foreign key', CONSTRAINT_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = "+literal(database)+" AND TABLE_NAME = "+literal(name))
}

// checks are the CHECK constraints of a table.
func (c *conn) checks(ctx context.Context, database, name string) ([]string, error) {
	return c.named(ctx, "SELECT 'CHECK', CONSTRAINT_NAME FROM information_schema.TABLE_CONSTRAINTS WHERE CONSTRAINT_TYPE = 'CHECK' AND TABLE_SCHEMA = "+literal(database)+" AND TABLE_NAME = "+literal(name))
}

// triggers are those of a table, for one event or all.
func (c *conn) triggers(ctx context.Context, database, name, event string) ([]string, error) {
	where := ""
	if event != "" {
		where = " AND EVENT_MANIPULATION = " + literal(event)
	}
	return c.named(ctx, "SELECT 'trigger', TRIGGER_NAME FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = "+literal(database)+" AND EVENT_OBJECT_TABLE = "+literal(name)+where)
}

// viewsOn are the views of any database that use a table, or may: without the right SHOW VIEW nobody is told what a view
// uses.
func (c *conn) viewsOn(ctx context.Context, database, name string) ([]string, error) {
	rows, err := c.query(ctx, "SELECT TABLE_SCHEMA, TABLE_NAME, COALESCE(VIEW_DEFINITION, '') = '' FROM information_schema.VIEWS WHERE LOCATE("+literal(qualified(database, name))+", VIEW_DEFINITION) > 0 OR COALESCE(VIEW_DEFINITION, '') = ''")
	var list []string
	for _, r := range rows {
		switch view := "view " + r[0].text + "." + r[1].text; {
		case r[2].text != "1":
			list = append(list, view)
		case !systemDatabase(r[0].text):
			list = append(list, view+" maybe (what it uses is seen with the right SHOW VIEW on it)")
		}
	}
	slices.Sort(list)
	return list, err
}

// collationsLost are the columns with texts whose collation the new table does not have: lost are those that are not the
// database's default, since somebody has chosen them, and changed are all that are texts again.
func (c *conn) collationsLost(ctx context.Context, t *table, def server.Definition) (lost, changed []string, err error) {
	var preset cell
	for _, col := range t.columns {
		if col.collation == "" || col.collation == c.collation() {
			continue
		}
		if preset.text == "" {
			if preset, err = c.value(ctx, "SELECT DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = "+literal(t.database)); err != nil {
				return nil, nil, err
			}
		}
		if col.collation != preset.text {
			lost = append(lost, "the collation of column "+col.name+" ("+col.collation+")")
		}
		if at := def.Schema.Index(col.name); at >= 0 && def.Schema.Columns[at].Type.IsString() {
			changed = append(changed, col.name+" ("+col.collation+")")
		}
	}
	return lost, changed, nil
}
