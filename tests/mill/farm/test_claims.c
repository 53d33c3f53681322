/* SPDX-License-Identifier: Apache-2.0
 * Claims are taken once, given back, and do not outlive their owner; owners of files. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "mill/farm/claims.h"
#include "mill/write/claim_file.h"
#include "txmill/out_file.h"
#include "util_batch.h"
#include "util_check.h"

/* These times are short enough to wait for, and long enough for a busy machine. */
static const txm_claim_times quick = {.renew = 0.05, .stale = 0.6, .confirm = 0.2, .unnamed = 0.2};
static const txm_claim_times patient = {.renew = 0.05, .stale = 1e6, .confirm = 1e6, .unnamed = 1e6};

/* While `slow` is set, the server does not answer to a renewal. */
static atomic_int slow, asked;

int futimens(int fd, const struct timespec times[2])
{
    atomic_fetch_add(&asked, 1);
    while (atomic_load(&slow))
        usleep(1000);
    return (int)syscall(SYS_utimensat, fd, NULL, times, 0);
}

static txm_status take(txm_claims *claims, txm_claim **claim)
{
    return txm_claims_take(claims, "a.tx", claim, NULL);
}

/* Tries until it succeeds and returns the number of failures. */
static unsigned take_in_the_end(txm_claims *claims, txm_claim **claim)
{
    unsigned tries = 0;
    while (take(claims, claim) == TXM_STATUS_LOCKED) {
        ck_assert_uint_lt(++tries, 6000);
        usleep(10000);
    }
    ck_assert_ptr_nonnull(*claim);
    return tries;
}

/* Writes a claim as a process on another host would have, `age` seconds ago. */
static void foreign_claim(time_t age)
{
    batch_file(".a.tx.txm-claim", "txmill claim 1\nhost elsewhere\nmachine 00000001\npid 7\nstart 7\n"
                                  "nonce 00000000000000aa\ntime x\n");
    const struct timespec then[2] = {{time(NULL) - age, 0}, {time(NULL) - age, 0}};
    ck_assert_int_eq(utimensat(AT_FDCWD, ".a.tx.txm-claim", then, 0), 0);
}

/* Other claims are taken and dropped while a server does not answer to the renewal of one. */
TEST(test_slow_server)
{
    batch_enter();
    txm_claims *claims = txm_claims_new(&patient);
    txm_claim *claim = NULL, *other = NULL;
    atomic_store(&slow, 1);
    ck_assert_int_eq(take(claims, &claim), TXM_OK);
    for (int before = atomic_load(&asked); atomic_load(&asked) == before;)
        usleep(1000);
    alarm(60); /* ends the test if it waits for the lock */
    ck_assert_int_eq(txm_claims_take(claims, "b.tx", &other, NULL), TXM_OK);
    txm_claims_drop(claims, &other);
    alarm(0);
    atomic_store(&slow, 0);
    txm_claims_drop(claims, &claim);
    txm_claims_free(&claims);
    batch_leave();
}

TEST(test_take_and_drop)
{
    batch_enter();
    txm_claims *claims = txm_claims_new(NULL), *others = txm_claims_new(&patient);
    txm_claim *claim = NULL, *other = NULL;
    txm_error err = {0};
    ck_assert_int_eq(take(claims, &claim), TXM_OK);
    ck_assert_int_eq(access(".a.tx.txm-claim", F_OK), 0);
    ck_assert_int_eq(txm_claims_take(others, "a.tx", &other, &err), TXM_STATUS_LOCKED);
    char pid[32];
    snprintf(pid, sizeof pid, "process %ld", (long)getpid());
    ck_assert_ptr_nonnull(strstr(err.message, pid));
    ck_assert(txm_status_retryable(TXM_STATUS_LOCKED));
    ck_assert_int_eq(txm_claims_take(others, "b.tx", &other, NULL), TXM_OK);
    txm_claims_drop(claims, &claim);
    ck_assert_ptr_null(claim);
    ck_assert_int_eq(take(claims, &claim), TXM_OK);
    txm_claims_free(&others); /* drops the claims that are held */
    txm_claims_free(&claims);
    ck_assert_uint_eq(batch_count(), 0);
    txm_claims_free(&claims);
    txm_claims_drop(claims, NULL);
    batch_leave();
}

