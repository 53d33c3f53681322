/* SPDX-License-Identifier: Apache-2.0
 *
 * The stages of a verification one by one, each with good files and with files that have one thing wrong: header,
 * origin, tiles, pixels, the source converted again. Also what they share: comparing levels, pictures of levels,
 * making borders. */
#include <check.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utime.h>

#include "base/os/owner.h"
#include "mill/convert/context.h"
#include "mill/inspect/borders_make.h"
#include "mill/inspect/compare.h"
#include "mill/inspect/listings.h"
#include "mill/inspect/verify_pixels.h"
#include "mill/write/section_writer.h"
#include "tile/reader/reader_impl.h"
#include "tile/reader/section.h"
#include "txmill/convert.h"
#include "txmill/level.h"
#include "util_batch.h"
#include "util_check.h"
#include "util_tx.h"

static txm_context *context;
static volatile int cancel;

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
    txm_context_free(&context);
}

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
    uint8_t *data = load_file(path, &bytes);
    data[at] ^= 0x55;
    save_file(path, data, bytes);
    free(data);
}

/* Prepares a verification up to the stage that a test needs. */
typedef struct looking {
    txm_verify_options options;
    txm_findings findings;
    txm_collector collector;
    txm_verification v;
} looking;

static void look(looking *l, const char *path, txm_maker maker)
{
    memset(l, 0, sizeof *l);
    txm_collector_init(&l->collector, &l->findings);
    l->v = (txm_verification){
        .context = context, .path = path, .options = &l->options, .findings = &l->collector, .maker = maker};
    l->v.tx = open_tx(path);
    l->v.info = txm_tx_info_of(l->v.tx);
    ck_assert_int_eq(txm_tx_describe(l->v.tx, &l->v.description, NULL), TXM_OK);
}

static void end(looking *l)
{
    txm_tx_description_free(&l->v.description);
    txm_tx_close(&l->v.tx);
    free(l->v.source);
    txm_findings_clear(&l->findings);
    txm_collector_destroy(&l->collector);
}

/* Returns the text of the first finding with this id, or NULL. */
static const char *said(const looking *l, const char *id)
{
    for (size_t i = 0; i < l->findings.count; i++)
        if (!strcmp(l->findings.items[i].kind->id, id))
            return l->findings.items[i].text;
    return NULL;
}

static void expect_only(const looking *l, const char *id, const char *text)
{
    ck_assert_msg(l->findings.count == (id != NULL), "%zu findings: %s", l->findings.count,
                  l->findings.count ? l->findings.items[0].text : "");
    ck_assert(!id || said(l, id));
    ck_assert_msg(!text || strstr(said(l, id), text), "%s", said(l, id));
}

/* ---- header ------------------------------------------------------------------------------------------------------ */

START_TEST(headers_of_own_files_are_good)
{
    looking l;
    convert("rgb8.png", "a.tx", true);
    look(&l, "a.tx", TXM_MAKER_TXMILL);
    ck_assert_int_eq(txm_verify_header(&l.v, NULL), TXM_OK);
    ck_assert(l.v.regular);
    expect_only(&l, NULL, NULL);
    end(&l);
    /* If txmill made the file, bytes after the image are the rest of a section. */
    convert("rgb8.png", "b.tx", false);
    for (int padded = 0; padded < 2; padded++) {
        look(&l, "b.tx", padded ? TXM_MAKER_BLENDER : TXM_MAKER_TXMILL);
        ck_assert_int_eq(txm_verify_header(&l.v, NULL), TXM_OK);
        expect_only(&l, "TXM-504", NULL);
        end(&l);
        FILE *f = fopen("b.tx", "ab");
        ck_assert(f && fputc(0, f) == 0 && !fclose(f));
    }
    look(&l, "b.tx", TXM_MAKER_TXMILL);
    ck_assert_int_eq(txm_verify_header(&l.v, NULL), TXM_OK);
    expect_only(&l, "TXM-501", "bytes follow the image");
    end(&l);
}
END_TEST

