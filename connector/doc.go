// Package connector holds the contracts between the engine and the stores that tables live in. It has
// no implementation of a store; those are one folder each below it.
//
// A [Factory] opens a [Table] from its definition. A table that can be read offers [Scannable], one
// that can be written [Writable]. Reading is [Source] → [Split] → [Reader]; writing is one
// [Transaction] for every kind of write, from INSERT to CREATE TABLE AS, whose [Writer]s the sink
// tasks fill. [Options] carries a table's or catalog's properties with the keys that are declared
// public; every other value is a [Secret] and is never printed. [Env] is what is shared by a process.
package connector
