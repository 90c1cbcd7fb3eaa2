package expr

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sluice-sql/sluice/types"
)

// wire is an expression in the job graph. Functions go by name; the types of their arguments, and with
// them the overload, are those of the argument expressions.
type wire struct {
	Column  *int      `json:"column,omitempty"`
	Name    string    `json:"name,omitempty"`
	Literal bool      `json:"literal,omitempty"`
	Value   *string   `json:"value,omitempty"` // absent: NULL
	Call    string    `json:"call,omitempty"`
	Cast    string    `json:"cast,omitempty"` // CAST, TRY_CAST, IMPLICIT or EXACT
	Args    []wire    `json:"args,omitempty"`
	Type    string    `json:"type"`
	At      [3]uint32 `json:"at,omitzero"` // source, start, end
}

// wireAgg is an aggregate call in the job graph.
type wireAgg struct {
	Aggregate string    `json:"aggregate"`
	Args      []wire    `json:"args,omitempty"`
	Distinct  bool      `json:"distinct,omitempty"`
	Filter    *wire     `json:"filter,omitempty"`
	Type      string    `json:"type"`
	At        [3]uint32 `json:"at,omitzero"`
}

func wireSpan(s Span) [3]uint32 { return [3]uint32{uint32(s.Source), s.Start, s.End} }

func spanOf(w [3]uint32) Span { return Span{Source: uint16(w[0]), Start: w[1], End: w[2]} }

// Encode writes e as JSON.
func Encode(e Expr) ([]byte, error) { return json.Marshal(toWire(e)) }

// Decode reads what Encode wrote. It checks everything that evaluation relies on.
func Decode(data []byte) (Expr, error) {
	var w wire
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, fmt.Errorf("expression: %w", err)
	}
	return fromWire(&w)
}

// EncodeAgg writes an aggregate call as JSON.
func EncodeAgg(c *AggCall) ([]byte, error) {
	w := wireAgg{Aggregate: c.Func.Name, Args: toWires(c.Args), Distinct: c.Distinct, Type: c.T.String(), At: wireSpan(c.At)}
	if c.Filter != nil {
		f := toWire(c.Filter)
		w.Filter = &f
	}
	return json.Marshal(w)
}

// DecodeAgg reads what EncodeAgg wrote.
func DecodeAgg(data []byte) (*AggCall, error) {
	var w wireAgg
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, fmt.Errorf("aggregate: %w", err)
	}
	args, err := fromWires(w.Args)
	if err != nil {
		return nil, err
	}
	var filter Expr
	if w.Filter != nil {
		if filter, err = fromWire(w.Filter); err != nil {
			return nil, err
		}
	}
	t, err := types.ParseType(w.Type)
	if err != nil {
		return nil, err
	}
	c, err := NewAggregate(w.Aggregate, args, w.Distinct, filter, spanOf(w.At))
	if err != nil {
		return nil, err
	}
	if !c.T.SameKind(t) || len(c.Args) != len(args) {
		return nil, fmt.Errorf("aggregate %s: type %s instead of %s", w.Aggregate, t, c.T)
	}
	for i, a := range c.Args {
		if a != args[i] {
			return nil, fmt.Errorf("aggregate %s: argument of type %s", w.Aggregate, args[i].Type())
		}
	}
	c.T = t
	return c, nil
}

func toWires(es []Expr) []wire {
	ws := make([]wire, len(es))
	for i, e := range es {
		ws[i] = toWire(e)
	}
	return ws
}