START_TEST(foreign_headers_are_judged_by_what_cycles_asks)
{
    looking l;
    made_image m = make_image(100, 60, 3, TXM_TYPE_FLOAT, 64, (txm_compression){0}, MADE_NOISE);
    m.layout.levels -= 2;
    write_foreign_tiff("a.tx", &m, (foreign_tiff){.compression = 8, .predictor = 1});
    look(&l, "a.tx", TXM_MAKER_OTHER);
    ck_assert_int_eq(txm_verify_header(&l.v, NULL), TXM_OK);
    ck_assert_ptr_nonnull(strstr(said(&l, "TXM-104"), "5 levels, where 100x60 px have 7"));
    ck_assert_ptr_nonnull(strstr(said(&l, "TXM-105"), "3 channels"));
    ck_assert_ptr_null(said(&l, "TXM-206")); /* other programs do not write this */
    ck_assert(l.v.regular);
    end(&l);
    /* If the same file says that Blender made it, it lacks what Blender writes. */
    look(&l, "a.tx", TXM_MAKER_BLENDER);
    ck_assert_int_eq(txm_verify_header(&l.v, NULL), TXM_OK);
    ck_assert_ptr_nonnull(said(&l, "TXM-206"));
    ck_assert_ptr_nonnull(said(&l, "TXM-303"));
    end(&l);
    free_image(&m);
}
END_TEST

/* ---- origin ------------------------------------------------------------------------------------------------------ */

static char *located(const char *tx, const char *stored)
{
    bool exhausted = true;
    int trouble = 0;
    char *path = txm_locate_source(tx, stored, &exhausted, &trouble);
    ck_assert(!exhausted && !trouble);
    return path;
}

START_TEST(sources_are_where_cycles_would_look)
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
END_TEST

START_TEST(origins_have_name_and_time)
{
    looking l;
    struct stat st;
    convert("rgb8.png", "a.tx", false);
    look(&l, "a.tx", TXM_MAKER_TXMILL);
    l.options.source = "rgb8.png";
    ck_assert_int_eq(txm_verify_origin(&l.v, NULL), TXM_OK);
    ck_assert_str_eq(l.v.source, "rgb8.png");
    expect_only(&l, "TXM-302", NULL); /* a.tx is not a name in a cache folder */
    end(&l);
    ck_assert_int_eq(stat("rgb8.png", &st), 0);
    ck_assert_int_eq(utime("rgb8.png", &(struct utimbuf){st.st_atime, st.st_mtime + 3700}), 0);
    look(&l, "a.tx", TXM_MAKER_TXMILL);
    l.options.source = "rgb8.png";
    ck_assert_int_eq(txm_verify_origin(&l.v, NULL), TXM_OK);
    ck_assert_ptr_nonnull(strstr(said(&l, "TXM-401"), "newer than the tx file"));
    end(&l);
    look(&l, "a.tx", TXM_MAKER_TXMILL);
    l.options.source = "gone.png";
    ck_assert_int_eq(txm_verify_origin(&l.v, NULL), TXM_OK);
    ck_assert_ptr_nonnull(strstr(said(&l, "TXM-402"), "no file at gone.png"));
    ck_assert_ptr_null(l.v.source);
    end(&l);
    /* One is the name of another image, and no settings lead to the other one. */
    static const char wrong[] = "wood.png.0-00000000000000000000000000000000.tx";
    static const char misfit[] = "rgb8.png.0-00000000000000000000000000000000.tx";
    ck_assert_int_eq(rename("a.tx", wrong), 0);
    look(&l, wrong, TXM_MAKER_TXMILL);
    ck_assert_int_eq(txm_verify_origin(&l.v, NULL), TXM_OK);
    ck_assert_ptr_nonnull(strstr(said(&l, "TXM-307"), "named for wood.png"));
    end(&l);
    ck_assert_int_eq(rename(wrong, misfit), 0);
    look(&l, misfit, TXM_MAKER_TXMILL);
    ck_assert_int_eq(txm_verify_origin(&l.v, NULL), TXM_OK);
    ck_assert(said(&l, "TXM-301") || said(&l, "TXM-304"));
    end(&l);
}
END_TEST

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

static txm_pixel_check begin_check(looking *l)
{
    txm_pixel_check c = {.v = &l->v};
    c.pixel_bytes = l->v.info->channels * txm_type_bytes(l->v.info->type);
    return c;
}

