/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages to people: whole lines on stderr, from any thread, coloured only on a terminal that wants it. Control
 * characters (a file name may hold a newline or an escape sequence) are shown as \xHH, so that a message is always one
 * line and can forge nothing.
 */
#ifndef TXM_TOOLS_SAY_H
#define TXM_TOOLS_SAY_H
#include <stdbool.h>
#include <stddef.h>

typedef enum txm_say_level {
    TXM_SAY_ERROR,   /* always shown */
    TXM_SAY_WARNING, /* not with -q */
    TXM_SAY_INFO,    /* not with -q */
    TXM_SAY_DETAIL   /* only with -v */
} txm_say_level;

/* Which levels are shown from now on: the most verbose one. The default is TXM_SAY_INFO. */
void txm_say_set_level(txm_say_level most);

void txm_say(txm_say_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As TXM_SAY_WARNING, in the form of the library's events; `user` is not used. */
void txm_say_warning(void *user, const char *message);

/* The bare line that ends a failed run. */
void txm_say_last(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A status line that the next message or status replaces; "" removes it. Does nothing unless stderr is a terminal that
 * can move its cursor. */
void txm_say_status(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool txm_say_can_animate(void);

/* Between the two no message is written but the caller's own, and no status line stands: for what goes to standard
 * output, which may be the same terminal. Calls nest. */
void txm_say_hold(void);
void txm_say_release(void);

/* Columns of the terminal that `fd` is, 80 if it is none. */
unsigned txm_terminal_columns(int fd);
/* How many bytes at `text` may be shown on a terminal as they are: a character, or a byte of another encoding. 0: it
 * must be escaped, as control characters must, those from U+0080 to U+009F too (U+009B and the byte 0x9B begin
 * sequences as ESC [ does), and those that turn the direction of writing. */
size_t txm_shown_bytes(const char *text);
/* The escape of such a character, "\\x0A", into `out`; returns how many bytes of `text` it is for. */
enum { TXM_ESCAPE_BYTES = 17 };
size_t txm_escape(const char *text, char out[TXM_ESCAPE_BYTES]);

#endif
