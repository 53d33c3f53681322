/* SPDX-License-Identifier: Apache-2.0
 * The stages of a conversion one by one, between a source or sink that belongs to the test: feeder, tiler, hash,
 * encode queue. */
#include <check.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fail.h"
#include "mill/convert/encode_queue.h"
#include "mill/convert/feeder.h"
#include "mill/convert/hash_stage.h"
#include "mill/convert/tiler.h"
#include "util_check.h"
#include "util_faults.h"
#include "util_tx.h"

/* ---- a job ------------------------------------------------------------------------------------------------------- */

typedef struct work {
    txm_pool *pool;
    txm_job job;
    volatile int cancel;
    atomic_uint alive; /* bands that the test made */
} work;

static work *begin(unsigned threads)
{
    work *w = calloc(1, sizeof *w);
    ck_assert_ptr_nonnull(w->pool = txm_pool_new(threads));
    ck_assert_int_eq(txm_job_init(&w->job, w->pool, &w->cancel, true, NULL), TXM_OK);
    return w;
}

/* All bands must have been freed. */
static void end(work *w)
{
    txm_group_wait(w->job.group, 0);
    ck_assert_uint_eq(w->alive, 0);
    txm_job_destroy(&w->job);
    txm_pool_free(w->pool);
    free(w);
}

/* Makes a band of rows y .. y + rows - 1 of a level of `image`. */
static txm_band *band_of(work *w, const made_image *image, uint32_t level, uint32_t y, uint32_t rows)
{
    size_t stride = txm_level_size(image->layout.width, level) * made_pixel_bytes(image);
    txm_band *band = txm_band_new(w->job.bands, level, y, rows, stride, &w->alive);
    ck_assert_ptr_nonnull(band);
    memcpy(band->pixels, image->levels[level] + y * stride, rows * stride);
    return band;
}

static uint32_t rows_at(const made_image *image, uint32_t level, uint32_t y, uint32_t most)
{
    uint32_t left = txm_level_size(image->layout.height, level) - y;
    return left < most ? left : most;
}

static made_image make(uint32_t width, uint32_t height, uint32_t channels, uint32_t tile)
{
    return make_image(width, height, channels, TXM_TYPE_U8, tile, (txm_compression){TXM_CODEC_ZIP, 1}, MADE_NOISE);
}

/* ---- tiler ------------------------------------------------------------------------------------------------------- */

enum { MOST_BANDS = 64 };

/* Takes the encoder's place: records the levels, and what arrived when. */
typedef struct receiver {
    const txm_tx_layout *layout;
    uint8_t *levels[TXM_MAX_LEVELS];
    uint32_t next[TXM_MAX_LEVELS]; /* row at which a level's next band must begin */
    bool bordered[TXM_MAX_LEVELS][MOST_BANDS];
    unsigned borders, refuse_from; /* from this band on, tiles fail; 0: never */
    unsigned tiles;
} receiver;

static bool take_tiles(void *context, txm_band *band)
{
    receiver *r = context;
    ck_assert_uint_eq(band->y, r->next[band->level]);
    ck_assert_uint_le(band->rows, r->layout->tile_px);
    r->next[band->level] += band->rows;
    r->tiles++;
    if (!r->levels[band->level])
        r->levels[band->level] = malloc(band->stride_bytes * txm_level_size(r->layout->height, band->level));
    memcpy(r->levels[band->level] + band->y * band->stride_bytes, band->pixels, band->rows * band->stride_bytes);
    return !r->refuse_from || r->tiles < r->refuse_from;
}

/* All rows that a border needs must be there and must have the level's pixels. */
static bool take_borders(void *context, txm_band *band, txm_band *const around[4])
{
    receiver *r = context;
    uint32_t h = txm_level_size(r->layout->height, band->level), index = band->y / r->layout->tile_px;
    ck_assert(!r->bordered[band->level][index]);
    r->bordered[band->level][index] = true;
    r->borders++;
    for (int64_t y = (int64_t)band->y - TXM_BORDER_PX; y < (int64_t)band->y + band->rows + TXM_BORDER_PX; y++) {
        uint32_t wrapped = (uint32_t)((y % h + h) % h);
        ck_assert_mem_eq(txm_band_row_near(band, around, wrapped),
                         r->levels[band->level] + wrapped * band->stride_bytes, band->stride_bytes);
    }
    return true;
}

static void forget(receiver *r)
{
    for (int i = 0; i < TXM_MAX_LEVELS; i++)
        free(r->levels[i]);
}

static txm_pyramid_spec spec_of(const txm_tx_layout *l)
{
    return (txm_pyramid_spec){.width = l->width, .height = l->height, .channels = l->channels, .type = l->type};
}

static void push_all(work *w, txm_tiler *tiler, const made_image *image)
{
    uint32_t px = image->layout.tile_px;
    for (uint32_t y = 0; y < image->layout.height; y += px) {
        txm_band *band = band_of(w, image, 0, y, rows_at(image, 0, y, px));
        txm_tiler_push(tiler, band);
        txm_band_drop(band);
    }
}

