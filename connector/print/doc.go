// Package print is the connector 'print': tables whose rows are printed as they are written, a line each, as
// Flink prints them: +I[1, a], with the kind of the row and its columns in order.
//
// The values have the forms that Flink gives them there, which are Java's, not those of CAST: null, true,
// 2024-07-01T22:30 (see value.go). What is printed cannot be taken back: the rows are there as soon as they
// are written, whatever becomes of the job; in a streaming job that is at the checkpoint.
package print