/* Jobs have pointers to the check, so it is filled in place. */
static void begin_jobs(txm_pixel_check *c)
{
    pthread_mutex_init(&c->lock, NULL);
    ck_assert_int_eq(txm_job_init(&c->job, txm_context_pool(context), &cancel, false, NULL), TXM_OK);
}

static void end_jobs(txm_pixel_check *c)
{
    txm_group_wait(c->job.group, 0);
    txm_job_destroy(&c->job);
    pthread_mutex_destroy(&c->lock);
}

START_TEST(runs_have_as_many_pixels)
{
    static const struct {
        uint32_t tile, tiles;
    } cases[] = {{16, 256}, {64, 16}, {256, 1}, {512, 1}};
    for (int i = 0; i < 4; i++) {
        const txm_tx_info info = {.tile_w = cases[i].tile, .tile_h = cases[i].tile};
        txm_verification v = {.info = &info};
        const txm_pixel_check c = {.v = &v};
        ck_assert_uint_eq(txm_tile_run_length(&c), cases[i].tiles);
    }
}
END_TEST

START_TEST(damaged_tiles_are_findings_with_a_place)
{
    looking l;
    uint8_t pixels[64 * 64 * 4];
    uint32_t w, h;
    bool ok = false;
    convert("rgb8.png", "a.tx", true);
    damage("a.tx", 1);
    look(&l, "a.tx", TXM_MAKER_TXMILL);
    txm_pixel_check c = begin_check(&l);
    begin_jobs(&c);
    ck_assert(txm_check_decode(&c, 0, 0, 0, pixels, 64 * c.pixel_bytes, &w, &h, &ok) && ok);
    ck_assert(w == 64 && h == 64);
    expect_only(&l, NULL, NULL);
    ck_assert(txm_check_decode(&c, 1, 0, 0, pixels, 64 * c.pixel_bytes, &w, &h, &ok) && !ok);
    ck_assert_uint_eq(l.findings.count, 1);
    ck_assert(l.findings.items[0].level == 1 && l.findings.items[0].tile_x == 0 && l.findings.items[0].tile_y == 0);
    ck_assert_ptr_null(strstr(l.findings.items[0].text, "a.tx")); /* the report says which file it was */
    ck_assert(atomic_load(&l.v.damaged[1]) && !atomic_load(&l.v.damaged[0]));
    ck_assert(txm_job_runs(&c.job));
    end_jobs(&c);
    end(&l);
}
END_TEST

/* Returns the rows of a row of tiles as the file has them. */
static txm_band *band_of(const looking *l, txm_band_pool *pool, uint32_t level, uint32_t tile_y)
{
    const txm_tx_info *i = l->v.info;
    const txm_tx_level *shape = txm_tx_level_of(l->v.tx, level);
    size_t px = i->channels * txm_type_bytes(i->type);
    uint32_t y = tile_y * i->tile_h, rows = shape->height - y < i->tile_h ? shape->height - y : i->tile_h;
    txm_band *band = txm_band_new(pool, level, y, rows, shape->width * px, NULL);
    txm_level_picture p;
    ck_assert_int_eq(txm_level_picture_read(l->v.tx, level, false, &p, NULL), TXM_OK);
    memcpy(band->pixels, p.pixels + (size_t)y * band->stride_bytes, rows * band->stride_bytes);
    txm_level_picture_clear(&p);
    return band;
}

START_TEST(bands_are_compared_with_tiles_and_borders)
{
    looking l;
    convert("rgb8.png", "a.tx", true);
    look(&l, "a.tx", TXM_MAKER_TXMILL);
    txm_band_pool *pool = txm_band_pool_new();
    for (unsigned changed = 0; changed < 2; changed++) {
        txm_pixel_check c = begin_check(&l);
        begin_jobs(&c);
        txm_band *band = band_of(&l, pool, 1, 0);
        band->pixels[0] ^= (uint8_t)changed;
        ck_assert(txm_submit_compare(&c, band));
        txm_group_wait(c.job.group, 0);
        ck_assert_uint_eq(c.diffs[1].samples, (uint64_t)band->rows * band->stride_bytes);
        ck_assert_uint_eq(c.diffs[1].different, changed);
        /* Borders repeat the image: around the only band of a small level there is only that band. */
        uint32_t last = l.v.info->levels - 2;
        txm_band *small = band_of(&l, pool, last, 0), *around[TXM_BANDS_AROUND] = {NULL};
        ck_assert(txm_submit_borders(&c, last, 0, small, around));
        ck_assert(txm_submit_borders(&c, 0, 0, NULL, NULL));
        ck_assert(txm_submit_decode(&c, 0, 0));
        end_jobs(&c);
        txm_band_drop(band);
        txm_band_drop(small);
        expect_only(&l, NULL, NULL);
    }
    txm_band_pool_free(&pool);
    end(&l);
}
END_TEST