/* Heights from one row to many bands, and heights around multiples of a band. */
START_TEST(every_band_comes_once_and_with_its_neighbours)
{
    static const uint32_t heights[] = {1, 2, 15, 16, 17, 18, 31, 32, 33, 48, 49, 100, 161};
    work *w = begin(1);
    made_image image = make(37, heights[_i], 4, 16);
    const txm_tx_layout *l = &image.layout;
    const txm_pyramid_spec spec = spec_of(l);
    receiver r = {.layout = l};
    const txm_tiler_sink sink = {&r, take_tiles, take_borders};
    txm_tiler *tiler = NULL;
    ck_assert_int_eq(txm_tiler_new(&w->job, &spec, l, txm_ops_best(), &sink, &tiler, NULL), TXM_OK);
    push_all(w, tiler, &image);
    ck_assert_int_eq(w->job.error.status, TXM_OK);
    ck_assert_mem_eq(r.levels[0], image.levels[0], (size_t)37 * 4 * heights[_i]);
    for (uint32_t i = 0; i < l->levels; i++)
        ck_assert_uint_eq(r.next[i], txm_level_size(l->height, i));
    ck_assert_uint_eq(r.borders, r.tiles);
    txm_tiler_free(&tiler);
    txm_tiler_free(&tiler);
    end(w);
    forget(&r);
    free_image(&image);
}
END_TEST

START_TEST(without_borders_only_tiles_come)
{
    work *w = begin(1);
    made_image image = make(20, 40, 1, 16);
    const txm_pyramid_spec spec = spec_of(&image.layout);
    receiver r = {.layout = &image.layout};
    const txm_tiler_sink sink = {&r, take_tiles, NULL};
    txm_tiler *tiler = NULL;
    ck_assert_int_eq(txm_tiler_new(&w->job, &spec, &image.layout, txm_ops_best(), &sink, &tiler, NULL), TXM_OK);
    push_all(w, tiler, &image);
    ck_assert_uint_eq(r.next[image.layout.levels - 1], 1);
    ck_assert_uint_eq(w->alive, 0); /* no band is kept for borders */
    txm_tiler_free(&tiler);
    end(w);
    forget(&r);
    free_image(&image);
}
END_TEST

START_TEST(a_sink_that_cannot_take_a_band_ends_the_job)
{
    work *w = begin(1);
    made_image image = make(20, 40, 1, 16);
    const txm_pyramid_spec spec = spec_of(&image.layout);
    receiver r = {.layout = &image.layout, .refuse_from = 1};
    const txm_tiler_sink sink = {&r, take_tiles, take_borders};
    txm_tiler *tiler = NULL;
    ck_assert_int_eq(txm_tiler_new(&w->job, &spec, &image.layout, txm_ops_best(), &sink, &tiler, NULL), TXM_OK);
    txm_band *first = band_of(w, &image, 0, 0, 16);
    txm_tiler_push(tiler, first);
    ck_assert_int_eq(w->job.error.status, TXM_STATUS_NO_MEMORY);
    ck_assert_str_eq(w->job.error.message, "out of memory for a band of 20 px rows");
    txm_band_drop(first);
    txm_tiler_free(&tiler); /* while bands are half done */
    end(w);
    forget(&r);
    free_image(&image);
}
END_TEST

/* Poles get one colour and edges are made equal. Upper levels are computed from the rows as they were pushed. */
START_TEST(spheres_are_closed_as_they_are_stored)
{
    work *w = begin(1);
    made_image image = make(32, 16, 4, 16);
    txm_pyramid_spec spec = spec_of(&image.layout);
    receiver r = {.layout = &image.layout};
    const txm_tiler_sink sink = {&r, take_tiles, take_borders};
    txm_tiler *tiler = NULL;
    spec.equiangular = true;
    ck_assert_int_eq(txm_tiler_new(&w->job, &spec, &image.layout, txm_ops_best(), &sink, &tiler, NULL), TXM_OK);
    push_all(w, tiler, &image);
    for (uint32_t y = 0; y < 16; y++) {
        const uint8_t *row = r.levels[0] + (size_t)y * 32 * 4;
        ck_assert_mem_eq(row, row + 31 * 4, 4);
        for (uint32_t x = 0; (y == 0 || y == 15) && x < 32; x++)
            ck_assert_mem_eq(row, row + x * 4, 4);
    }
    ck_assert(memcmp(r.levels[0], image.levels[0], 32 * 4) != 0);
    txm_tiler_free(&tiler);
    forget(&r);
    /* The rows were already closed, so they are used unchanged. */
    spec.closed = true;
    r = (receiver){.layout = &image.layout};
    ck_assert_int_eq(txm_tiler_new(&w->job, &spec, &image.layout, txm_ops_best(), &sink, &tiler, NULL), TXM_OK);
    push_all(w, tiler, &image);
    ck_assert_mem_eq(r.levels[0], image.levels[0], 32 * 16 * 4);
    txm_tiler_free(&tiler);
    end(w);
    forget(&r);
    free_image(&image);
}
END_TEST

