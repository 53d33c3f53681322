/* SPDX-License-Identifier: Apache-2.0
 * Decoders that crash, loop or give up fail their image and nothing else. The decoders are those of decoder_module.c.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "mill/source/oiio/worker.h"
#include "mill/source/readers.h"
#include "txmill/picture.h"
#include "util_check.h"

static char path[64];

static void set_up(void)
{
    char *decoders = txm_asprintf("%s/tests/decoders", getenv("TXM_BUILD"));
    setenv("TXMILL_PLUGINS", decoders, 1);
    setenv("TXMILL_DECODER_SECONDS", "1", 1);
    free(decoders);
    strcpy(path, "/tmp/txm-worker-XXXXXX");
    SCOPED(close_descriptor) int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
}

static void tear_down(void)
{
    unlink(path);
}
FIXTURE(set_up, tear_down)

static void order(const char *file, const char *deed)
{
    FILE *f = fopen(file, "wb");
    ck_assert_ptr_nonnull(f);
    fputs(deed, f);
    ck_assert_int_eq(fclose(f), 0);
}

/* Opens, reads, reads again and closes. *who is the worker's process. */
static txm_status run(const char *file, long *who, txm_error *err)
{
    SCOPED(txm_source_close) txm_source *s = NULL;
    uint8_t rows[7 * 20];
    txm_status status = txm_source_open(file, NULL, &s, err);
    if (status != TXM_OK)
        return status;
    const txm_source_info *i = txm_source_info_of(s);
    ck_assert_uint_eq(i->width, 5);
    ck_assert_uint_eq(i->attribute_count, 1);
    ck_assert_str_eq(i->attributes[0].value, "a person");
    *who = atol(i->software);
    status = txm_source_read(s, 0, 3, rows, 20, err);
    if (status == TXM_OK)
        status = txm_source_read(s, 3, 4, rows + 60, 20, err);
    if (status == TXM_OK) {
        for (int y = 0; y < 7; y++)
            ck_assert_int_eq(rows[y * 20 + 14], y);
        status = txm_source_rewind(s, err);
    } else {
        /* A source that failed stays failed and does not hang. */
        ck_assert_int_ne(txm_source_rewind(s, NULL), TXM_OK);
    }
    return status;
}

static const struct {
    const char *deed;
    txm_status status;
    const char *words;
} deeds[] = {
    {"crash in open", TXM_STATUS_CORRUPT, "crashed on it (Segmentation fault)"},
    {"crash in read", TXM_STATUS_CORRUPT, "crashed on it (Segmentation fault)"},
    {"crash in rewind", TXM_STATUS_CORRUPT, "crashed on it (Segmentation fault)"},
    {"loop in read", TXM_STATUS_CORRUPT, "stopped after 1 s of computing"},
    {"killed in read", TXM_STATUS_NO_MEMORY, "killed"},
    {"leave in open", TXM_STATUS_CORRUPT, "gave up"},
    {"leave in read", TXM_STATUS_CORRUPT, "gave up"},
    {"fail in open", TXM_STATUS_CORRUPT, "a decoder's words"},
    {"fail in read", TXM_STATUS_CORRUPT, "a row is damaged"},
    {"lie in open", TXM_STATUS_INTERNAL, "described the image wrongly"},
    {"loop in open", TXM_STATUS_CORRUPT, "stopped after 1 s of computing"}, /* as limits_with_blocked_signals */
};

TESTS(costs_one_image, (int)(sizeof deeds / sizeof deeds[0]) - !thorough())
{
    long before = 0, after = 0, during = 0;
    txm_error err = {0}, none = {0};
    order(path, "nothing");
    ck_assert_msg(run(path, &before, &none) == TXM_OK, "%s", none.message);
    order(path, deeds[_i].deed);
    ck_assert_msg(run(path, &during, &err) == deeds[_i].status, "%s: %s", deeds[_i].deed, err.message);
    ck_assert_msg(strstr(err.message, deeds[_i].words) != NULL, "%s", err.message);
    order(path, "nothing");
    ck_assert_msg(run(path, &after, &none) == TXM_OK, "%s", none.message);
    ck_assert_msg(before != after, "a process whose decoder failed is used again");
}

static const struct {
    const char *deed;
    txm_status status;
    const char *words;
} encoder_deeds[] = {
    {"crash in rows", TXM_STATUS_INTERNAL, "the encoder crashed on it (Segmentation fault)"},
    {"loop in finish", TXM_STATUS_INTERNAL, "the encoder was stopped after 1 s of computing"},
    {"killed in begin", TXM_STATUS_NO_MEMORY, "the encoder was killed"},
    {"leave in finish", TXM_STATUS_NO_MEMORY, "the encoder gave up"},
    {"leave in rows", TXM_STATUS_NO_MEMORY, "the encoder gave up"},
    {"exit in rows", TXM_STATUS_NO_MEMORY, "the encoder gave up"},
    {"fail in rows", TXM_STATUS_INTERNAL, "picture.fake: row: cannot be encoded"},
};

