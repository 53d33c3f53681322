/* SPDX-License-Identifier: Apache-2.0
 * One attempt at a conversion, the stage that a device takes over, and the list of devices. The device is the runtime
 * on the CPU (tests/device/gpu_runtime.c). */
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>

#include "mill/convert/attempt.h"
#include "mill/convert/gpu_stage.h"
#include "txmill/devices.h"
#include "util_batch.h"
#include "util_check.h"
#include "util_faults.h"
#include "util_tx.h"

/* ---- an attempt -------------------------------------------------------------------------------------------------- */

enum { W = 90, H = 150 };

/* The arguments of an attempt. */
typedef struct request {
    txm_context *context;
    txm_settings settings;
    txm_convert_options options;
    txm_source *source;
    txm_resolved resolved;
    txm_tx_metadata metadata;
    txm_attempt_request ask;
    txm_attempt_result result;
    txm_publish *publish;
    volatile int cancel;
    txm_error err;
} request;

/* Opens `image`; the attempt is to make target.tx in the current folder. */
static request *ask(const char *image, const char *device, unsigned threads, uint64_t max_memory)
{
    request *r = calloc(1, sizeof *r);
    txm_context_options options;
    txm_context_options_init(&options);
    options.threads = threads;
    options.device = device;
    options.max_memory_bytes = max_memory;
    options.cancel = &r->cancel;
    options.ignore_environment = true;
    ck_assert_msg(txm_context_new(&options, &r->context, &r->err) == TXM_OK, "%s", r->err.message);
    txm_settings_init(&r->settings);
    ck_assert_msg(txm_source_open(image, NULL, &r->source, &r->err) == TXM_OK, "%s", r->err.message);
    ck_assert_int_eq(
        txm_resolve(r->context, &r->settings, image, txm_source_info_of(r->source), false, &r->resolved, &r->err),
        TXM_OK);
    r->metadata = made_metadata();
    r->ask = (txm_attempt_request){.context = r->context,
                                   .settings = &r->settings,
                                   .options = &r->options,
                                   .source = r->source,
                                   .resolved = &r->resolved,
                                   .metadata = &r->metadata,
                                   .target = "target.tx",
                                   .may_be_grey = true,
                                   .devices = true};
    return r;
}

static txm_status attempt(request *r)
{
    return txm_attempt_run(&r->ask, &r->publish, &r->result, &r->err);
}

static void done(request *r)
{
    txm_publish_abort(&r->publish);
    txm_source_close(&r->source);
    txm_context_free(&r->context);
    free(r);
}

/* Counts the files of the current folder, including hidden ones. */
static unsigned files_here(void)
{
    unsigned n = 0;
    DIR *d = opendir(".");
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_type == DT_REG;
    closedir(d);
    return n;
}

/* Reads the finished file before it is published. */
static uint8_t *unpublished(const request *r, size_t *bytes)
{
    return load_file(txm_publish_temp_path(r->publish), bytes);
}

static void write_image_file(int color_type, const void *rows)
{
    batch_enter();
    batch_png_of("image.png", W, H, color_type, 8, rows);
}

TEST(the_file_is_whole_and_not_yet_visible)
{
    write_image_file(2, NULL);
    request *r = ask("image.png", "cpu", 2, 0);
    r->options.stages = true;
    ck_assert_msg(attempt(r) == TXM_OK, "%s", r->err.message);
    ck_assert(access("target.tx", F_OK) != 0);
    ck_assert(!r->result.not_grey && !r->result.grey && !r->result.summary.constant);
    ck_assert(r->result.layout.width == W && r->result.layout.height == H && r->result.layout.channels == 4);
    ck_assert(r->result.layout.levels == txm_level_count(W, H) && r->result.image_bytes < r->result.file_bytes);
    ck_assert_str_eq(r->result.device, "cpu");
    ck_assert(r->result.stages.encode > 0 && r->result.stages.decode > 0);
    txm_tx *tx = open_tx(txm_publish_temp_path(r->publish));
    const txm_tx_info *info = txm_tx_info_of(tx);
    ck_assert_int_eq(info->section, TXM_SECTION_STATE_VALID);
    ck_assert(info->file_bytes == r->result.file_bytes && info->image_bytes == r->result.image_bytes);
    ck_assert_str_eq(txm_tx_metadata_of(tx, "oiio:SHA-1"), r->result.summary.sha1);
    txm_tx_close(&tx);
    ck_assert_int_eq(txm_publish_commit(&r->publish, &(struct timespec){.tv_sec = 1000}, &r->err), TXM_OK);
    tx = open_tx("target.tx");
    txm_tx_close(&tx);
    done(r);
    ck_assert_uint_eq(files_here(), 2);
    batch_leave();
}

