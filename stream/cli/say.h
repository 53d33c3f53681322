/* SPDX-License-Identifier: Apache-2.0
 *
 * What people see: messages on standard error, numbers and names in words, the last line of a failed run and its exit
 * code. Codes, the last line and the form of messages are those of txmill, which starts the program.
 */
#ifndef STREAM_SAY_H
#define STREAM_SAY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "txtile/status.h"

/* ---- messages: whole lines from any thread, with control characters shown as \xHH ---- */

typedef enum stm_say_level { STM_SAY_ERROR, STM_SAY_WARNING, STM_SAY_INFO } stm_say_level;
void stm_say_set_level(stm_say_level most); /* the most verbose level that is shown */
void stm_say(stm_say_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A status line, which the next message replaces; "" removes it. Nothing unless stderr is a terminal that can move its
 * cursor. */
void stm_say_status(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool stm_say_can_animate(void);

typedef enum stm_color_when { STM_COLOR_AUTO, STM_COLOR_ALWAYS, STM_COLOR_NEVER } stm_color_when;
void stm_color_set(stm_color_when when);

/* The line, wrapped at spaces with further lines indented, for a terminal. NULL if memory is exhausted. */
char *stm_wrapped(const char *line, unsigned columns);
/* From now on lines on standard output are wrapped, if it is a terminal. */
void stm_lines_install(void);
/* Flushes standard output; false if something could not be written. */
bool stm_lines_end(void);

/* Writes text; false if that fails. */
bool stm_put(int fd, const char *text);
/* Columns of the terminal `fd`; `otherwise` if it is none. */
unsigned stm_terminal_columns(int fd, unsigned otherwise);
/* Bytes of the character at `text` if a terminal may show it, else 0: control characters, and those that change the
 * direction of writing. */
size_t stm_shown_bytes(const char *text);
/* Columns of the character at `text`: 2 for wide ones, as those of East Asia, 0 for accents that are put on others. */
unsigned stm_character_columns(const char *text);
/* Prints text from a file or a command line; `columns` at most, from its end, with ".." for what is left out. */
void stm_print_safe(const char *text);
void stm_print_fitted(const char *text, unsigned columns);

/* ---- numbers ---- */

enum { STM_FORMAT_BYTES = 24, STM_FORMAT_COUNT = 64 };
/* "812 B", "34.5 MB" (powers of 1000), "8 ms", "4 min 05 s"; `out` is returned. */
char *stm_format_bytes(uint64_t bytes, char out[STM_FORMAT_BYTES]);
char *stm_format_seconds(double seconds, char out[STM_FORMAT_BYTES]);
/* "1 image", "3 images"; "1 image is", "3 images are". */
const char *stm_format_count(size_t count, const char *noun, char out[STM_FORMAT_COUNT]);
const char *stm_format_are(size_t count, const char *noun, char out[STM_FORMAT_COUNT]);

/* ---- signals and the end ---- */

/* Handlers for signals, for files that are truncated while they are read, and for libraries that abort: a run that is
 * killed leaves no temporary files. */
void stm_signals_install(void);
/* From now on a signal does not remove temporary files: the command writes the complete part. */
void stm_signals_publish(void);
const volatile int *stm_signal_flag(void);
int stm_signal_caught(void); /* the number of the signal, or 0 */

/* From now on a failure is also printed as a JSON object of this schema. */
void stm_finish_in_json(const char *schema);
/* Advice is for scenes and tx files, and not for any file. */
void stm_advise_for_scenes(void);
/* The end of a run that got so far: `status` says what failed on the way. Returns the exit code. */
int stm_finish(txm_status status);
/* The end of a run that failed; `total` is 0 if no input was looked at. */
int stm_finish_failed(const txm_error *err, size_t total);
/* Output was lost for lack of memory. */
void stm_results_missing(void);
/* The exit codes, as a list of a manual page. */
void stm_print_exits(FILE *out);
#endif
