package mysql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/types"
)

// table is a table or view as the server has it.
type table struct {
	database, name string
	kind           string // BASE TABLE, VIEW, …
	engine         string
	created        string
	options        string // such as partitioned
	comment        string
	columns        []tableColumn
	keys           []key
	text           string // the server's own statement
}

// tableColumn is a column of a table.
type tableColumn struct {
	name      string
	declared  declared
	text      string // the type as the server writes it
	charset   string
	collation string
	nullable  bool
	fallback  string // the default, "" when there is none
	increment bool   // AUTO_INCREMENT
	generated bool
	onUpdate  bool
	comment   string
	t         types.Type
}

// key is an index.
type key struct {
	name    string
	unique  bool
	columns []string
	partial bool // of prefixes or expressions
}

func (t *table) view() bool { return t.kind == "VIEW" || t.kind == "SYSTEM VIEW" }

func (t *table) column(name string) *tableColumn {
	for i := range t.columns {
		if t.columns[i].name == name {
			return &t.columns[i]
		}
	}
	return nil
}

// primary returns the columns of the primary key.
func (t *table) primary() []string {
	for _, k := range t.keys {
		if k.name == "PRIMARY" {
			return k.columns
		}
	}
	return nil
}

// identity tells a table from a later one of its name, and from itself with another definition.
func (t *table) identity() string { return digest(t.created + "\n" + definition(t.text)) }

// definition is what SHOW CREATE TABLE says, without the name and what inserting changes.
func definition(text string) string {
	if rest := body(text); rest != "" {
		text = rest
	}
	i := strings.LastIndex(text, "\n)")
	if i < 0 {
		return text
	}
	end := text[i:]
	if from := strings.Index(end, " AUTO_INCREMENT="); from >= 0 {
		to := from + len(" AUTO_INCREMENT=")
		for to < len(end) && end[to] >= '0' && end[to] <= '9' {
			to++
		}
		end = end[:from] + end[to:]
	}
	return text[:i] + end
}

// describe reads what a database has under exactly this name; nil when there is none, and then near is a name that
// differs in case only.
//
// It asks several times, and another session may have replaced the table in between: a table without columns is
// then asked for again, and so is one that is gone.
func (c *conn) describe(ctx context.Context, database, name string) (t *table, near string, err error) {
	for range describeTries {
		t, near, err = c.describeOnce(ctx, database, name)
		if !errors.Is(err, errNoColumns) && numberOf(err) != errNoSuchTable {
			return t, near, err
		}
		select {
		case <-ctx.Done():
			return nil, "", context.Cause(ctx)
		case <-time.After(describePause):
		}
	}
	return t, near, err
}

const (
	describeTries = 10
	describePause = 10 * time.Millisecond
)

// errNoColumns says that there is a table, and no columns of it.
var errNoColumns = errors.New("the server tells nothing of the columns")

func (c *conn) describeOnce(ctx context.Context, database, name string) (t *table, near string, err error) {
	if nameFault(database) != "" || nameFault(name) != "" {
		return nil, "", nil
	}
	rows, err := c.query(ctx, "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE, CREATE_TIME, CREATE_OPTIONS, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = "+literal(database)+" AND TABLE_NAME = "+literal(name))
	if err != nil {
		return nil, "", err
	}
	for _, r := range rows {
		if r[0].text == database && r[1].text == name {
			t = &table{database: database, name: name, kind: r[2].text, engine: r[3].text, created: r[4].text, options: strings.TrimSpace(r[5].text)}
			t.comment = r[6].text
		}
	}
	if t == nil {
		near, err = c.near(ctx, database, name)
		return nil, near, err
	}
	if t.view() {
		t.comment = "" // the server says VIEW there
	}
	if err := c.describeColumns(ctx, t); err != nil {
		return nil, "", err
	}
	if err := c.describeText(ctx, t); err != nil {
		return nil, "", err
	}
	if t.view() {
		return t, "", nil
	}
	return t, "", c.describeKeys(ctx, t)
}

