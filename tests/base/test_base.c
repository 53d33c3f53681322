/* SPDX-License-Identifier: Apache-2.0
 * The foundations: statuses, strings, paths, digests, the pool of threads. */
#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/md5.h"
#include "base/mem.h"
#include "base/os/free_memory.h"
#include "base/os/machine.h"
#include "base/path.h"
#include "base/pool.h"
#include "mill/convert/sha1_pair.h"
#include "txtile/pixel.h"
#include "txtile/status.h"
#include "util_check.h"

TEST(first_error_is_kept)
{
    txm_error err = {0};
    ck_assert_int_eq(txm_fail(&err, TXM_STATUS_CORRUPT, "%s", "one"), TXM_STATUS_CORRUPT);
    ck_assert_int_eq(txm_fail(&err, TXM_STATUS_IO, "two"), TXM_STATUS_IO);
    ck_assert_int_eq(err.status, TXM_STATUS_CORRUPT);
    txm_error_prefix(&err, "a.png");
    ck_assert_str_eq(err.message, "a.png: one");
    txm_error_clear(&err);
    ck_assert_int_eq(txm_fail_errno(&err, ENOSPC, "b"), TXM_STATUS_DISK_FULL);
    ck_assert_str_eq(err.message, "b: No space left on device");
    ck_assert_int_eq(txm_fail(NULL, TXM_STATUS_IO, "nobody listens"), TXM_STATUS_IO);
}

TEST(long_messages_are_cut)
{
    txm_error err = {0};
    FREED char *text = malloc(5000);
    memset(text, 'x', 4999);
    text[4999] = 0;
    txm_fail_errno(&err, EIO, "%s", text);
    ck_assert_uint_eq(strlen(err.message), TXM_MESSAGE_BYTES - 1);
    /* A message that is too long is shortened in the middle, so that the reason at its end remains. */
    ck_assert_ptr_nonnull(strstr(err.message, "xxx ... xxx"));
    ck_assert_ptr_nonnull(strstr(err.message, "xxx: Input/output error"));
    txm_error_prefix(&err, "%s", text);
    ck_assert_uint_eq(strlen(err.message), TXM_MESSAGE_BYTES - 1);
    ck_assert_ptr_nonnull(strstr(err.message, "xxx: Input/output error"));
}

/* Values may look like the text between the parts. */
TEST(messages_have_parts)
{
    const char *path = "a; b: c.png", *where = "level 1; here";
    txm_error err = {0}, copy = {0}, again = {0};
    txm_fail(&err, TXM_STATUS_IO, "%s: is broken at %s; copy it; or not", path, where);
    ck_assert_str_eq(err.message, "a; b: c.png: is broken at level 1; here; copy it; or not");
    ck_assert_uint_eq(err.subject_bytes, strlen(path));
    ck_assert_str_eq(txm_error_detail(&err), "is broken at level 1; here; copy it; or not");
    ck_assert_str_eq(txm_error_advice(&err), "copy it; or not");
    txm_error_prefix(&err, "list.txt:%d", 3);
    ck_assert_str_eq(err.message, "list.txt:3: a; b: c.png: is broken at level 1; here; copy it; or not");
    ck_assert_uint_eq(err.subject_bytes, strlen("list.txt:3"));
    ck_assert_str_eq(txm_error_advice(&err), "copy it; or not");
    txm_error_prefix(&err, "%s: not usable", "x.ocio");
    ck_assert_uint_eq(err.subject_bytes, strlen("x.ocio"));
    ck_assert_str_eq(txm_error_advice(&err), "copy it; or not");
    ck_assert_int_eq(txm_fail_with(&copy, TXM_STATUS_CHANGED, &err), TXM_STATUS_CHANGED);
    ck_assert_str_eq(txm_error_advice(&copy), "copy it; or not");
    const txm_failure kept = {copy.message, copy.subject_bytes, copy.advice_at};
    txm_fail_again(&again, TXM_STATUS_CHANGED, &kept);
    ck_assert_str_eq(again.message, copy.message);
    ck_assert_str_eq(txm_error_detail(&again), txm_error_detail(&copy));
    ck_assert_str_eq(txm_error_advice(&again), "copy it; or not");
    txm_error_advise(&again, "never mind");
    ck_assert_str_eq(txm_error_advice(&again), "copy it; or not");
    txm_error_drop_advice(&again);
    ck_assert_str_eq(txm_error_advice(&again), "");
    txm_error_advise(&again, "use %d", 7);
    ck_assert_str_eq(txm_error_advice(&again), "use 7");
    ck_assert_ptr_nonnull(strstr(again.message, "level 1; here; use 7"));
    txm_error_clear(&again);
    txm_fail(&again, TXM_STATUS_USAGE, "nothing to do%s", path);
    ck_assert_uint_eq(again.subject_bytes, 0);
    ck_assert_str_eq(txm_error_detail(&again), again.message);
    ck_assert_str_eq(txm_error_advice(&again), "");
    txm_error_clear(&again);
    txm_no_memory(&again, path);
    ck_assert_str_eq(again.message, "a; b: c.png: out of memory");
    ck_assert_str_eq(txm_error_detail(&again), "out of memory");
}