/* If an encoder calls exit(), as libjpeg does, or crashes, only its picture fails. */
TESTS(encoders_cost_one_picture, sizeof encoder_deeds / sizeof encoder_deeds[0])
{
    static uint8_t pixels[300 * 400 * 3];
    txm_picture picture = {pixels, 300 * 3, 300, 400, 3, TXM_TYPE_U8, encoder_deeds[_i].deed};
    FREED unsigned char *file = NULL;
    size_t bytes;
    txm_error err = {0};
    ck_assert_msg(txm_picture_encode("picture.fake", &picture, &file, &bytes, &err) == encoder_deeds[_i].status,
                  "%s: %s", encoder_deeds[_i].deed, err.message);
    ck_assert_msg(strstr(err.message, encoder_deeds[_i].words) != NULL, "%s", err.message);
    ck_assert_ptr_null(file);
    picture.colorspace = NULL;
    ck_assert_msg(txm_picture_encode("picture.fake", &picture, &file, &bytes, &err) == TXM_OK, "%s", err.message);
    ck_assert_msg(bytes == 7 && memcmp(file, "picture", 7) == 0, "%zu bytes", bytes);
}

/* The children of this thread, as text. */
static void children(char *out, size_t capacity)
{
    FILE *f = fopen("/proc/thread-self/children", "r");
    size_t n = f ? fread(out, 1, capacity - 1, f) : 0;
    out[n] = 0;
    if (f)
        fclose(f);
}

/* The libraries are not loaded again after a damaged image: the worker stays, and only the process in it is another. */
TEST(damage_costs_no_worker)
{
    char before[256], after[256];
    long first = 0, second = 0;
    txm_error err = {0};
    order(path, "nothing");
    ck_assert_msg(run(path, &first, &err) == TXM_OK, "%s", err.message);
    children(before, sizeof before);
    for (int i = 0; i < 4; i++) {
        order(path, i % 2 ? "fail in open" : "fail in read");
        ck_assert_int_eq(run(path, &second, NULL), TXM_STATUS_CORRUPT);
    }
    order(path, "nothing");
    ck_assert_msg(run(path, &second, &err) == TXM_OK, "%s", err.message);
    children(after, sizeof after);
    ck_assert_int_ne(first, second);
    ck_assert_str_eq(before, after);
}

/* Failures while the file is closed are ignored. */
TEST(crash_while_closing)
{
    long who = 0, next = 0;
    txm_error err = {0};
    order(path, "crash in close");
    ck_assert_msg(run(path, &who, &err) == TXM_OK, "%s", err.message);
    order(path, "nothing");
    ck_assert_msg(run(path, &next, &err) == TXM_OK, "%s", err.message);
    ck_assert(who != next);
}

TEST(a_worker_serves_many_images)
{
    long first = 0, second = 0;
    txm_error err = {0};
    order(path, "nothing");
    ck_assert_msg(run(path, &first, &err) == TXM_OK, "%s", err.message);
    ck_assert_msg(run(path, &second, &err) == TXM_OK, "%s", err.message);
    ck_assert_int_eq(first, second);
    ck_assert_int_ne(first, getpid());
    /* A worker that ended while it was idle is replaced. */
    char command[64];
    snprintf(command, sizeof command, "kill -9 %ld; sleep 0.1", first);
    ck_assert_int_eq(system(command), 0);
    ck_assert_msg(run(path, &second, &err) == TXM_OK, "%s", err.message);
    ck_assert_int_ne(first, second);
}

TEST(memory_is_limited)
{
#ifdef __SANITIZE_ADDRESS__
    printf("skip memory limit (not with AddressSanitizer)\n");
#else
    txm_source_options options = {.max_memory_bytes = 64 << 20};
    txm_source *s = NULL;
    txm_error err = {0};
    order(path, "eat in open");
    ck_assert_int_eq(txm_source_open(path, &options, &s, &err), TXM_STATUS_NO_MEMORY);
    ck_assert_ptr_nonnull(strstr(err.message, "no memory is left"));
#endif
}

static void *in_a_thread(void *arg)
{
    long who;
    for (int i = 0; i < 20; i++)
        if (run(path, &who, arg) != TXM_OK)
            return arg;
    return NULL;
}

/* A thread that blocks every signal starts workers that still obey the limit on processor time. */
TEST(limits_with_blocked_signals)
{
    sigset_t all, before;
    long who;
    txm_error err = {0};
    order(path, "loop in open");
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    txm_status status = run(path, &who, &err);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    ck_assert_msg(status == TXM_STATUS_CORRUPT && strstr(err.message, "of computing"), "%s", err.message);
}

