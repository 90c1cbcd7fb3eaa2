// Package hooks holds FLIP-218's JobStatusHook: what is to happen when a job is created, finishes,
// fails or is canceled. Every batch write has one hook per transaction.
//
// A hook travels in the job graph as its [Spec]: the catalog by name and properties, the table by its
// flat property map, nothing live. [Open] makes the hook of a spec in the process that runs the job:
// it reopens the catalog from the spec and holds the transaction that the job's sink tasks write
// through. A hook for CREATE TABLE AS drives a catalog's StagedTable, one for INSERT the transaction
// of a writable table, one for UPDATE and DELETE that of a table whose rows can be changed.
package hooks
