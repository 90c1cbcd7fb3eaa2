// Package datagen is the connector 'datagen': tables whose rows are made up as they are read.
//
// Each column has a generator, random or a sequence. Every value is a function of the job's seed, of the
// column's name and of the row's number, so that one job sees the same rows whatever the order they are made
// in, by however many readers, and whichever columns are read; see random.go. Another job has another seed.
// Dates and times are the exception: they are those of the clock when a row is made, in the zone of the job.
//
// A table ends with 'number-of-rows' or with the first of its sequences; otherwise it has no end.
// 'rows-per-second' holds for the table as a whole, in batch mode too.
package datagen
