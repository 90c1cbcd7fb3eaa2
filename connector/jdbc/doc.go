// Package jdbc is the jdbc connector: tables of a SQL database named by a URL such as
// jdbc:sqlite:/path/shop.db or jdbc:postgresql://host/shop. What a dialect does (types, DDL, bulk read, bulk load)
// is in a folder of its own below; this package holds what they share: addresses, users and the connector's
// options.
//
// [Dialects] are the kinds of servers there are, in one list; [Dialects.ParseURL] reads addresses, for the
// connector and for the catalog of the same type. [Connector] opens tables that are registered in another catalog
// WITH ('connector' = 'jdbc', …).
package jdbc
