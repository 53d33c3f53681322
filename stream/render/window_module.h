/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the module that contains SDL: a window that shows a picture with lines of text in its corner, and
 * reports keys and mouse. The module does not deal with scenes; the caller decides what a key means. All functions are
 * called from one thread. */
#ifndef TXM_STREAM_WINDOW_MODULE_H
#define TXM_STREAM_WINDOW_MODULE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TXM_WINDOW_SYMBOL "txm_window_module"
enum { TXM_WINDOW_ABI = 1 };

typedef struct txm_window txm_window;

typedef enum txm_window_event_kind {
    TXM_WINDOW_CLOSE = 1, /* the user closes the window */
    TXM_WINDOW_RESIZED,   /* x, y: its size now, px */
    TXM_WINDOW_KEY_DOWN,  /* key, place; repeats of a held key are left out */
    TXM_WINDOW_KEY_UP,
    TXM_WINDOW_DRAG,       /* x, y: the mouse moved so far with its left button down, px; y downwards */
    TXM_WINDOW_WHEEL,      /* y: notches, away from the user above 0 */
    TXM_WINDOW_FOCUS_LOST, /* keys that are down may get no KEY_UP */
    TXM_WINDOW_HIDDEN,     /* minimized */
    TXM_WINDOW_SHOWN,
    TXM_WINDOW_EXPOSED /* the content was lost and must be shown again */
} txm_window_event_kind;

/* Keys without a character; other keys have the ASCII code of theirs, letters in lower case. */
enum {
    TXM_KEY_ESCAPE = 256,
    TXM_KEY_LEFT,
    TXM_KEY_RIGHT,
    TXM_KEY_UP,
    TXM_KEY_DOWN,
    TXM_KEY_HOME,
    TXM_KEY_F1,
    TXM_KEY_F12
};

/* `key` is the key in the user's layout, `place` the one at the same position on a US keyboard; 0: no known key. */
typedef struct txm_window_event {
    uint32_t kind;
    int32_t key, place;
    float x, y;
} txm_window_event;

typedef struct txm_window_image {
    const uint8_t *rgba; /* rows from the top; scaled to the window; alpha is ignored */
    uint32_t width, height;
    const char *const *lines; /* text over the picture, ASCII */
    size_t line_count;
} txm_window_image;

typedef struct txm_window_table {
    uint32_t abi, event_bytes, image_bytes;
    /* Opens a window whose inside has that size, or as much of it as fits the screen. NULL, with the reason in
     * `message`. */
    txm_window *(*open)(const char *title, uint32_t width, uint32_t height, char *message, size_t message_bytes);
    /* Size of the inside, px. */
    void (*size)(txm_window *window, uint32_t *width, uint32_t *height);
    /* Takes the next event; false if there is none. Never waits. */
    bool (*next_event)(txm_window *window, txm_window_event *event);
    /* False if nothing could be shown; message() returns the reason. */
    bool (*show)(txm_window *window, const txm_window_image *image);
    const char *(*message)(const txm_window *window);
    void (*close)(txm_window *window);
} txm_window_table;
#endif