START_TEST(borders_that_show_other_pixels_are_found)
{
    looking l;
    made_image m = make_image(150, 70, 4, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_NOISE);
    made_image other = make_image(150, 70, 4, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_SMOOTH);
    txm_tx_metadata metadata = made_metadata();
    txm_tx_summary summary = made_summary();
    int fd = open("a.tx", O_RDWR | O_CREAT | O_TRUNC, 0600);
    ck_assert_int_eq(write_image(fd, &m, &metadata, &summary, NULL, NULL), TXM_OK);
    close(fd);
    append_section("a.tx", &other);
    look(&l, "a.tx", TXM_MAKER_TXMILL);
    txm_pixel_check c = begin_check(&l);
    begin_jobs(&c);
    ck_assert(txm_submit_borders(&c, 0, 1, NULL, NULL));
    end_jobs(&c);
    ck_assert_uint_eq(l.findings.count, 3);
    ck_assert_ptr_nonnull(said(&l, "TXM-505"));
    end(&l);
    free_image(&m);
    free_image(&other);
}
END_TEST

/* ---- pixels ------------------------------------------------------------------------------------------------------ */

START_TEST(pixels_are_what_a_conversion_gives)
{
    looking l;
    convert("half-rgb.exr", "a.tx", true);
    look(&l, "a.tx", TXM_MAKER_TXMILL);
    l.v.regular = true;
    ck_assert_int_eq(txm_verify_pixels(&l.v, NULL), TXM_OK);
    ck_assert_int_eq(txm_verify_decoding(&l.v, NULL), TXM_OK);
    expect_only(&l, NULL, NULL);
    /* The SHA-1 in the file is that of its pixels. */
    l.v.description.sha1[0] = l.v.description.sha1[0] == '0' ? '1' : '0';
    ck_assert_int_eq(txm_verify_pixels(&l.v, NULL), TXM_OK);
    expect_only(&l, "TXM-201", NULL);
    end(&l);
    /* Levels of another program's file are decoded but not recomputed. */
    look(&l, "a.tx", TXM_MAKER_OTHER);
    l.v.regular = true;
    ck_assert_int_eq(txm_verify_pixels(&l.v, NULL), TXM_OK);
    ck_assert_ptr_nonnull(said(&l, "TXM-205"));
    end(&l);
    damage("a.tx", 0);
    look(&l, "a.tx", TXM_MAKER_TXMILL);
    ck_assert_int_eq(txm_verify_decoding(&l.v, NULL), TXM_OK);
    expect_only(&l, "TXM-102", NULL);
    cancel = 1;
    txm_error err = {0};
    ck_assert_int_eq(txm_verify_decoding(&l.v, &err), TXM_STATUS_CANCELLED);
    ck_assert_int_eq(txm_verify_pixels(&l.v, &err), TXM_STATUS_CANCELLED);
    cancel = 0;
    end(&l);
}
END_TEST

START_TEST(levels_are_compared_tile_by_tile)
{
    convert("rgb8.png", "a.tx", false);
    convert("rgb8.png", "b.tx", false);
    for (int round = 0; round < 3; round++) {
        txm_job job;
        txm_level_diff diff;
        txm_error err = {0};
        txm_tx *a = open_tx("a.tx"), *b = open_tx("b.tx");
        const txm_tx_info *i = txm_tx_info_of(a);
        ck_assert_int_eq(txm_job_init(&job, txm_context_pool(context), &cancel, false, NULL), TXM_OK);
        ck_assert_int_eq(txm_compare_level(&job, a, b, 0, &diff, &err), TXM_OK);
        ck_assert_uint_eq(diff.different, 0);
        if (round == 0)
            ck_assert_uint_eq(diff.samples, (uint64_t)i->width * i->height * i->channels);
        else /* tiles that cannot be decoded were reported before and are skipped */
            ck_assert_uint_lt(diff.samples, (uint64_t)i->width * i->height * i->channels);
        if (round == 1) { /* but not in the reference file */
            ck_assert_int_eq(txm_compare_level(&job, b, a, 0, &diff, &err), TXM_STATUS_CORRUPT);
            ck_assert(!txm_job_runs(&job));
        } else if (round == 2) {
            cancel = 1;
            ck_assert_int_eq(txm_compare_level(&job, a, b, 1, &diff, &err), TXM_STATUS_CANCELLED);
            cancel = 0;
        }
        txm_job_destroy(&job);
        txm_tx_close(&a);
        txm_tx_close(&b);
        if (round == 0)
            damage("b.tx", 0);
    }
}
END_TEST