TEST(test_makes_folders_and_long_names)
{
    batch_enter();
    txm_claims *claims = txm_claims_new(NULL);
    txm_claim *claim = NULL, *other = NULL;
    ck_assert_int_eq(txm_claims_take(claims, "x/y/a.tx", &claim, NULL), TXM_OK);
    txm_claims_drop(claims, &claim);
    char name[256], twin[256];
    memset(name, 'n', 255);
    name[255] = 0;
    strcpy(twin, name);
    twin[254] = 'm'; /* names that are shortened must stay different */
    ck_assert_int_eq(txm_claims_take(claims, name, &claim, NULL), TXM_OK);
    ck_assert_int_eq(txm_claims_take(claims, twin, &other, NULL), TXM_OK);
    txm_claims_drop(claims, &claim);
    txm_claims_drop(claims, &other);
    /* A file is in the folder's place. */
    batch_file("file", "");
    txm_error err = {0};
    ck_assert_int_ne(txm_claims_take(claims, "file/a.tx", &claim, &err), TXM_OK);
    ck_assert_ptr_nonnull(strstr(err.message, "file"));
    txm_claims_free(&claims);
    batch_leave();
}

/* A child dies while it holds a claim. */
static void child_dies_holding(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        int fd;
        _exit(txm_claim_file_make(".a.tx.txm-claim", &fd));
    }
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(access(".a.tx.txm-claim", F_OK), 0);
}

TEST(test_dead_owner)
{
    batch_enter();
    txm_claims *claims = txm_claims_new(&patient);
    txm_claim *claim = NULL;
    child_dies_holding();
    ck_assert_int_eq(take(claims, &claim), TXM_OK);
    txm_claims_free(&claims);
    child_dies_holding();
    batch_file(".b.tx.txm-claim", "");
    txm_swept swept = {0};
    txm_sweep_folder(".", true, &swept);
    ck_assert_uint_eq(swept.files, 1);
    ck_assert_uint_eq(batch_count(), 2);
    txm_sweep_folder(".", false, &swept);
    ck_assert_uint_eq(swept.files, 2);
    ck_assert_uint_eq(batch_count(), 1);
    txm_sweep_folder("no-such-folder", false, &swept);
    batch_leave();
}

/* The owner of the dead claim also holds the right to break it. */
static void leave_dead_right(void)
{
    txm_claim_note note;
    char right[128];
    ck_assert_int_eq(txm_claim_file_read(".a.tx.txm-claim", &note), 0);
    snprintf(right, sizeof right, ".a.tx.txm-claim.%016" PRIx64 ".txm-break", note.nonce);
    ck_assert_int_eq(link(".a.tx.txm-claim", right), 0);
}

/* A process that died while it broke a claim does not keep it. */
TEST(test_dead_breaker)
{
    batch_enter();
    txm_claims *claims = txm_claims_new(&patient);
    txm_claim *claim = NULL;
    child_dies_holding();
    leave_dead_right();
    ck_assert_int_eq(take(claims, &claim), TXM_OK);
    txm_claims_free(&claims);
    ck_assert_uint_eq(batch_count(), 0);
    batch_leave();
}

/* While a process closes the file of its new claim, it is stopped for so long that another one finds the claim empty
 * and takes it over. */
static bool taken_at_close;
static bool without_links; /* some file systems have no links */
static bool dies_at_write;

int link(const char *from, const char *to)
{
    if (!without_links)
        return (int)syscall(SYS_link, from, to);
    errno = EPERM;
    return -1;
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    if (dies_at_write)
        _exit(0);
    return syscall(SYS_write, fd, data, bytes);
}

int close(int fd)
{
    if (taken_at_close) {
        taken_at_close = false;
        unlink(".a.tx.txm-claim");
        foreign_claim(0);
    }
    return (int)syscall(SYS_close, fd);
}

