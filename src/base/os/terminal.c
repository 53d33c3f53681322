/* SPDX-License-Identifier: Apache-2.0 */
#include "base/os/terminal.h"

#include <sys/ioctl.h>

bool txm_window_size_of(int fd, txm_window_size *out)
{
    struct winsize size = {0};
    const bool known = ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col;
    *out = known ? (txm_window_size){size.ws_col, size.ws_row, size.ws_xpixel, size.ws_ypixel} : (txm_window_size){0};
    return known;
}
