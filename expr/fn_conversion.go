package expr

import "github.com/sluice-sql/sluice/types"

func conversionFunctions() []Function {
	return []Function{{
		Name: "TYPEOF", Group: "conversion", Syntax: "TYPEOF(value [, force_serializable])", Doc: "The name of the value's type.",
		Example: "TYPEOF(1 + 1.5)", Result: "DECIMAL(12, 1) NOT NULL", Min: 1, Max: 2, Nulls: NullsOwn,
		Bind: func(args []Expr) ([]types.Type, types.Type, error) {
			params := make([]types.Type, len(args))
			for i, a := range args {
				params[i] = a.Type()
			}
			if len(args) == 2 {
				if _, ok := constBool(args[1]); !ok {
					return nil, types.Type{}, errMismatch
				}
			}
			return params, types.String().AsNotNull(), nil
		},
		Kernel: func(c *Call, _ *Env) (Step, error) {
			name := c.Args[0].Type().String()
			return textStep(func(dst []byte, _ []Arg, _ int) ([]byte, error) { return append(dst, name...), nil }), nil
		},
	}}
}
