// Package repl is the shell on a terminal or a pipe: it reads SQL, hands it to a session statement by
// statement, and prints what comes back. It knows no SQL beyond where a statement ends, but for SOURCE, which
// is its own, and what an init file may hold (source.go).
//
// [Run] shows a prompt on a terminal (prompt.go) and else runs its standard input as a script;
// [RunScript] runs a file, [RunCommand] a text (script.go). All three split by sqlparse.Splitter and
// run a statement as soon as it is complete (statement.go). A line such as \dt is an alias: commands.go, the
// table of them, makes a statement of it, by the parser's leave.
//
// [Screen] is the one writer of a process. Result rows and help go to standard output, everything else
// to standard error; the two are serialised, so that on a terminal they stand in the order in which they
// were written, under a progress line that is taken away before anything is printed.
//
// A format is one file: tableau.go and box.go (two styles of grid.go), csv.go, tsv.go, json.go, markdown.go,
// vertical.go. Each prints rows as they come in bounded memory. What is not a terminal gets every byte of
// every value in csv, tsv and json; a terminal never gets a control character out of data, names or errors
// (visible.go), and nothing is cut but on a terminal.
//
// A result goes to a destination (output.go): the screen, the file of 'sluice.output', which has it whole or
// not at all (output_file.go), or, at the prompt, a spool that a pager reads once the query is over
// (pager.go).
//
// background.go says how jobs in the background end, and what becomes of them when a script ends or a user
// leaves; changelog.go prints the rows of a query in streaming mode.
//
// signals.go holds what Ctrl-C and its kin do, input.go what a paste does, history.go the history file.
package repl
