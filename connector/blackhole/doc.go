// Package blackhole is the connector 'blackhole': tables that take all rows, of every kind, and keep none.
// They count them, so that a job says how many it has written.
package blackhole
