package job

import (
	"strings"

	"github.com/sluice-sql/sluice/expr"
)

// Expr is an expression inside a spec; its JSON is that of expr.Encode.
type Expr struct{ expr.Expr }

// MarshalJSON implements json.Marshaler.
func (e Expr) MarshalJSON() ([]byte, error) {
	if e.Expr == nil {
		return []byte("null"), nil
	}
	return expr.Encode(e.Expr)
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Expr) UnmarshalJSON(b []byte) (err error) {
	if string(b) == "null" {
		e.Expr = nil
		return nil
	}
	e.Expr, err = expr.Decode(b)
	return err
}

// Exprs wraps expressions for a spec.
func Exprs(es []expr.Expr) []Expr {
	out := make([]Expr, len(es))
	for i, e := range es {
		out[i] = Expr{e}
	}
	return out
}

func describe(es []Expr) string {
	parts := make([]string, len(es))
	for i, e := range es {
		parts[i] = expr.String(e.Expr)
	}
	return strings.Join(parts, ", ")
}

// Agg is an aggregate call inside a spec.
type Agg struct{ *expr.AggCall }

// MarshalJSON implements json.Marshaler.
func (a Agg) MarshalJSON() ([]byte, error) { return expr.EncodeAgg(a.AggCall) }

// UnmarshalJSON implements json.Unmarshaler.
func (a *Agg) UnmarshalJSON(b []byte) (err error) {
	a.AggCall, err = expr.DecodeAgg(b)
	return err
}
