/* SPDX-License-Identifier: Apache-2.0
 *
 * Scans a config event by event, without building a tree, before OpenColorIO parses it. The library's parser builds
 * and then walks a tree, following aliases: a few lines of nested aliases, or a megabyte of brackets, would take
 * gigabytes or overflow its stack. A text that passes is small when written out in full: depth, number of nodes with
 * aliases written out, and number of anchors are bounded, far above those of real configs. Failures name the line.
 */
#include "mill/color/scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "mill/color/tree.h"

typedef struct anchor {
    char *name;
    size_t nodes; /* number of nodes inside a finished node; 0 while it is open, so that it cannot contain itself */
} anchor;

typedef struct frame {
    size_t nodes, items;
    int anchor; /* index, -1: none */
} frame;

typedef struct scanner {
    frame stack[TXM_CONFIG_MAX_DEPTH + 1]; /* frame 0 is the document */
    int depth;
    anchor anchors[TXM_CONFIG_MAX_ANCHORS];
    int anchor_count;
    bool version_next; /* the last scalar was the key of the profile version */
    txm_config_scan found;
} scanner;

bool txm_config_parse_version(const char *text, unsigned *major, unsigned *minor)
{
    size_t digits = strspn(text, "0123456789");
    const char *rest = text + digits;
    if (digits == 0 || digits > 4)
        return false;
    *major = (unsigned)strtoul(text, NULL, 10);
    *minor = 0;
    if (*rest == 0)
        return true;
    if (*rest++ != '.' || strspn(rest, "0123456789") != strlen(rest) || strlen(rest) > 4 || !*rest)
        return false;
    *minor = (unsigned)strtoul(rest, NULL, 10);
    return true;
}

static size_t line_of(yaml_mark_t mark)
{
    return mark.line + 1;
}

static txm_status count_into_parent(scanner *s, size_t nodes, size_t line, txm_error *err)
{
    frame *f = &s->stack[s->depth];
    f->nodes += nodes;
    f->items++;
    /* A mapping has two nodes per entry. */
    if (f->nodes > TXM_CONFIG_MAX_NODES || f->items > 2 * TXM_CONFIG_MAX_ITEMS)
        return txm_fail(err, TXM_STATUS_CONFIG, "line %zu: more entries than any OCIO config has", line);
    return TXM_OK;
}

/* Registers an anchor; a name that is used again becomes a new anchor, as YAML defines. */
static txm_status open_anchor(scanner *s, const yaml_char_t *name, size_t line, int *index, txm_error *err)
{
    *index = -1;
    if (!name)
        return TXM_OK;
    if (s->anchor_count == TXM_CONFIG_MAX_ANCHORS)
        return txm_fail(err, TXM_STATUS_CONFIG, "line %zu: more than %d anchors", line, TXM_CONFIG_MAX_ANCHORS);
    anchor *a = &s->anchors[s->anchor_count];
    a->nodes = 0;
    if (!(a->name = txm_strdup((const char *)name)))
        return txm_no_memory(err, NULL);
    *index = s->anchor_count++;
    return TXM_OK;
}

/* Depth is bounded because parsers are recursive. */
static txm_status open_container(scanner *s, const yaml_char_t *anchor_name, size_t line, txm_error *err)
{
    int index;
    if (s->depth == TXM_CONFIG_MAX_DEPTH)
        return txm_fail(err, TXM_STATUS_CONFIG, "line %zu: nested deeper than %d levels", line, TXM_CONFIG_MAX_DEPTH);
    txm_status status = open_anchor(s, anchor_name, line, &index, err);
    if (status == TXM_OK)
        s->stack[++s->depth] = (frame){.nodes = 1, .anchor = index};
    return status;
}

/* An alias counts as all that it refers to, since nested aliases multiply. */
static txm_status alias(scanner *s, const yaml_char_t *name, size_t line, txm_error *err)
{
    for (int i = s->anchor_count - 1; i >= 0; i--) {
        if (strcmp(s->anchors[i].name, (const char *)name) != 0)
            continue;
        if (s->anchors[i].nodes == 0)
            return txm_fail(err, TXM_STATUS_CONFIG, "line %zu: *%.100s is inside the node that it refers to", line,
                            (const char *)name);
        return count_into_parent(s, s->anchors[i].nodes, line, err);
    }
    return txm_fail(err, TXM_STATUS_CONFIG, "line %zu: *%.100s refers to an anchor that does not exist", line,
                    (const char *)name);
}

static txm_status handle(scanner *s, const yaml_event_t *event, txm_error *err)
{
    const size_t line = line_of(event->start_mark);
    const char *value = (const char *)event->data.scalar.value;
    txm_status status;
    frame closed;
    int index;
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        if (s->version_next && s->depth == 1)
            txm_config_parse_version(value, &s->found.major, &s->found.minor);
        /* Keys of the root mapping are at depth 1, before their values. */
        s->version_next = s->depth == 1 && s->stack[1].items % 2 == 0 && strcmp(value, "ocio_profile_version") == 0;
        status = open_anchor(s, event->data.scalar.anchor, line, &index, err);
        if (index >= 0)
            s->anchors[index].nodes = 1;
        return status == TXM_OK ? count_into_parent(s, 1, line, err) : status;
    case YAML_ALIAS_EVENT:
        return alias(s, event->data.alias.anchor, line, err);
    case YAML_SEQUENCE_START_EVENT:
        return open_container(s, event->data.sequence_start.anchor, line, err);
    case YAML_MAPPING_START_EVENT:
        return open_container(s, event->data.mapping_start.anchor, line, err);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        /* An anchor gets the size of its node once that is complete. */
        closed = s->stack[s->depth--];
        if (closed.anchor >= 0)
            s->anchors[closed.anchor].nodes = closed.nodes;
        return count_into_parent(s, closed.nodes, line, err);
    default:
        return TXM_OK;
    }
}

txm_status txm_config_scan_text(const char *text, size_t size_bytes, txm_config_scan *out, txm_error *err)
{
    yaml_parser_t parser;
    bool done = false;
    txm_status status = TXM_OK;
    scanner *s = txm_calloc(1, sizeof *s);
    if (!s || !yaml_parser_initialize(&parser)) {
        free(s);
        return txm_no_memory(err, NULL);
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, size_bytes);
    while (status == TXM_OK && !done) {
        yaml_event_t event;
        if (!yaml_parser_parse(&parser, &event)) {
            status = txm_yaml_lacks_memory(&parser)
                         ? txm_no_memory(err, NULL)
                         : txm_fail(err, TXM_STATUS_CONFIG, "line %zu: invalid YAML: %s", line_of(parser.problem_mark),
                                    parser.problem ? parser.problem : "unreadable");
            break;
        }
        status = handle(s, &event, err);
        done = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    for (int i = 0; i < s->anchor_count; i++)
        free(s->anchors[i].name);
    if (status == TXM_OK)
        *out = s->found;
    free(s);
    return status;
}