TESTS(test_lost_before_it_was_held, 2)
{
    batch_enter();
    without_links = _i == 1;
    int fd = -1;
    txm_claim_note note;
    taken_at_close = true;
    ck_assert_int_eq(txm_claim_file_make(".a.tx.txm-claim", &fd), EEXIST);
    ck_assert_int_eq(fd, -1);
    ck_assert_int_eq(txm_claim_file_read(".a.tx.txm-claim", &note), 0);
    ck_assert_str_eq(note.owner.host, "elsewhere"); /* the other process's claim is still there */
    txm_claims *claims = txm_claims_new(&patient);
    txm_claim *claim = NULL;
    ck_assert_int_eq(unlink(".a.tx.txm-claim"), 0);
    taken_at_close = true;
    ck_assert_int_eq(take(claims, &claim), TXM_STATUS_LOCKED);
    ck_assert_ptr_null(claim);
    txm_claims_free(&claims);
    ck_assert_uint_eq(batch_count(), 1);
    batch_leave();
}

/* A process that is killed while it makes a claim must not leave one without an owner, because others would wait for
 * it. */
TEST(test_killed_while_writing)
{
    batch_enter();
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        int fd;
        dies_at_write = true;
        _exit(txm_claim_file_make(".a.tx.txm-claim", &fd) + 1);
    }
    int status;
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(access(".a.tx.txm-claim", F_OK), -1);
    ck_assert_uint_eq(batch_count(), 1);
    txm_swept swept = {0};
    txm_sweep_folder(".", false, &swept);
    ck_assert_uint_eq(batch_count(), 0);
    batch_leave();
}

TEST(test_stale_elsewhere)
{
    batch_enter();
    txm_claims *claims = txm_claims_new(&quick);
    txm_claim *claim = NULL;
    foreign_claim(0);
    ck_assert_uint_gt(take_in_the_end(claims, &claim), 0);
    txm_claims_drop(claims, &claim);
    foreign_claim(3600);
    ck_assert_uint_gt(take_in_the_end(claims, &claim), 0);
    txm_claims_drop(claims, &claim);
    batch_file(".a.tx.txm-claim", "");
    ck_assert_uint_gt(take_in_the_end(claims, &claim), 0);
    txm_claims_free(&claims);
    ck_assert_uint_eq(batch_count(), 0);
    batch_leave();
}

/* The clock of a host is 10 minutes off, and the client sets file times, not the server. As long as the claim is
 * renewed, it holds. */
TESTS(test_clock_skew, 2)
{
    const time_t skew = _i ? 600 : -600;
    batch_enter();
    txm_claims *claims = txm_claims_new(&quick);
    txm_claim *claim = NULL;
    foreign_claim(skew);
    /* twice as long as a claim lasts that is not renewed */
    for (int i = 0; i < 12; i++) {
        const struct timespec now = {time(NULL) - skew, i * 1000000 + 1}, times[2] = {now, now};
        ck_assert_int_eq(utimensat(AT_FDCWD, ".a.tx.txm-claim", times, 0), 0);
        ck_assert_int_eq(take(claims, &claim), TXM_STATUS_LOCKED);
        usleep(100000);
    }
    take_in_the_end(claims, &claim);
    txm_claims_free(&claims);
    batch_leave();
}

TEST(test_renewal)
{
    batch_enter();
    txm_claims *claims = txm_claims_new(&quick);
    txm_claim *claim = NULL;
    struct stat before, after;
    ck_assert_int_eq(take(claims, &claim), TXM_OK);
    const struct timespec old[2] = {{1, 0}, {1, 0}};
    ck_assert_int_eq(utimensat(AT_FDCWD, ".a.tx.txm-claim", old, 0), 0);
    ck_assert_int_eq(stat(".a.tx.txm-claim", &before), 0);
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_eq(stat(".a.tx.txm-claim", &after), 0);
        if (after.st_mtime != before.st_mtime)
            break;
        usleep(10000);
    }
    ck_assert_int_ne(after.st_mtime, before.st_mtime);
    /* Another process has taken the claim over: what is there now must not be removed or renewed. */
    ck_assert_int_eq(unlink(".a.tx.txm-claim"), 0);
    foreign_claim(0);
    txm_claims_drop(claims, &claim);
    ck_assert_int_eq(access(".a.tx.txm-claim", F_OK), 0);
    txm_claims_free(&claims);
    batch_leave();
}

