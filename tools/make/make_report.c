/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the results of `txmill make`.
 *
 * In: events of a batch, from any thread, one at a time. Out: lines, JSON objects, the log, a summary and the tally
 * for the exit code. If the log cannot be written, the run fails, because other programs rely on it.
 */
#include "tools/make/make_report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/hash.h"
#include "base/os/clock.h"
#include "base/path.h"
#include "tile/terms/settings.h"
#include "tools/make/make_text.h"
#include "tools/make/run_log.h"
#include "tools/options/project.h"
#include "tools/output/colors.h"
#include "tools/output/format.h"
#include "tools/output/json.h"
#include "tools/output/say.h"
#include "tools/output/text.h"

/* The clock starts here, so that the time of the run includes reading the headers of inputs. */
void txm_make_report_init(txm_make_report *report, bool json, bool quiet, bool plan, int key)
{
    *report = (txm_make_report){.json = json, .quiet = quiet, .plan = plan, .key = key};
    pthread_mutex_init(&report->lock, NULL);
    report->begin = txm_clock_seconds();
}

/* Overwrites the file, and creates its folder. `path` must outlive the report. */
txm_status txm_make_report_open_log(txm_make_report *report, const char *path, txm_error *err)
{
    if (!path)
        return TXM_OK;
    report->log_path = path;
    char *folder = txm_path_dir(path);
    txm_status status =
        folder ? txm_folders_make(folder, err) : txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: out of memory", path);
    free(folder);
    if (status == TXM_OK && !(report->log = fopen(path, "we")))
        status = txm_fail_errno(err, errno, "%s: cannot create the log", path);
    return status;
}

enum { MOST_GUESSES = 3 }; /* number of guesses that are named */

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

/* It is computed from the image's header, before it is decoded. */
static void add_cost(cJSON *o, const txm_cost *cost)
{
    cJSON *c = txm_json_object(o, "estimate");
    txm_json_number(c, "megapixels", cost->megapixels, 6);
    txm_json_uint(c, "memory_bytes", cost->memory_bytes);
    txm_json_number(c, "cpu_seconds", cost->seconds, 3);
}

/* The content is hashed only on request; the key of the settings is cheap. */
static void add_keys(cJSON *o, const txm_batch_file *file)
{
    char key[TXM_SHA1_HEX];
    txm_json_text(o, "settings_key", file->result->settings_key);
    if (!file->content)
        return;
    txm_json_text(o, "content_sha256", file->content);
    txm_make_content_key(file, key);
    txm_json_text(o, "content_key", key);
}

void txm_make_report_emit(void *user, cJSON *object)
{
    txm_make_report *report = user;
    char *text = txm_json_take(object);
    if (!text)
        txm_json_missing();
    if (text && report->json)
        txm_json_line(stdout, text);
    int rc = text && report->log ? txm_json_line(report->log, text) : 0;
    if (rc != 0)
        report->log_errno = rc;
    free(text);
}