TEST(without_borders_there_is_no_section)
{
    write_image_file(2, NULL);
    request *r = ask("image.png", "cpu", 1, 0);
    r->settings.borders = false;
    ck_assert_msg(attempt(r) == TXM_OK, "%s", r->err.message);
    ck_assert_uint_eq(r->result.image_bytes, r->result.file_bytes);
    done(r);
    ck_assert_uint_eq(files_here(), 1);
    batch_leave();
}

/* The image is grey up to its last row. */
TEST(a_wrong_guess_leaves_nothing_behind)
{
    static uint8_t rows[W * H * 3];
    for (size_t i = 0; i < sizeof rows; i++)
        rows[i] = (uint8_t)(i / 3 * 7 % 251);
    write_image_file(2, rows);
    request *r = ask("image.png", "cpu", 2, 0);
    ck_assert_int_eq(attempt(r), TXM_OK);
    ck_assert(r->result.grey && r->result.layout.channels == 1 && !r->result.not_grey);
    done(r);
    batch_leave();
    rows[sizeof rows - 1] ^= 1;
    write_image_file(2, rows);
    r = ask("image.png", "cpu", 2, 0);
    ck_assert_int_eq(attempt(r), TXM_OK);
    ck_assert(r->result.not_grey && !r->publish);
    ck_assert_uint_eq(files_here(), 1);
    /* The second attempt knows that the image is not grey. */
    r->ask.may_be_grey = false;
    ck_assert_int_eq(txm_source_rewind(r->source, NULL), TXM_OK);
    ck_assert_int_eq(attempt(r), TXM_OK);
    ck_assert(!r->result.not_grey && r->publish && r->result.layout.channels == 4);
    done(r);
    batch_leave();
}

TEST(one_colour_is_summed_up)
{
    static uint8_t rows[W * H * 3];
    memset(rows, 51, sizeof rows);
    write_image_file(2, rows);
    request *r = ask("image.png", "cpu", 1, 0);
    ck_assert_int_eq(attempt(r), TXM_OK);
    ck_assert(r->result.summary.constant && r->result.grey);
    ck_assert(r->result.layout.width == 64 && r->result.layout.height == 64);
    ck_assert_float_eq_tol(r->result.summary.constant_color[0], 0.2f, 1e-6f);
    ck_assert_float_eq_tol(r->result.summary.average[0], 0.2f, 1e-6f);
    done(r);
    batch_leave();
}

/* Level 0 of a limited file is the level of the whole one, to the bit; levels, digest and average are of that. */
TESTS(a_limit_halves_the_image, 4)
{
    static const uint32_t limits[] = {149, 74, 36, 16};
    const uint32_t level = (uint32_t)_i + 1;
    write_image_file(6, NULL);
    request *whole = ask("image.png", "cpu", 2, 0), *r = ask("image.png", "cpu", 2, 0);
    ck_assert_msg(attempt(whole) == TXM_OK, "%s", whole->err.message);
    r->settings.limit_px = limits[_i];
    ck_assert_msg(attempt(r) == TXM_OK, "%s", r->err.message);
    const txm_tx_layout *l = &r->result.layout;
    ck_assert(l->width == (uint32_t)W >> level && l->height == (uint32_t)H >> level &&
              l->levels == txm_level_count(l->width, l->height));
    txm_tx *a = open_tx(txm_publish_temp_path(whole->publish)), *b = open_tx(txm_publish_temp_path(r->publish));
    const txm_tx_level *tiles = txm_tx_level_of(b, 0);
    static uint8_t x[64 * 64 * 4], y[64 * 64 * 4];
    double sum = 0;
    for (uint32_t ty = 0; ty < tiles->tiles_y; ty++)
        for (uint32_t tx = 0; tx < tiles->tiles_x; tx++) {
            uint32_t w = 0, h = 0;
            ck_assert_int_eq(txm_tx_read_tile(a, REQUEST(x, 4, 256, .level = level, .tile_x = tx, .tile_y = ty), NULL),
                             TXM_OK);
            ck_assert_int_eq(
                txm_tx_read_tile(b, REQUEST(y, 4, 256, .tile_x = tx, .tile_y = ty, .width = &w, .height = &h), NULL),
                TXM_OK);
            for (uint32_t row = 0; row < h; row++)
                ck_assert_mem_eq(x + row * 256, y + row * 256, w * 4);
            for (uint32_t i = 0; i < w * h; i++)
                sum += y[i / w * 256 + i % w * 4] / 255.0;
        }
    ck_assert_double_eq_tol(r->result.summary.average[0], sum / l->width / l->height, 1e-6);
    txm_tx_close(&a);
    txm_tx_close(&b);
    done(whole);
    done(r);
    batch_leave();
}

