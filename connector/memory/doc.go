// Package memory keeps the rows of tables in the process.
//
// A [Store] is one table's rows: an immutable list of dense batches a version, replaced by a pointer
// swap. A reader takes the version of its start and keeps it, whatever is committed or dropped later.
// A [Transaction] collects rows aside: [Store.Transaction] appends them to whatever version is current
// when it commits, so that two INSERTs at once both survive, and [NewStaging] makes them the first
// version of a new table, which the owner (catalog/memory) publishes together with its registration.
//
// [Store.Alter] makes of a table the store of another schema or name, which shares what stays as it is.
//
// The memory is reserved from the process's budget batch by batch as rows arrive. It belongs to the
// transaction until the commit and to the store after it, and is given back when the table is dropped
// and its last reader has closed.
//
// A PRIMARY KEY is not checked, as Flink's NOT ENFORCED says; NOT NULL is.
package memory