/* ---- the source again -------------------------------------------------------------------------------------------- */

START_TEST(deep_needs_a_source_and_settings)
{
    looking l;
    convert("rgb8.png", "a.tx", false);
    convert("rgba8.png", "b.tx", false);
    look(&l, "a.tx", TXM_MAKER_OTHER);
    ck_assert_int_eq(txm_verify_deep(&l.v, NULL), TXM_OK);
    expect_only(&l, "TXM-603", "another program");
    end(&l);
    look(&l, "a.tx", TXM_MAKER_TXMILL);
    ck_assert_int_eq(txm_verify_deep(&l.v, NULL), TXM_OK);
    expect_only(&l, "TXM-603", "--source");
    end(&l);
    static const char *const sources[] = {"rgb8.png", "gray8.png", "broken.png"};
    convert("gray8.png", "c.tx", false);
    batch_file("broken.png", "no image");
    for (int i = 0; i < 3; i++) {
        look(&l, "a.tx", TXM_MAKER_TXMILL);
        l.v.regular = true;
        l.v.source = strdup(sources[i]);
        txm_error err = {0};
        ck_assert_msg(txm_verify_deep(&l.v, &err) == TXM_OK, "%s", err.message);
        ck_assert_int_eq(said(&l, "TXM-602") || said(&l, "TXM-601"), i == 1);
        ck_assert_int_eq(said(&l, "TXM-603") != NULL, i == 2);
        end(&l);
    }
    /* If there is no space for the copy, that says nothing about the file. */
    setenv("TMPDIR", "/proc/no-folder", 1);
    look(&l, "a.tx", TXM_MAKER_TXMILL);
    l.v.regular = true;
    l.v.source = strdup("rgb8.png");
    txm_error err = {0};
    txm_status status = txm_verify_deep(&l.v, &err);
    ck_assert(status != TXM_OK || said(&l, "TXM-603"));
    ck_assert_ptr_null(said(&l, "TXM-601"));
    unsetenv("TMPDIR");
    end(&l);
}
END_TEST

/* Copies of processes that have ended are removed; those of this process stay. */
START_TEST(killed_comparisons_are_swept)
{
    char here[1024];
    ck_assert_ptr_nonnull(getcwd(here, sizeof here));
    setenv("TMPDIR", here, 1);
    batch_file("unrelated.txm-tmp", "");
    /* One file is left by a process that has ended, and one belongs to this process. */
    pid_t child = fork();
    if (child == 0) {
        char *path = txm_owned_path(here, "txmill-verify", ".txm-tmp");
        _exit(path && rename("unrelated.txm-tmp", path) == 0 ? 0 : 1);
    }
    int status;
    ck_assert(waitpid(child, &status, 0) == child && status == 0);
    batch_file("unrelated.txm-tmp", "");
    char *own = txm_owned_path(here, "txmill-verify", ".txm-tmp");
    batch_file(own, "");
    ck_assert_uint_eq(batch_count(), 3);
    txm_verify_sweep();
    ck_assert_uint_eq(batch_count(), 2);
    ck_assert_int_eq(access(own, F_OK), 0);
    ck_assert(txm_owned_remove(own));
    free(own);
    txm_verify_sweep();
    ck_assert_int_eq(access("unrelated.txm-tmp", F_OK), 0);
    looking l;
    convert("rgb8.png", "a.tx", false);
    look(&l, "a.tx", TXM_MAKER_TXMILL);
    l.v.regular = true;
    l.v.source = strdup("rgb8.png");
    size_t files = batch_count();
    ck_assert_int_eq(txm_verify_deep(&l.v, NULL), TXM_OK);
    ck_assert_uint_eq(batch_count(), files);
    unsetenv("TMPDIR");
    end(&l);
}
END_TEST

