/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads logs of runs.
 *
 * In: lines of a log. Out: cJSON objects of a known schema and version. A line that is too long, cut off, or from a
 * newer version is reported with its number.
 */
#include "tools/make/run_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/path.h"
#include "base/text.h"
#include "base/text_file.h"
#include "tools/output/exits.h"
#include "tools/output/words.h"
#include "txmill/scene.h"

/* An object has only paths and numbers, so longer lines are refused. */
enum { MAX_LINE_BYTES = 16 << 20, KNOWN_VERSION = 1 };

typedef struct reading {
    const char *name;
    txm_run_log_fn fn;
    void *user;
    txm_run_log_counts *counts;
    size_t line;
} reading;

/* NULL if the member is missing or not a string; valid as long as the object. */
const char *txm_run_log_text(const cJSON *object, const char *name)
{
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

/* 0 if it is missing, negative or too large, because a log may have been edited. */
double txm_run_log_number(const cJSON *object, const char *name)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    /* The comparison is written so that NaN fails. */
    return cJSON_IsNumber(item) && item->valuedouble >= 0 && item->valuedouble < 1e300 ? item->valuedouble : 0;
}

bool txm_run_log_flag(const cJSON *object, const char *name)
{
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, name));
}

/* 0 if the value is above `most`, the largest that the caller can store. */
uint64_t txm_run_log_count(const cJSON *object, const char *name, uint64_t most)
{
    double value = txm_run_log_number(object, name);
    return value <= (double)most && value < 1e18 ? (uint64_t)value : 0;
}

/* The exact bytes of a path: from NAME_encoded if there is one. The caller frees it. NULL: missing, or no memory. */
char *txm_run_log_path(const cJSON *object, const char *name)
{
    char member[64];
    snprintf(member, sizeof member, "%s_encoded", name);
    const char *encoded = txm_run_log_text(object, member);
    char *path = txm_strdup(encoded ? encoded : txm_run_log_text(object, name));
    if (path && encoded && !txm_percent_decode(path)) {
        free(path);
        path = txm_strdup(txm_run_log_text(object, name));
    }
    return path;
}

static txm_status take_line(reading *r, const char *line, bool whole, txm_error *err)
{
    const char *end = NULL;
    errno = 0; /* distinguishes exhausted memory from bad syntax */
    cJSON *object = cJSON_ParseWithOpts(line, &end, 1);
    if (!object && errno == ENOMEM)
        return txm_no_memory(err, r->name);
    const char *schema = txm_run_log_text(object, "schema");
    txm_status status = TXM_OK;
    if (!object || !schema || strcmp(schema, "txmill.make") != 0) {
        r->counts->foreign += whole;
        r->counts->cut = !whole;
    } else if (txm_run_log_number(object, "version") > KNOWN_VERSION) {
        status =
            txm_fail(err, TXM_STATUS_NEWER, "%s:%zu: written by a newer txmill; use that version", r->name, r->line);
    } else {
        r->counts->objects++;
        status = r->fn(r->user, object, err);
    }
    cJSON_Delete(object);
    return status;
}

/* The part of a log that was read and not used yet. */
typedef struct pieces {
    FILE *file;
    size_t at, end;
    bool exhausted; /* no memory for a line */
    int failed;     /* the errno of a failed read; it is kept because parsing the lines before it changes errno */
    char data[64 << 10];
} pieces;

/* The length is limited, because a file without line ends would be read as a whole. Returns false at the end, and
 * when memory is exhausted. */
static bool read_line(pieces *p, txm_bytes *line, bool *whole)
{
    line->size = 0;
    *whole = false;
    while (!*whole && line->size <= MAX_LINE_BYTES) {
        if (p->at == p->end) {
            p->at = 0;
            p->end = fread(p->data, 1, sizeof p->data, p->file);
            if (ferror(p->file) && !p->failed)
                p->failed = errno;
            if (!p->end)
                break;
        }
        const char *start = p->data + p->at, *newline = memchr(start, '\n', p->end - p->at);
        size_t n = newline ? (size_t)(newline - start) : p->end - p->at;
        p->exhausted = !txm_bytes_add(line, start, n);
        if (p->exhausted)
            return false;
        *whole = newline != NULL;
        p->at += n + *whole;
    }
    return line->size || *whole;
}

