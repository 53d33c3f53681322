/* SPDX-License-Identifier: Apache-2.0
 *
 * The metadata of a tx file as text, shared by the TIFF and the EXR writer.
 *
 * Where each entry is stored:
 *
 *   meaning                  TIFF                                      EXR string attribute
 *   source                   DocumentName, in Blender's wording        blender:SourceFile
 *   space, alpha, matrix     the same                                  blender:SourceColorSpace, :SourceAlpha,
 *                                                                      :XYZToSceneLinear
 *   SHA-1, colours           words of ImageDescription                 oiio:SHA-1, :AverageColor, :ConstantColor
 *   requested colour space   word txmill:ColorSpace of the same        txmill:ColorSpace
 *   releases of Blender      word txmill:Blender of the same           txmill:Blender
 *   limit of its sides       word txmill:Limit of the same             txmill:Limit
 *   content of the image     word txmill:Content of the same           txmill:Content
 *   well-known attributes    their tag (Copyright, Artist, Make ...)   their OpenEXR name (owner, comments ...)
 *   all other attributes     words NAME="value" of ImageDescription    their own name
 *
 * Readers pick the words that they support from ImageDescription and ignore the rest, as they ignore unknown EXR
 * attributes. A description from the source comes first. Attributes whose name belongs to the container or to the
 * entries above are left out, because a copied `compression` or `Software` would be wrong for the new file.
 */
#ifndef TXM_WRITE_WRITER_METADATA_H
#define TXM_WRITE_WRITER_METADATA_H
#include "base/bytes.h"
#include "mill/write/writer.h"

enum {
    TXM_DATE_BYTES = 20,  /* "2026:11:21 02:04:54" and the NUL */
    TXM_LIMIT_BYTES = 12, /* "1048576" and the NUL */
    TXM_COLOR_BYTES = 64, /* four numbers of "%.6g", commas, NUL */
    /* The largest total of average and constant colour as words or attributes; unused room is padded. */
    TXM_LATE_BYTES = 2 * TXM_COLOR_BYTES
};

const char *txm_tx_texture_format(const txm_tx_metadata *m);
const char *txm_tx_wrap_modes(const txm_tx_metadata *m);

/* The same with "" in place of texts that are NULL. */
txm_tx_metadata txm_metadata_complete(const txm_tx_metadata *m);

void txm_metadata_date(time_t t, char out[TXM_DATE_BYTES]);

/* "0.5,0.25,0.75,1": `channels` numbers as Blender prints them. */
void txm_metadata_color(const float *color, uint32_t channels, char out[TXM_COLOR_BYTES]);

bool txm_metadata_document_name(const txm_tx_metadata *m, txm_bytes *out);

/* What only txmill writes about a file: a word of TIFF's description and an attribute of EXR. */
typedef struct txm_own_word {
    const char *name, *value;
} txm_own_word;
enum { TXM_OWN_WORDS = 5 };
/* The texts of an EXR file in Blender's order, except attributes of the source and what is known last. The place of the
 * density has no value: it is stored in several attributes. */
typedef struct txm_exr_texts {
    txm_own_word words[11 + TXM_OWN_WORDS];
    size_t count;
    char date[TXM_DATE_BYTES], limit[TXM_LIMIT_BYTES];
} txm_exr_texts;
void txm_metadata_exr_texts(const txm_tx_metadata *m, uint32_t channels, txm_exr_texts *out);
bool txm_metadata_description(const txm_tx_metadata *m, const txm_tx_summary *s, uint32_t channels, txm_bytes *out);

/* The TIFF tag for an attribute; 0: none (it becomes a word of ImageDescription). */
uint32_t txm_metadata_tiff_tag(const char *name);
/* The name of an attribute in EXR. */
const char *txm_metadata_exr_name(const char *name);
/* Whether the attribute is left out because its name belongs to the container or to txmill. */
bool txm_metadata_is_reserved(const char *name);
#endif
