/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the page.
 *
 * In: files, one after the other, and a limit on the bytes of pixels. Out: the page, published when complete. Levels
 * are added from the smallest on until the limit is reached; the page says which are missing.
 */
#include "tools/view/view_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tools/page/page.h"
#include "tools/view/view_blocks.h"
#include "tools/view/view_data.h"

struct txm_view_page {
    txm_view_page_options options;
    txm_page *page;
    cJSON *files; /* array of the added files */
    size_t added;
    uint64_t left;     /* bytes left for pixels */
    txm_error failure; /* failure of the page itself, which must then be abandoned */
};

txm_status txm_view_page_begin(const txm_view_page_options *options, txm_view_page **out, txm_error *err)
{
    txm_view_page *page = txm_calloc(1, sizeof *page);
    txm_status status = TXM_OK;
    *out = NULL;
    if (!page)
        return txm_no_memory(err, options->output);
    page->options = *options;
    page->left = options->bytes;
    page->files = cJSON_CreateArray();
    status = txm_page_begin(options->output, &page->page, err);
    if (status)
        txm_view_page_finish(&page, true, NULL);
    *out = page;
    return status;
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

txm_status txm_view_page_add(txm_view_page *page, txm_context *context, const char *path, txm_view_page_file *what,
                             txm_error *err)
{
    txm_info info;
    txm_error own = {0};
    memset(what, 0, sizeof *what);
    txm_status status = txm_info_load(context, NULL, path, true, &info, &own);
    cJSON *object = NULL;
    if (!status) {
        status = txm_view_data(&info, page->options.cancel, &object, &own);
        if (!status) {
            /* Adds levels from the smallest on, while they fit into the file's share of the page. */
            const txm_view_page_options *o = &page->options;
            size_t others = o->files > page->added ? o->files - page->added : 1;
            uint64_t share = page->left / others;
            txm_bytes text = {0};
            bool fits = true;
            what->levels = txm_tx_info_of(info.tx)->levels;
            for (uint32_t l = what->levels; !status && fits && l-- > 0;) {
                text.size = 0;
                status = txm_view_blocks(o->context, info.tx, l, share - what->bytes, o->cancel, &text, &fits, &own);
                if (status || !fits)
                    continue;
                char id[48];
                snprintf(id, sizeof id, "pixels-%zu-%u", page->added, l);
                txm_page_text(page->page, id, text.data, text.size);
                what->embedded[l] = true;
                what->bytes += text.size;
            }
            txm_bytes_free(&text);
            page->left -= what->bytes;
        }
        if (!status)
            txm_view_data_embedded(object, what->embedded, what->levels);
        txm_info_clear(&info);
        /* After opening, only lack of memory or a request to stop can fail, which would apply to the other files
         * too. */
        if (status)
            txm_fail_with(&page->failure, status, &own);
    } else {
        object = txm_view_data_error(path, &own);
    }
    page->added++;
    if (!object || !page->files || !cJSON_AddItemToArray(page->files, object)) {
        cJSON_Delete(object);
        txm_no_memory(&page->failure, page->options.output);
    }
    if (!page->failure.status) /* after a failure to write there is no use in going on */
        txm_page_status(page->page, &page->failure);
    return status ? txm_fail_with(err, status, &own) : TXM_OK;
}

bool txm_view_page_broken(const txm_view_page *page)
{
    return page->failure.status != TXM_OK;
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

txm_status txm_view_page_finish(txm_view_page **p, bool give_up, txm_error *err)
{
    txm_view_page *page = *p;
    *p = NULL;
    txm_status status = page->failure.status;
    if (status) {
        txm_fail_with(err, status, &page->failure);
    } else if (!give_up) {
        status =
            txm_page_end(&page->page, txm_view_data_finish(page->files, page->options.level, page->options.bytes), err);
        page->files = NULL;
    }
    txm_page_abort(&page->page);
    cJSON_Delete(page->files);
    free(page);
    return status;
}