static txm_status tiler_again(void *user)
{
    static const txm_tx_layout layout = {.width = 64, .height = 32, .levels = 7, .channels = 4, .tile_px = 16};
    txm_pyramid_spec spec = spec_of(&layout);
    receiver r = {.layout = &layout};
    const txm_tiler_sink sink = {&r, take_tiles, take_borders};
    txm_tiler *tiler = NULL;
    spec.equiangular = true;
    txm_status status = txm_tiler_new(&((work *)user)->job, &spec, &layout, txm_ops_best(), &sink, &tiler, NULL);
    txm_tiler_free(&tiler);
    return status;
}

START_TEST(a_tiler_may_find_no_memory)
{
    work *w = begin(1);
    refuse_each(tiler_again, w);
    end(w);
}
END_TEST

/* ---- hash -------------------------------------------------------------------------------------------------------- */

/* Computes the digest row by row, according to its definition. */
static void digest_of(const made_image *image, char out[TXM_SHA1_HEX])
{
    const txm_tx_layout *l = &image->layout;
    txm_pixel_hash *hash = NULL;
    size_t stride = l->width * made_pixel_bytes(image);
    ck_assert_int_eq(txm_pixel_hash_new(l->width, l->height, l->channels, l->type, txm_ops_best(), &hash, NULL),
                     TXM_OK);
    for (uint32_t y = 0; y < l->height; y++)
        txm_pixel_hash_rows(hash, y, 1, image->levels[0] + y * stride, stride);
    ck_assert_int_eq(txm_pixel_hash_finish(hash, out, NULL), TXM_OK);
    txm_pixel_hash_free(&hash);
}

static void stage_digest(const made_image *image, uint32_t band_rows, bool pairs, unsigned threads,
                         char out[TXM_SHA1_HEX])
{
    const txm_tx_layout *l = &image->layout;
    work *w = begin(threads);
    txm_pixel_hash *hash = NULL;
    txm_hash_stage *stage = NULL;
    ck_assert_int_eq(txm_pixel_hash_new(l->width, l->height, l->channels, l->type, txm_ops_best(), &hash, NULL),
                     TXM_OK);
    ck_assert_int_eq(txm_hash_stage_new(&w->job, hash, pairs, &stage, NULL), TXM_OK);
    for (uint32_t y = 0; y < l->height; y += band_rows) {
        txm_band *band = band_of(w, image, 0, y, rows_at(image, 0, y, band_rows));
        ck_assert(txm_hash_stage_take(stage, band));
        txm_band_drop(band);
    }
    txm_group_wait(w->job.group, 0);
    ck_assert_int_eq(txm_pixel_hash_finish(hash, out, NULL), TXM_OK);
    txm_hash_stage_free(&stage);
    txm_hash_stage_free(&stage);
    txm_pixel_hash_free(&hash);
    end(w);
}

/* Bands are smaller than a block, as high as one, higher, and cross its end. The number of blocks is odd and the last
 * one is short. */
START_TEST(bands_of_any_height_have_one_digest)
{
    static const uint32_t band_rows[] = {16, 64, 128, 256, 512};
    made_image image = make(24, 5 * TXM_HASH_BLOCK_ROWS + 77, 4, 16);
    char expected[TXM_SHA1_HEX], got[TXM_SHA1_HEX];
    digest_of(&image, expected);
    for (size_t i = 0; i < sizeof band_rows / sizeof *band_rows; i++)
        for (int pairs = 0; pairs < 2; pairs++)
            for (unsigned threads = 1; threads <= 3; threads += 2) {
                stage_digest(&image, band_rows[i], pairs, threads, got);
                ck_assert_msg(!strcmp(got, expected), "bands of %u rows, pairs %d, %u threads", band_rows[i], pairs,
                              threads);
            }
    stage_digest(&image, 100, false, 2, got); /* not a power of two, so it is hashed by itself */
    ck_assert_str_eq(got, expected);
    free_image(&image);
}
END_TEST

START_TEST(bands_that_wait_for_their_partners_are_dropped)
{
    made_image image = make(24, 2 * TXM_HASH_BLOCK_ROWS, 4, 16);
    work *w = begin(1);
    txm_pixel_hash *hash = NULL;
    txm_hash_stage *stage = NULL;
    ck_assert_int_eq(txm_pixel_hash_new(24, 512, 4, TXM_TYPE_U8, txm_ops_best(), &hash, NULL), TXM_OK);
    ck_assert_int_eq(txm_hash_stage_new(&w->job, hash, true, &stage, NULL), TXM_OK);
    for (uint32_t y = 0; y < 128; y += 64) {
        txm_band *band = band_of(w, &image, 0, y, 64);
        ck_assert(txm_hash_stage_take(stage, band));
        txm_band_drop(band);
    }
    txm_group_wait(w->job.group, 0);
    ck_assert_uint_eq(w->alive, txm_pixel_hash_pairs(hash, 0) ? 2 : 0);
    txm_hash_stage_free(&stage);
    txm_pixel_hash_free(&hash);
    end(w);
    free_image(&image);
}
END_TEST

