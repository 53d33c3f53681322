/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures what pixels cost. For each type with one channel and with four, a small strip runs through the CPU's code
 * and a trial image through the device. The file is $XDG_CACHE_HOME/txmill/devices, or ~/.cache/txmill/devices: one
 * line per device, fields separated by tabs, times as whole numbers. It is replaced as a whole; a malformed one counts
 * as empty.
 */
#include "mill/convert/gpu_rates.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/os/clock.h"
#include "base/user_cache.h"
#include "mill/encode/tile.h"
#include "mill/pyramid/pyramid.h"

/* The strip, a row of tiles, takes a few milliseconds on the CPU. A narrow trial image tells whether a device is slow;
 * the wide one keeps a fast device busy. */
enum {
    STRIP_W = 2048,
    STRIP_H = TXM_DEFAULT_TILE_PX,
    NARROW_W = 256,
    WIDE_W = 2048,
    TRIAL_H = 1024,
    TRIAL_CHUNK = 256,
    MOST_AT_ONCE = 16
};
enum { MOST_DEVICES = 64 };
static const double slow_s = 0.01; /* for the narrow image */

static txm_gpu_plan trial(uint32_t width, txm_type type, uint32_t channels)
{
    return (txm_gpu_plan){.width = width,
                          .height = TRIAL_H,
                          .tile_px = TXM_DEFAULT_TILE_PX,
                          .type = type,
                          .conform = {.src_channels = channels, .channels = channels},
                          .channels = channels,
                          .curve = TXM_CURVE_SRGB,
                          .filter = true,
                          .borders = true,
                          .chunk_rows = TRIAL_CHUNK,
                          .slots = 2,
                          .encoders = UINT32_MAX};
}

/* Samples with noise of a few bits, as photographs have it. */
static void fill(uint8_t *pixels, size_t bytes)
{
    uint32_t noise = 1;
    for (size_t i = 0; i < bytes; i++, noise = noise * 1664525u + 1013904223u)
        pixels[i] = (uint8_t)(0x20 + (noise >> 24) % 24);
}

/* The pyramid's sink: rows are computed and discarded. */
static void *discard_row(void *context, uint32_t level, uint32_t y)
{
    (void)level, (void)y;
    return context; /* all rows go to the same place, since nothing reads them */
}

static void placed(void *context, uint32_t level, uint32_t y)
{
    (void)context, (void)level, (void)y;
}

/* Measures CPU time of the thread, so that other load of the machine does not count. */
static double cpu_seconds_per_pixel(const txm_ops *ops, const txm_gpu_plan *plan)
{
    const txm_pyramid_spec spec = {STRIP_W, STRIP_H, plan->channels, plan->type, plan->curve, false, false, 0};
    size_t row = STRIP_W * plan->channels * txm_type_bytes(plan->type);
    uint8_t *pixels = txm_alloc_pixels(STRIP_H, row), *out = txm_alloc_pixels(1, row);
    const txm_pyramid_sink sink = {out, discard_row, placed};
    const txm_tile_format format = {plan->type, plan->channels, plan->tile_px, {TXM_CODEC_ZIP, plan->level}};
    txm_pyramid *pyramid = NULL;
    txm_tile_encoder *encoder = NULL;
    double seconds = 0;
    if (pixels && out && txm_pyramid_new(&spec, ops, &sink, &pyramid, NULL) == TXM_OK &&
        txm_tile_encoder_new(&format, &encoder, NULL) == TXM_OK) {
        const void *encoded;
        size_t bytes;
        bool good = true;
        fill(pixels, row * STRIP_H);
        uint64_t begin = txm_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        txm_pyramid_push(pyramid, pixels, row, STRIP_H);
        seconds = 1e-9 * (double)(txm_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin);
        begin = txm_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        for (size_t x = 0; good && x < row; x += row / STRIP_W * plan->tile_px)
            good = !txm_tile_encode(encoder, pixels + x, row, plan->tile_px, plan->tile_px, &encoded, &bytes, NULL);
        /* The levels above have a third as many tiles. */
        const double tiles = 1e-9 * (double)(txm_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) * 4 / 3;
        seconds = good ? seconds + tiles : 0;
    }
    txm_tile_encoder_free(&encoder);
    txm_pyramid_free(&pyramid);
    free(pixels);
    free(out);
    return seconds / ((double)STRIP_W * STRIP_H);
}

/* What a number of jobs took. */
typedef struct timing {
    double seconds, host; /* host: of all processors, for all threads of this process */
} timing;

/* Runs whole jobs, from opening to closing, a chunk of each at a time: `at_once` of them, or as many as the memory
 * has room for. */
static txm_status time_jobs(const txm_gpu_jobs *j, uint32_t device, const txm_gpu_plan *plan, unsigned *at_once,
                            timing *out, txm_error *err)
{
    txm_gpu_job *jobs[MOST_AT_ONCE] = {NULL};
    size_t chunk = (size_t)plan->chunk_rows * plan->width * plan->channels * txm_type_bytes(plan->type);
    uint8_t *rows = txm_alloc_pixels(chunk, 1);
    txm_status status = rows ? TXM_OK : txm_no_memory(err, NULL);
    if (rows)
        fill(rows, chunk);
    const uint64_t host = txm_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    const double begin = txm_clock_seconds();
    for (unsigned i = 0; !status && i < *at_once; i++) {
        status = j->open(device, plan, &jobs[i], err);
        if (status == TXM_STATUS_NO_MEMORY && i) {
            *at_once = i;
            status = TXM_OK;
            txm_error_clear(err);
        }
    }
    for (uint32_t y = 0; !status && y < plan->height; y += plan->chunk_rows) {
        for (unsigned i = 0; !status && i < *at_once; i++) {
            memcpy(j->place(jobs[i]), rows, chunk);
            status = j->submit(jobs[i], plan->chunk_rows, false, err);
        }
        for (unsigned i = 0; !status && i < *at_once; i++) {
            txm_gpu_result *done = NULL;
            if (!(status = j->collect(jobs[i], true, &done, err)))
                j->release(jobs[i], done);
        }
    }
    for (unsigned i = 0; i < *at_once; i++)
        j->close(&jobs[i]);
    *out = (timing){txm_clock_seconds() - begin, 1e-9 * (double)(txm_clock_ns(CLOCK_PROCESS_CPUTIME_ID) - host)};
    free(rows);
    return status;
}

