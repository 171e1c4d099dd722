/* Stands between a process and its disk: the n-th open, write, sync or rename of a file under a folder fails, or kills
   the process. Preloaded into a test's child, which arms it; a test's own process never loads it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum kind { OPEN, WRITE, SYNC, RENAME, KINDS };
enum deed { FAIL_ONCE, FAIL_ALWAYS, KILL };

static char under[PATH_MAX];
static long seen[KINDS], fail_at;
static int armed_kind, armed_deed, armed_errno;

/* Counts from now on; `at` 0 only counts. */
void disk_faults_arm(const char *folder, int kind, long at, int deed, int error) {
    memset(seen, 0, sizeof seen);
    armed_kind = kind, fail_at = at, armed_deed = deed, armed_errno = error;
    snprintf(under, sizeof under, "%s", folder);
}

long disk_faults_seen(int kind) { return seen[kind]; }

static int faulty(enum kind kind, const char *path) {
    if (!under[0] || strncmp(path, under, strlen(under)) != 0) return 0;
    long number = ++seen[kind];
    if (!fail_at || (int)kind != armed_kind || number < fail_at) return 0;
    if (armed_deed == KILL) raise(SIGKILL);
    if (armed_deed == FAIL_ONCE && number > fail_at) return 0;
    errno = armed_errno;
    return 1;
}

static int faulty_file(enum kind kind, int file) {
    char link[64], path[PATH_MAX];
    if (!under[0]) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return faulty(kind, path);
}

/* A path that starts at an open folder is counted as that folder's. */
static int faulty_at(enum kind kind, int at, const char *path) {
    return path[0] == '/' || at == AT_FDCWD ? faulty(kind, path) : faulty_file(kind, at);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }

int open(const char *path, int flags, ...) { MODE(flags) return faulty(OPEN, path) ? -1 : REAL(open)(path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return faulty(OPEN, path) ? -1 : REAL(open64)(path, flags, mode); }
int openat(int at, const char *path, int flags, ...) { MODE(flags) return faulty_at(OPEN, at, path) ? -1 : REAL(openat)(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE(flags) return faulty_at(OPEN, at, path) ? -1 : REAL(openat64)(at, path, flags, mode); }
ssize_t write(int file, const void *from, size_t size) { return faulty_file(WRITE, file) ? -1 : REAL(write)(file, from, size); }
ssize_t pwrite(int file, const void *from, size_t size, off_t at) { return faulty_file(WRITE, file) ? -1 : REAL(pwrite)(file, from, size, at); }
ssize_t pwrite64(int file, const void *from, size_t size, off64_t at) { return faulty_file(WRITE, file) ? -1 : REAL(pwrite64)(file, from, size, at); }
int ftruncate(int file, off_t size) { return faulty_file(WRITE, file) ? -1 : REAL(ftruncate)(file, size); }
int ftruncate64(int file, off64_t size) { return faulty_file(WRITE, file) ? -1 : REAL(ftruncate64)(file, size); }
int fsync(int file) { return faulty_file(SYNC, file) ? -1 : REAL(fsync)(file); }
int fdatasync(int file) { return faulty_file(SYNC, file) ? -1 : REAL(fdatasync)(file); }
int rename(const char *old, const char *path) { return faulty(RENAME, path) ? -1 : REAL(rename)(old, path); }
int renameat(int from, const char *old, int at, const char *path) { return faulty_at(RENAME, at, path) ? -1 : REAL(renameat)(from, old, at, path); }
