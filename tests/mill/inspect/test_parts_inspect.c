/* SPDX-License-Identifier: Apache-2.0
 *
 * Verifications of good files and of files that have one thing wrong: header, origin, tiles, pixels, the source
 * converted again. Also pictures of levels, and borders that are added later. */
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <utime.h>

#include "base/os/owner.h"
#include "mill/inspect/verify_impl.h"
#include "tile/reader/reader_impl.h"
#include "txmill/convert.h"
#include "txmill/level.h"
#include "util_batch.h"
#include "util_check.h"
#include "util_tx.h"

static txm_context *context;
static volatile int cancel;
static txm_findings findings;

static void start(void)
{
    const txm_context_options options = {.struct_size = sizeof options, .threads = 2, .cancel = &cancel};
    txm_error err = {0};
    ck_assert_msg(!txm_context_new(&options, &context, &err), "%s", err.message);
    batch_enter();
}

static void stop(void)
{
    batch_leave();
    txm_findings_clear(&findings);
    txm_context_free(&context);
}
FIXTURE(start, stop)

/* Copies a golden image here and converts it; the file does not record the folder. */
static void convert(const char *source, const char *out, bool borders)
{
    char from[1024];
    size_t bytes;
    txm_settings settings;
    txm_result result;
    txm_error err = {0};
    const txm_convert_options options = {.struct_size = sizeof options, .output = out};
    snprintf(from, sizeof from, "%s/golden/%s", getenv("TXM_TESTDATA"), source);
    uint8_t *data = load_file(from, &bytes);
    save_file(source, data, bytes);
    free(data);
    txm_settings_init(&settings);
    settings.redact = true;
    settings.borders = borders;
    ck_assert_msg(!txm_convert(context, source, &settings, &options, &result, &err), "%s", err.message);
    txm_result_clear(&result);
}

/* Changes a byte of the first tile of a level. */
static void damage(const char *path, uint32_t level)
{
    txm_tx *tx = open_tx(path);
    txm_tile_id tile;
    txm_span span;
    size_t bytes;
    ck_assert(!txm_tile_at(tx, level, 0, 0, &tile, NULL) && !tx->ops->find(tx, &tile, &span, NULL));
    size_t at = (size_t)(span.data - tx->map.data) + span.bytes / 2;
    txm_tx_close(&tx);
    FREED uint8_t *data = load_file(path, &bytes);
    data[at] ^= 0x55;
    save_file(path, data, bytes);
}

static txm_status verify(const char *path, const char *source, bool deep, txm_error *err)
{
    const txm_verify_options options = {.struct_size = sizeof options, .source = source, .deep = deep};
    txm_findings_clear(&findings);
    return txm_verify(context, path, &options, &findings, err);
}

/* Returns the text of the first finding with this id, or NULL. */
static const char *said(const char *id)
{
    for (size_t i = 0; i < findings.count; i++)
        if (!strcmp(findings.items[i].kind->id, id))
            return findings.items[i].text;
    return NULL;
}

/* ---- header ------------------------------------------------------------------------------------------------------ */

TEST(headers_are_judged_by_who_made_the_file)
{
    /* If txmill made the file, bytes after the image are the rest of a section. */
    convert("rgb8.png", "b.tx", false);
    for (int padded = 0; padded < 2; padded++) {
        ck_assert_int_eq(verify("b.tx", "rgb8.png", false, NULL), TXM_OK);
        ck_assert_ptr_nonnull(said(padded ? "TXM-501" : "TXM-504"));
        ck_assert(!padded || strstr(said("TXM-501"), "bytes follow the image"));
        FILE *f = fopen("b.tx", "ab");
        ck_assert(f && fputc(0, f) == 0 && !fclose(f));
    }
    SCOPED(free_image) made_image m = make_image(100, 60, 3, TXM_TYPE_FLOAT, 64, (txm_compression){0}, MADE_NOISE);
    m.layout.levels -= 2;
    write_foreign_tiff("a.tx", &m, (foreign_tiff){.compression = 8, .predictor = 1});
    ck_assert_int_eq(verify("a.tx", NULL, false, NULL), TXM_OK);
    ck_assert_ptr_nonnull(strstr(said("TXM-104"), "5 levels, where 100x60 px have 7"));
    ck_assert_ptr_nonnull(strstr(said("TXM-105"), "3 channels"));
    ck_assert_ptr_null(said("TXM-206"));    /* other programs do not write this */
    ck_assert_ptr_nonnull(said("TXM-205")); /* and their levels are not recomputed */
}

