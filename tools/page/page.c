/* SPDX-License-Identifier: Apache-2.0 Writes pages; see page.h. */
#include "tools/page/page.h"

#include <limits.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tools/output/json.h"
#include "txmill/out_file.h"

/* Ends with a zero, as text. */
static const unsigned char shell_bytes[] = {
#include "page/page.html.inc"
    0};
static const char *const shell = (const char *)shell_bytes;
static const char mark[] = "@DATA@\n";

struct txm_page {
    const char *path; /* borrowed */
    txm_out_file *file;
    FILE *out;
};

txm_status txm_page_begin(const char *output, txm_page **out, txm_error *err)
{
    txm_page *page = *out = txm_calloc(1, sizeof *page);
    txm_status status = page ? txm_out_file_begin(output, true, &page->file, err) : txm_no_memory(err, output);
    if (status != TXM_OK) {
        txm_page_abort(out);
        return status;
    }
    page->path = output;
    page->out = txm_out_file_stream(page->file);
    fwrite(shell, 1, (size_t)(strstr(shell, mark) - shell), page->out);
    return TXM_OK;
}

cJSON *txm_page_data(const char *kind)
{
    cJSON *o = cJSON_CreateObject();
    txm_json_text(o, "page", kind);
    txm_json_text(o, "program", "txmill " TXM_VERSION);
    return o;
}

void txm_page_text(txm_page *page, const char *id, const char *text, size_t bytes)
{
    fprintf(page->out, "<script type=\"text/plain\" id=\"%s\">", id);
    fwrite(text, 1, bytes, page->out);
    fputs("</script>\n", page->out);
}

/* The name selects the format and is that of failures; no such file is written. OpenSSL uses int, and makes four
 * characters from three bytes, plus a zero at the end. */
txm_status txm_page_picture(txm_page *page, const char *id, const txm_picture *picture, txm_error *err)
{
    unsigned char *png = NULL;
    size_t bytes = 0;
    char name[512];
    snprintf(name, sizeof name, "%.500s.png", page->path);
    txm_status status = txm_picture_encode(name, picture, &png, &bytes, err);
    unsigned char *text = !status && bytes < INT_MAX / 2 ? malloc(bytes / 3 * 4 + 5) : NULL;
    if (text)
        txm_page_text(page, id, (char *)text, (size_t)EVP_EncodeBlock(text, png, (int)bytes));
    else if (!status)
        status = txm_no_memory(err, NULL);
    free(text);
    free(png);
    return status;
}

txm_status txm_page_status(const txm_page *page, txm_error *err)
{
    fflush(page->out);
    return txm_out_file_status(page->file, err);
}

/* JSON inside a script element must not end the element or begin a comment. Control characters and those that change
 * the direction of writing, which arrive as escapes, become U+FFFD. */
txm_status txm_page_end(txm_page **page, cJSON *data, txm_error *err)
{
    FILE *out = (*page)->out;
    char *text = txm_json_take(data);
    if (!text) {
        txm_page_abort(page);
        return txm_no_memory(err, NULL);
    }
    fputs("<script type=\"application/json\" id=\"data\">", out);
    for (const char *c = text; *c; c++)
        if (strchr("<>&", *c)) {
            fprintf(out, "\\u%04x", (unsigned)*c);
        } else if (*c == '\\' && c[1] == 'u') {
            fputs("\\ufffd", out);
            c += 5;
        } else {
            fputc(*c, out);
            if (*c == '\\')
                fputc(*++c, out);
        }
    free(text);
    fputs("</script>\n", out);
    fputs(strstr(shell, mark) + strlen(mark), out);
    const txm_status status = txm_out_file_commit(&(*page)->file, err);
    txm_page_abort(page);
    return status;
}

void txm_page_abort(txm_page **page)
{
    if (*page)
        txm_out_file_abort(&(*page)->file);
    free(*page);
    *page = NULL;
}
