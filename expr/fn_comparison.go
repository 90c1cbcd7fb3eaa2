package expr

import (
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

func comparisonFunctions() []Function {
	cmp := func(name, doc, example, result string, op cmpOp, aliases ...string) Function {
		return Function{
			Name: name, Aliases: aliases, Group: "comparison", Syntax: "value1 " + name + " value2", Doc: doc,
			Example: example, Result: result, Min: 2, Max: 2, Hidden: true, Total: true,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				s, t, err := comparable(args[0], args[1])
				if err == nil && s.IsNested() && op != opEQ && op != opNE {
					err = errMismatch
				}
				return []types.Type{s, t}, types.Of(types.Boolean), err
			},
			Kernel: func(c *Call, _ *Env) (Step, error) {
				return compareStep(op, c.Args[0].Type(), c.Args[1].Type()), nil
			},
			Select: func(c *Call, _ *Env) SelectStep {
				return compareSelect(op, c.Args[0].Type(), c.Args[1].Type())
			},
		}
	}
	distinct := func(name, doc, example, result string, want bool) Function {
		return Function{
			Name: name, Group: "comparison", Syntax: "value1 " + name + " value2", Doc: doc, Example: example, Result: result,
			Min: 2, Max: 2, Hidden: true, Nulls: NullsOwn,
			Bind: func(args []Expr) ([]types.Type, types.Type, error) {
				s, t, err := comparable(args[0], args[1])
				return []types.Type{s, t}, types.Of(types.Boolean).AsNotNull(), err
			},
			Kernel: func(c *Call, _ *Env) (Step, error) {
				op := opEQ
				if want {
					op = opNE
				}
				step := compareStep(op, c.Args[0].Type(), c.Args[1].Type())
				return func(r Rows, args []Arg, out *column.Vector) error {
					if err := step(r, args, out); err != nil {
						return err
					}
					x, y := args[0], args[1]
					if c.Args[0].Type().IsFloat() && c.Args[1].Type().IsFloat() {
						for k, n := 0, r.Count(); k < n; k++ {
							if i := r.Row(k); x.nan(i) && y.nan(i) { // one group, if not equal
								out.Bool[i] = !want
							}
						}
					}
					if x.Valid == nil && y.Valid == nil {
						return nil
					}
					for k, n := 0, r.Count(); k < n; k++ {
						i := r.Row(k)
						if xn, yn := x.null(i), y.null(i); xn || yn {
							out.Bool[i] = (xn != yn) == want
						}
					}
					return nil
				}, nil
			},
		}
	}
	null := func(name, doc, example, result string, want bool) Function {
		return Function{
			Name: name, Group: "comparison", Syntax: "value " + name, Doc: doc, Example: example, Result: result,
			Min: 1, Max: 1, Hidden: true, Nulls: NullsOwn,
			Bind: takes(returns(types.Of(types.Boolean).AsNotNull()), anyType),
			Kernel: func(*Call, *Env) (Step, error) {
				return func(r Rows, args []Arg, out *column.Vector) error {
					x := args[0]
					for k, n := 0, r.Count(); k < n; k++ {
						i := r.Row(k)
						out.Bool[i] = x.null(i) == want
					}
					return nil
				}, nil
			},
			Select: func(*Call, *Env) SelectStep {
				return func(r Rows, args []Arg, buf []uint16) ([]uint16, error) {
					x, j := args[0], 0
					if !want && !x.Const && x.Valid != nil {
						return narrowValid(r, x.Valid, buf), nil
					}
					for k, n := 0, r.Count(); k < n; k++ {
						i := r.Row(k)
						buf[j] = uint16(i)
						if x.null(i) == want {
							j++
						}
					}
					return buf[:j], nil
				}
			},
		}
	}
	return []Function{
		cmp("=", "TRUE when the values are equal; UNKNOWN when one is NULL.", "1 = 1.0", "TRUE", opEQ),
		cmp("<>", "TRUE when the values differ.", "'a' <> 'b'", "TRUE", opNE, "!="),
		cmp("<", "TRUE when the first value is less.", "2 < 1", "FALSE", opLT),
		cmp("<=", "TRUE when the first value is less or equal.", "1 <= 1", "TRUE", opLE),
		cmp(">", "TRUE when the first value is greater.", "DATE '2024-02-01' > '2024-01-31'", "TRUE", opGT),
		cmp(">=", "TRUE when the first value is greater or equal.", "1 >= CAST(NULL AS INT)", "NULL", opGE),
		distinct("IS DISTINCT FROM", "TRUE when the values differ, where NULL, and NaN, is a value like others; never UNKNOWN.",
			"1 IS DISTINCT FROM NULL", "TRUE", true),
		distinct("IS NOT DISTINCT FROM", "TRUE when the values are equal, where NULL equals NULL and NaN equals NaN; never UNKNOWN.",
			"CAST(NULL AS INT) IS NOT DISTINCT FROM NULL", "TRUE", false),
		null("IS NULL", "TRUE when the value is NULL.", "'' IS NULL", "FALSE", true),
		null("IS NOT NULL", "TRUE when the value is not NULL.", "'' IS NOT NULL", "TRUE", false),
		{
			Name: "BETWEEN", Group: "comparison", Syntax: "value BETWEEN low AND high",
			Doc:     "TRUE when low <= value and value <= high.",
			Example: "5 BETWEEN 1 AND 5", Result: "TRUE", Min: 3, Max: 3, Hidden: true, Nulls: NullsOwn,
			Bind: bindAllComparable, Kernel: betweenKernel, Select: betweenSelect,
		},
		{
			Name: "IN", Group: "comparison", Syntax: "value IN (value1, value2, …)",
			Doc:     "TRUE when the value equals one of the list; UNKNOWN when it equals none but the list holds NULL.",
			Example: "3 IN (1, 2, NULL)", Result: "NULL", Min: 2, Max: -1, Hidden: true, Nulls: NullsOwn,
			Bind: bindAllComparable, Kernel: inKernel,
		},
	}
}