/* ---- origin ------------------------------------------------------------------------------------------------------ */

static char *located(const char *tx, const char *stored)
{
    bool exhausted = true;
    int failure = 0;
    char *path = txm_locate_source(tx, stored, &exhausted, &failure);
    ck_assert(!exhausted && !failure);
    return path;
}

TEST(sources_are_where_cycles_would_look)
{
    char here[1024], absolute[1100];
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    snprintf(absolute, sizeof absolute, "%s/far/wood.png", here);
    batch_folder("tex");
    batch_folder("tex/blender_tx");
    batch_folder("far");
    batch_folder("tex/folder.png");
    batch_file("far/wood.png", "far");
    ck_assert_ptr_null(located("tex/blender_tx/a.tx", ""));
    /* There is no folder of tx files yet, so the path in the file is used. */
    char *path = located("tex/blender_tx/a.tx", absolute);
    ck_assert_str_eq(path, absolute);
    free(path);
    batch_file("tex/wood.png", "near");
    path = located("tex/blender_tx/a.tx", absolute);
    ck_assert_str_eq(path, "tex/blender_tx/../wood.png");
    free(path);
    /* In any other folder, the stored path is tried first and the image in the folder above last. */
    batch_folder("tex/other");
    path = located("tex/other/a.tx", absolute);
    ck_assert_str_eq(path, absolute);
    free(path);
    path = located("tex/other/a.tx", "/gone/wood.png");
    ck_assert_str_eq(path, "tex/other/../wood.png");
    free(path);
    ck_assert_ptr_null(located("tex/blender_tx/a.tx", "/gone/stone.png"));
    ck_assert_ptr_null(located("tex/blender_tx/a.tx", "folder.png"));
}

TEST(origins_have_name_and_time)
{
    struct stat st;
    convert("rgb8.png", "a.tx", false);
    ck_assert_int_eq(verify("a.tx", "rgb8.png", false, NULL), TXM_OK);
    ck_assert(said("TXM-302") && !said("TXM-401") && !said("TXM-402")); /* a.tx is not a name in a cache folder */
    ck_assert_int_eq(stat("rgb8.png", &st), 0);
    ck_assert_int_eq(utime("rgb8.png", &(struct utimbuf){st.st_atime, st.st_mtime + 3700}), 0);
    ck_assert_int_eq(verify("a.tx", "rgb8.png", false, NULL), TXM_OK);
    ck_assert_ptr_nonnull(strstr(said("TXM-401"), "newer than the tx file"));
    ck_assert_int_eq(verify("a.tx", "gone.png", false, NULL), TXM_OK);
    ck_assert_ptr_nonnull(strstr(said("TXM-402"), "no file at gone.png"));
    /* One is the name of another image, and no settings lead to the other one. */
    static const char wrong[] = "wood.png.0-00000000000000000000000000000000.tx";
    static const char misfit[] = "rgb8.png.0-00000000000000000000000000000000.tx";
    ck_assert_int_eq(rename("a.tx", wrong), 0);
    ck_assert_int_eq(verify(wrong, NULL, false, NULL), TXM_OK);
    ck_assert_ptr_nonnull(strstr(said("TXM-307"), "named for wood.png"));
    ck_assert_int_eq(rename(wrong, misfit), 0);
    ck_assert_int_eq(verify(misfit, NULL, false, NULL), TXM_OK);
    ck_assert(said("TXM-301") || said("TXM-304"));
}

/* ---- pixels ------------------------------------------------------------------------------------------------------ */

TEST(damaged_tiles_are_findings_with_a_place)
{
    convert("rgb8.png", "a.tx", true);
    damage("a.tx", 1);
    ck_assert_int_eq(verify("a.tx", "rgb8.png", false, NULL), TXM_OK);
    for (size_t i = 0; i < findings.count; i++) {
        const txm_finding *f = &findings.items[i];
        if (strcmp(f->kind->id, "TXM-102") == 0)
            ck_assert(f->level == 1 && f->tile_x == 0 && f->tile_y == 0 && !strstr(f->text, "a.tx"));
    }
    ck_assert_ptr_nonnull(said("TXM-102"));
    txm_error err = {0};
    cancel = 1;
    ck_assert_int_eq(verify("a.tx", "rgb8.png", false, &err), TXM_STATUS_CANCELLED);
    cancel = 0;
}