/* Whatever is cut, the parts lie in the message. */
TEST(parts_of_long_messages_stay_inside)
{
    FREED char *text = malloc(70000);
    for (size_t n = 0; n < 70000; n += n < 4200 ? 13 : 9973) {
        txm_error err = {0}, other = {0}, last = {0};
        memset(text, 'p', n);
        text[n] = 0;
        txm_fail(&err, TXM_STATUS_IO, "%s: what; advice", text);
        ck_assert_uint_lt(err.subject_bytes + 2u, TXM_MESSAGE_BYTES);
        ck_assert(!*txm_error_advice(&err) || !strcmp(txm_error_advice(&err), "advice"));
        ck_assert_msg(n > 900 || (err.subject_bytes == n && *txm_error_advice(&err)), "%zu", n);
        txm_error_prefix(&err, "%s", text);
        ck_assert_uint_le(err.subject_bytes, strlen(err.message));
        ck_assert_uint_le(err.advice_at, strlen(err.message));
        txm_fail(&other, TXM_STATUS_IO, "it; %s", text);
        ck_assert_uint_le(other.advice_at, strlen(other.message));
        txm_fail(&last, TXM_STATUS_IO, "%s", text);
        txm_error_advise(&last, "%s", text);
        ck_assert_uint_lt(strlen(last.message), TXM_MESSAGE_BYTES);
        ck_assert_uint_le(last.advice_at, strlen(last.message));
    }
    /* What another process sent. */
    txm_error err = {0};
    txm_fail_again(&err, TXM_STATUS_IO, &(txm_failure){"short", 60000, 60000});
    ck_assert_str_eq(txm_error_detail(&err), "short");
    ck_assert_str_eq(txm_error_advice(&err), "");
}

TEST(every_status_has_words)
{
    for (int s = 0; s < TXM_STATUSES; s++) {
        ck_assert_ptr_nonnull(txm_status_name((txm_status)s));
        ck_assert_ptr_nonnull(txm_status_text((txm_status)s));
    }
    ck_assert_str_eq(txm_status_name((txm_status)999), "internal");
    ck_assert(txm_status_retryable(TXM_STATUS_DISK_FULL) && !txm_status_retryable(TXM_STATUS_CORRUPT));
}

TEST(overflow_is_no_allocation)
{
    ck_assert_uint_eq(txm_mul(SIZE_MAX, 2), SIZE_MAX);
    ck_assert_ptr_null(txm_calloc(SIZE_MAX, 16));
    ck_assert_ptr_null(txm_alloc_pixels(SIZE_MAX / 2, 3));
    FREED void *p = txm_alloc_pixels(3, 5);
    ck_assert_uint_eq((uintptr_t)p % 64, 0);
}

TEST(level_sizes)
{
    ck_assert_uint_eq(txm_level_count(1, 1), 1);
    ck_assert_uint_eq(txm_level_count(300, 200), 9);
    ck_assert_uint_eq(txm_level_count(1, 500), 9);
    ck_assert_uint_eq(txm_level_count(TXM_MAX_SIZE_PX, 1), TXM_MAX_LEVELS);
    ck_assert_uint_eq(txm_level_size(5, 9), 1);
}

static const struct {
    const char *in, *out;
} normal_cases[] = {
    {"/a/b/../c", "/a/c"},
    {"a//b/./c/", "a/b/c"},
    {"../x", "../x"},
    {"a/../..", ".."},
    {"/..", "/"},
    {"", "."},
    {"a/..", "."},
    {"/", "/"},
    {"../../x/..", "../.."},
};

TESTS(paths_normalise, sizeof normal_cases / sizeof *normal_cases)
{
    FREED char *n = txm_path_normal(normal_cases[_i].in);
    ck_assert_str_eq(n, normal_cases[_i].out);
}