START_TEST(a_stopped_job_hashes_nothing)
{
    made_image image = make(24, 64, 4, 16);
    work *w = begin(1);
    txm_pixel_hash *hash = NULL;
    txm_hash_stage *stage = NULL;
    char digest[TXM_SHA1_HEX];
    ck_assert_int_eq(txm_pixel_hash_new(24, 64, 4, TXM_TYPE_U8, txm_ops_best(), &hash, NULL), TXM_OK);
    ck_assert_int_eq(txm_hash_stage_new(&w->job, hash, false, &stage, NULL), TXM_OK);
    txm_band *band = band_of(w, &image, 0, 0, 64);
    w->cancel = 1;
    ck_assert(txm_hash_stage_take(stage, band));
    txm_band_drop(band);
    txm_group_wait(w->job.group, 0);
    ck_assert_int_eq(w->job.error.status, TXM_STATUS_CANCELLED);
    char right[TXM_SHA1_HEX];
    digest_of(&image, right);
    ck_assert(txm_pixel_hash_finish(hash, digest, NULL) != TXM_OK || strcmp(digest, right) != 0);
    txm_hash_stage_free(&stage);
    txm_pixel_hash_free(&hash);
    end(w);
    free_image(&image);
}
END_TEST

/* Does what a job does: makes the stage and passes a band through it. */
typedef struct hashing {
    work *w;
    txm_pixel_hash *hash;
    txm_band *band;
} hashing;

static txm_status hash_again(void *user)
{
    hashing *h = user;
    txm_hash_stage *stage = NULL;
    txm_status status = txm_hash_stage_new(&h->w->job, h->hash, false, &stage, NULL);
    if (status == TXM_OK && !txm_hash_stage_take(stage, h->band))
        status = TXM_STATUS_NO_MEMORY;
    txm_group_wait(h->w->job.group, 0);
    txm_hash_stage_free(&stage);
    return status;
}

START_TEST(a_hash_stage_may_find_no_memory)
{
    made_image image = make(24, 64, 4, 16);
    hashing h = {.w = begin(1)};
    ck_assert_int_eq(txm_pixel_hash_new(24, 64, 4, TXM_TYPE_U8, txm_ops_best(), &h.hash, NULL), TXM_OK);
    h.band = band_of(h.w, &image, 0, 0, 64);
    h.w->cancel = 1; /* rows of a block must be pushed only once, so only queueing is tested here */
    refuse_each(hash_again, &h);
    ck_assert_uint_eq(h.band->references, 1);
    txm_band_drop(h.band);
    txm_pixel_hash_free(&h.hash);
    end(h.w);
    free_image(&image);
}
END_TEST

/* ---- encode queue ------------------------------------------------------------------------------------------------ */

/* Writes all tiles of an image to a descriptor through a queue, upper levels first. Returns the job's error. */
static txm_status encode(const made_image *image, unsigned threads, bool borders, int fd, txm_error *err)
{
    const txm_tx_layout *l = &image->layout;
    const txm_tx_metadata metadata = made_metadata();
    const txm_tx_summary summary = made_summary();
    work *w = begin(threads);
    txm_tx_writer *writer = NULL;
    txm_section_writer *section = NULL;
    txm_encode_queue *queue = NULL;
    uint64_t image_bytes = 0;
    ck_assert_int_eq(txm_tx_writer_open(fd, "made.tx", l, &metadata, &writer, err), TXM_OK);
    if (borders)
        ck_assert_int_eq(txm_section_writer_new(l, "/tmp", &section, err), TXM_OK);
    ck_assert_int_eq(txm_encode_queue_new(&w->job, l, writer, section, "/tmp", &queue, err), TXM_OK);
    for (uint32_t level = l->levels; level-- > 0;)
        for (uint32_t y = 0, h = txm_level_size(l->height, level); y < h; y += l->tile_px) {
            txm_band *all = band_of(w, image, level, 0, h); /* a band that contains every neighbour */
            txm_band *band = band_of(w, image, level, y, rows_at(image, level, y, l->tile_px));
            ck_assert(txm_encode_queue_tiles(queue, band));
            if (borders)
                ck_assert(txm_encode_queue_borders(queue, band, (txm_band *const[4]){all, NULL, NULL, NULL}));
            txm_band_drop(band);
            txm_band_drop(all);
        }
    txm_group_wait(w->job.group, 0);
    txm_status status = txm_fail_as(err, &w->job.error);
    if (status == TXM_OK)
        status = txm_encode_queue_finish(queue, err);
    if (status == TXM_OK)
        status = txm_tx_writer_finish(writer, &summary, &image_bytes, err);
    if (status == TXM_OK && borders)
        status = txm_section_writer_finish(section, fd, image_bytes, err);
    txm_encode_queue_free(&queue);
    txm_encode_queue_free(&queue);
    txm_section_writer_free(&section);
    txm_tx_writer_close(&writer);
    end(w);
    return status;
}

