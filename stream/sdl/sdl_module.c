/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements the function table of window_module.h with SDL 2.
 *
 * It is a separate module because SDL brings in the libraries of X11, Wayland and sound, which only `txmill stream
 * view` needs. Text is drawn by SDL_ttf in the monospaced font that the user has chosen for the desktop.
 */
#include <fontconfig/fontconfig.h>
#include <SDL2/SDL.h>
#include <SDL2/SDL_ttf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/window_module.h"

#define EXPORT __attribute__((visibility("default")))

struct stm_window {
    SDL_Window *window;
    SDL_Renderer *renderer;
    SDL_Texture *texture; /* texture of the last picture's size; NULL: none yet */
    int texture_width, texture_height;
    TTF_Font *font; /* NULL before the first text, or if there is no font: then the window shows pictures alone */
    int font_px;
    char message[256];
};

/* ---- beginning and end ---- */

static void window_close(stm_window *w)
{
    if (!w)
        return;
    if (w->font)
        TTF_CloseFont(w->font);
    if (TTF_WasInit())
        TTF_Quit();
    if (w->texture)
        SDL_DestroyTexture(w->texture);
    if (w->renderer)
        SDL_DestroyRenderer(w->renderer);
    if (w->window)
        SDL_DestroyWindow(w->window);
    SDL_QuitSubSystem(SDL_INIT_VIDEO);
    SDL_Quit();
    free(w);
}

/* Signal handlers remain the program's, and the compositor stays on. Only the SDL drivers for desktops are tried,
 * because SDL would otherwise continue with one that takes over a bare console and one that shows nothing.
 * $SDL_VIDEODRIVER selects another driver. */
static bool begin_video(void)
{
    const bool has_display = getenv("DISPLAY") || getenv("WAYLAND_DISPLAY") || getenv("SDL_VIDEODRIVER");
    SDL_SetHintWithPriority(SDL_HINT_VIDEODRIVER, "x11,wayland", SDL_HINT_DEFAULT);
    SDL_SetHint(SDL_HINT_NO_SIGNAL_HANDLERS, "1");
    SDL_SetHint(SDL_HINT_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR, "0");
    SDL_SetHint(SDL_HINT_RENDER_SCALE_QUALITY, "linear");
    SDL_SetMainReady();
    if (!has_display) {
        SDL_SetError("there is no display: neither DISPLAY nor WAYLAND_DISPLAY is set");
        return false;
    }
    return SDL_Init(SDL_INIT_VIDEO) == 0;
}

static stm_window *window_open(const char *title, uint32_t width, uint32_t height, char *message, size_t bytes)
{
    stm_window *w = calloc(1, sizeof *w);
    if (!w) {
        snprintf(message, bytes, "out of memory");
        return NULL;
    }
    if (begin_video())
        w->window = SDL_CreateWindow(title, SDL_WINDOWPOS_UNDEFINED, SDL_WINDOWPOS_UNDEFINED, (int)width, (int)height,
                                     SDL_WINDOW_RESIZABLE);
    if (w->window)
        w->renderer = SDL_CreateRenderer(w->window, -1, 0);
    if (w->renderer)
        return w;
    snprintf(message, bytes, "%s", SDL_GetError());
    window_close(w);
    return NULL;
}

static void window_size(stm_window *w, uint32_t *width, uint32_t *height)
{
    int x = 0, y = 0;
    SDL_GetRendererOutputSize(w->renderer, &x, &y);
    *width = x > 0 ? (uint32_t)x : 1;
    *height = y > 0 ? (uint32_t)y : 1;
}

/* ---- events ---- */

static int32_t key_of(SDL_Keycode code)
{
    static const struct {
        SDL_Keycode code;
        int32_t key;
    } keys[] = {{SDLK_ESCAPE, STM_KEY_ESCAPE}, {SDLK_LEFT, STM_KEY_LEFT}, {SDLK_RIGHT, STM_KEY_RIGHT},
                {SDLK_UP, STM_KEY_UP},         {SDLK_DOWN, STM_KEY_DOWN}, {SDLK_HOME, STM_KEY_HOME},
                {SDLK_F1, STM_KEY_F1},         {SDLK_F12, STM_KEY_F12},   {SDLK_KP_PLUS, '+'},
                {SDLK_KP_MINUS, '-'}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].code == code)
            return keys[i].key;
    return code >= ' ' && code <= '~' ? (int32_t)code : 0;
}

