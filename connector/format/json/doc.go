// Package json is the format 'json': JSON objects, one for each row, usually one on each line.
//
// Objects may also span lines, stand side by side, or be the elements of arrays at the top. The keys are the
// names of the columns; a column without a key is NULL, a key without a column is not read. Whatever JSON
// value a STRING column meets it takes: of a number its digits, of an object or array its JSON text. Numbers
// and truth values may also stand in strings. Dates and times are strings, BINARY and VARBINARY base64. A ROW
// is an object, an ARRAY an array; a MAP and a MULTISET are objects, whose keys are its keys or elements.
//
// Upper and lower case are told apart, but an object that has the key of a column in another case only is an
// error: a column of NULLs would hide the slip.
//
// Reading is strict: what is not JSON (RFC 8259), a key that is there twice, or a surrogate without its other
// half is an error that names file, line and character. The decoder finds where the values of up to a batch
// of objects stand, and then turns them into vectors column by column (package text). The objects of a file
// usually have their keys in the same order, so that the next key is compared with the one expected before
// it is looked up.
package json
