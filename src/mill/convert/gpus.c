/* SPDX-License-Identifier: Apache-2.0
 *
 * Chooses devices. A device that the user named is started by the first file; with `auto`, devices are started once the
 * time that they would have saved, according to measurements on this machine, exceeds the time of starting them.
 */
#include "mill/convert/gpus.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "mill/convert/gpu_rates.h"
#include "tile/device/device_plugin.h"
#include "tile/terms/backends.h"

enum {
    CHUNK_BYTES = 8 << 20, /* bytes of level 0 in a chunk: enough to keep a device busy */
    CHUNK_ROWS = 1024,
    SLOTS = 3,             /* one is filled, one is on the device, one is being compressed */
    MOST_ENCODERS = 512,   /* tiles of 64 px of RGBA8 in a chunk */
    ENCODERS_AT_ONCE = 12, /* blocks of a warp of 162 registers a thread that a multiprocessor takes */
    MOST_AHEAD = 8,        /* files on a device in addition to one for each thread */
    LEAST_PIXELS = 1 << 18 /* pixels: rates were not measured for smaller images */
};

typedef struct gpu {
    uint32_t device;
    bool started, failed, told;
    unsigned active, most; /* files on the device at once */
    uint64_t budget_bytes, reserved_bytes;
    const txm_gpu_rates *rates; /* its measured rates; NULL: none */
    char reason[200];           /* the reason if it failed */
} gpu;

struct txm_gpus {
    txm_gpus_options options;
    bool named;
    int only; /* index N of BACKEND:N; -1: any */
    const txm_device_backend_row *backend;
    pthread_mutex_t lock; /* guards all members below */
    const txm_device_plugin *plugin;
    const txm_gpu_jobs *jobs;
    gpu gpus[TXM_DEVICES_MAX];
    uint32_t count;
    bool searched;                   /* devices were searched, and count is valid */
    bool noted;                      /* the plug-in's note was reported */
    char nothing[TXM_MESSAGE_BYTES]; /* why there is none */
    txm_gpu_rates *measured;         /* rates of earlier measurements */
    size_t measured_count;
    double spent_seconds; /* CPU time that devices would have saved */
    size_t expected;      /* number of files, if it is known */
};

/* Loads the plug-in, which loads the driver. This takes tens of milliseconds, which only processes that want a device
 * spend. */
static txm_status load_plugin(txm_gpus *g, txm_error *err)
{
    uint32_t n = 0;
    g->searched = true;
    txm_status status = txm_device_count(g->backend, &g->plugin, &n, err);
    if (!status && !(g->jobs = txm_gpu_jobs_of(g->plugin, err)))
        status = TXM_STATUS_DEVICE;
    if (!status && g->only >= 0 && (uint32_t)g->only >= n)
        status = txm_fail(err, TXM_STATUS_DEVICE, "there %s %u %s device%s, counted from 0", n == 1 ? "is" : "are", n,
                          g->backend->title, n == 1 ? "" : "s");
    for (uint32_t i = 0; !status && i < n; i++) {
        if (g->only < 0 || (uint32_t)g->only == i)
            g->gpus[g->count++].device = i;
    }
    return status;
}

/* The rates of this device, unless another device had its number then. */
static const txm_gpu_rates *measured(const txm_gpus *g, const gpu *d, const txm_device_facts *facts)
{
    char label[TXM_GPU_LABEL_BYTES];
    snprintf(label, sizeof label, "%.8s:%u", g->backend->name, d->device % 1000);
    for (size_t i = 0; i < g->measured_count; i++) {
        const txm_gpu_rates *r = &g->measured[i];
        if (!strcmp(r->label, label) && !strcmp(r->name, facts->name) && !strcmp(r->driver, facts->driver))
            return r;
    }
    return NULL;
}

/* As many as can be encoded at the same time. */
uint32_t txm_gpus_ahead(uint32_t processors)
{
    const uint32_t ahead = processors / (MOST_ENCODERS / ENCODERS_AT_ONCE);
    return ahead < 1 ? 1 : ahead < MOST_AHEAD ? ahead : MOST_AHEAD;
}

