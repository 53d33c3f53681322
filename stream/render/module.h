/* SPDX-License-Identifier: Apache-2.0
 * A module wraps a library that most runs do not need. It is a shared object that exports a table of functions. */
#ifndef STM_STREAM_MODULE_H
#define STM_STREAM_MODULE_H
#include "txtile/status.h"

/* A module's purpose, in the words of its messages. */
typedef struct stm_module {
    const char *file, *symbol;
    const char *lack;    /* what cannot be done without the library: "no window can be opened without SDL" */
    const char *package; /* Debian's package of the library */
} stm_module;

/* The module's table, whose sizes and number the caller checks; the module stays loaded, as threads of its library
 * cannot be unloaded. NULL: NOT_INSTALLED, or NO_MEMORY. */
const void *stm_module_table(const stm_module *module, txm_error *err);
#endif