static const struct {
    const char *path, *base, *out;
} relative_cases[] = {
    {"/g/src/a.png", "/g/abs-cache", "../src/a.png"},
    {"/g/a.png", "/g", "a.png"},
    {"/g", "/g", "."},
    {"/a/b", "/", "a/b"},
    {"/ab/x", "/a", "../ab/x"},
};

TESTS(paths_relate, sizeof relative_cases / sizeof *relative_cases)
{
    FREED char *n = txm_path_relative(relative_cases[_i].path, relative_cases[_i].base);
    ck_assert_str_eq(n, relative_cases[_i].out);
}

TEST(path_parts)
{
    char *d = txm_path_dir("a//b");
    ck_assert_str_eq(d, "a");
    free(d);
    d = txm_path_dir("/b");
    ck_assert_str_eq(d, "/");
    free(d);
    d = txm_path_join("a/", "b");
    ck_assert_str_eq(d, "a/b");
    free(d);
    d = txm_path_join("a", "/b");
    ck_assert_str_eq(d, "/b");
    free(d);
    ck_assert_str_eq(txm_path_ext("x/.hidden"), "");
    ck_assert(txm_path_has_ext("x.EXR", "exr") && txm_path_has_ext("x.exr", ".exr") && !txm_path_has_ext("exr", "exr"));
    d = txm_path_absolute("a/../b");
    ck_assert(txm_path_is_absolute(d) && strcmp(txm_path_base(d), "b") == 0);
    free(d);
}

TEST(digests)
{
    char sha[TXM_SHA1_HEX];
    txm_sha1 *h = txm_sha1_new();
    for (int again = 0; again < 2; again++) {
        txm_sha1_add(h, "a", 1);
        txm_sha1_add(h, "bc", 2);
        txm_sha1_finish(h, sha);
        ck_assert_str_eq(sha, "A9993E364706816ABA3E25717850C26C9CD0D89D");
    }
    txm_sha1_free(h);
    ck_assert_uint_eq(txm_xxh64("", 0, 0), 0xEF46DB3751D8E999ull);
}

/* Tests every length around the edges of a block and of the padding, against OpenSSL. */
TEST(md5)
{
    uint8_t data[300];
    char got[TXM_MD5_HEX], want[TXM_MD5_HEX];
    txm_md5_hex("abc", 3, got);
    ck_assert_str_eq(got, "900150983CD24FB0D6963F7D28E17F72");
    txm_md5_hex(NULL, 0, got);
    ck_assert_str_eq(got, "D41D8CD98F00B204E9800998ECF8427E");
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 167 + 13);
    for (size_t bytes = 0; bytes <= sizeof data; bytes++) {
        unsigned char digest[16];
        unsigned digest_bytes = 0;
        ck_assert_int_eq(EVP_Digest(data, bytes, digest, &digest_bytes, EVP_md5(), NULL), 1);
        for (unsigned i = 0; i < digest_bytes; i++)
            snprintf(want + 2 * i, 3, "%02X", digest[i]);
        txm_md5_hex(data, bytes, got);
        ck_assert_msg(!strcmp(got, want), "%zu bytes: %s, not %s", bytes, got, want);
    }
}

/* Tests every length around the edges of a block and of the padding, given in two pieces. */
TEST(two_digests_at_once)
{
    uint8_t a[300], b[300];
    char ha[TXM_SHA1_HEX], hb[TXM_SHA1_HEX], want[TXM_SHA1_HEX];
    txm_sha1_pair pair;
    txm_sha1 *h = txm_sha1_new();
    if (!txm_sha1_pair_available()) {
        printf("skip sha1-pair (this machine has no SHA instructions)\n");
        txm_sha1_free(h);
        return;
    }
    for (size_t i = 0; i < sizeof a; i++) {
        a[i] = (uint8_t)(i * 7);
        b[i] = (uint8_t)(i * i);
    }
    for (size_t n = 0; n <= sizeof a; n++) {
        txm_sha1_pair_begin(&pair);
        txm_sha1_pair_add(&pair, a, b, n / 3);
        txm_sha1_pair_add(&pair, a + n / 3, b + n / 3, n - n / 3);
        txm_sha1_pair_finish(&pair, ha, hb);
        txm_sha1_add(h, a, n);
        txm_sha1_finish(h, want);
        ck_assert_str_eq(ha, want);
        txm_sha1_add(h, b, n);
        txm_sha1_finish(h, want);
        ck_assert_str_eq(hb, want);
    }
    txm_sha1_free(h);
}

