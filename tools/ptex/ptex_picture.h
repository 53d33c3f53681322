/* SPDX-License-Identifier: Apache-2.0
 *
 * Faces of a Ptex file as a picture: one of them, or all on a sheet. Row 0 of a face, v = 0, is the picture's lowest.
 */
#ifndef TXM_TOOLS_PTEX_PICTURE_H
#define TXM_TOOLS_PTEX_PICTURE_H
#include "txmill/level.h"
#include "txtile/ptex.h"

enum { TXM_PTEX_ALL_FACES = UINT32_MAX };

/* The position of a face on a sheet, px. */
typedef struct txm_ptex_place {
    uint32_t x, y, w, h;
} txm_ptex_place;

/* A sheet of all faces at a level, 0 to 16: the tallest first, in rows that form roughly a square. A face has at least
 * one texel in each direction. */
typedef struct txm_ptex_sheet {
    txm_ptex_place *places; /* one for each face */
    uint32_t width, height;
} txm_ptex_sheet;
txm_status txm_ptex_sheet_lay(const txm_ptex *ptex, uint32_t level, txm_ptex_sheet *out, txm_error *err);
void txm_ptex_sheet_clear(txm_ptex_sheet *sheet);

/* The conversion of channels and values. */
typedef enum txm_ptex_values {
    TXM_PTEX_AS_STORED = 0, /* all channels, in the file's type */
    TXM_PTEX_FOR_VIEWING, /* 8-bit colours, with alpha if it follows the colours; floats are converted by the sRGB curve
                           */
    TXM_PTEX_COLOURS      /* the same without alpha */
} txm_ptex_values;

/* Renders a face, or all of them as arranged in `sheet`; the file was opened with TXM_PTEX_PREMULTIPLY. USAGE if the
 * face has no such level, TOO_LARGE beyond 4 GiB. */
txm_status txm_ptex_face_picture(const txm_ptex *ptex, uint32_t face, uint32_t level, txm_ptex_values values,
                                 txm_level_picture *out, txm_error *err);
txm_status txm_ptex_sheet_picture(const txm_ptex *ptex, const txm_ptex_sheet *sheet, uint32_t level,
                                  txm_ptex_values values, const volatile int *cancel, txm_level_picture *out,
                                  txm_error *err);

/* The options of `txmill extract` for a file. */
typedef struct txm_ptex_extract {
    uint32_t face; /* a face's number, or TXM_PTEX_ALL_FACES */
    uint32_t level;
    uint32_t fit_px; /* the largest level with no side longer than this; 0: `level` is used */
    bool raw;
    const char *format; /* file extension; NULL: that of the output */
} txm_ptex_extract;
txm_status txm_ptex_write_picture(const char *path, const char *output, const txm_ptex_extract *how,
                                  txm_extracted *result, txm_error *err);

/* The first level, starting from 0, at which the sheet has at most `texels` texels; the last level if there is none. */
uint32_t txm_ptex_level_within(const txm_ptex *ptex, uint64_t texels);
#endif
