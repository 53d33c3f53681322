/* SPDX-License-Identifier: Apache-2.0
 *
 * Shows pictures in a terminal, with Chafa.
 *
 * In: a level as a picture. Out: symbols, sixel or kitty graphics: the format of --format, or the best that the
 * terminal is known to support.
 */
#include "tools/view/view_terminal.h"

#include <chafa.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/os/terminal.h"
#include "tools/output/line.h"

/* Defaults. The rows leave room for the text below the picture, and for a prompt. */
enum { COLUMNS = 80, ROWS = 24, CELL_W = 8, CELL_H = 16, TEXT_ROWS = 6, MAX_CELLS = 1000 };

/* From TERM and similar variables; the terminal itself is not queried, because it may not answer. */
static ChafaTermInfo *terminal_info(void)
{
    gchar **environment = g_get_environ();
    ChafaTermInfo *info = chafa_term_db_detect(chafa_term_db_get_default(), environment);
    g_strfreev(environment);
    return info;
}

/* Fills in what was not given. The default size of a cell is 8 x 16 px. */
void txm_view_terminal_find(txm_view_terminal *t)
{
    txm_window_size size;
    bool known = txm_window_size_of(STDOUT_FILENO, &size) && size.rows;
    uint32_t rows = known ? size.rows : ROWS;
    if (!t->columns)
        t->columns = known ? size.columns : COLUMNS;
    if (!t->rows)
        t->rows = rows > 2 * TEXT_ROWS ? rows - TEXT_ROWS : rows;
    t->columns = t->columns < MAX_CELLS ? t->columns : MAX_CELLS;
    t->rows = t->rows < MAX_CELLS ? t->rows : MAX_CELLS;
    bool has_pixels = known && size.width_px >= size.columns && size.height_px >= size.rows;
    t->cell_w = has_pixels ? size.width_px / size.columns : CELL_W;
    t->cell_h = has_pixels ? size.height_px / size.rows : CELL_H;
    if (t->format == TXM_VIEW_AUTO) {
        /* Kitty's protocol is preferred to sixel, which has fewer colours. */
        ChafaTermInfo *info = terminal_info();
        t->format = chafa_term_info_have_seq(info, CHAFA_TERM_SEQ_BEGIN_KITTY_IMMEDIATE_IMAGE_V1) ? TXM_VIEW_KITTY
                    : chafa_term_info_have_seq(info, CHAFA_TERM_SEQ_BEGIN_SIXELS)                 ? TXM_VIEW_SIXEL
                                                                                                  : TXM_VIEW_SYMBOLS;
        chafa_term_info_unref(info);
    }
}

/* The pixels of the target, by which the level is chosen. */
void txm_view_terminal_target(const txm_view_terminal *t, uint32_t *width_px, uint32_t *height_px)
{
    *width_px = t->columns * t->cell_w;
    *height_px = t->rows * t->cell_h;
}

/* RGBA for Chafa; grey is copied to all channels. */
static uint8_t *to_rgba(const txm_level_picture *p)
{
    size_t pixels = (size_t)p->width * p->height;
    uint8_t *rgba = txm_alloc_pixels(pixels, 4), *dst = rgba;
    const uint8_t *src = p->pixels;
    for (size_t n = 0; rgba && n < pixels; n++, src += p->channels, dst += 4) {
        unsigned alpha = p->channels == 4 ? src[3] : p->channels == 2 ? src[1] : 255;
        for (uint32_t c = 0; c < 3; c++) {
            /* Divides colour by alpha. Values above 1 are clipped, and pixels without alpha become 0. */
            unsigned v = alpha ? (src[p->channels < 3 ? 0 : c] * 255 + alpha / 2) / alpha : 0;
            dst[c] = (uint8_t)(v < 255 ? v : 255);
        }
        dst[3] = (uint8_t)alpha;
    }
    return rgba;
}

