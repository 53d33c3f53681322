/* SPDX-License-Identifier: Apache-2.0
 * Files that killed processes leave are swept by the next process; files that others may need stay. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/os/owner.h"
#include "base/path.h"
#include "mill/farm/claims.h"
#include "mill/write/claim_file.h"
#include "txmill/out_file.h"
#include "util_batch.h"
#include "util_check.h"

static const char claim_path[] = ".a.tx.txm-claim";
static const txm_claim_times patient = {.renew = 0.05, .stale = 1e6, .confirm = 1e6, .unnamed = 1e6};

/* ---- calls before which a process may die ------------------------------------------------------------------------ */

static int calls_to_live; /* number of these calls that still run; 0: no limit */
static enum { LINKS, NO_LINKS, ANSWER_LOST } file_system;

static void live_on(void)
{
    if (calls_to_live && --calls_to_live == 0)
        _exit(99);
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    live_on();
    return (ssize_t)syscall(SYS_write, fd, data, bytes);
}

int close(int fd)
{
    live_on();
    return (int)syscall(SYS_close, fd);
}

int unlink(const char *path)
{
    live_on();
    return (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
}

int link(const char *from, const char *to)
{
    live_on();
    if (file_system == NO_LINKS) {
        errno = EPERM;
        return -1;
    }
    int rc = (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (rc == 0 && file_system == ANSWER_LOST) {
        errno = EEXIST;
        return -1;
    }
    return rc;
}

/* ---- helpers ---------------------------------------------------------------------------------------------------- */

static size_t sweep_here(bool dry_run)
{
    txm_swept swept = {0};
    txm_sweep_folder(".", dry_run, &swept);
    return swept.files;
}

/* Runs `act` in a process that has ended when this returns, and returns its exit code. */
static int in_child(void (*act)(void *), void *user)
{
    pid_t pid = fork();
    int status;
    if (pid == 0) {
        act(user);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void hold_claim(void *path)
{
    int fd;
    if (txm_claim_file_make(path, &fd) != 0)
        _exit(1);
}

static void dead_claim(const char *path)
{
    char copy[300];
    strcpy(copy, path);
    ck_assert_int_eq(in_child(hold_claim, copy), 0);
}

static void make_owned(void *suffix)
{
    FREED char *path = txm_owned_path(".", "x", suffix);
    batch_file(path, "12345");
}

static void set_age(const char *path, time_t age)
{
    struct timespec now;
    ck_assert(txm_server_clock(".", &now));
    const struct timespec then[2] = {{now.tv_sec - age, 0}, {now.tv_sec - age, 0}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, then, 0), 0);
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

TEST(test_owned_names)
{
    char *path = txm_owned_path("some/folder", "a.b-c", ".txm-clock"), *other;
    ck_assert_int_eq(strncmp(path, "some/folder/.a.b-c.", 19), 0);
    const char *name = txm_path_base(path);
    ck_assert_int_eq(txm_owned_name_state(name, ".txm-clock"), TXM_OWNER_ALIVE);
    ck_assert_int_eq(txm_owned_name_state(name, ".txm-tmp"), TXM_OWNER_ELSEWHERE);
    other = txm_owned_path("some/folder", "a.b-c", ".txm-clock");
    ck_assert_str_ne(path, other);
    free(other);
    free(path);
    char what[300];
    memset(what, 'n', sizeof what - 1);
    what[sizeof what - 1] = 0;
    path = txm_owned_path(".", what, ".txm-tmp");
    ck_assert_uint_eq(strlen(txm_path_base(path)), 255);
    ck_assert_int_eq(txm_owned_name_state(txm_path_base(path), ".txm-tmp"), TXM_OWNER_ALIVE);
    free(path);
}

/* A process that does not exist, to judge by the name: a process of this host with a number that is never given. */
TEST(test_owned_names_of_others)
{
    txm_owner o = txm_owner_self();
    char owner[TXM_OWNER_TEXT], name[300];
    o.pid = 0;
    txm_owner_print(&o, owner);
    snprintf(name, sizeof name, ".x.y-1.%s-0123456789abcdef.txm-tmp", owner);
    ck_assert_int_eq(txm_owned_name_state(name, ".txm-tmp"), TXM_OWNER_DEAD);
    snprintf(name, sizeof name, ".%s-0123456789abcdef.txm-tmp", owner);
    ck_assert_int_eq(txm_owned_name_state(name, ".txm-tmp"), TXM_OWNER_DEAD);
    static const char *const forms[] = {".x.%s-0123456789abcdeF.txm-tmp", ".x.%s-123456789abcdef.txm-tmp",
                                        ".x.%s.0123456789abcdef.txm-tmp", ".x.%s-0123456789abcdef.txm-tm",
                                        ".x-%s-0123456789abcdef.txm-tmp"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        snprintf(name, sizeof name, forms[i], owner);
        ck_assert_msg(txm_owned_name_state(name, ".txm-tmp") == TXM_OWNER_ELSEWHERE, "%s", name);
    }
    static const char *const others[] = {"", ".txm-tmp", "-0123456789abcdef.txm-tmp", ".-0123456789abcdef.txm-tmp",
                                         ".x.elsewhere-00000000-1-0123456789abcdef.txm-tmp"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        ck_assert_msg(txm_owned_name_state(others[i], ".txm-tmp") == TXM_OWNER_ELSEWHERE, "%s", others[i]);
}

/* ---- sweeping --------------------------------------------------------------------------------------------------- */

TEST(test_server_clock)
{
    batch_enter();
    struct timespec now = {-1, -1};
    struct stat st;
    ck_assert(!txm_server_clock("no-such-folder", &now));
    ck_assert_int_eq(now.tv_sec, -1);
    batch_file("before", "");
    ck_assert_int_eq(stat("before", &st), 0);
    ck_assert(txm_server_clock(".", &now));
    ck_assert_int_ge(now.tv_sec, st.st_mtim.tv_sec);
    ck_assert_uint_eq(batch_count(), 1);
    batch_leave();
}

/* The names of files that only one process makes include their owner. */
TESTS(test_swept_by_name, 2)
{
    static char suffixes[][16] = {".txm-tmp", ".txm-clock"};
    char *suffix = suffixes[_i], foreign[100], nameless[100], live[] = "live";
    batch_enter();
    ck_assert_int_eq(in_child(make_owned, suffix), 0);
    ck_assert_uint_eq(sweep_here(true), 1);
    ck_assert_uint_eq(batch_count(), 1);
    ck_assert_uint_eq(sweep_here(false), 1);
    ck_assert_uint_eq(batch_count(), 0);
    /* The owner is alive, so the file may stay as long as it wants. */
    char *own = txm_owned_path(".", live, suffix);
    batch_file(own, "");
    set_age(own, 1000000);
    /* Files of another host, or without an owner, stay until they are old. */
    snprintf(foreign, sizeof foreign, ".x.elsewhere-00000000-1-0123456789abcdef%s", suffix);
    snprintf(nameless, sizeof nameless, ".x.0123456789abcdef%s", suffix);
    batch_file(foreign, "");
    batch_file(nameless, "");
    ck_assert_uint_eq(sweep_here(false), 0);
    set_age(foreign, 1000000);
    set_age(nameless, 1000000);
    ck_assert_uint_eq(sweep_here(true), 2);
    ck_assert_uint_eq(sweep_here(false), 2);
    ck_assert_int_eq(access(own, F_OK), 0);
    ck_assert_uint_eq(batch_count(), 1);
    free(own);
    batch_leave();
}

/* Files with one name that several processes want to make record their owner inside. */
TESTS(test_swept_by_content, 2)
{
    static const char *const paths[] = {".a.tx.txm-claim", ".a.tx.txm-claim.0123456789abcdef.txm-break"};
    const char *path = paths[_i];
    char copy[100];
    batch_enter();
    dead_claim(path);
    ck_assert_uint_eq(sweep_here(true), 1);
    ck_assert_uint_eq(batch_count(), 1);
    ck_assert_uint_eq(sweep_here(false), 1);
    ck_assert_uint_eq(batch_count(), 0);
    strcpy(copy, path);
    hold_claim(copy);
    set_age(path, 1000000);
    ck_assert_uint_eq(sweep_here(false), 0);
    ck_assert_int_eq(unlink(path), 0);
    static const char *const notes[] = {"", "txmill claim 1\nhost elsewhere\nmachine 00000001\npid 7\nstart 7\n"
                                            "nonce 00000000000000aa\ntime x\n"};
    for (size_t i = 0; i < 2; i++) {
        batch_file(path, notes[i]);
        ck_assert_uint_eq(sweep_here(false), 0);
        set_age(path, 1000000);
        ck_assert_uint_eq(sweep_here(false), 1);
    }
    ck_assert_uint_eq(batch_count(), 0);
    batch_leave();
}

/* The name is so long that the right to break the claim has no name. The claim is removed when it is old. */
TEST(test_name_too_long_to_break)
{
    char path[256];
    batch_enter();
    snprintf(path, sizeof path, ".%0240d.txm-claim", 0);
    dead_claim(path);
    ck_assert_uint_eq(sweep_here(false), 0);
    set_age(path, 1000000);
    ck_assert_uint_eq(sweep_here(false), 1);
    ck_assert_uint_eq(batch_count(), 0);
    batch_leave();
}

/* ---- killed while breaking -------------------------------------------------------------------------------------- */

static void break_dead(void *path)
{
    if (!txm_claim_file_sweep(path))
        _exit(1);
}

static void break_until(void *calls)
{
    char path[sizeof claim_path];
    strcpy(path, claim_path);
    calls_to_live = *(int *)calls;
    break_dead(path);
}

/* Repeatedly kills a process that breaks a claim, each time before another call; `go_on` gets what it has left. */
static void kill_at_each_call(void (*go_on)(void))
{
    int calls = 0, code;
    do {
        batch_enter();
        dead_claim(claim_path);
        calls++;
        code = in_child(break_until, &calls);
        ck_assert_msg(code == 99 || code == 0, "%d", code);
        go_on();
        ck_assert_uint_eq(batch_count(), 0);
        batch_leave();
    } while (code == 99);
    ck_assert_int_gt(calls, 5);
}

static void take_at_once(void)
{
    SCOPED(txm_claims_free) txm_claims *claims = txm_claims_new(&patient);
    txm_claim *claim = NULL;
    ck_assert_int_eq(txm_claims_take(claims, "a.tx", &claim, NULL), TXM_OK);
    sweep_here(false);
    ck_assert_int_eq(access(claim_path, F_OK), 0);
}

static void sweep_once(void)
{
    sweep_here(false);
}

TESTS(test_killed_while_breaking, 2)
{
    kill_at_each_call(_i ? take_at_once : sweep_once);
}

/* The holders of the right to break the claim, and of the right to break that right, are dead. The longest names are
 * tested, too. */
TESTS(test_dead_breakers, 2)
{
    char target[256], right[300], right_to_right[300];
    txm_claim_note note;
    batch_enter();
    snprintf(target, sizeof target, "%0*d", _i ? 250 : 5, 0);
    char *path = txm_claim_path(target);
    const char *name = txm_path_base(path);
    dead_claim(name);
    ck_assert_int_eq(txm_claim_file_read(name, &note), 0);
    snprintf(right, sizeof right, "%s.%016" PRIx64 ".txm-break", name, note.nonce);
    dead_claim(right);
    ck_assert_int_eq(txm_claim_file_read(right, &note), 0);
    snprintf(right_to_right, sizeof right_to_right, "%.*s.%016" PRIx64 ".txm-break", (int)strlen(right) - 10, right,
             note.nonce);
    ck_assert_uint_le(strlen(right_to_right), 255);
    /* While a process holds the right to break the claim, the right is not removed. */
    hold_claim(right_to_right);
    ck_assert(!txm_claim_file_sweep(name));
    ck_assert_uint_eq(batch_count(), 3);
    ck_assert_int_eq(unlink(right_to_right), 0);
    if (!_i)
        dead_claim(right_to_right);
    ck_assert(txm_claim_file_sweep(name));
    ck_assert_uint_eq(batch_count(), 0);
    free(path);
    batch_leave();
}

TESTS(test_without_links, 2)
{
    char path[sizeof claim_path];
    strcpy(path, claim_path);
    batch_enter();
    file_system = _i ? ANSWER_LOST : NO_LINKS;
    dead_claim(path);
    break_dead(path);
    ck_assert_uint_eq(batch_count(), 0);
    file_system = LINKS;
    batch_leave();
}
