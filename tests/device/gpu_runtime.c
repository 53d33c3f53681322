/* SPDX-License-Identifier: Apache-2.0
 *
 * A GPU's runtime on the CPU: the plug-in's jobs run on it from end to end, kernels as loops over the same bodies.
 *
 * Nothing runs when it is queued. A stream's work is done when somebody waits for an event after it, and then no
 * further than to that event: what the jobs forget to order happens too late here. Every other time the other streams
 * run first, as far as they may: it happens too early. With TXM_FAKE_EAGER=1 everything happens at once instead.
 *
 * TXM_FAKE_DEVICES=N          so many devices (1)
 * TXM_FAKE_MEMORY=BYTES       of each (1 GiB)
 * TXM_FAKE_FAIL_ALLOC=N       the N-th allocation of device or pinned memory fails
 * TXM_FAKE_LOSE=N             the device that runs the N-th kernel is lost, for ever
 * TXM_FAKE_BROKEN=N           device N is lost from the beginning
 * TXM_FAKE_REPORT=FILE        at the end: a line a device
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/runtime/runtime.h"

enum { OUT_OF_MEMORY = 2, LOST = 719, WARP = 32 };

typedef enum op_kind { OP_COPY, OP_RECORD, OP_FOLLOW, OP_INGEST, OP_COUNT, OP_LEVEL, OP_TILES, OP_BORDERS } op_kind;

typedef struct stream stream;

typedef struct event {
    stream *stream; /* where it was recorded last */
    unsigned long recorded, reached;
} event;

typedef struct op {
    struct op *next;
    op_kind kind;
    void *dst;
    const void *src;
    size_t bytes;
    event *event;
    unsigned long version;
    union {
        txm_gpu_ingest ingest;
        txm_gpu_count count;
        txm_gpu_level level;
        txm_gpu_tiles tiles;
        txm_gpu_borders borders;
    } a;
} op;

struct stream {
    op *first, **last;
    uint32_t device;
    stream *next; /* of all */
};

/* In front of every block. */
typedef struct block {
    size_t bytes;
    uint32_t device;
    uint32_t pad[13]; /* to 64 bytes, which keeps blocks aligned */
} block;

static struct device {
    size_t used, peak;
    unsigned long kernels;
    bool lost;
} devices[TXM_GPU_MAX_DEVICES];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static stream *streams;
static unsigned long kernels, allocations, waits;
static size_t pinned_used, pinned_peak;
/* The device that a thread uses. No _Thread_local: LeakSanitizer stumbles over those of loaded libraries. */
static pthread_key_t current_key;
static pthread_once_t current_once = PTHREAD_ONCE_INIT;

static void make_key(void)
{
    pthread_key_create(&current_key, NULL);
}

static uint32_t current(void)
{
    pthread_once(&current_once, make_key);
    return (uint32_t)(uintptr_t)pthread_getspecific(current_key);
}

static unsigned long number(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtoul(text, NULL, 10) : otherwise;
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("TXM_FAKE_REPORT");
    FILE *f = path ? fopen(path, "a") : NULL;
    for (unsigned long i = 0; f && i < number("TXM_FAKE_DEVICES", 1); i++)
        fprintf(f, "device=%lu kernels=%lu peak=%zu left=%zu pinned_peak=%zu pinned_left=%zu\n", i, devices[i].kernels,
                devices[i].peak, devices[i].used, pinned_peak, pinned_used);
    if (f)
        fclose(f);
}

/* ---- work ------------------------------------------------------------------------------------------------------- */

static uint32_t warps(uint32_t threads)
{
    return (threads + WARP - 1) / WARP * WARP;
}

static void run_kernel(const op *o)
{
    switch (o->kind) {
    case OP_INGEST:
        for (uint32_t y = 0; y < (o->a.ingest.rows + 1) / 2 + 1; y++)
            for (uint32_t x = 0; x < warps(o->a.ingest.width / 2 + 1); x++)
                txm_gpu_ingest_body(&o->a.ingest, o->a.ingest.type, o->a.ingest.channels, x, y);
        break;
    case OP_COUNT:
        for (uint32_t y = 0; y < o->a.count.rows + 3; y++)
            for (uint32_t c = 0; c < 5; c++)
                txm_gpu_count_body(&o->a.count, o->a.count.type, c, y);
        break;
    case OP_LEVEL:
        for (uint32_t y = 0; y < o->a.level.rows + 1; y++)
            for (uint32_t x = 0; x < warps(o->a.level.width); x++)
                txm_gpu_level_body(&o->a.level, o->a.level.type, o->a.level.channels, x, y);
        break;
    case OP_TILES:
        for (uint32_t band = 0; band < o->a.tiles.bands + 1; band++)
            for (uint32_t y = 0; y < o->a.tiles.tile_px + 1; y++)
                for (uint32_t i = 0; i < warps(txm_gpu_tiles_threads(&o->a.tiles)); i++)
                    txm_gpu_tiles_body(&o->a.tiles, o->a.tiles.type, o->a.tiles.channels, i, y, band);
        break;
    case OP_BORDERS: {
        const txm_gpu_borders *a = &o->a.borders;
        for (uint32_t band = 0; band < a->bands + 1; band++)
            for (uint32_t tile = 0; tile < a->width / a->tile_px + 2; tile++)
                for (uint32_t i = 0; i < warps(txm_gpu_border_pixels(a->tile_px, a->tile_px)); i++)
                    txm_gpu_borders_body(a, a->type, a->channels, i, tile, band);
        break;
    }
    default:
        break;
    }
}

