/* SPDX-License-Identifier: Apache-2.0
 *
 * Parity with Blender: every row of testdata/golden/manifest.tsv, converted with --strict and the golden config, must
 * give the file that Blender's own code made: name, container, type, size, averages, SHA-1, level 0 to the bit
 * (SHA-256), and all levels sample by sample where the golden tx files are at hand ($TXM_GOLDEN_TX), by their means
 * where not.
 */
#include <check.h>
#include <math.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/path.h"
#include "device/arith.h"
#include "txmill/convert.h"
#include "txmill/reader.h"

enum { COLUMNS = 15, MAX_ROWS = 200, MAX_LEVEL_ROWS = 1000 };
enum {
    SOURCE,
    COLORSPACE,
    ALPHA,
    CACHE_DIR,
    TX_NAME,
    CONTAINER,
    CHANNELS,
    TYPE,
    WIDTH,
    HEIGHT,
    LEVELS,
    DETECTED,
    AVERAGE,
    CONSTANT,
    SHA1
};

typedef struct row {
    char *field[COLUMNS];
} row;

static row manifest[MAX_ROWS], levels[MAX_LEVEL_ROWS];
static int manifest_rows, levels_rows;
static char base[] = "/tmp/txmill-golden-XXXXXX";
static const char *golden_tx;

static struct {
    unsigned long levels, exact_levels, samples, different;
    int files;
} count;

static int load(const char *name, row *rows, int max)
{
    char path[1024], *line = NULL;
    size_t capacity = 0;
    int n = 0;
    snprintf(path, sizeof path, "%s/golden/%s", getenv("TXM_TESTDATA"), name);
    FILE *f = fopen(path, "r");
    if (!f) {
        fprintf(stderr, "%s is missing\n", path);
        exit(1);
    }
    while (n < max && getline(&line, &capacity, f) > 0) {
        if (*line == '#')
            continue;
        line[strcspn(line, "\n")] = 0;
        char *rest = line;
        for (int c = 0; c < COLUMNS; c++) {
            char *field = strsep(&rest, "\t");
            rows[n].field[c] = strdup(field ? field : "");
        }
        n++;
    }
    free(line);
    fclose(f);
    return n;
}

static void copy_source(const char *name)
{
    char from[1024], to[1024], command[2200];
    snprintf(from, sizeof from, "%s/golden/%s", getenv("TXM_TESTDATA"), name);
    snprintf(to, sizeof to, "%s/src/%s", base, name);
    if (access(to, F_OK) == 0)
        return;
    snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
    ck_assert_int_eq(system(command), 0);
}

/* ---- comparing ------------------------------------------------------------------------------------------------ */

typedef struct pixels {
    uint32_t width, height, channels;
    txm_type type;
    uint8_t *data;
    size_t bytes;
} pixels;

static pixels read_level(txm_tx *tx, uint32_t level)
{
    const txm_tx_info *info = txm_tx_info_of(tx);
    const txm_tx_level *l = txm_tx_level_of(tx, level);
    size_t pixel = info->channels * txm_type_bytes(info->type), row_bytes = l->width * pixel;
    pixels p = {l->width, l->height, info->channels, info->type, calloc(l->height, row_bytes), l->height * row_bytes};
    txm_error err = {0};
    for (uint32_t y = 0; y < l->tiles_y; y++)
        for (uint32_t x = 0; x < l->tiles_x; x++)
            ck_assert_msg(!txm_tx_read_tile(tx, level, x, y,
                                            p.data + (size_t)y * info->tile_h * row_bytes + x * info->tile_w * pixel,
                                            pixel, row_bytes, NULL, NULL, &err),
                          "%s", err.message);
    return p;
}

static double sample(const pixels *p, size_t i)
{
    uint16_t u16;
    float f;
    switch (p->type) {
    case TXM_U8:
        return p->data[i];
    case TXM_U16:
        memcpy(&u16, p->data + 2 * i, 2);
        return u16;
    case TXM_HALF:
        memcpy(&u16, p->data + 2 * i, 2);
        return txm_half_to_float(u16);
    default:
        memcpy(&f, p->data + 4 * i, 4);
        return f;
    }
}

/* One step of the type: a code value, one unit in the last place of a half; floats: 1e-6 of the level's maximum. */
static double tolerance(const pixels *p, double a, double maximum)
{
    if (p->type == TXM_HALF) {
        int exponent;
        frexp(a, &exponent);
        return ldexp(1.0, (exponent < -13 ? -13 : exponent) - 11);
    }
    return p->type == TXM_FLOAT ? 1e-6 * maximum : 1.0;
}

