/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages: whole lines on stderr, from any thread, coloured only on a terminal. Control characters are shown as \xHH,
 * since a file name may contain a newline or an escape sequence, so that a message is always one line.
 */
#ifndef TXM_TOOLS_SAY_H
#define TXM_TOOLS_SAY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum txm_say_level {
    TXM_SAY_ERROR,   /* always shown */
    TXM_SAY_WARNING, /* hidden by -q */
    TXM_SAY_INFO,    /* hidden by -q */
    TXM_SAY_DETAIL   /* shown only with -v */
} txm_say_level;

/* Sets the most verbose level that is shown. The default is TXM_SAY_INFO. */
void txm_say_set_level(txm_say_level most);

void txm_say(txm_say_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As TXM_SAY_WARNING, in the form of the library's callback; `user` is not used. */
void txm_say_warning(void *user, const char *message);

/* The words that the program was started with, for commands in messages; call it first. */
void txm_say_started(int argc, char **argv);
/* Prints `message` and the command of this run with an option more, as a shell reads it. */
void txm_say_again(const char *message, const char *option);

/* Prints the last line of a failed run, without a prefix. */
void txm_say_last(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Shows a status line, which the next message or status replaces; "" removes it. Does nothing unless stderr is a
 * terminal that can move its cursor. */
void txm_say_status(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool txm_say_can_animate(void);
/* A status line such as "checking 12 of 340 files", which changes at most ten times a second; without `total`: 0. Any
 * thread may call it for each step. If the next call takes more than a second, the line also has the seconds that have
 * passed. */
void txm_say_progress(const char *doing, size_t done, size_t total);
/* The same for a command that examines one file after the other and prints a line for each: if these lines go to the
 * terminal, or there is a single file, only work of more than a second is shown, with the part of the file that is done
 * where it is known. */
void txm_say_file_progress(const char *doing, size_t done, size_t total, bool quiet);
/* How much of the file at hand is done. Any thread may call it. */
void txm_say_part(uint64_t done, uint64_t parts);

/* Between the two calls only the caller's messages are written, and no status line is shown, because standard output
 * may be the same terminal. Calls nest. */
void txm_say_hold(void);
void txm_say_release(void);
/* Clears the status line; standard output calls it before it writes to a terminal. */
void txm_say_make_room(void);

/* Writes all bytes; false after a failure. */
bool txm_put(int fd, const char *text, size_t bytes);

/* Columns of the terminal `fd`; 80 if it is not a terminal. */
unsigned txm_terminal_columns(int fd);
/* The number of bytes at `text` that may be shown on a terminal: a character, or a byte of another encoding. 0 if
 * they must be escaped: control characters, also from U+0080 to U+009F (U+009B and the byte 0x9B begin sequences as
 * ESC [ does), and characters that change the direction of writing. */
size_t txm_shown_bytes(const char *text);
/* Writes the escape of such a character, "\\x0A", into `out`; returns the number of bytes of `text` that it stands
 * for. */
enum { TXM_ESCAPE_BYTES = 17 };
size_t txm_escape(const char *text, char out[TXM_ESCAPE_BYTES]);

#endif