static void start_device(txm_gpus *g, gpu *d)
{
    txm_device_facts info = {0};
    txm_error err = {0};
    d->started = true;
    if (g->plugin->describe(d->device, &info, &err)) {
        d->failed = true;
        snprintf(d->reason, sizeof d->reason, "%.190s", err.message);
        return;
    }
    /* A tenth is left for the driver itself. */
    uint64_t bound = g->options.memory_bytes;
    d->budget_bytes = info.free_bytes - info.free_bytes / 10;
    if (info.piece_bytes < d->budget_bytes)
        d->budget_bytes = info.piece_bytes;
    if (bound && bound < d->budget_bytes)
        d->budget_bytes = bound;
    d->most = g->options.threads + txm_gpus_ahead(info.processors); /* each thread reads or hashes one of them */
    d->failed = !info.usable;
    snprintf(d->reason, sizeof d->reason, "%.190s", info.reason);
    d->rates = measured(g, d, &info);
    if (!d->failed && !g->named && !d->rates) {
        d->failed = true;
        snprintf(d->reason, sizeof d->reason, "it was not measured on this machine");
    }
}

/* Starts every device; returns whether one of them can be used. */
static bool start_all(txm_gpus *g, char why[TXM_MESSAGE_BYTES])
{
    bool any = false;
    for (uint32_t i = 0; i < g->count; i++) {
        gpu *d = &g->gpus[i];
        if (!d->started)
            start_device(g, d);
        any |= !d->failed;
        if (d->failed)
            snprintf(why, TXM_MESSAGE_BYTES, "%s device %u: %s", g->backend->title, d->device, d->reason);
    }
    return any;
}

/* `why` is for the log: why the CPU does the work, if it does. */
txm_status txm_gpus_new(const txm_gpus_options *options, txm_gpus **out, char why[TXM_MESSAGE_BYTES], txm_error *err)
{
    const char *word = options->device ? options->device : "auto";
    bool named = strcmp(word, "auto") != 0;
    int only = -1;
    const txm_device_backend_row *backend = NULL;
    *why = 0;
    if (strcmp(word, "cpu") == 0)
        return TXM_OK;
    if (named && !(backend = txm_device_parse(word, &only)))
        return txm_fail(err, TXM_STATUS_USAGE, "device '%s': use one of " TXM_DEVICE_WORDS, word);
    txm_gpu_rates *rates = NULL;
    size_t count = named ? 0 : txm_gpu_rates_read(&rates);
    if (!named && !count) {
        snprintf(why, TXM_MESSAGE_BYTES, "no device was measured on this machine (txmill devices --measure)");
        return TXM_OK;
    }
    txm_gpus *g = txm_calloc(1, sizeof *g);
    if (!g) {
        free(rates);
        return txm_no_memory(err, NULL);
    }
    g->measured = rates;
    g->measured_count = count;
    g->options = *options;
    g->options.device = NULL; /* it belongs to the caller */
    g->named = named;
    g->only = only;
    g->backend = backend;
    pthread_mutex_init(&g->lock, NULL);
    txm_error own = {0};
    char reason[TXM_MESSAGE_BYTES] = "";
    /* If a device was chosen by name, a failure is an error and not a reason to use the CPU. */
    if (named && !load_plugin(g, &own) && !start_all(g, reason))
        txm_fail(&own, TXM_STATUS_DEVICE, "%s", reason);
    if (own.status) {
        txm_status status = txm_fail(err, own.status, "device %s: %s; use --device cpu or auto", word, own.message);
        txm_gpus_free(&g);
        return status;
    }
    *out = g;
    return TXM_OK;
}

void txm_gpus_free(txm_gpus **gpus)
{
    if (!gpus || !*gpus)
        return;
    for (uint32_t i = 0; i < (*gpus)->count; i++)
        if ((*gpus)->gpus[i].started)
            (*gpus)->jobs->trim((*gpus)->gpus[i].device);
    pthread_mutex_destroy(&(*gpus)->lock);
    free((*gpus)->measured);
    free(*gpus);
    *gpus = NULL;
}

/* Makes chunks as high as memory allows, at least one row of tiles, with `most` encoders or a part of them, but at
 * least `least`. *device_bytes receives what they take, or what the smallest ones would. */