static void compare_level(const char *name, uint32_t level, const pixels *ours, const pixels *theirs)
{
    ck_assert_uint_eq(ours->bytes, theirs->bytes);
    size_t samples = (size_t)ours->width * ours->height * ours->channels, different = 0;
    double maximum = 0;
    for (size_t i = 0; i < samples; i++)
        maximum = fmax(maximum, fabs(sample(theirs, i)));
    for (size_t i = 0; i < samples; i++) {
        double a = sample(ours, i), b = sample(theirs, i);
        if (a == b)
            continue;
        ck_assert_msg(fabs(a - b) <= tolerance(ours, b, maximum), "%s level %u sample %zu: %.9g, Blender has %.9g",
                      name, level, i, a, b);
        different++;
    }
    count.levels++;
    count.exact_levels += different == 0;
    count.samples += samples;
    if (ours->type != TXM_FLOAT)
        count.different += different;
}

static void compare_means(const char *name, const row *expected, const pixels *ours)
{
    char *means = strdup(expected->field[6]), *rest = means;
    double unit = ours->type == TXM_U8 ? 255 : ours->type == TXM_U16 ? 65535 : 1;
    size_t n = (size_t)ours->width * ours->height;
    for (uint32_t c = 0; c < ours->channels; c++) {
        double sum = 0, mean = atof(strsep(&rest, ","));
        for (size_t i = 0; i < n; i++)
            sum += sample(ours, i * ours->channels + c);
        ck_assert_msg(fabs(sum / unit / (double)n - mean) <= 1e-3 * fmax(1, fabs(mean)),
                      "%s %s: channel %u has mean %g, not %g", name, expected->field[1], c, sum / unit / (double)n,
                      mean);
    }
    free(means);
}

static void sha256_hex(const pixels *p, char out[65])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n;
    EVP_Digest(p->data, p->bytes, digest, &n, EVP_sha256(), NULL);
    for (unsigned i = 0; i < 32; i++)
        sprintf(out + 2 * i, "%02x", digest[i]);
}

static const row *level_row(const char *tx_name, uint32_t level)
{
    for (int i = 0; i < levels_rows; i++) {
        if (strcmp(levels[i].field[0], tx_name) == 0 && (uint32_t)atoi(levels[i].field[1]) == level)
            return &levels[i];
    }
    return NULL;
}

static void compare_numbers(const char *what, const char *ours, const char *expected)
{
    char *a = strdup(ours ? ours : ""), *b = strdup(expected), *ra = a, *rb = b;
    while (rb && *rb) {
        const char *fa = strsep(&ra, ","), *fb = strsep(&rb, ",");
        ck_assert_msg(fa && *fa, "%s: '%s', not '%s'", what, ours ? ours : "", expected);
        double x = atof(fa), y = atof(fb);
        ck_assert_msg(fabs(x - y) <= 2e-6 * fmax(fabs(y), 1e-3), "%s: '%s', not '%s'", what, ours, expected);
    }
    free(a);
    free(b);
}

static void compare_pixels(const row *m, txm_tx *ours)
{
    char path[1200], hex[65];
    txm_tx *theirs = NULL;
    const txm_tx_info *info = txm_tx_info_of(ours);
    snprintf(path, sizeof path, "%s/%s", golden_tx ? golden_tx : "", m->field[TX_NAME]);
    txm_error err = {0};
    /* Rows with a cache folder have the pixels of others, and no file of their own. */
    if (golden_tx && access(path, R_OK) == 0)
        ck_assert_msg(!txm_tx_open(path, &theirs, &err), "%s", err.message);
    for (uint32_t l = 0; l < info->levels; l++) {
        pixels p = read_level(ours, l);
        const row *expected = level_row(m->field[TX_NAME], l);
        if (expected && l == 0) {
            sha256_hex(&p, hex);
            ck_assert_msg(strcmp(hex, expected->field[5]) == 0, "%s: level 0 is not Blender's", m->field[TX_NAME]);
        }
        if (theirs) {
            pixels q = read_level(theirs, l);
            compare_level(m->field[TX_NAME], l, &p, &q);
            free(q.data);
        } else if (expected) {
            compare_means(m->field[TX_NAME], expected, &p);
        }
        free(p.data);
    }
    txm_tx_close(&theirs);
}

