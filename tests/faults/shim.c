/* Preloaded into a process: records what it writes below FAULTS_ROOT, in order, and lets the n-th call fail.
 *
 * FAULTS_ROOT  folder (absolute, resolved) whose files are watched
 * FAULTS_LOG   file that receives the record; none without it
 * FAULTS_AT    number of the call that fails with FAULTS_ERRNO, counted from 1 once FAULTS_ARMED exists; 0 for none
 * FAULTS_ARMED file that starts the counting when it appears
 *
 * A record is: operation (1 byte), inode, offset (8 bytes each), lengths of two paths and of the data (4 bytes each),
 * then both paths and the data. Operations: C create, W write, T truncate, S sync of a file, D sync of a folder,
 * R rename, U unlink, M mkdir, A acknowledgement (a write to a file called ACK).
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX], armed[PATH_MAX];
static int log_fd = -1, ready, is_armed, fail_errno = EIO;
static long fail_at, calls;

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static void prepare(void) {
    if (ready) return;
    ready = 1;
    const char *value = getenv("FAULTS_ROOT");
    if (value) snprintf(root, sizeof root, "%s/", value);
    if ((value = getenv("FAULTS_ARMED"))) snprintf(armed, sizeof armed, "%s", value);
    if ((value = getenv("FAULTS_AT"))) fail_at = atol(value);
    if ((value = getenv("FAULTS_ERRNO"))) fail_errno = atoi(value);
    if ((value = getenv("FAULTS_LOG"))) {
        int fd = REAL(open)(value, O_WRONLY | O_CREAT | O_APPEND, 0600);
        log_fd = fcntl(fd, F_DUPFD_CLOEXEC, 500);
        REAL(close)(fd);
    }
}

static int below(const char *path) { return root[0] && strncmp(path, root, strlen(root)) == 0; }

static int of_fd(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH_MAX - 1);
    if (n < 0) return 0;
    path[n] = 0;
    strcat(path, "");
    if (below(path)) return 1;
    size_t length = strlen(root);
    return length && strlen(path) == length - 1 && strncmp(path, root, length - 1) == 0;
}

static void absolute(int dir, const char *path, char *out) {
    char base[PATH_MAX];
    if (path[0] == '/') { snprintf(out, PATH_MAX, "%s", path); return; }
    if (dir == AT_FDCWD) { if (!getcwd(base, sizeof base)) base[0] = 0; }
    else {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
        ssize_t n = readlink(link, base, sizeof base - 1);
        base[n < 0 ? 0 : n] = 0;
    }
    snprintf(out, PATH_MAX, "%.2000s/%.2000s", base, path);
}

/* Whether this call is the one that fails; the lock is held. */
static int fails(void) {
    if (!fail_at) return 0;
    if (!is_armed) { if (armed[0] && access(armed, F_OK)) return 0; is_armed = 1; }
    if (++calls != fail_at) return 0;
    errno = fail_errno;
    return 1;
}

static void note(char op, uint64_t ino, uint64_t offset, const char *one, const char *two, const void *data, size_t n) {
    if (log_fd < 0) return;
    int kept = errno;
    uint32_t lengths[3] = {(uint32_t)strlen(one), (uint32_t)strlen(two), (uint32_t)n};
    struct iovec parts[] = {{&op, 1}, {&ino, 8}, {&offset, 8}, {lengths, 12}, {(void *)one, lengths[0]},
                            {(void *)two, lengths[1]}, {(void *)data, n}};
    ssize_t done = REAL(writev)(log_fd, parts, 7);
    (void)done;
    errno = kept;
}

static uint64_t inode(int fd) { struct stat held; return fstat(fd, &held) ? 0 : held.st_ino; }

static int opened(int dir, const char *path, int flags, mode_t mode) {
    char full[PATH_MAX];
    absolute(dir, path, full);
    prepare();
    if (!below(full) || !(flags & (O_CREAT | O_TRUNC))) return REAL(openat)(dir, path, flags, mode);
    pthread_mutex_lock(&lock);
    struct stat held;
    int was = stat(full, &held) == 0, fd = -1;
    if (!fails()) {
        fd = REAL(openat)(dir, path, flags, mode);
        if (fd >= 0 && !was) note('C', inode(fd), 0, full, "", "", 0);
        else if (fd >= 0 && (flags & O_TRUNC)) note('T', inode(fd), 0, full, "", "", 0);
    }
    pthread_mutex_unlock(&lock);
    return fd;
}

#define MODE mode_t mode = 0; if (flags & (O_CREAT | O_TMPFILE)) { va_list a; va_start(a, flags); mode = va_arg(a, mode_t); va_end(a); }
int open(const char *path, int flags, ...) { MODE return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE return opened(AT_FDCWD, path, flags | O_LARGEFILE, mode); }
int openat(int dir, const char *path, int flags, ...) { MODE return opened(dir, path, flags, mode); }
int openat64(int dir, const char *path, int flags, ...) { MODE return opened(dir, path, flags | O_LARGEFILE, mode); }

