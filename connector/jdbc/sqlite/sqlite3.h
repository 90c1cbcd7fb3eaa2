/* The part of SQLite's C interface that this package calls, declared here so that no system header is
   needed. Names, types and numbers are those of the published interface. */
#ifndef SLUICE_SQLITE3_H
#define SLUICE_SQLITE3_H

#include "shim.h"

typedef struct sqlite3_value sqlite3_value;
typedef struct sqlite3_context sqlite3_context;
typedef struct sqlite3_index_info sqlite3_index_info;
typedef struct sqlite3_module sqlite3_module;
typedef struct sqlite3_vtab { const sqlite3_module *module; int refs; char *error; } sqlite3_vtab;
typedef struct sqlite3_vtab_cursor { sqlite3_vtab *vtab; } sqlite3_vtab_cursor;

struct sqlite3_module {
  int version;
  int (*create)(sqlite3 *, void *, int, const char *const *, sqlite3_vtab **, char **);
  int (*connect)(sqlite3 *, void *, int, const char *const *, sqlite3_vtab **, char **);
  int (*best_index)(sqlite3_vtab *, sqlite3_index_info *);
  int (*disconnect)(sqlite3_vtab *);
  int (*destroy)(sqlite3_vtab *);
  int (*open)(sqlite3_vtab *, sqlite3_vtab_cursor **);
  int (*close)(sqlite3_vtab_cursor *);
  int (*filter)(sqlite3_vtab_cursor *, int, const char *, int, sqlite3_value **);
  int (*next)(sqlite3_vtab_cursor *);
  int (*eof)(sqlite3_vtab_cursor *);
  int (*column)(sqlite3_vtab_cursor *, sqlite3_context *, int);
  int (*rowid)(sqlite3_vtab_cursor *, int64_t *);
  void *later[16];
};

enum { SQLITE_OK = 0, SQLITE_ERROR = 1, SQLITE_NOMEM = 7, SQLITE_ROW = 100, SQLITE_DONE = 101 };
enum { SQLITE_INTEGER = 1, SQLITE_FLOAT = 2, SQLITE_TEXT = 3, SQLITE_BLOB = 4, SQLITE_NULL = 5 };
enum { SQLITE_PREPARE_PERSISTENT = 1 };
enum { SQLITE_DENY = 1, SQLITE_DELETE = 9, SQLITE_INSERT = 18, SQLITE_READ = 20, SQLITE_UPDATE = 23 };
enum { SQLITE_DBCONFIG_TRUSTED_SCHEMA = 1017 };
enum { SQLITE_FCNTL_FILE_POINTER = 7, SQLITE_FCNTL_HAS_MOVED = 20 };
enum { SQLITE_TXN_WRITE = 2 };
enum { SQLITE_DBSTATUS_DEFERRED_FKS = 10 };

/* The first methods of an open file; the later ones are not called. */
typedef struct sqlite3_file { const struct sqlite3_io_methods *methods; } sqlite3_file;
typedef struct sqlite3_io_methods {
  int version;
  int (*close)(sqlite3_file *);
  int (*read)(sqlite3_file *, void *, int, int64_t);
} sqlite3_io_methods;

#define SQLITE_STATIC ((void (*)(void *))0)
#define SQLITE_TRANSIENT ((void (*)(void *))-1)

extern int sqlite3_open_v2(const char *, sqlite3 **, int, const char *);
extern int sqlite3_close_v2(sqlite3 *);
extern int sqlite3_close(sqlite3 *);
extern int sqlite3_extended_result_codes(sqlite3 *, int);
extern int sqlite3_extended_errcode(sqlite3 *);
extern const char *sqlite3_errmsg(sqlite3 *);
extern int sqlite3_db_config(sqlite3 *, int, ...);
extern int sqlite3_busy_timeout(sqlite3 *, int);
extern int sqlite3_file_control(sqlite3 *, const char *, int, void *);
extern int sqlite3_set_authorizer(sqlite3 *, int (*)(void *, int, const char *, const char *, const char *, const char *), void *);
extern int sqlite3_stricmp(const char *, const char *);
extern void sqlite3_interrupt(sqlite3 *);
extern int sqlite3_system_errno(sqlite3 *);
extern int sqlite3_txn_state(sqlite3 *, const char *);
extern int sqlite3_db_status(sqlite3 *, int, int *, int *, int);
extern int sqlite3_get_autocommit(sqlite3 *);
extern int64_t sqlite3_changes64(sqlite3 *);
extern int64_t sqlite3_last_insert_rowid(sqlite3 *);
extern void sqlite3_set_last_insert_rowid(sqlite3 *, int64_t);
extern const char *sqlite3_libversion(void);
extern int sqlite3_prepare_v3(sqlite3 *, const char *, int, unsigned, sqlite3_stmt **, const char **);
extern int sqlite3_step(sqlite3_stmt *);
extern int sqlite3_reset(sqlite3_stmt *);
extern int sqlite3_finalize(sqlite3_stmt *);
extern int sqlite3_bind_int64(sqlite3_stmt *, int, int64_t);
extern int sqlite3_bind_double(sqlite3_stmt *, int, double);
extern int sqlite3_bind_text64(sqlite3_stmt *, int, const char *, uint64_t, void (*)(void *), unsigned char);
extern int sqlite3_bind_blob64(sqlite3_stmt *, int, const void *, uint64_t, void (*)(void *));
extern int sqlite3_column_count(sqlite3_stmt *);
extern sqlite3_value *sqlite3_column_value(sqlite3_stmt *, int);
extern int sqlite3_column_type(sqlite3_stmt *, int);
extern int64_t sqlite3_column_int64(sqlite3_stmt *, int);
extern double sqlite3_column_double(sqlite3_stmt *, int);
extern const unsigned char *sqlite3_column_text(sqlite3_stmt *, int);
extern const void *sqlite3_column_blob(sqlite3_stmt *, int);
extern int sqlite3_column_bytes(sqlite3_stmt *, int);
extern int sqlite3_value_type(sqlite3_value *);
extern int64_t sqlite3_value_int64(sqlite3_value *);
extern double sqlite3_value_double(sqlite3_value *);
extern const unsigned char *sqlite3_value_text(sqlite3_value *);
extern const void *sqlite3_value_blob(sqlite3_value *);
extern int sqlite3_value_bytes(sqlite3_value *);
extern void sqlite3_result_null(sqlite3_context *);
extern void sqlite3_result_int64(sqlite3_context *, int64_t);
extern void sqlite3_result_double(sqlite3_context *, double);
extern void sqlite3_result_text(sqlite3_context *, const char *, int, void (*)(void *));
extern void sqlite3_result_blob(sqlite3_context *, const void *, int, void (*)(void *));
extern void sqlite3_result_error(sqlite3_context *, const char *, int);
extern int sqlite3_create_module(sqlite3 *, const char *, const sqlite3_module *, void *);
extern int sqlite3_declare_vtab(sqlite3 *, const char *);
extern char *sqlite3_mprintf(const char *, ...);

#endif
