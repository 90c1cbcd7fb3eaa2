// Package testfile runs the project's data-driven tests: files of cases, each a directive, an input and
// the output that is expected.
//
//	# why the case exists
//	sql
//	SELECT 1 + 1;
//	----
//	EXPR$0 INT NOT NULL
//	2
//
// A directive may carry arguments: `sql unordered`, `sql ways=(default)`. Output with blank lines stands
// between two pairs of ---- lines. [Run] runs one file, [Walk] every file of a directory as a subtest of
// its own. With -update the files are rewritten with what the run gave; read the diff before you commit it.
package testfile
