// Package store keeps the journals of jobs that write: one file a job under <state>/jobs, readable by
// its owner alone.
//
// A journal answers how a job ended whose process died. It is no evidence for what is in a sink: that is
// with the data, and recovery works without a journal. It holds no rows, no literals and no secrets.
//
// A [Record] is written as length, type, payload (JSON) and the CRC-32C of all three. The file has its
// full size from the start, so that an outcome can be written to a full disk; what follows the last whole
// record is nothing. BEGIN is on disk before the job's first side effect, DONE before its journal goes.
package store
