/* SPDX-License-Identifier: Apache-2.0
 *
 * The direct reader of PGM and PPM, plain and binary (P2, P3, P5, P6), with any maximum from 1 to 65535; samples are
 * scaled to the whole range of 8 or 16 bits. It exists in addition to OpenImageIO because that makes many 16-bit
 * samples too small by one or more. Bitmaps and PAM are left to OpenImageIO. The header is read through the same buffer
 * as the pixels, so that a file which is growing or truncated is noticed wherever it ends.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/fail.h"
#include "base/mem.h"
#include "mill/source/readers.h"
#include "mill/source/source_file.h"

typedef struct pnm_source {
    const char *path;
    txm_source_file file;
    bool plain; /* samples are decimal numbers */
    uint32_t width, height, channels, peak;
    uint64_t pixels_at; /* offset in the file */
} pnm_source;

static void close_pnm(void *self)
{
    pnm_source *s = self;
    if (!s)
        return;
    txm_source_file_close(&s->file);
    free(s);
}

/* The next byte, or -1 at the end or if reading failed, which file.sys_errno distinguishes. */
static int peek(pnm_source *s)
{
    return txm_source_file_fill(&s->file) ? s->file.buffer[s->file.pos] : -1;
}

/* The next decimal number, after white space and comments, limited to a value far above any that is valid. A comment
 * extends to the end of its line, and may be between any two numbers. */
static bool next_number(pnm_source *s, uint32_t *out)
{
    int c = peek(s);
    while (c >= 0 && (isspace(c) || c == '#')) {
        bool comment = c == '#';
        do {
            s->file.pos++;
            c = peek(s);
        } while (comment && c >= 0 && c != '\n');
    }
    if (c < '0' || c > '9')
        return false;
    for (*out = 0; c >= '0' && c <= '9'; c = peek(s)) {
        *out = *out < 100000000 ? *out * 10 + (uint32_t)(c - '0') : *out;
        s->file.pos++;
    }
    return true;
}

/* Needs no memory beyond the buffer, so max_memory_bytes does not matter. Rec709 is the encoding in the specification,
 * and what OpenImageIO reports. */
static txm_status open_pnm(const char *path, const txm_source_options *options, txm_source_info *info, void **self,
                           txm_error *err)
{
    char kind[2];
    pnm_source *s = txm_calloc(1, sizeof *s);
    (void)options;
    if (!s)
        return txm_no_memory(err, path);
    s->path = path;
    txm_status status = txm_source_file_open(&s->file, path, true, err);
    if (status == TXM_OK) {
        /* One white space follows the header, then the pixels, which may look like a comment. */
        const bool whole = txm_source_file_get(&s->file, kind, 2) && next_number(s, &s->width) &&
                           next_number(s, &s->height) && next_number(s, &s->peak) && isspace(peek(s));
        if (!whole && s->file.sys_errno)
            status = txm_fail_errno(err, s->file.sys_errno, "%s: cannot be read", path);
        else if (!whole || s->width < 1 || s->height < 1)
            status = txm_fail(err, TXM_STATUS_CORRUPT, "%s: the PNM header is damaged", path);
        else if (s->peak < 1 || s->peak > 65535)
            status =
                txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: samples of up to %u are not read directly", path, s->peak);
        else
            status = txm_source_check_size(path, s->width, s->height, err);
    }
    if (status != TXM_OK) {
        close_pnm(s);
        return status;
    }
    s->file.pos++;
    s->plain = kind[1] < '4';
    s->channels = kind[1] == '3' || kind[1] == '6' ? 3 : 1;
    s->pixels_at = txm_source_file_tell(&s->file);
    info->width = s->width;
    info->height = s->height;
    info->channels = info->file_channels = s->channels;
    info->type = s->peak > 255 ? TXM_TYPE_U16 : TXM_TYPE_U8;
    info->file_alpha = TXM_FILE_ALPHA_SILENT;
    snprintf(info->colorspace_hint, sizeof info->colorspace_hint, "Rec709");
    *self = s;
    return TXM_OK;
}

/* Samples are scaled to the whole range of their type, rounding down; numbers above the maximum count as the maximum.
 * Plain files may end in the middle of a number, binary ones, whose wide samples are big-endian, in the middle of a
 * row.
 */
static txm_status read_pnm(void *self, uint32_t y, uint32_t rows, void *dst, size_t stride_bytes, txm_error *err)
{
    pnm_source *s = self;
    const size_t samples = (size_t)s->width * s->channels, bytes = s->peak > 255 ? 2 : 1;
    const uint32_t most = bytes == 2 ? 65535 : 255; /* times the largest sample, it fits into 32 bits */
    for (uint32_t r = 0; r < rows; r++) {
        uint8_t *row = (uint8_t *)dst + r * stride_bytes;
        bool there = s->plain || txm_source_file_get(&s->file, row, samples * bytes);
        for (size_t i = 0; there && i < samples; i++, row += bytes) {
            uint32_t v;
            if (s->plain)
                there = next_number(s, &v);
            else
                v = bytes == 2 ? txm_load_be16(row) : *row;
            const uint16_t sample = (uint16_t)(there && v < s->peak ? v * most / s->peak : most);
            if (bytes == 2)
                memcpy(row, &sample, 2);
            else
                *row = (uint8_t)sample;
        }
        if (!there) {
            bool ended = peek(s) < 0;
            return s->file.sys_errno ? txm_fail_errno(err, s->file.sys_errno, "%s: row %u", s->path, y + r)
                                     : txm_fail(err, TXM_STATUS_CORRUPT, "%s: row %u: %s", s->path, y + r,
                                                ended ? "truncated: the file ends inside the image"
                                                      : "text where a number should be");
        }
    }
    return TXM_OK;
}

/* Seeking cannot fail here, but the next read can. */
static txm_status rewind_pnm(void *self, txm_error *err)
{
    pnm_source *s = self;
    (void)err;
    txm_source_file_seek(&s->file, s->pixels_at);
    return TXM_OK;
}

const txm_reader_ops txm_pnm_reader = {"pnm", open_pnm, read_pnm, rewind_pnm, close_pnm, NULL, NULL};
