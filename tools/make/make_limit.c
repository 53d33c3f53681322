/* SPDX-License-Identifier: Apache-2.0
 *
 * In: the tx files of a run, and a limit. Out: lines and objects of the tx files that leave, those that were used least
 * recently first. A limit of a .txmill, which may have come with somebody else's project, removes nothing by itself.
 */
#include "tools/make/make_limit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/os/files.h"
#include "base/os/machine.h"
#include "base/path.h"
#include "base/text.h"
#include "tools/options/project.h"
#include "tools/output/exits.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/line.h"
#include "tools/output/say.h"
#include "txmill/scene.h"

typedef struct leaving {
    const txm_make_limit *limit;
    txm_tally *tally;
    void (*emit)(void *user, cJSON *object);
    void *user;
    bool silent, removes;
    size_t foreign;
    uint64_t foreign_bytes;
} leaving;

static bool is_dry(const txm_make_args *a)
{
    return a->dry_run || a->plan || a->key;
}

txm_status txm_make_limit_begin(txm_make_limit *limit, const txm_make_args *args, const txm_operands *operands,
                                txm_error *err)
{
    const char *cache_dir = args->settings.settings.cache_dir;
    /* The folder of the file that names the limit, or else of the nearest one. */
    const char *settings =
        args->limit.origin && args->limit.origin[0] == '/' ? args->limit.origin : txm_project_state()->project.path;
    if (!args->limit.on)
        return TXM_OK;
    limit->args = args;
    limit->operands = operands;
    if (txm_used_new(&limit->used, err) != TXM_OK)
        return err->status;
    const bool absolute = cache_dir && txm_path_is_absolute(cache_dir);
    /* A mirror is a folder of its own. */
    if (settings && !args->copies && !txm_color_is_project(settings) && !(limit->roots[0] = txm_path_dir(settings)))
        return txm_no_memory(err, settings);
    if (absolute && !(limit->roots[1] = txm_strdup(cache_dir)))
        return txm_no_memory(err, cache_dir);
    return TXM_OK;
}

void txm_make_limit_add(txm_make_limit *limit, const txm_batch_file *file)
{
    const char *path = file->err->status == TXM_OK ? file->result->tx_path : NULL;
    txm_volume volume;
    struct stat st;
    if (!limit->args || !path || limit->err.status != TXM_OK ||
        txm_used_add(limit->used, path, &limit->err) != TXM_OK || stat(path, &st) != 0)
        return;
    limit->needed_bytes += file->result->outcome == TXM_OUTCOME_UP_TO_DATE ? (uint64_t)st.st_size : 0;
    /* Where reads are not recorded, runs of txmill tell what is still used. */
    if (!is_dry(limit->args) && txm_volume_of(path, &volume) && volume.no_reads)
        txm_file_set_time_at(path, NULL);
}

static void on_failed(void *user, const txm_error *err)
{
    leaving *l = user;
    txm_say(TXM_SAY_ERROR, "%s", err->message);
    txm_tally_add(l->tally, err->status);
}

static txm_status count_below(const txm_make_limit *limit, txm_census *census, leaving *l, txm_error *err)
{
    txm_garbage_result none = {0};
    txm_garbage_options options;
    txm_garbage_options_init(&options);
    options.older_than_s = -1;
    options.census = census;
    options.count_only = true;
    options.cancel = txm_signal_flag();
    options.user = l;
    options.failed = on_failed;
    txm_status status = TXM_OK;
    const size_t own = limit->roots[0] || limit->args->copies ? 0 : limit->operands->count;
    for (size_t i = 0; i < 2 + own && status == TXM_OK; i++) {
        const char *named = i < 2 ? limit->roots[i] : limit->operands->items[i - 2];
        struct stat st;
        if (!named || named[0] == '@')
            continue;
        /* Beside an image may be anything, so only its cache folder is searched. */
        const bool folder = i < 2 || (stat(named, &st) == 0 && S_ISDIR(st.st_mode));
        char *above = folder ? txm_strdup(named) : txm_path_dir(named);
        char *root = !above || folder || txm_scene_format_of(named) ? above : txm_path_join(above, "blender_tx");
        txm_error one = {0};
        status = root ? txm_garbage_collect(root, &options, &none, &one) : txm_no_memory(&one, named);
        if (root != above)
            free(above);
        free(root);
        if (status == TXM_STATUS_NO_MEMORY || status == TXM_STATUS_CANCELLED)
            return txm_fail_as(err, &one);
        if (status != TXM_OK && one.sys_errno != ENOENT && one.sys_errno != ENOTDIR)
            on_failed(l, &one);
        status = TXM_OK;
    }
    return status;
}