static bool fit_chunks(const txm_gpus *g, uint64_t left, uint64_t pinned_limit, txm_gpu_plan *plan, uint32_t least,
                       uint32_t most, uint64_t *device_bytes)
{
    uint64_t row = (uint64_t)plan->width * 4 * txm_type_bytes(plan->type);
    uint64_t rows = CHUNK_BYTES / row, pinned_bytes;
    rows = rows > CHUNK_ROWS ? CHUNK_ROWS : rows;
    rows = rows > plan->height ? plan->height + plan->tile_px - 1 : rows;
    for (uint64_t n = rows / plan->tile_px;; n /= 2) {
        plan->chunk_rows = (uint32_t)(n > 1 ? n : 1) * plan->tile_px;
        for (plan->slots = SLOTS; plan->slots >= 2; plan->slots--) {
            plan->encoders = most;
            do {
                g->jobs->memory(plan, device_bytes, &pinned_bytes);
                if (*device_bytes <= left && (!pinned_limit || pinned_bytes <= pinned_limit))
                    return true;
                plan->encoders /= 2;
            } while (plan->encoders && plan->encoders >= least);
        }
        if (n <= 1)
            return false;
    }
}

/* An encoder for each tile of a chunk keeps the device busiest. With little memory there are fewer, then fewer files at
 * once, still fewer encoders, and finally none: then the CPU compresses. */
static bool fit(const txm_gpus *g, const gpu *d, uint64_t pinned_limit, txm_gpu_plan *plan, uint64_t *device_bytes)
{
    const uint32_t most = plan->encoders < MOST_ENCODERS ? plan->encoders : MOST_ENCODERS;
    const uint64_t left = d->budget_bytes > d->reserved_bytes ? d->budget_bytes - d->reserved_bytes : 0;
    const size_t files = g->expected < d->most ? g->expected : d->most;
    for (size_t others = files > d->active ? files - d->active : 1; others; others /= 2)
        if (fit_chunks(g, left / others, pinned_limit, plan, most / 4, most, device_bytes))
            return true;
    return (most && fit_chunks(g, left, pinned_limit, plan, 1, most, device_bytes)) ||
           fit_chunks(g, left, pinned_limit, plan, 0, 0, device_bytes);
}

