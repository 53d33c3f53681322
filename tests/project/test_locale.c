/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that has set its locale gets the same names, files and verdicts as one that has not. The locales are built
 * here from their sources, so that the test does not depend on which ones are installed.
 */
#include <locale.h>
#include <sys/time.h>

#include "base/mem.h"
#include "base/text.h"
#include "mill/source/source.h"
#include "txmill/convert.h"
#include "txmill/inspect.h"
#include "txtile/cache.h"
#include "txtile/describe.h"
#include "util_check.h"
#include "util_tx.h"

/* German writes 0,5. In Turkish the upper case of "i" is not "I". */
static const char *const locales[] = {"de_DE", "tr_TR"};
enum { LOCALES = sizeof locales / sizeof *locales };
static bool made[LOCALES];

static void make_locales(void)
{
    char folder[512], command[1400];
    snprintf(folder, sizeof folder, "%s", temp_file("locales"));
    snprintf(command, sizeof command, "mkdir -p %s", folder);
    if (system(command) != 0)
        return;
    for (int i = 0; i < LOCALES; i++) {
        snprintf(command, sizeof command, "localedef -i %s -f UTF-8 %s/%s.UTF-8 >%s/log 2>&1", locales[i], folder,
                 locales[i], folder);
        made[i] = system(command) == 0;
        if (!made[i])
            printf("skip locale %s (localedef cannot make it: package locales)\n", locales[i]);
    }
    setenv("LOCPATH", folder, 1);
}

static bool enter(int i)
{
    char name[32];
    if (!made[i])
        return false;
    snprintf(name, sizeof name, "%s.UTF-8", locales[i]);
    ck_assert_msg(setlocale(LC_ALL, name) != NULL, "%s cannot be set", name);
    return true;
}

static void leave(void)
{
    setlocale(LC_ALL, "C");
}

TESTS(test_numbers_and_letters, LOCALES)
{
    char text[64], *end;
    if (!enter(_i))
        return;
    if (_i == 0) {
        snprintf(text, sizeof text, "%.2f", 0.5);
        ck_assert_str_eq(text, "0,50"); /* otherwise this test would prove nothing */
    }
    ck_assert_int_eq(txm_format(text, sizeof text, "%.2f %g", 0.5, 1e-9), 10);
    ck_assert_str_eq(text, "0.50 1e-09");
    ck_assert(txm_parse_float("0.25,", &end) == 0.25f && *end == ',');
    ck_assert(txm_parse_double("-1.5e3x", &end) == -1500.0 && *end == 'x');
    ck_assert_int_eq(txm_casecmp("IMAGE-ID", "image-id"), 0);
    ck_assert_int_eq(txm_ncasecmp("TIFF.i", "tiff.x", 5), 0);
    ck_assert_int_ne(txm_casecmp("\xc3\x84", "\xc3\xa4"), 0); /* letters beyond ASCII have no case */
    if (_i == 0) {
        snprintf(text, sizeof text, "%.2f", 0.5);
        ck_assert_str_eq(text, "0,50"); /* the program's own locale is unchanged */
    }
    leave();
}

static const struct {
    const char *source, *colorspace;
} images[] = {
    {"rgb8.png", "sRGB"},
    {"half-rgb.exr", "Linear Rec.709"},
    {"rgb8.png", "acescg"}, /* converted; the name has the wrong case */
};
enum { IMAGES = sizeof images / sizeof *images };

