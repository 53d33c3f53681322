/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON output over cJSON.
 *
 * In: values. Out: lines. Lack of memory is recorded and makes the command fail at its end, so that callers need not
 * check each member.
 *
 * A line is built in one thread, so that a thread-local variable can record whether a part of it is missing. The
 * output is UTF-8 whatever names are on disk; if a name is not valid UTF-8, a second member has its bytes.
 */
#include "tools/output/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "tools/output/exits.h"
#include "tools/output/say.h"

/* Text with U+FFFD for every byte that is not UTF-8; *exact is set if there was none. */
static char *to_utf8(const char *text, bool *exact)
{
    txm_bytes b = {0};
    txm_bytes_puts(&b, "");
    *exact = true;
    while (*text) {
        size_t n = txm_utf8_sequence(text);
        *exact &= n != 0;
        if (n)
            txm_bytes_add(&b, text, n);
        else
            txm_bytes_puts(&b, "\xEF\xBF\xBD");
        text += n ? n : 1;
    }
    return txm_bytes_take(&b);
}

/* JSON cannot contain names that are not UTF-8; from the encoded copy programs can restore the bytes. */
static char *percent_encoded(const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    txm_bytes b = {0};
    txm_bytes_puts(&b, "");
    for (; *text; text++)
        if (strchr(plain, *text))
            txm_bytes_add(&b, text, 1);
        else
            txm_bytes_printf(&b, "%%%02X", (unsigned char)*text);
    return txm_bytes_take(&b);
}

/* It is set when a member could not be added, which cJSON does not record. */
static _Thread_local bool lost;

/* Records a failure for the current line; txm_json_take reports it once. */
static void added(const void *item)
{
    lost |= !item;
}

/* The version and the members of each report, from its table (docs/schema). */
#define REPORT(name, version) {name, version},
#define MEMBER(report, path)
static const struct {
    const char *name;
    unsigned version;
} reports[] = {
#include "schema/reports.inc"
};
#undef REPORT
#undef MEMBER
#define REPORT(name, version)
#define MEMBER(report, path) {report, path},
static const struct {
    const char *report, *path;
} members[] = {
#include "schema/reports.inc"
};

/* 0: the table of the report lacks the member; 2: it may have anything below. A * of the table is any name. */
static int is_listed(const char *report, const char *path)
{
    const char *slash = strrchr(path, '/');
    const size_t folder = slash ? (size_t)(slash + 1 - path) : 0, bytes = strlen(path);
    int found = 0;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const char *row = members[i].path;
        if (strcmp(members[i].report, report))
            continue;
        if (!strncmp(row, path, bytes) && !strcmp(row + bytes, "/**"))
            return 2;
        found |= !strcmp(row, path) || (!strncmp(row, path, folder) && !strcmp(row + folder, "*"));
    }
    return found;
}

/* Programs rely on the tables, so tests set TXMILL_CHECK_JSON, by which a member that its table lacks ends the
 * program. */
static void check_members(const cJSON *list, const char *report, const char *folder)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, list)
    {
        char path[256];
        snprintf(path, sizeof path, "%s%s%s", folder, *folder && item->string ? "/" : "",
                 item->string ? item->string : "");
        const int found = item->string ? is_listed(report, path) : 1;
        if (!found) {
            fprintf(stderr, "the table of %s has no member %s\n", report, path);
            abort();
        }
        if (found == 1)
            check_members(item, report, path);
    }
}

/* Every line has its schema, so that output of several commands can be mixed. */
cJSON *txm_json_new(const char *schema)
{
    unsigned version = 1; /* of a report that another program makes */
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
        if (!strcmp(reports[i].name, schema))
            version = reports[i].version;
    cJSON *object = cJSON_CreateObject();
    txm_json_text(object, "schema", schema);
    txm_json_uint(object, "version", version);
    return object;
}

cJSON *txm_json_of_type(const char *schema, const char *type)
{
    cJSON *object = txm_json_new(schema);
    txm_json_text(object, "type", type);
    return object;
}

/* NULL becomes null. Text that is not UTF-8 gets a second member NAME_encoded, percent-encoded. */
void txm_json_text(cJSON *object, const char *name, const char *text)
{
    if (!text) {
        added(cJSON_AddNullToObject(object, name));
        return;
    }
    bool exact;
    char *utf8 = to_utf8(text, &exact);
    added(utf8 ? cJSON_AddStringToObject(object, name, utf8) : NULL);
    free(utf8);
    if (!exact) {
        char member[64], *encoded = percent_encoded(text);
        snprintf(member, sizeof member, "%s_encoded", name);
        added(encoded ? cJSON_AddStringToObject(object, member, encoded) : NULL);
        free(encoded);
    }
}

void txm_json_text_or_null(cJSON *object, const char *name, const char *text)
{
    txm_json_text(object, name, text && *text ? text : NULL);
}

/* The number is written as digits, because cJSON's numbers are doubles, which are inexact from 2^53 on. */
void txm_json_uint(cJSON *object, const char *name, uint64_t value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    added(cJSON_AddRawToObject(object, name, digits));
}

/* All schemas use these two names. */
void txm_json_size(cJSON *object, uint32_t width, uint32_t height)
{
    txm_json_uint(object, "width", width);
    txm_json_uint(object, "height", height);
}

/* `out` has 40 bytes. JSON has neither NaN nor infinity, so these become null. */
static void number_text(double value, int digits, char *out)
{
    snprintf(out, 40, isfinite(value) ? "%.*g" : "null", digits, value);
}