TEST(failures_leave_nothing_behind)
{
    write_image_file(2, NULL);
    request *r = ask("image.png", "cpu", 2, 100);
    ck_assert_int_eq(attempt(r), TXM_STATUS_TOO_LARGE);
    ck_assert_msg(strstr(r->err.message, "target.tx") != NULL, "%s", r->err.message);
    done(r);
    r = ask("image.png", "cpu", 2, 0);
    r->cancel = 1;
    ck_assert_int_eq(attempt(r), TXM_STATUS_CANCELLED);
    done(r);
    r = ask("image.png", "cpu", 2, 0);
    r->ask.target = "image.png/target.tx"; /* the spill is in a file */
    ck_assert_int_ne(attempt(r), TXM_OK);
    ck_assert_ptr_null(r->publish);
    done(r);
    r = ask("image.png", "cpu", 2, 0);
    r->settings.limit_px = 40;
    r->cancel = 1;
    ck_assert_int_eq(attempt(r), TXM_STATUS_CANCELLED);
    done(r);
    r = ask("image.png", "cpu", 2, 0); /* cut short after it was opened */
    r->settings.limit_px = 40;
    ck_assert_int_eq(truncate("image.png", 8000), 0);
    ck_assert_int_eq(attempt(r), TXM_STATUS_CORRUPT);
    done(r);
    r = ask("image.png", "cpu", 2, 0);
    ck_assert_int_eq(truncate("image.png", 4000), 0);
    ck_assert_int_eq(attempt(r), TXM_STATUS_CORRUPT);
    done(r);
    ck_assert_uint_eq(files_here(), 1);
    batch_leave();
}

/* Repeats the attempt many times. The source is an EXR file, because libtiff leaks when it fails. */
static txm_status attempt_again(void *user)
{
    request *r = user;
    txm_status status = txm_source_rewind(r->source, NULL);
    if (status == TXM_OK)
        status = txm_attempt_run(&r->ask, &r->publish, &r->result, NULL);
    txm_publish_abort(&r->publish);
    return status;
}

TEST(an_attempt_may_find_no_memory)
{
    made_image image = make_image(70, 70, 4, TXM_TYPE_HALF, 32, (txm_compression){TXM_CODEC_ZIP, 1}, MADE_NOISE);
    batch_enter();
    write_foreign_exr("image.exr", &image, 3);
    request *r = ask("image.exr", "cpu", 1, 0);
    refuse_each_but(DOES_WITHOUT, attempt_again, r); /* so that a spill goes to disk at once */
    r->settings.limit_px = 40;
    refuse_each_but(DOES_WITHOUT, attempt_again, r);
    done(r);
    ck_assert_uint_eq(files_here(), 1);
    free_image(&image);
    batch_leave();
}

/* ---- a device ---------------------------------------------------------------------------------------------------- */

/* A device must give the CPU's bits. What is stored as half, as after a conversion to ACEScg, stays on the CPU. */
TESTS(a_device_makes_the_same_file, 4)
{
    static const int color_types[] = {0, 2, 4, 6};
    static const char *const spaces[] = {"sRGB", "ACEScg", "sRGB"};
    for (int s = 0; s < 3; s++) {
        uint8_t *file[2];
        size_t bytes[2];
        write_image_file(color_types[_i], NULL);
        for (int on_device = 0; on_device < 2; on_device++) {
            request *r = ask("image.png", on_device ? "cuda" : "cpu", 2, 0);
            r->settings.colorspace = spaces[s];
            r->settings.limit_px = s == 2 ? 80 : 0;
            ck_assert_int_eq(txm_resolve(r->context, &r->settings, "image.png", txm_source_info_of(r->source), false,
                                         &r->resolved, &r->err),
                             TXM_OK);
            r->ask.may_be_grey = false;
            ck_assert_msg(attempt(r) == TXM_OK, "%s", r->err.message);
            ck_assert_str_eq(r->result.device, on_device && s != 1 ? "cuda:0" : "cpu");
            file[on_device] = unpublished(r, &bytes[on_device]);
            done(r);
        }
        ck_assert_uint_eq(bytes[0], bytes[1]);
        ck_assert_mem_eq(file[0], file[1], bytes[0]);
        free(file[0]);
        free(file[1]);
        batch_leave();
    }
}