#if defined(__x86_64__)
/* Hashes one block of each message. The digest must be that of a message which ends with the length of its first
 * block. */
static void hash_one_block(txm_sha1_pair_blocks *blocks)
{
    static const uint32_t start[5] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    /* "abc" and "abd" as FIPS 180-4 pads them. */
    uint8_t a[64] = {'a', 'b', 'c', 0x80, [63] = 24}, b[64] = {'a', 'b', 'd', 0x80, [63] = 24};
    uint32_t state[2][5];
    char hex[2][TXM_SHA1_HEX], expected[TXM_SHA1_HEX];
    for (int i = 0; i < 2; i++)
        memcpy(state[i], start, sizeof start);
    blocks(state, a, b, 0); /* nothing */
    ck_assert_mem_eq(state[0], start, sizeof start);
    blocks(state, a, b, 1);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 5; k++)
            snprintf(hex[i] + 8 * k, 9, "%08X", state[i][k]);
    ck_assert_str_eq(hex[0], "A9993E364706816ABA3E25717850C26C9CD0D89D"); /* of the standard */
    txm_sha1 *h = txm_sha1_new();
    txm_sha1_add(h, "abd", 3);
    txm_sha1_finish(h, expected);
    txm_sha1_free(h);
    ck_assert_str_eq(hex[1], expected);
}

TEST(sha1_blocks_of_two_messages)
{
    ck_assert_int_eq(txm_cpu_has_sha(), txm_sha1_pair_available());
    if (!txm_cpu_has_sha())
        return;
    hash_one_block(txm_sha1_pair_blocks_shani);
    if (__builtin_cpu_supports("avx512vl"))
        hash_one_block(txm_sha1_pair_blocks_avx512);
}
#endif

TEST(bytes_grow)
{
    txm_bytes b = {0};
    for (int i = 0; i < 1000; i++)
        ck_assert(txm_bytes_printf(&b, "%03d", i));
    ck_assert_uint_eq(b.size, 3000);
    ck_assert_str_eq(b.data + 2997, "999");
    txm_bytes_free(&b);
    ck_assert_ptr_null(b.data);
}

struct nest {
    txm_pool *pool;
    atomic_int *sum;
};

static void leaf(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

/* Like a conversion, this task waits for jobs that it has started itself. */
static void task(void *arg)
{
    struct nest *n = arg;
    txm_group *g = txm_group_new(n->pool);
    for (int i = 0; i < 50; i++) {
        ck_assert(txm_group_submit(g, i % 2, leaf, n->sum));
        txm_group_wait(g, 4);
    }
    txm_group_free(g);
}

TESTS(nested_tasks_finish, 5)
{
    txm_pool *pool = txm_pool_new((unsigned)_i + 1);
    atomic_int sum = 0;
    struct nest n = {pool, &sum};
    txm_group *g = txm_group_new_outer(pool);
    for (int i = 0; i < 40; i++)
        ck_assert(txm_group_submit(g, false, task, &n));
    txm_group_free(g);
    ck_assert_int_eq(sum, 40 * 50);
    txm_pool_free(pool);
}

enum { AWAY = 5 };
struct trip {
    txm_pool *pool;
    pthread_barrier_t away;
    atomic_int computing, most, sum;
};

static void begin_computing(struct trip *t)
{
    int now = atomic_fetch_add(&t->computing, 1) + 1, most = atomic_load(&t->most);
    while (now > most && !atomic_compare_exchange_weak(&t->most, &most, now))
        ;
    nanosleep(&(struct timespec){0, 100000}, NULL);
}

static void part_of_trip(void *arg)
{
    struct trip *t = arg;
    begin_computing(t);
    atomic_fetch_add(&t->sum, 1);
    atomic_fetch_sub(&t->computing, 1);
}

/* Like a conversion on a device, this one computes, waits for jobs of its own, for the device, and for further jobs. */
static void trip(void *arg)
{
    struct trip *t = arg;
    txm_group *g = txm_group_new(t->pool);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++)
            ck_assert(txm_group_submit(g, false, part_of_trip, t));
        txm_group_wait(g, (size_t)i % 2);
        begin_computing(t);
        atomic_fetch_sub(&t->computing, 1);
        txm_pool_leave(t->pool);
        if (i == 1)
            pthread_barrier_wait(&t->away);
        txm_pool_return(t->pool);
        begin_computing(t);
        atomic_fetch_sub(&t->computing, 1);
        while (txm_pool_help(t->pool))
            ;
    }
    txm_group_free(g);
}

