/* SPDX-License-Identifier: Apache-2.0
 * Marks the functions that the shared libraries export; all others are hidden. */
#ifndef TXTILE_EXPORT_H
#define TXTILE_EXPORT_H

/* Marks a function that programs may call. */
#if defined __GNUC__
#define TXM_API __attribute__((visibility("default")))
#else
#define TXM_API
#endif
#endif
