/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares a fresh tx file with the requested settings and describes the differences for the report. Such a file is
 * used by Cycles, so it is not made again without --force.
 */
#include "mill/convert/otherwise.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "txtile/reader.h"

typedef struct list {
    char *text;
    size_t bytes, used;
} list;

static void add(list *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(list *l, const char *format, ...)
{
    va_list args;
    if (l->used && l->used < l->bytes)
        l->used += (size_t)snprintf(l->text + l->used, l->bytes - l->used, "; ");
    va_start(args, format);
    if (l->used < l->bytes)
        l->used += (size_t)vsnprintf(l->text + l->used, l->bytes - l->used, format, args);
    va_end(args);
}

/* Compares only settings that were chosen explicitly, not defaults. */
static void compare(const txm_tx_info *i, const txm_settings *s, unsigned channels, list *l)
{
    const char *codec = txm_codec_name(s->compression.codec);
    bool borders = i->section == TXM_SECTION_STATE_VALID;
    if (s->asked & TXM_ASKED_COMPRESSION && strcmp(i->compression, codec) != 0)
        add(l, "compression %s, not %s", i->compression, codec);
    if (s->asked & TXM_ASKED_TILE && i->tile_w != s->tile_px)
        add(l, "tiles of %u px, not %u", i->tile_w, s->tile_px);
    if (s->asked & TXM_ASKED_BORDERS && borders != s->borders)
        add(l, "with%s a border section", borders ? "" : "out");
    /* Whether a file of four channels could have one cannot be seen without its pixels. */
    if (s->asked & TXM_ASKED_MONO && !s->mono && i->channels == 1 && channels != 1)
        add(l, "stored as one channel");
}

/* A file that cannot be opened is not compared; whether Cycles uses it is decided elsewhere. */
bool txm_made_otherwise(const char *path, const txm_settings *settings, unsigned channels, char *text,
                        size_t text_bytes)
{
    list l = {text, text_bytes, 0};
    txm_tx *tx = NULL;
    if (!settings->asked || txm_tx_open(path, &tx, NULL) != TXM_OK)
        return false;
    compare(txm_tx_info_of(tx), settings, channels, &l);
    txm_tx_close(&tx);
    return l.used > 0;
}
