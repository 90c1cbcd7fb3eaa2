/* Writing: a table-valued module over the batch at hand. "INSERT INTO t SELECT … FROM <feed>" pulls its
   rows through next and column; one call into Go a batch fetches the next one. */
#include "sqlite3.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXTLEN 64

/* Defined in Go: makes f's columns the next batch and returns its rows, 0 at the end, -1 after an error. */
extern int sluiceFeedNext(uintptr_t handle, sl_feed *f);

typedef struct { sqlite3_vtab base; sl_feed *f; } feed_vtab;
typedef struct { sqlite3_vtab_cursor base; sl_feed *f; int eof; } feed_cursor;

static int feed_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **err) {
  sl_feed *f = aux;
  (void)argc; (void)argv; (void)err;
  char *sql = malloc(32 + 12 * (size_t)f->ncol), *p = sql;
  if (!sql) return SQLITE_NOMEM;
  memcpy(p, "CREATE TABLE x(", 15);
  p += 15;
  for (int i = 0; i < f->ncol || i == 0; i++) {
    if (i) *p++ = ',';
    *p++ = 'c';
    char digits[12];
    int n = 0, v = i;
    do digits[n++] = (char)('0' + v % 10); while (v /= 10);
    while (n) *p++ = digits[--n];
  }
  *p++ = ')';
  *p = 0;
  int rc = sqlite3_declare_vtab(db, sql);
  free(sql);
  if (rc != SQLITE_OK) return rc;
  feed_vtab *v = calloc(1, sizeof *v);
  if (!v) return SQLITE_NOMEM;
  v->f = f;
  *out = &v->base;
  return SQLITE_OK;
}

static int feed_best_index(sqlite3_vtab *v, sqlite3_index_info *info) { (void)v; (void)info; return SQLITE_OK; }
static int feed_disconnect(sqlite3_vtab *v) { free(v); return SQLITE_OK; }

static int feed_open(sqlite3_vtab *v, sqlite3_vtab_cursor **out) {
  feed_cursor *c = calloc(1, sizeof *c);
  if (!c) return SQLITE_NOMEM;
  c->f = ((feed_vtab *)v)->f;
  *out = &c->base;
  return SQLITE_OK;
}

static int feed_close(sqlite3_vtab_cursor *c) { free(c); return SQLITE_OK; }

/* pull makes the next batch current. A transaction that ended by itself ends the statement: whatever it
   would write from here on would commit at once. */
static int pull(feed_cursor *c) {
  sl_feed *f = c->f;
  f->total += f->n;
  f->n = 0;
  f->row = 0;
  if (sqlite3_get_autocommit(f->db)) {
    f->err = SL_FEED_ENDED;
  } else {
    int n = sluiceFeedNext(f->handle, f);
    if (n > 0) { f->n = n; return SQLITE_OK; }
    if (n == 0) { c->eof = 1; return SQLITE_OK; }
    f->err = SL_FEED_GO;
  }
  c->eof = 1;
  c->base.vtab->error = sqlite3_mprintf("the rows ended with an error");
  return SQLITE_ERROR;
}

static int feed_filter(sqlite3_vtab_cursor *c0, int a, const char *b, int n, sqlite3_value **v) {
  feed_cursor *c = (feed_cursor *)c0;
  (void)a; (void)b; (void)n; (void)v;
  c->eof = 0;
  return pull(c);
}

static int feed_next(sqlite3_vtab_cursor *c0) {
  feed_cursor *c = (feed_cursor *)c0;
  if (++c->f->row < c->f->n) return SQLITE_OK;
  return pull(c);
}

static int feed_eof(sqlite3_vtab_cursor *c) { return ((feed_cursor *)c)->eof; }

static int feed_rowid(sqlite3_vtab_cursor *c, int64_t *out) {
  sl_feed *f = ((feed_cursor *)c)->f;
  *out = f->total + f->row + 1;
  return SQLITE_OK;
}

static const char pairs[] =
  "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748"
  "49505152535455565758596061626364656667686970717273747576777879808182838485868788899091929394959697"
  "9899";

/* back writes v's digits, at least `least` of them, so that they end before end; returns their start. */
static char *back(char *end, uint64_t v, int least) {
  char *p = end;
  while (v >= 100) {
    p -= 2;
    memcpy(p, pairs + 2 * (v % 100), 2);
    v /= 100;
  }
  if (v >= 10) {
    p -= 2;
    memcpy(p, pairs + 2 * v, 2);
  } else if (v || p == end) {
    *--p = (char)('0' + v);
  }
  while (end - p < least) *--p = '0';
  return p;
}

/* A decimal with exactly `scale` decimals, written so that it ends at buf + TEXTLEN. */
static char *decimal64(char *buf, int64_t v, int scale) {
  uint64_t a = v < 0 ? -(uint64_t)v : (uint64_t)v;
  char *end = buf + TEXTLEN, *p = back(end, a, scale + 1);
  if (scale) {
    memmove(p - 1, p, (size_t)(end - scale - p));
    p--;
    end[-scale - 1] = '.';
  }
  if (v < 0) *--p = '-';
  return p;
}