/* The stage under test, between rows that the test pushes and the later stages. */
typedef struct staged {
    txm_pool *pool;
    txm_job job;
    txm_gpus *gpus;
    txm_gpu_lease lease;
    txm_tx_layout layout;
    int fd;
    txm_tx_writer *writer;
    txm_encode_queue *queue;
    txm_pixel_hash *hash;
    txm_hash_stage *hash_stage;
    txm_stats stats;
    made_image image;
    txm_gpu_stage *stage;
    txm_gpu_jobs jobs; /* the real table with some functions of the test's */
} staged;

static const txm_gpu_jobs *real;
static struct {
    unsigned opened, submitted, collected, released, closed;
    unsigned fail_at; /* number of the call of submit or collect that fails */
    txm_status status;
} calls;

static txm_status fail_device(txm_error *err)
{
    err->status = calls.status;
    snprintf(err->message, sizeof err->message, "the device says no");
    return calls.status;
}

static txm_status refuse_to_open(uint32_t device, const txm_gpu_plan *plan, txm_gpu_job **out, txm_error *err)
{
    (void)device, (void)plan, (void)out;
    return fail_device(err);
}

static txm_status count_submit(txm_gpu_job *job, uint32_t rows, bool conformed, txm_error *err)
{
    return ++calls.submitted == calls.fail_at ? fail_device(err) : real->submit(job, rows, conformed, err);
}

static txm_status fail_collect(txm_gpu_job *job, bool wait, txm_gpu_result **out, txm_error *err)
{
    (void)job, (void)wait, (void)out;
    return fail_device(err);
}

static void count_release(txm_gpu_job *job, txm_gpu_result *result)
{
    __atomic_add_fetch(&calls.released, 1, __ATOMIC_SEQ_CST);
    real->release(job, result);
}

/* Sets up everything except the stage. */
static staged *set_stage(void)
{
    staged *s = calloc(1, sizeof *s);
    char why[TXM_MESSAGE_BYTES];
    txm_error err = {0};
    const txm_gpus_options options = {"cuda:0", 0, 2, txm_ops_best()};
    memset(&calls, 0, sizeof calls);
    s->image = make_image(W, H, 4, TXM_TYPE_U8, 16, (txm_compression){TXM_CODEC_ZIP, 1}, MADE_NOISE);
    s->layout = s->image.layout;
    const txm_gpu_plan plan = {
        .width = W, .height = H, .tile_px = 16, .conform = {4, 4, false, false}, .channels = 4, .filter = true};
    const txm_tx_metadata metadata = made_metadata();
    ck_assert_ptr_nonnull(s->pool = txm_pool_new(2));
    s->fd = memfd_create("made.tx", 0);
    ck_assert_int_eq(txm_job_init(&s->job, s->pool, NULL, false, NULL), TXM_OK);
    ck_assert_msg(txm_gpus_new(&options, &s->gpus, why, &err) == TXM_OK, "%s", err.message);
    ck_assert_int_eq(txm_gpus_lease(s->gpus, &plan, 0, &s->lease, why), TXM_GPU_LEASED);
    s->lease.plan.chunk_rows = 32; /* several chunks, two at a time */
    s->lease.plan.slots = 2;
    real = s->lease.jobs;
    s->jobs = *real;
    s->jobs.submit = count_submit;
    s->jobs.release = count_release;
    s->lease.jobs = &s->jobs;
    ck_assert_int_eq(txm_tx_writer_open(s->fd, "made.tx", &s->layout, &metadata, &s->writer, NULL), TXM_OK);
    ck_assert_int_eq(txm_encode_queue_new(&s->job, &s->layout, s->writer, NULL, "/tmp", &s->queue, NULL), TXM_OK);
    ck_assert_int_eq(txm_pixel_hash_new(W, H, 4, TXM_TYPE_U8, txm_ops_best(), &s->hash, NULL), TXM_OK);
    ck_assert_int_eq(txm_hash_stage_new(&s->job, s->hash, false, &s->hash_stage, NULL), TXM_OK);
    return s;
}

