// Package jdbc is the catalog of type 'jdbc': the databases and tables of a SQL server or file, as they
// are there. Nothing about a table is kept elsewhere.
//
// [Factory] makes catalogs from 'base-url' and friends. With SQLite a catalog is one file (one database,
// named by the file's stem) or a directory of them. The work on a file is connector/jdbc/sqlite's; this
// package maps names to files, and the file's answers to the words of package catalog.
package jdbc
