/* SPDX-License-Identifier: Apache-2.0
 * Decoders that crash, loop or give up cost their image and nothing else. The decoders are those of decoder_module.c.
 */
#include <check.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "source/oiio/picture.h"
#include "source/source.h"
#include "util_check.h"

static char path[64];

static void set_up(void)
{
    char *decoders = txm_asprintf("%s/tests/decoders", getenv("TXM_BUILD"));
    setenv("TXMILL_PLUGINS", decoders, 1);
    setenv("TXMILL_DECODER_SECONDS", "1", 1);
    free(decoders);
    strcpy(path, "/tmp/txm-worker-XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void tear_down(void)
{
    unlink(path);
}

static void order(const char *file, const char *deed)
{
    FILE *f = fopen(file, "wb");
    ck_assert_ptr_nonnull(f);
    fputs(deed, f);
    ck_assert_int_eq(fclose(f), 0);
}

/* Opens, reads, reads again, closes. *who receives the worker's number. */
static txm_status run(const char *file, long *who, txm_error *err)
{
    txm_source *s = NULL;
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
    txm_source_close(&s);
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
    {"loop in open", TXM_STATUS_CORRUPT, "stopped after 1 s of computing"},
    {"loop in read", TXM_STATUS_CORRUPT, "stopped after 1 s of computing"},
    {"killed in read", TXM_STATUS_NO_MEMORY, "killed"},
    {"leave in open", TXM_STATUS_CORRUPT, "gave up"},
    {"leave in read", TXM_STATUS_CORRUPT, "gave up"},
    {"vanish in read", TXM_STATUS_CORRUPT, "gave up"},
    {"fail in open", TXM_STATUS_CORRUPT, "a decoder's words"},
    {"fail in read", TXM_STATUS_CORRUPT, "a row is damaged"},
    {"lie in open", TXM_STATUS_INTERNAL, "makes no sense"},
};

START_TEST(costs_one_image)
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
    ck_assert_msg(before != after, "a worker that failed is used again");
}
END_TEST

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

/* An encoder that calls exit(), as libjpeg does, or worse, costs its picture. */
START_TEST(encoders_cost_one_picture)
{
    static uint8_t pixels[300 * 400 * 3];
    txm_picture picture = {pixels, 300 * 3, 300, 400, 3, TXM_TYPE_U8, encoder_deeds[_i].deed};
    txm_bytes file = {0};
    txm_error err = {0};
    ck_assert_msg(txm_picture_encode_bytes("picture.fake", &picture, &file, &err) == encoder_deeds[_i].status, "%s: %s",
                  encoder_deeds[_i].deed, err.message);
    ck_assert_msg(strstr(err.message, encoder_deeds[_i].words) != NULL, "%s", err.message);
    ck_assert_ptr_null(file.data);
    txm_error_clear(&err);
    picture.colorspace = NULL;
    ck_assert_msg(txm_picture_encode_bytes("picture.fake", &picture, &file, &err) == TXM_OK, "%s", err.message);
    ck_assert_msg(file.size == 7 && memcmp(file.data, "picture", 7) == 0, "%zu bytes", file.size);
    txm_bytes_free(&file);
}
END_TEST

/* What happens while the file is closed is nobody's failure. */
START_TEST(crash_while_closing)
{
    long who = 0, next = 0;
    txm_error err = {0};
    order(path, "crash in close");
    ck_assert_msg(run(path, &who, &err) == TXM_OK, "%s", err.message);
    order(path, "nothing");
    ck_assert_msg(run(path, &next, &err) == TXM_OK, "%s", err.message);
    ck_assert(who != next);
}
END_TEST

START_TEST(a_worker_serves_many_images)
{
    long first = 0, second = 0;
    txm_error err = {0};
    order(path, "nothing");
    ck_assert_msg(run(path, &first, &err) == TXM_OK, "%s", err.message);
    ck_assert_msg(run(path, &second, &err) == TXM_OK, "%s", err.message);
    ck_assert_int_eq(first, second);
    ck_assert_int_ne(first, getpid());
    /* One that was ended while it was idle is replaced. */
    char command[64];
    snprintf(command, sizeof command, "kill -9 %ld; sleep 0.1", first);
    ck_assert_int_eq(system(command), 0);
    ck_assert_msg(run(path, &second, &err) == TXM_OK, "%s", err.message);
    ck_assert_int_ne(first, second);
}
END_TEST

START_TEST(memory_is_limited)
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
END_TEST

static void *in_a_thread(void *arg)
{
    long who;
    for (int i = 0; i < 20; i++)
        if (run(path, &who, arg) != TXM_OK)
            return arg;
    return NULL;
}

/* A thread that blocks every signal starts workers that still obey the limit on computing time. */
START_TEST(limits_with_blocked_signals)
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
END_TEST

START_TEST(several_at_once)
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
END_TEST

/* A relative path means what it means to the caller now, not to the worker when it was started. */
START_TEST(relative_paths)
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
END_TEST

START_TEST(without_standard_files)
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
END_TEST

START_TEST(says_what_is_missing)
{
    long who;
    txm_error err = {0};
    order(path, "nothing");
    setenv("TXMILL_PLUGINS", "/nowhere", 1);
    ck_assert_int_eq(run(path, &who, &err), TXM_STATUS_UNSUPPORTED);
    ck_assert_msg(strstr(err.message, "txmill-oiio-worker is neither in") != NULL, "%s", err.message);
    ck_assert_msg(strstr(err.message, path) != NULL, "%s", err.message);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source_worker");
    TCase *worker = add_case(suite, "worker");
    tcase_add_checked_fixture(worker, set_up, tear_down);
    tcase_add_loop_test(worker, costs_one_image, 0, sizeof deeds / sizeof deeds[0]);
    tcase_add_loop_test(worker, encoders_cost_one_picture, 0, sizeof encoder_deeds / sizeof encoder_deeds[0]);
    add_tests(worker, crash_while_closing, a_worker_serves_many_images, memory_is_limited, limits_with_blocked_signals,
              several_at_once, relative_paths, without_standard_files, says_what_is_missing);
    return run_suite(suite);
}
