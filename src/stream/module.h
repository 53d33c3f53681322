/* SPDX-License-Identifier: Apache-2.0
 * Modules: libraries that most runs do not need, each behind a table of functions in a shared object of its own. */
#ifndef TXM_STREAM_MODULE_H
#define TXM_STREAM_MODULE_H
#include "txtile/status.h"

/* What a module is for, as its messages say it. */
typedef struct txm_module {
    const char *file, *symbol;
    const char *lack;    /* what cannot be done without the library: "rays cannot be traced without Embree" */
    const char *package; /* Debian's package of the library */
} txm_module;

/* The module's table, whose sizes and number the caller checks; the module stays loaded, as threads of its library
 * cannot be unloaded. NULL: UNSUPPORTED, or NO_MEMORY. */
const void *txm_module_table(const txm_module *module, txm_error *err);
#endif
