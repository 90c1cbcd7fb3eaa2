package session

import (
	"encoding/json"
	"strings"

	"github.com/sluice-sql/sluice/job"
)

// jsonNode is a vertex of a job in the form that Flink's EXPLAIN JSON_EXECUTION_PLAN prints.
type jsonNode struct {
	ID           int               `json:"id"`
	Type         string            `json:"type"`
	Pact         string            `json:"pact"`
	Contents     string            `json:"contents"`
	Parallelism  int               `json:"parallelism"`
	Predecessors []jsonPredecessor `json:"predecessors,omitempty"`
}

type jsonPredecessor struct {
	ID           int    `json:"id"`
	ShipStrategy string `json:"ship_strategy"`
	Side         string `json:"side"`
}

// executionJSON prints a graph as Flink does its stream graph; ids count from 1.
func executionJSON(g *job.Graph) (string, error) {
	nodes := make([]jsonNode, len(g.Vertices))
	for i := range g.Vertices {
		v := &g.Vertices[i]
		contents := v.Spec.Describe()
		name, _, _ := strings.Cut(contents, " ")
		in := g.Inputs(i)
		n := jsonNode{ID: i + 1, Type: name, Pact: "Operator", Contents: contents, Parallelism: v.Parallelism}
		switch {
		case len(in) == 0:
			n.Pact = "Data Source"
		case i == len(g.Vertices)-1:
			n.Pact = "Data Sink"
		}
		for k, e := range in {
			side := "first"
			if k > 0 {
				side = "second"
			}
			n.Predecessors = append(n.Predecessors, jsonPredecessor{ID: e.From + 1, ShipStrategy: shipStrategy(g, e), Side: side})
		}
		nodes[i] = n
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(map[string]any{"nodes": nodes}); err != nil {
		return "", err
	}
	return b.String(), nil
}

// shipStrategy is Flink's word for how rows reach the vertex below.
func shipStrategy(g *job.Graph, e job.Edge) string {
	switch {
	case e.Kind == job.Hash:
		return "HASH"
	case e.Kind == job.Broadcast:
		return "BROADCAST"
	case g.Vertices[e.From].Parallelism != g.Vertices[e.To].Parallelism:
		return "GLOBAL" // all rows to the one subtask
	}
	return "FORWARD"
}
