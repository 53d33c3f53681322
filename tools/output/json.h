/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON output over cJSON.
 *
 * A file name is bytes, a JSON string is Unicode. Bytes that are not valid UTF-8 appear as U+FFFD, and a second member,
 * the name with "_encoded" after it, holds the exact bytes percent-encoded ("caf%E9.png"). It is there only when
 * needed.
 *
 * Adding a member fails only when memory is exhausted; the member is missing then, and txm_json_print reports it.
 */
#ifndef TXM_TOOLS_JSON_H
#define TXM_TOOLS_JSON_H
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "txtile/status.h"

/* A new object that begins with its schema ("txmill.make") and that schema's version. */
cJSON *txm_json_new(const char *schema, unsigned version);

/* Text that may hold any bytes, NULL becomes null: member `name`, and `name`_encoded for text that is not UTF-8. */
void txm_json_text(cJSON *object, const char *name, const char *text);

/* A whole number, exact over the whole range (cJSON's own numbers lose digits beyond 15). */
void txm_json_uint(cJSON *object, const char *name, uint64_t value);
/* The members width and height, in pixels. */
void txm_json_size(cJSON *object, uint32_t width, uint32_t height);
/* A number with `digits` significant digits; NaN and infinities, which JSON lacks, become null. */
void txm_json_number(cJSON *object, const char *name, double value, int digits);
void txm_json_bool(cJSON *object, const char *name, bool value);
/* New empty members. NULL when memory is exhausted; all functions here accept a NULL object. */
cJSON *txm_json_object(cJSON *object, const char *name);
cJSON *txm_json_array(cJSON *object, const char *name);
/* A new object at the end of an array. */
cJSON *txm_json_append(cJSON *array);
/* A number at the end of an array. */
void txm_json_append_number(cJSON *array, double value, int digits);
/* An array of whole numbers at the end of an array. */
void txm_json_append_ints(cJSON *array, const int *ints, int count);
/* A member whose value is JSON text already. */
void txm_json_parsed(cJSON *object, const char *name, const char *text);
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
/* The same where there is nothing else to do about a failure: says that an object is missing. */
void txm_json_emit(cJSON *object);
/* Says that one is missing for lack of memory, and lets the command fail. */
void txm_json_missing(void);
#endif
