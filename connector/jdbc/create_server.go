package jdbc

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/types"
)

// checkCreate says what CREATE TABLE AS would make of a table of a server.
func (a Address) checkCreate(ctx context.Context, def connector.TableDef, insert connector.Insert, env *connector.Env) (*connector.Creation, error) {
	s, err := a.Open(def.Options, env)
	if err != nil {
		return nil, err
	}
	t := a.target(def, insert)
	_, stored, err := s.CheckTable(t.Table, t.Definition)
	if err != nil {
		return nil, err
	}
	reason, notes, err := s.CheckStage(ctx, t)
	if err != nil {
		return nil, a.taken(def.Options, err)
	}
	return &connector.Creation{Stored: stored, Reason: reason, Notes: notes}, nil
}

// create returns the transaction that makes a table of a server together with its rows.
func (a Address) create(def connector.TableDef, insert connector.Insert, env *connector.Env) (connector.Transaction, error) {
	s, err := a.Open(def.Options, env)
	if err != nil {
		return nil, err
	}
	tx := created{s.Stage(a.target(def, insert)), a, def.Options}
	if e, ok := tx.Transaction.(connector.Evident); ok {
		return evident{tx, e}, nil
	}
	return tx, nil
}

// target is the table that CREATE TABLE AS makes: the columns that are written, and the key.
func (a Address) target(def connector.TableDef, insert connector.Insert) server.Target {
	schema := def.Schema
	schema.Columns = make([]types.Column, 0, len(insert.Columns))
	for _, at := range insert.Columns {
		schema.Columns = append(schema.Columns, def.Schema.Columns[at])
	}
	return server.Target{Database: a.Database, Table: def.Options["table-name"], Definition: server.Definition{Schema: schema, Comments: CommentsOf(schema)}}
}

// CommentsOf returns the comments of columns by name.
func CommentsOf(schema types.Schema) map[string]string {
	comments := map[string]string{}
	for _, c := range schema.Columns {
		if c.Comment != "" {
			comments[c.Name] = c.Comment
		}
	}
	return comments
}

// taken says what to do about a table that is there already.
func (a Address) taken(options map[string]string, err error) error {
	var exists *server.ExistsError
	if errors.As(err, &exists) {
		return &connector.OptionError{Key: "table-name", Msg: fmt.Sprintf(
			"%s in database %s of %s; CREATE TABLE AS makes a table together with its rows: CREATE TABLE it without AS, then INSERT INTO it", exists, a.Database, a)}
	}
	return a.explain(options, err)
}

// created is the transaction of a server that makes a table, in the connector's words.
type created struct {
	connector.Transaction
	address Address
	options map[string]string
}

// Begin makes the table where nobody sees it.
func (t created) Begin(ctx context.Context, job connector.JobID) error {
	return t.address.taken(t.options, t.Transaction.Begin(ctx, job))
}

// Commit publishes the table with its rows.
func (t created) Commit(ctx context.Context) (connector.Outcome, error) {
	out, err := t.Transaction.Commit(ctx)
	return out, t.address.taken(t.options, err)
}

// evident is created of a transaction that can be asked for later.
type evident struct {
	created
	connector.Evident
}
