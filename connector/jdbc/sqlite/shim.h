/* What the Go side of this package sees of its C side. The sqlite3_* symbols come from the amalgamation
   that go-sqlite3 links into the binary; only their prototypes are declared here, by us. */
#ifndef SLUICE_SQLITE_SHIM_H
#define SLUICE_SQLITE_SHIM_H

#include <stdint.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

/* Forms of a column, both ways. */
enum {
  SL_NONE, SL_BOOL, SL_I8, SL_I16, SL_I32, SL_I64, SL_F32, SL_F64, SL_TEXT, SL_BLOB,
  SL_DEC64, SL_DEC128, SL_DATE, SL_TIME, SL_MICROS, SL_NANOS
};

/* Flags of a column. */
enum {
  SL_UTC = 1,      /* TIMESTAMP_LTZ: text with Z */
  SL_ANYTEXT = 2,  /* a text column that takes numbers as their text */
  SL_HEXBLOB = 4,  /* ... and blobs as X'..' */
  SL_NUMBER = 8    /* writing: the column turns text into numbers (its affinity is not TEXT or none) */
};

/* One column of a batch. The memory belongs to Go and is pinned while C holds it. */
typedef struct {
  int32_t form, flags, precision, scale;
  void *data;        /* values, or the bytes of a text or blob column */
  int32_t *off;      /* n+1 offsets of a text or blob column */
  uint64_t *valid;   /* bit i set: row i is not NULL; may be 0 when writing: no NULLs */
  int64_t cap;       /* scan: bytes at data */
  int64_t need;      /* scan: bytes wanted when a value did not fit */
  int64_t nulls;     /* scan: NULLs found */
} sl_col;

/* A cell that the scan does not decode itself; Go decides what it is. */
typedef struct {
  int32_t row, col, type, len; /* len: bytes kept at `at` */
  int64_t total;               /* bytes the cell has */
  int64_t at;                  /* into the scan's arena */
  int64_t key, keylen;         /* rowid, or the key's text in the arena */
  int64_t i;
  double d;
} sl_odd;

typedef struct {
  sqlite3_stmt *st;
  int32_t ncol, nkey; /* key columns follow the ncol data columns; nkey 1 and rowid set: a rowid */
  int32_t rowid;
  int32_t pending, done;
  int32_t nodd, capodd;
  sl_col *cols;
  sl_odd *odd;
  char *arena;
  int64_t narena, caparena;
} sl_scan;

/* A batch that a statement reads as the table of the feed's name. */
typedef struct {
  sqlite3 *db;
  uintptr_t handle; /* of the Go side that knows the next batch */
  int32_t ncol, n, row;
  int32_t err, errcol;
  int64_t total; /* rows of the batches before this one */
  sl_col *cols;
  char *text;   /* 64 bytes a column: the text of the row at hand */
} sl_feed;

/* Why a feed ended a statement. */
enum { SL_FEED_OK, SL_FEED_GO, SL_FEED_NAN, SL_FEED_YEAR, SL_FEED_ENDED, SL_FEED_DIGITS, SL_FEED_NUMERIC };

int sl_open(const char *path, int flags, sqlite3 **db);
int sl_close(sqlite3 *db);
int sl_moved(sqlite3 *db);
/* The file's change counter as it is on disk, read through SQLite's own handle; 0 of an empty file. It
   goes up with every commit into a rollback-journal file. */
int sl_change_counter(sqlite3 *db, uint32_t *n);
/* Whether the connection holds the write lock. */
int sl_writing(sqlite3 *db);
/* Whether rows written break foreign keys that are checked at COMMIT. */
int sl_broken_keys(sqlite3 *db);

sl_scan *sl_scan_new(sqlite3_stmt *st, int ncol, int nkey, int rowid);
void sl_scan_free(sl_scan *s);
/* Steps up to max rows into the columns, for some 100 ms at most; *n is their number. Returns SQLITE_ROW
   while there may be more, SQLITE_DONE at the end, or an error. A column whose buffer was full has its
   need set; a value that fits no buffer gives no row. */
int sl_scan_rows(sl_scan *s, int max, int *n);

sl_feed *sl_feed_new(sqlite3 *db, const char *name, int ncol, uintptr_t handle);
void sl_feed_free(sl_feed *f);

/* Notes by which views and triggers the statements compiled from here on use a table; names are apart by NUL. */
typedef struct sl_watch sl_watch;
sl_watch *sl_watch_new(sqlite3 *db, const char *table);
const char *sl_watch_names(sl_watch *w, int *n);
void sl_watch_free(sl_watch *w);

/* Pass-through, so that Go needs no prototypes of its own. */
int sl_prepare(sqlite3 *db, const char *sql, int n, sqlite3_stmt **st, int *tail);
int sl_step(sqlite3_stmt *st);
int sl_reset(sqlite3_stmt *st);
void sl_finalize(sqlite3_stmt *st);
int sl_bind_int(sqlite3_stmt *st, int i, int64_t v);
int sl_bind_double(sqlite3_stmt *st, int i, double v);
int sl_bind_text(sqlite3_stmt *st, int i, const char *z, int64_t n);
int sl_bind_blob(sqlite3_stmt *st, int i, const void *z, int64_t n);
int sl_columns(sqlite3_stmt *st);
int sl_type(sqlite3_stmt *st, int i);
int64_t sl_int(sqlite3_stmt *st, int i);
double sl_double(sqlite3_stmt *st, int i);
const void *sl_bytes(sqlite3_stmt *st, int i, int *n);
const char *sl_errmsg(sqlite3 *db);
int sl_errcode(sqlite3 *db);
int sl_errno(sqlite3 *db);
int sl_autocommit(sqlite3 *db);
void sl_interrupt(sqlite3 *db);
int64_t sl_changes(sqlite3 *db);
int64_t sl_last_rowid(sqlite3 *db);
void sl_set_last_rowid(sqlite3 *db, int64_t id);
const char *sl_version(void);

#endif