// bindAllComparable makes the first argument comparable with each of the others.
func bindAllComparable(args []Expr) ([]types.Type, types.Type, error) {
	nullable := false
	for _, a := range args {
		nullable = nullable || a.Type().Nullable()
	}
	result := types.Of(types.Boolean).WithNullable(nullable)
	params := make([]types.Type, len(args))
	params[0] = args[0].Type()
	same := params[0].Kind != types.Null
	for i := 1; i < len(args); i++ {
		s, t, err := comparable(args[0], args[i])
		if err != nil {
			return nil, result, argMismatch{i}
		}
		params[i] = t
		same = same && s.SameKind(args[0].Type())
	}
	if same {
		return params, result, nil
	}
	ts := make([]types.Type, len(args))
	for i, a := range args {
		ts[i] = a.Type()
		if i > 0 && args[0].Type().IsTemporal() && ts[i].IsString() {
			ts[i] = params[i]
		}
	}
	w, ok := types.CommonType(ts...)
	if !ok {
		return nil, result, errMismatch
	}
	if w.Kind == types.Null {
		w = types.Of(types.Boolean)
	}
	for i := range params {
		params[i] = w
	}
	return params, result, nil
}

func betweenKernel(c *Call, _ *Env) (Step, error) {
	ge := compareStep(opGE, c.Args[0].Type(), c.Args[1].Type())
	le := compareStep(opLE, c.Args[0].Type(), c.Args[2].Type())
	upper := column.New(types.Of(types.Boolean), 0)
	return func(r Rows, args []Arg, out *column.Vector) error {
		x, lo, hi := args[0], args[1], args[2]
		upper.Resize(r.N)
		if err := ge(r, []Arg{x, lo}, out); err != nil {
			return err
		}
		if err := le(r, []Arg{x, hi}, upper); err != nil {
			return err
		}
		nulls := x.Valid != nil || lo.Valid != nil || hi.Valid != nil
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			if nulls {
				loNull, hiNull := x.null(i) || lo.null(i), x.null(i) || hi.null(i)
				if (loNull || out.Bool[i]) && (hiNull || upper.Bool[i]) && (loNull || hiNull) {
					out.SetNull(i)
					continue
				}
				if loNull || hiNull {
					out.Bool[i] = false
					continue
				}
			}
			out.Bool[i] = out.Bool[i] && upper.Bool[i]
		}
		return nil
	}, nil
}

