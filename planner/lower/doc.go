// Package lower turns a plan into a job graph: [Query] for the rows of a SELECT, [Write] for an INSERT or
// CREATE TABLE AS. A scan and what works row by row on it runs in Parallelism subtasks joined by forward
// edges; build sides of joins are broadcast; groups are hashed between a partial and a final step; what
// needs all rows in order (sort, limit, union, sink) runs once. The graph holds all that the job needs.
//
// A streaming job runs in one subtask: its groupings take and make changes, of which plan.Changelog says what
// each node needs.
package lower
