/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON output over cJSON.
 *
 * File names may contain bytes that are not valid UTF-8, which a JSON string cannot hold. They appear as U+FFFD, and a
 * second member, with "_encoded" appended to its name, has the exact bytes percent-encoded ("caf%E9.png"). It is
 * present only if necessary.
 *
 * Adding a member fails only if memory is exhausted; the member is then missing, and txm_json_print reports it.
 */
#ifndef TXM_TOOLS_JSON_H
#define TXM_TOOLS_JSON_H
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/bytes.h"
#include "txtile/status.h"

/* A new object that begins with its schema ("txmill.make") and the version of that schema's table. */
cJSON *txm_json_new(const char *schema);
/* The same with the member `type`, for schemas that have several kinds of objects. */
cJSON *txm_json_of_type(const char *schema, const char *type);

/* Text that may contain any bytes; NULL becomes null. Adds the member `name`, and `name`_encoded for text that is
 * not UTF-8. */
void txm_json_text(cJSON *object, const char *name, const char *text);

/* The same, but "" becomes null too: every object has all names of its schema. */
void txm_json_text_or_null(cJSON *object, const char *name, const char *text);

/* A whole number, exact over the whole range (cJSON's own numbers have only 15 digits). */
void txm_json_uint(cJSON *object, const char *name, uint64_t value);
/* The members width and height, in pixels. */
void txm_json_size(cJSON *object, uint32_t width, uint32_t height);
/* A number with `digits` significant digits; NaN and infinities become null. */
void txm_json_number(cJSON *object, const char *name, double value, int digits);
void txm_json_bool(cJSON *object, const char *name, bool value);
/* New empty members. NULL when memory is exhausted; all functions here accept a NULL object. */
cJSON *txm_json_object(cJSON *object, const char *name);
cJSON *txm_json_array(cJSON *object, const char *name);
/* An item as a member; the item is consumed. */
void txm_json_add(cJSON *object, const char *name, cJSON *item);
/* A new object, or a new array, at the end of an array. */
cJSON *txm_json_append(cJSON *array);
cJSON *txm_json_append_array(cJSON *array);
/* A number at the end of an array. */
void txm_json_append_number(cJSON *array, double value, int digits);
/* An array of whole numbers at the end of an array. */
void txm_json_append_ints(cJSON *array, const int *ints, int count);
/* A string at the end of an array; bytes that are not UTF-8 become U+FFFD. */
void txm_json_append_text(cJSON *array, const char *text);

/* {"error": {"status": "disk-full", "retryable": true, "message": ...}} */
void txm_json_error(cJSON *object, const txm_error *err);

/* The object as text, on one line; the object is freed. New string, NULL when memory is exhausted. */
char *txm_json_take(cJSON *object);
/* Writes a line and flushes it. From any thread. 0 or an errno. */
int txm_json_line(FILE *out, const char *text);
/* Prints one line to stdout, flushes it, and frees the object. From any thread. False when memory is exhausted. */
bool txm_json_print(cJSON *object);
/* The same for callers that cannot handle a failure: reports that an object is missing. */
void txm_json_emit(cJSON *object);
/* Reports that an object is missing for lack of memory, and makes the command fail. */
void txm_json_missing(void);
#endif
