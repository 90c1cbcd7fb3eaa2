package postgres

import (
	"context"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/types"
)

// Table is an opened table or view.
type Table struct {
	server     *Server
	database   string
	info       *tableInfo
	schema     types.Schema
	utf8       bool // the server makes sure that text is valid
	encoding   string
	version    int
	misfitNull bool
}

var (
	_ connector.Scannable      = (*Table)(nil)
	_ connector.FilterPushDown = (*Table)(nil)
)

// OpenTable opens a table whose columns are matched by name and read as the schema types them.
func (s *Server) OpenTable(ctx context.Context, database, table string, schema types.Schema) (connector.Table, error) {
	t := &Table{server: s, database: database, schema: schema, misfitNull: s.config.Options["postgresql.misfit"] == "null"}
	rel, err := parseRelation(table)
	if err != nil {
		return nil, err
	}
	err = s.with(ctx, database, func(c *conn) error {
		if t.info, err = c.describe(ctx, rel); err != nil {
			return err
		}
		if t.info == nil {
			near, err := c.near(ctx, rel)
			if err != nil {
				return err
			}
			if near != "" {
				return fmt.Errorf("%s: table %s does not exist; names are case-sensitive, did you mean %s?: %w", s.place(database), rel, connector.QuoteName(near), server.ErrNotThere)
			}
			return fmt.Errorf("%s: table %s: %w", s.place(database), rel, server.ErrNotThere)
		}
		t.utf8, t.version, t.encoding = c.utf8(), c.version(), c.pc.ParameterStatus("server_encoding")
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Close does nothing: sources and transactions have their own connections.
func (t *Table) Close() error { return nil }

// column returns the stored column of a position of the schema.
func (t *Table) column(at int) (*columnInfo, error) {
	name := t.schema.Columns[at].Name
	c := t.info.column(name)
	if c == nil {
		return nil, fmt.Errorf("table %s has no column %s", t.info.rel, connector.QuoteName(name))
	}
	return c, nil
}

// Rows of an ordinary table are told apart by their place, the page and the line in it: it stays as long as others
// are kept from changing the table.

func rowidType() types.Type { return types.Of(types.BigInt).AsNotNull() }

func rowidPlan() readPlan { return readPlan{name: "ctid", decode: decodeTid} }

func decodeTid(v *column.Vector, b []byte) string {
	if len(b) != 6 {
		return damaged
	}
	page := uint64(b[0])<<24 | uint64(b[1])<<16 | uint64(b[2])<<8 | uint64(b[3])
	v.AppendI64(int64(page<<16 | uint64(b[4])<<8 | uint64(b[5])))
	return ""
}

var errNoRowid = errors.New("its rows cannot be told apart")

// hasRowid returns an error when the place of a row does not tell it from all others.
func (t *Table) hasRowid() error {
	if t.info.kind == ordinary && !t.info.parts {
		return nil
	}
	return fmt.Errorf("table %s: %w", t.info.rel, errNoRowid)
}

// clip shortens a long text.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	n := most
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