/* Makes a file in memory. */
static int memory_file(void)
{
    int fd = memfd_create("made.tx", 0);
    ck_assert_int_ge(fd, 0);
    return fd;
}

static uint8_t *content(int fd, size_t *bytes)
{
    *bytes = (size_t)lseek(fd, 0, SEEK_END);
    uint8_t *all = malloc(*bytes);
    ck_assert_int_eq(pread(fd, all, *bytes, 0), (ssize_t)*bytes);
    close(fd);
    return all;
}

/* Tiles are written in the file's order, whatever the order of levels and however many threads run. */
START_TEST(the_file_is_the_same_on_any_number_of_threads)
{
    made_image image = make(150, 90, 4, 16);
    txm_error err = {0};
    size_t expected_bytes, bytes;
    int fd = memory_file();
    ck_assert_msg(encode(&image, 1, true, fd, &err) == TXM_OK, "%s", err.message);
    uint8_t *expected = content(fd, &expected_bytes);
    for (unsigned threads = 2; threads <= 6; threads += 2) {
        fd = memory_file();
        ck_assert_msg(encode(&image, threads, true, fd, &err) == TXM_OK, "%s", err.message);
        uint8_t *got = content(fd, &bytes);
        ck_assert_uint_eq(bytes, expected_bytes);
        ck_assert_mem_eq(got, expected, bytes);
        free(got);
    }
    const char *path = temp_file("queued.tx");
    save_file(path, expected, expected_bytes);
    txm_tx *tx = open_tx(path);
    ck_assert_int_eq(txm_tx_info_of(tx)->section, TXM_SECTION_STATE_VALID);
    for (uint32_t level = 0; level < image.layout.levels; level++) {
        uint32_t w = txm_level_size(150, level), h = txm_level_size(90, level);
        for (uint32_t y = 0; y < h; y += 16)
            for (uint32_t x = 0; x < w; x += 16) {
                uint32_t valid_w = w - x < 16 ? w - x : 16, valid_h = h - y < 16 ? h - y : 16;
                uint8_t out[20 * 20 * 4];
                txm_tx_request r = {.struct_size = sizeof r,
                                    .level = level,
                                    .tile_x = x / 16,
                                    .tile_y = y / 16,
                                    .padding_px = 2,
                                    .pixels = out,
                                    .pixel_stride_bytes = 4,
                                    .row_stride_bytes = (valid_w + 4) * (size_t)4};
                ck_assert_int_eq(txm_tx_check_border(tx, level, x / 16, y / 16, NULL), TXM_OK);
                ck_assert_int_eq(txm_tx_read_tile(tx, &r, NULL), TXM_OK);
                uint8_t *want = brute_window(&image, level, x, y, valid_w, valid_h, 2, TXM_EXTENSION_REPEAT);
                ck_assert_mem_eq(out, want, (valid_w + 4) * (size_t)(valid_h + 4) * 4);
                free(want);
            }
    }
    txm_tx_close(&tx);
    free(expected);
    free_image(&image);
}
END_TEST

/* A tile from a device is ready to be written. Without a codec it consists of its pixels at full size. */
START_TEST(ready_tiles_are_written_as_they_are)
{
    enum { PX = 16, W = 2 * PX };
    const txm_tx_layout l = {
        .width = W, .height = PX, .levels = 6, .channels = 1, .tile_px = PX, .compression = {TXM_CODEC_NONE, 0}};
    const txm_tx_metadata metadata = made_metadata();
    const txm_tx_summary summary = made_summary();
    uint8_t ready[2][PX * PX];
    work *w = begin(1);
    txm_tx_writer *writer = NULL;
    txm_encode_queue *queue = NULL;
    const char *path = temp_file("ready.tx");
    int fd = memory_file();
    for (int t = 0; t < 2; t++)
        for (int i = 0; i < PX * PX; i++)
            ready[t][i] = (uint8_t)(i * 3 + t);
    ck_assert_int_eq(txm_tx_writer_open(fd, "made.tx", &l, &metadata, &writer, NULL), TXM_OK);
    ck_assert_int_eq(txm_encode_queue_new(&w->job, &l, writer, NULL, "/tmp", &queue, NULL), TXM_OK);
    for (uint32_t level = 0; level < l.levels; level++) {
        uint32_t rows = txm_level_size(PX, level);
        txm_band *band = txm_band_new(w->job.bands, level, 0, rows, sizeof ready, &w->alive);
        memcpy(band->pixels, ready, sizeof ready);
        band->ready = true;
        ck_assert(txm_encode_queue_tiles(queue, band));
        txm_band_drop(band);
    }
    txm_group_wait(w->job.group, 0);
    ck_assert_int_eq(txm_encode_queue_finish(queue, NULL), TXM_OK);
    ck_assert_int_eq(txm_tx_writer_finish(writer, &summary, NULL, NULL), TXM_OK);
    txm_encode_queue_free(&queue);
    txm_tx_writer_close(&writer);
    end(w);
    size_t bytes;
    uint8_t *all = content(fd, &bytes);
    save_file(path, all, bytes);
    free(all);
    txm_tx *tx = open_tx(path);
    for (uint32_t t = 0; t < 2; t++) {
        uint8_t out[PX * PX];
        txm_tx_request r = {
            .struct_size = sizeof r, .tile_x = t, .pixels = out, .pixel_stride_bytes = 1, .row_stride_bytes = PX};
        ck_assert_int_eq(txm_tx_read_tile(tx, &r, NULL), TXM_OK);
        ck_assert_mem_eq(out, ready[t], sizeof out);
    }
    txm_tx_close(&tx);
}
END_TEST