/* One object for every input, whatever its result, so that a script can count them. */
static void print_make_json(txm_make_report *report, const txm_batch_file *file)
{
    cJSON *o = txm_json_of_type("txmill.make", "file");
    txm_json_text(o, "input", file->input->path);
    if (file->input->pattern)
        txm_json_text(o, "pattern", file->input->pattern);
    if (file->input->origin)
        txm_json_text(o, "origin", file->input->origin);
    if (file->decided_by)
        txm_json_text(o, "decided_by", file->decided_by);
    if (file->same_as)
        txm_json_text(o, "same_as", file->same_as->path);
    if (file->err->status == TXM_OK) {
        /* Members about pixels are present only if this run made the file; others are not opened. */
        const txm_result *r = file->result;
        txm_json_text(o, "tx", r->tx_path);
        txm_json_text(o, "state", txm_make_state(r->outcome));
        txm_json_text(o, "reason", txm_make_reason(r));
        cJSON *color = txm_json_object(o, "colorspace");
        txm_json_text(color, "requested", r->colorspace);
        txm_json_text(color, "detected", r->detected);
        txm_json_text(o, "alpha", txm_alpha_name(r->alpha));
        if (r->width)
            txm_json_size(o, r->width, r->height);
        if (r->image_width && txm_make_is_limited(r)) {
            txm_json_uint(o, "image_width", r->image_width);
            txm_json_uint(o, "image_height", r->image_height);
        }
        if (r->outcome == TXM_OUTCOME_CREATED) {
            txm_json_uint(o, "levels", r->levels);
            txm_json_uint(o, "channels", r->channels);
            txm_json_text(o, "data_type", txm_type_name(r->type));
            txm_json_bool(o, "mono", r->mono);
            txm_json_bool(o, "constant", r->constant);
            txm_json_uint(o, "tx_bytes", r->tx_bytes);
            txm_json_uint(o, "section_bytes", r->section_bytes);
            txm_json_text(o, "reader", r->reader);
            txm_json_text(o, "via", r->via);
            if (*r->device)
                txm_json_text(o, "device", r->device);
            double seconds[TXM_STAGES];
            txm_stages_from(&r->stages, seconds);
            txm_json_stages(o, seconds);
        }
        txm_json_uint(o, "source_bytes", r->source_bytes);
        txm_json_number(o, "seconds", r->seconds, 6);
        add_keys(o, file);
        cJSON *list = file->lint ? txm_json_array(o, "lint") : NULL;
        for (unsigned bit = 1; list && bit < TXM_LINT_END; bit <<= 1) {
            if (!(file->lint & bit))
                continue;
            cJSON *item = txm_json_append(list);
            txm_json_text(item, "id", txm_lint_name((txm_lint)bit));
            txm_json_text(item, "message", txm_lint_text((txm_lint)bit));
        }
        if (file->result->outcome == TXM_OUTCOME_CREATED)
            txm_json_uint(o, "tile_px", report->tile_px);
        if (file->result->outcome == TXM_OUTCOME_WOULD_CREATE)
            add_cost(o, &file->cost);
    } else {
        txm_json_text(o, "state", "failed");
        txm_json_error(o, file->err);
    }
    txm_make_report_emit(report, o);
}

/* ---- the report ------------------------------------------------------------------------------------------------- */

/* Called once, before the first file. */
void txm_make_report_planned(txm_make_report *report, const txm_batch_totals *totals)
{
    report->totals = *totals;
    report->inputs = totals->inputs;
    snprintf(report->list_key, sizeof report->list_key, "%s", totals->list_key);
}

/* The finding that --lint reports for each image, as one sentence for all: scenes will use other tx files than
 * these. */
static void say_guessed(const txm_make_report *report)
{
    const size_t n = report->guessed;
    const bool silent = report->lint || report->key || (report->watching && !report->lines);
    if (n && !silent)
        txm_say(
            TXM_SAY_WARNING,
            "%zu image%s like data by %s (%s%s), but %s: use --preset pbr, or name the scene; -c says what they are", n,
            n == 1 ? " looks" : "s look", n == 1 ? "its name" : "their names", report->guesses,
            n > MOST_GUESSES ? " ..." : "", n == 1 ? "is treated as colour" : "are treated as colour");
}