TEST(borders_that_show_other_pixels_are_found)
{
    SCOPED(free_image) made_image m = make_image(150, 70, 4, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_NOISE);
    SCOPED(free_image) made_image other = make_image(150, 70, 4, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_SMOOTH);
    write_made("a.tx", &m);
    append_section("a.tx", &other);
    ck_assert_int_eq(verify("a.tx", NULL, false, NULL), TXM_OK);
    ck_assert_ptr_nonnull(said("TXM-505"));
}

/* ---- the source again -------------------------------------------------------------------------------------------- */

TEST(deep_needs_a_source_and_settings)
{
    static const char *const sources[] = {"rgb8.png", "gray8.png", "broken.png"};
    txm_error err = {0};
    made_image m = make_image(100, 60, 4, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_NOISE);
    write_foreign_tiff("f.tx", &m, (foreign_tiff){.compression = 8, .predictor = 1});
    ck_assert_int_eq(verify("f.tx", NULL, true, NULL), TXM_OK);
    ck_assert_ptr_nonnull(strstr(said("TXM-603"), "another program"));
    free_image(&m);
    convert("rgb8.png", "a.tx", false);
    ck_assert_int_eq(verify("a.tx", "gone.png", true, NULL), TXM_OK);
    ck_assert_ptr_nonnull(strstr(said("TXM-603"), "--source"));
    convert("gray8.png", "c.tx", false);
    batch_file("broken.png", "no image");
    for (int i = 0; i < 3; i++) {
        ck_assert_msg(verify("a.tx", sources[i], true, &err) == TXM_OK, "%s", err.message);
        ck_assert_int_eq(said("TXM-602") || said("TXM-601"), i == 1);
        ck_assert_int_eq(said("TXM-603") != NULL, i == 2);
    }
    /* If there is no space for the copy, that says nothing about the file. */
    setenv("TMPDIR", "/proc/no-folder", 1);
    ck_assert_int_eq(verify("a.tx", "rgb8.png", true, &err), TXM_STATUS_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, "TMPDIR"));
    unsetenv("TMPDIR");
}

/* Copies of processes that have ended are removed; those of this process stay. */
TEST(killed_comparisons_are_swept)
{
    char here[1024];
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    convert("rgb8.png", "a.tx", false);
    size_t files = batch_count();
    setenv("TMPDIR", here, 1);
    batch_file("unrelated.txm-tmp", "");
    pid_t child = fork();
    if (child == 0) {
        char *path = txm_owned_path(here, "txmill-verify", ".txm-tmp");
        _exit(path && rename("unrelated.txm-tmp", path) == 0 ? 0 : 1);
    }
    int status;
    ck_assert(waitpid(child, &status, 0) == child && status == 0);
    batch_file("unrelated.txm-tmp", "");
    FREED char *own = txm_owned_path(here, "txmill-verify", ".txm-tmp");
    batch_file(own, "");
    ck_assert_uint_eq(batch_count(), files + 3);
    ck_assert_int_eq(verify("a.tx", "rgb8.png", true, NULL), TXM_OK);
    unsetenv("TMPDIR");
    ck_assert_uint_eq(batch_count(), files + 2);
    ck_assert_int_eq(access("unrelated.txm-tmp", F_OK), 0);
    ck_assert(txm_owned_remove(own));
}

/* ---- pictures of levels ------------------------------------------------------------------------------------------ */

