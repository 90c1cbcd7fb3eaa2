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

// CheckCreate says what CREATE TABLE AS makes of a table. A server's table is made together with its rows, and
// must not be there. In a SQLite file, which only a catalog makes tables in, it has to be there without rows.
func (c Connector) CheckCreate(ctx context.Context, def connector.TableDef, insert connector.Insert, env *connector.Env) (*connector.Creation, error) {
	a, err := c.address(def)
	if err != nil {
		return nil, err
	}
	if a.Server != nil {
		return a.checkCreate(ctx, def, insert, env)
	}
	t, err := target(ctx, a, def, env)
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
	a, err := c.address(def)
	if err != nil {
		return nil, err
	}
	if a.Server != nil {
		return a.create(def, insert, env)
	}
	t, err := target(ctx, a, def, env)
	if err != nil {
		return nil, err
	}
	return t.FirstRows(insert)
}

func target(ctx context.Context, a Address, def connector.TableDef, env *connector.Env) (*sqlite.Table, error) {
	s, err := storeOf(a, def, env)
	if err != nil {
		return nil, err
	}
	advice := fmt.Sprintf("the connector 'jdbc' writes into tables that are there, and makes none in a SQLite file; to make the table with its rows, CREATE CATALOG c WITH ('type' = 'jdbc', 'base-url' = '%s'), USE CATALOG c, and CREATE TABLE %s AS …",
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