func betweenSelect(c *Call, _ *Env) SelectStep {
	ge := compareSelect(opGE, c.Args[0].Type(), c.Args[1].Type())
	le := compareSelect(opLE, c.Args[0].Type(), c.Args[2].Type())
	pair := make([]Arg, 2)
	return func(r Rows, args []Arg, buf []uint16) ([]uint16, error) {
		pair[0], pair[1] = args[0], args[1]
		sel, err := ge(r, pair, buf)
		if err != nil {
			return nil, err
		}
		pair[1] = args[2]
		return le(Rows{Sel: sel, N: r.N, grow: r.grow}, pair, buf)
	}
}

// inKernel looks constants up in a set; a list with other expressions is compared one by one.
func inKernel(c *Call, _ *Env) (Step, error) {
	t := c.Args[0].Type()
	constant, listNull := !t.IsNested(), false
	var list []*column.Vector
	for _, a := range c.Args[1:] {
		if !constant {
			break
		}
		l, ok := a.(*Literal)
		u := a.Type()
		if !ok || t.Kind == types.Decimal && (t.Scale != u.Scale || t.Wide() != u.Wide()) {
			constant = false
			break
		}
		if l.Value.IsNull(0) {
			listNull = true
			continue
		}
		list = append(list, l.Value)
	}
	if !constant {
		return inGeneral(c), nil
	}
	var member func(x Arg, r Rows, out []bool)
	switch column.PhysicalOf(t) {
	case column.PhysBool:
		member = memberOf[bool](list)
	case column.PhysI8:
		member = memberOf[int8](list)
	case column.PhysI16:
		member = memberOf[int16](list)
	case column.PhysI32:
		member = memberOf[int32](list)
	case column.PhysI64:
		member = memberOf[int64](list)
	case column.PhysI128:
		member = memberOf[types.Int128](list)
	case column.PhysF32:
		member = memberOf[float32](list)
	case column.PhysF64:
		member = memberOf[float64](list)
	default:
		set := make(map[string]struct{}, len(list))
		for _, v := range list {
			set[string(v.Value(0))] = struct{}{}
		}
		member = func(x Arg, r Rows, out []bool) {
			for k, n := 0, r.Count(); k < n; k++ {
				i := r.Row(k)
				_, out[i] = set[string(x.Value(x.At(i)))]
			}
		}
	}
	return func(r Rows, args []Arg, out *column.Vector) error {
		x := args[0]
		member(x, r, out.Bool)
		if x.Valid == nil && !listNull {
			return nil
		}
		for k, n := 0, r.Count(); k < n; k++ {
			if i := r.Row(k); x.null(i) || listNull && !out.Bool[i] {
				out.SetNull(i)
			}
		}
		return nil
	}, nil
}

func memberOf[T interface {
	bool | int8 | int16 | int32 | int64 | float32 | float64 | types.Int128
}](list []*column.Vector) func(x Arg, r Rows, out []bool) {
	elems := make([]T, len(list))
	set := make(map[T]struct{}, len(list))
	for i, v := range list {
		elems[i] = values[T](v)[0]
		set[elems[i]] = struct{}{}
	}
	return func(x Arg, r Rows, out []bool) {
		xs := values[T](x.Vector)
		for k, n := 0, r.Count(); k < n; k++ {
			i := r.Row(k)
			v := xs[x.At(i)]
			if len(elems) > 8 {
				_, out[i] = set[v]
				continue
			}
			found := false
			for _, e := range elems {
				found = found || e == v
			}
			out[i] = found
		}
	}
}

func inGeneral(c *Call) Step {
	steps := make([]Step, len(c.Args)-1)
	for k := range steps {
		steps[k] = compareStep(opEQ, c.Args[0].Type(), c.Args[k+1].Type())
	}
	eq := column.New(types.Of(types.Boolean), 0)
	return func(r Rows, args []Arg, out *column.Vector) error {
		x := args[0]
		eq.Resize(r.N)
		n := r.Count()
		for k := 0; k < n; k++ {
			out.Bool[r.Row(k)] = false
		}
		for e, step := range steps {
			y := args[e+1]
			if err := step(r, []Arg{x, y}, eq); err != nil {
				return err
			}
			for k := 0; k < n; k++ {
				if i := r.Row(k); !y.null(i) && eq.Bool[i] {
					out.Bool[i] = true
				}
			}
		}
		for k := 0; k < n; k++ {
			i := r.Row(k)
			null := x.null(i)
			for _, y := range args[1:] {
				null = null || !out.Bool[i] && y.null(i)
			}
			if null {
				out.SetNull(i)
			}
		}
		return nil
	}
}
