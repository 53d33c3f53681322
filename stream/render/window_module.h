/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the module that contains SDL: a window that shows a picture with lines of text in its corner, and
 * reports keys and mouse. The module does not deal with scenes; the caller decides what a key means. All functions are
 * called from one thread. */
#ifndef STM_STREAM_WINDOW_MODULE_H
#define STM_STREAM_WINDOW_MODULE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STM_WINDOW_SYMBOL "stm_window_module"
enum { STM_WINDOW_ABI = 1 };

typedef struct stm_window stm_window;

typedef enum stm_window_event_kind {
    STM_WINDOW_CLOSE = 1, /* the user closes the window */
    STM_WINDOW_RESIZED,   /* x, y: its size now, px */
    STM_WINDOW_KEY_DOWN,  /* key, place; repeats of a held key are left out */
    STM_WINDOW_KEY_UP,
    STM_WINDOW_DRAG,       /* x, y: the mouse moved so far with its left button down, px; y downwards */
    STM_WINDOW_WHEEL,      /* y: notches, away from the user above 0 */
    STM_WINDOW_FOCUS_LOST, /* keys that are down may get no KEY_UP */
    STM_WINDOW_HIDDEN,     /* minimized */
    STM_WINDOW_SHOWN,
    STM_WINDOW_EXPOSED /* the content was lost and must be shown again */
} stm_window_event_kind;

/* Keys without a character; other keys have the ASCII code of theirs, letters in lower case. */
enum {
    STM_KEY_ESCAPE = 256,
    STM_KEY_LEFT,
    STM_KEY_RIGHT,
    STM_KEY_UP,
    STM_KEY_DOWN,
    STM_KEY_HOME,
    STM_KEY_F1,
    STM_KEY_F12
};

/* `key` is the key in the user's layout, `place` the one at the same position on a US keyboard; 0: no known key. */
typedef struct stm_window_event {
    uint32_t kind;
    int32_t key, place;
    float x, y;
} stm_window_event;

typedef struct stm_window_image {
    const uint8_t *rgba; /* rows from the top; scaled to the window; alpha is ignored */
    uint32_t width, height;
    const char *const *lines; /* text over the picture, ASCII */
    size_t line_count;
} stm_window_image;

typedef struct stm_window_table {
    uint32_t abi, event_bytes, image_bytes;
    /* Opens a window whose inside has that size, or as much of it as fits the screen. NULL, with the reason in
     * `message`. */
    stm_window *(*open)(const char *title, uint32_t width, uint32_t height, char *message, size_t message_bytes);
    /* Size of the inside, px. */
    void (*size)(stm_window *window, uint32_t *width, uint32_t *height);
    /* Takes the next event; false if there is none. Never waits. */
    bool (*next_event)(stm_window *window, stm_window_event *event);
    /* False if nothing could be shown; message() returns the reason. */
    bool (*show)(stm_window *window, const stm_window_image *image);
    const char *(*message)(const stm_window *window);
    void (*close)(stm_window *window);
} stm_window_table;
#endif
