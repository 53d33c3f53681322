/* SPDX-License-Identifier: Apache-2.0
 * What tells a picture that txmill wrote from one of somebody's own: in the metadata, where the format has any. */
#ifndef TXM_SOURCE_PICTURE_MARK_H
#define TXM_SOURCE_PICTURE_MARK_H

#define TXM_PICTURE_MARK "txmill picture"

#endif