/* Ends only if AWAY jobs are away at the same time; never do more threads compute than the pool has. */
TESTS(jobs_that_are_away_do_not_count, 4)
{
    const int threads = _i + 1;
    struct trip t = {.pool = txm_pool_new((unsigned)threads)};
    pthread_barrier_init(&t.away, NULL, AWAY);
    txm_pool_spare(t.pool, 2);
    txm_pool_spare(t.pool, AWAY);
    txm_pool_spare(t.pool, 1);
    txm_pool_leave(t.pool); /* this thread is in no job */
    txm_pool_return(t.pool);
    txm_group *g = txm_group_new_outer(t.pool);
    for (int i = 0; i < 4 * AWAY; i++)
        ck_assert(txm_group_submit(g, false, trip, &t));
    txm_group_free(g);
    ck_assert_int_eq(t.sum, 4 * AWAY * 16);
    ck_assert_int_le(t.most, threads);
    ck_assert_int_eq(txm_pool_threads(t.pool), threads);
    txm_pool_free(t.pool);
    pthread_barrier_destroy(&t.away);
}

struct order {
    int seen[2000], count;
};
struct step {
    struct order *order;
    int index;
};

static void note(void *arg)
{
    struct step *s = arg;
    s->order->seen[s->order->count++] = s->index; /* no lock is needed: the strand runs one step at a time */
}

TESTS(strands_keep_order, 4)
{
    txm_pool *pool = txm_pool_new(_i / 2 ? 4 : 1);
    txm_group *g = txm_group_new(pool);
    txm_strand *strand = _i % 2 ? txm_strand_new_writer(g) : txm_strand_new(g);
    static struct order order;
    static struct step steps[2000];
    order.count = 0;
    for (int i = 0; i < 2000; i++) {
        steps[i] = (struct step){&order, i};
        ck_assert(txm_strand_submit(strand, note, &steps[i]));
    }
    txm_group_wait(g, 0);
    ck_assert_int_eq(order.count, 2000);
    for (int i = 0; i < 2000; i++)
        ck_assert_int_eq(order.seen[i], i);
    txm_strand_free(strand);
    txm_group_free(g);
    txm_pool_free(pool);
}

static sem_t slow_disk;
static pthread_barrier_t both_compute;

static void write_slowly(void *arg)
{
    (void)arg;
    while (sem_wait(&slow_disk) && errno == EINTR)
        ;
}

static void compute(void *arg)
{
    (void)arg;
    if (pthread_barrier_wait(&both_compute) == PTHREAD_BARRIER_SERIAL_THREAD)
        sem_post(&slow_disk);
}

/* Ends only if two jobs compute at the same time while a writer of a pool of two threads waits for its disk. */
TEST(writers_hold_nobody_up)
{
    txm_pool *pool = txm_pool_new(2);
    txm_group *g = txm_group_new(pool);
    txm_strand *strand = txm_strand_new_writer(g);
    sem_init(&slow_disk, 0, 0);
    pthread_barrier_init(&both_compute, NULL, 2);
    ck_assert(txm_strand_submit(strand, write_slowly, NULL));
    ck_assert(txm_group_submit(g, false, compute, NULL));
    ck_assert(txm_group_submit(g, false, compute, NULL));
    txm_group_wait(g, 0);
    pthread_barrier_destroy(&both_compute);
    sem_destroy(&slow_disk);
    txm_strand_free(strand);
    txm_group_free(g);
    txm_pool_free(pool);
}

/* A machine with more processors than a cpu_set_t holds: the kernel refuses masks that are too short for it. Takes the
 * place of the C library's function in this program. */
static unsigned pretended;

int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set)
{
    if (!pretended)
        return syscall(SYS_sched_getaffinity, pid, bytes, set) < 0 ? -1 : 0;
    if (bytes * 8 < pretended) {
        errno = EINVAL;
        return -1;
    }
    CPU_ZERO_S(bytes, set);
    for (unsigned i = 0; i < pretended; i++)
        CPU_SET_S(i, bytes, set);
    return 0;
}

/* Fewer processors may be usable only if a quota says so, and then it says so for every number of processors. */
TEST(many_processors_are_counted)
{
    pretended = 1 << 19;
    unsigned most = txm_cpu_count();
    pretended = 1500;
    ck_assert_uint_eq(txm_cpu_count(), most < 1500 ? most : 1500);
    pretended = 0;
}

/* If somebody replaces a folder with a link after a file in it was examined and before it is removed, the path leads to
 * another user's file, which must stay. */
