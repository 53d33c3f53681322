/* SPDX-License-Identifier: Apache-2.0
 * Writes HTML; see html.h. */
#include "cli/html.h"

#include <limits.h>
#include <openssl/evp.h>
#include <stdlib.h>

#include "base/base.h"
#include "cli/say.h"

void stm_html_text(FILE *out, const char *text)
{
    for (size_t n; text && *text; text += n ? n : 1) {
        n = stm_utf8_sequence(text);
        if (*text == '&')
            fputs("&amp;", out);
        else if (*text == '<')
            fputs("&lt;", out);
        else if (*text == '>')
            fputs("&gt;", out);
        else if (*text == '"')
            fputs("&quot;", out);
        else if (*text == '\'')
            fputs("&#39;", out);
        else if (!n || !stm_shown_bytes(text))
            fputs("\xEF\xBF\xBD", out);
        else
            fwrite(text, 1, n, out);
    }
}

txm_status stm_html_digest(FILE *out, const void *data, size_t bytes, txm_error *err)
{
    unsigned char digest[EVP_MAX_MD_SIZE], text[2 * EVP_MAX_MD_SIZE];
    unsigned size = 0;
    if (EVP_Digest(data, bytes, digest, &size, EVP_sha256(), NULL) != 1)
        return stm_no_memory(err, NULL);
    EVP_EncodeBlock(text, digest, (int)size);
    fprintf(out, "'sha256-%s'", text);
    return TXM_OK;
}

/* OpenSSL uses int, and makes four characters from three bytes, plus a zero at the end. */
txm_status stm_html_base64(FILE *out, const void *data, size_t bytes, txm_error *err)
{
    unsigned char *text = bytes < INT_MAX / 2 ? malloc(bytes / 3 * 4 + 5) : NULL;
    if (!text)
        return stm_no_memory(err, NULL);
    EVP_EncodeBlock(text, data, (int)bytes);
    fputs((const char *)text, out);
    free(text);
    return TXM_OK;
}
