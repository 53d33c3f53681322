/* SPDX-License-Identifier: Apache-2.0
 *
 * Files equal Blender's: every row of testdata/golden/manifest.tsv, converted with --strict and the golden config, and
 * of testdata/real/manifest.tsv, converted with --strict and the built-in config, must give the file that Blender made:
 * container, type, size, averages, SHA-1, all levels bit for bit (SHA-256), and in the golden set the name as well.
 * Rows that cannot be equal in every bit (testdata/real/README.md says why) are compared sample by sample if Blender's
 * files are available ($TXM_GOLDEN_TX, $TXM_REAL_TX), otherwise by their means. testdata/releases has images whose
 * pixels differ between releases of Blender, with the files that each release made of them.
 */
#include <math.h>
#include <openssl/evp.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "tile/ops/arith.h"
#include "txmill/color.h"
#include "txmill/convert.h"
#include "txtile/reader.h"
#include "util_check.h"
#include "util_tx.h"

enum { COLUMNS = 16, MAX_ROWS = 200, MAX_LEVEL_ROWS = 1000 };
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
    SHA1,
    SAMPLES /* in the real set: "exact", "lossy" or "converted" */
};

typedef struct row {
    char *field[COLUMNS];
} row;

/* The tx files that Blender made of a folder of sources. */
typedef struct set {
    const char *folder; /* a path in testdata */
    const char *config; /* a config in that folder; NULL: the built-in one */
    const char *theirs; /* folder of Blender's files; NULL: not available */
    const char *ocio;   /* version of OpenColorIO that made the files */
    row manifest[MAX_ROWS], levels[MAX_LEVEL_ROWS];
    int manifest_rows, levels_rows;
    unsigned long compared, exact_levels, samples, different; /* counted so far */
    int files;
} set;

static set golden = {.folder = "golden", .config = "config.ocio", .ocio = "2.1."},
           real = {.folder = "real", .ocio = "2.5."};
static char base[] = "/tmp/txmill-golden-XXXXXX";

