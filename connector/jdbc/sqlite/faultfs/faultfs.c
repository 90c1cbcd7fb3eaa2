/* A VFS that passes every call on to SQLite's own, or makes it fail. The declarations are those of SQLite's published
   interface, as far as they are needed here. */
#include "faultfs.h"
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

typedef struct sqlite3_vfs sqlite3_vfs;
typedef struct sqlite3_file sqlite3_file;
typedef struct sqlite3_io_methods sqlite3_io_methods;
typedef void (*sqlite3_syscall_ptr)(void);

struct sqlite3_file { const sqlite3_io_methods *methods; };

struct sqlite3_io_methods {
  int version;
  int (*close)(sqlite3_file *);
  int (*read)(sqlite3_file *, void *, int, int64_t);
  int (*write)(sqlite3_file *, const void *, int, int64_t);
  int (*truncate)(sqlite3_file *, int64_t);
  int (*sync)(sqlite3_file *, int);
  int (*size)(sqlite3_file *, int64_t *);
  int (*lock)(sqlite3_file *, int);
  int (*unlock)(sqlite3_file *, int);
  int (*check_reserved)(sqlite3_file *, int *);
  int (*control)(sqlite3_file *, int, void *);
  int (*sector)(sqlite3_file *);
  int (*traits)(sqlite3_file *);
  int (*shm_map)(sqlite3_file *, int, int, int, void volatile **);
  int (*shm_lock)(sqlite3_file *, int, int, int);
  void (*shm_barrier)(sqlite3_file *);
  int (*shm_unmap)(sqlite3_file *, int);
  int (*fetch)(sqlite3_file *, int64_t, int, void **);
  int (*unfetch)(sqlite3_file *, int64_t, void *);
};

struct sqlite3_vfs {
  int version, file_size, max_path;
  sqlite3_vfs *next;
  const char *name;
  void *data;
  int (*open)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);
  int (*remove)(sqlite3_vfs *, const char *, int);
  int (*access)(sqlite3_vfs *, const char *, int, int *);
  int (*full_path)(sqlite3_vfs *, const char *, int, char *);
  void *(*dl_open)(sqlite3_vfs *, const char *);
  void (*dl_error)(sqlite3_vfs *, int, char *);
  void (*(*dl_sym)(sqlite3_vfs *, void *, const char *))(void);
  void (*dl_close)(sqlite3_vfs *, void *);
  int (*randomness)(sqlite3_vfs *, int, char *);
  int (*sleep)(sqlite3_vfs *, int);
  int (*time)(sqlite3_vfs *, double *);
  int (*last_error)(sqlite3_vfs *, int, char *);
  int (*time64)(sqlite3_vfs *, int64_t *);
  int (*set_call)(sqlite3_vfs *, const char *, sqlite3_syscall_ptr);
  sqlite3_syscall_ptr (*get_call)(sqlite3_vfs *, const char *);
  const char *(*next_call)(sqlite3_vfs *, const char *);
};

typedef struct {
  void *(*get)(int);
  void (*free)(void *);
  void *(*resize)(void *, int);
  int (*size)(void *);
  int (*round)(int);
  int (*init)(void *);
  void (*end)(void *);
  void *data;
} sqlite3_mem_methods;

enum { OK = 0, CONFIG_MALLOC = 4, CONFIG_GETMALLOC = 5, LOCK_SHARED = 1, SHM_LOCK = 2 };

extern int sqlite3_initialize(void);
extern int sqlite3_config(int, ...);
extern sqlite3_vfs *sqlite3_vfs_find(const char *);
extern int sqlite3_vfs_register(sqlite3_vfs *, int);

static sqlite3_vfs *real, ours;
static sqlite3_mem_methods real_mem;

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static struct {
  int kinds, lasting, how, code;
  int64_t nth, seen, failed;
} armed;

/* due returns the code with which a call of a kind is to fail, OK when it is not. */
static int due(int kind) {
  int code = OK;
  pthread_mutex_lock(&mu);
  if (armed.kinds & kind) {
    armed.seen++;
    if (armed.nth > 0 && (armed.seen == armed.nth || (armed.lasting && armed.seen > armed.nth))) {
      armed.failed++;
      code = armed.code;
    }
  }
  pthread_mutex_unlock(&mu);
  if (code) errno = EIO;
  return code;
}

void ff_arm(int kinds, int64_t nth, int lasting, int how, int code) {
  pthread_mutex_lock(&mu);
  armed.kinds = kinds;
  armed.lasting = lasting;
  armed.how = how;
  armed.code = code;
  armed.nth = nth;
  armed.seen = armed.failed = 0;
  pthread_mutex_unlock(&mu);
}

int64_t ff_disarm(int64_t *failed) {
  pthread_mutex_lock(&mu);
  int64_t seen = armed.seen;
  *failed = armed.failed;
  armed.kinds = 0;
  pthread_mutex_unlock(&mu);
  return seen;
}

/* A file of ours has the real one behind it. */
typedef struct { sqlite3_file head; sqlite3_file *real; } file;

static sqlite3_file *of(sqlite3_file *f) { return ((file *)f)->real; }

