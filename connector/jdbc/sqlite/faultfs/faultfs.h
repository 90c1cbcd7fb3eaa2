/* What the Go side sees of the file system that fails. */
#ifndef SLUICE_FAULTFS_H
#define SLUICE_FAULTFS_H

#include <stdint.h>

/* Kinds of calls, as bits. */
enum {
  FF_OPEN = 1, FF_READ = 2, FF_WRITE = 4, FF_TRUNCATE = 8, FF_SYNC = 16, FF_SIZE = 32, FF_LOCK = 64, FF_DELETE = 128,
  FF_ACCESS = 256, FF_SHM = 512, FF_SHMLOCK = 1024, FF_MALLOC = 2048, FF_GROW = 4096
};

/* How a call fails. */
enum {
  FF_NOT_DONE = 0, /* nothing happens */
  FF_HALF = 1,     /* half of what was to be written is */
  FF_DONE = 2      /* all happens, and the error comes all the same */
};

int ff_install(void);
void ff_arm(int kinds, int64_t nth, int lasting, int how, int code);
int64_t ff_disarm(int64_t *failed);

#endif
