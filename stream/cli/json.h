/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON objects over cJSON, one a line. Text that is not UTF-8 appears with U+FFFD, and a second member, with "_encoded"
 * appended to its name, has the exact bytes percent-encoded. A member that is missing for lack of memory makes the
 * object fail when it is printed, so that callers need not check each.
 */
#ifndef STREAM_JSON_H
#define STREAM_JSON_H
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

/* A new object that begins with its schema and the version of that schema's table. */
cJSON *stm_json_new(const char *schema);
void stm_json_text(cJSON *object, const char *name, const char *text); /* NULL becomes null */
void stm_json_uint(cJSON *object, const char *name, uint64_t value);   /* exact over the whole range */
/* NaN and infinities become null. */
void stm_json_number(cJSON *object, const char *name, double value, int digits);
/* Several at once. */
typedef struct stm_count {
    const char *name;
    uint64_t value;
} stm_count;
void stm_json_counts(cJSON *object, const stm_count *counts, size_t count);
void stm_json_bool(cJSON *object, const char *name, bool value);
/* A value that is JSON already; missing if it is NULL. */
void stm_json_raw(cJSON *object, const char *name, const char *json);
/* An item as a member; the item is consumed. */
void stm_json_add(cJSON *object, const char *name, cJSON *item);
cJSON *stm_json_object(cJSON *object, const char *name);
cJSON *stm_json_array(cJSON *object, const char *name);
/* At the end of an array: an empty object, an array of whole numbers, a text. */
cJSON *stm_json_append(cJSON *array);
void stm_json_append_ints(cJSON *array, const int *ints, int count);
void stm_json_append_text(cJSON *array, const char *text);
/* An item of a long array is complete, and is kept as text, which takes a tenth of the memory. It must not be used any
 * more. */
void stm_json_settle(cJSON *array, cJSON *item);

/* The object as text, on one line; the object is freed. NULL if memory is exhausted. */
char *stm_json_take(cJSON *object);
/* Prints the object and frees it; if it is not complete, says so, and the run fails. */
void stm_json_emit(cJSON *object);
#endif
