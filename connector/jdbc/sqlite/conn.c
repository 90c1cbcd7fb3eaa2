/* Handles and statements: thin calls with this package's fixed settings. */
#include "sqlite3.h"
#include <stdlib.h>
#include <string.h>

int sl_open(const char *path, int flags, sqlite3 **db) {
  int rc = sqlite3_open_v2(path, db, flags, 0);
  if (rc != SQLITE_OK) return rc;
  sqlite3_extended_result_codes(*db, 1);
  sqlite3_busy_timeout(*db, 0);
  sqlite3_db_config(*db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)0);
  return SQLITE_OK;
}

int sl_close(sqlite3 *db) { return sqlite3_close_v2(db); }

int sl_moved(sqlite3 *db) {
  int moved = 0;
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) != SQLITE_OK) return 0;
  return moved;
}

int sl_change_counter(sqlite3 *db, uint32_t *n) {
  enum { READ_SHORT = 522 };
  sqlite3_file *f = 0;
  unsigned char b[4] = {0};
  int rc = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &f);
  if (rc == SQLITE_OK && (f == 0 || f->methods == 0)) rc = SQLITE_ERROR;
  if (rc == SQLITE_OK) rc = f->methods->read(f, b, sizeof b, 24);
  if (rc == READ_SHORT) rc = SQLITE_OK;
  *n = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
  return rc;
}

int sl_writing(sqlite3 *db) { return sqlite3_txn_state(db, "main") == SQLITE_TXN_WRITE; }

int sl_broken_keys(sqlite3 *db) {
  int now = 0, high = 0;
  return sqlite3_db_status(db, SQLITE_DBSTATUS_DEFERRED_FKS, &now, &high, 0) == SQLITE_OK && now != 0;
}

int sl_prepare(sqlite3 *db, const char *sql, int n, sqlite3_stmt **st, int *tail) {
  const char *end = sql;
  int rc = sqlite3_prepare_v3(db, sql, n, SQLITE_PREPARE_PERSISTENT, st, &end);
  *tail = (int)(end - sql);
  return rc;
}

int sl_step(sqlite3_stmt *st) { return sqlite3_step(st); }
int sl_reset(sqlite3_stmt *st) { return sqlite3_reset(st); }
void sl_finalize(sqlite3_stmt *st) { sqlite3_finalize(st); }
int sl_bind_int(sqlite3_stmt *st, int i, int64_t v) { return sqlite3_bind_int64(st, i, v); }
int sl_bind_double(sqlite3_stmt *st, int i, double v) { return sqlite3_bind_double(st, i, v); }
int sl_bind_text(sqlite3_stmt *st, int i, const char *z, int64_t n) {
  return sqlite3_bind_text64(st, i, z ? z : "", (uint64_t)n, SQLITE_TRANSIENT, 1);
}
int sl_bind_blob(sqlite3_stmt *st, int i, const void *z, int64_t n) {
  return sqlite3_bind_blob64(st, i, z ? z : "", (uint64_t)n, SQLITE_TRANSIENT);
}
int sl_columns(sqlite3_stmt *st) { return sqlite3_column_count(st); }
int sl_type(sqlite3_stmt *st, int i) { return sqlite3_column_type(st, i); }
int64_t sl_int(sqlite3_stmt *st, int i) { return sqlite3_column_int64(st, i); }
double sl_double(sqlite3_stmt *st, int i) { return sqlite3_column_double(st, i); }
const void *sl_bytes(sqlite3_stmt *st, int i, int *n) {
  const void *z;
  if (sqlite3_column_type(st, i) == SQLITE_BLOB) z = sqlite3_column_blob(st, i);
  else z = sqlite3_column_text(st, i);
  *n = sqlite3_column_bytes(st, i);
  return z;
}
const char *sl_errmsg(sqlite3 *db) { return sqlite3_errmsg(db); }
int sl_errcode(sqlite3 *db) { return sqlite3_extended_errcode(db); }
int sl_errno(sqlite3 *db) { return sqlite3_system_errno(db); }
int sl_autocommit(sqlite3 *db) { return sqlite3_get_autocommit(db); }
void sl_interrupt(sqlite3 *db) { sqlite3_interrupt(db); }
int64_t sl_changes(sqlite3 *db) { return sqlite3_changes64(db); }
int64_t sl_last_rowid(sqlite3 *db) { return sqlite3_last_insert_rowid(db); }
void sl_set_last_rowid(sqlite3 *db, int64_t id) { sqlite3_set_last_insert_rowid(db, id); }
const char *sl_version(void) { return sqlite3_libversion(); }

/* Who uses a table: the authorizer is told of every table that a statement looks up while it is compiled. */
struct sl_watch {
  sqlite3 *db;
  char *table, *names; /* names, each ended by NUL */
  int n, cap;
};

static int watch(void *p, int action, const char *table, const char *column, const char *schema, const char *inner) {
  sl_watch *w = p;
  (void)column;
  if (action != SQLITE_READ && action != SQLITE_INSERT && action != SQLITE_UPDATE && action != SQLITE_DELETE) return SQLITE_OK;
  if (!table || (schema && strcmp(schema, "main") != 0) || sqlite3_stricmp(table, w->table) != 0) return SQLITE_OK;
  if (!inner) inner = "";
  int len = (int)strlen(inner) + 1;
  for (int i = 0; i < w->n; i += (int)strlen(w->names + i) + 1)
    if (strcmp(w->names + i, inner) == 0) return SQLITE_OK;
  if (w->n + len > w->cap) {
    char *more = realloc(w->names, (size_t)(w->n + len) * 2);
    if (!more) return SQLITE_DENY;
    w->names = more;
    w->cap = (w->n + len) * 2;
  }
  memcpy(w->names + w->n, inner, (size_t)len);
  w->n += len;
  return SQLITE_OK;
}

sl_watch *sl_watch_new(sqlite3 *db, const char *table) {
  sl_watch *w = calloc(1, sizeof *w);
  if (!w) return 0;
  w->db = db;
  w->table = malloc(strlen(table) + 1);
  if (!w->table) { free(w); return 0; }
  memcpy(w->table, table, strlen(table) + 1);
  sqlite3_set_authorizer(db, watch, w);
  return w;
}

const char *sl_watch_names(sl_watch *w, int *n) {
  *n = w->n;
  return w->names ? w->names : "";
}

void sl_watch_free(sl_watch *w) {
  sqlite3_set_authorizer(w->db, 0, 0);
  free(w->table);
  free(w->names);
  free(w);
}