static void tell_leaving(const leaving *l, const char *path, const char *state, uint64_t bytes, const double *unused_s)
{
    char size[TXM_FORMAT_BYTES], unused[TXM_TIME_BYTES], details[160];
    if (l->emit) {
        cJSON *o = txm_json_of_type("txmill.make", "leaving");
        txm_json_text(o, "path", path);
        txm_json_text(o, "state", state);
        txm_json_uint(o, "bytes", bytes);
        if (unused_s)
            txm_json_number(o, "unused_seconds", *unused_s, 10);
        l->emit(l->user, o);
    }
    if (l->silent)
        return;
    if (unused_s)
        snprintf(details, sizeof details, "over the cache limit, %s, unused for %s", txm_format_bytes(bytes, size),
                 txm_duration_text(*unused_s, unused));
    else
        snprintf(details, sizeof details, "over the cache limit, but another user's, %s",
                 txm_format_bytes(bytes, size));
    txm_print_line(path, l->removes && unused_s ? TXM_DOUBTFUL : TXM_PLAIN, state, details);
}

static void on_leaving(void *user, const txm_garbage_file *file)
{
    const leaving *l = user;
    tell_leaving(l, file->path, l->removes ? "removed" : "would-remove", file->bytes, &file->age_s);
}

static void on_foreign(void *user, const char *path, const char *image, uint64_t bytes)
{
    leaving *l = user;
    (void)image;
    l->foreign++;
    l->foreign_bytes += bytes;
    tell_leaving(l, path, "kept", bytes, NULL);
}

void txm_make_limit_plan(txm_make_limit *limit, uint64_t tx_bytes)
{
    const uint64_t all = limit->needed_bytes + tx_bytes;
    char size[TXM_FORMAT_BYTES], bound[TXM_FORMAT_BYTES];
    if (limit->args && all > limit->args->limit.bytes)
        txm_say(TXM_SAY_WARNING,
                "the tx files of this run will take about %s, but the cache limit is %s%s%s%s: they stay, so raise the "
                "limit, or make them smaller with --limit",
                txm_format_bytes(all, size), txm_format_bytes(limit->args->limit.bytes, bound),
                limit->args->limit.origin ? " (" : "", limit->args->limit.origin ? limit->args->limit.origin : "",
                limit->args->limit.origin ? ")" : "");
}

txm_status txm_make_limit_keep(txm_make_limit *limit, uint64_t tx_bytes, txm_tally *tally,
                               void (*emit)(void *user, cJSON *object), void *user, txm_error *err)
{
    const txm_make_args *a = limit->args;
    txm_census *census = NULL;
    txm_garbage_result result = {0};
    uint64_t left = 0;
    if (!a)
        return TXM_OK;
    const bool dry = is_dry(a);
    /* A file whose name is unknown may be needed. */
    if (tally->failed) {
        txm_say(TXM_SAY_INFO,
                "nothing is removed for the cache limit, because it is unknown what the failed images need");
        return TXM_OK;
    }
    leaving l = {.limit = limit,
                 .tally = tally,
                 .emit = emit,
                 .user = user,
                 .silent = a->report.json || a->report.quiet || a->key,
                 .removes = a->limit.trusted && !dry};
    txm_garbage_options options;
    txm_garbage_options_init(&options);
    options.older_than_s = -1;
    options.dry_run = !l.removes;
    options.used = limit->used;
    options.cancel = txm_signal_flag();
    options.user = &l;
    options.found = on_leaving;
    options.kept = on_foreign;
    options.failed = on_failed;
    /* What a dry run would make needs room as well. */
    const uint64_t room = !dry ? a->limit.bytes : a->limit.bytes > tx_bytes ? a->limit.bytes - tx_bytes : 0;
    txm_status status = limit->err.status == TXM_OK ? txm_census_new(&census, err) : txm_fail_as(err, &limit->err);
    if (status == TXM_OK)
        status = count_below(limit, census, &l, err);
    if (status == TXM_OK)
        status = txm_census_trim(census, room, &options, &result, &left, err);
    txm_census_free(&census);
    const txm_garbage_sum *gone = &result.garbage[TXM_GARBAGE_OVER_LIMIT];
    char size[TXM_FORMAT_BYTES], bound[TXM_FORMAT_BYTES], files[TXM_FORMAT_COUNT];
    const char *origin = a->limit.origin;
    if (status != TXM_OK || a->key)
        return status;
    if (gone->files)
        txm_say(TXM_SAY_INFO, "%s %s (%s), least recently used first, to keep within the cache limit of %s%s%s%s",
                l.removes ? "removed" : "would remove", txm_format_count(gone->files, "tx file", files),
                txm_format_bytes(gone->bytes, size), txm_format_bytes(a->limit.bytes, bound), origin ? " (" : "",
                origin ? origin : "", origin ? ")" : "");
    if (gone->files && !a->limit.trusted)
        txm_say_again("make removes nothing because of a file that may have come with a project; to allow it, run",
                      "--cache-limit project");
    if (l.foreign)
        txm_say(TXM_SAY_WARNING, "%s of other users, %s: only they may remove them",
                txm_format_count(l.foreign, "tx file", files), txm_format_bytes(l.foreign_bytes, size));
    if (left > room)
        txm_say(TXM_SAY_WARNING, "the tx files take %s, more than the cache limit of %s: what is left is needed here",
                txm_format_bytes(dry ? left + tx_bytes : left, size), txm_format_bytes(a->limit.bytes, bound));
    return TXM_OK;
}

void txm_make_limit_free(txm_make_limit *limit)
{
    txm_used_free(&limit->used);
    free(limit->roots[0]);
    free(limit->roots[1]);
}
