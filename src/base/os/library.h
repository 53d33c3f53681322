/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared libraries that are loaded while the program runs, and stay: drivers and large libraries do not survive being
 * unloaded.
 *
 * Elsewhere: macOS has the same calls. Windows has LoadLibraryEx, GetProcAddress, GetModuleHandleEx and FormatMessage.
 */
#ifndef TXM_BASE_OS_LIBRARY_H
#define TXM_BASE_OS_LIBRARY_H
#include <limits.h>
#include <stdbool.h>

/* Loads a library by its path or, without '/', its name. NULL, and *why is a text that is valid until this thread's
 * next call. Its symbols are found by txm_library_find alone. */
void *txm_library_open(const char *file, const char **why);
void *txm_library_find(void *library, const char *name, const char **why);
/* For a library that was just opened and is not what it should be. */
void txm_library_refuse(void *library);

/* The path of the library or program that holds this address, with links resolved; false if it is the program, whose
 * name in the system depends on how it was started, or unknown. */
bool txm_library_at(const void *address, char out[PATH_MAX]);
/* The path of the running program, with links resolved; false and "" if it is unknown. */
bool txm_program_path(char out[PATH_MAX]);
#endif
