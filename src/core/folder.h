/* SPDX-License-Identifier: Apache-2.0
 * Making folders. */
#ifndef TXM_CORE_FOLDER_H
#define TXM_CORE_FOLDER_H

/* Creates a folder and its parents; another process may do so at the same time. 0, or an errno. */
int txm_folders_make(const char *path);
#endif
