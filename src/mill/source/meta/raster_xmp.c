/* SPDX-License-Identifier: Apache-2.0
 *
 * XMP: reads the descriptive fields in a packet of RDF/XML. For each rdf:Description, values are taken from attributes
 * and from the text of elements, also inside RDF's lists, where a later value replaces an earlier one. A packet that
 * is not well-formed counts up to the error. All of this follows OpenImageIO.
 *
 * Expat, which reads scenes, is not used here: it stops at each of nine mistakes that programs make in packets, among
 * them a bare ampersand, a byte of Latin-1, an unknown entity and an attribute that is given twice. In all but two of
 * them the field itself would be lost, where OpenImageIO takes it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "mill/source/meta/raster_meta.h"

/* The most nested elements, and the most pieces of text in one element: joining more would take quadratic time. */
enum { MAX_DEPTH = 64, MAX_PIECES = 64 };

typedef struct span {
    const char *text;
    size_t bytes;
} span;

typedef struct walker {
    const char *p, *end;
    span parents[MAX_DEPTH]; /* names of the open elements */
    int pieces[MAX_DEPTH];   /* number of pieces of text in each so far */
    int depth;
    txm_raster_meta *meta;
    txm_bytes value; /* scratch */
    bool out_of_memory;
} walker;

static const struct {
    const char *name;
    int field;
} properties[] = {
    {"dc:creator", TXM_META_ARTIST},          {"tiff:Artist", TXM_META_ARTIST},
    {"dc:rights", TXM_META_COPYRIGHT},        {"tiff:Copyright", TXM_META_COPYRIGHT},
    {"dc:description", TXM_META_DESCRIPTION}, {"tiff:ImageDescription", TXM_META_DESCRIPTION},
    {"xmp:CreatorTool", TXM_META_SOFTWARE},   {"tiff:Software", TXM_META_SOFTWARE},
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Case is ignored, as in OpenImageIO. */
static bool span_is(span s, const char *name)
{
    return s.bytes == strlen(name) && txm_ncasecmp(s.text, name, s.bytes) == 0;
}

static bool starts(const walker *w, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(w->end - w->p) >= n && memcmp(w->p, word, n) == 0;
}

/* Moves past the next `word`; false if there is none. */
static bool skip_past(walker *w, const char *word)
{
    const char *found = memmem(w->p, (size_t)(w->end - w->p), word, strlen(word));
    if (found)
        w->p = found + strlen(word);
    return found != NULL;
}

/* The character that the reference at `p` denotes, and its length; 0 if it is not a reference: the '&' is then taken
 * literally. */
static size_t reference(const char *p, size_t bytes, unsigned long *c)
{
    static const struct {
        const char *name;
        char c;
    } named[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}};
    const char *semicolon = memchr(p, ';', bytes < 12 ? bytes : 12);
    char *stop;
    for (size_t i = 0; i < sizeof named / sizeof named[0]; i++) {
        size_t n = strlen(named[i].name);
        if (bytes >= n && memcmp(p, named[i].name, n) == 0) {
            *c = (unsigned char)named[i].c;
            return n;
        }
    }
    if (!semicolon || semicolon < p + 3 || p[1] != '#')
        return 0;
    bool hex = p[2] == 'x';
    *c = strtoul(p + 2 + hex, &stop, hex ? 16 : 10);
    return stop == semicolon && *c < 0x110000 ? (size_t)(semicolon - p) + 1 : 0;
}

enum { IS_TEXT, IS_ATTRIBUTE, IS_LITERAL };

/* Appends the decoded text. Ends of lines become one line feed, and white space in an attribute becomes a space; in
 * literal text (CDATA) '&' does not begin a reference. */
static bool decode_references(txm_bytes *out, span raw, int kind)
{
    for (size_t i = 0; i < raw.bytes; i++) {
        unsigned long c = (unsigned char)raw.text[i];
        size_t n = c == '&' && kind != IS_LITERAL ? reference(raw.text + i, raw.bytes - i, &c) : 0;
        bool ok = true;
        if (n) {
            static const unsigned char lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
            const size_t units = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
            char utf8[4];
            for (size_t k = units; k-- > 1; c >>= 6)
                utf8[k] = (char)(0x80 | (c & 0x3f));
            utf8[0] = (char)(lead[units] | c);
            ok = txm_bytes_add(out, utf8, units);
            i += n - 1;
        } else if (c == '\r' && i + 1 < raw.bytes && raw.text[i + 1] == '\n') {
            continue;
        } else if (kind == IS_ATTRIBUTE && is_space((char)c)) {
            ok = txm_bytes_add(out, " ", 1);
        } else {
            ok = txm_bytes_add(out, c == '\r' ? "\n" : &raw.text[i], 1);
        }
        if (!ok)
            return false;
    }
    return true;
}

static int field_of(span name)
{
    for (size_t i = 0; i < sizeof properties / sizeof properties[0]; i++)
        if (span_is(name, properties[i].name))
            return properties[i].field;
    return -1;
}

