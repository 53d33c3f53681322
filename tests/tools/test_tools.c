/* SPDX-License-Identifier: Apache-2.0
 * What the commands share: exit codes, JSON of any bytes, rounded numbers, progress. */
#include <cjson/cJSON.h>
#include <fcntl.h>
#include <math.h>

#include "base/fail.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/progress.h"
#include "tools/output/say.h"
#include "util_check.h"

/* ---- exit codes -------------------------------------------------------------------------------------------------- */

static txm_exit exit_after(const txm_status *statuses, size_t count)
{
    txm_tally tally = {0};
    for (size_t i = 0; i < count; i++)
        txm_tally_add(&tally, statuses[i]);
    ck_assert_uint_eq(tally.total, count);
    return txm_tally_exit(&tally);
}
#define EXIT_AFTER(...)                                                                                                \
    exit_after((const txm_status[]){__VA_ARGS__}, sizeof((const txm_status[]){__VA_ARGS__}) / sizeof(txm_status))

TEST(test_exit_codes)
{
    ck_assert_int_eq(EXIT_AFTER(TXM_OK, TXM_OK), TXM_EXIT_OK);
    ck_assert_int_eq(EXIT_AFTER(TXM_OK, TXM_STATUS_CORRUPT), TXM_EXIT_FAILED);
    ck_assert_int_eq(EXIT_AFTER(TXM_STATUS_NOT_FOUND), TXM_EXIT_FAILED);
    ck_assert_int_eq(EXIT_AFTER(TXM_STATUS_COLORSPACE), TXM_EXIT_FAILED);
    ck_assert_int_eq(EXIT_AFTER(TXM_STATUS_CORRUPT, TXM_STATUS_DISK_FULL), TXM_EXIT_RETRY);
    ck_assert_int_eq(EXIT_AFTER(TXM_STATUS_IO), TXM_EXIT_RETRY);
    ck_assert_int_eq(EXIT_AFTER(TXM_STATUS_INTERNAL, TXM_STATUS_CORRUPT), TXM_EXIT_INTERNAL);
    ck_assert_int_eq(EXIT_AFTER(TXM_STATUS_INTERNAL, TXM_STATUS_LOCKED), TXM_EXIT_RETRY);
    ck_assert_int_eq(EXIT_AFTER(TXM_STATUS_USAGE), TXM_EXIT_USAGE);
    txm_tally findings = {.total = 1, .findings = true};
    ck_assert_int_eq(txm_tally_exit(&findings), TXM_EXIT_FINDINGS);
    txm_tally_add(&findings, TXM_STATUS_CORRUPT);
    ck_assert_int_eq(txm_tally_exit(&findings), TXM_EXIT_FAILED);
}