START_TEST(a_full_disk_ends_the_job)
{
    made_image image = make_image(600, 600, 4, TXM_TYPE_U8, 64, (txm_compression){TXM_CODEC_NONE, 0}, MADE_NOISE);
    txm_error err = {0};
    int fd = open("/dev/full", O_RDWR);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(encode(&image, 2, false, fd, &err), TXM_STATUS_DISK_FULL);
    ck_assert_msg(strstr(err.message, "made.tx") != NULL, "%s", err.message);
    close(fd);
    free_image(&image);
}
END_TEST

typedef struct queueing {
    work *w;
    txm_tx_writer *writer;
    const txm_tx_layout *layout;
    txm_band *band;
} queueing;

/* Returns the failure of the call or of the job. */
static txm_status queue_again(void *user)
{
    queueing *q = user;
    txm_encode_queue *queue = NULL;
    txm_status status = txm_encode_queue_new(&q->w->job, q->layout, q->writer, NULL, "/tmp", &queue, NULL);
    if (status == TXM_OK && !txm_encode_queue_tiles(queue, q->band))
        status = TXM_STATUS_NO_MEMORY;
    txm_group_wait(q->w->job.group, 0);
    txm_encode_queue_free(&queue);
    if (status == TXM_OK)
        status = q->w->job.error.status;
    q->w->job.error.status = TXM_OK; /* clears it for the next time */
    atomic_store(&q->w->job.stopped, false);
    return status;
}

START_TEST(a_queue_may_find_no_memory)
{
    made_image image = make(150, 90, 4, 16);
    const txm_tx_metadata metadata = made_metadata();
    queueing q = {.w = begin(1), .layout = &image.layout};
    int fd = memory_file();
    ck_assert_int_eq(txm_tx_writer_open(fd, "made.tx", q.layout, &metadata, &q.writer, NULL), TXM_OK);
    q.band = band_of(q.w, &image, 1, 0, 16);        /* this level goes to the spill */
    refuse_each_but(DOES_WITHOUT, queue_again, &q); /* so that a spill goes to disk at once */
    ck_assert_uint_eq(q.band->references, 1);
    txm_band_drop(q.band);
    txm_tx_writer_close(&q.writer);
    end(q.w);
    close(fd);
    free_image(&image);
}
END_TEST

/* ---- feeder ------------------------------------------------------------------------------------------------------ */

/* Takes the place of all stages after the feeder. */
typedef struct eater {
    txm_feed *feed;
    txm_feed_start what;
    unsigned starts, ends, bands;
    uint32_t next_row;
    uint8_t *pixels; /* all bands, one after the other */
    size_t bytes;
    bool refuses_start, conforms, refuses_place;
    uint8_t *raw;
    uint32_t raw_rows, last_progress;
} eater;

static bool eat_start(void *context, const txm_feed_start *what)
{
    eater *e = context;
    e->what = *what;
    e->starts++;
    e->feed->raw = e->conforms;
    if (e->refuses_start) {
        txm_error err = {0};
        txm_fail(&err, TXM_STATUS_DISK_FULL, "no room for the output");
        txm_job_fail(e->feed->job, &err);
    }
    return !e->refuses_start;
}

static void eat_band(void *context, txm_band *band)
{
    eater *e = context;
    size_t bytes = band->rows * band->stride_bytes;
    e->bands++;
    e->pixels = e->next_row == band->y ? e->pixels : NULL; /* a band out of order drops the pixels */
    e->next_row = band->y + band->rows;
    if (e->pixels)
        memcpy(e->pixels + e->bytes, band->pixels, bytes);
    e->bytes += bytes;
    txm_band_drop(band);
}

static void *eat_place(void *context, uint32_t rows)
{
    eater *e = context;
    if (e->refuses_place) {
        txm_error err = {0};
        txm_fail(&err, TXM_STATUS_DEVICE, "the device is gone");
        txm_job_fail(e->feed->job, &err);
        return NULL;
    }
    (void)rows;
    return e->raw;
}

static bool eat_placed(void *context, uint32_t rows)
{
    eater *e = context;
    e->raw_rows += rows;
    return true;
}

static bool eat_end(void *context)
{
    eater *e = context;
    e->ends++;
    return true;
}

static void eat_progress(void *user, uint32_t rows_done, uint32_t rows)
{
    eater *e = user;
    ck_assert(rows_done > e->last_progress && rows_done <= rows);
    e->last_progress = rows_done;
}