static txm_status open_stage(staged *s, txm_error *err)
{
    const txm_gpu_stage_setup setup = {&s->job, s->lease, s->queue, &s->hash_stage, &s->stats};
    return txm_gpu_stage_open(&setup, &s->stage, err);
}

/* Pushes all rows, 16 at a time, as the source has them. Returns false if the job failed. */
static bool give_rows(staged *s)
{
    size_t row = (size_t)W * 4;
    for (uint32_t y = 0; y < H; y += 16) {
        uint32_t rows = H - y < 16 ? H - y : 16;
        uint8_t *at = txm_gpu_stage_place(s->stage, rows);
        if (!at)
            return false;
        memcpy(at, s->image.levels[0] + y * row, rows * row);
        if (!txm_gpu_stage_take(s->stage, rows))
            return false;
    }
    return txm_gpu_stage_end(s->stage);
}

/* Returns whether the device failed permanently. */
static bool strike_stage(staged *s)
{
    char why[TXM_MESSAGE_BYTES];
    txm_gpu_lease lease;
    txm_group_wait(s->job.group, 0);
    txm_encode_queue_free(&s->queue);
    txm_hash_stage_free(&s->hash_stage);
    txm_pixel_hash_free(&s->hash);
    txm_gpu_stage_close(&s->stage);
    txm_gpu_stage_close(&s->stage); /* harmless */
    const bool failed = txm_gpus_lease(s->gpus, &s->lease.plan, 0, &lease, why) != TXM_GPU_LEASED;
    if (!failed)
        txm_gpus_return(&lease, false);
    txm_gpus_free(&s->gpus);
    txm_tx_writer_close(&s->writer);
    txm_job_destroy(&s->job);
    txm_pool_free(s->pool);
    free_image(&s->image);
    close(s->fd);
    free(s);
    return failed;
}

TEST(rows_become_tiles_digest_and_statistics)
{
    staged *s = set_stage();
    const txm_tx_summary summary = made_summary();
    txm_stats expected = {0};
    txm_pixel_hash *hash = NULL;
    char digest[TXM_SHA1_HEX], right[TXM_SHA1_HEX];
    txm_error err = {0};
    /* The feeder has seen the first pixel when it opens the stage. */
    memcpy(s->stats.first, s->image.levels[0], 4);
    s->stats.any = s->stats.grey = true;
    ck_assert_msg(open_stage(s, &err) == TXM_OK, "%s", err.message);
    ck_assert(give_rows(s));
    txm_group_wait(s->job.group, 0);
    ck_assert_int_eq(s->job.error.status, TXM_OK);
    ck_assert_uint_eq(calls.submitted, (H + 31) / 32);
    ck_assert_uint_eq(calls.released, calls.submitted);
    ck_assert_int_eq(txm_pixel_hash_new(W, H, 4, TXM_TYPE_U8, txm_ops_best(), &hash, NULL), TXM_OK);
    for (uint32_t y = 0; y < H; y++) {
        const uint8_t *row = s->image.levels[0] + (size_t)y * W * 4;
        txm_pixel_hash_rows(hash, y, 1, row, NULL, (size_t)W * 4);
        txm_ops_best()->stats(TXM_TYPE_U8, 4, row, W, &expected);
    }
    ck_assert_int_eq(txm_pixel_hash_finish(hash, right, NULL), TXM_OK);
    ck_assert_int_eq(txm_pixel_hash_finish(s->hash, digest, NULL), TXM_OK);
    ck_assert_str_eq(digest, right);
    ck_assert_mem_eq(s->stats.sum, expected.sum, sizeof expected.sum);
    ck_assert(s->stats.varies && !s->stats.grey);
    ck_assert_int_eq(txm_encode_queue_finish(s->queue, NULL), TXM_OK);
    ck_assert_int_eq(txm_tx_writer_finish(s->writer, &summary, NULL, NULL), TXM_OK);
    txm_pixel_hash_free(&hash);
    ck_assert(!strike_stage(s));
}

