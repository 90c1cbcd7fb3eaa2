/* Reading: many rows a call into typed column buffers. Every cell's storage class is looked at. A cell
   that has the form its column expects is decoded here; any other is handed to Go as an odd cell, which
   decides between a value, NULL and an error. */
#include "sqlite3.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEEP 256 /* bytes of an odd cell that are kept: enough to parse a number or time, and to print */

sl_scan *sl_scan_new(sqlite3_stmt *st, int ncol, int nkey, int rowid) {
  sl_scan *s = calloc(1, sizeof *s);
  if (!s) return 0;
  s->st = st;
  s->ncol = ncol;
  s->nkey = nkey;
  s->rowid = rowid;
  s->capodd = 2048 + ncol;
  s->caparena = (int64_t)(KEEP + 64) * s->capodd / 4 + (KEEP + 64) * (ncol + nkey + 1) * (int64_t)(nkey + 1);
  s->cols = calloc(ncol > 0 ? ncol : 1, sizeof *s->cols);
  if (!s->cols) { sl_scan_free(s); return 0; }
  return s;
}

void sl_scan_free(sl_scan *s) {
  if (!s) return;
  free(s->cols);
  free(s->odd);
  free(s->arena);
  free(s);
}

/* utf8 reports whether the n bytes are valid UTF-8. */
static int utf8(const unsigned char *p, int64_t n) {
  const unsigned char *end = p + n;
  while (p < end) {
    if (end - p >= 8) {
      uint64_t w;
      memcpy(&w, p, 8);
      if (!(w & 0x8080808080808080ULL)) { p += 8; continue; }
    }
    unsigned c = *p;
    if (c < 0x80) { p++; continue; }
    int more;
    unsigned low = 0x80, high = 0xBF;
    if (c >= 0xC2 && c <= 0xDF) more = 1;
    else if (c >= 0xE0 && c <= 0xEF) { more = 2; if (c == 0xE0) low = 0xA0; if (c == 0xED) high = 0x9F; }
    else if (c >= 0xF0 && c <= 0xF4) { more = 3; if (c == 0xF0) low = 0x90; if (c == 0xF4) high = 0x8F; }
    else return 0;
    if (end - p <= more) return 0;
    if (p[1] < low || p[1] > high) return 0;
    for (int i = 2; i <= more; i++) if ((p[i] & 0xC0) != 0x80) return 0;
    p += more + 1;
  }
  return 1;
}

static const int64_t pow10_64[19] = {1LL, 10LL, 100LL, 1000LL, 10000LL, 100000LL, 1000000LL, 10000000LL,
  100000000LL, 1000000000LL, 10000000000LL, 100000000000LL, 1000000000000LL, 10000000000000LL,
  100000000000000LL, 1000000000000000LL, 10000000000000000LL, 100000000000000000LL, 1000000000000000000LL};

static unsigned __int128 pow10_128(int n) {
  if (n <= 18) return (unsigned __int128)pow10_64[n];
  unsigned __int128 v = (unsigned __int128)pow10_64[18];
  for (n -= 18; n > 18; n -= 18) v *= (unsigned __int128)pow10_64[18];
  return v * (unsigned __int128)pow10_64[n];
}

/* digits2 reads two digits, -1 when they are none. */
static int digits2(const unsigned char *z) {
  unsigned a = z[0] - '0', b = z[1] - '0';
  return a > 9 || b > 9 ? -1 : (int)(a * 10 + b);
}

/* days of a civil date since 1970-01-01 (proleptic Gregorian). */
static int32_t days_of(int y, int m, int d) {
  y -= m <= 2;
  int era = (y >= 0 ? y : y - 399) / 400;
  unsigned yoe = (unsigned)(y - era * 400);
  unsigned doy = (153u * (unsigned)(m + (m > 2 ? -3 : 9)) + 2) / 5 + (unsigned)d - 1;
  unsigned doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
  return era * 146097 + (int32_t)doe - 719468;
}