static char *decimal128(char *buf, __int128 v, int scale) {
  const uint64_t e18 = 1000000000000000000ULL;
  unsigned __int128 a = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;
  char *end = buf + TEXTLEN, *p = end;
  int least = scale + 1;
  while (a >= e18) {
    p = back(p, (uint64_t)(a % e18), 18);
    a /= e18;
  }
  if (a || p == end) p = back(p, (uint64_t)a, 1);
  while (end - p < least) *--p = '0';
  if (scale) {
    memmove(p - 1, p, (size_t)(end - scale - p));
    p--;
    end[-scale - 1] = '.';
  }
  if (v < 0) *--p = '-';
  return p;
}

static void two(char *p, unsigned v) { memcpy(p, pairs + 2 * v, 2); }

/* date writes YYYY-MM-DD; 0 when the year has not four digits. */
static int date(char *p, int64_t days) {
  if (days < -719162 || days > 2932896) return 0; /* 0001-01-01 .. 9999-12-31 */
  int32_t z = (int32_t)days + 719468;
  int era = z / 146097;
  unsigned doe = (unsigned)(z - era * 146097);
  unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  unsigned mp = (5 * doy + 2) / 153;
  unsigned d = doy - (153 * mp + 2) / 5 + 1, m = mp < 10 ? mp + 3 : mp - 9;
  unsigned y = yoe + (unsigned)era * 400 + (m <= 2);
  two(p, y / 100);
  two(p + 2, y % 100);
  p[4] = '-';
  two(p + 5, m);
  p[7] = '-';
  two(p + 8, d);
  return 1;
}

/* clock writes HH:MM:SS[.f] with exactly `decimals` decimals of the `places` that fraction has. */
static char *clock_text(char *p, unsigned seconds, uint32_t fraction, int places, int decimals) {
  two(p, seconds / 3600);
  p[2] = ':';
  two(p + 3, seconds / 60 % 60);
  p[5] = ':';
  two(p + 6, seconds % 60);
  p += 8;
  if (decimals == 0) return p;
  *p++ = '.';
  char digits[12];
  back(digits + places, fraction, places);
  for (int i = 0; i < decimals; i++) *p++ = i < places ? digits[i] : '0';
  return p;
}

static int refuse(sl_feed *f, sqlite3_context *x, int col, int why) {
  f->err = why;
  f->errcol = col;
  sqlite3_result_error(x, "a value cannot be stored", -1);
  return SQLITE_ERROR;
}

/* numeric reports whether SQLite would take a text for a number, blanks around it included. */
static int numeric(const char *z, int n) {
  const char *end = z + n;
  while (z < end && (*z == ' ' || (*z >= '\t' && *z <= '\r'))) z++;
  while (end > z && (end[-1] == ' ' || (end[-1] >= '\t' && end[-1] <= '\r'))) end--;
  if (z < end && (*z == '-' || *z == '+')) z++;
  int digits = 0;
  for (; z < end && (unsigned)(*z - '0') <= 9; z++) digits++;
  if (z < end && *z == '.') for (z++; z < end && (unsigned)(*z - '0') <= 9; z++) digits++;
  if (!digits) return 0;
  if (z < end && (*z == 'e' || *z == 'E')) {
    z++;
    if (z < end && (*z == '-' || *z == '+')) z++;
    if (z == end) return 0;
    while (z < end && (unsigned)(*z - '0') <= 9) z++;
  }
  return z == end;
}

/* number gives a decimal to a column that keeps numbers: as an integer or, with at most 15 digits, as the
   double that reads as it. */
static int number(sl_feed *f, sqlite3_context *x, int col, __int128 v, int scale) {
  __int128 whole = v;
  int s = scale;
  while (s > 0 && whole % 10 == 0) { whole /= 10; s--; }
  if (s == 0 && whole == (int64_t)whole) {
    sqlite3_result_int64(x, (int64_t)whole);
    return SQLITE_OK;
  }
  if (s > 22 || whole >= 1000000000000000LL || whole <= -1000000000000000LL) return refuse(f, x, col, SL_FEED_DIGITS);
  double p = 1;
  for (int i = 0; i < s; i++) p *= 10;
  sqlite3_result_double(x, (double)(int64_t)whole / p);
  return SQLITE_OK;
}

