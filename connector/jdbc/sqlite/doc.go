// Package sqlite is the SQLite dialect of the jdbc connector: it reads and writes SQLite files through
// a small C shim (the only cgo of the project) that sits beside the amalgamation which go-sqlite3 links
// in. Every statement, data or metadata, takes this one road; database/sql is not used.
//
// [Conn] is a handle. [Store] is one database file with its options; it describes tables ([Store.Table]),
// makes [connector.Source]s ([NewSource]) and [connector.Transaction]s ([NewTransaction]).
//
//	conn.go, conn.c     handles, statements, errors
//	scan.go, scan.c     rows into column buffers, many a call; odd cells are decided in Go
//	feed.go, feed.c     column batches as a table that an INSERT reads
//	types.go            SQL types to declared types and back
//	alter.go            ALTER TABLE and RENAME, by SQLite's own
//	source.go           splits, readers
//	snapshot.go         one snapshot for all the readers of a job
//	pushdown.go         filters that SQLite applies
//	transaction.go      the two roads of a write
//	outcome.go          COMMIT, and what became of one that failed
//	stored.go           rows that triggers, clauses and foreign keys do not leave there
//	overwrite.go    INSERT OVERWRITE and TRUNCATE
//	modify.go       UPDATE and DELETE
//	replace.go      what a table to replace must not have, and its identity
//	uses.go         which views and triggers use a table
//	scratch.go          scratch files and their locks
//
// Invariants. Nothing but SQLite opens a database, -wal, -shm or -journal file: closing any other
// descriptor of it would drop SQLite's locks. The journal mode of a file that this process did not make
// is never changed. No write follows an error on the same connection, unless its transaction is seen
// to be open and is rolled back in the end: it may have ended by itself, and what follows would commit
// at once. Success is reported when it is proven, and failure too; the rest is in doubt. Foreign keys of a table written are enforced, although SQLite's default is not to.
package sqlite
