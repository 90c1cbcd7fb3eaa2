// Package planner turns a parsed statement into a job graph. It is the facade over four stages:
//
//	bind      names resolved, expressions typed, faults refused at their place → plan.Node
//	optimize  the same result for less work → plan.Node
//	lower     operators, edges and hooks → job.Graph
//
// and plan, the nodes between them. [Query], [Insert] and [CreateTableAs] give a [Plan], whose Graph runs
// and whose Explain is shown; [CreateTable] only resolves. Nothing is created here.
package planner