/* The lock is only for counting; printing has its own locks. */
void txm_make_report_add(txm_make_report *report, const txm_batch_file *file)
{
    const txm_result *result = file->result;
    const txm_error *err = file->err;
    bool shown = err->status == TXM_OK && !report->json && !report->key && !report->quiet &&
                 (result->outcome != TXM_OUTCOME_UP_TO_DATE || result->otherwise || report->verbose);
    pthread_mutex_lock(&report->lock);
    report->lines += shown;
    txm_tally_add(&report->tally, err->status);
    if (err->status == TXM_OK) {
        report->count[result->outcome]++;
        report->tx_bytes += result->outcome == TXM_OUTCOME_CREATED ? result->tx_bytes : 0;
        report->converted += result->outcome == TXM_OUTCOME_CREATED && result->stages.color > 0;
        if (result->outcome != TXM_OUTCOME_SAME)
            txm_make_add_pixels(&report->pixels, result);
        const size_t used = strlen(report->guesses);
        if ((file->lint & TXM_LINT_DATA_AS_COLOR) && result->outcome != TXM_OUTCOME_SAME &&
            report->guessed++ < MOST_GUESSES)
            snprintf(report->guesses + used, sizeof report->guesses - used, "%s%.50s", used ? ", " : "",
                     txm_path_base(file->input->path));
        /* Cycles looks in blender_tx if the file is not in the folder that was asked for. */
        const char *asked = file->input->cache_dir ? file->input->cache_dir : report->cache_dir;
        char *folder = file->result->tx_path ? txm_path_dir(file->result->tx_path) : NULL;
        if (folder && asked && *asked && file->result->outcome == TXM_OUTCOME_UP_TO_DATE &&
            !strcmp(txm_path_base(folder), "blender_tx") && strcmp(txm_path_base(asked), "blender_tx") != 0 &&
            !report->elsewhere_count++)
            snprintf(report->elsewhere, sizeof report->elsewhere, "%s", folder);
        free(folder);
    }
    pthread_mutex_unlock(&report->lock);
    /* After a signal all running conversions fail in the same way, so this is reported once. */
    bool silent = err->status == TXM_STATUS_CANCELLED && txm_signal_caught();
    if (err->status != TXM_OK && !silent)
        txm_say(TXM_SAY_ERROR, "%s", err->message);
    if (report->json || report->log)
        print_make_json(report, file);
    if (err->status == TXM_OK && !report->json && report->key)
        txm_make_print_key(file);
    else if (shown)
        txm_make_print_file(file, report->plan);
    for (unsigned bit = 1; report->lint && bit < TXM_LINT_END; bit <<= 1)
        if (file->lint & bit)
            txm_say(TXM_SAY_WARNING, "%s: %s (%s)", file->input->path, txm_lint_text((txm_lint)bit),
                    txm_lint_name((txm_lint)bit));
    if (err->status == TXM_OK) {
        const txm_stage_seconds *s = &result->stages;
        txm_say(TXM_SAY_DETAIL, "%s: colour space %s (%s), alpha %s", file->input->path,
                txm_space_shown(result->colorspace), result->detected, txm_alpha_name(result->alpha));
        if (result->outcome == TXM_OUTCOME_CREATED)
            txm_say(TXM_SAY_DETAIL,
                    "%s: made because %s, read by %s; seconds of CPU: decode %.3f, conform %.3f, colour %.3f, pyramid "
                    "%.3f, "
                    "hash %.3f, encode %.3f, borders %.3f, write %.3f",
                    file->input->path, result->reason, result->reader, s->decode, s->conform, s->color, s->pyramid,
                    s->hash, s->encode, s->borders, s->write);
    }
}

static void print_json_mesh(txm_make_report *report, const char *ptex, const char *mesh, const txm_unwrapped *made)
{
    const txm_ptex_pages_info *pages = &made->pages;
    cJSON *o = txm_json_of_type("txmill.make", "mesh");
    txm_json_text(o, "input", ptex);
    txm_json_text(o, "mesh", mesh);
    txm_json_text(o, "output", made->mesh_path);
    txm_json_text(o, "pattern", made->pattern);
    txm_json_text(o, "state", txm_make_state(made->outcome));
    txm_json_uint(o, "polygons", made->polygons);
    txm_json_uint(o, "faces", made->faces);
    txm_json_uint(o, "edges", made->edges);
    txm_json_uint(o, "edges_apart", made->edges_apart);
    txm_json_uint(o, "pages", pages->pages);
    txm_json_uint(o, "padding_px", pages->padding_px);
    txm_json_text(o, "data_type", txm_type_name(pages->type));
    txm_json_uint(o, "face_pixels", pages->face_pixels);
    txm_json_uint(o, "block_pixels", pages->block_pixels);
    txm_json_uint(o, "page_pixels", pages->page_pixels);
    txm_json_uint(o, "page_bytes", made->page_bytes);
    txm_json_number(o, "seconds", made->seconds, 6);
    txm_make_report_emit(report, o);
}