/* Runs a stream until `event` has come so far; NULL: to its end. */
static void run(stream *s, const event *until, unsigned long version)
{
    while (s->first && !(until && until->reached >= version)) {
        op *o = s->first;
        if (!(s->first = o->next))
            s->last = &s->first;
        if (o->kind == OP_COPY)
            memcpy(o->dst, o->src, o->bytes);
        else if (o->kind == OP_RECORD)
            o->event->reached = o->version;
        else if (o->kind == OP_FOLLOW && o->event->stream && o->event->reached < o->version)
            run(o->event->stream, o->event, o->version);
        else
            run_kernel(o);
        free(o);
    }
}

static int queue(txm_rt_stream where, const op *what)
{
    stream *s = where;
    bool kernel = what->kind >= OP_INGEST;
    op *o = malloc(sizeof *o);
    if (!o)
        return OUT_OF_MEMORY;
    *o = *what;
    o->next = NULL;
    pthread_mutex_lock(&lock);
    struct device *d = &devices[s->device];
    if (kernel && ++kernels == number("TXM_FAKE_LOSE", 0))
        d->lost = true;
    d->kernels += kernel;
    bool lost = d->lost;
    if (lost) {
        free(o);
    } else {
        *s->last = o;
        s->last = &o->next;
        if (number("TXM_FAKE_EAGER", 0))
            run(s, NULL, 0);
    }
    pthread_mutex_unlock(&lock);
    return lost ? LOST : 0;
}

int txm_rt_ingest(const txm_gpu_ingest *args, txm_rt_stream s)
{
    return queue(s, &(op){.kind = OP_INGEST, .a.ingest = *args});
}

int txm_rt_count_rows(const txm_gpu_count *args, txm_rt_stream s)
{
    return queue(s, &(op){.kind = OP_COUNT, .a.count = *args});
}

int txm_rt_level(const txm_gpu_level *args, txm_rt_stream s)
{
    return queue(s, &(op){.kind = OP_LEVEL, .a.level = *args});
}

int txm_rt_tiles(const txm_gpu_tiles *args, txm_rt_stream s)
{
    return queue(s, &(op){.kind = OP_TILES, .a.tiles = *args});
}

int txm_rt_borders(const txm_gpu_borders *args, txm_rt_stream s)
{
    return queue(s, &(op){.kind = OP_BORDERS, .a.borders = *args});
}

int txm_rt_upload(void *device, const void *pinned, size_t bytes, txm_rt_stream s)
{
    return queue(s, &(op){.kind = OP_COPY, .dst = device, .src = pinned, .bytes = bytes});
}

int txm_rt_download(void *pinned, const void *device, size_t bytes, txm_rt_stream s)
{
    return queue(s, &(op){.kind = OP_COPY, .dst = pinned, .src = device, .bytes = bytes});
}

int txm_rt_copy(void *device, const void *from_device, size_t bytes, txm_rt_stream s)
{
    return queue(s, &(op){.kind = OP_COPY, .dst = device, .src = from_device, .bytes = bytes});
}

/* ---- streams and events ----------------------------------------------------------------------------------------- */

int txm_rt_stream_new(txm_rt_stream *out)
{
    stream *s = calloc(1, sizeof *s);
    if (!s)
        return OUT_OF_MEMORY;
    s->last = &s->first;
    s->device = current();
    pthread_mutex_lock(&lock);
    s->next = streams;
    streams = s;
    pthread_mutex_unlock(&lock);
    *out = s;
    return devices[current()].lost ? LOST : 0;
}

void txm_rt_stream_free(txm_rt_stream where)
{
    if (!where)
        return;
    pthread_mutex_lock(&lock);
    run(where, NULL, 0);
    stream **at = &streams;
    while (*at != where)
        at = &(*at)->next;
    *at = (*at)->next;
    pthread_mutex_unlock(&lock);
    free(where);
}