TEST(test_exit_texts)
{
    static const int codes[] = {0, 1, 2, 3, 4, 5, 129, 130, 143, 152};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        ck_assert_ptr_nonnull(txm_exit_text(codes[i]));
    ck_assert_ptr_null(txm_exit_text(6));
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

/* Returns the object as text and frees it. */
static char *text_of(cJSON *o)
{
    char *text = cJSON_PrintUnformatted(o);
    ck_assert_ptr_nonnull(text);
    cJSON_Delete(o);
    return text;
}

static void expect_text(const char *bytes, const char *json)
{
    cJSON *o = cJSON_CreateObject();
    txm_json_text(o, "a", bytes);
    FREED char *text = text_of(o);
    ck_assert_str_eq(text, json);
}

TEST(test_json_text)
{
    expect_text("plain", "{\"a\":\"plain\"}");
    expect_text("", "{\"a\":\"\"}");
    expect_text(NULL, "{\"a\":null}");
    expect_text("\"\\\n\x01", "{\"a\":\"\\\"\\\\\\n\\u0001\"}");
    expect_text("h\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x8E\xA8", "{\"a\":\"h\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x8E\xA8\"}");
}

#define FFFD "\xEF\xBF\xBD"

TEST(test_json_bad_utf8)
{
    expect_text("caf\xE9.png", "{\"a\":\"caf" FFFD ".png\",\"a_encoded\":\"caf%E9.png\"}");
    expect_text("\xFF /%", "{\"a\":\"" FFFD " /%\",\"a_encoded\":\"%FF%20/%25\"}");
    expect_text("\xC3", "{\"a\":\"" FFFD "\",\"a_encoded\":\"%C3\"}");
    /* Overlong '/', a surrogate, beyond U+10FFFF, a cut sequence: each byte is replaced by itself. */
    expect_text("\xC0\xAF", "{\"a\":\"" FFFD FFFD "\",\"a_encoded\":\"%C0%AF\"}");
    expect_text("\xE0\x80\xAF", "{\"a\":\"" FFFD FFFD FFFD "\",\"a_encoded\":\"%E0%80%AF\"}");
    expect_text("\xED\xA0\x80", "{\"a\":\"" FFFD FFFD FFFD "\",\"a_encoded\":\"%ED%A0%80\"}");
    expect_text("\xF4\x90\x80\x80", "{\"a\":\"" FFFD FFFD FFFD FFFD "\",\"a_encoded\":\"%F4%90%80%80\"}");
    expect_text("\xE2\x82z", "{\"a\":\"" FFFD FFFD "z\",\"a_encoded\":\"%E2%82z\"}");
}

/* What a terminal obeys, or shows in another order, is escaped in a line of output; names of members too. */
TEST(test_json_escapes)
{
    cJSON *o = cJSON_CreateObject();
    txm_json_text(o, "a\xC2\x9B", "\xC2\x9B\x7F\xE2\x80\xAE\\\xE2\x81\xA6\xC3\xA9\xD8\x9C");
    char *text = txm_json_take(o);
    ck_assert_str_eq(text, "{\"a\\u009b\":\"\\u009b\\u007f\\u202e\\\\\\u2066\xC3\xA9\\u061c\"}");
    free(text);
    o = cJSON_CreateObject();
    txm_json_text(o, "a", "\xE2\x80\xAF");
    text = txm_json_take(o);
    ck_assert_str_eq(text, "{\"a\":\"\xE2\x80\xAF\"}");
    free(text);
}

TEST(test_json_numbers)
{
    cJSON *o = cJSON_CreateObject();
    txm_json_uint(o, "max", UINT64_MAX);
    txm_json_uint(o, "exact", 9007199254740993u);
    txm_json_number(o, "half", 0.5, 7);
    txm_json_number(o, "nan", NAN, 7);
    txm_json_number(o, "inf", -INFINITY, 7);
    txm_json_bool(o, "yes", true);
    cJSON *list = txm_json_array(o, "list");
    txm_json_append_number(list, 1e30, 7);
    txm_json_append_number(list, NAN, 7);
    txm_json_uint(txm_json_append(list), "n", 3);
    FREED char *text = text_of(o);
    ck_assert_str_eq(text, "{\"max\":18446744073709551615,\"exact\":9007199254740993,\"half\":0.5,\"nan\":null,"
                           "\"inf\":null,\"yes\":true,\"list\":[1e+30,null,{\"n\":3}]}");
}

TEST(test_json_error)
{
    txm_error err = {0};
    cJSON *o = cJSON_CreateObject();
    txm_fail(&err, TXM_STATUS_DISK_FULL, "a.tx: full");
    txm_json_error(o, &err);
    FREED char *text = text_of(o);
    ck_assert_str_eq(text, "{\"error\":{\"status\":\"disk-full\",\"retryable\":true,\"message\":\"a.tx: full\"}}");
}

/* ---- numbers for people ------------------------------------------------------------------------------------------ */

TEST(test_formats)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } sizes[] = {{0, "0 B"},         {999, "999 B"},      {1000, "1.0 kB"},       {999949, "999.9 kB"},
                 {999950, "1.0 MB"}, {1234567, "1.2 MB"}, {5000000000, "5.0 GB"}, {UINT64_MAX, "18446744.1 TB"}};
    static const struct {
        double seconds;
        const char *text;
    } times[] = {{0.0042, "4 ms"},        {0.42, "0.42 s"},     {12.34, "12.3 s"},   {61, "1 min 01 s"},
                 {3599.9, "59 min 59 s"}, {0, "0 ms"},          {59.9, "59.9 s"},    {59.97, "1 min 00 s"},
                 {180, "3 min 00 s"},     {3600, "1 h 00 min"}, {7384, "2 h 03 min"}};
    char out[TXM_FORMAT_BYTES];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        ck_assert_str_eq(txm_format_bytes(sizes[i].bytes, out), sizes[i].text);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        ck_assert_str_eq(txm_format_seconds(times[i].seconds, out), times[i].text);
    ck_assert_str_eq(txm_format_channels(1), "grey");
    ck_assert_str_eq(txm_format_channels(4), "RGBA");
    ck_assert_str_eq(txm_format_channels(99), "no channels");
}

/* ---- messages and progress --------------------------------------------------------------------------------------- */

static char path[] = "/tmp/txm-stderr-XXXXXX";
static int saved;

