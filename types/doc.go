// Package types says what a value is: Flink's SQL types, schemas, row kinds, the 128-bit integers
// behind wide decimals, casts, implicit coercion, and the text form of one value.
//
// Everything here concerns single values and descriptions; many values at once are package column's.
// The package imports nothing of the project. Start with [Type], then [Schema], then coerce.go, which
// owns the CAST matrix, the implicit casts and the result types of arithmetic.
//
// The one-value parsers and formatters stand in number.go, decimal.go, temporal.go and text.go.
// Expressions, formats, dialects and the shell all call them, so that a value has one text form
// everywhere. They work on []byte and allocate nothing but the error. For reading there are two kinds:
// Parse… reads as CAST does, trimming blanks and dropping what the type does not hold; ParseISO… and
// [ParseDecimalExact] are for stores and refuse whatever they would alter. A result that does not fit is
// an error or a false, never a wrapped or shortened value.
package types
