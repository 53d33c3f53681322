/* SPDX-License-Identifier: Apache-2.0
 *
 * Choosing devices.
 *
 * A lease says which device takes a file, or why none does. Devices are started by the first file that asks for them
 * by name, or, with `auto`, once the work that they would have saved exceeds what starting costs.
 */
#include "mill/convert/gpus.h"

#include <ctype.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mill/convert/gpu_rates.h"
#include "tile/base/fail.h"
#include "tile/base/mem.h"
#include "tile/base/text.h"

enum {
    CHUNK_BYTES = 8 << 20, /* of level 0 at once: enough to keep a device busy */
    CHUNK_ROWS = 1024,
    SLOTS = 3,              /* one is filled, one is on the device, one is being compressed */
    JOBS = 2,               /* files at once on a device: one computes while the other copies */
    WORTH_A_LOOK = 1 << 18, /* pixels: measuring what they cost takes a quarter as long as what they cost */
    TYPES = 4
};

/* What loading a driver and making a context takes. The one figure here that is not measured: to know it, it would have
 * to be spent. */
#define START_SECONDS 0.3

typedef struct gpu {
    uint32_t device;
    bool started, failed;
    unsigned active;
    uint64_t budget_bytes, reserved_bytes;
    txm_gpu_rates rates;
    char reason[200]; /* why failed */
} gpu;

struct txm_gpus {
    txm_gpus_options options;
    bool named;
    int only; /* BACKEND:N; -1: any */
    const txm_gpu_backend *backend;
    pthread_mutex_t lock; /* guards all below */
    const txm_gpu_plugin *plugin;
    gpu gpus[TXM_GPU_MAX_DEVICES];
    uint32_t count;
    bool looked;                     /* for devices: count holds */
    char nothing[TXM_MESSAGE_BYTES]; /* why there is none */
    double spent_seconds;            /* on the CPU that devices would have saved */
    double cpu_rates[TYPES][2][2];
};

/* ---- finding ---------------------------------------------------------------------------------------------------- */

/* Loads the plug-in, which loads the driver: tens of milliseconds that only a process that wants a GPU pays. */
static txm_status look_for(txm_gpus *g, txm_error *err)
{
    uint32_t n = 0;
    if (!(g->plugin = txm_gpu_plugin_load(g->backend, err)))
        return TXM_STATUS_DEVICE;
    txm_status status = g->plugin->count(&n, err);
    if (!status && !n)
        status = txm_fail(err, TXM_STATUS_DEVICE, "there is no %s device", g->backend->title);
    if (!status && g->only >= 0 && (uint32_t)g->only >= n)
        status = txm_fail(err, TXM_STATUS_DEVICE, "there are %u %s devices, counted from 0", n, g->backend->title);
    for (uint32_t i = 0; !status && i < n; i++) {
        if (g->only < 0 || (uint32_t)g->only == i)
            g->gpus[g->count++].device = i;
    }
    return status;
}

/* Of the back-end that was named, or of the first that has any. */
static txm_status look(txm_gpus *g, txm_error *err)
{
    g->looked = true;
    if (g->backend)
        return look_for(g, err);
    txm_status status = TXM_STATUS_DEVICE;
    for (size_t i = 0; status && (g->backend = txm_gpu_backend_at(i)); i++)
        status = look_for(g, err);
    return status;
}

/* Makes a device ready for work: what it may take of its memory, and with auto what its work costs. */
static void start(txm_gpus *g, gpu *d)
{
    txm_gpu_info info = {0};
    txm_error err = {0};
    d->started = true;
    if (g->plugin->describe(d->device, &info, &err)) {
        d->failed = true;
        snprintf(d->reason, sizeof d->reason, "%.190s", err.message);
        return;
    }
    /* A tenth stays for what the driver takes for itself. */
    uint64_t bound = g->options.memory_bytes;
    d->budget_bytes = info.free_bytes - info.free_bytes / 10;
    if (bound && bound < d->budget_bytes)
        d->budget_bytes = bound;
    d->failed = !info.usable;
    snprintf(d->reason, sizeof d->reason, "%.190s", info.reason);
    if (!d->failed && !g->named && txm_gpu_rates_measure(g->plugin, d->device, &d->rates, &err)) {
        d->failed = true;
        snprintf(d->reason, sizeof d->reason, "%.190s", err.message);
    }
}

/* Starts every device; whether one of them can be used. */
static bool start_all(txm_gpus *g, char why[TXM_MESSAGE_BYTES])
{
    bool any = false;
    for (uint32_t i = 0; i < g->count; i++) {
        gpu *d = &g->gpus[i];
        if (!d->started)
            start(g, d);
        any |= !d->failed;
        if (d->failed)
            snprintf(why, TXM_MESSAGE_BYTES, "%s device %u: %s", g->backend->title, d->device, d->reason);
    }
    return any;
}