/* Stops at the first failure of the caller's function. Empty lines are skipped, but counted. */
static txm_status read_lines(reading *r, FILE *f, txm_error *err)
{
    txm_bytes line = {0};
    bool whole = false;
    pieces *p = txm_calloc(1, sizeof *p);
    txm_status status = p && txm_bytes_puts(&line, "") ? TXM_OK : TXM_STATUS_NO_MEMORY;
    if (p)
        p->file = f;
    while (status == TXM_OK && read_line(p, &line, &whole)) {
        r->line++;
        if (line.size > MAX_LINE_BYTES)
            status = txm_fail(err, TXM_STATUS_CORRUPT,
                              "%s:%zu: a line of more than %d bytes: not a log of txmill make --json", r->name, r->line,
                              MAX_LINE_BYTES);
        else if (line.size)
            status = take_line(r, line.data, whole, err);
    }
    if (status == TXM_OK && p->failed)
        status = txm_fail_errno(err, p->failed, "%s: reading failed", r->name);
    else if (status == TXM_STATUS_NO_MEMORY || (status == TXM_OK && p->exhausted))
        status = txm_no_memory(err, r->name);
    txm_bytes_free(&line);
    free(p);
    return status;
}

/* "-" is standard input. A signal interrupts waiting for a pipe. */
txm_status txm_run_log_read(const char *path, txm_run_log_fn fn, void *user, txm_run_log_counts *counts, txm_error *err)
{
    bool standard = strcmp(path, "-") == 0;
    *counts = (txm_run_log_counts){0};
    reading r = {.name = standard ? "standard input" : path, .fn = fn, .user = user, .counts = counts};
    FILE *f = txm_text_file_open(path, txm_signal_flag());
    if (!f)
        return txm_fail_errno(err, errno, "%s: cannot open the log", path);
    txm_status status = read_lines(&r, f, err);
    fclose(f);
    return status;
}

/* ---- the stages of a conversion ---------------------------------------------------------------------------------- */

const char *const txm_stage_names[TXM_STAGES] = {"decode", "conform", "color",   "pyramid",
                                                 "hash",   "encode",  "borders", "write"};

/* The stages are in the order of txm_stage_names, for code that handles all of them in a loop. */
void txm_stages_from(const txm_stage_seconds *s, double out[TXM_STAGES])
{
    const double seconds[TXM_STAGES] = {s->decode, s->conform, s->color,   s->pyramid,
                                        s->hash,   s->encode,  s->borders, s->write};
    memcpy(out, seconds, sizeof seconds);
}

void txm_json_stages(cJSON *object, const double seconds[TXM_STAGES])
{
    cJSON *stages = txm_json_object(object, "stage_seconds");
    for (int i = 0; i < TXM_STAGES; i++)
        txm_json_number(stages, txm_stage_names[i], seconds[i], 6);
}

/* ---- the tx files of a run --------------------------------------------------------------------------------------- */

typedef struct adding {
    txm_inputs *inputs;
    txm_names seen;
} adding;

/* A retried run names the same files again; each is added once. */
static txm_status add_once(adding *a, const char *path, bool *is_new, txm_error *err)
{
    txm_name *entry = txm_names_entry(&a->seen, path);
    if (!entry)
        return txm_no_memory(err, NULL);
    *is_new = entry->value++ == 0;
    return TXM_OK;
}

/* Whether a scene named the image: a file or a folder; a list would be named with a line. */
static bool is_scene(const char *origin)
{
    struct stat st;
    return origin && (txm_scene_format_of(origin) || (stat(origin, &st) == 0 && S_ISDIR(st.st_mode)));
}

/* Inputs that failed or were skipped have no tx file from this run. */
static txm_status take_run_object(void *user, const cJSON *object, txm_error *err)
{
    adding *a = user;
    const txm_made made = txm_made_named(txm_run_log_text(object, "state"));
    bool is_new = false;
    if (made != TXM_MADE_CREATED && made != TXM_MADE_UP_TO_DATE)
        return TXM_OK;
    char *path = txm_run_log_path(object, "tx");
    txm_status status = path ? add_once(a, path, &is_new, err) : TXM_OK;
    const txm_input entry = {.path = path, .from_scene = is_scene(txm_run_log_text(object, "origin"))};
    if (status == TXM_OK && is_new)
        status = txm_inputs_add_entry(a->inputs, &entry, err);
    free(path);
    return status;
}

/* Files that are already among the inputs are not added again. */
txm_status txm_run_tx_read(txm_inputs *inputs, const txm_opt_list *logs, txm_error *err)
{
    adding a = {.inputs = inputs};
    txm_status status = TXM_OK;
    txm_run_log_counts counts;
    bool is_new;
    for (size_t i = 0; status == TXM_OK && i < txm_inputs_count(inputs); i++)
        status = add_once(&a, txm_inputs_at(inputs, i)->path, &is_new, err);
    for (size_t i = 0; status == TXM_OK && i < logs->count; i++)
        status = txm_run_log_read(logs->items[i], take_run_object, &a, &counts, err);
    txm_names_free(&a.seen);
    return status;
}