func toWire(e Expr) wire {
	w := wire{Type: e.Type().String(), At: wireSpan(e.Span())}
	switch e := e.(type) {
	case *Column:
		i := e.Index
		w.Column, w.Name = &i, e.Name
	case *Literal:
		w.Literal = true
		if !e.Value.IsNull(0) {
			s := string(literalText(e.Value))
			w.Value = &s
		}
	case *Call:
		w.Call, w.Args = e.Func.Name, toWires(e.Args)
	case *Cast:
		w.Cast, w.Args = "CAST", []wire{toWire(e.Arg)}
		if e.Try {
			w.Cast = "TRY_CAST"
		} else if e.Exact {
			w.Cast = "EXACT"
		} else if e.Implicit {
			w.Cast = "IMPLICIT"
		}
	}
	return w
}

func fromWires(ws []wire) ([]Expr, error) {
	es := make([]Expr, len(ws))
	for i := range ws {
		var err error
		if es[i], err = fromWire(&ws[i]); err != nil {
			return nil, err
		}
	}
	return es, nil
}

func fromWire(w *wire) (Expr, error) {
	t, err := types.ParseType(w.Type)
	if err != nil {
		return nil, err
	}
	at := spanOf(w.At)
	switch {
	case w.Column != nil:
		if *w.Column < 0 {
			return nil, fmt.Errorf("column %d does not exist", *w.Column)
		}
		return &Column{Index: *w.Column, Name: w.Name, T: t, At: at}, nil
	case w.Literal:
		if w.Value == nil {
			return NewLiteral(t, nil, at), nil
		}
		v, ok := parseLiteral(*w.Value, t)
		if !ok {
			return nil, fmt.Errorf("%q is no literal of type %s", *w.Value, t)
		}
		l := NewLiteral(t, v, at)
		return l, nil
	case w.Cast != "":
		return castFromWire(w, t, at)
	case w.Call != "":
		return callFromWire(w, t, at)
	}
	return nil, errors.New("an expression is neither column, literal, call nor cast")
}

func castFromWire(w *wire, t types.Type, at Span) (Expr, error) {
	if len(w.Args) != 1 {
		return nil, fmt.Errorf("%s has %d operands", w.Cast, len(w.Args))
	}
	arg, err := fromWire(&w.Args[0])
	if err != nil {
		return nil, err
	}
	if !types.CastAllowed(arg.Type(), t) || arg.Type().Kind == types.Null {
		return nil, fmt.Errorf("cannot cast %s to %s", arg.Type(), t)
	}
	c := &Cast{Arg: arg, T: t, At: at}
	switch w.Cast {
	case "CAST":
	case "TRY_CAST":
		c.Try = true
	case "EXACT":
		c.Implicit, c.Exact = true, true
	case "IMPLICIT":
		c.Implicit = true
	default:
		return nil, fmt.Errorf("unknown cast %q", w.Cast)
	}
	return c, nil
}

// callFromWire binds the call again: an argument that a kernel would not take as it is cannot come from
// Encode.
func callFromWire(w *wire, t types.Type, at Span) (Expr, error) {
	args, err := fromWires(w.Args)
	if err != nil {
		return nil, err
	}
	f, ok := Lookup(w.Call)
	if !ok {
		return nil, fmt.Errorf("function %s is not known", w.Call)
	}
	if len(args) < f.Min || f.Max >= 0 && len(args) > f.Max {
		return nil, fmt.Errorf("function %s with %d arguments", w.Call, len(args))
	}
	params, result, err := f.Bind(args)
	if err != nil {
		return nil, fmt.Errorf("function %s: %w", signature(w.Call, args), err)
	}
	for i, p := range params {
		if !args[i].Type().SameKind(p) {
			return nil, fmt.Errorf("function %s: argument %d must be %s", signature(w.Call, args), i+1, p)
		}
	}
	// The remainder of mixed integers has the divisor's type, which only the first binding saw.
	if !result.SameKind(t) && !((f.Name == "%" || f.Name == "MOD") && result.IsInteger() && t.IsInteger() && t.Kind <= result.Kind) {
		return nil, fmt.Errorf("function %s: result %s instead of %s", signature(w.Call, args), t, result)
	}
	return &Call{Func: f, Args: args, T: t, At: at}, nil
}