static int date_text(const unsigned char *z, int n, int32_t *days) {
  static const unsigned char len[13] = {0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (n < 10 || z[4] != '-' || z[7] != '-') return 0;
  int c = digits2(z), y = digits2(z + 2), m = digits2(z + 5), d = digits2(z + 8);
  if (c < 0 || y < 0 || m < 1 || m > 12 || d < 1 || d > len[m]) return 0;
  y += c * 100;
  if (y < 1) return 0;
  if (m == 2 && d == 29 && (y % 4 != 0 || (y % 100 == 0 && y % 400 != 0))) return 0;
  *days = days_of(y, m, d);
  return 1;
}

/* time_text reads HH:MM[:SS[.f…]], all n bytes, into nanoseconds. Decimals past the p-th must be zero. */
static int time_text(const unsigned char *z, int n, int p, int64_t *ns) {
  if (n < 5 || z[2] != ':') return 0;
  int h = digits2(z), m = digits2(z + 3), s = 0;
  if (h < 0 || h > 23 || m < 0 || m > 59) return 0;
  int64_t f = 0;
  if (n > 5) {
    if (n < 8 || z[5] != ':') return 0;
    s = digits2(z + 6);
    if (s < 0 || s > 59) return 0;
    if (n > 8) {
      if (z[8] != '.' || n == 9) return 0;
      for (int i = 9; i < n; i++) {
        unsigned d = z[i] - '0';
        int place = i - 8;
        if (d > 9 || (place > p && d != 0)) return 0;
        if (place <= 9) f = f * 10 + d;
      }
      for (int i = n - 9; i < 9; i++) f *= 10;
    }
  }
  *ns = ((int64_t)(h * 60 + m) * 60 + s) * 1000000000LL + f;
  return 1;
}

static int stamp_text(const unsigned char *z, int n, const sl_col *k, int32_t *days, int64_t *ns) {
  if (!date_text(z, n, days)) return 0;
  *ns = 0;
  if (n == 10) return 1;
  if (z[10] != ' ' && z[10] != 'T') return 0;
  if ((k->flags & SL_UTC) && z[n - 1] == 'Z') n--;
  return time_text(z + 11, n - 11, k->form == SL_DATE ? 0 : k->precision, ns);
}

/* decimal_text reads [+-]digits[.digits] exactly; whatever else goes to Go. */
static int decimal_text(const unsigned char *z, int n, int precision, int scale, __int128 *out) {
  const unsigned char *end = z + n;
  int neg = 0;
  if (z < end && (*z == '-' || *z == '+')) neg = *z++ == '-';
  unsigned __int128 v = 0;
  int digits = 0, frac = 0, any = 0, point = 0;
  for (; z < end; z++) {
    unsigned d = *z - '0';
    if (d > 9) {
      if (*z != '.' || point) return 0;
      point = 1;
      continue;
    }
    any = 1;
    if (point && frac == scale) {
      if (d) return 0;
      continue;
    }
    if (v || d) {
      if (++digits > 38) return 0;
      v = v * 10 + d;
    }
    frac += point;
  }
  if (!any) return 0;
  if (v && digits + scale - frac > precision) return 0;
  if (v && frac < scale) v *= pow10_128(scale - frac);
  *out = neg ? -(__int128)v : (__int128)v;
  return 1;
}

/* decimal64_text is decimal_text for at most 18 digits, in one machine word. */
static int decimal64_text(const unsigned char *z, int n, int precision, int scale, int64_t *out) {
  const unsigned char *end = z + n;
  int neg = 0, frac = -1, any = 0;
  if (n > 19) return 0;
  if (z < end && (*z == '-' || *z == '+')) neg = *z++ == '-';
  uint64_t v = 0;
  for (; z < end; z++) {
    unsigned d = *z - '0';
    if (d <= 9) {
      v = v * 10 + d;
      any = 1;
      frac += frac >= 0;
    } else if (*z == '.' && frac < 0) {
      frac = 0;
    } else {
      return 0;
    }
  }
  if (frac < 0) frac = 0;
  if (!any || frac > scale || n - neg > 18) return 0;
  for (; frac < scale; frac++) {
    if (v >= 1000000000000000000ULL / 10) return 0;
    v *= 10;
  }
  if (v >= (uint64_t)pow10_64[precision]) return 0;
  *out = neg ? -(int64_t)v : (int64_t)v;
  return 1;
}

/* decimal_real takes a double whose shortest decimal text has at most 15 digits and `scale` decimals: the
   one decimal n/10^scale of so few digits that reads back as d. */
static int decimal_real(double d, int precision, int scale, int64_t *out) {
  if (scale > 15) return 0;
  double p = (double)pow10_64[scale], r = d * p;
  if (!(r < 1e15 && r > -1e15)) return 0;
  int64_t n = (int64_t)(r < 0 ? r - 0.5 : r + 0.5);
  if ((double)n / p != d) return 0;
  if (precision < 18 && (n >= pow10_64[precision] || n <= -pow10_64[precision])) return 0;
  *out = n;
  return 1;
}

static int decimal_int(int64_t i, int precision, int scale, __int128 *out) {
  unsigned __int128 limit = pow10_128(precision - scale);
  unsigned __int128 a = i < 0 ? (unsigned __int128)(-(__int128)i) : (unsigned __int128)i;
  if (a >= limit) return 0;
  *out = (__int128)i * (__int128)pow10_128(scale);
  return 1;
}

/* real_text prints a double with the fewest of 15, 16 or 17 digits that read back as it, as SQLite
   spells numbers: always with a point or exponent. */
static int real_text(double d, char *buf) {
  int n = 0;
  if (isinf(d)) return sprintf(buf, d < 0 ? "-Inf" : "Inf");
  for (int digits = 15; digits <= 17; digits++) {
    n = snprintf(buf, 40, "%.*g", digits, d);
    if (strtod(buf, 0) == d) break;
  }
  for (int i = 0; i < n; i++) if (buf[i] == '.') return n;
  char *e = strchr(buf, 'e');
  if (e) {
    memmove(e + 2, e, (size_t)(n - (e - buf)) + 1);
    e[0] = '.';
    e[1] = '0';
  } else {
    memcpy(buf + n, ".0", 3);
  }
  return n + 2;
}

static int64_t keep(sl_scan *s, const void *z, int64_t n) {
  if (n > KEEP) n = KEEP;
  memcpy(s->arena + s->narena, z, (size_t)n);
  s->narena += n;
  return n;
}

/* odd hands a cell to Go. There is always room: sl_scan_rows stops before it runs out. */
static int odd(sl_scan *s, int row, int col, int type, sqlite3_value *v) {
  if (!s->odd) {
    s->odd = malloc(sizeof *s->odd * (size_t)s->capodd);
    s->arena = malloc((size_t)s->caparena);
    if (!s->odd || !s->arena) return SQLITE_NOMEM;
  }
  sl_odd *o = &s->odd[s->nodd++];
  memset(o, 0, sizeof *o);
  o->row = row;
  o->col = col;
  o->type = type;
  switch (type) {
  case SQLITE_INTEGER: o->i = sqlite3_value_int64(v); break;
  case SQLITE_FLOAT: o->d = sqlite3_value_double(v); break;
  case SQLITE_TEXT: case SQLITE_BLOB: {
    const void *z = type == SQLITE_TEXT ? (const void *)sqlite3_value_text(v) : sqlite3_value_blob(v);
    o->total = sqlite3_value_bytes(v);
    o->at = s->narena;
    o->len = z ? (int32_t)keep(s, z, o->total) : 0;
  }
  }
  if (s->rowid) {
    o->key = sqlite3_column_int64(s->st, s->ncol);
  } else if (s->nkey) {
    o->key = s->narena;
    for (int i = 0; i < s->nkey; i++) {
      const unsigned char *z = sqlite3_column_text(s->st, s->ncol + i);
      if (i) keep(s, ", ", 2);
      if (z) keep(s, z, sqlite3_column_bytes(s->st, s->ncol + i));
      else keep(s, "NULL", 4);
    }
    o->keylen = s->narena - o->key;
  }
  return SQLITE_OK;
}

static int put(sl_col *k, int row, const void *z, int64_t n) {
  int64_t at = k->off[row];
  if (at + n > k->cap || at + n > INT32_MAX) {
    k->need = at + n;
    return 0;
  }
  memcpy((char *)k->data + at, z, (size_t)n);
  k->off[row + 1] = (int32_t)(at + n);
  return 1;
}

static int put_hex(sl_col *k, int row, const unsigned char *z, int64_t n) {
  static const char hex[] = "0123456789ABCDEF";
  int64_t at = k->off[row], len = 2 * n + 3;
  if (at + len > k->cap || at + len > INT32_MAX) {
    k->need = at + len;
    return 0;
  }
  char *p = (char *)k->data + at;
  *p++ = 'X';
  *p++ = '\'';
  for (int64_t i = 0; i < n; i++) {
    *p++ = hex[z[i] >> 4];
    *p++ = hex[z[i] & 15];
  }
  *p = '\'';
  k->off[row + 1] = (int32_t)(at + len);
  return 1;
}

enum { TAKEN, ODD, NOROOM };

/* take decodes one cell that is not NULL. */
static int take(sl_col *k, int row, int type, sqlite3_value *v) {
  switch (k->form) {
  case SL_I64:
    if (type != SQLITE_INTEGER) return ODD;
    ((int64_t *)k->data)[row] = sqlite3_value_int64(v);
    return TAKEN;
  case SL_F64:
    if (type == SQLITE_FLOAT) {
      ((double *)k->data)[row] = sqlite3_value_double(v);
      return TAKEN;
    }
    if (type == SQLITE_INTEGER) {
      int64_t i = sqlite3_value_int64(v);
      if (i > (1LL << 53) || i < -(1LL << 53)) return ODD;
      ((double *)k->data)[row] = (double)i;
      return TAKEN;
    }
    return ODD;
  case SL_TEXT:
    if (type == SQLITE_TEXT) {
      const unsigned char *z = sqlite3_value_text(v);
      int n = sqlite3_value_bytes(v);
      if (!z || !utf8(z, n)) return ODD;
      return put(k, row, z, n) ? TAKEN : NOROOM;
    }
    if (!(k->flags & SL_ANYTEXT)) return ODD;
    if (type == SQLITE_BLOB) {
      if (!(k->flags & SL_HEXBLOB)) return ODD;
      const void *z = sqlite3_value_blob(v);
      return put_hex(k, row, z, sqlite3_value_bytes(v)) ? TAKEN : NOROOM;
    } else {
      char buf[48];
      int n = type == SQLITE_INTEGER ? sprintf(buf, "%lld", (long long)sqlite3_value_int64(v))
                                     : real_text(sqlite3_value_double(v), buf);
      return put(k, row, buf, n) ? TAKEN : NOROOM;
    }
  case SL_BLOB: {
    if (type != SQLITE_BLOB) return ODD;
    const void *z = sqlite3_value_blob(v);
    int n = sqlite3_value_bytes(v);
    return put(k, row, z ? z : "", n) ? TAKEN : NOROOM;
  }
  case SL_I32: case SL_I16: case SL_I8: case SL_BOOL: {
    if (type != SQLITE_INTEGER) return ODD;
    int64_t i = sqlite3_value_int64(v);
    if (k->form == SL_I32) {
      if (i != (int32_t)i) return ODD;
      ((int32_t *)k->data)[row] = (int32_t)i;
    } else if (k->form == SL_I16) {
      if (i != (int16_t)i) return ODD;
      ((int16_t *)k->data)[row] = (int16_t)i;
    } else if (k->form == SL_I8) {
      if (i != (int8_t)i) return ODD;
      ((int8_t *)k->data)[row] = (int8_t)i;
    } else {
      if (i != 0 && i != 1) return ODD;
      ((unsigned char *)k->data)[row] = (unsigned char)i;
    }
    return TAKEN;
  }
  case SL_F32: {
    double d;
    if (type == SQLITE_FLOAT) d = sqlite3_value_double(v);
    else if (type == SQLITE_INTEGER) d = (double)sqlite3_value_int64(v);
    else return ODD;
    float f = (float)d;
    if ((double)f != d) return ODD;
    if (type == SQLITE_INTEGER && (d > 16777216.0 || d < -16777216.0)) return ODD;
    ((float *)k->data)[row] = f;
    return TAKEN;
  }
  case SL_DEC64: case SL_DEC128: {
    __int128 w = 0;
    if (type == SQLITE_TEXT) {
      const unsigned char *z = sqlite3_value_text(v);
      int n = sqlite3_value_bytes(v);
      if (k->form == SL_DEC64 && z && decimal64_text(z, n, k->precision, k->scale, &((int64_t *)k->data)[row])) return TAKEN;
      if (!z || !decimal_text(z, n, k->precision, k->scale, &w)) return ODD;
    } else if (type == SQLITE_FLOAT) {
      int64_t i;
      if (!decimal_real(sqlite3_value_double(v), k->precision, k->scale, &i)) return ODD;
      w = i;
    } else if (type == SQLITE_INTEGER) {
      if (!decimal_int(sqlite3_value_int64(v), k->precision, k->scale, &w)) return ODD;
    } else {
      return ODD;
    }
    if (k->form == SL_DEC64) ((int64_t *)k->data)[row] = (int64_t)w;
    else memcpy((char *)k->data + (size_t)row * 16, &w, 16);
    return TAKEN;
  }
  case SL_DATE: case SL_MICROS: case SL_NANOS: case SL_TIME: {
    if (type != SQLITE_TEXT) return ODD;
    const unsigned char *z = sqlite3_value_text(v);
    int n = sqlite3_value_bytes(v);
    int32_t days = 0;
    int64_t ns;
    if (!z) return ODD;
    if (k->form == SL_TIME) {
      if (!time_text(z, n, k->precision < 3 ? k->precision : 3, &ns)) return ODD;
      ((int32_t *)k->data)[row] = (int32_t)(ns / 1000000);
      return TAKEN;
    }
    if (!stamp_text(z, n, k, &days, &ns)) return ODD;
    if (k->form == SL_DATE) {
      if (ns) return ODD;
      ((int32_t *)k->data)[row] = days;
    } else if (k->form == SL_MICROS) {
      ((int64_t *)k->data)[row] = (int64_t)days * 86400000000LL + ns / 1000;
    } else {
      __int128 t = (__int128)days * 86400000000000LL + ns;
      if (t != (int64_t)t) return ODD;
      ((int64_t *)k->data)[row] = (int64_t)t;
    }
    return TAKEN;
  }
  }
  return ODD;
}

/* blank gives a cell without a value a defined one. */
static void blank(sl_col *k, int row) {
  switch (k->form) {
  case SL_BOOL: case SL_I8: ((char *)k->data)[row] = 0; break;
  case SL_I16: ((int16_t *)k->data)[row] = 0; break;
  case SL_I32: case SL_F32: case SL_DATE: case SL_TIME: ((int32_t *)k->data)[row] = 0; break;
  case SL_TEXT: case SL_BLOB: k->off[row + 1] = k->off[row]; break;
  case SL_DEC128: memset((char *)k->data + (size_t)row * 16, 0, 16); break;
  default: ((int64_t *)k->data)[row] = 0;
  }
}

/* now_ms is a cheap clock of some milliseconds' resolution. */
static int64_t now_ms(void) {
  struct timespec t;
#ifdef CLOCK_MONOTONIC_COARSE
  clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
#else
  clock_gettime(CLOCK_MONOTONIC, &t);
#endif
  return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int sl_scan_rows(sl_scan *s, int max, int *count) {
  int n = 0, rc = SQLITE_ROW;
  int64_t until = now_ms() + 80;
  *count = 0;
  s->nodd = 0;
  s->narena = 0;
  if (s->done) return SQLITE_DONE;
  for (int c = 0; c < s->ncol; c++) {
    sl_col *k = &s->cols[c];
    k->nulls = 0;
    k->need = 0;
    memset(k->valid, 0xff, (size_t)(max + 63) / 64 * 8);
    if (k->off) k->off[0] = 0;
  }
  while (n < max) {
    if (s->nodd + s->ncol > s->capodd ||
        (s->arena && s->caparena - s->narena < (int64_t)(KEEP + (KEEP + 2) * (int64_t)s->nkey) * s->ncol))
      break;
    if (!s->pending) {
      rc = sqlite3_step(s->st);
      if (rc != SQLITE_ROW) {
        if (rc == SQLITE_DONE) s->done = 1;
        break;
      }
    }
    s->pending = 0;
    int odds = s->nodd;
    int64_t arena = s->narena;
    for (int c = 0; c < s->ncol; c++) {
      sl_col *k = &s->cols[c];
      sqlite3_value *v = sqlite3_column_value(s->st, c);
      int type = sqlite3_value_type(v);
      if (type == SQLITE_NULL) {
        k->valid[n >> 6] &= ~(1ULL << (n & 63));
        k->nulls++;
        blank(k, n);
        continue;
      }
      int got = take(k, n, type, v);
      if (got == TAKEN) continue;
      if (got == ODD) {
        int e = odd(s, n, c, type, v);
        if (e) return e;
        blank(k, n);
        continue;
      }
      /* The row stays current and is decoded again into the next buffers. */
      for (int b = 0; b < c; b++) {
        sl_col *u = &s->cols[b];
        if (!(u->valid[n >> 6] >> (n & 63) & 1)) {
          u->valid[n >> 6] |= 1ULL << (n & 63);
          u->nulls--;
        }
      }
      s->nodd = odds;
      s->narena = arena;
      s->pending = 1;
      *count = n;
      return SQLITE_ROW;
    }
    n++;
    if (now_ms() > until) break; /* slow rows are not held back */
  }
  *count = n;
  return rc;
}
