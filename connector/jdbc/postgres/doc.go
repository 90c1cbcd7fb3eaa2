// Package postgres is the PostgreSQL dialect of the jdbc catalog and connector: a [server.Dialect] over pgx's
// protocol layer, without database/sql. It is written for PostgreSQL 12 and later.
//
// # Names
//
// A table of the schema public is named by its name alone, every other one as schema.table. A part that has a dot in
// it, or begins with a double quote, is put between double quotes, which are doubled inside: the table a.b of the
// schema public is "a.b", with the quotes, and the table t of the schema x.y is "x.y".t. ListTables gives names in this
// form; public.t is read as t. Names beginning _sluice or .sluice are ours: they are not listed and cannot be made.
//
// # Reading
//
// A table is read by COPY (SELECT …) TO STDOUT in binary form, straight into vectors. All sources of a job on one
// database see one snapshot: a leader exports it, and every further connection takes it over. A large ordinary table
// is cut by page ranges, so that several connections read it; everything else has one reader. The order is that of
// the table's pages.
//
// # Writing
//
// Every write is one transaction of one connection, so that PostgreSQL itself makes it all or nothing and nothing is
// left to be swept after a crash: a table that CREATE TABLE AS makes is filled by COPY under a name of ours in the
// schema of the target, and gets its own name at the end of the transaction, as does one that replaces another (see
// stage.go). What is left is a COMMIT whose answer was lost: the transaction's number is noted before, and asking
// the server for its status settles the outcome, now or later (see outcome.go).
//
// The end of a context ends what runs on the server for it by a cancel request, and closes the connection.
package postgres
