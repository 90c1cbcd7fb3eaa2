package jdbc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/sqlite"
)

var _ connector.Creator = Connector{}

// CheckCreate refuses a table that the database does not have, since only a catalog makes tables there, or
// that has rows.
func (c Connector) CheckCreate(ctx context.Context, def connector.TableDef, insert connector.Insert, env *connector.Env) (*connector.Creation, error) {
	t, err := c.target(ctx, def, env)
	if err == nil {
		err = t.CheckEmpty(ctx)
	}
	if err != nil {
		return nil, err
	}
	if _, err := t.FirstRows(insert); err != nil {
		return nil, err
	}
	made := &connector.Creation{Reason: "one transaction of SQLite, into a table that has no rows"}
	for _, at := range insert.Columns {
		stored := t.Declared(def.Schema.Columns[at].Name)
		if stored == "" {
			stored = "without a declared type"
		}
		made.Stored = append(made.Stored, stored)
	}
	return made, nil
}

// Create returns the transaction that writes the first rows of a table of the database.
func (c Connector) Create(ctx context.Context, def connector.TableDef, insert connector.Insert, env *connector.Env) (connector.Transaction, error) {
	t, err := c.target(ctx, def, env)
	if err != nil {
		return nil, err
	}
	return t.FirstRows(insert)
}

func (c Connector) target(ctx context.Context, def connector.TableDef, env *connector.Env) (*sqlite.Table, error) {
	s, err := storeOf(def, env)
	if err != nil {
		return nil, err
	}
	advice := fmt.Sprintf("the connector 'jdbc' writes into tables that are there, and makes none; to make the table with its rows, CREATE CATALOG c WITH ('type' = 'jdbc', 'base-url' = '%s'), USE CATALOG c, and CREATE TABLE %s AS …",
		def.Options["url"], connector.QuoteName(def.Options["table-name"]))
	if _, err := os.Stat(s.Path); errors.Is(err, fs.ErrNotExist) {
		return nil, &connector.OptionError{Key: "url", Msg: fmt.Sprintf("there is no file %s: %s", s.Path, advice)}
	}
	t, err := s.OpenTable(ctx, def.Options["table-name"], def.Schema)
	var absent *sqlite.AbsentError
	if errors.As(err, &absent) {
		return nil, &connector.OptionError{Key: "table-name", Msg: fmt.Sprintf("%s: %s", err, advice)}
	}
	return t, err
}
