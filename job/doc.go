// Package job holds the job graph: what the planner hands to the engine, in a form that can be written
// down. A [Graph] has vertices, each an operator name and its spec; edges; hooks; and a header with
// everything else a run needs. [Encode] and [Decode] are its serialised form, which every job passes
// through before it runs, also in process: after Encode nothing is read from the session.
//
// One file a kind of operator holds its spec; operators.go is the table of them. Start with graph.go.
package job
