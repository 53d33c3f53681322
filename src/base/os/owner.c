/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether an owner is alive can be found out only on the same host and in the same namespace of processes.
 */
#include "base/os/owner.h"
#include "base/checksum.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os/process.h"
#include "base/path.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char own_host[TXM_HOST_BYTES];
static uint32_t own_machine;

static size_t read_start(const char *path, char *out, size_t bytes)
{
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(out, 1, bytes - 1, f) : 0;
    if (f)
        fclose(f);
    out[n] = 0;
    return n;
}

/* If /proc is not mounted, only the host's name is known: then two boots look the same, and a process id that was
 * reused counts as alive. */
static void read_machine(void)
{
    char text[256];
    if (gethostname(own_host, sizeof own_host - 1) != 0 || !own_host[0])
        snprintf(own_host, sizeof own_host, "localhost");
    for (char *c = own_host; *c; c++)
        if (*c == '/' || (unsigned char)*c <= ' ')
            *c = '_';
    size_t n = read_start("/proc/sys/kernel/random/boot_id", text, 128);
    ssize_t link = readlink("/proc/self/ns/pid", text + n, sizeof text - n);
    n += link > 0 ? (size_t)link : 0;
    own_machine = (uint32_t)txm_xxh64(text, n, txm_xxh64(own_host, strlen(own_host), 0));
}

/* Reads the state letter and the start time (field 22) of a process. The name in field 2 may contain anything,
 * including ')'. */
static bool process_status(long pid, char *state, uint64_t *start)
{
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    read_start(path, text, sizeof text);
    const char *p = strrchr(text, ')');
    if (!p || sscanf(p + 1, " %c", state) != 1)
        return false;
    for (int field = 2; field < 22; field++)
        if (!(p = strchr(p + 1, ' ')))
            return false;
    *start = strtoull(p + 1, NULL, 10);
    return true;
}

txm_owner txm_owner_self(void)
{
    pthread_once(&once, read_machine);
    txm_owner o = {.machine = own_machine, .pid = txm_process_self()};
    char state;
    memcpy(o.host, own_host, sizeof o.host);
    process_status(o.pid, &state, &o.start);
    return o;
}

/* A zombie counts as dead, since it holds no resources. */
txm_owner_state txm_owner_state_of(const txm_owner *owner)
{
    pthread_once(&once, read_machine);
    if (owner->machine != own_machine || strcmp(owner->host, own_host) != 0)
        return TXM_OWNER_ELSEWHERE;
    if (owner->pid <= 0 || (!txm_process_exists(owner->pid)))
        return TXM_OWNER_DEAD;
    char state = 'R';
    uint64_t start = 0;
    if (!process_status(owner->pid, &state, &start))
        return TXM_OWNER_ALIVE;
    /* It was killed and not yet reaped by its parent, or another process has its id. */
    bool other = owner->start && start && owner->start != start;
    return state == 'Z' || state == 'X' || other ? TXM_OWNER_DEAD : TXM_OWNER_ALIVE;
}

uint64_t txm_random_bits(void)
{
    uint64_t bits;
    if (getrandom(&bits, sizeof bits, GRND_NONBLOCK) == (ssize_t)sizeof bits)
        return bits;
    /* In early boot without entropy the clock distinguishes runs with the same process id, and O_EXCL prevents
     * collisions. */
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000007u ^ (uint64_t)now.tv_nsec << 20;
}

void txm_owner_print(const txm_owner *owner, char out[TXM_OWNER_TEXT])
{
    snprintf(out, TXM_OWNER_TEXT, "%s-%08" PRIx32 "-%ld", owner->host, owner->machine, owner->pid);
}

/* Parses backwards, since a host's name may contain '-' and digits. */
int txm_owner_parse(const char *text, size_t bytes, txm_owner *out)
{
    char copy[TXM_OWNER_TEXT];
    if (bytes >= sizeof copy)
        return -1;
    memcpy(copy, text, bytes);
    copy[bytes] = 0;
    char *pid = strrchr(copy, '-'), *machine, *end;
    if (!pid || !pid[1] || strspn(pid + 1, "0123456789") != strlen(pid + 1))
        return -1;
    *pid = 0;
    machine = strrchr(copy, '-');
    if (!machine || strlen(machine + 1) != 8 || machine == copy || (size_t)(machine - copy) >= TXM_HOST_BYTES)
        return -1;
    txm_owner o = {.machine = (uint32_t)strtoul(machine + 1, &end, 16), .pid = strtol(pid + 1, NULL, 10)};
    if (*end)
        return -1;
    memcpy(o.host, copy, (size_t)(machine - copy));
    *out = o;
    return 0;
}

enum { NAME_BYTES = 255, RANDOM_DIGITS = 16, SUFFIX_BYTES = 32 };

char *txm_owned_path(const char *folder, const char *what, const char *suffix)
{
    const txm_owner self = txm_owner_self();
    char owner[TXM_OWNER_TEXT], end[TXM_OWNER_TEXT + RANDOM_DIGITS + SUFFIX_BYTES + 3];
    txm_owner_print(&self, owner);
    int n = snprintf(end, sizeof end, ".%s-%016" PRIx64 "%s", owner, txm_random_bits(), suffix);
    char *name = txm_asprintf(".%.*s%s", (int)txm_path_cut(what, (size_t)(NAME_BYTES - 1 - n)), what, end);
    char *path = name ? txm_path_join(folder, name) : NULL;
    free(name);
    return path;
}

bool txm_owned_remove(const char *path)
{
    for (int i = 0; i < 3; i++)
        if (unlink(path) == 0 || errno == ENOENT)
            return true;
    return false;
}

int txm_nameless_file(const char *folder, const char *what)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || errno == ENOENT || errno == EACCES || errno == EROFS)
        return fd;
    char *path = txm_owned_path(folder, what, ".txm-tmp");
    if (!path) {
        errno = ENOMEM;
        return -1;
    }
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    int why = errno;
    if (fd >= 0)
        txm_owned_remove(path);
    free(path);
    errno = why;
    return fd;
}

/* The owner is parsed from the end, since what precedes it may contain dots and dashes. */
txm_owner_state txm_owned_name_state(const char *name, const char *suffix)
{
    size_t n = strlen(name), s = strlen(suffix);
    txm_owner owner;
    if (n < s + RANDOM_DIGITS + 1 || strcmp(name + n - s, suffix) != 0)
        return TXM_OWNER_ELSEWHERE;
    const char *end = name + n - s - RANDOM_DIGITS - 1;
    if (*end != '-' || strspn(end + 1, "0123456789abcdef") < RANDOM_DIGITS)
        return TXM_OWNER_ELSEWHERE;
    for (const char *p = name; p < end; p++) {
        if (*p != '.' || txm_owner_parse(p + 1, (size_t)(end - p - 1), &owner) != 0)
            continue;
        txm_owner_state state = txm_owner_state_of(&owner);
        if (state != TXM_OWNER_ELSEWHERE)
            return state;
    }
    return TXM_OWNER_ELSEWHERE;
}
