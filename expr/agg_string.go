package expr

import "strings"

// AggString returns an aggregate call as SQL writes it, for EXPLAIN.
func AggString(c *AggCall) string {
	args := make([]string, len(c.Args))
	for i, a := range c.Args {
		args[i] = String(a)
	}
	s := strings.Join(args, ", ")
	if len(args) == 0 {
		s = "*"
	}
	if c.Distinct {
		s = "DISTINCT " + s
	}
	s = c.Func.Name + "(" + s + ")"
	if c.Filter != nil {
		s += " FILTER (WHERE " + String(c.Filter) + ")"
	}
	return s
}
