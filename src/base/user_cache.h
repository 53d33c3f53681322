/* SPDX-License-Identifier: Apache-2.0
 * The folder for what this user's runs remember. */
#ifndef TXM_BASE_USER_CACHE_H
#define TXM_BASE_USER_CACHE_H

#include "txtile/status.h"

/* The path of a file in $XDG_CACHE_HOME/txmill, or ~/.cache/txmill, which need not exist: a new string. NULL if neither
 * variable names an absolute path, or memory is exhausted. */
char *txm_user_cache(const char *name);
/* Replaces such a file, whose folder is created; others see it whole or not at all. */
txm_status txm_user_cache_write(const char *name, const char *text, txm_error *err);
#endif
