/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks what a conversion between two colour spaces refers to, before OpenColorIO builds it. Transforms refer to
 * other spaces, looks, views and files, which the library follows without checks: a space that refers to itself,
 * directly or through others, overflows its stack; spaces that each refer twice to another one take practically
 * forever; and a pipe or /dev/zero is read without end.
 */
#ifndef TXM_COLOR_REFERENCES_H
#define TXM_COLOR_REFERENCES_H
#include <OpenColorIO/OpenColorIO.h>

/* Throws an OCIO exception that says what is wrong with the conversion. The library itself reports what is missing. */
void txm_check_references(const OCIO_NAMESPACE::ConstConfigRcPtr &config, const char *from, const char *to);

/* tables.cpp: replaces file transforms whose src begins with "txmill". A colour space that this version of the library
 * cannot build is removed. Throws an OCIO exception for an unknown name. */
OCIO_NAMESPACE::ConstConfigRcPtr txm_fill_tables(const OCIO_NAMESPACE::ConstConfigRcPtr &config);
#endif