void txm_make_report_mesh(txm_make_report *report, const char *ptex, const char *mesh, const txm_unwrapped *made)
{
    const txm_ptex_pages_info *pages = &made->pages;
    const bool planned = made->outcome == TXM_OUTCOME_WOULD_CREATE;
    if (planned) {
        report->count[TXM_OUTCOME_WOULD_CREATE] = report->inputs = report->tally.total = pages->pages;
        report->totals.cost.megapixels = (double)pages->page_pixels / 1e6;
    }
    if (report->json || report->log)
        print_json_mesh(report, ptex, mesh, made);
    if (report->json || report->quiet || (made->outcome == TXM_OUTCOME_UP_TO_DATE && !report->verbose))
        return;
    txm_print_begin();
    txm_print_safe(ptex);
    printf(": %-12s ", txm_make_state(made->outcome));
    txm_print_safe(made->mesh_path);
    txm_print_format("  (%u face%s in %u page%s, %s", made->faces, made->faces == 1 ? "" : "s", pages->pages,
                     pages->pages == 1 ? "" : "s", made->pattern);
    printf(", borders of at least %u px, %.0f %% free)\n", pages->padding_px,
           100.0 * (1.0 - (double)pages->block_pixels / (double)pages->page_pixels));
    fflush(stdout);
    txm_print_end();
}

/* The error ends the whole run; files that were not started count as failed with it. */
void txm_make_report_stop(txm_make_report *report, const txm_error *err)
{
    txm_say_failure(err);
    if (report->json || report->log) {
        cJSON *o = txm_json_of_type("txmill.make", "error");
        txm_json_error(o, err);
        txm_make_report_emit(report, o);
    }
    report->stopped = true;
    txm_tally_fail(&report->tally, err->status);
    /* One message is enough for all of these files. */
    report->tally.failed += report->inputs - report->tally.total;
    report->tally.total = report->inputs;
}

static size_t count_of(const txm_make_report *report, txm_made made)
{
    size_t sum = made == TXM_MADE_FAILED ? report->tally.failed : 0;
    for (size_t i = 0; i < sizeof report->count / sizeof *report->count; i++)
        sum += txm_made_of((txm_outcome)i) == made ? report->count[i] : 0;
    return sum;
}

/* A dry run says what would be done, and other runs what was done. */
static void say_summary(const txm_make_report *report, double seconds)
{
    char size[TXM_FORMAT_BYTES], time[TXM_FORMAT_BYTES];
    const size_t *n = report->count;
    const size_t skipped = count_of(report, TXM_MADE_SKIPPED), left = report->inputs - report->tally.total;
    if (txm_signal_caught())
        txm_say(TXM_SAY_INFO, "stopped on request; temporary files are removed");
    if (n[TXM_OUTCOME_WOULD_CREATE])
        txm_say(TXM_SAY_INFO, "%zu to create, %zu up to date, %zu skipped, %zu failed", n[TXM_OUTCOME_WOULD_CREATE],
                n[TXM_OUTCOME_UP_TO_DATE], skipped, report->tally.failed);
    if (n[TXM_OUTCOME_WOULD_CREATE] && report->plan)
        txm_say(TXM_SAY_INFO, "about %.4g megapixels, %s of processor time, %s of memory for the largest",
                report->totals.cost.megapixels, txm_format_seconds(report->totals.cost.seconds, time),
                txm_format_bytes(report->totals.cost.memory_bytes, size));
    if (!n[TXM_OUTCOME_WOULD_CREATE])
        txm_say(TXM_SAY_INFO, "%zu created (%s), %zu up to date, %zu skipped, %zu failed, in %s",
                n[TXM_OUTCOME_CREATED], txm_format_bytes(report->tx_bytes, size), n[TXM_OUTCOME_UP_TO_DATE], skipped,
                report->tally.failed, txm_format_seconds(seconds, time));
    if (report->elsewhere_count)
        txm_say(TXM_SAY_INFO,
                "%zu of the files up to date %s in %s, where Cycles looks too, and not in %s; --force "
                "makes them there",
                report->elsewhere_count, report->elsewhere_count == 1 ? "is" : "are", report->elsewhere,
                report->cache_dir ? report->cache_dir : "the cache folder");
    txm_make_say_saves(&report->pixels);
    if (left)
        txm_say(TXM_SAY_INFO, "%zu file%s not started", left, left == 1 ? " was" : "s were");
}