static bool take_change(stm_window *w, const SDL_WindowEvent *change, stm_window_event *out)
{
    uint32_t width, height;
    switch (change->event) {
    case SDL_WINDOWEVENT_CLOSE:
        out->kind = STM_WINDOW_CLOSE;
        return true;
    case SDL_WINDOWEVENT_SIZE_CHANGED:
        window_size(w, &width, &height);
        out->kind = STM_WINDOW_RESIZED;
        out->x = (float)width;
        out->y = (float)height;
        return true;
    case SDL_WINDOWEVENT_FOCUS_LOST:
        out->kind = STM_WINDOW_FOCUS_LOST;
        return true;
    case SDL_WINDOWEVENT_MINIMIZED:
    case SDL_WINDOWEVENT_HIDDEN:
        out->kind = STM_WINDOW_HIDDEN;
        return true;
    case SDL_WINDOWEVENT_RESTORED:
    case SDL_WINDOWEVENT_SHOWN:
        out->kind = STM_WINDOW_SHOWN;
        return true;
    case SDL_WINDOWEVENT_EXPOSED:
        out->kind = STM_WINDOW_EXPOSED;
        return true;
    default:
        return false;
    }
}

/* Converts an SDL event; returns false if the table has no such event. */
static bool take_event(stm_window *w, const SDL_Event *event, stm_window_event *out)
{
    *out = (stm_window_event){0};
    switch (event->type) {
    case SDL_QUIT:
        out->kind = STM_WINDOW_CLOSE;
        return true;
    case SDL_WINDOWEVENT:
        return take_change(w, &event->window, out);
    case SDL_KEYDOWN:
    case SDL_KEYUP: {
        if (event->key.repeat)
            return false;
        out->kind = event->key.type == SDL_KEYDOWN ? STM_WINDOW_KEY_DOWN : STM_WINDOW_KEY_UP;
        out->key = key_of(event->key.keysym.sym);
        const SDL_Scancode code = event->key.keysym.scancode;
        out->place = code >= SDL_SCANCODE_A && code <= SDL_SCANCODE_Z ? 'a' + (int32_t)(code - SDL_SCANCODE_A) : 0;
        return true;
    }
    case SDL_MOUSEMOTION:
        out->kind = STM_WINDOW_DRAG;
        out->x = (float)event->motion.xrel;
        out->y = (float)event->motion.yrel;
        return event->motion.state & SDL_BUTTON_LMASK;
    case SDL_MOUSEWHEEL:
        out->kind = STM_WINDOW_WHEEL;
        out->y = (float)(event->wheel.direction == SDL_MOUSEWHEEL_FLIPPED ? -event->wheel.y : event->wheel.y);
        return true;
    case SDL_RENDER_TARGETS_RESET:
    case SDL_RENDER_DEVICE_RESET:
        out->kind = STM_WINDOW_EXPOSED;
        return true;
    default:
        return false;
    }
}

static bool window_next_event(stm_window *w, stm_window_event *out)
{
    SDL_Event event;
    while (SDL_PollEvent(&event))
        if (take_event(w, &event, out))
            return true;
    return false;
}

/* ---- the picture ---- */

static bool fill_texture(stm_window *w, const stm_window_image *image)
{
    const int width = (int)image->width, height = (int)image->height;
    if (!w->texture || w->texture_width != width || w->texture_height != height) {
        if (w->texture)
            SDL_DestroyTexture(w->texture);
        w->texture = SDL_CreateTexture(w->renderer, SDL_PIXELFORMAT_RGBA32, SDL_TEXTUREACCESS_STREAMING, width, height);
        w->texture_width = width;
        w->texture_height = height;
        if (w->texture)
            SDL_SetTextureBlendMode(w->texture, SDL_BLENDMODE_NONE);
    }
    return w->texture && SDL_UpdateTexture(w->texture, NULL, image->rgba, 4 * width) == 0;
}

