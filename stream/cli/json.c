/* SPDX-License-Identifier: Apache-2.0
 * JSON objects over cJSON; see json.h. */
#include "cli/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "cli/say.h"

/* Set when a member could not be added, which cJSON does not record; one thread builds an object. */
static _Thread_local bool lost;

static void added(const void *item)
{
    lost |= !item;
}

static char *to_utf8(const char *text, bool *exact)
{
    stm_bytes b = {0};
    stm_bytes_puts(&b, "");
    *exact = true;
    for (size_t n; *text; text += n ? n : 1) {
        n = stm_utf8_sequence(text);
        *exact &= n != 0;
        stm_bytes_add(&b, n ? text : "\xEF\xBF\xBD", n ? n : 3);
    }
    return stm_bytes_take(&b);
}

static char *percent_encoded(const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    stm_bytes b = {0};
    for (; *text; text++)
        if (strchr(plain, *text))
            stm_bytes_add(&b, text, 1);
        else
            stm_bytes_printf(&b, "%%%02X", (unsigned)(unsigned char)*text);
    return stm_bytes_take(&b);
}

/* The version and the members of each report, from its table (docs/schema). */
#define REPORT(name, version) {name, version},
#define MEMBER(report, path)
static const struct {
    const char *name;
    unsigned version;
} reports[] = {
#include "reports.inc"
};
#undef REPORT
#undef MEMBER
#define REPORT(name, version)
#define MEMBER(report, path) {report, path},
static const struct {
    const char *report, *path;
} members[] = {
#include "reports.inc"
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

cJSON *stm_json_new(const char *schema)
{
    unsigned version = 1; /* of a report that another program makes */
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
        if (!strcmp(reports[i].name, schema))
            version = reports[i].version;
    cJSON *object = cJSON_CreateObject();
    stm_json_text(object, "schema", schema);
    stm_json_uint(object, "version", version);
    return object;
}

void stm_json_text(cJSON *object, const char *name, const char *text)
{
    bool exact = true;
    char *utf8 = text ? to_utf8(text, &exact) : NULL;
    if (text)
        added(utf8 ? cJSON_AddStringToObject(object, name, utf8) : NULL);
    else
        added(cJSON_AddNullToObject(object, name));
    free(utf8);
    if (!exact) {
        char *member = stm_asprintf("%s_encoded", name), *encoded = percent_encoded(text);
        added(member && encoded ? cJSON_AddStringToObject(object, member, encoded) : NULL);
        free(encoded);
        free(member);
    }
}

/* As digits, because cJSON's numbers are doubles, which are inexact from 2^53 on. */
void stm_json_uint(cJSON *object, const char *name, uint64_t value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    added(cJSON_AddRawToObject(object, name, digits));
}

void stm_json_counts(cJSON *object, const stm_count *counts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        stm_json_uint(object, counts[i].name, counts[i].value);
}

void stm_json_number(cJSON *object, const char *name, double value, int digits)
{
    char text[40];
    snprintf(text, sizeof text, isfinite(value) ? "%.*g" : "null", digits, value);
    added(cJSON_AddRawToObject(object, name, text));
}

void stm_json_bool(cJSON *object, const char *name, bool value)
{
    added(cJSON_AddBoolToObject(object, name, value));
}

void stm_json_raw(cJSON *object, const char *name, const char *json)
{
    added(json ? cJSON_AddRawToObject(object, name, json) : NULL);
}

void stm_json_add(cJSON *object, const char *name, cJSON *item)
{
    const bool done = item && cJSON_AddItemToObject(object, name, item);
    if (!done)
        cJSON_Delete(item);
    lost |= !done;
}

cJSON *stm_json_object(cJSON *object, const char *name)
{
    cJSON *item = cJSON_AddObjectToObject(object, name);
    added(item);
    return item;
}

cJSON *stm_json_array(cJSON *object, const char *name)
{
    cJSON *item = cJSON_AddArrayToObject(object, name);
    added(item);
    return item;
}

static cJSON *append(cJSON *array, cJSON *item)
{
    if (item && !cJSON_AddItemToArray(array, item)) {
        cJSON_Delete(item);
        item = NULL;
    }
    added(item);
    return item;
}

cJSON *stm_json_append(cJSON *array)
{
    return append(array, cJSON_CreateObject());
}

void stm_json_settle(cJSON *array, cJSON *item)
{
    if (!item || getenv("TXMILL_CHECK_JSON")) /* which looks at the members */
        return;
    char *text = cJSON_PrintUnformatted(item);
    cJSON *raw = text ? cJSON_CreateRaw(text) : NULL;
    added(raw);
    if (raw && !cJSON_ReplaceItemViaPointer(array, item, raw))
        cJSON_Delete(raw);
    free(text);
}

void stm_json_append_ints(cJSON *array, const int *ints, int count)
{
    append(array, cJSON_CreateIntArray(ints, count));
}

void stm_json_append_text(cJSON *array, const char *text)
{
    bool exact;
    char *utf8 = to_utf8(text, &exact);
    append(array, utf8 ? cJSON_CreateString(utf8) : NULL);
    free(utf8);
}

/* cJSON escapes the control characters of ASCII only, but people read JSON on terminals. Whatever is not ASCII is
 * inside a string, where an escape means the same; what is not shown is below U+10000. */
static char *with_escapes(char *text)
{
    stm_bytes b = {0};
    for (size_t n, i = 0; text[i]; i += n) {
        const unsigned char *c = (const unsigned char *)text + i;
        n = stm_utf8_sequence(text + i);
        if (n <= 1 || stm_shown_bytes(text + i))
            stm_bytes_add(&b, text + i, n = n ? n : 1);
        else
            stm_bytes_printf(&b, "\\u%04x",
                             n == 2 ? (c[0] & 31u) << 6 | (c[1] & 63u)
                                    : (c[0] & 15u) << 12 | (c[1] & 63u) << 6 | (c[2] & 63u));
    }
    free(text);
    return stm_bytes_take(&b);
}

char *stm_json_take(cJSON *object)
{
    const char *report = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, "schema"));
    if (report && getenv("TXMILL_CHECK_JSON") && is_listed(report, "schema"))
        check_members(object, report, "");
    char *text = object && !lost ? cJSON_PrintUnformatted(object) : NULL;
    cJSON_Delete(object);
    lost = false;
    return text ? with_escapes(text) : NULL;
}

void stm_json_emit(cJSON *object)
{
    char *text = stm_json_take(object);
    stm_say_status("%s", "");
    if (text)
        puts(text);
    fflush(stdout);
    if (!text) {
        stm_say(STM_SAY_ERROR, "out of memory: a JSON object is missing from the output");
        stm_results_missing();
    }
    free(text);
}