txm_status txm_gpu_rates_measure(const txm_gpu_jobs *jobs, uint32_t device, unsigned at_once, const txm_ops *ops,
                                 txm_gpu_rates *out, txm_error *err)
{
    at_once = at_once < MOST_AT_ONCE ? at_once : MOST_AT_ONCE;
    for (int i = 0; i < 2 * TXM_GPU_TYPES; i++) {
        const txm_gpu_plan plan = trial(STRIP_W, (txm_type)(i / 2), i % 2 ? 4 : 1);
        txm_gpu_rate *rate = &out->rate[i / 2][i % 2];
        timing second = {0};
        double once = 0;
        /* Everything runs twice: the first round includes costs that a process pays once, the second one counts. */
        for (uint32_t width = NARROW_W; width <= WIDE_W && second.seconds < slow_s; width *= WIDE_W / NARROW_W) {
            const txm_gpu_plan image = trial(width, plan.type, plan.channels);
            timing first;
            txm_status status = time_jobs(jobs, device, &image, &at_once, &first, err);
            if (!status)
                status = time_jobs(jobs, device, &image, &at_once, &second, err);
            if (status)
                return status;
            once += first.seconds - second.seconds;
            rate->device = second.seconds / ((double)width * TRIAL_H * at_once);
            rate->host = second.host / ((double)width * TRIAL_H * at_once);
        }
        out->start = once > out->start ? once : out->start;
        (void)cpu_seconds_per_pixel(ops, &plan); /* creates tables, once per process */
        rate->cpu = cpu_seconds_per_pixel(ops, &plan);
        if (rate->cpu <= 0)
            return txm_no_memory(err, NULL);
    }
    return TXM_OK;
}

static const char first_line[] = "txmill devices 3\n";

static char *field(char **line)
{
    char *text = strsep(line, "\t\n");
    return text && *text ? text : NULL;
}

static bool take_text(char **line, char *out, size_t room)
{
    const char *text = field(line);
    return text && (size_t)snprintf(out, room, "%s", text) < room;
}

/* Parses a time in whole picoseconds. */
static bool take_time(char **line, double *seconds)
{
    char *text = field(line), *end;
    if (!text || *text < '0' || *text > '9')
        return false;
    errno = 0;
    *seconds = (double)strtoull(text, &end, 10) * 1e-12;
    return !*end && !errno;
}

size_t txm_gpu_rates_read(txm_gpu_rates **out)
{
    char *path = txm_user_cache("devices"), line[2048];
    FILE *f = path ? fopen(path, "re") : NULL;
    size_t count = 0;
    *out = f ? txm_calloc(MOST_DEVICES, sizeof **out) : NULL;
    bool known = *out && fgets(line, sizeof line, f) && !strcmp(line, first_line);
    while (known && count < MOST_DEVICES && fgets(line, sizeof line, f)) {
        txm_gpu_rates *r = &(*out)[count];
        char *rest = line;
        bool good = take_text(&rest, r->label, sizeof r->label) && take_text(&rest, r->name, sizeof r->name) &&
                    take_text(&rest, r->driver, sizeof r->driver) && take_time(&rest, &r->start);
        for (int i = 0; good && i < 2 * TXM_GPU_TYPES; i++)
            good = take_time(&rest, &r->rate[i / 2][i % 2].device) && take_time(&rest, &r->rate[i / 2][i % 2].host) &&
                   take_time(&rest, &r->rate[i / 2][i % 2].cpu);
        count += good;
    }
    if (f)
        fclose(f);
    free(path);
    if (!count) {
        free(*out);
        *out = NULL;
    }
    return count;
}

static void print_line(txm_bytes *out, const txm_gpu_rates *r)
{
    const char *const texts[] = {r->label, r->name, r->driver};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        /* A driver's name may contain a tab, which would end the field. */
        for (const char *text = *texts[i] ? texts[i] : "-"; *text; text++)
            txm_bytes_add(out, (unsigned char)*text < ' ' ? " " : text, 1);
        txm_bytes_puts(out, "\t");
    }
    txm_bytes_printf(out, "%.0f", r->start * 1e12);
    for (int i = 0; i < 2 * TXM_GPU_TYPES; i++)
        txm_bytes_printf(out, "\t%.0f\t%.0f\t%.0f", r->rate[i / 2][i % 2].device * 1e12,
                         r->rate[i / 2][i % 2].host * 1e12, r->rate[i / 2][i % 2].cpu * 1e12);
    txm_bytes_puts(out, "\n");
}

txm_status txm_gpu_rates_write(const txm_gpu_rates *rates, txm_error *err)
{
    txm_bytes text = {0};
    txm_gpu_rates *others;
    size_t count = txm_gpu_rates_read(&others);
    txm_bytes_puts(&text, first_line);
    for (size_t i = 0; i < count; i++)
        if (strcmp(others[i].label, rates->label))
            print_line(&text, &others[i]);
    print_line(&text, rates);
    txm_status status = text.failed ? txm_no_memory(err, NULL) : txm_user_cache_write("devices", text.data, err);
    txm_bytes_free(&text);
    free(others);
    return status;
}
