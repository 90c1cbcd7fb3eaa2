package lower

import (
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/planner/plan"
)

// Explain prints a graph as the tree that its last vertex draws from: each vertex with its parallelism
// and, where rows are not simply handed on, how they reach the vertex above.
func Explain(g *job.Graph) string {
	type edge struct {
		vertex int
		how    string
	}
	var b strings.Builder
	text := func(e edge) string {
		v := &g.Vertices[e.vertex]
		return fmt.Sprintf("%s (parallelism=%d)%s", v.Spec.Describe(), v.Parallelism, e.how)
	}
	children := func(e edge) []edge {
		var below []edge
		for _, in := range g.Inputs(e.vertex) {
			how := ""
			switch {
			case in.Kind == job.Broadcast:
				how = " broadcast"
			case in.Kind == job.Hash:
				names := make([]string, len(in.Keys))
				for i, k := range in.Keys {
					names[i] = g.Vertices[in.From].Out[k].Name
				}
				how = " hash[" + strings.Join(names, ", ") + "]"
			case g.Vertices[in.From].Parallelism != g.Vertices[in.To].Parallelism:
				how = " gather"
			}
			below = append(below, edge{in.From, how})
		}
		return below
	}
	plan.Tree(&b, edge{vertex: len(g.Vertices) - 1}, text, children)
	return b.String()
}
