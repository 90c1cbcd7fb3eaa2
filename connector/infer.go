package connector

import (
	"context"

	"github.com/sluice-sql/sluice/types"
)

// SchemaInferrer is a Factory that can propose columns for a table whose data is there already, from a look
// at its beginning.
type SchemaInferrer interface {
	// Infer returns columns that fit the data which the options of a table name. The options have been
	// checked against Options.
	Infer(ctx context.Context, options map[string]string) (types.Schema, error)
}

// DefinitionChecker is a Factory that can say of a definition, before anything is opened or made, that no
// table can be like that.
type DefinitionChecker interface {
	// CheckDefinition returns an *OptionError, a *ColumnError or another error.
	CheckDefinition(def TableDef) error
}
