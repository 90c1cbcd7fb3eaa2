// Package column holds many values: typed vectors with a validity bitmap, and batches of them, in
// Apache Arrow's memory layout.
//
// A [Vector] is one column of a [Batch]; its physical slice follows its type:
//
//	BOOLEAN                                   Bool  []bool
//	TINYINT, SMALLINT                         I8, I16
//	INT, DATE (days), TIME (milliseconds),
//	INTERVAL YEAR TO MONTH (months)           I32
//	BIGINT, INTERVAL DAY TO SECOND (ms)       I64
//	TIMESTAMP, TIMESTAMP_LTZ                  I64, microseconds; nanoseconds when the precision is 7 to 9
//	DECIMAL                                   I64 unscaled; I128 when the precision is above 18
//	FLOAT, DOUBLE                             F32, F64
//	CHAR, VARCHAR, BINARY, VARBINARY          Offsets (n+1 of them) into Bytes
//	NULL                                      nothing; every row is NULL
//
// Text is valid UTF-8: it is checked where bytes enter the engine, never again.
//
// Ownership. A batch handed to an operator is lent until the call returns: whoever keeps rows copies
// them. A batch sent between tasks is moved, dense (no selection) and never changed again; memory
// tables and several readers may share it. A selection lives only inside a task: kernels take the
// selected physical rows and write their results at the same physical positions; what stands at the
// others is undefined and never an error.
package column