static void compare_file(const row *m, const char *path)
{
    txm_tx *tx = NULL;
    txm_error err = {0};
    char reason[256];
    ck_assert_msg(!txm_tx_open(path, &tx, &err), "%s", err.message);
    const txm_tx_info *info = txm_tx_info_of(tx);
    ck_assert_int_eq(info->container, strcmp(m->field[CONTAINER], "tiff") ? TXM_CONTAINER_EXR : TXM_CONTAINER_TIFF);
    ck_assert_uint_eq(info->channels, atoi(m->field[CHANNELS]));
    ck_assert_str_eq(txm_type_name(info->type), m->field[TYPE]);
    ck_assert_uint_eq(info->width, atoi(m->field[WIDTH]));
    ck_assert_uint_eq(info->height, atoi(m->field[HEIGHT]));
    ck_assert_uint_eq(info->levels, atoi(m->field[LEVELS]));
    ck_assert_int_eq(info->section, TXM_SECTION_NONE);
    ck_assert_msg(txm_tx_cycles_accepts(tx, reason, sizeof reason), "%s: %s", path, reason);
    ck_assert_str_eq(txm_tx_metadata_of(tx, "oiio:SHA-1"), m->field[SHA1]);
    compare_numbers("average", txm_tx_metadata_of(tx, "oiio:AverageColor"), m->field[AVERAGE]);
    const char *constant = txm_tx_metadata_of(tx, "oiio:ConstantColor");
    ck_assert_int_eq(constant != NULL, *m->field[CONSTANT] != 0);
    compare_numbers("constant", constant, m->field[CONSTANT]);
    compare_pixels(m, tx);
    txm_tx_close(&tx);
}

/* ---- the rows ------------------------------------------------------------------------------------------------- */

START_TEST(row_matches)
{
    const row *m = &manifest[_i];
    char config[1024], source[1024], cache[1024];
    snprintf(config, sizeof config, "%s/golden/config.ocio", getenv("TXM_TESTDATA"));
    snprintf(source, sizeof source, "%s/src/%s", base, m->field[SOURCE]);
    snprintf(cache, sizeof cache, strcmp(m->field[CACHE_DIR], "golden:abs-cache") == 0 ? "%s/abs-cache" : "cache",
             base);
    copy_source(m->field[SOURCE]);
    txm_context *context = NULL;
    txm_error err = {0};
    const txm_context_options options = {.threads = 2, .ocio_path = config};
    ck_assert_msg(!txm_context_new(&options, &context, &err), "%s", err.message);
    txm_settings settings = txm_settings_default();
    settings.strict = true;
    settings.colorspace = m->field[COLORSPACE];
    settings.alpha = (txm_alpha)txm_alpha_parse(m->field[ALPHA]);
    settings.cache_dir = *m->field[CACHE_DIR] ? cache : NULL;
    const txm_convert_options how = {.force = true};
    txm_result result;
    ck_assert_msg(!txm_convert(context, source, &settings, &how, &result, &err), "%s", err.message);
    if (strcmp(m->field[CONTAINER], "used-directly") == 0) {
        ck_assert_int_eq(result.outcome, TXM_USED_AS_IS);
    } else {
        ck_assert_int_eq(result.outcome, TXM_CREATED);
        ck_assert_str_eq(txm_path_base(result.tx_path), m->field[TX_NAME]);
        ck_assert_str_eq(result.detected, m->field[DETECTED]);
        compare_file(m, result.tx_path);
        struct stat a, b;
        ck_assert(!stat(source, &a) && !stat(result.tx_path, &b));
        ck_assert_int_eq(a.st_mtime, b.st_mtime);
    }
    count.files++;
    txm_result_clear(&result);
    txm_context_free(&context);
}
END_TEST

/* Integers and halves have no sample that differs, over the whole set. */
START_TEST(parity_over_the_set)
{
    printf("note golden: %d rows, %lu levels compared, %lu identical; %lu of %lu samples one step off\n", count.files,
           count.levels, count.exact_levels, count.different, count.samples);
    ck_assert_int_eq(count.files, manifest_rows);
    ck_assert_msg(count.different == 0, "%lu of %lu samples differ", count.different, count.samples);
}
END_TEST

int main(void)
{
    char path[1024];
    golden_tx = getenv("TXM_GOLDEN_TX");
    if (!golden_tx)
        printf("skip golden-samples (TXM_GOLDEN_TX is not set: levels above 0 are compared by their means)\n");
    setenv("CK_FORK", "no", 1); /* the rows count into one table */
    if (!mkdtemp(base))
        return 1;
    snprintf(path, sizeof path, "%s/src", base);
    mkdir(path, 0777);
    manifest_rows = load("manifest.tsv", manifest, MAX_ROWS);
    levels_rows = load("levels.tsv", levels, MAX_LEVEL_ROWS);
    Suite *suite = suite_create("golden");
    TCase *rows = tcase_create("rows"), *set = tcase_create("set");
    tcase_add_loop_test(rows, row_matches, 0, manifest_rows);
    tcase_add_test(set, parity_over_the_set);
    suite_add_tcase(suite, rows);
    suite_add_tcase(suite, set);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    snprintf(path, sizeof path, "rm -rf '%s'", base);
    if (system(path))
        printf("note %s was not removed\n", base);
    return failed != 0;
}
