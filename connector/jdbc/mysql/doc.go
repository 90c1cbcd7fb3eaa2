// Package mysql is the jdbc dialect of MySQL and MariaDB.
//
// [Dialect] is its entry, [Server] one server seen as one user. No session is kept between calls: each call opens
// one, sets on it all that its meaning depends on (sql_mode, time zone, character set), and closes it. A wait on the
// server ends with its context: another session tells the server so (KILL), and the first one is closed.
//
// A table is read by one session, in one snapshot (START TRANSACTION WITH CONSISTENT SNAPSHOT), row by row as the
// server sends it.
//
// DDL commits in MySQL, so that a table that is made cannot be hidden in a transaction. It is filled under a name of
// ours, _sluice_<job>_new, which nobody lists, and is published by one RENAME TABLE, which is atomic and fails when
// the name is taken; a table that is replaced moves aside to _sluice_<job>_old in the same RENAME, and is dropped
// after it, or kept as _sluice_<job>_kept if another session has worked on it at the last moment. The session of the job holds the lock GET_LOCK('sluice:<job>'): whoever gets that lock knows that the
// job's session is over, on whatever host it was, and may clear up. A small table _sluice_<job>_mark becomes
// _sluice_<job>_done in the same RENAME, so that one whose answer is lost can be told from one that was not done.
//
// Rows go into a table that is there in one InnoDB transaction. When its COMMIT may have to be asked for later, the
// transaction also puts a row into _sluice_<job>_mark, which is made before and dropped after it.
package mysql
