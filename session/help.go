package session

import (
	"strings"
)

// help lists the statements that can be run.
func (s *Session) help() *Result {
	return &Result{Kind: Help, Message: helpText()}
}

// helpLine is one line of HELP.
type helpLine struct{ form, does string }

func helpLines() []helpLine {
	return []helpLine{
		{"SELECT … / WITH … / VALUES …", "show the rows of a query"},
		{"CREATE TABLE t AS SELECT …", "make a table of a query's rows, all or nothing"},
		{"CREATE TABLE t (c type, …)", "make an empty table; DROP TABLE t drops it"},
		{"INSERT INTO t SELECT … / VALUES …", "add rows, all or nothing"},
		{"EXPLAIN statement", "show the plan, the target and the guarantee; runs nothing"},
		{"CREATE CATALOG c WITH ('type' = …)", "open a catalog; DROP CATALOG c forgets it"},
		{"CREATE DATABASE d / DROP DATABASE d", "make or drop a database"},
		{"USE CATALOG c / USE d", "make a catalog or database the current one"},
		{"SHOW CATALOGS / DATABASES / TABLES", "list them; LIKE 'a%' picks by name"},
		{"SHOW CREATE TABLE t / CATALOG c", "show the statement that makes it again"},
		{"SHOW CURRENT CATALOG / DATABASE", "show where names are looked up"},
		{"DESCRIBE t", "show a table's columns"},
		{"SHOW JOBS", "list the jobs of this process"},
		{"SET 'key' = 'value' / SET / RESET", "set, list or reset options"},
		{"HELP, CLEAR, QUIT", "this text; clear the screen; leave"},
	}
}

func helpText() string {
	var b strings.Builder
	b.WriteString("Statements end with ; and may span lines.\n\n")
	width := 0
	for _, l := range helpLines() {
		width = max(width, len([]rune(l.form)))
	}
	for _, l := range helpLines() {
		b.WriteString("  " + l.form + strings.Repeat(" ", width-len([]rune(l.form))+2) + l.does + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}