static int feed_column(sqlite3_vtab_cursor *c, sqlite3_context *x, int i) {
  sl_feed *f = ((feed_cursor *)c)->f;
  const sl_col *k = &f->cols[i];
  int r = f->row;
  if (i >= f->ncol || k->form == SL_NONE || (k->valid && !(k->valid[r >> 6] >> (r & 63) & 1))) return SQLITE_OK;
  char *buf = f->text + (size_t)i * TEXTLEN, *p, *end;
  switch (k->form) {
  case SL_I64: sqlite3_result_int64(x, ((int64_t *)k->data)[r]); return SQLITE_OK;
  case SL_I32: sqlite3_result_int64(x, ((int32_t *)k->data)[r]); return SQLITE_OK;
  case SL_I16: sqlite3_result_int64(x, ((int16_t *)k->data)[r]); return SQLITE_OK;
  case SL_I8: sqlite3_result_int64(x, ((int8_t *)k->data)[r]); return SQLITE_OK;
  case SL_BOOL: sqlite3_result_int64(x, ((unsigned char *)k->data)[r] != 0); return SQLITE_OK;
  case SL_F64: case SL_F32: {
    double d = k->form == SL_F64 ? ((double *)k->data)[r] : (double)((float *)k->data)[r];
    if (d != d) return refuse(f, x, i, SL_FEED_NAN);
    sqlite3_result_double(x, d + 0.0); /* -0.0 becomes 0.0 */
    return SQLITE_OK;
  }
  case SL_TEXT: case SL_BLOB: {
    /* A null address would mean NULL; an empty value needs some address. */
    const char *z = k->data ? (char *)k->data + k->off[r] : "";
    int n = k->off[r + 1] - k->off[r];
    if ((k->flags & SL_NUMBER) && k->form == SL_TEXT && numeric(z, n)) return refuse(f, x, i, SL_FEED_NUMERIC);
    if (k->form == SL_TEXT) sqlite3_result_text(x, z, n, SQLITE_STATIC);
    else sqlite3_result_blob(x, z, n, SQLITE_STATIC);
    return SQLITE_OK;
  }
  case SL_DEC64:
    if (k->flags & SL_NUMBER) return number(f, x, i, ((int64_t *)k->data)[r], k->scale);
    end = buf + TEXTLEN;
    p = decimal64(buf, ((int64_t *)k->data)[r], k->scale);
    break;
  case SL_DEC128: {
    __int128 w;
    memcpy(&w, (char *)k->data + (size_t)r * 16, 16);
    if (k->flags & SL_NUMBER) return number(f, x, i, w, k->scale);
    end = buf + TEXTLEN;
    p = decimal128(buf, w, k->scale);
    break;
  }
  case SL_DATE:
    p = buf;
    end = buf + 10;
    if (!date(buf, ((int32_t *)k->data)[r])) return refuse(f, x, i, SL_FEED_YEAR);
    break;
  case SL_TIME: {
    uint32_t ms = ((uint32_t *)k->data)[r];
    if (ms >= 86400000u) return refuse(f, x, i, SL_FEED_YEAR);
    p = buf;
    end = clock_text(buf, ms / 1000, ms % 1000, 3, k->precision);
    break;
  }
  case SL_MICROS: case SL_NANOS: {
    int64_t t = ((int64_t *)k->data)[r];
    int64_t unit = k->form == SL_MICROS ? 1000000LL : 1000000000LL, day = 86400 * unit;
    int64_t days = t / day, rest = t % day;
    if (rest < 0) { rest += day; days--; }
    if (!date(buf, days)) return refuse(f, x, i, SL_FEED_YEAR);
    buf[10] = ' ';
    p = buf;
    end = clock_text(buf + 11, (unsigned)(rest / unit), (uint32_t)(rest % unit), k->form == SL_MICROS ? 6 : 9, k->precision);
    if (k->flags & SL_UTC) *end++ = 'Z';
    break;
  }
  default:
    return SQLITE_ERROR;
  }
  /* The text stays until this column of the next row is asked for; by then the row is a record. */
  sqlite3_result_text(x, p, (int)(end - p), SQLITE_STATIC);
  return SQLITE_OK;
}

static const sqlite3_module feed_module = {
  .connect = feed_connect, .best_index = feed_best_index, .disconnect = feed_disconnect,
  .open = feed_open, .close = feed_close, .filter = feed_filter, .next = feed_next, .eof = feed_eof,
  .column = feed_column, .rowid = feed_rowid
};

sl_feed *sl_feed_new(sqlite3 *db, const char *name, int ncol, uintptr_t handle) {
  sl_feed *f = calloc(1, sizeof *f);
  if (!f) return 0;
  f->db = db;
  f->handle = handle;
  f->ncol = ncol;
  f->cols = calloc((size_t)ncol + 1, sizeof *f->cols);
  f->text = malloc(TEXTLEN * ((size_t)ncol + 1));
  if (!f->cols || !f->text || sqlite3_create_module(db, name, &feed_module, f) != SQLITE_OK) {
    sl_feed_free(f);
    return 0;
  }
  return f;
}

void sl_feed_free(sl_feed *f) {
  if (!f) return;
  free(f->cols);
  free(f->text);
  free(f);
}