// near looks for a name that differs in case only.
func (c *conn) near(ctx context.Context, database, name string) (string, error) {
	rows, err := c.query(ctx, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = "+literal(database))
	if err != nil {
		return "", err
	}
	for _, r := range rows {
		if strings.EqualFold(r[0].text, name) && !isOurs(r[0].text) {
			return r[0].text, nil
		}
	}
	return "", nil
}

func (c *conn) describeColumns(ctx context.Context, t *table) error {
	rows, err := c.query(ctx, "SELECT COLUMN_NAME, COLUMN_TYPE, CHARACTER_SET_NAME, IS_NULLABLE, COLUMN_DEFAULT, EXTRA, COLUMN_COMMENT, TABLE_NAME, COLLATION_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = "+
		literal(t.database)+" AND TABLE_NAME = "+literal(t.name)+" ORDER BY ORDINAL_POSITION")
	if err != nil {
		return err
	}
	p := parameters(c.s.config.Parameters)
	for _, r := range rows {
		if r[7].text != t.name {
			continue
		}
		extra := strings.ToUpper(r[5].text)
		col := tableColumn{name: r[0].text, text: r[1].text, declared: parseDeclared(r[1].text), charset: r[2].text, collation: r[8].text, nullable: r[3].text == "YES", comment: r[6].text,
			increment: strings.Contains(extra, "AUTO_INCREMENT"), onUpdate: strings.Contains(extra, "ON UPDATE"),
			generated: strings.Contains(extra, "VIRTUAL") || strings.Contains(extra, "STORED") || strings.Contains(extra, "PERSISTENT") || strings.Contains(extra, "GENERATED ALWAYS")}
		if !r[4].null && !strings.EqualFold(r[4].text, "NULL") && !col.generated {
			col.fallback = r[4].text
			if col.fallback == "" {
				col.fallback = "''"
			}
		}
		col.t = readType(col.declared, p).WithNullable(col.nullable)
		t.columns = append(t.columns, col)
	}
	if len(t.columns) == 0 {
		// The server tells the columns of a view only while it can read it.
		if _, err := c.query(ctx, "SELECT * FROM "+qualified(t.database, t.name)+" LIMIT 0"); err != nil {
			return fmt.Errorf("%s %s cannot be read: %w", strings.ToLower(t.kind), t.name, err)
		}
		return fmt.Errorf("table %s: %w", t.name, errNoColumns)
	}
	return nil
}

func (c *conn) describeText(ctx context.Context, t *table) error {
	kind := "TABLE"
	if t.view() {
		kind = "VIEW"
	}
	rows, err := c.query(ctx, "SHOW CREATE "+kind+" "+qualified(t.database, t.name))
	if err == nil && len(rows) == 1 && len(rows[0]) > 1 {
		t.text = rows[0][1].text
		return nil
	}
	if !t.view() || lost(err) {
		return err
	}
	// Without the right SHOW VIEW there is still the query.
	rows, err = c.query(ctx, "SELECT VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA = "+literal(t.database)+" AND TABLE_NAME = "+literal(t.name))
	if err == nil && len(rows) > 0 {
		t.text = rows[0][0].text
	}
	return err
}

func (c *conn) describeKeys(ctx context.Context, t *table) error {
	rows, err := c.query(ctx, "SELECT INDEX_NAME, NON_UNIQUE, COLUMN_NAME, SUB_PART, TABLE_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = "+literal(t.database)+
		" AND TABLE_NAME = "+literal(t.name)+" ORDER BY INDEX_NAME, SEQ_IN_INDEX")
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r[4].text != t.name {
			continue
		}
		i := slices.IndexFunc(t.keys, func(k key) bool { return k.name == r[0].text })
		if i < 0 {
			i = len(t.keys)
			t.keys = append(t.keys, key{name: r[0].text, unique: r[1].text == "0"})
		}
		t.keys[i].columns = append(t.keys[i].columns, r[2].text)
		t.keys[i].partial = t.keys[i].partial || !r[3].null || r[2].null
	}
	return nil
}

// info is the table as the contract has it.
func (t *table) info() *server.TableInfo {
	info := &server.TableInfo{View: t.view(), Comment: t.comment, Text: t.text, Identity: t.identity(), Comments: map[string]string{}}
	for _, c := range t.columns {
		info.Schema.Columns = append(info.Schema.Columns, types.Column{Name: c.name, Type: c.t, Comment: c.comment})
		if c.comment != "" {
			info.Comments[c.name] = c.comment
		}
		switch {
		case c.generated:
			info.ReadOnly = append(info.ReadOnly, c.name)
		case !t.view() && (c.fallback != "" || c.increment):
			info.Defaults = append(info.Defaults, c.name)
		}
	}
	info.Schema.PrimaryKey = t.primary()
	return info
}

// Describe returns a table or view of exactly this name.
func (s *Server) Describe(ctx context.Context, database, name string) (info *server.TableInfo, near string, err error) {
	if isOurs(name) {
		return nil, "", nil
	}
	err = s.with(ctx, "", func(c *conn) error {
		t, other, err := c.describe(ctx, database, name)
		if err == nil && t != nil {
			info = t.info()
		}
		near = other
		return err
	})
	return info, near, err
}
