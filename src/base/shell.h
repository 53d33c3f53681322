/* SPDX-License-Identifier: Apache-2.0
 * Words of commands in messages, which are there to be pasted. */
#ifndef TXM_BASE_SHELL_H
#define TXM_BASE_SHELL_H

/* A word as a shell reads it, in quotes if it has other characters than letters, digits and the like; what a terminal
 * cannot show is escaped, in a form that bash, ksh and zsh read. For commands in messages, which are there to be
 * pasted. A new string; NULL when memory is exhausted. */
char *txm_shell_word(const char *word);
/* The same for the name of a file, which must not look like an option. */
char *txm_shell_path(const char *path);
#endif
