// Package server is the contract of the jdbc dialects of database servers, PostgreSQL and MySQL. The catalog and the
// connector of type jdbc do what all servers have in common against it; a dialect does the rest: quoting, types, DDL,
// bulk reading, bulk loading, staging.
//
// [Server] is one server seen as one user. Its databases are the databases of the SQL world, its tables are named as
// the user writes them: in PostgreSQL name, or schema.name outside the schema public.
package server