/* ---- pictures of levels ------------------------------------------------------------------------------------------ */

START_TEST(pictures_hold_levels_or_all_of_them)
{
    made_image m = make_image(150, 70, 1, TXM_TYPE_U16, 64, (txm_compression){0}, MADE_NOISE);
    txm_tx_metadata metadata = made_metadata();
    txm_tx_summary summary = made_summary();
    txm_level_picture p;
    txm_error err = {0};
    int fd = open("a.tx", O_RDWR | O_CREAT | O_TRUNC, 0600);
    ck_assert_int_eq(write_image(fd, &m, &metadata, &summary, NULL, NULL), TXM_OK);
    close(fd);
    txm_tx *tx = open_tx("a.tx");
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
    txm_tx_close(&tx);
    free_image(&m);
}
END_TEST

START_TEST(linear_levels_are_encoded_for_viewing)
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
END_TEST

START_TEST(values_mean_what_the_file_says)
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
END_TEST

/* ---- borders ----------------------------------------------------------------------------------------------------- */

/* Copies a file and makes borders for the copy. */
static void add_borders(const char *from, const char *to, txm_context *threads)
{
    txm_tx *tx = open_tx(from);
    const txm_tx_info *i = txm_tx_info_of(tx);
    const txm_tx_layout layout = {i->width, i->height, i->levels, i->channels, i->type, i->tile_w, {TXM_CODEC_ZIP, 0}};
    txm_section_writer *writer = NULL;
    txm_error err = {0};
    int fd = open(to, O_RDWR | O_CREAT | O_TRUNC, 0600);
    ck_assert_int_eq(txm_section_writer_new(&layout, ".", &writer, &err), TXM_OK);
    ck_assert_msg(txm_borders_make(tx, threads, writer, &err) == TXM_OK, "%s", err.message);
    ck_assert_int_eq(txm_section_copy_image(tx, fd, &err), TXM_OK);
    ck_assert_msg(txm_section_writer_finish(writer, fd, txm_tx_image_end(tx), &err) == TXM_OK, "%s", err.message);
    txm_section_writer_free(&writer);
    close(fd);
    txm_tx_close(&tx);
}

START_TEST(borders_do_not_depend_on_threads)
{
    /* The last row of tiles is one pixel high; then a single tile; then a single pixel. */
    static const uint32_t sizes[][2] = {{200, 129}, {64, 64}, {1, 1}, {3, 300}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        made_image m = make_image(sizes[s][0], sizes[s][1], 4, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_NOISE);
        txm_tx_metadata metadata = made_metadata();
        txm_tx_summary summary = made_summary();
        size_t alone_bytes, together_bytes;
        int fd = open("plain.tx", O_RDWR | O_CREAT | O_TRUNC, 0600);
        ck_assert_int_eq(write_image(fd, &m, &metadata, &summary, NULL, NULL), TXM_OK);
        close(fd);
        add_borders("plain.tx", "alone.tx", NULL);
        add_borders("plain.tx", "together.tx", context);
        uint8_t *alone = load_file("alone.tx", &alone_bytes), *together = load_file("together.tx", &together_bytes);
        ck_assert_uint_eq(alone_bytes, together_bytes);
        ck_assert_mem_eq(alone, together, alone_bytes);
        free(alone);
        free(together);
        txm_tx *tx = open_tx("alone.tx");
        ck_assert_int_eq(txm_tx_info_of(tx)->section, TXM_SECTION_STATE_VALID);
        for (uint32_t l = 0; l < m.layout.levels; l++)
            for (uint32_t y = 0; y < txm_tx_level_of(tx, l)->tiles_y; y++)
                for (uint32_t x = 0; x < txm_tx_level_of(tx, l)->tiles_x; x++)
                    ck_assert_int_eq(txm_tx_check_border(tx, l, x, y, NULL), TXM_OK);
        txm_tx_close(&tx);
        free_image(&m);
    }
}
END_TEST

