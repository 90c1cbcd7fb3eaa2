package job

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/sluice-sql/sluice/types"
)

// Encode returns the serialised form of a graph.
func Encode(g *Graph) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(g); err != nil {
		return nil, fmt.Errorf("encode job graph: %w", err)
	}
	return buf.Bytes(), nil
}

// Decode returns the graph of a serialised form, checked: a graph that Decode accepts has known
// operators, edges between its vertices, expressions over columns that are there, and catalogs and hooks
// for all that refer to them.
func Decode(b []byte) (*Graph, error) {
	var head struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return nil, fmt.Errorf("decode job graph: %w", err)
	}
	if head.Version != Version {
		return nil, fmt.Errorf("decode job graph: version %d, this program knows %d", head.Version, Version)
	}
	g := new(Graph)
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(g); err != nil {
		return nil, fmt.Errorf("decode job graph: %w", err)
	}
	if err := g.check(); err != nil {
		return nil, fmt.Errorf("decode job graph: %w", err)
	}
	return g, nil
}

type vertexJSON struct {
	Op          string          `json:"op"`
	Spec        json.RawMessage `json:"spec"`
	Out         []columnJSON    `json:"out"`
	Parallelism int             `json:"parallelism"`
}

type columnJSON struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// MarshalJSON writes a vertex as operator name, spec, output columns and parallelism; its ID is its place.
func (v Vertex) MarshalJSON() ([]byte, error) {
	spec, err := marshalRaw(v.Spec)
	if err != nil {
		return nil, err
	}
	out := make([]columnJSON, len(v.Out))
	for i, c := range v.Out {
		out[i] = columnJSON{c.Name, c.Type.String()}
	}
	return marshalRaw(vertexJSON{v.Spec.Op(), spec, out, v.Parallelism})
}

// marshalRaw is json.Marshal without HTML escaping.
func marshalRaw(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(buf.Bytes(), "\n"), nil
}

// UnmarshalJSON is the inverse of MarshalJSON, but for the ID.
func (v *Vertex) UnmarshalJSON(b []byte) error {
	var j vertexJSON
	if err := json.Unmarshal(b, &j); err != nil {
		return err
	}
	v.Spec = operators(j.Op)
	if v.Spec == nil {
		return fmt.Errorf("unknown operator %q", j.Op)
	}
	dec := json.NewDecoder(bytes.NewReader(j.Spec))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v.Spec); err != nil {
		return fmt.Errorf("operator %s: %w", j.Op, err)
	}
	v.Out = make([]types.Column, len(j.Out))
	for i, c := range j.Out {
		t, err := types.ParseType(c.Type)
		if err != nil {
			return fmt.Errorf("operator %s, column %q: %w", j.Op, c.Name, err)
		}
		v.Out[i] = types.Column{Name: c.Name, Type: t}
	}
	v.Parallelism = j.Parallelism
	return nil
}

func (g *Graph) check() error {
	if g.Parallelism < 1 || g.BatchRows < 1 {
		return fmt.Errorf("parallelism %d and batch rows %d must be positive", g.Parallelism, g.BatchRows)
	}
	if g.Mode != Batch && g.Mode != Streaming {
		return fmt.Errorf("unknown runtime mode %q", g.Mode)
	}
	if err := g.checkMode(); err != nil {
		return err
	}
	for i := range g.Vertices {
		v := &g.Vertices[i]
		v.ID = i
		if v.Parallelism < 1 {
			return fmt.Errorf("vertex %d has parallelism %d", i, v.Parallelism)
		}
		switch s := v.Spec.(type) {
		case *Scan:
			if s.Table.Catalog < 0 || s.Table.Catalog >= len(g.Catalogs) {
				return fmt.Errorf("vertex %d refers to catalog %d of %d", i, s.Table.Catalog, len(g.Catalogs))
			}
		case *Sink:
			if s.Hook < 0 || s.Hook >= len(g.Hooks) {
				return fmt.Errorf("vertex %d refers to hook %d of %d", i, s.Hook, len(g.Hooks))
			}
		}
	}
	for _, e := range g.Edges {
		if e.From < 0 || e.To >= len(g.Vertices) || e.From >= e.To {
			return fmt.Errorf("edge from %d to %d among %d vertices", e.From, e.To, len(g.Vertices))
		}
		if e.Kind != Forward && e.Kind != Hash && e.Kind != Broadcast {
			return fmt.Errorf("edge of unknown kind %q", e.Kind)
		}
		for _, k := range e.Keys {
			if k < 0 || k >= len(g.Vertices[e.From].Out) {
				return fmt.Errorf("edge key %d of %d columns", k, len(g.Vertices[e.From].Out))
			}
		}
	}
	for i := range g.Vertices {
		if err := g.checkExprs(&g.Vertices[i]); err != nil {
			return err
		}
	}
	return nil
}
