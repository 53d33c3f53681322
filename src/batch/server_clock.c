/* SPDX-License-Identifier: Apache-2.0
 *
 * Asking a file server for its time.
 *
 * Writes an empty file, reads the time that the server gave it, and removes it. A probe that is left behind by a kill
 * is swept like any other temporary.
 */
#include "batch/server_clock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/owner.h"

bool txm_server_clock(const char *folder, struct timespec *now)
{
    char *probe = txm_owned_path(folder, "clock", ".txm-clock");
    int fd = probe ? open(probe, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    struct stat st;
    bool told = false;
    if (fd >= 0) {
        told = futimens(fd, NULL) == 0 && fstat(fd, &st) == 0;
        if (told)
            *now = st.st_mtim;
        close(fd);
        unlink(probe);
    }
    free(probe);
    return told;
}
