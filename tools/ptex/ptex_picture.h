/* SPDX-License-Identifier: Apache-2.0
 * Faces of a Ptex file as a picture: one of them, or all on a sheet. Row 0 of a face, v = 0, is the picture's lowest.
 */
#ifndef TXM_TOOLS_PTEX_PICTURE_H
#define TXM_TOOLS_PTEX_PICTURE_H
#include "txmill/level.h"
#include "txtile/ptex.h"

enum { TXM_PTEX_ALL_FACES = UINT32_MAX };

/* Where a face is on a sheet, px. */
typedef struct txm_ptex_place {
    uint32_t x, y, w, h;
} txm_ptex_place;

/* All faces at a level, 0 to 16: the highest first, in rows that make about a square. A face that is smaller than its
 * level has one texel there. */
typedef struct txm_ptex_sheet {
    txm_ptex_place *places; /* of each face */
    uint32_t width, height;
} txm_ptex_sheet;
txm_status txm_ptex_sheet_lay(const txm_ptex *ptex, uint32_t level, txm_ptex_sheet *out, txm_error *err);
void txm_ptex_sheet_clear(txm_ptex_sheet *sheet);

/* What becomes of channels and values. */
typedef enum txm_ptex_values {
    TXM_PTEX_AS_STORED = 0, /* all channels, in the file's type */
    TXM_PTEX_FOR_VIEWING,   /* colours of 8 bits, with alpha if it follows the colours; floats through the sRGB curve */
    TXM_PTEX_COLOURS        /* the same without alpha */
} txm_ptex_values;

/* A face, USAGE where it has no such level, or all of them as `sheet` lays them; the file is opened with
 * TXM_PTEX_PREMULTIPLY. TOO_LARGE beyond 4 GiB. */
txm_status txm_ptex_face_picture(const txm_ptex *ptex, uint32_t face, uint32_t level, txm_ptex_values values,
                                 txm_level_picture *out, txm_error *err);
txm_status txm_ptex_sheet_picture(const txm_ptex *ptex, const txm_ptex_sheet *sheet, uint32_t level,
                                  txm_ptex_values values, const volatile int *cancel, txm_level_picture *out,
                                  txm_error *err);

/* What txmill extract wants of a file. */
typedef struct txm_ptex_extract {
    uint32_t face; /* or TXM_PTEX_ALL_FACES */
    uint32_t level;
    uint32_t fit_px; /* 0, or: the largest level of which neither side is longer */
    bool raw;
    const char *format; /* extension; NULL: the output's */
} txm_ptex_extract;
txm_status txm_ptex_write_picture(const char *path, const char *output, const txm_ptex_extract *how,
                                  txm_extracted *result, txm_error *err);

/* The smallest level at which the sheet has at most so many texels. */
uint32_t txm_ptex_level_within(const txm_ptex *ptex, uint64_t texels);
#endif
