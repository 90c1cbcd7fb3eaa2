package exec

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/types"
)

// builder cuts a graph into pipelines. A vertex joins the pipeline of its consumer when a forward edge of
// equal parallelism leads there; else it heads a pipeline of its own. The build side of a join always is
// a pipeline of its own, with one worker, that ends in the join's table.
type builder struct {
	job    *Job
	graph  *job.Graph
	env    *expr.Env
	memory *connector.Memory
	limits laneLimits
	used   []bool // by vertex
}

func (b *builder) build() error {
	for i := range b.graph.Vertices {
		v := &b.graph.Vertices[i]
		switch spec := v.Spec.(type) {
		case *job.Sink:
			if b.job.stream != nil {
				if err := b.streamSink(v, spec); err != nil {
					return err
				}
				continue
			}
			e, err := b.input(v)
			if err != nil {
				return err
			}
			b.job.sinks = append(b.job.sinks, &sink{job: b.job, spec: spec, in: e.receiver(), rows: &b.job.written})
		case *job.Collect:
			if b.job.collect != nil {
				return fmt.Errorf("the job collects rows twice")
			}
			e, err := b.input(v)
			if err != nil {
				return err
			}
			b.job.collect = e.receiver()
		}
	}
	if len(b.job.sinks) == 0 && b.job.collect == nil && (b.job.stream == nil || len(b.job.stream.sinks) == 0) {
		return fmt.Errorf("the job has neither a sink nor collects rows")
	}
	for i, used := range b.used {
		if !used {
			return fmt.Errorf("vertex %d (%s) leads nowhere", i, b.graph.Vertices[i].Spec.Op())
		}
	}
	for _, p := range b.job.pipelines {
		if err := p.build(); err != nil {
			return err
		}
	}
	return nil
}

// input returns the edge into a vertex that ends the graph.
func (b *builder) input(v *job.Vertex) (*edge, error) {
	in, err := b.inputs(v, 1)
	if err != nil {
		return nil, err
	}
	b.used[v.ID] = true
	p, e, err := b.head(in[0].From, nil)
	b.job.roots = append(b.job.roots, p)
	return e, err
}

// inputs returns the edges into a vertex, which must be n, or at least one when n is -1.
func (b *builder) inputs(v *job.Vertex, n int) ([]job.Edge, error) {
	in := b.graph.Inputs(v.ID)
	if n >= 0 && len(in) != n || n < 0 && len(in) == 0 {
		return nil, fmt.Errorf("vertex %d (%s) has %d inputs", v.ID, v.Spec.Op(), len(in))
	}
	for i, e := range in {
		if e.Input != i {
			return nil, fmt.Errorf("vertex %d (%s) has no input %d", v.ID, v.Spec.Op(), i)
		}
	}
	return in, nil
}

// newPipeline returns an empty pipeline.
func (b *builder) newPipeline(parallelism int) *pipeline {
	p := &pipeline{job: b.job, parallelism: parallelism}
	p.ctx, p.cancel = context.WithCancelCause(b.job.ctx)
	b.job.pipelines = append(b.job.pipelines, p)
	return p
}

// head makes the pipeline that a vertex heads and the edge it fills; by, when given, is an edge by hash.
func (b *builder) head(id int, by *hashing) (*pipeline, *edge, error) {
	v := &b.graph.Vertices[id]
	p := b.newPipeline(v.Parallelism)
	keepsOrder, err := b.grow(p, id, nil)
	if err != nil {
		return nil, nil, err
	}
	e := &edge{types: vertexTypes(v), rows: min(b.graph.BatchRows, maxBatch), from: p}
	p.out = e
	switch {
	case by != nil:
		p.keys = by.keys
		for range by.parts {
			e.lanes = append(e.lanes, newLane(b.limits, b.job.rt.poison, p.parallelism))
		}
	case p.parallelism > 1 && keepsOrder:
		for range p.parallelism {
			e.lanes = append(e.lanes, newLane(b.limits, b.job.rt.poison, 1))
		}
		e.order = make(chan int, 4*p.parallelism)
	default:
		e.lanes = []*lane{newLane(b.limits, b.job.rt.poison, p.parallelism)}
	}
	return p, e, nil
}

