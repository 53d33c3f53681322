/* SPDX-License-Identifier: Apache-2.0
 *
 * Simulates caches of several sizes and policies with a trace, each in a job.
 *
 * First the trace is played without a limit, which gives the working set and the range of useful sizes; then with
 * every pair of a size and a policy, as many at a time as there are threads. Each has its own cursor over the open
 * trace, so the file is decompressed once for each; memory stays small however long the trace is.
 */
#include "replay/replay_table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/threads.h"
#include "cli/say.h"

/* Shorter than the library's names, which the command line accepts as well; used as headings of columns. */
const char *stm_replay_policy_name(uint32_t policy)
{
    const txm_cache_policy_words *words = txm_cache_policy_words_of((txm_cache_policy)policy);
    return words ? words->column : policy == TXM_REPLAY_OPT ? "opt" : NULL;
}

/* ---- playing ---- */

typedef struct run {
    const txm_trace *trace;
    stm_replay_table *table;
    const volatile int *cancel;
    void (*progress)(size_t done, size_t all);
    pthread_mutex_t lock;
    size_t done, all;
    txm_error error; /* the first */
} run;

typedef struct turn {
    run *run;
    uint64_t bytes;
    uint32_t policy;
    txm_replay_counts *out;
} turn;

/* After a cancellation the remaining turns are still called, and end at their first event. Only the first error is
 * kept; the others are mostly the same. */
static void play(void *arg)
{
    const turn *t = arg;
    run *r = t->run;
    txm_replay_options o;
    txm_error err = {0};
    txm_replay_options_init(&o);
    o.max_bytes = t->bytes;
    o.policy = t->policy;
    o.keep_epochs = r->table->request.keep_epochs;
    o.cancel = r->cancel;
    txm_status status = txm_replay(r->trace, &o, t->out, &err);
    pthread_mutex_lock(&r->lock);
    if (status != TXM_OK && r->error.status == TXM_OK)
        r->error = err;
    if (r->progress)
        r->progress(++r->done, r->all);
    pthread_mutex_unlock(&r->lock);
}

/* Freeing the group waits for all jobs that were submitted, even after a failed submission, so `turns` outlives
 * them. */
static txm_status play_all(run *r, txm_error *err)
{
    stm_replay_table *t = r->table;
    const stm_replay_request *request = &t->request;
    stm_pool *pool = stm_pool_new(request->threads ? request->threads : stm_cpu_count());
    stm_group *group = pool ? stm_group_new(pool) : NULL;
    turn *turns = stm_calloc(r->all, sizeof *turns);
    bool ok = group && turns;
    for (size_t i = 0; ok && i < r->all; i++) {
        turns[i] = (turn){r, request->sizes[i / request->policy_count], request->policies[i % request->policy_count],
                          &t->counts[i]};
        ok = stm_group_submit(group, play, &turns[i]);
    }
    stm_group_free(group);
    stm_pool_free(pool);
    free(turns);
    if (!ok)
        return stm_no_memory(err, t->path);
    return r->error.status == TXM_OK ? TXM_OK : stm_fail_as(err, &r->error);
}

/* `path` and `trace` are borrowed, and must outlive the table. After a failure there is nothing to free. */
txm_status stm_replay_table_make(const char *path, const txm_trace *trace, const stm_replay_request *request,
                                 const volatile int *cancel, void (*progress)(size_t done, size_t all),
                                 stm_replay_table *out, txm_error *err)
{
    static const uint32_t usual[] = {TXM_CACHE_POLICY_LRU, TXM_CACHE_POLICY_RENDER_TILES, TXM_REPLAY_OPT};
    const txm_trace_info *info = txm_trace_info_of(trace);
    txm_replay_options unbounded;
    *out = (stm_replay_table){.path = path, .info = info, .request = *request};
    txm_replay_options_init(&unbounded);
    unbounded.policy = TXM_CACHE_POLICY_NONE;
    unbounded.cancel = cancel;
    if (progress)
        progress(0, 0);
    txm_status status = txm_replay(trace, &unbounded, &out->all, err);
    if (status != TXM_OK)
        return status;
    if (!out->request.size_count) {
        /* Sizes from a sixteenth of the working set to a quarter more than it, in whole megabytes and without
         * duplicates, so a small working set has fewer sizes. */
        static const unsigned eighths[] = {1, 2, 4, 8, 12, 16, 20};
        enum { STEP = 1 << 20 };
        for (size_t i = 0; i < sizeof eighths / sizeof *eighths; i += out->request.brief ? 2 : 1) {
            uint64_t bytes = (out->all.peak_allocated_bytes / 16 * eighths[i] + STEP - 1) / STEP * STEP;
            bytes = bytes ? bytes : STEP;
            if (!out->request.size_count || out->request.sizes[out->request.size_count - 1] < bytes)
                out->request.sizes[out->request.size_count++] = bytes;
        }
    }
    if (!out->request.policy_count)
        for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
            out->request.policies[out->request.policy_count++] = usual[i];
    if (out->request.read_seconds <= 0.0)
        out->request.read_seconds = info->tiles_loaded ? info->load_seconds / (double)info->tiles_loaded : 0.0;
    run r = {.trace = trace,
             .table = out,
             .cancel = cancel,
             .progress = progress,
             .all = out->request.size_count * out->request.policy_count};
    out->counts = stm_calloc(r.all, sizeof *out->counts);
    pthread_mutex_init(&r.lock, NULL);
    status = out->counts ? play_all(&r, err) : stm_no_memory(err, path);
    pthread_mutex_destroy(&r.lock);
    if (status != TXM_OK)
        stm_replay_table_free(out);
    return status;
}

