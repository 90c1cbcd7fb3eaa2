// Package repl is the shell on a terminal or a pipe: it reads SQL, hands it to a session statement by
// statement, and prints what comes back. It knows no SQL beyond where a statement ends.
//
// [Run] shows a prompt on a terminal (prompt.go) and else runs its standard input as a script;
// [RunScript] runs a file, [RunCommand] a text (script.go). All three split by sqlparse.Splitter and
// run a statement as soon as it is complete (statement.go).
//
// [Screen] is the one writer of a process. Result rows and help go to standard output, everything else
// to standard error; the two are serialised, so that on a terminal they stand in the order in which they
// were written, under a progress line that is taken away before anything is printed.
//
// A format is one file: tableau.go, csv.go, json.go, markdown.go. Each prints rows as they come in
// bounded memory. What is not a terminal gets every byte of every value in csv and json; a terminal
// never gets a control character out of data, names or errors (visible.go).
//
// signals.go holds what Ctrl-C and its kin do, input.go what a paste does, history.go the history file.
package repl
