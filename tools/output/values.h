/* SPDX-License-Identifier: Apache-2.0
 *
 * The kinds of arguments of options and commands, used for completion and for advice after a failure.
 */
#ifndef TXM_TOOLS_OUTPUT_VALUES_H
#define TXM_TOOLS_OUTPUT_VALUES_H

/* Kinds of arguments and operands that shells can complete, to be used as `values`. */
#define TXM_VALUES_FILE "<file>"
#define TXM_VALUES_DIR "<dir>"
#define TXM_VALUES_TX "<tx>"                 /* tx files */
#define TXM_VALUES_TX_OR_IMAGE "<tx, image>" /* tx files, or the images that they were made from */
#define TXM_VALUES_IMAGE "<image>"           /* inputs of txmill make: images, scenes */
#define TXM_VALUES_SCENE "<scene>"           /* Blender scenes */
#define TXM_VALUES_LOG "<log>"               /* JSON lines */
#define TXM_VALUES_CONFIG "<config>"         /* OpenColorIO configs */
#define TXM_VALUES_PAGE "<page>"             /* HTML */
#define TXM_VALUES_SPACE "<space>"           /* names of colour spaces */
#endif
