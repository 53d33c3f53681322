/* SPDX-License-Identifier: Apache-2.0
 * The folder for what this user's runs remember. */
#ifndef TXM_BASE_USER_CACHE_H
#define TXM_BASE_USER_CACHE_H

/* A new string: $XDG_CACHE_HOME/txmill, or ~/.cache/txmill; the folder need not exist. NULL if neither variable names
 * an absolute path, or memory is exhausted. */
char *txm_user_cache(void);
#endif
