/* SPDX-License-Identifier: Apache-2.0
 *
 * The window's module, loaded once. See window_module.h.
 */
#include "render/window.h"

#include "base/base.h"
#include "render/module.h"

static const stm_window_table *load_window_module(txm_error *err)
{
    static const stm_module module = {"txmill-sdl.so", STM_WINDOW_SYMBOL, "a window cannot be opened without SDL 2",
                                      "libsdl2-ttf-2.0-0 libfontconfig1"};
    const stm_window_table *t = stm_module_table(&module, err);
    if (t && (t->abi != STM_WINDOW_ABI || t->event_bytes != sizeof(stm_window_event) ||
              t->image_bytes != sizeof(stm_window_image))) {
        stm_fail(err, TXM_STATUS_UNSUPPORTED, "%s is from another build", module.file);
        return NULL;
    }
    return t;
}

txm_status stm_screen_open(const char *title, uint32_t width, uint32_t height, stm_screen *out, txm_error *err)
{
    char why[256] = "";
    txm_error own = {0};
    txm_error_clear(err);
    *out = (stm_screen){.call = load_window_module(&own)};
    if (!out->call)
        return stm_fail_as(err, &own);
    out->data = out->call->open(title, width, height, why, sizeof why);
    if (!out->data)
        return stm_fail(err, TXM_STATUS_UNSUPPORTED,
                        "no window can be opened: %s; run it on a desktop, or over ssh -X. 'txmill stream play' makes "
                        "the same pictures without a window",
                        why);
    return TXM_OK;
}

void stm_screen_close(stm_screen *s)
{
    if (s && s->data) {
        s->call->close(s->data);
        s->data = NULL;
    }
}