enum { W = 20, H = 50, BAND = 16 };

/* Returns a pixel of a PPM. */
typedef enum kind { COLOR, GREY, GREY_AT_FIRST, CONSTANT, CONSTANT_AT_FIRST } kind;

static uint8_t sample(kind k, uint32_t x, uint32_t y, uint32_t c)
{
    uint8_t noise = (uint8_t)(x * 7 + y * 13 + (x * y) % 11);
    if (k == CONSTANT || (k == CONSTANT_AT_FIRST && y < 40))
        return (uint8_t)(50 + c);
    if (k == GREY || (k == GREY_AT_FIRST && y < 40))
        return noise;
    return (uint8_t)(noise + 40 * c);
}

static const char *write_ppm(kind k, uint32_t rows_there)
{
    const char *path = temp_file("fed.ppm");
    char file[64 + W * H * 3];
    size_t at = (size_t)snprintf(file, 64, "P6\n%d %d\n255\n", W, H);
    for (uint32_t y = 0; y < rows_there; y++)
        for (uint32_t x = 0; x < W; x++)
            for (uint32_t c = 0; c < 3; c++)
                file[at++] = (char)sample(k, x, y, c);
    save_file(path, file, at);
    return path;
}

typedef struct meal {
    work *w;
    txm_conform conform;
    txm_feed feed;
    eater e;
    uint8_t pixels[W * H * 4], raw[W * BAND * 3];
} meal;

static meal *set_table(kind k, uint32_t rows_there, unsigned threads)
{
    meal *m = calloc(1, sizeof *m);
    txm_error err = {0};
    m->w = begin(threads);
    m->conform = (txm_conform){.ops = txm_ops_best(), .width = W, .src_channels = 3, .channels = 4};
    m->e = (eater){.feed = &m->feed, .pixels = m->pixels, .raw = m->raw};
    m->feed = (txm_feed){.job = &m->w->job,
                         .conform = &m->conform,
                         .band_rows = BAND,
                         .may_be_grey = true,
                         .sink = {&m->e, eat_start, eat_band, eat_place, eat_placed, eat_end},
                         .bands_in_flight = 2,
                         .progress = eat_progress,
                         .progress_user = &m->e};
    ck_assert_msg(txm_source_open(write_ppm(k, rows_there), NULL, &m->feed.source, &err) == TXM_OK, "%s", err.message);
    return m;
}

static void clear_table(meal *m)
{
    txm_source_close(&m->feed.source);
    end(m->w);
    free(m);
}

static void eats(meal *m, txm_status expected)
{
    txm_error err = {0};
    txm_status status = txm_feed_run(&m->feed, &err);
    ck_assert_msg(status == expected, "%d: %s", status, err.message);
    ck_assert_int_eq(m->w->job.error.status, expected);
    ck_assert_uint_eq(m->feed.alive, 0);
}

static void all_rows_came(const meal *m, kind k, uint32_t channels)
{
    ck_assert_ptr_nonnull(m->e.pixels);
    ck_assert_uint_eq(m->e.bytes, (size_t)W * H * channels);
    for (uint32_t i = 0; i < W * H * channels; i++) {
        uint32_t c = i % channels, x = i / channels % W, y = i / channels / W;
        ck_assert_uint_eq(m->pixels[i], c == 3 ? 255 : sample(k, x, y, c));
    }
}

START_TEST(colour_is_handed_on_in_bands)
{
    meal *m = set_table(COLOR, H, 1);
    double sum = 0;
    eats(m, TXM_OK);
    ck_assert(m->e.starts == 1 && m->e.ends == 1 && m->e.bands == 4 && m->e.last_progress == H);
    ck_assert(m->e.what.channels == 4 && m->e.what.width == W && m->e.what.height == H && !m->e.what.constant);
    ck_assert(!m->feed.grey && !m->feed.not_grey && !m->feed.constant);
    all_rows_came(m, COLOR, 4);
    for (uint32_t i = 0; i < W * H; i++)
        sum += sample(COLOR, i % W, i / W, 1) / 255.0;
    ck_assert_double_eq_tol(m->feed.stats.sum[1], sum, 1e-3);
    clear_table(m);
}
END_TEST

START_TEST(grey_is_stored_as_one_channel_where_that_is_wanted)
{
    meal *m = set_table(GREY, H, 2);
    eats(m, TXM_OK);
    ck_assert(m->e.what.channels == 1 && m->feed.grey && !m->feed.not_grey);
    all_rows_came(m, GREY, 1);
    clear_table(m);
    m = set_table(GREY, H, 1);
    m->feed.may_be_grey = false;
    eats(m, TXM_OK);
    ck_assert(m->e.what.channels == 4 && !m->feed.grey);
    all_rows_came(m, GREY, 4);
    clear_table(m);
}
END_TEST

START_TEST(the_first_colour_ends_an_attempt_at_grey)
{
    meal *m = set_table(GREY_AT_FIRST, H, 1);
    eats(m, TXM_OK);
    ck_assert(m->feed.not_grey && m->e.starts == 1 && m->e.ends == 0);
    ck_assert_uint_eq(m->e.bands, 2); /* the third one shows it */
    clear_table(m);
}
END_TEST