/* `digits` is the number of significant digits: 9 for a float32 that must be reproduced exactly. */
void txm_json_number(cJSON *object, const char *name, double value, int digits)
{
    char text[40];
    number_text(value, digits, text);
    added(cJSON_AddRawToObject(object, name, text));
}

void txm_json_bool(cJSON *object, const char *name, bool value)
{
    added(cJSON_AddBoolToObject(object, name, value));
}

/* NULL without memory, which all functions here accept; the loss is reported when the line is printed. */
cJSON *txm_json_object(cJSON *object, const char *name)
{
    cJSON *item = cJSON_AddObjectToObject(object, name);
    added(item);
    return item;
}

cJSON *txm_json_array(cJSON *object, const char *name)
{
    cJSON *item = cJSON_AddArrayToObject(object, name);
    added(item);
    return item;
}

/* Takes ownership of the item, also if it fails. */
void txm_json_add(cJSON *object, const char *name, cJSON *item)
{
    const bool done = item && cJSON_AddItemToObject(object, name, item);
    if (!done)
        cJSON_Delete(item);
    lost |= !done;
}

static cJSON *append_item(cJSON *array, cJSON *item)
{
    if (item && !cJSON_AddItemToArray(array, item)) {
        cJSON_Delete(item);
        item = NULL;
    }
    added(item);
    return item;
}

/* An empty object at the end; it is owned by the array. */
cJSON *txm_json_append(cJSON *array)
{
    return append_item(array, cJSON_CreateObject());
}

cJSON *txm_json_append_array(cJSON *array)
{
    return append_item(array, cJSON_CreateArray());
}

void txm_json_append_ints(cJSON *array, const int *ints, int count)
{
    append_item(array, cJSON_CreateIntArray(ints, count));
}

void txm_json_append_number(cJSON *array, double value, int digits)
{
    char text[40];
    number_text(value, digits, text);
    append_item(array, cJSON_CreateRaw(text));
}

/* Without an encoded copy, because arrays contain only fixed words and names of colour spaces. */
void txm_json_append_text(cJSON *array, const char *text)
{
    bool exact;
    char *utf8 = to_utf8(text, &exact);
    append_item(array, utf8 ? cJSON_CreateString(utf8) : NULL);
    free(utf8);
}

/* All schemas have the same three members, so that a script can handle failures of all commands in the same way. */
void txm_json_error(cJSON *object, const txm_error *err)
{
    cJSON *e = txm_json_object(object, "error");
    txm_json_text(e, "status", txm_status_name(err->status));
    txm_json_bool(e, "retryable", txm_status_retryable(err->status));
    txm_json_text(e, "message", err->message);
    if (err->subject_bytes) {
        char subject[TXM_MESSAGE_BYTES];
        snprintf(subject, sizeof subject, "%.*s", (int)err->subject_bytes, err->message);
        txm_json_text(e, "subject", subject);
    }
    if (*txm_error_advice(err))
        txm_json_text(e, "advice", txm_error_advice(err));
}

/* cJSON escapes the control characters of ASCII only, but people read JSON on terminals. Whatever is not ASCII is
 * inside a string, where an escape has the same meaning. All characters that are not shown are below U+10000. */
static char *with_escapes(char *text)
{
    txm_bytes b = {0};
    size_t kept = 0;
    for (size_t i = 0, n; text[i]; i += n) {
        const unsigned char *c = (const unsigned char *)text + i;
        n = 1;
        if (*c >= ' ' && *c < 127)
            continue;
        n = txm_utf8_sequence(text + i);
        n = n ? n : 1;
        if (txm_shown_bytes(text + i))
            continue;
        unsigned code = n == 1 ? c[0] : n == 2 ? (c[0] & 31u) << 6 | (c[1] & 63u) : 0;
        if (n == 3)
            code = (c[0] & 15u) << 12 | (c[1] & 63u) << 6 | (c[2] & 63u);
        txm_bytes_add(&b, text + kept, i - kept);
        txm_bytes_printf(&b, "\\u%04x", code);
        kept = i + n;
    }
    if (!kept)
        return text;
    txm_bytes_puts(&b, text + kept);
    free(text);
    return txm_bytes_take(&b);
}

/* Frees the object in any case. NULL if any part of it is missing, because an incomplete object would mislead
 * readers. */
char *txm_json_take(cJSON *object)
{
    const char *report = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, "schema"));
    if (report && getenv("TXMILL_CHECK_JSON") && is_listed(report, "schema"))
        check_members(object, report, "");
    char *text = object && !lost ? cJSON_PrintUnformatted(object) : NULL;
    cJSON_Delete(object);
    lost = false;
    return text ? with_escapes(text) : NULL;
}

/* Each line is flushed, because a program at the other end of the pipe may wait for it, and so that a log that is
 * cut off ends with a complete object. */
int txm_json_line(FILE *out, const char *text)
{
    /* The lock is held for the whole line, so that lines of several threads do not mix. */
    txm_say_hold();
    flockfile(out);
    fputs(text, out);
    fputc('\n', out);
    int rc = fflush(out) == 0 ? 0 : errno;
    funlockfile(out);
    txm_say_release();
    return rc;
}

/* Returns false without memory; failures of standard output are found at the end of the command. */
bool txm_json_print(cJSON *object)
{
    char *text = txm_json_take(object);
    bool ok = text != NULL;
    if (ok)
        txm_json_line(stdout, text);
    free(text);
    return ok;
}

/* The exit code must show that an object is missing, because programs count the objects. */
void txm_json_missing(void)
{
    txm_say(TXM_SAY_ERROR, "out of memory: a JSON object is missing from the output");
    txm_results_missing();
}

void txm_json_emit(cJSON *object)
{
    if (!txm_json_print(object))
        txm_json_missing();
}