TEST(pictures_hold_levels_or_all_of_them)
{
    SCOPED(free_image) made_image m = make_image(150, 70, 1, TXM_TYPE_U16, 64, (txm_compression){0}, MADE_NOISE);
    txm_level_picture p;
    txm_error err = {0};
    write_made("a.tx", &m);
    SCOPED(txm_tx_close) txm_tx *tx = open_tx("a.tx");
    for (uint32_t l = 0; l < m.layout.levels; l++) {
        ck_assert_int_eq(txm_level_picture_read(tx, l, false, &p, &err), TXM_OK);
        ck_assert(p.width == txm_level_size(150, l) && p.height == txm_level_size(70, l));
        ck_assert_mem_eq(p.pixels, m.levels[l], (size_t)p.width * p.height * 2);
        txm_level_picture_clear(&p);
    }
    ck_assert_int_eq(txm_level_picture_read(tx, 0, true, &p, &err), TXM_OK);
    ck_assert(p.width == 150 + 75 && p.height == 70);
    ck_assert_mem_eq(p.pixels, m.levels[0], 150 * 2);
    ck_assert_mem_eq(p.pixels + 150 * 2, m.levels[1], 75 * 2);
    ck_assert_mem_eq(p.pixels + (35 * (size_t)p.width + 150) * 2, m.levels[2], 37 * 2);
    static const uint8_t nothing[38 * 2];
    ck_assert_mem_eq(p.pixels + (35 * (size_t)p.width + 150 + 37) * 2, nothing, 38 * 2);
    txm_level_picture_clear(&p);
    txm_level_picture_clear(&p);
    txm_level_picture_clear(NULL);
    ck_assert_int_eq(txm_level_picture_read(tx, 99, false, &p, &err), TXM_STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "no level 99, the last is 7"));
    ck_assert_ptr_null(p.pixels);
}

TEST(linear_levels_are_encoded_for_viewing)
{
    txm_level_picture p;
    txm_error err = {0};
    convert("half-rgba.exr", "a.tx", false);
    txm_tx *tx = open_tx("a.tx");
    ck_assert_int_eq(txm_level_picture_read(tx, 2, false, &p, &err), TXM_OK);
    ck_assert_int_eq(p.type, TXM_TYPE_HALF);
    ck_assert_int_eq(txm_level_picture_encode(tx, &p, &err), TXM_OK);
    ck_assert(p.encoded && p.type == TXM_TYPE_U8);
    ck_assert_str_eq(p.colorspace, "sRGB");
    ck_assert_int_eq(txm_level_picture_to_8_bits(&p, &err), TXM_OK); /* it has 8 bits */
    txm_level_picture_clear(&p);
    ck_assert_int_eq(txm_level_picture_read(tx, 2, false, &p, &err), TXM_OK);
    ck_assert_int_eq(txm_level_picture_to_8_bits(&p, &err), TXM_OK);
    ck_assert(!p.encoded && p.type == TXM_TYPE_U8);
    txm_level_picture_clear(&p);
    txm_tx_close(&tx);
    convert("rgb16.png", "b.tx", false);
    tx = open_tx("b.tx");
    ck_assert_int_eq(txm_level_picture_read(tx, 0, false, &p, &err), TXM_OK);
    ck_assert_int_eq(txm_level_picture_encode(tx, &p, &err), TXM_OK);
    ck_assert(!p.encoded); /* it is sRGB already */
    txm_level_picture_clear(&p);
    txm_tx_close(&tx);
    /* The curve by its definition: at 0, in the middle, at 1, and beyond. */
    ck_assert_uint_eq(txm_srgb_code(0), 0);
    ck_assert_uint_eq(txm_srgb_code(0.5f), 188);
    ck_assert_uint_eq(txm_srgb_code(0.001f), 3);
    ck_assert_uint_eq(txm_srgb_code(1), 255);
    ck_assert_uint_eq(txm_srgb_code(-2), 0);
    ck_assert_uint_eq(txm_srgb_code(1e30f), 255);
    ck_assert_uint_eq(txm_srgb_code(NAN), 0);
}

TEST(values_mean_what_the_file_says)
{
    static const struct {
        const char *detected;
        txm_type type;
        txm_values values;
    } cases[] = {{"data", TXM_TYPE_U8, TXM_VALUES_DATA},
                 {"data", TXM_TYPE_HALF, TXM_VALUES_DATA},
                 {"scene_linear", TXM_TYPE_U16, TXM_VALUES_LINEAR},
                 {"scene_linear_srgb", TXM_TYPE_FLOAT, TXM_VALUES_ENCODED},
                 {"Filmic Log", TXM_TYPE_HALF, TXM_VALUES_LINEAR},
                 {"", TXM_TYPE_U16, TXM_VALUES_ENCODED},
                 {"", TXM_TYPE_FLOAT, TXM_VALUES_LINEAR}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        txm_tx_description d = {0};
        snprintf((char *)d.detected, sizeof d.detected, "%s", cases[i].detected);
        ck_assert_int_eq(txm_values_of(&d, cases[i].type), cases[i].values);
    }
}
