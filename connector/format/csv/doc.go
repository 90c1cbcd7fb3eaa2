// Package csv is the format 'csv': lines of values between commas, in the manner of RFC 4180.
//
// An unquoted empty value is NULL and a quoted one is ”, both when reading and writing; with
// 'csv.null-literal' the unquoted literal is NULL instead. Reading is strict: a line with more or fewer
// values than columns, a quote inside an unquoted value, a quote that is never closed, bytes that are not
// UTF-8 are errors that name file, line and character. A byte order mark at the beginning is skipped, lines
// end in LF or CR LF, the last one may end with the file, and blank lines at the end of the file mean
// nothing. In a table of one column every blank line is a row with NULL.
//
// The decoder works in two steps on a few hundred kilobytes at a time: it finds where the values of up to a
// batch of rows stand, then turns them into vectors column by column (package text). Values of columns that
// a query does not read are only looked at for where they end. Files without a single quote are cut
// into pieces that are read side by side.
package csv