/* An incomplete log would be mistaken for a complete one, so this is a failure; a retry may succeed. */
static void close_log(txm_make_report *report)
{
    bool lost = report->log && ferror(report->log);
    if (report->log)
        lost |= fclose(report->log) != 0;
    if (lost && !report->log_errno)
        report->log_errno = errno;
    report->log = NULL;
    if (!lost)
        return;
    txm_say(TXM_SAY_ERROR, "%s: writing the log failed: %s; results are missing: %srun the same again",
            report->log_path, strerror(report->log_errno),
            report->log_errno == ENOSPC || report->log_errno == EDQUOT ? "free space, then " : "");
    report->tally.retryable = true;
}

/* Returns the exit code. The report must not be used afterwards. */
int txm_make_report_finish(txm_make_report *report)
{
    double seconds = txm_clock_seconds() - report->begin;
    /* A summary is printed if there were several files, something failed, or nothing else is printed. */
    bool silent = report->count[TXM_OUTCOME_UP_TO_DATE] && !report->lines && !report->watching;
    if (report->json || report->log) {
        /* Readers of the log recognize a complete run by this object, the last one. */
        const size_t *n = report->count;
        cJSON *o = txm_json_of_type("txmill.make", "summary");
        txm_json_uint(o, "inputs", report->inputs);
        if (report->shard.count) {
            /* Identifies the list of inputs: if the keys of two shards differ, their lists differed. */
            cJSON *shard = txm_json_object(o, "shard");
            txm_json_uint(shard, "index", report->shard.index);
            txm_json_uint(shard, "count", report->shard.count);
            txm_json_uint(shard, "listed", report->totals.listed);
            txm_json_text(shard, "list_key", report->list_key);
        }
        for (int made = 0; made < TXM_MADE_COUNT; made++)
            txm_json_uint(o, txm_made_words((txm_made)made)->key, count_of(report, (txm_made)made));
        txm_json_uint(o, "not_started", report->inputs - report->tally.total);
        txm_json_uint(o, "tx_bytes", report->tx_bytes);
        if (n[TXM_OUTCOME_WOULD_CREATE])
            add_cost(o, &report->totals.cost);
        cJSON *color = txm_json_object(o, "color");
        txm_json_text(color, "library", txm_color_library_version());
        txm_json_uint(color, "converted", report->converted);
        txm_json_bool(color, "exact", !report->converted || txm_colors_exact());
        txm_project_json(o);
        txm_json_number(o, "seconds", seconds, 6);
        txm_json_uint(o, "pixel_bytes", report->pixels.bytes);
        txm_json_uint(o, "limited", report->pixels.limited);
        txm_json_uint(o, "exit_code", (uint64_t)txm_tally_exit(&report->tally));
        txm_make_report_emit(report, o);
    }
    if (!report->json && !(report->stopped && !report->count[TXM_OUTCOME_CREATED]) &&
        (((report->inputs > 1 || silent) && !report->key) || report->tally.failed))
        say_summary(report, seconds);
    say_guessed(report);
    /* It is printed once per run, and only with -v. */
    char text[TXM_MESSAGE_BYTES];
    if (report->verbose && !report->json && report->converted && !txm_colors_exact()) {
        txm_colors_differ(report->converted, text, sizeof text);
        txm_say(TXM_SAY_INFO, "%s", text);
    }
    close_log(report);
    pthread_mutex_destroy(&report->lock);
    /* Files that were not started because of a stop count, so that the caller sees that the run was incomplete. */
    report->tally.total = report->inputs;
    return txm_finish(&report->tally);
}
