/* SPDX-License-Identifier: Apache-2.0
 *
 * A GPU's runtime on the CPU: the plug-in's jobs run on it from end to end, with kernels as loops over the same bodies.
 *
 * Work does not run when it is queued. It runs when somebody waits for an event after it in the same stream, and only
 * up to that event, so work that the jobs do not order runs too late here. Every other time, the other streams run
 * first, as far as they may, so that it runs too early. With TXM_FAKE_EAGER=1 all work runs at once instead.
 *
 * TXM_FAKE_DEVICES=N          number of devices (1)
 * TXM_FAKE_MEMORY=BYTES       memory of each (1 GiB)
 * TXM_FAKE_PROCESSORS=N       multiprocessors of each (1)
 * TXM_FAKE_FAIL_ALLOC=N       the N-th allocation of device or pinned memory fails
 * TXM_FAKE_FAIL_FROM=N        it and all that follow fail
 * TXM_FAKE_LOSE=N             the device that runs the N-th kernel is lost permanently
 * TXM_FAKE_BROKEN=N           device N is lost from the beginning
 * TXM_FAKE_REPORT=FILE        writes a line for each device at the end
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/runtime/runtime.h"

enum { OUT_OF_MEMORY = 2, LOST = 719, WARP = 32 };

typedef enum op_kind { OP_COPY, OP_RECORD, OP_FOLLOW, OP_KERNEL } op_kind;

typedef struct stream stream;

typedef struct event {
    stream *stream; /* the stream in which it was recorded last */
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
    const txm_rt_kernel *kernel;
    uint32_t threads[3];
    void *memories[TXM_RT_MEMORIES];
    uint64_t args[TXM_RT_MAX_ARGS_BYTES / sizeof(uint64_t)];
} op;

struct stream {
    op *first, **last;
    uint32_t device;
    stream *next; /* in the list of all streams */
};

const char txm_rt_name[] = "cuda", txm_rt_title[] = "CUDA";

/* The header of every block. */
typedef struct block {
    size_t bytes;
    uint32_t device, pinned;
    uint32_t pad[12]; /* to 64 bytes, which keeps blocks aligned */
} block;

static struct device {
    size_t used, peak;
    unsigned long kernels, streams, most_streams;
    bool lost;
} devices[TXM_DEVICES_MAX];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static stream *streams;
static unsigned long kernels, allocations, waits;
static size_t pinned_used, pinned_peak;
/* The device that a thread uses. This is not _Thread_local, because LeakSanitizer fails with thread-local memory of
 * loaded libraries. */
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
        fprintf(f, "device=%lu kernels=%lu streams=%lu peak=%zu left=%zu pinned_peak=%zu pinned_left=%zu\n", i,
                devices[i].kernels, devices[i].most_streams, devices[i].peak, devices[i].used, pinned_peak,
                pinned_used);
    if (f)
        fclose(f);
}

/* ---- work ------------------------------------------------------------------------------------------------------- */

/* Runs whole blocks, and one row more in the other dimensions that the kernel uses: it checks its own bounds. */
static void run_kernel(const op *o)
{
    typedef void entry(void *const m[], const void *args, const uint32_t id[3]);
    entry *call;
    memcpy(&call, &o->kernel->function, sizeof call);
    const uint32_t *n = o->threads, end = (n[0] + WARP - 1) / WARP * WARP;
    uint32_t id[3];
    for (id[2] = 0; id[2] < n[2] + (n[2] > 1); id[2]++)
        for (id[1] = 0; id[1] < n[1] + (n[1] > 1); id[1]++)
            for (id[0] = 0; id[0] < end; id[0]++)
                call(o->memories, o->args, id);
}

/* Runs a stream up to `event`, or to its end if that is NULL. */
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
        else if (o->kind == OP_KERNEL)
            run_kernel(o);
        else if (o->event->stream && o->event->reached < o->version)
            run(o->event->stream, o->event, o->version);
        free(o);
    }
}