TEST(several_at_once)
{
    pthread_t threads[4];
    txm_error errors[4] = {0};
    order(path, "nothing");
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, in_a_thread, &errors[i]), 0);
    for (int i = 0; i < 4; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        ck_assert_msg(!failed, "%s", errors[i].message);
    }
}

/* A relative path is relative to the caller's current folder, and not to that of the worker when it was started. */
TEST(relative_paths)
{
    long who;
    txm_error err = {0};
    char folder[] = "/tmp/txm-cwd-XXXXXX";
    order(path, "nothing");
    ck_assert_msg(run(path, &who, &err) == TXM_OK, "%s", err.message);
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(chdir(folder), 0);
    order("here.img", "nothing");
    ck_assert_msg(run("here.img", &who, &err) == TXM_OK, "%s", err.message);
    unlink("here.img");
    ck_assert_int_eq(chdir("/"), 0);
    rmdir(folder);
}

TEST(without_standard_files)
{
    long who;
    txm_error err = {0};
    order(path, "nothing");
    close(0);
    close(1);
    close(2);
    txm_status status = run(path, &who, &err);
    ck_assert_msg(status == TXM_OK, "%s", err.message);
}

TEST(says_what_is_missing)
{
    long who;
    txm_error err = {0};
    order(path, "nothing");
    setenv("TXMILL_PLUGINS", "/nowhere", 1);
    ck_assert_int_eq(run(path, &who, &err), TXM_STATUS_NOT_INSTALLED);
    ck_assert_msg(strstr(err.message, "txmill-oiio-worker is neither in") != NULL, "%s", err.message);
    ck_assert_msg(strstr(err.message, path) != NULL, "%s", err.message);
}

/* ---- the protocol, and the reader over it ------------------------------------------------------------------------ */

static txm_worker_request request_of(txm_worker_op op)
{
    return (txm_worker_request){.version = TXM_WORKER_VERSION, .op = op, .cpu_seconds = 5};
}

/* Makes a worker open the file. `who` is its process, as the decoder reports it. */
static txm_status open_by(txm_worker *w, txm_worker_reply *reply, long *who, txm_error *err)
{
    txm_worker_request r = request_of(TXM_WORKER_OPEN);
    txm_source_info info;
    char text[64];
    r.cwd_bytes = 1;
    r.path_bytes = (uint32_t)strlen(path);
    txm_status status = txm_worker_send(w, &r, "/", path, err);
    if (status == TXM_OK)
        status = txm_worker_receive(w, reply, sizeof *reply, path, err);
    if (status != TXM_OK || reply->status != TXM_OK)
        return status;
    ck_assert_uint_eq(reply->text_bytes, sizeof "Artist" + sizeof "a person");
    status = txm_worker_receive(w, text, reply->text_bytes, path, err);
    ck_assert_mem_eq(text, "Artist\0a person", reply->text_bytes);
    if (status == TXM_OK)
        status = txm_worker_receive(w, &info, sizeof info, path, err);
    *who = atol(info.software);
    return status;
}

TEST(limits_on_computing_time_come_from_the_environment)
{
    static const struct {
        const char *word;
        uint32_t seconds;
    } cases[] = {{"7", 7}, {"0", 60}, {"-3", 60}, {"many", 60}, {"99999999", 60}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("TXMILL_DECODER_SECONDS", cases[i].word, 1);
        ck_assert_uint_eq(txm_worker_seconds(60.9), cases[i].seconds);
    }
    unsetenv("TXMILL_DECODER_SECONDS");
    ck_assert_uint_eq(txm_worker_seconds(60.9), 60);
}

TEST(healthy_workers_serve_again)
{
    txm_worker *a = NULL, *b = NULL;
    txm_worker_reply reply;
    txm_error err = {0};
    long first = 0, second = 0, third = 0;
    order(path, "nothing");
    ck_assert_msg(txm_worker_get(&a, &err) == TXM_OK, "%s", err.message);
    ck_assert_msg(open_by(a, &reply, &first, &err) == TXM_OK, "%s", err.message);
    txm_worker_put(a, true);
    ck_assert_int_eq(txm_worker_get(&b, &err), TXM_OK);
    ck_assert_int_eq(open_by(b, &reply, &second, &err), TXM_OK);
    ck_assert_int_eq(first, second);
    txm_worker_put(b, false);
    ck_assert_int_eq(kill((pid_t)first, 0), -1); /* it has ended, and nothing of it is left */
    ck_assert_int_eq(txm_worker_get(&a, &err), TXM_OK);
    ck_assert_int_eq(open_by(a, &reply, &third, &err), TXM_OK);
    ck_assert_int_ne(third, first);
    /* A worker that died while it was idle is not used. */
    txm_worker_put(a, true);
    ck_assert_int_eq(kill((pid_t)third, SIGKILL), 0);
    siginfo_t how;
    ck_assert_int_eq(waitid(P_ALL, 0, &how, WEXITED | WNOWAIT), 0);
    ck_assert_int_eq(txm_worker_get(&b, &err), TXM_OK);
    ck_assert_int_eq(open_by(b, &reply, &first, &err), TXM_OK);
    ck_assert_int_ne(first, third);
    txm_worker_put(b, false);
    txm_worker_put(NULL, true);
}