static int load(const char *folder, const char *name, row *rows, int max)
{
    char path[1024], *line = NULL;
    size_t capacity = 0;
    int n = 0;
    snprintf(path, sizeof path, "%s/%s/%s", getenv("TXM_TESTDATA"), folder, name);
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

static void copy_source(const set *t, const char *name)
{
    char from[1024], to[1024], command[2200];
    snprintf(from, sizeof from, "%s/%s/%s", getenv("TXM_TESTDATA"), t->folder, name);
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
            ck_assert_msg(
                !txm_tx_read_tile(tx,
                                  REQUEST(p.data + (size_t)y * info->tile_h * row_bytes + x * info->tile_w * pixel,
                                          pixel, row_bytes, .level = level, .tile_x = x, .tile_y = y),
                                  &err),
                "%s", err.message);
    return p;
}

static double sample(const pixels *p, size_t i)
{
    uint16_t u16;
    float f;
    switch (p->type) {
    case TXM_TYPE_U8:
        return p->data[i];
    case TXM_TYPE_U16:
        memcpy(&u16, p->data + 2 * i, 2);
        return u16;
    case TXM_TYPE_HALF:
        memcpy(&u16, p->data + 2 * i, 2);
        return txm_half_to_float(u16);
    default:
        memcpy(&f, p->data + 4 * i, 4);
        return f;
    }
}

/* Returns how closely the row's samples can agree with Blender's. */
typedef enum precision { EXACT, LOSSY, CONVERTED } precision;

static bool same_ocio(const set *t)
{
    return strncmp(txm_color_library_version(), t->ocio, strlen(t->ocio)) == 0;
}

/* Powers and tables differ between versions of OpenColorIO; matrices, such as ACEScg's, do not. */
static precision precision_of(const set *t, const row *m)
{
    static const char *const others[] = {"data", "scene_linear", "scene_linear_srgb", "ACEScg"};
    bool curve = true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        curve &= strcmp(m->field[DETECTED], others[i]) != 0;
    if (strcmp(m->field[SAMPLES], "lossy") == 0)
        return LOSSY;
    if (strcmp(m->field[SAMPLES], "converted") == 0 || (curve && !same_ocio(t)))
        return CONVERTED;
    return EXACT;
}

/* Tolerances between versions of OpenColorIO: one unit in the last place of a half, and 5e-5 for floats. PXR24 keeps 16
 * of a float's 24 bits. */
static double tolerance(const pixels *p, precision how, double value)
{
    if (p->type == TXM_TYPE_HALF && how == CONVERTED) {
        int exponent;
        frexp(value, &exponent);
        return ldexp(1.0, (exponent < -13 ? -13 : exponent) - 11);
    }
    return p->type == TXM_TYPE_FLOAT && how != EXACT ? 5e-5 * fmax(fabs(value), 1e-3) : 0.0;
}

static void compare_level(set *t, const row *m, uint32_t level, const pixels *ours, const pixels *theirs)
{
    ck_assert_uint_eq(ours->bytes, theirs->bytes);
    size_t samples = (size_t)ours->width * ours->height * ours->channels, different = 0;
    precision how = precision_of(t, m);
    for (size_t i = 0; i < samples; i++) {
        double a = sample(ours, i), b = sample(theirs, i);
        if (a == b)
            continue;
        different++;
        if (how == LOSSY && isnan(b))
            ck_assert_msg(a == 0.0, "%s level %u sample %zu: %.9g, not 0", m->field[TX_NAME], level, i, a);
        else
            ck_assert_msg(fabs(a - b) <= tolerance(ours, how, b), "%s level %u sample %zu: %.9g, Blender has %.9g",
                          m->field[TX_NAME], level, i, a, b);
    }
    t->compared++;
    t->exact_levels += different == 0;
    t->samples += samples;
    t->different += different;
}

static void compare_means(const char *name, const row *expected, const pixels *ours)
{
    char *means = strdup(expected->field[6]), *rest = means;
    double unit = ours->type == TXM_TYPE_U8 ? 255 : ours->type == TXM_TYPE_U16 ? 65535 : 1;
    size_t n = (size_t)ours->width * ours->height;
    for (uint32_t c = 0; c < ours->channels; c++) {
        double sum = 0, mean = strtod(strsep(&rest, ","), NULL);
        if (isnan(mean))
            continue; /* at least one sample differs */
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

static const row *level_row(const set *t, const char *tx_name, uint32_t level)
{
    for (int i = 0; i < t->levels_rows; i++) {
        if (strcmp(t->levels[i].field[0], tx_name) == 0 && (uint32_t)atoi(t->levels[i].field[1]) == level)
            return &t->levels[i];
    }
    return NULL;
}

/* Compares numbers as text, either digit for digit or within a relative tolerance. */
static void compare_numbers(const char *what, const char *ours, const char *expected, double share)
{
    if (share == 0) {
        ck_assert_msg(strcmp(ours ? ours : "", expected) == 0, "%s: '%s', not '%s'", what, ours ? ours : "", expected);
        return;
    }
    char *a = strdup(ours ? ours : ""), *b = strdup(expected), *ra = a, *rb = b;
    while (rb && *rb) {
        const char *fa = strsep(&ra, ","), *fb = strsep(&rb, ",");
        ck_assert_msg(fa && *fa, "%s: '%s', not '%s'", what, ours ? ours : "", expected);
        double x = atof(fa), y = atof(fb);
        ck_assert_msg(fabs(x - y) <= share * fmax(fabs(y), 1e-3), "%s: '%s', not '%s'", what, ours, expected);
    }
    free(a);
    free(b);
}

static void compare_pixels(set *t, const row *m, txm_tx *ours)
{
    char path[1200], hex[65];
    SCOPED(txm_tx_close) txm_tx *theirs = NULL;
    const txm_tx_info *info = txm_tx_info_of(ours);
    precision how = precision_of(t, m);
    snprintf(path, sizeof path, "%s/%s", t->theirs ? t->theirs : "", m->field[TX_NAME]);
    txm_error err = {0};
    /* Rows with a cache folder share their pixels with other rows and have no file of their own. */
    if (t->theirs && access(path, R_OK) == 0)
        ck_assert_msg(!txm_tx_open(path, &theirs, &err), "%s", err.message);
    for (uint32_t l = 0; l < info->levels; l++) {
        pixels p = read_level(ours, l);
        const row *expected = level_row(t, m->field[TX_NAME], l);
        if (expected && (how == EXACT || (how == LOSSY && l == 0))) {
            sha256_hex(&p, hex);
            ck_assert_msg(strcmp(hex, expected->field[5]) == 0, "%s: level %u is not Blender's", m->field[TX_NAME], l);
        }
        if (theirs) {
            pixels q = read_level(theirs, l);
            compare_level(t, m, l, &p, &q);
            free(q.data);
        } else if (expected) {
            compare_means(m->field[TX_NAME], expected, &p);
        }
        free(p.data);
    }
}

static void compare_file(set *t, const row *m, const char *path)
{
    SCOPED(txm_tx_close) txm_tx *tx = NULL;
    txm_error err = {0};
    char reason[256];
    ck_assert_msg(!txm_tx_open(path, &tx, &err), "%s", err.message);
    const txm_tx_info *info = txm_tx_info_of(tx);
    ck_assert_int_eq(info->container, strcmp(m->field[CONTAINER], "tiff") ? TXM_CONTAINER_EXR : TXM_CONTAINER_TIFF);
    ck_assert_uint_eq(info->channels, (uint32_t)atoi(m->field[CHANNELS]));
    ck_assert_str_eq(txm_type_name(info->type), m->field[TYPE]);
    ck_assert_uint_eq(info->width, (uint32_t)atoi(m->field[WIDTH]));
    ck_assert_uint_eq(info->height, (uint32_t)atoi(m->field[HEIGHT]));
    ck_assert_uint_eq(info->levels, (uint32_t)atoi(m->field[LEVELS]));
    ck_assert_int_eq(info->section, TXM_SECTION_STATE_NONE);
    ck_assert_msg(txm_tx_cycles_accepts(tx, reason, sizeof reason), "%s: %s", path, reason);
    bool converted = precision_of(t, m) == CONVERTED;
    if (!converted)
        ck_assert_str_eq(txm_tx_metadata_of(tx, "oiio:SHA-1"), m->field[SHA1]);
    compare_numbers("average", txm_tx_metadata_of(tx, "oiio:AverageColor"), m->field[AVERAGE], converted ? 5e-5 : 0);
    const char *constant = txm_tx_metadata_of(tx, "oiio:ConstantColor");
    ck_assert_int_eq(constant != NULL, *m->field[CONSTANT] != 0);
    compare_numbers("constant", constant, m->field[CONSTANT], converted ? 5e-5 : 0);
    compare_pixels(t, m, tx);
}

/* ---- the rows ------------------------------------------------------------------------------------------------- */

static void compare_row(set *t, const row *m)
{
    char config[1024], source[1024], cache[1024];
    snprintf(config, sizeof config, "%s/%s/%s", getenv("TXM_TESTDATA"), t->folder, t->config ? t->config : "");
    snprintf(source, sizeof source, "%s/src/%s", base, m->field[SOURCE]);
    snprintf(cache, sizeof cache, strcmp(m->field[CACHE_DIR], "golden:abs-cache") == 0 ? "%s/abs-cache" : "cache",
             base);
    copy_source(t, m->field[SOURCE]);
    SCOPED(txm_context_free) txm_context *context = NULL;
    txm_error err = {0};
    const txm_context_options options = {.struct_size = sizeof(txm_context_options),
                                         .threads = 2,
                                         .ocio_path = t->config ? config : NULL,
                                         .blender = TXM_BLENDER_5_2};
    ck_assert_msg(!txm_context_new(&options, &context, &err), "%s", err.message);
    txm_settings settings;
    txm_settings_init(&settings);
    settings.strict = true;
    settings.colorspace = m->field[COLORSPACE];
    ck_assert(txm_alpha_parse(m->field[ALPHA], &settings.alpha));
    settings.cache_dir = *m->field[CACHE_DIR] ? cache : NULL;
    const txm_convert_options how = {.struct_size = sizeof(txm_convert_options), .force = true};
    txm_result result;
    ck_assert_msg(!txm_convert(context, source, &settings, &how, &result, &err), "%s", err.message);
    if (strcmp(m->field[CONTAINER], "used-directly") == 0) {
        ck_assert_int_eq(result.outcome, TXM_OUTCOME_USED_AS_IS);
    } else {
        ck_assert_int_eq(result.outcome, TXM_OUTCOME_CREATED);
        if (t->config) /* Blender's config has a matrix of its own in the names */
            ck_assert_str_eq(txm_path_base(result.tx_path), m->field[TX_NAME]);
        ck_assert_str_eq(result.detected, m->field[DETECTED]);
        compare_file(t, m, result.tx_path);
        struct stat a, b;
        ck_assert(!stat(source, &a) && !stat(result.tx_path, &b));
        ck_assert_int_eq(a.st_mtime, b.st_mtime);
    }
    t->files++;
    txm_result_clear(&result);
}

TESTS(golden_row, golden.manifest_rows)
{
    compare_row(&golden, &golden.manifest[_i]);
}

TESTS(real_row, real.manifest_rows)
{
    compare_row(&real, &real.manifest[_i]);
}

/* Every row of the tables was used. */
TEST(parity_over_the_sets)
{
    const set *sets[] = {&golden, &real};
    for (int i = 0; i < 2; i++) {
        const set *t = sets[i];
        printf("note %s: %d rows, %lu levels compared, %lu identical; %lu of %lu samples differ\n", t->folder, t->files,
               t->compared, t->exact_levels, t->different, t->samples);
        ck_assert_int_eq(t->files, t->manifest_rows);
    }
    if (same_ocio(&golden))
        ck_assert_uint_eq(golden.different, 0);
}

/* ---- releases ------------------------------------------------------------------------------------------------- */

enum { IMAGE, SPACE, ALPHA_TYPE, RELEASE_COLUMNS_BEGIN, NAME = 0, DIGEST, PIXELS, LEVEL_DIGESTS, A_RELEASE };
static const txm_blender releases[] = {TXM_BLENDER_5_2, TXM_BLENDER_5_3};
static row by_release[MAX_ROWS];
static int by_release_rows;
static txm_context *release_contexts[2];

/* Rows whose pixels are not compared bit for bit, for reasons that txmill-tx(5) gives. Matrices are the same in all
 * versions of OpenColorIO; the table was made with 2.5. */
static bool may_differ(const row *m, int release)
{
    static const char *const exact[] = {"ACEScg", "Linear Rec.709", "Non-Color",
                                        "sRGB",   "__builtin_srgb", "video_rec709"};
    bool older = releases[release] == TXM_BLENDER_5_2, same = false;
    if (older && (!strcmp(m->field[IMAGE], "zstd.tif") || !strcmp(m->field[SPACE], "__builtin_srgb")))
        return true;
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        same |= !strcmp(m->field[SPACE], exact[i]);
    return !same && strncmp(txm_color_library_version(), "2.5.", 4) != 0;
}

static void compare_levels(const char *path, const char *image, char *const expected[])
{
    SCOPED(txm_tx_close) txm_tx *tx = NULL;
    txm_error err = {0};
    unsigned char digest[EVP_MAX_MD_SIZE];
    ck_assert_msg(!txm_tx_open(path, &tx, &err), "%s", err.message);
    const txm_tx_info *info = txm_tx_info_of(tx);
    ck_assert_str_eq(txm_tx_metadata_of(tx, "oiio:SHA-1"), expected[DIGEST]);
    const char *digests = expected[LEVEL_DIGESTS];
    ck_assert_uint_eq(strlen(digests), 13 * info->levels - 1);
    for (uint32_t l = 0; l < info->levels; l++) {
        char hex[13];
        pixels p = read_level(tx, l);
        EVP_Digest(p.data, p.bytes, digest, NULL, EVP_md5(), NULL);
        for (int i = 0; i < 6; i++)
            sprintf(hex + 2 * i, "%02x", digest[i]);
        ck_assert_msg(!strncmp(hex, digests + 13 * l, 12), "%s: level %u is not Blender's", image, l);
        free(p.data);
    }
}

static void compare_release(const row *m, int release)
{
    char *const *expected = m->field + RELEASE_COLUMNS_BEGIN + release * A_RELEASE;
    char source[1024], type[32];
    txm_error err = {0};
    txm_settings settings;
    txm_settings_init(&settings);
    settings.strict = true;
    settings.colorspace = m->field[SPACE];
    settings.cache_dir = release ? "newer" : "older";
    ck_assert(txm_alpha_parse(m->field[ALPHA_TYPE], &settings.alpha));
    snprintf(source, sizeof source, "%s/releases/%s", base, m->field[IMAGE]);
    const txm_convert_options how = {.struct_size = sizeof(txm_convert_options), .force = true};
    txm_result result;
    txm_status status = txm_convert(release_contexts[release], source, &settings, &how, &result, &err);
    if (!strcmp(expected[NAME], "refused")) {
        ck_assert_int_eq(status, TXM_STATUS_UNSUPPORTED);
        return;
    }
    ck_assert_msg(!status, "%s", err.message);
    snprintf(type, sizeof type, "%s x%u", txm_type_name(result.type), result.channels);
    ck_assert_str_eq(txm_path_base(result.tx_path), expected[NAME]);
    ck_assert_str_eq(type, expected[PIXELS]);
    if (!may_differ(m, release))
        compare_levels(result.tx_path, m->field[IMAGE], expected);
    txm_result_clear(&result);
}

TESTS(releases_make_their_own_pixels, by_release_rows)
{
    for (int release = 0; release < 2; release++) {
        const txm_color_config *config = txm_context_color(release_contexts[release]);
        const char *space = by_release[_i].field[SPACE], *canonical = txm_color_canonical(config, space);
        /* This space needs a table of Blender's own. */
        if (!canonical || strcmp(canonical, "Luminance Compensation Rec.2020") != 0)
            compare_release(&by_release[_i], release);
        else
            printf("skip %s (only Blender's own config can build %s)\n", by_release[_i].field[IMAGE], space);
    }
}

static void load_releases(void)
{
    char command[2200];
    by_release_rows = load("releases", "pixels.tsv", by_release, MAX_ROWS);
    snprintf(command, sizeof command, "cp -r '%s/releases' '%s'", getenv("TXM_TESTDATA"), base);
    int failed = system(command);
    for (int i = 0; i < 2 && !failed; i++) {
        const txm_context_options options = {
            .struct_size = sizeof(txm_context_options), .threads = 1, .device = "cpu", .blender = releases[i]};
        failed = txm_context_new(&options, &release_contexts[i], NULL) != TXM_OK;
    }
    if (failed) {
        fprintf(stderr, "%s: nothing can be converted\n", base);
        exit(1);
    }
}

static void load_set(set *t, const char *environment)
{
    t->theirs = getenv(environment);
    if (!t->theirs)
        printf(
            "skip %s-samples (%s is not set: pixels that cannot be equal in every bit are compared by their means)\n",
            t->folder, environment);
    t->manifest_rows = load(t->folder, "manifest.tsv", t->manifest, MAX_ROWS);
    t->levels_rows = load(t->folder, "levels.tsv", t->levels, MAX_LEVEL_ROWS);
}

int main(void)
{
    char path[1024];
    setenv("CK_FORK", "no", 1); /* all rows must be counted in one process */
    unsetenv("OCIO");
    if (!mkdtemp(base))
        return 1;
    snprintf(path, sizeof path, "%s/src", base);
    mkdir(path, 0777);
    load_set(&golden, "TXM_GOLDEN_TX");
    load_set(&real, "TXM_REAL_TX");
    load_releases();
    int failed = run_tests_in_one_process();
    for (int i = 0; i < 2; i++)
        txm_context_free(&release_contexts[i]);
    snprintf(path, sizeof path, "rm -rf '%s'", base);
    if (system(path))
        printf("note %s was not removed\n", base);
    return failed;
}
