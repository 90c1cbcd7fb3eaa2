// Package types says what a value is: Flink's SQL types, schemas, row kinds, the 128-bit integers
// behind wide decimals, comparison, casts, implicit coercion, and the text form of one value.
//
// Everything here concerns single values and descriptions; many values at once are package column's.
// The package imports nothing of the project. Start with [Type], then [Schema], then cast.go, which
// owns the CAST matrix and the one-value parsers and formatters that expressions, formats, dialects
// and the shell all call, so that a value has one text form everywhere.
package types