/* A value that was cut short for lack of memory is not stored, and nothing that follows makes up for it. */
static void set_field(walker *w, int field, bool whole)
{
    /* An empty byte string may have no data yet. */
    const char *value = w->value.size ? w->value.data : "";
    if (!whole || !txm_raster_meta_set_bytes(w->meta, field, value, w->value.size))
        w->out_of_memory = true;
}

/* Text belongs to the innermost element that is not one of RDF's lists and their items, which only wrap it. Pieces of
 * text in one element are joined. */
static void add_xmp_text(walker *w, span text, int kind)
{
    int field = -1;
    for (int i = w->depth; i-- > 0;)
        if (!span_is(w->parents[i], "rdf:Bag") && !span_is(w->parents[i], "rdf:Seq") &&
            !span_is(w->parents[i], "rdf:Alt") && !span_is(w->parents[i], "rdf:li")) {
            field = field_of(w->parents[i]);
            break;
        }
    if (field < 0 || w->pieces[w->depth - 1] == MAX_PIECES)
        return;
    int pieces = w->pieces[w->depth - 1]++;
    const char *before = w->meta->fields[field];
    w->value.size = 0;
    const bool joined = !pieces || !before || (txm_bytes_puts(&w->value, before) && txm_bytes_puts(&w->value, ";"));
    set_field(w, field, joined && decode_references(&w->value, text, kind));
}

static span name_at(walker *w)
{
    const char *from = w->p;
    while (w->p < w->end && !is_space(*w->p) && !strchr("=/><\"'", *w->p))
        w->p++;
    return (span){from, (size_t)(w->p - from)};
}

static void skip_spaces(walker *w)
{
    while (w->p < w->end && is_space(*w->p))
        w->p++;
}

static bool walk_attribute(walker *w)
{
    span name = name_at(w), value;
    skip_spaces(w);
    if (!name.bytes || w->p == w->end || *w->p++ != '=')
        return false;
    skip_spaces(w);
    if (w->p == w->end || (*w->p != '"' && *w->p != '\''))
        return false;
    char quote[2] = {*w->p++, 0};
    value.text = w->p;
    if (!skip_past(w, quote))
        return false;
    value.bytes = (size_t)(w->p - 1 - value.text);
    const int field = field_of(name);
    w->value.size = 0;
    if (field >= 0) /* XMP may state properties as attributes of rdf:Description */
        set_field(w, field, decode_references(&w->value, value, IS_ATTRIBUTE));
    const char *behind = w->p;
    skip_spaces(w);
    return w->p > behind || starts(w, ">") || starts(w, "/>");
}

static bool walk_next(walker *w)
{
    const char *from = w->p;
    if (*w->p != '<') {
        skip_spaces(w);
        const char *tag = memchr(w->p, '<', (size_t)(w->end - w->p));
        bool blank = w->p == w->end || w->p == tag;
        w->p = tag ? tag : w->end;
        if (!blank)
            add_xmp_text(w, (span){from, (size_t)(w->p - from)}, IS_TEXT);
        return true;
    }
    if (starts(w, "<!--"))
        return skip_past(w, "-->");
    if (starts(w, "<![CDATA[")) {
        from += strlen("<![CDATA[");
        bool closed = skip_past(w, "]]>");
        if (closed && w->p - 3 > from)
            add_xmp_text(w, (span){from, (size_t)(w->p - 3 - from)}, IS_LITERAL);
        return closed;
    }
    if (starts(w, "<?"))
        return skip_past(w, "?>");
    if (starts(w, "</")) {
        /* Elements must close in order; otherwise the packet ends here. */
        w->p += 2;
        const span name = name_at(w);
        skip_spaces(w);
        if (!w->depth || w->p == w->end || *w->p++ != '>')
            return false;
        const span open = w->parents[--w->depth];
        return open.bytes == name.bytes && memcmp(open.text, name.text, name.bytes) == 0;
    }
    w->p++;
    const span name = name_at(w);
    skip_spaces(w);
    while (w->p < w->end && *w->p != '>' && *w->p != '/')
        if (!walk_attribute(w) || w->out_of_memory)
            return false;
    if (!name.bytes || w->depth == MAX_DEPTH)
        return false;
    if (starts(w, "/>")) {
        w->p += 2;
        return true;
    }
    w->parents[w->depth] = name;
    w->pieces[w->depth++] = 0;
    return w->p < w->end && *w->p++ == '>';
}

/* Finds each rdf:Description by its text, since what surrounds it varies between programs. */
bool txm_raster_meta_add_xmp(txm_raster_meta *meta, const char *packet, size_t bytes)
{
    static const char begin[] = "<rdf:Description", end[] = "</rdf:Description>";
    const char *stop = packet + bytes;
    walker w = {.meta = meta};
    while (!w.out_of_memory) {
        w.p = memmem(packet, (size_t)(stop - packet), begin, sizeof begin - 1);
        packet = w.p ? memmem(w.p, (size_t)(stop - w.p), end, sizeof end - 1) : NULL;
        if (!packet)
            break;
        packet += sizeof end - 1;
        w.end = packet;
        w.depth = 0;
        while (w.p < w.end && !w.out_of_memory && walk_next(&w))
            ;
    }
    txm_bytes_free(&w.value);
    return !w.out_of_memory;
}