static int queue(txm_rt_stream where, const op *what)
{
    stream *s = where;
    bool kernel = what->kind == OP_KERNEL;
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

int txm_rt_launch(const txm_rt_program *program, uint32_t kernel, const uint32_t threads[3],
                  const txm_rt_memory *memories, uint32_t memory_count, const void *args, size_t args_bytes,
                  txm_rt_stream s)
{
    op o = {.kind = OP_KERNEL, .kernel = &program->kernels[kernel]};
    memcpy(o.threads, threads, sizeof o.threads);
    memcpy(o.memories, memories, memory_count * sizeof *memories);
    memcpy(o.args, args, args_bytes);
    return queue(s, &o);
}

int txm_rt_upload(txm_rt_memory to, uint64_t at, const void *pinned, size_t bytes, txm_rt_stream s)
{
    return queue(s, &(op){.kind = OP_COPY, .dst = (uint8_t *)to + at, .src = pinned, .bytes = bytes});
}

int txm_rt_download(void *pinned, txm_rt_memory from, uint64_t at, size_t bytes, txm_rt_stream s)
{
    return queue(s, &(op){.kind = OP_COPY, .dst = pinned, .src = (uint8_t *)from + at, .bytes = bytes});
}

int txm_rt_copy(txm_rt_memory to, uint64_t to_at, txm_rt_memory from, uint64_t from_at, size_t bytes, txm_rt_stream s)
{
    return queue(
        s, &(op){.kind = OP_COPY, .dst = (uint8_t *)to + to_at, .src = (uint8_t *)from + from_at, .bytes = bytes});
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
    struct device *d = &devices[s->device];
    if (++d->streams > d->most_streams)
        d->most_streams = d->streams;
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
    devices[((stream *)where)->device].streams--;
    pthread_mutex_unlock(&lock);
    free(where);
}

void txm_rt_handles(txm_rt_stream s, void *handles[3])
{
    handles[0] = handles[1] = NULL;
    handles[2] = s;
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
    else if (++allocations == number("TXM_FAKE_FAIL_ALLOC", 0) || allocations >= number("TXM_FAKE_FAIL_FROM", -1ul) ||
             (!pinned && d->used + bytes > number("TXM_FAKE_MEMORY", 1ul << 30)))
        code = OUT_OF_MEMORY;
    size_t whole = (bytes + 63) / 64 * 64 + sizeof(block);
    block *b = code ? NULL : aligned_alloc(64, whole);
    if (b) {
        *b = (block){.bytes = bytes, .device = current(), .pinned = pinned};
        memset(b + 1, 0xA5, bytes); /* so that a read of memory that was never written shows */
        *memory = b + 1;
        *used += bytes;
        *peak = *used > *peak ? *used : *peak;
    }
    pthread_mutex_unlock(&lock);
    return code ? code : b ? 0 : OUT_OF_MEMORY;
}

static void release(void *memory)
{
    if (!memory)
        return;
    block *b = (block *)memory - 1;
    pthread_mutex_lock(&lock);
    *(b->pinned ? &pinned_used : &devices[b->device].used) -= b->bytes;
    pthread_mutex_unlock(&lock);
    free(b);
}

int txm_rt_alloc(txm_rt_memory *memory, size_t bytes)
{
    return allocate(memory, bytes, false);
}

int txm_rt_alloc_host(txm_rt_memory *memory, size_t bytes)
{
    return allocate(memory, bytes, true);
}

void txm_rt_free(txm_rt_memory memory)
{
    release(memory);
}

int txm_rt_alloc_pinned(void **memory, size_t bytes)
{
    return allocate(memory, bytes, true);
}

void txm_rt_free_pinned(void *memory)
{
    release(memory);
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

const char *txm_rt_note(void)
{
    return NULL;
}

int txm_rt_count(uint32_t *count)
{
    *count = (uint32_t)number("TXM_FAKE_DEVICES", 1);
    return 0;
}

int txm_rt_use(uint32_t device)
{
    (void)current(); /* this makes the key */
    pthread_setspecific(current_key, (void *)(uintptr_t)device);
    return 0;
}

int txm_rt_describe(uint32_t device, txm_device_facts *info)
{
    devices[device].lost |= number("TXM_FAKE_BROKEN", TXM_DEVICES_MAX) == device;
    *info = (txm_device_facts){.memory_bytes = number("TXM_FAKE_MEMORY", 1ul << 30),
                               .processors = (uint32_t)number("TXM_FAKE_PROCESSORS", 1),
                               .architecture = "9.0",
                               .driver = "13.0",
                               .usable = !devices[device].lost};
    info->free_bytes = info->piece_bytes = info->memory_bytes - devices[device].used;
    snprintf(info->name, sizeof info->name, "Imaginary %u", device);
    if (!info->usable)
        snprintf(info->reason, sizeof info->reason, "%s", txm_rt_text(LOST));
    return 0;
}
