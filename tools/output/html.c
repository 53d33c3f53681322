/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes HTML.
 *
 * In: text from file names, metadata and messages. Out: the same, with every character escaped that has a meaning in
 * HTML.
 */
#include "tools/output/html.h"

#include <limits.h>
#include <openssl/evp.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "tools/output/say.h"

/* Bytes that are not UTF-8, and characters that change the direction of writing, become U+FFFD, so that the page is
 * valid and readable whatever a file is called. */
void txm_html_text(FILE *out, const char *text)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    for (; text && *text;) {
        size_t n = txm_utf8_sequence(text);
        unsigned char c = (unsigned char)*text;
        if (c == '&')
            fputs("&amp;", out);
        else if (c == '<')
            fputs("&lt;", out);
        else if (c == '>')
            fputs("&gt;", out);
        else if (c == '"')
            fputs("&quot;", out);
        else if (c == '\'')
            fputs("&#39;", out);
        else if (!n || !txm_shown_bytes(text))
            fputs(replacement, out);
        else
            fwrite(text, 1, n, out);
        text += n ? n : 1;
    }
}

/* For the page's security policy: the browser runs only the script with this digest, whatever a file name contains. */
void txm_html_digest(FILE *out, const void *data, size_t bytes)
{
    unsigned char digest[TXM_SHA256_BYTES], text[2 * TXM_SHA256_BYTES];
    txm_sha256_of(data, bytes, digest);
    EVP_EncodeBlock(text, digest, sizeof digest);
    fprintf(out, "'sha256-%s'", text);
}

/* OpenSSL uses int, and makes four characters from three bytes, plus a zero at the end. */
txm_status txm_html_base64(FILE *out, const void *data, size_t bytes, txm_error *err)
{
    unsigned char *text = bytes < INT_MAX / 2 ? malloc(bytes / 3 * 4 + 5) : NULL;
    if (!text)
        return txm_no_memory(err, NULL);
    EVP_EncodeBlock(text, data, (int)bytes);
    fputs((const char *)text, out);
    free(text);
    return TXM_OK;
}