/* The picture has as many colours as the terminal supports according to its description. */
static ChafaCanvasMode canvas_mode(const ChafaTermInfo *info)
{
    static const struct {
        ChafaTermSeq seq;
        ChafaCanvasMode mode;
    } modes[] = {{CHAFA_TERM_SEQ_SET_COLOR_FGBG_DIRECT, CHAFA_CANVAS_MODE_TRUECOLOR},
                 {CHAFA_TERM_SEQ_SET_COLOR_FGBG_256, CHAFA_CANVAS_MODE_INDEXED_240},
                 {CHAFA_TERM_SEQ_SET_COLOR_FGBG_16, CHAFA_CANVAS_MODE_INDEXED_16},
                 {CHAFA_TERM_SEQ_INVERT_COLORS, CHAFA_CANVAS_MODE_FGBG_BGFG}};
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    /* Chafa assumes 256 colours for an unknown terminal. */
    if ((no_color && *no_color) || !term || !*term || !strcmp(term, "dumb"))
        return CHAFA_CANVAS_MODE_FGBG;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (chafa_term_info_have_seq(info, modes[i].seq))
            return modes[i].mode;
    return CHAFA_CANVAS_MODE_FGBG;
}

/* By the first variable that is set, in the order of the C library; the program's locale remains "C". */
static bool speaks_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        if (value && *value)
            return strcasestr(value, "UTF-8") || strcasestr(value, "UTF8");
    }
    return false;
}

/* The caller unrefs it. Colours matter only for symbols; the other formats have their own. */
static ChafaCanvasConfig *configure(const txm_view_terminal *t, const txm_level_picture *p, const ChafaTermInfo *info)
{
    ChafaCanvasConfig *config = chafa_canvas_config_new();
    ChafaSymbolMap *symbols = chafa_symbol_map_new();
    /* The number of cells that the picture fills, in its own shape. */
    double w = (double)p->width / t->cell_w, h = (double)p->height / t->cell_h;
    double scale = fmin(t->columns / w, t->rows / h);
    /* Small levels are enlarged, up to a limit. */
    scale = fmin(scale, 16);
    const int columns = (int)fmax(1, floor(w * scale + 0.5)), rows = (int)fmax(1, floor(h * scale + 0.5));
    chafa_symbol_map_add_by_tags(symbols, speaks_utf8() ? CHAFA_SYMBOL_TAG_BLOCK | CHAFA_SYMBOL_TAG_SPACE
                                                        : CHAFA_SYMBOL_TAG_ASCII);
    chafa_canvas_config_set_symbol_map(config, symbols);
    chafa_symbol_map_unref(symbols);
    chafa_canvas_config_set_geometry(config, columns, rows);
    chafa_canvas_config_set_cell_geometry(config, (int)t->cell_w, (int)t->cell_h);
    chafa_canvas_config_set_pixel_mode(config, t->format == TXM_VIEW_KITTY   ? CHAFA_PIXEL_MODE_KITTY
                                               : t->format == TXM_VIEW_SIXEL ? CHAFA_PIXEL_MODE_SIXELS
                                                                             : CHAFA_PIXEL_MODE_SYMBOLS);
    if (t->format == TXM_VIEW_SYMBOLS)
        chafa_canvas_config_set_canvas_mode(config, canvas_mode(info));
    return config;
}

/* GLib ends the process when memory is exhausted; only the picture's own allocation can fail here. */
txm_status txm_view_terminal_print(const txm_view_terminal *t, const txm_level_picture *p, txm_error *err)
{
    uint8_t *rgba = to_rgba(p);
    if (!rgba)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory for %ux%u px", p->width, p->height);
    ChafaTermInfo *info = terminal_info(), *fallback = chafa_term_db_get_fallback_info(chafa_term_db_get_default());
    ChafaCanvasConfig *config = configure(t, p, info);
    ChafaCanvas *canvas = chafa_canvas_new(config);
    chafa_canvas_draw_all_pixels(canvas, CHAFA_PIXEL_RGBA8_UNASSOCIATED, rgba, (int)p->width, (int)p->height,
                                 (int)p->width * 4);
    /* A given format is written even if the terminal is not known to support it. */
    chafa_term_info_supplement(info, fallback);
    GString *text = chafa_canvas_print(canvas, info);
    txm_lines_wrapped(false);
    fwrite(text->str, 1, text->len, stdout);
    txm_lines_wrapped(true);
    putchar('\n');
    g_string_free(text, TRUE);
    chafa_canvas_unref(canvas);
    chafa_canvas_config_unref(config);
    chafa_term_info_unref(fallback);
    chafa_term_info_unref(info);
    free(rgba);
    return TXM_OK;
}