START_TEST(one_colour_becomes_one_tile)
{
    meal *m = set_table(CONSTANT, H, 1);
    eats(m, TXM_OK);
    ck_assert(m->feed.constant && m->e.what.constant && m->e.starts == 1 && m->e.ends == 1);
    ck_assert(m->e.what.width == W && m->e.what.height == H); /* a tile of 64 would be larger */
    all_rows_came(m, CONSTANT, 4);
    clear_table(m);
    /* When another colour comes late, the rows before it are produced again. */
    m = set_table(CONSTANT_AT_FIRST, H, 1);
    eats(m, TXM_OK);
    ck_assert(!m->feed.constant && !m->e.what.constant && m->e.starts == 1 && m->e.bands == 4);
    all_rows_came(m, CONSTANT_AT_FIRST, 4);
    clear_table(m);
}
END_TEST

START_TEST(failures_of_either_side_end_the_job)
{
    meal *m = set_table(COLOR, 30, 1); /* the file ends in its second band */
    eats(m, TXM_STATUS_CORRUPT);
    ck_assert(m->e.bands == 1 && m->e.ends == 0);
    clear_table(m);
    m = set_table(COLOR, H, 1);
    m->e.refuses_start = true;
    eats(m, TXM_STATUS_DISK_FULL);
    ck_assert_uint_eq(m->e.bands, 0);
    ck_assert_str_eq(m->w->job.error.message, "no room for the output");
    clear_table(m);
    m = set_table(COLOR, H, 1);
    m->w->cancel = 1;
    eats(m, TXM_STATUS_CANCELLED);
    ck_assert_uint_eq(m->e.starts, 0);
    clear_table(m);
}
END_TEST

/* After its first band, a sink may take rows in the source's layout. */
START_TEST(raw_rows_go_where_the_sink_says)
{
    meal *m = set_table(COLOR, H, 1);
    m->e.conforms = true;
    m->feed.stats.grey = false;
    eats(m, TXM_OK);
    ck_assert(m->e.starts == 1 && m->e.bands == 1 && m->e.raw_rows == H - BAND && m->e.ends == 1);
    for (uint32_t i = 0; i < W * 2 * 3; i++) /* the last two rows */
        ck_assert_uint_eq(m->raw[i], sample(COLOR, i / 3 % W, H - 2 + i / 3 / W, i % 3));
    clear_table(m);
    m = set_table(COLOR, H, 1);
    m->e.conforms = m->e.refuses_place = true;
    eats(m, TXM_STATUS_DEVICE);
    ck_assert_str_eq(m->w->job.error.message, "the device is gone");
    clear_table(m);
}
END_TEST

/* Uses its own pool of bands, which keeps their memory. */
static txm_status feed_again(void *user)
{
    meal *m = user;
    txm_job *job = &m->w->job;
    m->e.bytes = m->e.next_row = 0;
    txm_status status = txm_source_rewind(m->feed.source, NULL);
    job->bands = txm_band_pool_new();
    if (status == TXM_OK)
        status = job->bands ? txm_feed_run(&m->feed, NULL) : TXM_STATUS_NO_MEMORY;
    txm_band_pool_free(&job->bands);
    job->error.status = TXM_OK; /* clears it for the next time */
    atomic_store(&job->stopped, false);
    return status;
}

START_TEST(a_feeder_may_find_no_memory)
{
    meal *m = set_table(GREY, H, 1);
    txm_band_pool_free(&m->w->job.bands);
    m->feed.progress = NULL; /* the callback makes assertions */
    refuse_each(feed_again, m);
    clear_table(m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("stages of a conversion");
    TCase *tiler = add_case(suite, "tiler");
    temp_file("");
    tcase_add_loop_test(tiler, every_band_comes_once_and_with_its_neighbours, 0, 13);
    add_tests(tiler, without_borders_only_tiles_come, a_sink_that_cannot_take_a_band_ends_the_job,
              spheres_are_closed_as_they_are_stored, a_tiler_may_find_no_memory);
    add_tests(add_case(suite, "hash"), bands_of_any_height_have_one_digest,
              bands_that_wait_for_their_partners_are_dropped, a_stopped_job_hashes_nothing,
              a_hash_stage_may_find_no_memory);
    add_tests(add_case(suite, "encode queue"), the_file_is_the_same_on_any_number_of_threads,
              ready_tiles_are_written_as_they_are, a_full_disk_ends_the_job, a_queue_may_find_no_memory);
    add_tests(add_case(suite, "feeder"), colour_is_handed_on_in_bands,
              grey_is_stored_as_one_channel_where_that_is_wanted, the_first_colour_ends_an_attempt_at_grey,
              one_colour_becomes_one_tile, failures_of_either_side_end_the_job, raw_rows_go_where_the_sink_says,
              a_feeder_may_find_no_memory);
    return run_suite(suite);
}