static int f_close(sqlite3_file *f) { return of(f)->methods->close(of(f)); }
static int f_read(sqlite3_file *f, void *p, int n, int64_t at) {
  int rc = due(FF_READ);
  return rc ? rc : of(f)->methods->read(of(f), p, n, at);
}
static int f_write(sqlite3_file *f, const void *p, int n, int64_t at) {
  int kinds = FF_WRITE;
  int64_t size = 0;
  if (of(f)->methods->size(of(f), &size) == OK && at + n > size) kinds |= FF_GROW;
  int rc = due(kinds);
  if (!rc) return of(f)->methods->write(of(f), p, n, at);
  if (armed.how == FF_HALF && n > 1) of(f)->methods->write(of(f), p, n / 2, at);
  if (armed.how == FF_DONE) of(f)->methods->write(of(f), p, n, at);
  return rc;
}
static int f_truncate(sqlite3_file *f, int64_t n) {
  int rc = due(FF_TRUNCATE);
  if (rc && armed.how == FF_DONE) of(f)->methods->truncate(of(f), n);
  return rc ? rc : of(f)->methods->truncate(of(f), n);
}
static int f_sync(sqlite3_file *f, int flags) {
  int rc = due(FF_SYNC);
  return rc ? rc : of(f)->methods->sync(of(f), flags);
}
static int f_size(sqlite3_file *f, int64_t *n) {
  int rc = due(FF_SIZE);
  return rc ? rc : of(f)->methods->size(of(f), n);
}
static int f_lock(sqlite3_file *f, int level) {
  int rc = due(FF_LOCK);
  return rc ? rc : of(f)->methods->lock(of(f), level);
}
static int f_unlock(sqlite3_file *f, int level) { return of(f)->methods->unlock(of(f), level); }
static int f_check_reserved(sqlite3_file *f, int *held) {
  int rc = due(FF_LOCK);
  return rc ? rc : of(f)->methods->check_reserved(of(f), held);
}
static int f_control(sqlite3_file *f, int op, void *arg) { return of(f)->methods->control(of(f), op, arg); }
static int f_sector(sqlite3_file *f) { return of(f)->methods->sector(of(f)); }
static int f_traits(sqlite3_file *f) { return of(f)->methods->traits(of(f)); }
static int f_shm_map(sqlite3_file *f, int page, int size, int extend, void volatile **p) {
  int rc = due(FF_SHM);
  if (rc) { *p = 0; return rc; }
  return of(f)->methods->shm_map(of(f), page, size, extend, p);
}
static int f_shm_lock(sqlite3_file *f, int at, int n, int flags) {
  int rc = flags & SHM_LOCK ? due(FF_SHMLOCK) : OK;
  return rc ? rc : of(f)->methods->shm_lock(of(f), at, n, flags);
}
static void f_shm_barrier(sqlite3_file *f) { of(f)->methods->shm_barrier(of(f)); }
static int f_shm_unmap(sqlite3_file *f, int remove) { return of(f)->methods->shm_unmap(of(f), remove); }
static int f_fetch(sqlite3_file *f, int64_t at, int n, void **p) { return of(f)->methods->fetch(of(f), at, n, p); }
static int f_unfetch(sqlite3_file *f, int64_t at, void *p) { return of(f)->methods->unfetch(of(f), at, p); }

static const sqlite3_io_methods methods = {
  3, f_close, f_read, f_write, f_truncate, f_sync, f_size, f_lock, f_unlock, f_check_reserved, f_control, f_sector, f_traits,
  f_shm_map, f_shm_lock, f_shm_barrier, f_shm_unmap, f_fetch, f_unfetch
};

static int v_open(sqlite3_vfs *v, const char *name, sqlite3_file *f, int flags, int *out) {
  (void)v;
  file *w = (file *)f;
  w->head.methods = 0;
  int rc = due(FF_OPEN);
  if (rc) return rc;
  w->real = (sqlite3_file *)(w + 1);
  w->real->methods = 0;
  rc = real->open(real, name, w->real, flags, out);
  if (w->real->methods) w->head.methods = &methods; /* to be closed, also after an error */
  return rc;
}
static int v_remove(sqlite3_vfs *v, const char *name, int sync) {
  (void)v;
  int rc = due(FF_DELETE);
  if (rc && armed.how == FF_DONE) real->remove(real, name, sync);
  return rc ? rc : real->remove(real, name, sync);
}
static int v_access(sqlite3_vfs *v, const char *name, int flags, int *yes) {
  (void)v;
  int rc = due(FF_ACCESS);
  return rc ? rc : real->access(real, name, flags, yes);
}
static int v_full_path(sqlite3_vfs *v, const char *name, int n, char *out) {
  (void)v;
  return real->full_path(real, name, n, out);
}
static int v_last_error(sqlite3_vfs *v, int n, char *out) {
  (void)v;
  return real->last_error(real, n, out);
}

static void *m_get(int n) { return due(FF_MALLOC) ? 0 : real_mem.get(n); }
static void *m_resize(void *p, int n) { return due(FF_MALLOC) ? 0 : real_mem.resize(p, n); }

int ff_install(void) {
  int rc = sqlite3_config(CONFIG_GETMALLOC, &real_mem);
  if (rc != OK) return rc; /* something has used SQLite before */
  sqlite3_mem_methods mem = real_mem;
  mem.get = m_get;
  mem.resize = m_resize;
  if ((rc = sqlite3_config(CONFIG_MALLOC, &mem)) != OK || (rc = sqlite3_initialize()) != OK) return rc;
  real = sqlite3_vfs_find(0);
  ours = *real;
  ours.name = "faultfs";
  ours.next = 0;
  ours.file_size = (int)sizeof(file) + real->file_size;
  ours.open = v_open;
  ours.remove = v_remove;
  ours.access = v_access;
  ours.full_path = v_full_path;
  ours.last_error = v_last_error;
  return sqlite3_vfs_register(&ours, 1);
}