// maxBatch is the most rows in a batch that selections can name.
const maxBatch = 65536

type hashing struct {
	keys  []int
	parts int
}

// grow adds a vertex, and whatever is chained below it, to a pipeline, feeding next. It reports whether
// the rows come in an order that is worth restoring.
func (b *builder) grow(p *pipeline, id int, next *stage) (ordered bool, err error) {
	v := &b.graph.Vertices[id]
	if b.used[id] {
		return false, fmt.Errorf("vertex %d (%s) has two consumers", id, v.Spec.Op())
	}
	b.used[id] = true
	rows := &b.job.counters[id]
	switch spec := v.Spec.(type) {
	case *job.Scan:
		p.leaves = append(p.leaves, &leafNode{next: next, leaf: &scan{spec: spec, ref: b.graph.Catalogs[spec.Table.Catalog],
			catalogs: b.job.catalogs, types: vertexTypes(v), parallelism: p.parallelism, rows: rows}})
		b.job.reads = append(b.job.reads, rows)
		return true, nil
	case *job.Values:
		l, err := newValues(spec.Batches, vertexTypes(v))
		if err != nil {
			return false, err
		}
		p.leaves = append(p.leaves, &leafNode{next: next, leaf: l})
		return true, nil
	}
	s, want, err := b.stage(p, v)
	if err != nil {
		return false, err
	}
	s.next, s.rows = next, rows
	in, err := b.inputs(v, want)
	if err != nil {
		return false, err
	}
	ordered = true
	if j, ok := v.Spec.(*job.Join); ok {
		table, err := b.buildSide(v, j, in[1].From)
		if err != nil {
			return false, err
		}
		p.builds = append(p.builds, table)
		s.make = func(w *worker) (operator, error) { return newJoinProbe(w, v, j, table, b.envOf(v, w)) }
		in = in[:1]
	}
	s.inputs = len(in)
	for _, e := range in {
		o, err := b.feed(p, e, v, s)
		if err != nil {
			return false, err
		}
		ordered = ordered && o
	}
	s.index = len(p.stages)
	p.stages = append(p.stages, s)
	return ordered, nil
}

// feed makes the rows of an edge enter a stage: chained, or through a pipeline of their own.
func (b *builder) feed(p *pipeline, e job.Edge, v *job.Vertex, s *stage) (ordered bool, err error) {
	from := &b.graph.Vertices[e.From]
	switch {
	case e.Kind == job.Forward && from.Parallelism == p.parallelism, e.Kind == job.Hash && from.Parallelism == 1 && p.parallelism == 1:
		return b.grow(p, e.From, s)
	case e.Kind == job.Forward, e.Kind == job.Hash && p.parallelism == 1:
		_, in, err := b.head(e.From, nil)
		if err != nil {
			return false, err
		}
		p.leaves = append(p.leaves, &leafNode{next: s, leaf: &edgeLeaf{upstream: upstream{edge: in}, r: in.receiver()}})
		return in.order != nil || from.Parallelism == 1, nil
	case e.Kind == job.Hash:
		_, in, err := b.head(e.From, &hashing{e.Keys, p.parallelism})
		if err != nil {
			return false, err
		}
		p.leaves = append(p.leaves, &leafNode{next: s, leaf: &hashLeaf{upstream: upstream{edge: in}, taken: make([]bool, p.parallelism)}})
		return false, nil
	}
	return false, fmt.Errorf("vertex %d (%s) cannot take a %s edge", v.ID, v.Spec.Op(), e.Kind)
}