/* Makes the tx file of one image where Cycles looks for it, verifies it deeply, and returns its path: free() it. */
static char *make_one(int i)
{
    const char *data = getenv("TXM_TESTDATA");
    char source[600];
    size_t bytes;
    SCOPED(txm_context_free) txm_context *context = NULL;
    txm_error err = {0};
    const txm_context_options options = {.struct_size = sizeof(txm_context_options), .threads = 1};
    snprintf(source, sizeof source, "%s/golden/%s", data ? data : "testdata", images[i].source);
    uint8_t *image = load_file(source, &bytes);
    snprintf(source, sizeof source, "%s", temp_file(images[i].source));
    save_file(source, image, bytes);
    /* The time is part of the file. */
    ck_assert(!utimes(source, (const struct timeval[2]){{1000000000, 0}, {1000000000, 0}}));
    free(image);

    ck_assert_msg(!txm_context_new(&options, &context, &err), "%s", err.message);
    txm_settings settings;
    txm_settings_init(&settings);
    settings.colorspace = images[i].colorspace;
    const txm_convert_options force = {.struct_size = sizeof(txm_convert_options), .force = true};
    txm_result result;
    ck_assert_msg(!txm_convert(context, source, &settings, &force, &result, &err), "%s", err.message);
    txm_findings findings = {0};
    const txm_verify_options deep = {.struct_size = sizeof(txm_verify_options), .deep = true};
    ck_assert_msg(!txm_verify(context, result.tx_path, &deep, &findings, &err), "%s", err.message);
    for (size_t n = 0; n < findings.count; n++)
        ck_assert_msg(findings.items[n].kind->severity == TXM_SEVERITY_NOTE, "%s", findings.items[n].text);
    txm_findings_clear(&findings);
    char *path = txm_strdup(result.tx_path);
    txm_result_clear(&result);
    return path;
}

TESTS(test_files_and_names, LOCALES *IMAGES)
{
    size_t bytes, other_bytes;
    FREED char *plain = make_one(_i % IMAGES);
    FREED uint8_t *a = load_file(plain, &bytes);
    if (enter(_i / IMAGES)) {
        FREED char *other = make_one(_i % IMAGES);
        ck_assert_str_eq(plain, other);
        FREED uint8_t *b = load_file(other, &other_bytes);
        ck_assert_uint_eq(bytes, other_bytes);
        ck_assert_mem_eq(a, b, bytes);
    }
    leave();
}

/* The metadata of a file mean the same in every locale. */
TESTS(test_metadata, LOCALES *IMAGES)
{
    FREED char *path = make_one(_i % IMAGES);
    SCOPED(txm_tx_close) txm_tx *tx = open_tx(path);
    txm_tx_description plain, other;
    ck_assert(!txm_tx_describe(tx, &plain, NULL));
    ck_assert_uint_gt(plain.average_count, 0);
    if (enter(_i / IMAGES)) {
        ck_assert(!txm_tx_describe(tx, &other, NULL));
        ck_assert_uint_eq(plain.average_count, other.average_count);
        ck_assert_mem_eq(plain.average, other.average, sizeof plain.average);
        ck_assert_int_eq(plain.format_version, other.format_version);
        txm_tx_description_free(&other);
    }
    leave();
    txm_tx_description_free(&plain);
}

TESTS(test_radiance_gamma, LOCALES)
{
    static const char file[] = "#?RADIANCE\nGAMMA=0.4545\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 1\n\x80\x80\x80\x81";
    char path[512];
    snprintf(path, sizeof path, "%s", temp_file("gamma.hdr"));
    save_file(path, file, sizeof file - 1);
    if (!enter(_i))
        return;
    txm_source *source = NULL;
    txm_error err = {0};
    ck_assert_msg(!txm_source_open(path, NULL, &source, &err), "%s", err.message);
    ck_assert_str_eq(txm_source_info_of(source)->colorspace_hint, "g22_rec709_scene");
    txm_source_close(&source);
    leave();
}

/* Numbers in messages, and in the report of a texture cache. */
TESTS(test_messages_and_reports, LOCALES)
{
    if (!enter(_i))
        return;
    txm_error err;
    txm_cache *cache = NULL;
    txm_cache_options options;
    txm_cache_options_init(&options);
    options.resolution = 1.5f;
    ck_assert_int_eq(txm_cache_new(&options, &cache, &err), TXM_STATUS_USAGE);
    ck_assert_msg(strstr(err.message, "1.5") != NULL, "%s", err.message);
    ck_assert_int_eq(txm_cache_new(NULL, &cache, &err), TXM_OK);
    char *report = txm_cache_report(cache, TXM_CACHE_REPORT_FORMAT_TEXT);
    ck_assert_msg(strstr(report, "0.0") != NULL && !strstr(report, "0,0"), "%s", report);
    free(report);
    txm_cache_free(&cache);
    leave();
}

int main(void)
{
    make_locales();
    return run_tests();
}
