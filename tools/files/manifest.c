/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a manifest.
 *
 * In: lines of JSON from anywhere. Out: files with paths that cannot leave the root by their text; links are a matter
 * of txm_file_open_below.
 */
#include "tools/files/manifest.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/content.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/text_file.h"

enum { MOST_LINE_BYTES = 1 << 20, KNOWN_VERSION = 1 };
static const double most_exact = 9007199254740992.0; /* numbers of JSON are exact up to here */

typedef struct reader {
    const char *name;
    size_t line;
    double expected; /* files, by the first line */
    txm_manifest *out;
    txm_error *err;
} reader;

static txm_status refuse(const reader *r, const char *why)
{
    return txm_fail(r->err, TXM_STATUS_CORRUPT, "%s: line %zu %s; nothing was changed", r->name, r->line, why);
}

/* The exact bytes of a text, which is changed; NULL if it is none. */
static char *text_of(const cJSON *object, const char *name, const char *encoded)
{
    cJSON *exact = cJSON_GetObjectItemCaseSensitive(object, encoded);
    if (cJSON_IsString(exact))
        return txm_percent_decode(exact->valuestring) ? exact->valuestring : NULL;
    return cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
}

static bool leads_down(const char *path)
{
    if (!*path || *path == '/' || strlen(path) >= PATH_MAX)
        return false;
    for (const char *at = path;; at++) {
        const size_t n = strcspn(at, "/");
        if (!n || n > NAME_MAX || (n <= 2 && !strncmp(at, "..", n)))
            return false;
        at += n;
        if (!*at)
            return true;
    }
}

static txm_status take_head(reader *r, const cJSON *object)
{
    const cJSON *version = cJSON_GetObjectItemCaseSensitive(object, "version"),
                *files = cJSON_GetObjectItemCaseSensitive(object, "files");
    const char *schema = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, "schema")),
               *type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, "type"));
    if (!schema || strcmp(schema, "txmill.files") || !type)
        return txm_fail(r->err, TXM_STATUS_CORRUPT,
                        "%s: not a manifest; 'txmill files --manifest FILE SCENE' writes one", r->name);
    if (cJSON_IsNumber(version) && version->valuedouble > KNOWN_VERSION)
        return txm_fail(r->err, TXM_STATUS_NEWER, "%s: a newer txmill wrote this manifest; update txmill", r->name);
    if (strcmp(type, "manifest"))
        return txm_fail(
            r->err, TXM_STATUS_CORRUPT,
            "%s: a list of files with absolute paths, not a manifest, which 'txmill files --manifest' writes", r->name);
    if (!cJSON_IsNumber(files) || !(files->valuedouble >= 0 && files->valuedouble < most_exact))
        return refuse(r, "does not say how many files follow");
    r->expected = files->valuedouble;
    return TXM_OK;
}

static txm_status take_file(reader *r, const cJSON *object)
{
    txm_manifest *m = r->out;
    const char *path = text_of(object, "path", "path_encoded"), *of = text_of(object, "of", "of_encoded"),
               *key = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, "key")),
               *role = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, "role"));
    const cJSON *time = cJSON_GetObjectItemCaseSensitive(object, "time");
    uint64_t bytes;
    if (!path || !leads_down(path))
        return refuse(r, "has no path, or one that does not lead to a file below the root");
    if (!txm_content_key_parse(key, &bytes))
        return refuse(r, "has no valid key");
    if (!cJSON_IsNumber(time) || !(fabs(time->valuedouble) < most_exact) ||
        time->valuedouble != floor(time->valuedouble))
        return refuse(r, "has no valid time");
    txm_name *name = txm_names_entry(&m->names, path), *image = NULL;
    if (name && name->value)
        return refuse(r, "names a file that is there before");
    const size_t index = m->count;
    if (!name || !TXM_GROW(m->files, m->capacity, m->count))
        return txm_no_memory(r->err, r->name);
    name->value = index + 1;
    m->files[m->count++] = (txm_manifest_file){.path = name->text,
                                               .key = txm_names_copy(&m->names, key),
                                               .role = txm_names_put(&m->names, role ? role : ""),
                                               .time = (int64_t)time->valuedouble,
                                               .of = SIZE_MAX};
    txm_manifest_file *file = &m->files[index];
    if (of && role && !strcmp(role, "tx") && !(image = txm_names_entry(&m->names, of)))
        return txm_no_memory(r->err, r->name);
    if (image && image->value && image->value - 1 < index && m->files[image->value - 1].time == file->time)
        file->of = image->value - 1;
    return file->key && file->role ? TXM_OK : txm_no_memory(r->err, r->name);
}

txm_status txm_manifest_read(const char *path, const volatile int *cancel, txm_manifest *out, txm_error *err)
{
    reader r = {.name = strcmp(path, "-") ? path : "standard input", .out = out, .err = err};
    char *line = malloc(MOST_LINE_BYTES);
    FILE *in = txm_text_file_open(path, cancel);
    if (!line || !in)
        in ? txm_no_memory(err, path) : txm_fail_errno(err, errno, "%s: cannot be opened", r.name);
    while (!err->status && (errno = 0, fgets(line, MOST_LINE_BYTES, in))) {
        const char *end;
        r.line++;
        /* cJSON ends a text at an escaped zero byte. */
        const bool whole = strchr(line, '\n') && !strstr(line, "\\u0000");
        errno = 0; /* distinguishes exhausted memory from bad syntax */
        cJSON *object = whole ? cJSON_ParseWithOpts(line, &end, 0) : NULL;
        if (!object && errno == ENOMEM)
            txm_no_memory(err, r.name);
        else if (!object || !cJSON_IsObject(object) || (*end && *end != '\n' && *end != '\r'))
            refuse(&r, "is damaged, or the manifest was cut off there");
        else if (r.line == 1)
            take_head(&r, object);
        else
            take_file(&r, object);
        cJSON_Delete(object);
    }
    if (!err->status && ferror(in))
        txm_fail_errno(err, errno ? errno : EIO, "%s: reading it failed", r.name);
    else if (!err->status && !r.line)
        txm_fail(err, TXM_STATUS_CORRUPT, "%s: the file is empty, so it is not a manifest", r.name);
    else if (!err->status && (double)out->count != r.expected)
        txm_fail(err, TXM_STATUS_CORRUPT,
                 "%s: has %zu of %.0f files: the manifest was cut off, or changed; nothing was "
                 "changed",
                 r.name, out->count, r.expected);
    if (in)
        fclose(in);
    free(line);
    return err->status;
}

void txm_manifest_free(txm_manifest *manifest)
{
    free(manifest->files);
    txm_names_free(&manifest->names);
}