/* Opens the font for a height in pixels, or keeps the one that is open. */
static void open_font(stm_window *w, int px)
{
    if (w->font_px == px)
        return;
    w->font_px = px;
    if (w->font)
        TTF_CloseFont(w->font);
    w->font = NULL;
    FcPattern *wanted = FcNameParse((const FcChar8 *)"monospace:scalable=true"), *found = NULL;
    FcResult result;
    if (wanted && FcConfigSubstitute(NULL, wanted, FcMatchPattern)) {
        FcDefaultSubstitute(wanted);
        found = FcFontMatch(NULL, wanted, &result);
    }
    FcChar8 *file;
    int face = 0;
    if (found && FcPatternGetString(found, FC_FILE, 0, &file) == FcResultMatch && (TTF_WasInit() || TTF_Init() == 0)) {
        FcPatternGetInteger(found, FC_INDEX, 0, &face);
        w->font = TTF_OpenFontIndex((const char *)file, px, face);
    }
    if (found)
        FcPatternDestroy(found);
    if (wanted)
        FcPatternDestroy(wanted);
}

/* White on a dark, translucent background. The size follows that of the window. */
static void draw_lines(stm_window *w, const char *const *lines, size_t count)
{
    enum { LEAST_PX = 12, LINES_A_WINDOW = 40, MARGIN = 4 };
    const SDL_Color white = {255, 255, 255, 255};
    uint32_t width, height;
    int longest = 0;
    window_size(w, &width, &height);
    open_font(w, height / LINES_A_WINDOW > LEAST_PX ? (int)(height / LINES_A_WINDOW) : LEAST_PX);
    if (!w->font)
        return;
    const int skip = TTF_FontLineSkip(w->font);
    for (size_t i = 0; i < count; i++) {
        int across = 0;
        TTF_SizeUTF8(w->font, lines[i], &across, NULL);
        longest = across > longest ? across : longest;
    }
    SDL_SetRenderDrawBlendMode(w->renderer, SDL_BLENDMODE_BLEND);
    SDL_SetRenderDrawColor(w->renderer, 0, 0, 0, 160);
    SDL_RenderFillRect(w->renderer, &(SDL_Rect){0, 0, longest + 2 * MARGIN, (int)count * skip + 2 * MARGIN});
    for (size_t i = 0; i < count; i++) {
        SDL_Surface *line = TTF_RenderUTF8_Blended(w->font, lines[i], white);
        SDL_Texture *drawn = line ? SDL_CreateTextureFromSurface(w->renderer, line) : NULL;
        if (drawn)
            SDL_RenderCopy(w->renderer, drawn, NULL, &(SDL_Rect){MARGIN, MARGIN + (int)i * skip, line->w, line->h});
        SDL_DestroyTexture(drawn);
        SDL_FreeSurface(line);
    }
}

static bool window_show(stm_window *w, const stm_window_image *image)
{
    SDL_SetRenderDrawColor(w->renderer, 0, 0, 0, 255);
    SDL_RenderClear(w->renderer);
    if (image->rgba && (!fill_texture(w, image) || SDL_RenderCopy(w->renderer, w->texture, NULL, NULL) != 0)) {
        snprintf(w->message, sizeof w->message, "%s", SDL_GetError());
        return false;
    }
    if (image->line_count)
        draw_lines(w, image->lines, image->line_count);
    SDL_RenderPresent(w->renderer);
    return true;
}

static const char *window_message(const stm_window *w)
{
    return w->message;
}

EXPORT const stm_window_table stm_window_module = {
    .abi = STM_WINDOW_ABI,
    .event_bytes = sizeof(stm_window_event),
    .image_bytes = sizeof(stm_window_image),
    .open = window_open,
    .size = window_size,
    .next_event = window_next_event,
    .show = window_show,
    .message = window_message,
    .close = window_close,
};
