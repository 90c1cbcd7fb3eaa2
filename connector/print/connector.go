package print

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/sluice-sql/sluice/connector"
)

// Connector makes tables that print their rows.
type Connector struct{}

var (
	_ connector.Factory           = Connector{}
	_ connector.DefinitionChecker = Connector{}
	_ connector.Creator           = Connector{}
	_ connector.Writable          = (*table)(nil)
	_ connector.ChangelogWritable = (*table)(nil)
)

// Identifier returns print.
func (Connector) Identifier() string { return "print" }

// Options returns the options.
func (Connector) Options() []connector.Option {
	return []connector.Option{
		{Key: "print-identifier", Public: true, Doc: "a text that every line begins with, followed by > and a blank"},
		{Key: "standard-error", Public: true, Default: "false", Allowed: []string{"true", "false"}, Doc: "whether the rows go to standard error, not to standard output"},
		{Key: "sink.parallelism", Public: true, Default: "1", Allowed: []string{"1"}, Doc: "how many tasks print: one, so that the lines are in order"},
	}
}

// CheckDefinition says what is wrong with a definition.
func (Connector) CheckDefinition(def connector.TableDef) error {
	if len(def.PartitionKeys) > 0 {
		return errors.New("PARTITIONED BY means nothing for connector 'print'; leave it out")
	}
	if s := def.Options["print-identifier"]; strings.ContainsAny(s, "\r\n") {
		return &connector.OptionError{Key: "print-identifier", Msg: "option 'print-identifier' = " + strconv.Quote(s) + " has more than one line"}
	}
	return nil
}

// Table opens a table.
func (c Connector) Table(_ context.Context, def connector.TableDef, env *connector.Env) (connector.Table, error) {
	if err := c.CheckDefinition(def); err != nil {
		return nil, fmt.Errorf("table %s: %w", def.Identifier, err)
	}
	t := &table{id: def.Identifier, columns: len(def.Schema.Columns), out: env.Out}
	name := "standard output"
	if def.Options["standard-error"] == "true" {
		t.out, name = env.Err, "standard error"
	}
	if t.out == nil {
		return nil, fmt.Errorf("table %s: there is no %s to print to", def.Identifier, name)
	}
	if s := def.Options["print-identifier"]; s != "" {
		t.prefix = s + "> "
	}
	return t, nil
}

// CheckCreate says that rows are printed as they come.
func (c Connector) CheckCreate(_ context.Context, def connector.TableDef, insert connector.Insert, _ *connector.Env) (*connector.Creation, error) {
	made := &connector.Creation{Visible: true, Reason: "what is printed cannot be taken back"}
	for range insert.Columns {
		made.Stored = append(made.Stored, "printed")
	}
	return made, c.CheckDefinition(def)
}

// Create returns the transaction that prints the first rows of a table.
func (c Connector) Create(ctx context.Context, def connector.TableDef, insert connector.Insert, env *connector.Env) (connector.Transaction, error) {
	t, err := c.Table(ctx, def, env)
	if err != nil {
		return nil, err
	}
	return t.(*table).Transaction(ctx, insert)
}

type table struct {
	id      connector.ObjectIdentifier
	columns int
	prefix  string
	out     io.Writer
}

// Close does nothing.
func (*table) Close() error { return nil }

// Transaction returns a transaction that prints rows.
func (t *table) Transaction(_ context.Context, insert connector.Insert) (connector.Transaction, error) {
	tx := &transaction{t: t, sources: make([]int, t.columns)}
	for i := range tx.sources {
		tx.sources[i] = -1
	}
	for i, c := range insert.Columns {
		if c < 0 || c >= t.columns {
			return nil, fmt.Errorf("insert into table %s: it has no column at position %d", t.id, c)
		}
		tx.sources[c] = i
	}
	return tx, nil
}

// Changelog returns a transaction that prints changes.
func (t *table) Changelog(ctx context.Context, insert connector.Insert) (connector.Transaction, error) {
	return t.Transaction(ctx, insert)
}
