package job

import (
	"time"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/hooks"
	"github.com/sluice-sql/sluice/types"
)

// Version is the version of the serialised form.
const Version = 1

// Mode is the runtime mode of a job.
type Mode string

// The runtime modes a job can have; AUTOMATIC is decided before.
const (
	Batch     Mode = "batch"
	Streaming Mode = "streaming"
)

// Text is one of the texts that spans point into: the statement (first) or a view's query, secrets
// masked at equal length.
type Text struct {
	Name string `json:"name"` // file name, or what stands for one
	// Object is the view whose query it is, or the table with the computed column; nil for a statement.
	Object *connector.ObjectIdentifier `json:"object,omitempty"`

	SQL string `json:"sql"`
	// Line and Column are where SQL begins in Name, counted from 1.
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Graph is a job.
type Graph struct {
	Version     int             `json:"version"`
	ID          connector.JobID `json:"id"`
	Name        string          `json:"name"`
	Mode        Mode            `json:"mode"`
	Texts       []Text          `json:"texts"`
	Start       time.Time       `json:"start"` // NOW() of a batch job
	Zone        string          `json:"zone"`  // IANA name or offset
	Seed        uint64          `json:"seed"`
	Parallelism int             `json:"parallelism"`
	BatchRows   int             `json:"batchRows"` // rows a batch; tests vary it
	Catalogs    []catalog.Ref   `json:"catalogs"`
	Vertices    []Vertex        `json:"vertices"` // in topological order: an edge goes from a lower ID to a higher
	Edges       []Edge          `json:"edges"`
	// Hooks are called as the job changes state. In streaming mode none is: there they only say what each
	// Sink writes, all of the kind insert, and every checkpoint is a transaction of its own.
	Hooks []hooks.Spec `json:"hooks,omitempty"`
	// CheckpointInterval is the time between two checkpoints of a streaming job; 0 is the default, one
	// second. It is written in nanoseconds.
	CheckpointInterval time.Duration `json:"checkpointInterval,omitempty"`
	// Create is the table that a streaming CREATE TABLE AS makes before the job starts; nil for none.
	Create *Create `json:"create,omitempty"`
}

// The interval of checkpoints: its default and the least there may be.
const (
	DefaultCheckpointInterval = time.Second
	MinCheckpointInterval     = 10 * time.Millisecond
)

// Create is a table that is made, empty, just before a streaming job starts. It stays whatever becomes of
// the job, unless the job never starts. A table that is there already is an error of the start, which
// IF NOT EXISTS makes of no consequence to whoever started the job.
type Create struct {
	Table
}

// Vertex is one operator of the job.
type Vertex struct {
	ID   int  // its index in Graph.Vertices
	Spec Spec // what it does; the spec's Op names it
	Out  []types.Column
	// Parallelism is 1 or the number of subtasks the vertex may run as.
	Parallelism int
}

// EdgeKind says how rows are handed from the subtasks of one vertex to those of the next.
type EdgeKind string

// The kinds of edge. Forward between vertices of equal parallelism goes from subtask to subtask, and
// the two may be chained in one task; forward from many to one gathers in source order. Hash sends a
// row to the subtask that its Keys' hash names. Broadcast gives every subtask all rows.
const (
	Forward   EdgeKind = "forward"
	Hash      EdgeKind = "hash"
	Broadcast EdgeKind = "broadcast"
)

// Edge joins two vertices.
type Edge struct {
	From  int      `json:"from"`
	To    int      `json:"to"`
	Input int      `json:"input"` // which input of To, from 0
	Kind  EdgeKind `json:"kind"`
	Keys  []int    `json:"keys,omitempty"` // columns hashed, for Hash
}

// Spec is what one operator does. Each is a plain struct with JSON tags; see operators.go.
type Spec interface {
	// Op is the operator's name in the serialised form.
	Op() string
	// Describe returns one line for EXPLAIN.
	Describe() string
}

// Inputs returns the edges that lead into vertex id, by input.
func (g *Graph) Inputs(id int) []Edge {
	var in []Edge
	for _, e := range g.Edges {
		if e.To == id {
			in = append(in, e)
		}
	}
	for i := range in { // few: insertion order is nearly right
		for j := i; j > 0 && in[j].Input < in[j-1].Input; j-- {
			in[j], in[j-1] = in[j-1], in[j]
		}
	}
	return in
}
