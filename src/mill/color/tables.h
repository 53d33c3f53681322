/* SPDX-License-Identifier: Apache-2.0
 *
 * What the built-in config needs and the syntax of OpenColorIO 2.1 cannot express: tables that are computed, and
 * transforms that only newer versions support.
 */
#ifndef TXM_COLOR_TABLES_H
#define TXM_COLOR_TABLES_H
#include <OpenColorIO/OpenColorIO.h>

/* Replaces file transforms whose src begins with "txmill". A colour space that this version of the library cannot build
 * is removed. Throws an OCIO exception for an unknown name. */
OCIO_NAMESPACE::ConstConfigRcPtr txm_fill_tables(const OCIO_NAMESPACE::ConstConfigRcPtr &config);
#endif