enum { THREADS = 8, ROUNDS = 100 };
static pthread_barrier_t barrier;
static atomic_int winners;

static void *contend(void *arg)
{
    SCOPED(txm_claims_free) txm_claims *claims = txm_claims_new(&patient);
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        txm_claim *claim = NULL;
        pthread_barrier_wait(&barrier);
        if (take(claims, &claim) == TXM_OK)
            atomic_fetch_add(&winners, 1);
        pthread_barrier_wait(&barrier);
        /* The main thread now counts and leaves a dead claim. */
        txm_claims_drop(claims, &claim);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

/* Leaves a dead claim; in the second round, one that a process died breaking. */
TESTS(test_one_takes_over, 2)
{
    pthread_t threads[THREADS];
    batch_enter();
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, contend, NULL), 0);
    for (int i = 0; i < ROUNDS; i++) {
        child_dies_holding();
        if (_i)
            leave_dead_right();
        atomic_store(&winners, 0);
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        ck_assert_int_le(atomic_load(&winners), 1);
        pthread_barrier_wait(&barrier);
        unlink(".a.tx.txm-claim"); /* perhaps none took it: all met another's right to break it */
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&barrier);
    ck_assert_uint_eq(batch_count(), 0);
    batch_leave();
}

/* ---- owners ----------------------------------------------------------------------------------------------------- */

TEST(test_owner_text)
{
    txm_owner self = txm_owner_self(), back;
    char text[TXM_OWNER_TEXT];
    ck_assert_int_eq(self.pid, getpid());
    ck_assert_int_eq(txm_owner_state_of(&self), TXM_OWNER_ALIVE);
    txm_owner_print(&self, text);
    ck_assert_int_eq(txm_owner_parse(text, strlen(text), &back), 0);
    ck_assert_str_eq(back.host, self.host);
    ck_assert_uint_eq(back.machine, self.machine);
    ck_assert_int_eq(back.pid, self.pid);
    const char *odd = "a-b.c-1-0123abcd-42";
    ck_assert_int_eq(txm_owner_parse(odd, strlen(odd), &back), 0);
    ck_assert_str_eq(back.host, "a-b.c-1");
    ck_assert_uint_eq(back.machine, 0x0123abcd);
    ck_assert_int_eq(back.pid, 42);
    static const char *const bad[] = {
        "", "-", "a", "a-42", "a-0123abcd-", "a-0123abcg-42", "-0123abcd-42", "a-123abcd-42", "a-0123abcd-x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(txm_owner_parse(bad[i], strlen(bad[i]), &back) == -1, "%s", bad[i]);
    char host[200];
    memset(host, 'h', sizeof host);
    ck_assert_int_eq(txm_owner_parse(host, sizeof host, &back), -1);
}

TEST(test_owner_states)
{
    txm_owner o = txm_owner_self();
    o.start++; /* another process with our number */
    if (o.start > 1)
        ck_assert_int_eq(txm_owner_state_of(&o), TXM_OWNER_DEAD);
    o = txm_owner_self();
    o.machine ^= 1;
    ck_assert_int_eq(txm_owner_state_of(&o), TXM_OWNER_ELSEWHERE);
    o = txm_owner_self();
    o.host[0] ^= 1;
    ck_assert_int_eq(txm_owner_state_of(&o), TXM_OWNER_ELSEWHERE);
    o = txm_owner_self();
    o.pid = 0;
    ck_assert_int_eq(txm_owner_state_of(&o), TXM_OWNER_DEAD);
    /* This process is dead, but its parent has not waited for it. */
    o = txm_owner_self();
    o.start = 0;
    o.pid = fork();
    if (o.pid == 0)
        _exit(0);
    siginfo_t info;
    ck_assert_int_eq(waitid(P_PID, (id_t)o.pid, &info, WEXITED | WNOWAIT), 0);
    ck_assert_int_eq(txm_owner_state_of(&o), TXM_OWNER_DEAD);
    ck_assert_int_eq(waitpid((pid_t)o.pid, NULL, 0), o.pid);
    ck_assert_int_eq(txm_owner_state_of(&o), TXM_OWNER_DEAD);
}
