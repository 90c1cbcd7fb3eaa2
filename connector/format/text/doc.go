// Package text is what the formats that write values as text have in common: the text forms of values, a
// [Window] over the bytes of a file, the [Error] that names a place in it, and guesses at types.
//
// A format splits the bytes of a window into records and notes of each value where it stands, column by
// column, as a [Field]; [Column.Append] then turns one column's fields into values of a vector, in one loop
// a type. Text forms are exact: a text that a type would alter (a digit too many, a date with a time of day)
// is refused, and what [AppendValue] writes reads back as the same value.
//
// Dates and times are ISO texts with a blank or a T between; a TIMESTAMP_LTZ ends in Z or an offset such as
// +02:00 and is written in UTC. BINARY and VARBINARY are base64, intervals the numbers of their months or
// milliseconds, as Flink has them.
package text