/* Asked for by name: what does not work is an error, not a reason to use the CPU. */
static txm_status open_named(txm_gpus *g, txm_error *err)
{
    char why[TXM_MESSAGE_BYTES] = "";
    txm_status status = look(g, err);
    if (!status && !start_all(g, why))
        status = txm_fail(err, TXM_STATUS_DEVICE, "%s", why);
    return status;
}

/* "BACKEND" (*only stays) or "BACKEND:N". */
static bool parse_device(const char *word, const txm_gpu_backend **backend, int *only)
{
    size_t n = strcspn(word, ":"), i = 0;
    while ((*backend = txm_gpu_backend_at(i++)) && (strncmp((*backend)->name, word, n) || (*backend)->name[n]))
        ;
    if (!*backend || !word[n])
        return *backend;
    if (!isdigit((unsigned char)word[n + 1]))
        return false;
    char *end;
    unsigned long number = strtoul(word + n + 1, &end, 10);
    if (*end || number > INT_MAX)
        return false;
    *only = (int)number;
    return true;
}

/* `why` is for the log: the reason why the CPU will do the work, if it will. */
txm_status txm_gpus_new(const txm_gpus_options *options, txm_gpus **out, char why[TXM_MESSAGE_BYTES], txm_error *err)
{
    const char *word = options->device ? options->device : "auto";
    bool named = strcmp(word, "auto") != 0;
    int only = -1;
    const txm_gpu_backend *backend = NULL;
    *why = 0;
    if (strcmp(word, "cpu") == 0)
        return TXM_OK;
    if (named && !parse_device(word, &backend, &only))
        return txm_fail(err, TXM_STATUS_USAGE, "device '%s': use auto, cpu, cuda or cuda:N", word);
    if (!named && !txm_gpu_plugin_exists()) {
        snprintf(why, TXM_MESSAGE_BYTES, "there is no plug-in for GPUs");
        return TXM_OK;
    }
    txm_gpus *g = txm_calloc(1, sizeof *g);
    if (!g)
        return txm_no_memory(err, NULL);
    g->options = *options;
    g->options.device = NULL; /* the caller's */
    g->named = named;
    g->only = only;
    g->backend = backend;
    pthread_mutex_init(&g->lock, NULL);
    txm_error own = {0};
    if (named && open_named(g, &own)) {
        txm_status status = txm_fail(err, own.status, "device %s: %s; use --device cpu or auto", word, own.message);
        txm_gpus_free(&g);
        return status;
    }
    *out = g;
    return TXM_OK;
}

/* Memory that devices keep between files is given back. */
void txm_gpus_free(txm_gpus **gpus)
{
    if (!gpus || !*gpus)
        return;
    for (uint32_t i = 0; i < (*gpus)->count; i++)
        if ((*gpus)->gpus[i].started)
            (*gpus)->plugin->trim((*gpus)->gpus[i].device);
    pthread_mutex_destroy(&(*gpus)->lock);
    free(*gpus);
    *gpus = NULL;
}

/* ---- fitting ---------------------------------------------------------------------------------------------------- */

/* Chunks as high as memory allows, at least one row of tiles. *device_bytes: what they take, or the smallest ones
 * would. */
static bool fit(const txm_gpus *g, const gpu *d, uint64_t pinned_limit, txm_gpu_plan *plan, uint64_t *device_bytes)
{
    uint64_t row = (uint64_t)plan->width * 4 * txm_type_bytes(plan->type), left = d->budget_bytes - d->reserved_bytes;
    uint64_t rows = CHUNK_BYTES / row, pinned_bytes;
    rows = rows > CHUNK_ROWS ? CHUNK_ROWS : rows;
    rows = rows > plan->height ? plan->height + plan->tile_px - 1 : rows;
    for (uint64_t n = rows / plan->tile_px;; n /= 2) {
        plan->chunk_rows = (uint32_t)(n > 1 ? n : 1) * plan->tile_px;
        for (plan->slots = SLOTS; plan->slots >= 2; plan->slots--) {
            g->plugin->memory(plan, device_bytes, &pinned_bytes);
            if (*device_bytes <= left && (!pinned_limit || pinned_bytes <= pinned_limit))
                return true;
        }
        if (n <= 1)
            return false;
    }
}

/* The least busy device that has room. */
static gpu *choose(txm_gpus *g, uint64_t pinned_limit, txm_gpu_plan *plan, uint64_t *device_bytes, bool *busy,
                   char why[TXM_MESSAGE_BYTES])
{
    gpu *best = NULL;
    *busy = false;
    snprintf(why, TXM_MESSAGE_BYTES, "no device can be used any more");
    for (uint32_t i = 0; i < g->count; i++) {
        gpu *d = &g->gpus[i];
        txm_gpu_plan fitted = *plan;
        uint64_t bytes = 0;
        if (d->failed || (best && best->active <= d->active))
            continue;
        bool room = d->active < JOBS && fit(g, d, pinned_limit, &fitted, &bytes);
        if (!room) {
            /* What does not fit beside others may fit alone. */
            *busy |= d->active > 0;
            if (!d->active)
                snprintf(why, TXM_MESSAGE_BYTES,
                         "it would take %llu MB of device %u's memory, or more than "
                         "--max-memory leaves",
                         (unsigned long long)(bytes / 1000000 + 1), d->device);
            continue;
        }
        best = d;
        *plan = fitted;
        *device_bytes = bytes;
    }
    if (*busy)
        snprintf(why, TXM_MESSAGE_BYTES, "the devices are busy");
    return best;
}

