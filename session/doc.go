// Package session is one user's state: the catalogs, the options and the running jobs; [Session.Execute]
// turns the text of one statement into a [Result]. It is the only package that sees the whole pipeline:
//
//	text → sqlparse → planner → job.Graph → bytes → exec → Result
//
// statements.go is the one table from statement to method; each family of statements has a file: catalogs.go,
// databases.go, tables.go (with alter.go, describe.go, partitions.go and show_create.go), views.go,
// functions.go, insert.go, query.go, explain.go, jobs.go, options.go, help.go. background.go has the jobs that no
// statement waits for. options.go holds the one table
// of options. complete.go says what may stand at a place of a statement.
//
// Every error that leaves Execute is an [*Error]: rendered with file, line, column and caret where a place
// in the text is at fault, and free of the secrets that the session's catalogs were created with.
package session
