/* SPDX-License-Identifier: Apache-2.0
 *
 * What the built-in config needs and the syntax of OpenColorIO 2.1 cannot say: tables that are computed, and transforms
 * that only newer versions have.
 */
#ifndef TXM_COLOR_TABLES_H
#define TXM_COLOR_TABLES_H
#include <OpenColorIO/OpenColorIO.h>

/* Replaces file transforms whose src begins with "txmill". A colour space is removed where this version of the library
 * cannot build it. Throws an OCIO exception for a name that is not known. */
OCIO_NAMESPACE::ConstConfigRcPtr txm_fill_tables(const OCIO_NAMESPACE::ConstConfigRcPtr &config);
#endif