/* ---- whether it pays -------------------------------------------------------------------------------------------- */

/* Seconds that a device saves: the CPU's work on this image, shared by its threads. */
static double saving(txm_gpus *g, const txm_gpu_plan *plan)
{
    double *rate = &g->cpu_rates[plan->type][plan->srgb][plan->channels == 4];
    if (*rate <= 0)
        *rate = txm_cpu_seconds_per_pixel(g->options.ops, plan);
    return *rate * plan->width * plan->height / g->options.threads;
}

/* With auto: whether devices are running, or are to be started now. */
static bool worth_starting(txm_gpus *g, double saved, char why[TXM_MESSAGE_BYTES])
{
    if (!g->looked) {
        g->spent_seconds += saved;
        if (g->spent_seconds < START_SECONDS) {
            txm_format(why, TXM_MESSAGE_BYTES, "a GPU could have saved %.2f s so far, starting one takes about %.2f s",
                       g->spent_seconds, START_SECONDS);
            return false;
        }
        txm_error err = {0};
        if (look(g, &err) || !start_all(g, err.message))
            snprintf(g->nothing, sizeof g->nothing, "%s", err.message);
    }
    if (*g->nothing)
        snprintf(why, TXM_MESSAGE_BYTES, "%s", g->nothing);
    return !*g->nothing;
}

/* With auto: whether this device is faster than this CPU for this image. */
static bool pays(txm_gpus *g, const gpu *d, const txm_gpu_plan *plan, double saved, char why[TXM_MESSAGE_BYTES])
{
    double there = txm_gpu_seconds(g->plugin, &d->rates, plan);
    txm_format(why, TXM_MESSAGE_BYTES, "%.3f s there by estimate, %.3f s on %u CPU thread%s", there, saved,
               g->options.threads, g->options.threads == 1 ? "" : "s");
    return there < saved;
}

/* 'auto' adds up what the device would have saved so far; it starts one when that exceeds the time to start it. */
static gpu *decide(txm_gpus *g, uint64_t pinned_limit, txm_gpu_plan *plan, uint64_t *device_bytes, bool *busy,
                   char why[TXM_MESSAGE_BYTES])
{
    if (g->named) {
        gpu *d = choose(g, pinned_limit, plan, device_bytes, busy, why);
        if (d)
            snprintf(why, TXM_MESSAGE_BYTES, "as asked for");
        return d;
    }
    if ((uint64_t)plan->width * plan->height < WORTH_A_LOOK) {
        snprintf(why, TXM_MESSAGE_BYTES, "small images stay there");
        return NULL;
    }
    double saved = saving(g, plan);
    gpu *d = worth_starting(g, saved, why) ? choose(g, pinned_limit, plan, device_bytes, busy, why) : NULL;
    return d && pays(g, d, plan, saved, why) ? d : NULL;
}

/* Memory on the device is reserved here and returned by txm_gpus_return. */
txm_gpu_choice txm_gpus_lease(txm_gpus *g, const txm_gpu_plan *wanted, uint64_t pinned_limit_bytes, txm_gpu_lease *out,
                              char why[TXM_MESSAGE_BYTES])
{
    txm_gpu_plan plan = *wanted;
    uint64_t device_bytes = 0;
    bool busy = false;
    pthread_mutex_lock(&g->lock);
    gpu *d = decide(g, pinned_limit_bytes, &plan, &device_bytes, &busy, why);
    if (d) {
        d->active++;
        d->reserved_bytes += device_bytes;
        *out = (txm_gpu_lease){
            .gpus = g, .plugin = g->plugin, .device = d->device, .device_bytes = device_bytes, .plan = plan};
        snprintf(out->label, sizeof out->label, "%.8s:%u", g->plugin->name, d->device % 1000);
    }
    pthread_mutex_unlock(&g->lock);
    return d ? TXM_GPU_LEASED : g->named && !busy ? TXM_GPU_REFUSED : TXM_GPU_NONE;
}

void txm_gpus_return(txm_gpu_lease *lease, bool failed)
{
    txm_gpus *g = lease->gpus;
    if (!g)
        return;
    pthread_mutex_lock(&g->lock);
    for (uint32_t i = 0; i < g->count; i++) {
        gpu *d = &g->gpus[i];
        if (d->device != lease->device)
            continue;
        d->active--;
        d->reserved_bytes -= lease->device_bytes;
        d->failed |= failed;
    }
    pthread_mutex_unlock(&g->lock);
    lease->gpus = NULL;
}
