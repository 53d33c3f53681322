/* SPDX-License-Identifier: Apache-2.0
 *
 * Changes in folders, as the system reports them.
 *
 * Elsewhere: macOS has FSEvents, which names folders and leaves it to the reader to look for what changed. Windows has
 * ReadDirectoryChangesW for a whole tree, whose overflow is reported like that of inotify.
 */
#ifndef TXM_BASE_OS_WATCH_H
#define TXM_BASE_OS_WATCH_H
#include <stdbool.h>

typedef struct txm_folder_event {
    int folder;                     /* its number */
    const char *name;               /* in the folder; NULL: the event is about the folder */
    bool is_folder;                 /* the name is that of a folder */
    bool appeared, gone, attribute; /* none of them: the file was written to */
    bool forgotten;                 /* the system no longer watches the folder */
    bool overflow;                  /* events were lost */
} txm_folder_event;

/* A descriptor that has something to read when there are events; -1 and errno. The caller closes it. */
int txm_folders_open(void);
/* The number of a folder, the same for all its paths; -1 and errno, ENOSPC if the system watches no more. */
int txm_folders_add(int fd, const char *path);
void txm_folders_drop(int fd, int folder);
/* Calls `on_event` for each event until there is none or it returns false. Returns 0 or an errno. */
int txm_folders_read(int fd, bool (*on_event)(void *user, const txm_folder_event *event), void *user);
#endif
