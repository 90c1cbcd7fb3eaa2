package expr

import (
	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

func overlapsFunctions() []Function {
	return []Function{{
		Name: "OVERLAPS", Group: "temporal", Syntax: "(start1, end1) OVERLAPS (start2, end2)", Hidden: true,
		Doc: "Whether two spans of time have a moment in common, their ends included. A span is from one moment to another, " +
			"whichever comes first, or of a length: (start, interval).",
		Example: "(TIME '2:55:00', INTERVAL '1' HOUR) OVERLAPS (TIME '3:30:00', INTERVAL '2' HOUR)", Result: "TRUE", Min: 4, Max: 4,
		Bind: func(args []Expr) ([]types.Type, types.Type, error) {
			var ts []types.Type
			for _, a := range args {
				t := a.Type()
				if !t.IsTemporal() || t.IsInterval() {
					return nil, types.Type{}, errMismatch
				}
				ts = append(ts, t)
			}
			w, ok := types.CommonType(ts...)
			if !ok {
				return nil, types.Type{}, errMismatch
			}
			return []types.Type{w, w, w, w}, types.Of(types.Boolean), nil
		},
		Kernel: func(*Call, *Env) (Step, error) {
			return func(r Rows, a []Arg, out *column.Vector) error {
				for k, n := 0, r.Count(); k < n; k++ {
					i := r.Row(k)
					at := func(k int) int64 { return a[k].Int64(a[k].At(i)) }
					s1, e1, s2, e2 := at(0), at(1), at(2), at(3)
					out.Bool[i] = max(s1, e1) >= min(s2, e2) && max(s2, e2) >= min(s1, e1)
				}
				return nil
			}, nil
		},
	}}
}