// buildSide makes the pipeline that fills a join's table. One worker fills it, whatever the edge's kind.
func (b *builder) buildSide(v *job.Vertex, spec *job.Join, from int) (*joinTable, error) {
	input := &b.graph.Vertices[from]
	p := b.newPipeline(1)
	t := newJoinTable(v, spec, vertexTypes(input), p)
	s := &stage{name: "join (build side)", inputs: 1, rows: new(atomic.Int64)}
	s.make = func(w *worker) (operator, error) { return newJoinBuild(w, t, spec, b.env, b.newMemory(OperatorJoin)) }
	kind := job.Edge{From: from, To: v.ID, Kind: job.Forward}
	if _, err := b.feed(p, kind, v, s); err != nil {
		return nil, err
	}
	s.index = len(p.stages)
	p.stages = append(p.stages, s)
	return t, nil
}

// envOf is the environment of one worker's part of a vertex: the job's, with a seed of its own, so that
// RAND and UUID do not repeat from worker to worker or from operator to operator.
func (b *builder) envOf(v *job.Vertex, w *worker) *expr.Env {
	env := *b.env
	env.Seed = b.env.Seed + uint64(v.ID+1)<<32 + uint64(w.id+1)<<16
	m := b.newMemory(OperatorFunctions)
	b.job.functions = append(b.job.functions, m)
	made := int64(0)
	env.Grow = func(n int64) error {
		made += n
		err := m.hold(made)
		var full *Error
		if errors.As(err, &full) {
			return &expr.Error{Row: -1, Msg: full.Msg, Hint: full.Hint + ", or make batches smaller with SET 'sluice.batch-rows' = '<rows>'"}
		}
		return err
	}
	return &env
}

func (b *builder) newMemory(operator string) *memory {
	return &memory{budget: b.memory, operator: operator}
}

// stage makes the stage of an operator and says how many inputs it must have, -1 for any number.
func (b *builder) stage(p *pipeline, v *job.Vertex) (*stage, int, error) {
	s := &stage{}
	inputs := 1
	alone := false // must see all rows
	switch spec := v.Spec.(type) {
	case *job.Filter:
		s.name = "filter"
		s.make = func(w *worker) (operator, error) { return newFilter(spec, b.envOf(v, w)) }
	case *job.Project:
		s.name = "projection"
		s.make = func(w *worker) (operator, error) { return newProject(spec, b.envOf(v, w)) }
	case *job.Unnest:
		s.name = "UNNEST"
		s.make = func(w *worker) (operator, error) { return newUnnest(w, v, spec, b.envOf(v, w)) }
	case *job.Limit:
		s.name, alone = "LIMIT", true
		s.make = func(*worker) (operator, error) { return newLimit(spec), nil }
	case *job.SingleRow:
		s.name, alone = "scalar subquery", true
		s.make = func(*worker) (operator, error) {
			return newSingleRow(spec, vertexTypes(v), b.newMemory("the scalar subquery")), nil
		}
	case *job.Union:
		s.name, inputs = "UNION ALL", -1
	case *job.Join:
		s.name, inputs = "join", 2
	case *job.Aggregate:
		s.name, alone = "aggregation", spec.Phase != job.Partial && len(spec.Keys) == 0
		s.make = func(w *worker) (operator, error) {
			if spec.Phase == job.Changelog {
				return newStreamAggregate(w, v, spec, b.envOf(v, w), b.newMemory(OperatorAggregate))
			}
			return newAggregate(w, v, spec, b.envOf(v, w), b.newMemory(OperatorAggregate))
		}
	case *job.Sort:
		s.name, alone = "ORDER BY", true
		s.make = func(w *worker) (operator, error) {
			in := b.graph.Inputs(v.ID)
			return newSort(w, spec, vertexTypes(&b.graph.Vertices[in[0].From]), b.envOf(v, w), b.newMemory(OperatorSort))
		}
	default:
		return nil, 0, fmt.Errorf("vertex %d (%s) cannot feed another", v.ID, v.Spec.Op())
	}
	if alone && p.parallelism > 1 {
		return nil, 0, fmt.Errorf("vertex %d (%s) cannot run in parallel", v.ID, v.Spec.Op())
	}
	return s, inputs, nil
}

func vertexTypes(v *job.Vertex) []types.Type {
	ts := make([]types.Type, len(v.Out))
	for i, c := range v.Out {
		ts[i] = c.Type
	}
	return ts
}
