/* SPDX-License-Identifier: Apache-2.0
 *
 * What a conversion between two colour spaces leads to, looked at before OpenColorIO builds it.
 *
 * Transforms name other spaces, looks, views and files. The library follows them without looking where they lead: a
 * space that refers to itself, directly or through others, overflows its stack, spaces that each name another one twice
 * take it for ever, and it reads a pipe or /dev/zero to an end that never comes.
 */
#ifndef TXM_COLOR_REFERENCES_H
#define TXM_COLOR_REFERENCES_H
#include <OpenColorIO/OpenColorIO.h>

/* Throws an OCIO exception that says what is wrong with the conversion. What is merely missing is the library's to
 * tell. */
void txm_check_references(const OCIO_NAMESPACE::ConstConfigRcPtr &config, const char *from, const char *to);
#endif
