// Package jdbc is the catalog of type 'jdbc': the databases and tables of a SQL server or file, as they
// are there. Nothing about a table is kept elsewhere.
//
// [Factory] makes catalogs from 'base-url' and friends. With SQLite a catalog is one file (one database,
// named by the file's stem) or a directory of them: [Catalog], in catalog.go and its neighbours; the work on a
// file is connector/jdbc/sqlite's. With all others it is a server, seen as one user: [Server], in server*.go; the
// work is that of a connector/jdbc/server.Server. This package maps names to those, and their answers to the words
// of package catalog.
package jdbc