/* From here to released(), stderr is a file. */
static void capture(void)
{
    memcpy(path + strlen(path) - 6, "XXXXXX", 6);
    SCOPED(close_descriptor) int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    saved = dup(STDERR_FILENO);
    ck_assert_int_ge(dup2(fd, STDERR_FILENO), 0);
}

static const char *released(void)
{
    static char text[20000];
    dup2(saved, STDERR_FILENO);
    close(saved);
    FILE *f = fopen(path, "r");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    unlink(path);
    return text;
}

TEST(test_messages)
{
    capture();
    txm_say(TXM_SAY_ERROR, "%s: bad", "a\nTXMILL-ERROR code=0\x1b[31m");
    txm_say(TXM_SAY_WARNING, "careful");
    txm_say(TXM_SAY_DETAIL, "not shown");
    txm_say_set_level(TXM_SAY_ERROR);
    txm_say(TXM_SAY_WARNING, "not shown");
    txm_say_set_level(TXM_SAY_DETAIL);
    txm_say(TXM_SAY_DETAIL, "h\xC3\xA9");
    txm_say_status("never on a file");
    ck_assert_str_eq(released(), "txmill: error: a\\nTXMILL-ERROR code=0\\x1B[31m: bad\ntxmill: warning: careful\n"
                                 "txmill: h\xC3\xA9\n");
}

TEST(test_long_message)
{
    char *big = malloc(100001);
    memset(big, '\n', 100000);
    big[100000] = 0;
    capture();
    txm_say(TXM_SAY_ERROR, "%s", big);
    free(big);
    const char *text = released();
    ck_assert_uint_lt(strlen(text), 5000);
    ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1);
}

TEST(test_last_line)
{
    txm_tally tally = {0};
    txm_tally_add(&tally, TXM_OK);
    txm_tally_add(&tally, TXM_STATUS_CORRUPT);
    capture();
    int code = txm_finish(&tally);
    /* Each kind of failure comes with advice, followed by the line for scripts. */
    const char *text = released(), *last = strstr(text, "TXMILL-ERROR");
    ck_assert_str_eq(last ? last : text, "TXMILL-ERROR code=3 failed=1 total=2\n");
    ck_assert_ptr_nonnull(strstr(text, "damaged or truncated"));
    ck_assert_int_eq(code, 3);
    capture();
    code = txm_finish(&(txm_tally){.total = 5});
    ck_assert_str_eq(released(), "");
    ck_assert_int_eq(code, 0);
}

static txm_batch_file progress_file(size_t index, const txm_input *input, double seconds, double megapixels)
{
    return (txm_batch_file){.index = index, .input = input, .cost = {megapixels, 0, seconds}};
}

TEST(test_progress)
{
    txm_progress p;
    const txm_input input = {.path = "a"};
    const txm_batch_file a = progress_file(0, &input, 3, 20), b = progress_file(2, &input, 1, 4);
    const txm_batch_file nothing = progress_file(1, &input, 0, 0);
    capture();
    txm_progress_init(&p, 3, true, false);
    txm_progress_planned(&p, &(txm_batch_totals){.inputs = 3, .to_create = 2, .cost = {24, 0, 4}});
    txm_progress_done(&p, &nothing);
    txm_progress_begin(&p, &a);
    txm_progress_begin(&p, &b);
    txm_progress_rows(&p, 0, 50, 100);
    txm_progress_rows(&p, 0, 50, 100); /* nothing new, so no line */
    txm_progress_rows(&p, 2, 100, 100);
    txm_progress_rows(&p, 0, 10, 100); /* a second attempt starts again, but the figure never goes back */
    txm_progress_done(&p, &a);
    txm_progress_rows(&p, 2, 0, 0);
    txm_progress_done(&p, &b);
    txm_progress_end(&p);
    ck_assert_str_eq(released(), "txmill: progress 0% (1 of 3 files, 0 of 24 MP)\n"
                                 "txmill: progress 37% (1 of 3 files, 10 of 24 MP)\n"
                                 "txmill: progress 61% (1 of 3 files, 14 of 24 MP)\n"
                                 "txmill: progress 99% (2 of 3 files, 24 of 24 MP)\n"
                                 "txmill: progress 100% (3 of 3 files, 24 of 24 MP)\n");
    capture();
    txm_progress_init(&p, 1, false, false);
    txm_progress_begin(&p, &a);
    txm_progress_rows(&p, 0, 1, 1);
    txm_progress_done(&p, &a);
    txm_progress_end(&p);
    ck_assert_str_eq(released(), "");
}
