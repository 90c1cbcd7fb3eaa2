// Package planner turns a parsed statement into a job graph. It is the facade over four stages:
//
//	bind      names resolved, expressions typed, faults refused at their place → plan.Node
//	optimize  the same result for less work → plan.Node
//	lower     operators, edges and hooks → job.Graph
//
// and plan, the nodes between them. [Query], [Insert], [CreateTableAs] and [Partitions] give a [Plan], whose
// Graph runs and whose Explain is shown; [CreateTable], [CreateView], [AlterTable] and [AlterView] only
// resolve. Nothing is created or changed here.
//
// A query runs in batch or in streaming mode, as [Options] say or as the tables that it reads are: see stream.go
// for what is different in the latter, sink.go for which tables take its changes, and plan.Changelog for how the
// changes of each node are known. What streaming mode refuses, binding notes at its place.
//
// A view is kept as the text of its query with all names in full, a computed column as the text of its
// expression. Both are parsed and bound again where they are read, and the places of their expressions are
// in that text: [Plan.Texts].
package planner