TEST(only_the_judged_file_is_removed)
{
    char top[] = "/tmp/txm-core-XXXXXX", text[256];
    struct stat judged, other, folder;
    ck_assert_ptr_nonnull(mkdtemp(top));
    ck_assert_int_eq(chdir(top), 0);
    ck_assert_int_eq(mkdir("ours", 0700) | mkdir("theirs", 0700), 0);
    close(creat("ours/a.tx", 0600));
    close(creat("theirs/a.tx", 0600));
    close(creat("ours/b.tx", 0600));
    ck_assert_int_eq(link("ours/b.tx", "theirs/b.tx"), 0); /* a store makes such links */
    ck_assert_int_eq(stat("ours/a.tx", &judged) | stat("ours/b.tx", &other) | stat("ours", &folder), 0);
    ck_assert_int_eq(rename("ours", "old") | symlink("theirs", "ours"), 0);
    ck_assert_int_eq(txm_file_remove("ours/a.tx", NULL, &judged), TXM_REMOVE_OTHER);
    ck_assert_int_eq(txm_file_remove("ours/a.tx", &folder, &judged), TXM_REMOVE_OTHER);
    ck_assert_int_eq(txm_file_remove("ours/b.tx", &folder, &other), TXM_REMOVE_OTHER);
    ck_assert_int_eq(access("theirs/a.tx", F_OK) | access("theirs/b.tx", F_OK), 0);
    ck_assert_int_eq(txm_file_remove("old/b.tx", &folder, &other), 0);
    ck_assert_int_eq(txm_file_remove("old/a.tx", NULL, &judged), 0);
    ck_assert_int_eq(txm_file_remove("old/a.tx", &folder, &judged), ENOENT);
    ck_assert_int_eq(txm_file_remove("none/a.tx", NULL, &judged), ENOENT);
    snprintf(text, sizeof text, "rm -r %s", top);
    ck_assert_int_eq(chdir("/") | system(text), 0);
}

static void put(const char *root, const char *file, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", root, file);
    for (char *slash = path + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        mkdir(path, 0700);
    }
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

/* The machine, groups of both versions with the groups above them, a container that does not see its group, and files
 * that are missing or unusual. */
TEST(memory_that_is_free)
{
    char root[] = "/tmp/txm-memory-XXXXXX", text[40];
    ck_assert_ptr_nonnull(mkdtemp(root));
    ck_assert_uint_eq(txm_free_memory(root), UINT64_MAX);
    put(root, "proc/meminfo", "MemTotal: 9000 kB\nMemAvailable:    8000 kB\n");
    ck_assert_uint_eq(txm_free_memory(root), 8000 << 10);
    put(root, "proc/self/cgroup", "0::/a/b\n");
    ck_assert_uint_eq(txm_free_memory(root), 8000 << 10);
    put(root, "sys/fs/cgroup/a/b/memory.max", "max\n");
    put(root, "sys/fs/cgroup/a/b/memory.current", "5000\n");
    ck_assert_uint_eq(txm_free_memory(root), 8000 << 10);
    put(root, "sys/fs/cgroup/a/memory.max", "2000000\n");
    put(root, "sys/fs/cgroup/a/memory.current", "1500000\n");
    ck_assert_uint_eq(txm_free_memory(root), 500000);
    put(root, "sys/fs/cgroup/a/memory.stat", "anon 7\ninactive_file 100000\n");
    ck_assert_uint_eq(txm_free_memory(root), 600000);
    put(root, "sys/fs/cgroup/a/b/memory.max", "4000\n");
    ck_assert_uint_eq(txm_free_memory(root), 0);
    put(root, "proc/self/cgroup", "7:cpu,memory:/slurm/job\n1:name=systemd:/x\nnonsense\n0::/none\n");
    put(root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "700000\n");
    put(root, "sys/fs/cgroup/memory/memory.usage_in_bytes", "100000\n");
    ck_assert_uint_eq(txm_free_memory(root), 600000);
    put(root, "sys/fs/cgroup/memory/slurm/job/memory.limit_in_bytes", "9223372036854771712\n");
    ck_assert_uint_eq(txm_free_memory(root), 600000);
    put(root, "proc/meminfo", "MemAvailable: 3 kB\n");
    ck_assert_uint_eq(txm_free_memory(root), 3 << 10);
    ck_assert_uint_gt(txm_free_memory(""), 0);
    snprintf(text, sizeof text, "rm -r %s", root);
    ck_assert_int_eq(system(text), 0);
}
