// Package pushdown takes conjuncts apart that a database may apply: what is the same for every dialect. Which columns
// and values mean the same to the database as here is the dialect's to say.
package pushdown