static ssize_t written(int fd, const void *data, size_t n, off_t at, int positioned) {
    char path[PATH_MAX];
    prepare();
    if (fd == log_fd || !of_fd(fd, path)) return positioned ? REAL(pwrite)(fd, data, n, at) : REAL(write)(fd, data, n);
    pthread_mutex_lock(&lock);
    ssize_t done = -1;
    const char *name = strrchr(path, '/');
    int is_ack = name && strcmp(name, "/ACK") == 0;
    if (is_ack || !fails()) {
        if (!positioned) {
            struct stat held;
            at = (fcntl(fd, F_GETFL) & O_APPEND) && !fstat(fd, &held) ? held.st_size : lseek(fd, 0, SEEK_CUR);
        }
        done = positioned ? REAL(pwrite)(fd, data, n, at) : REAL(write)(fd, data, n);
        if (done > 0) note(is_ack ? 'A' : 'W', inode(fd), (uint64_t)at, "", "", data, (size_t)done);
    }
    pthread_mutex_unlock(&lock);
    return done;
}
ssize_t write(int fd, const void *data, size_t n) { return written(fd, data, n, 0, 0); }
ssize_t pwrite(int fd, const void *data, size_t n, off_t at) { return written(fd, data, n, at, 1); }
ssize_t pwrite64(int fd, const void *data, size_t n, off_t at) { return written(fd, data, n, at, 1); }
ssize_t writev(int fd, const struct iovec *parts, int count) {
    char path[PATH_MAX];
    prepare();
    if (fd == log_fd || !of_fd(fd, path)) return REAL(writev)(fd, parts, count);
    ssize_t sum = 0;
    for (int i = 0; i < count; i++) {
        ssize_t done = parts[i].iov_len ? written(fd, parts[i].iov_base, parts[i].iov_len, 0, 0) : 0;
        if (done < 0) return sum ? sum : done;
        sum += done;
        if ((size_t)done < parts[i].iov_len) break;
    }
    return sum;
}

static int cut(int fd, off_t length) {
    char path[PATH_MAX];
    prepare();
    if (!of_fd(fd, path)) return REAL(ftruncate)(fd, length);
    pthread_mutex_lock(&lock);
    int done = -1;
    if (!fails() && (done = REAL(ftruncate)(fd, length)) == 0) note('T', inode(fd), (uint64_t)length, path, "", "", 0);
    pthread_mutex_unlock(&lock);
    return done;
}
int ftruncate(int fd, off_t length) { return cut(fd, length); }
int ftruncate64(int fd, off_t length) { return cut(fd, length); }

static int synced(int fd, int (*real)(int)) {
    char path[PATH_MAX];
    prepare();
    if (!of_fd(fd, path)) return real(fd);
    pthread_mutex_lock(&lock);
    int done = -1;
    if (!fails() && (done = real(fd)) == 0) {
        struct stat held;
        int is_folder = !fstat(fd, &held) && S_ISDIR(held.st_mode);
        note(is_folder ? 'D' : 'S', inode(fd), 0, path, "", "", 0);
    }
    pthread_mutex_unlock(&lock);
    return done;
}
int fsync(int fd) { return synced(fd, REAL(fsync)); }
int fdatasync(int fd) { return synced(fd, REAL(fdatasync)); }

static int moved(int from, const char *old, int to, const char *new) {
    char one[PATH_MAX], two[PATH_MAX];
    absolute(from, old, one);
    absolute(to, new, two);
    prepare();
    if (!below(one) && !below(two)) return REAL(renameat)(from, old, to, new);
    pthread_mutex_lock(&lock);
    int done = -1;
    if (!fails() && (done = REAL(renameat)(from, old, to, new)) == 0) note('R', 0, 0, one, two, "", 0);
    pthread_mutex_unlock(&lock);
    return done;
}
int rename(const char *old, const char *new) { return moved(AT_FDCWD, old, AT_FDCWD, new); }
int renameat(int from, const char *old, int to, const char *new) { return moved(from, old, to, new); }

static int removed(int dir, const char *path, int flags) {
    char full[PATH_MAX];
    absolute(dir, path, full);
    prepare();
    if (!below(full)) return REAL(unlinkat)(dir, path, flags);
    pthread_mutex_lock(&lock);
    int done = -1;
    if (!fails() && (done = REAL(unlinkat)(dir, path, flags)) == 0) note('U', 0, 0, full, "", "", 0);
    pthread_mutex_unlock(&lock);
    return done;
}
int unlink(const char *path) { return removed(AT_FDCWD, path, 0); }
int unlinkat(int dir, const char *path, int flags) { return removed(dir, path, flags); }
int rmdir(const char *path) { return removed(AT_FDCWD, path, AT_REMOVEDIR); }

int mkdir(const char *path, mode_t mode) {
    char full[PATH_MAX];
    absolute(AT_FDCWD, path, full);
    prepare();
    if (!below(full)) return REAL(mkdir)(path, mode);
    pthread_mutex_lock(&lock);
    int done = -1;
    if (!fails() && (done = REAL(mkdir)(path, mode)) == 0) note('M', 0, 0, full, "", "", 0);
    pthread_mutex_unlock(&lock);
    return done;
}