void stm_replay_table_free(stm_replay_table *table)
{
    free(table->counts);
    table->counts = NULL;
}

/* Both are indices into the requested sizes and policies, not bytes or the policy's number. */
const txm_replay_counts *stm_replay_counts_at(const stm_replay_table *t, size_t size, size_t policy)
{
    return &t->counts[size * t->request.policy_count + policy];
}

/* A model: all tiles cost the same, and one is read at a time. */
double stm_replay_seconds(const stm_replay_table *t, const txm_replay_counts *counts)
{
    return (double)counts->reads * t->request.read_seconds;
}

/* ---- words ---- */

/* Exact: the unit is chosen so that no byte is lost, and the text can be used with --cache. */
char *stm_replay_size_text(uint64_t bytes, char out[STM_REPLAY_SIZE_TEXT])
{
    static const char units[] = {0, 'K', 'M', 'G', 'T'};
    size_t unit = 0;
    while (unit + 1 < sizeof units && bytes && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    snprintf(out, STM_REPLAY_SIZE_TEXT, "%llu%s%c", (unsigned long long)bytes, bytes ? "" : " ", units[unit]);
    return out;
}

/* The index of a policy among those requested, or policy_count if it is not among them. */
static size_t find_policy(const stm_replay_request *request, uint32_t policy)
{
    size_t i = 0;
    while (i < request->policy_count && request->policies[i] != policy)
        i++;
    return i;
}

/* The size where the optimum is best compared with the policy, if that is five percent or more; else "". */
static void better_by_the_optimum(const stm_replay_table *t, size_t policy, size_t opt, char *out, size_t bytes)
{
    double most = 1.0;
    size_t worst = 0;
    char size[STM_REPLAY_SIZE_TEXT];
    for (size_t i = 0; i < t->request.size_count; i++) {
        const uint64_t least = stm_replay_counts_at(t, i, opt)->reads;
        double times = (double)stm_replay_counts_at(t, i, policy)->reads / (double)(least + !least);
        worst = times > most ? i : worst;
        most = times > most ? times : most;
    }
    *out = 0;
    if (most >= 1.05)
        snprintf(out, bytes, "; the optimum reads up to %.1f times fewer (with %s)", most,
                 stm_replay_size_text(t->request.sizes[worst], size));
}

/* About lru if it was simulated, since most caches use it; else about the first policy. The knee is the smallest
 * size that reads at most a twentieth of its tiles again. */
char *stm_replay_verdict(const stm_replay_table *t, char out[STM_REPLAY_VERDICT])
{
    enum { FEW = 20 }; /* at most a twentieth of the tiles are read again, which nobody notices */
    const stm_replay_request *request = &t->request;
    size_t policy = find_policy(request, TXM_CACHE_POLICY_LRU), opt = find_policy(request, TXM_REPLAY_OPT), knee = 0;
    char set[STM_FORMAT_BYTES], size[STM_REPLAY_SIZE_TEXT], better[96] = "";
    if (!t->all.reads) {
        snprintf(out, STM_REPLAY_VERDICT, "no tile was used");
        return out;
    }
    policy = policy == request->policy_count ? 0 : policy;
    while (knee < request->size_count && stm_replay_counts_at(t, knee, policy)->reads_again * FEW > t->all.tiles)
        knee++;
    const char *name = stm_replay_policy_name(request->policies[policy]);
    if (opt != request->policy_count && opt != policy)
        better_by_the_optimum(t, policy, opt, better, sizeof better);
    stm_format_bytes(t->all.tile_bytes, set);
    if (knee == request->size_count)
        snprintf(out, STM_REPLAY_VERDICT, "the working set is %s; with all of these sizes %s reads many tiles again%s",
                 set, name, better);
    else
        snprintf(out, STM_REPLAY_VERDICT, "the working set is %s; from %s on %s reads almost no tile again%s", set,
                 stm_replay_size_text(request->sizes[knee], size), name, better);
    return out;
}