TEST(requests_of_another_version_are_refused)
{
    txm_worker *w = NULL;
    txm_worker_reply reply;
    txm_error err = {0};
    txm_worker_request r = request_of(TXM_WORKER_OPEN);
    char text[512] = "";
    r.version++;
    r.path_bytes = (uint32_t)strlen(path);
    ck_assert_int_eq(txm_worker_get(&w, &err), TXM_OK);
    ck_assert_int_eq(txm_worker_send(w, &r, "", path, &err), TXM_OK);
    ck_assert_int_eq(txm_worker_receive(w, &reply, sizeof reply, path, &err), TXM_OK);
    ck_assert_int_eq(reply.status, TXM_STATUS_UNSUPPORTED);
    ck_assert_uint_lt(reply.text_bytes, sizeof text);
    ck_assert_int_eq(txm_worker_receive(w, text, reply.text_bytes, path, &err), TXM_OK);
    ck_assert_msg(strstr(text, "another version") != NULL, "%s", text);
    txm_worker_put(w, true);
}

/* Each of these ends the worker: the parent reports that it gave up, and for which file. */
TEST(requests_out_of_step_end_the_worker)
{
    static const txm_worker_request odd[] = {
        {.op = TXM_WORKER_READ, .rows = 1}, /* before there is an image */
        {.op = TXM_WORKER_REWIND},
        {.op = TXM_WORKER_AS_HALF},
        {.op = 99},
        {.op = TXM_WORKER_OPEN, .path_bytes = UINT32_MAX},
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        txm_worker *w = NULL;
        txm_worker_reply reply;
        txm_error err = {0};
        txm_worker_request r = odd[i];
        r.version = TXM_WORKER_VERSION;
        r.cpu_seconds = 5;
        ck_assert_int_eq(txm_worker_get(&w, &err), TXM_OK);
        ck_assert_int_eq(txm_worker_send_bytes(w, &r, sizeof r, "odd", &err), TXM_OK);
        ck_assert_int_eq(txm_worker_receive(w, &reply, sizeof reply, "odd", &err), TXM_STATUS_CORRUPT);
        ck_assert_msg(strstr(err.message, "odd: the decoder gave up") != NULL, "case %zu: %s", i, err.message);
        txm_worker_put(w, true); /* it is known to have ended */
    }
}

/* Calls the reader's own functions, without source.c. */
TEST(the_reader_passes_rows_on)
{
    const txm_source_options none = {0};
    txm_source_info info = {0};
    void *self = NULL;
    uint8_t rows[7 * 20];
    txm_error err = {0};
    order(path, "nothing");
    ck_assert_msg(txm_oiio_reader.open(path, &none, &info, &self, &err) == TXM_OK, "%s", err.message);
    ck_assert(info.width == 5 && info.height == 7 && info.channels == 3 && info.attribute_count == 1);
    memset(rows, 0xA5, sizeof rows);
    ck_assert_int_eq(txm_oiio_reader.read(self, 0, 7, rows, 20, &err), TXM_OK);
    for (int y = 0; y < 7; y++)
        ck_assert(rows[y * 20] == y && rows[y * 20 + 14] == y && rows[y * 20 + 15] == 0xA5 &&
                  rows[y * 20 + 19] == 0xA5);
    ck_assert_int_eq(txm_oiio_reader.rewind(self, &err), TXM_OK);
    ck_assert_int_ne(txm_oiio_reader.as_half(self, &err), TXM_OK); /* nothing was narrowed */
    txm_oiio_reader.close(self);
    txm_oiio_reader.close(NULL);
    txm_source_forget(&info);
}

TEST(the_reader_refuses_what_cannot_be)
{
    static const char *const deeds_in_open[] = {"lie in open", "fail in open", "crash in open"};
    const txm_source_options none = {0};
    txm_error err = {0};
    void *self = NULL;
    for (int i = 0; i < 3; i++) {
        txm_source_info info = {0};
        order(path, deeds_in_open[i]);
        ck_assert_int_ne(txm_oiio_reader.open(path, &none, &info, &self, &err), TXM_OK);
        ck_assert(!self && strstr(err.message, path));
        txm_source_forget(&info);
        txm_error_clear(&err);
    }
    txm_source_info info = {0};
    ck_assert_int_eq(txm_oiio_reader.open("/nowhere/at.all", &none, &info, &self, &err), TXM_STATUS_NOT_FOUND);
}