TEST(conformed_bands_are_copied)
{
    staged *s = set_stage();
    ck_assert_int_eq(open_stage(s, NULL), TXM_OK);
    for (uint32_t y = 0; y < H; y += 16) {
        txm_band *band = txm_band_new(s->job.bands, 0, y, H - y < 16 ? H - y : 16, W * 4, NULL);
        memcpy(band->pixels, s->image.levels[0] + (size_t)y * W * 4, band->rows * band->stride_bytes);
        ck_assert(txm_gpu_stage_band(s->stage, band));
        ck_assert_uint_eq(band->references, 1);
        txm_band_drop(band);
    }
    ck_assert(txm_gpu_stage_end(s->stage));
    txm_group_wait(s->job.group, 0);
    ck_assert_int_eq(s->job.error.status, TXM_OK);
    ck_assert(s->stats.sum[0] == 0 && calls.released == calls.submitted); /* statistics were taken before */
    ck_assert(!strike_stage(s));
}

/* Whatever fails on the device, the job's error is DEVICE. It may be used again only if it lacked memory. */
TEST(a_device_that_fails_ends_the_attempt)
{
    static const txm_status statuses[] = {TXM_STATUS_DEVICE, TXM_STATUS_NO_MEMORY};
    for (int i = 0; i < 2; i++)
        for (unsigned at = 1; at <= 3; at++) {
            staged *s = set_stage();
            calls.status = statuses[i];
            if (at < 3)
                calls.fail_at = at;
            else
                s->jobs.collect = fail_collect;
            ck_assert_int_eq(open_stage(s, NULL), TXM_OK);
            ck_assert(!give_rows(s));
            ck_assert_int_eq(s->job.error.status, TXM_STATUS_DEVICE);
            ck_assert_str_eq(s->job.error.message, "cuda:0: the device says no");
            ck_assert_int_eq(strike_stage(s), statuses[i] == TXM_STATUS_DEVICE);
        }
}

TEST(a_device_that_cannot_open_changes_nothing)
{
    staged *s = set_stage();
    txm_error err = {0};
    calls.status = TXM_STATUS_NO_MEMORY;
    s->jobs.open = refuse_to_open;
    ck_assert_int_eq(open_stage(s, &err), TXM_STATUS_NO_MEMORY);
    ck_assert_ptr_null(s->stage);
    ck_assert_int_eq(s->job.error.status, TXM_OK);
    strike_stage(s);
}

/* ---- what there is ----------------------------------------------------------------------------------------------- */

TEST(the_cpu_is_described)
{
    txm_cpu_info cpu;
    bool listed = false;
    txm_cpu_describe(&cpu);
    ck_assert_uint_ge(cpu.cores, 1);
    ck_assert_str_eq(cpu.isas[0], "scalar");
    int n = 0;
    for (; n < TXM_MAX_ISAS && cpu.isas[n]; n++)
        listed |= !strcmp(cpu.isas[n], cpu.isa);
    ck_assert(listed && n < TXM_MAX_ISAS);
}

TEST(devices_are_listed_by_their_labels)
{
    txm_device_info *list;
    size_t count;
    txm_error err;
    setenv("TXM_FAKE_DEVICES", "3", 1);
    ck_assert_msg(txm_device_list(&list, &count, &err) == TXM_OK, "%s", err.message);
    ck_assert_uint_eq(count, 3);
    for (unsigned i = 0; i < 3; i++) {
        char label[32];
        snprintf(label, sizeof label, "cuda:%u", i);
        ck_assert_str_eq(list[i].label, label);
        ck_assert_str_eq(list[i].backend, "cuda");
        ck_assert(list[i].index == i && list[i].usable && !*list[i].reason && list[i].memory_bytes > 0);
        ck_assert_ptr_nonnull(strchr(list[i].architecture, '.'));
    }
    free(list);
    setenv("TXM_FAKE_DEVICES", "0", 1);
    ck_assert_int_eq(txm_device_list(&list, &count, &err), TXM_STATUS_DEVICE);
    ck_assert(!list && !count && *err.message);
    unsetenv("TXM_FAKE_DEVICES");
}

int main(void)
{
    char folder[1024];
    snprintf(folder, sizeof folder, "%s/tests/gpu", getenv("TXM_BUILD"));
    setenv("TXMILL_PLUGINS", folder, 1);
    return run_tests();
}