int txm_rt_event_new(txm_rt_event *out)
{
    return (*out = calloc(1, sizeof(event))) ? 0 : OUT_OF_MEMORY;
}

void txm_rt_event_free(txm_rt_event e)
{
    free(e);
}

int txm_rt_record(txm_rt_event which, txm_rt_stream s)
{
    event *e = which;
    e->stream = s;
    return queue(s, &(op){.kind = OP_RECORD, .event = e, .version = ++e->recorded});
}

int txm_rt_follow(txm_rt_stream s, txm_rt_event which)
{
    event *e = which;
    return queue(s, &(op){.kind = OP_FOLLOW, .event = e, .version = e->recorded});
}

int txm_rt_reach(txm_rt_event which, bool wait, bool *reached)
{
    event *e = which;
    pthread_mutex_lock(&lock);
    bool lost = e->stream && devices[e->stream->device].lost;
    if (wait && !lost && e->stream) {
        bool others_first = ++waits % 2;
        for (stream *s = streams; s && others_first; s = s->next)
            if (s != e->stream)
                run(s, NULL, 0);
        run(e->stream, e, e->recorded);
    }
    *reached = e->reached == e->recorded;
    pthread_mutex_unlock(&lock);
    return lost ? LOST : 0;
}

int txm_rt_elapsed(txm_rt_event begin, txm_rt_event end, double *seconds)
{
    (void)begin, (void)end;
    *seconds = 1e-3;
    return 0;
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static int allocate(void **memory, size_t bytes, bool pinned)
{
    int code = 0;
    pthread_mutex_lock(&lock);
    struct device *d = &devices[current()];
    size_t *used = pinned ? &pinned_used : &d->used, *peak = pinned ? &pinned_peak : &d->peak;
    if (d->lost)
        code = LOST;
    else if (++allocations == number("TXM_FAKE_FAIL_ALLOC", 0) ||
             (!pinned && d->used + bytes > number("TXM_FAKE_MEMORY", 1ul << 30)))
        code = OUT_OF_MEMORY;
    size_t whole = (bytes + 63) / 64 * 64 + sizeof(block);
    block *b = code ? NULL : aligned_alloc(64, whole);
    if (b) {
        *b = (block){.bytes = bytes, .device = current()};
        memset(b + 1, 0xA5, bytes); /* what nobody wrote shows */
        *memory = b + 1;
        *used += bytes;
        *peak = *used > *peak ? *used : *peak;
    }
    pthread_mutex_unlock(&lock);
    return code ? code : b ? 0 : OUT_OF_MEMORY;
}

static void release(void *memory, bool pinned)
{
    if (!memory)
        return;
    block *b = (block *)memory - 1;
    pthread_mutex_lock(&lock);
    *(pinned ? &pinned_used : &devices[b->device].used) -= b->bytes;
    pthread_mutex_unlock(&lock);
    free(b);
}

int txm_rt_alloc(void **memory, size_t bytes)
{
    return allocate(memory, bytes, false);
}

void txm_rt_free(void *memory)
{
    release(memory, false);
}

int txm_rt_alloc_pinned(void **memory, size_t bytes)
{
    return allocate(memory, bytes, true);
}

void txm_rt_free_pinned(void *memory)
{
    release(memory, true);
}

/* ---- devices ---------------------------------------------------------------------------------------------------- */

const char *txm_rt_text(int code)
{
    return code == OUT_OF_MEMORY ? "out of memory" : code == LOST ? "the device was lost" : "no error";
}

bool txm_rt_out_of_memory(int code)
{
    return code == OUT_OF_MEMORY;
}

int txm_rt_count(uint32_t *count)
{
    *count = (uint32_t)number("TXM_FAKE_DEVICES", 1);
    return 0;
}

int txm_rt_use(uint32_t device)
{
    (void)current(); /* makes the key */
    pthread_setspecific(current_key, (void *)(uintptr_t)device);
    return 0;
}

int txm_rt_describe(uint32_t device, txm_gpu_info *info)
{
    devices[device].lost |= number("TXM_FAKE_BROKEN", TXM_GPU_MAX_DEVICES) == device;
    *info = (txm_gpu_info){.memory_bytes = number("TXM_FAKE_MEMORY", 1ul << 30),
                           .major = 9,
                           .multiprocessors = 1,
                           .driver = 13000,
                           .runtime = 13000,
                           .usable = !devices[device].lost};
    info->free_bytes = info->memory_bytes - devices[device].used;
    snprintf(info->name, sizeof info->name, "Imaginary %u", device);
    if (!info->usable)
        snprintf(info->reason, sizeof info->reason, "%s", txm_rt_text(LOST));
    return 0;
}