START_TEST(borders_of_damaged_files_are_not_made)
{
    txm_error err = {0};
    txm_section_writer *writer = NULL;
    convert("rgb8.png", "a.tx", false);
    for (int round = 0; round < 2; round++) {
        txm_tx *tx = open_tx("a.tx");
        const txm_tx_info *i = txm_tx_info_of(tx);
        const txm_tx_layout layout = {i->width, i->height, i->levels,         i->channels,
                                      i->type,  i->tile_w, {TXM_CODEC_ZIP, 0}};
        ck_assert_int_eq(txm_section_writer_new(&layout, ".", &writer, &err), TXM_OK);
        cancel = round == 0;
        ck_assert_int_eq(txm_borders_make(tx, context, writer, &err),
                         round == 0 ? TXM_STATUS_CANCELLED : TXM_STATUS_CORRUPT);
        cancel = 0;
        txm_section_writer_free(&writer);
        txm_tx_close(&tx);
        if (round == 0)
            damage("a.tx", 0);
        err = (txm_error){0};
    }
}
END_TEST

/* ---- listings --------------------------------------------------------------------------------------------------- */

START_TEST(folders_are_listed_once)
{
    txm_listings all = {0};
    txm_listing *l = NULL, *again = NULL;
    txm_error err = {0};
    batch_folder("l");
    static const char *const names[] = {"a.png", "a.png.0-X.tx", "a.png.0-Y.tx", "ab", "b", "\xFF"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[64];
        snprintf(path, sizeof path, "l/%s", names[i]);
        batch_file(path, "x");
    }
    ck_assert_int_eq(txm_listings_get(&all, "l", &l, &err), TXM_OK);
    ck_assert(txm_listing_has(l, "a.png", 5) && txm_listing_has(l, "b", 1) && txm_listing_has(l, "\xFF", 1));
    ck_assert(!txm_listing_has(l, "a", 1) && !txm_listing_has(l, "a.png.0", 7) && !txm_listing_has(l, "c", 1));
    const size_t first = txm_listing_find(l, "a.png.0", 7);
    ck_assert_str_eq(l->names[first], "a.png.0-X.tx");
    ck_assert_str_eq(l->names[first + 1], "a.png.0-Y.tx");
    const int64_t time = txm_listing_time(l, first);
    ck_assert_int_gt(time, 0);
    unlink("l/a.png.0-X.tx");
    ck_assert_int_eq(txm_listing_time(l, first), time);
    unlink("l/b");
    ck_assert_int_eq(txm_listing_time(l, txm_listing_find(l, "b", 1)), INT64_MIN);
    ck_assert_int_eq(txm_listings_get(&all, "l", &again, &err), TXM_OK);
    ck_assert_uint_eq(all.count, 1);
    ck_assert(txm_listing_has(again, "b", 1));
    ck_assert_int_eq(txm_listings_get(&all, "nowhere", &again, &err), TXM_OK);
    ck_assert_uint_eq(again->count, 0);
    ck_assert(!txm_listing_has(again, "b", 1));
    ck_assert_int_eq(txm_listings_get(&all, "", &again, &err), TXM_OK);
    ck_assert(txm_listing_has(again, "l", 1));
    txm_listings_free(&all);
    txm_listings_free(&all);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parts of inspect");
    TCase *t = add_case(suite, "verify");
    tcase_add_checked_fixture(t, start, stop);
    add_tests(t, headers_of_own_files_are_good, foreign_headers_are_judged_by_what_cycles_asks,
              sources_are_where_cycles_would_look, origins_have_name_and_time, runs_have_as_many_pixels,
              damaged_tiles_are_findings_with_a_place, bands_are_compared_with_tiles_and_borders,
              borders_that_show_other_pixels_are_found, pixels_are_what_a_conversion_gives,
              levels_are_compared_tile_by_tile, deep_needs_a_source_and_settings, killed_comparisons_are_swept,
              folders_are_listed_once);
    t = add_case(suite, "pictures and borders");
    tcase_add_checked_fixture(t, start, stop);
    add_tests(t, pictures_hold_levels_or_all_of_them, linear_levels_are_encoded_for_viewing,
              values_mean_what_the_file_says, borders_do_not_depend_on_threads, borders_of_damaged_files_are_not_made);
    return run_suite(suite);
}
