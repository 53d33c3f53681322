/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of inputs: one path per line, or separated by NUL bytes (as `find -print0` writes them), or one JSON object per
 * line with settings of its own:
 *
 *     {"path": "wood.png", "colorspace": "sRGB", "alpha": "straight"}
 *
 * Members: path or path_encoded (bytes, percent-encoded), colorspace, alpha, working_space, cache_dir, output, pattern.
 * Other members are refused, so that a misspelt setting is not silently ignored. Paths are relative to the current
 * folder, as on the command line.
 */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/text_file.h"
#include "mill/farm/inputs.h"

/* An entry is a path and a few words. A file that goes on for longer than millions of them is a device, or not a list.
 */
enum { MAX_ENTRY_BYTES = 1 << 20, MAX_LIST_BYTES = 512 << 20, READ_BYTES = 64 << 10 };

typedef struct list {
    txm_inputs *inputs;
    const char *name; /* name for messages */
    size_t number;    /* number of the entry, from 1 */
    char origin[512];
} list;

static txm_status take_member(cJSON *member, txm_input *entry, txm_error *err)
{
    const struct {
        const char *name;
        const char **field;
    } fields[] = {{"path", &entry->path},
                  {"path_encoded", &entry->path},
                  {"pattern", &entry->pattern},
                  {"colorspace", &entry->colorspace},
                  {"working_space", &entry->working_space},
                  {"cache_dir", &entry->cache_dir},
                  {"output", &entry->output}};
    if (!cJSON_IsString(member))
        return txm_fail(err, TXM_STATUS_USAGE, "member \"%s\" must be a string", member->string);
    if (!strcmp(member->string, "alpha"))
        return txm_alpha_parse(member->valuestring, &entry->alpha)
                   ? TXM_OK
                   : txm_fail(err, TXM_STATUS_USAGE,
                              "alpha \"%s\": use straight, premultiplied, channel_packed, none, default or auto",
                              member->valuestring);
    if (!strcmp(member->string, "path_encoded") && !txm_percent_decode(member->valuestring))
        return txm_fail(err, TXM_STATUS_USAGE, "member \"path_encoded\" is not percent-encoded");
    /* The exact bytes take precedence over a path that had to be made printable. */
    if (!strcmp(member->string, "path") && entry->path)
        return TXM_OK;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (strcmp(member->string, fields[i].name) == 0) {
            *fields[i].field = member->valuestring;
            return TXM_OK;
        }
    }
    return txm_fail(err, TXM_STATUS_USAGE,
                    "member \"%s\" is unknown; the members are path, path_encoded, colorspace, alpha, working_space, "
                    "cache_dir, output and pattern",
                    member->string);
}

/* A mistake in a line is a failure of that line only. */
static txm_status add_json(list *l, const char *text, txm_error *err)
{
    txm_input entry = {.origin = l->origin};
    txm_error failure = {0};
    const char *end = NULL;
    errno = 0; /* distinguishes a failed allocation from bad syntax */
    cJSON *object = cJSON_ParseWithOpts(text, &end, 1);
    txm_status status;
    if (!object && errno == ENOMEM)
        return txm_no_memory(err, l->origin);
    if (!cJSON_IsObject(object))
        txm_fail(&failure, TXM_STATUS_USAGE,
                 "%s: not a JSON object on one line; give one as {\"path\": \"wood.png\"}, or the path alone",
                 l->origin);
    for (cJSON *m = failure.status ? NULL : object->child; !failure.status && m; m = m->next)
        take_member(m, &entry, &failure);
    if (cJSON_IsObject(object)) {
        if (!failure.status && (!entry.path || !*entry.path))
            txm_fail(&failure, TXM_STATUS_USAGE, "the member \"path\" is missing");
        if (failure.status)
            txm_error_prefix(&failure, "%s", l->origin);
    }
    if (failure.status)
        status = txm_inputs_add_failure(l->inputs, entry.path ? entry.path : l->origin, &entry, &failure, err);
    else
        status = txm_inputs_add_path(l->inputs, entry.path, &entry, err);
    cJSON_Delete(object);
    return status;
}

/* Splits the text into entries. If it contains a NUL byte, entries are separated by NUL bytes, because paths contain
 * none. */
static txm_status split_list(list *l, txm_bytes *text, txm_error *failure, txm_error *err)
{
    char *p = text->data, *end = p + text->size;
    int separator = text->size && memchr(p, 0, text->size) ? 0 : '\n';
    txm_status status = TXM_OK;
    while (status == TXM_OK && p < end) {
        char *stop = memchr(p, separator, (size_t)(end - p));
        if (!stop)
            stop = end;
        l->number++;
        if (stop - p > MAX_ENTRY_BYTES) {
            txm_fail(failure, TXM_STATUS_CORRUPT, "%s: entry %zu is longer than %d bytes: this is not a list of paths",
                     l->name, l->number, MAX_ENTRY_BYTES);
            break;
        }
        *stop = 0;
        /* Lists from other systems may have CR LF at the end of lines. */
        if (separator == '\n' && stop > p && stop[-1] == '\r')
            stop[-1] = 0;
        /* Blank lines are skipped; a name that begins with '{' must be written as JSON. */
        const txm_input entry = {.origin = l->origin};
        snprintf(l->origin, sizeof l->origin, "%s:%zu", l->name, l->number);
        if (*p)
            status = *p == '{' ? add_json(l, p, err) : txm_inputs_add_path(l->inputs, p, &entry, err);
        p = stop + 1;
    }
    return status;
}

/* A list that cannot be opened becomes a failed input with the list's name. It is read as a whole, since the inputs
 * stay in memory anyway, but not far beyond the limit: /dev/zero, for example, is not a list. */
txm_status txm_inputs_add_list(txm_inputs *inputs, const char *path, txm_error *err)
{
    bool standard = strcmp(path, "-") == 0;
    list l = {.inputs = inputs, .name = standard ? "standard input" : path};
    txm_error failure = {0};
    txm_status status = TXM_OK;
    txm_bytes text = {0};
    FILE *f = txm_text_file_open(path, inputs->options.cancel);
    size_t got = 1;
    while (f && got && text.size <= MAX_LIST_BYTES && txm_bytes_reserve(&text, READ_BYTES)) {
        got = fread(text.data + text.size, 1, READ_BYTES, f);
        text.size += got;
        text.data[text.size] = 0;
    }
    if (!f)
        txm_fail_errno(&failure, errno, "%s: cannot open the list", l.name);
    else if (text.failed)
        status = txm_no_memory(err, l.name);
    else if (ferror(f))
        txm_fail_errno(&failure, errno, "%s: reading the list failed", l.name);
    else if (text.size > MAX_LIST_BYTES)
        txm_fail(&failure, TXM_STATUS_USAGE, "%s: does not end within %d MiB: this is not a list of paths", l.name,
                 MAX_LIST_BYTES >> 20);
    else
        status = split_list(&l, &text, &failure, err);
    txm_bytes_free(&text);
    if (f)
        fclose(f);
    if (status == TXM_OK && failure.status == TXM_STATUS_CANCELLED)
        status = txm_fail_as(err, &failure);
    else if (status == TXM_OK && failure.status)
        status = txm_inputs_add_failure(inputs, l.name, NULL, &failure, err);
    return status;
}