/* The least busy device that has room. `refused`: there is none, and there will be none. */
static gpu *choose(txm_gpus *g, uint64_t pinned_limit, txm_gpu_plan *plan, uint64_t *device_bytes, bool *refused,
                   char why[TXM_MESSAGE_BYTES])
{
    gpu *best = NULL;
    bool busy = false;
    snprintf(why, TXM_MESSAGE_BYTES, "no device can be used any more");
    for (uint32_t i = 0; i < g->count; i++) {
        gpu *d = &g->gpus[i];
        txm_gpu_plan fitted = *plan;
        uint64_t bytes = 0;
        if (d->failed || (best && best->active <= d->active))
            continue;
        bool room = d->active < d->most && fit(g, d, pinned_limit, &fitted, &bytes);
        if (!room) {
            /* An image that does not fit beside others may fit alone. */
            busy |= d->active > 0;
            *refused |= !d->active && !d->told;
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
    if (busy)
        snprintf(why, TXM_MESSAGE_BYTES, "the devices are busy");
    *refused &= !best && !busy;
    return best;
}

/* The seconds that a device saves for this image, if the CPU's work is shared by its threads; negative if it is slower.
 * What the device costs the CPU is shared by them, too: a driver that computes on the CPU never saves anything. */
static double saving(const txm_gpus *g, const txm_gpu_rates *rates, const txm_gpu_plan *plan)
{
    const txm_gpu_rate *r = &rates->rate[plan->type][plan->channels == 4];
    const double host = r->host / g->options.threads, device = r->device > host ? r->device : host;
    return (r->cpu / g->options.threads - device) * plan->width * plan->height;
}

static bool pays(const txm_gpus *g, const txm_gpu_rates *rates, const txm_gpu_plan *plan, char why[TXM_MESSAGE_BYTES])
{
    const txm_gpu_rate *r = &rates->rate[plan->type][plan->channels == 4];
    txm_format(why, TXM_MESSAGE_BYTES,
               "measured: %.2f ns per pixel there and %.2f ns of processor time meanwhile, %.2f ns on %u CPU thread%s",
               r->device * 1e9, r->host * 1e9, r->cpu * 1e9 / g->options.threads, g->options.threads,
               g->options.threads == 1 ? "" : "s");
    return saving(g, rates, plan) > 0;
}

/* With `auto`, takes only a device that was measured to be faster. */
static gpu *decide(txm_gpus *g, uint64_t pinned_limit, txm_gpu_plan *plan, uint64_t *device_bytes, bool *refused,
                   char why[TXM_MESSAGE_BYTES])
{
    if (g->named) {
        gpu *d = choose(g, pinned_limit, plan, device_bytes, refused, why);
        if (d)
            snprintf(why, TXM_MESSAGE_BYTES, "as requested");
        return d;
    }
    if ((uint64_t)plan->width * plan->height < LEAST_PIXELS) {
        snprintf(why, TXM_MESSAGE_BYTES, "small images stay there");
        return NULL;
    }
    const txm_gpu_rates *rates = &g->measured[0]; /* those of the device that saves most */
    for (size_t i = 1; i < g->measured_count; i++)
        if (saving(g, &g->measured[i], plan) > saving(g, rates, plan))
            rates = &g->measured[i];
    if (!pays(g, rates, plan, why))
        return NULL;
    /* A driver is loaded only once it would have saved more time than loading takes. */
    if (!g->searched) {
        g->spent_seconds += saving(g, rates, plan);
        if (g->spent_seconds < rates->start) {
            txm_format(why, TXM_MESSAGE_BYTES, "%s could have saved %.2f s so far, starting it takes %.2f s",
                       rates->label, g->spent_seconds, rates->start);
            return NULL;
        }
        int number;
        txm_error err = {0};
        g->backend = txm_device_parse(rates->label, &number);
        if (load_plugin(g, &err) || !start_all(g, err.message))
            snprintf(g->nothing, sizeof g->nothing, "%s", err.message);
    }
    if (*g->nothing) {
        snprintf(why, TXM_MESSAGE_BYTES, "%s", g->nothing);
        return NULL;
    }
    gpu *d = choose(g, pinned_limit, plan, device_bytes, refused, why);
    return d && pays(g, d->rates, plan, why) ? d : NULL;
}

txm_gpu_choice txm_gpus_lease(txm_gpus *g, const txm_gpu_plan *wanted, uint64_t pinned_limit_bytes, txm_gpu_lease *out,
                              char why[TXM_MESSAGE_BYTES])
{
    txm_gpu_plan plan = *wanted;
    uint64_t device_bytes = 0;
    bool refused = false;
    pthread_mutex_lock(&g->lock);
    gpu *d = decide(g, pinned_limit_bytes, &plan, &device_bytes, &refused, why);
    if (d) {
        d->active++;
        d->reserved_bytes += device_bytes;
        *out = (txm_gpu_lease){
            .gpus = g, .jobs = g->jobs, .device = d->device, .device_bytes = device_bytes, .plan = plan};
        snprintf(out->label, sizeof out->label, "%.8s:%u", g->plugin->name, d->device % 1000);
    }
    pthread_mutex_unlock(&g->lock);
    return d ? TXM_GPU_LEASED : g->named && refused ? TXM_GPU_REFUSED : TXM_GPU_NONE;
}

/* Memory that others use may have run out; half as much may still be there. */
void txm_gpus_return(txm_gpu_lease *lease, txm_status failed)
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
        d->failed |= failed && failed != TXM_STATUS_NO_MEMORY;
        if (failed == TXM_STATUS_NO_MEMORY && d->budget_bytes > d->reserved_bytes + lease->device_bytes / 2)
            d->budget_bytes = d->reserved_bytes + lease->device_bytes / 2;
    }
    pthread_mutex_unlock(&g->lock);
    lease->gpus = NULL;
}

bool txm_gpus_is_news(const txm_gpu_lease *lease)
{
    txm_gpus *g = lease->gpus;
    bool news = false;
    pthread_mutex_lock(&g->lock);
    for (uint32_t i = 0; i < g->count; i++) {
        if (g->gpus[i].device == lease->device) {
            news = !g->gpus[i].told;
            g->gpus[i].told = true;
        }
    }
    pthread_mutex_unlock(&g->lock);
    return news;
}

/* Devices that were not started yet count as small ones. */
unsigned txm_gpus_expect(txm_gpus *g, size_t files)
{
    unsigned ahead = 0;
    if (!g)
        return 0;
    pthread_mutex_lock(&g->lock);
    g->expected = files;
    for (uint32_t i = 0; i < g->count; i++)
        ahead += g->gpus[i].failed ? 0 : g->gpus[i].most;
    ahead = g->searched ? ahead : g->options.threads + MOST_AHEAD;
    pthread_mutex_unlock(&g->lock);
    return ahead;
}

const char *txm_gpus_note(txm_gpus *g)
{
    pthread_mutex_lock(&g->lock);
    const char *note = g->noted ? NULL : g->plugin->note();
    g->noted |= note != NULL;
    pthread_mutex_unlock(&g->lock);
    return note;
}
