/* SPDX-License-Identifier: Apache-2.0
 *
 * Conforming: rows as the source delivers them become rows as level 0 stores them - associated alpha, one channel or
 * RGBA, converted to scene-linear where the colour space asks for it, nothing non-finite.
 */
#ifndef TXM_CONVERT_CONFORM_H
#define TXM_CONVERT_CONFORM_H
#include "mill/source/source.h"
#include "tile/ops/ops.h"
#include "txmill/color.h"
#include "txtile/settings.h"

typedef struct txm_conform {
    const txm_ops *ops;
    const txm_color_space *space; /* converted by OCIO where not NULL */
    uint32_t width;
    uint32_t src_channels, channels; /* delivered by the source; stored */
    txm_type src_type, type;
    bool associate;  /* multiply colour by alpha */
    bool set_opaque; /* alpha type `ignore` */
    bool divide;     /* colour conversion runs on straight colour */
} txm_conform;

/* What has to be done for this source under these settings; `alpha` is resolved. */
txm_conform txm_conform_plan(const txm_source_info *info, const txm_color_space *space, txm_alpha alpha,
                             const txm_ops *ops);

/* The colour space as the tx file names it: its class, or the name that it goes by where it is converted, alias or not.
 * Cycles takes tiled images that its own tx writer made for scene-linear where
 * they would be converted: integers become half all the same, values stay. */
const char *txm_conform_detected(const txm_source_info *info, const txm_color_space *space, const char *named);

/* Whether rows can be read straight into their place: nothing changes their layout. */
bool txm_conform_in_place(const txm_conform *conform);

/* Floats of scratch memory that one call of txm_conform_rows needs. */
size_t txm_conform_scratch(const txm_conform *conform);

/* Conforms `rows` rows; src may be dst when txm_conform_in_place. Thread-safe with separate scratch. */
void txm_conform_rows(const txm_conform *conform, const void *src, size_t src_stride, void *dst, size_t dst_stride,
                      uint32_t rows, float *scratch);
#endif
