// Package exec runs job graphs: job.Graph → running tasks → sinks.
//
// [Runtime.Submit] decodes a graph, opens its hooks and starts a [Job], whose state machine and order of
// hook calls stand in job.go. The graph is cut into pipelines (pipeline.go): trees of chained operators
// that run in one goroutine for each degree of parallelism, fed by leaves (tables, constants, edges)
// that hand out morsels, in order. Pipelines are joined by edges (edge.go), bounded queues of dense
// batches; the receiving end restores the order of the morsels. One file an operator; operator.go has
// the interface and the rules of ownership, rows.go the store for those that keep rows.
//
// A batch passed to an operator is lent until the call returns, and its vectors may be gone afterwards.
// A batch on an edge belongs to the receiver until it asks for the next, then its memory goes round.
//
// A job in streaming mode (stream.go) has the same operators in one goroutine, fed by one goroutine a source
// (stream_source.go); its sinks (stream_sink.go) write at checkpoints. stream_aggregate.go is GROUP BY there.
//
// Package exec/store keeps the journal of jobs that write.
package exec
