/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the page: its frame and its contents.
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
#include "tools/output/html.h"
#include "tools/view/view_blocks.h"
#include "tools/view/view_data.h"
#include "txmill/out_file.h"

static const uint8_t frame[] = {
#include "view/page.html.inc"
};
static const uint8_t style[] = {
#include "view/view.css.inc"
};
static const uint8_t script[] = {
#include "view/view.js.inc"
};

struct txm_view_page {
    txm_view_page_options options;
    txm_out_file *file;
    FILE *out;    /* stream of `file` */
    size_t at;    /* position of the part of the frame that is not written yet */
    cJSON *files; /* array of the added files */
    size_t added;
    uint64_t left;     /* bytes left for pixels */
    txm_error failure; /* failure of the page itself, which must then be abandoned */
};

/* ---- the frame -------------------------------------------------------------------------------------------------- */

/* Checks for write errors, after which there is no use in going on. */
static void check_output(txm_view_page *page)
{
    fflush(page->out);
    if (!page->failure.status)
        txm_out_file_status(page->file, &page->failure);
}

/* Writes the frame up to a mark, which is skipped, or without a mark the rest of it. The marks are in the frame in
 * the order of the calls. */
static void put_frame(txm_view_page *page, const char *mark)
{
    const uint8_t *from = frame + page->at, *end = NULL;
    if (mark)
        end = memmem(from, sizeof frame - page->at, mark, strlen(mark));
    size_t n = end ? (size_t)(end - from) : sizeof frame - page->at;
    fwrite(from, 1, n, page->out);
    page->at += n + (end ? strlen(mark) : 0);
}

static void put_head(txm_view_page *page)
{
    put_frame(page, "@POLICY@");
    fputs("default-src 'none'; base-uri 'none'; form-action 'none'; style-src ", page->out);
    txm_html_digest(page->out, style, sizeof style);
    fputs("; script-src ", page->out);
    txm_html_digest(page->out, script, sizeof script);
    put_frame(page, "@STYLE@");
    fwrite(style, 1, sizeof style, page->out);
    put_frame(page, "@PIXELS@");
}

/* JSON inside a script element: its text must not end the element or begin a comment. Control characters and those that
 * change the direction of writing, which arrive as escapes, become U+FFFD as in other pages. */
static void put_json(txm_view_page *page, const char *text)
{
    for (; *text; text++)
        if (*text == '<' || *text == '>' || *text == '&') {
            fprintf(page->out, "\\u%04x", (unsigned)*text);
        } else if (*text == '\\' && text[1] == 'u') {
            fputs("\\ufffd", page->out);
            text += 5;
        } else {
            fputc(*text, page->out);
            if (*text == '\\')
                fputc(*++text, page->out);
        }
}

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
    status = txm_out_file_begin(options->output, true, &page->file, err);
    if (status) {
        txm_view_page_finish(&page, true, NULL);
        return status;
    }
    page->out = txm_out_file_stream(page->file);
    put_head(page);
    *out = page;
    return TXM_OK;
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

/* Adds levels from the smallest on, while they fit into the file's share of the page. */
static txm_status put_pixels(txm_view_page *page, txm_tx *tx, txm_view_page_file *what, txm_error *err)
{
    const txm_view_page_options *o = &page->options;
    size_t others = o->files > page->added ? o->files - page->added : 1;
    uint64_t share = page->left / others;
    txm_bytes text = {0};
    txm_status status = TXM_OK;
    bool fits = true;
    what->levels = txm_tx_info_of(tx)->levels;
    for (uint32_t l = what->levels; !status && fits && l-- > 0;) {
        text.size = 0;
        status = txm_view_blocks(o->context, tx, l, share - what->bytes, o->cancel, &text, &fits, err);
        if (status || !fits)
            continue;
        fprintf(page->out, "<script type=\"text/plain\" id=\"pixels-%zu-%u\">", page->added, l);
        fwrite(text.data, 1, text.size, page->out);
        fputs("</script>\n", page->out);
        what->embedded[l] = true;
        what->bytes += text.size;
    }
    txm_bytes_free(&text);
    page->left -= what->bytes;
    return status;
}

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
        if (!status)
            status = put_pixels(page, info.tx, what, &own);
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
    check_output(page);
    return status ? txm_fail_with(err, status, &own) : TXM_OK;
}

bool txm_view_page_broken(const txm_view_page *page)
{
    return page->failure.status != TXM_OK;
}

/* ---- the end ---------------------------------------------------------------------------------------------------- */

static void put_rest(txm_view_page *page)
{
    char *text = txm_view_data_finish(page->files, page->options.level, page->options.bytes);
    page->files = NULL;
    if (!text) {
        txm_no_memory(&page->failure, page->options.output);
        return;
    }
    put_frame(page, "@DATA@");
    put_json(page, text);
    free(text);
    put_frame(page, "@SCRIPT@");
    fwrite(script, 1, sizeof script, page->out);
    put_frame(page, NULL);
    check_output(page);
}

txm_status txm_view_page_finish(txm_view_page **p, bool give_up, txm_error *err)
{
    txm_view_page *page = *p;
    *p = NULL;
    if (!give_up && !page->failure.status)
        put_rest(page);
    txm_status status = page->failure.status;
    if (status)
        txm_fail_with(err, status, &page->failure);
    if (page->file && !give_up && !status)
        status = txm_out_file_commit(&page->file, err);
    txm_out_file_abort(&page->file);
    cJSON_Delete(page->files);
    free(page);
    return status;
}
