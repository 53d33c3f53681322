/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads a config that is newer than the library. A single unknown style makes a whole config fail, so whatever
 * textures do not need is removed first: displays, views, looks. If that is not enough, every colour space, view
 * transform and file rule is tried separately; those that the library refuses, or would read only in part, are left
 * out and listed with its reason. The library itself decides, so that no list of what each version supports is needed.
 */
#include "mill/color/reduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "mill/color/tree.h"

typedef struct reduction {
    txm_tree tree;
    int root;
    const char *folder;
    txm_color_missing_list *missing;
    txm_bytes sections, rules, spaces; /* names of what was left out, separated by commas */
    bool lenient; /* the library warns of the config as such, so warnings say nothing about its items */
} reduction;

/* The keys of a config and of a colour space that textures need. Newer keys at these two levels only describe. */
static const char config_keys[] =
    " ocio_profile_version name description environment search_path strictparsing family_separator luma roles "
    "file_rules colorspaces display_colorspaces inactive_colorspaces view_transforms default_view_transform ";
static const char space_keys[] =
    " name aliases family equalitygroup bitdepth description isdata categories encoding allocation allocationvars "
    "to_reference from_reference to_scene_reference from_scene_reference to_display_reference from_display_reference ";

static bool note_name(txm_bytes *names, const char *name)
{
    return txm_bytes_printf(names, "%s%s", names->size ? ", " : "", name ? name : "?");
}

/* Drops the entries of a mapping that are not in `words`; their keys are added to `names`, if given. */
static bool drop_others(reduction *r, int mapping, const char *words, txm_bytes *names)
{
    for (size_t i = 0, n = txm_tree_count(&r->tree, mapping); i < n; i++) {
        int key = 0, value = txm_tree_item(&r->tree, mapping, i, &key);
        const char *word = txm_tree_text(&r->tree, key);
        bool listed = false;
        for (const char *at = word && *word ? strstr(words, word) : NULL; at; at = strstr(at + 1, word))
            listed |= at[-1] == ' ' && at[strlen(word)] == ' ';
        if (listed)
            continue;
        txm_tree_drop(&r->tree, value, true);
        if (names && !note_name(names, word))
            return false;
    }
    return true;
}

/* Whether a colour space of a list has the name `name`, or a role has it, to which rules may refer. */
static bool name_taken(reduction *r, int list, const char *name)
{
    for (size_t i = 0, n = txm_tree_count(&r->tree, list); i < n; i++) {
        int key = 0, space = txm_tree_item(&r->tree, list, i, &key);
        int aliases = txm_tree_value(&r->tree, space, "aliases");
        const char *own = txm_tree_text(&r->tree, key ? key : txm_tree_value(&r->tree, space, "name"));
        if (own && txm_casecmp(own, name) == 0)
            return true;
        for (size_t k = 0, m = txm_tree_count(&r->tree, aliases); k < m; k++) {
            const char *alias = txm_tree_text(&r->tree, txm_tree_item(&r->tree, aliases, k, NULL));
            if (alias && txm_casecmp(alias, name) == 0)
                return true;
        }
    }
    return false;
}

/* Newer libraries accept interop ids as names of spaces; an alias gives the same effect in this one. */
static bool prepare_spaces(reduction *r, const char *section)
{
    const char *const named[] = {"roles", "colorspaces", "display_colorspaces"};
    int list = txm_tree_value(&r->tree, r->root, section);
    for (size_t i = 0, n = txm_tree_count(&r->tree, list); i < n; i++) {
        int space = txm_tree_item(&r->tree, list, i, NULL);
        const char *id = txm_tree_text(&r->tree, txm_tree_value(&r->tree, space, "interop_id"));
        /* "unknown" denotes no space, and "data" is usually a role. */
        bool wanted = id && *id && strcmp(id, "unknown") != 0;
        for (size_t k = 0; wanted && k < sizeof named / sizeof *named; k++)
            wanted = !name_taken(r, txm_tree_value(&r->tree, r->root, named[k]), id);
        if (wanted && !txm_tree_append(&r->tree, space, "aliases", id))
            return false;
        drop_others(r, space, space_keys, NULL);
    }
    return true;
}

/* Writes the tree in its current state and parses it, which takes milliseconds for most configs. */
static txm_status load_reduced(reduction *r, bool strict, txm_ocio **out, txm_error *err)
{
    txm_bytes text = {0};
    txm_status status = txm_tree_write(&r->tree, &text, err);
    if (status == TXM_OK)
        status = txm_ocio_from_text(text.data, text.size, r->folder, strict, out, err);
    txm_bytes_free(&text);
    return status;
}

static txm_status try(reduction *r, txm_error *why)
{
    txm_ocio *ocio = NULL;
    txm_status status = load_reduced(r, !r->lenient, &ocio, why);
    txm_ocio_free(&ocio);
    return status;
}

static char *copy_text(reduction *r, int mapping, const char *key)
{
    const char *text = txm_tree_text(&r->tree, txm_tree_value(&r->tree, mapping, key));
    return txm_strdup(text ? text : "");
}

/* Lists a colour space that was refused, with the library's message without its preamble and the line number, which is
 * that of a generated text. */
static bool add_missing(reduction *r, int space, size_t before, const char *message)
{
    static const char *const preambles[] = {"profile failed. ", "parsing failed: ", "Warning]: ", "At line "};
    int aliases = txm_tree_value(&r->tree, space, "aliases");
    size_t n = txm_tree_count(&r->tree, aliases), used = 0;
    unsigned major, minor;
    txm_color_missing *m = txm_color_missing_add(r->missing);
    if (!m)
        return false;
    for (size_t i = 0; i < sizeof preambles / sizeof *preambles; i++) {
        const char *at = strstr(message, preambles[i]);
        message = at ? at + strlen(preambles[i]) : message;
    }
    const size_t number = strspn(message, "0123456789");
    if (number && strncmp(message + number, ", ", 2) == 0)
        message += number + 2;
    txm_ocio_newest_profile(&major, &minor);
    m->before = before;
    m->name = copy_text(r, space, "name");
    m->family = copy_text(r, space, "family");
    m->description = copy_text(r, space, "description");
    m->reason = txm_asprintf("OpenColorIO %u.%u cannot build it: %s", major, minor, message);
    m->aliases = txm_calloc(n + 1, sizeof *m->aliases);
    for (size_t i = 0; m->aliases && i < n; i++) {
        const char *alias = txm_tree_text(&r->tree, txm_tree_item(&r->tree, aliases, i, NULL));
        if (alias && !(m->aliases[used++] = txm_strdup(alias)))
            return false;
    }
    return m->name && m->family && m->description && m->reason && m->aliases;
}

static const char *name_of(reduction *r, int item)
{
    return txm_tree_text(&r->tree, txm_tree_value(&r->tree, item, "name"));
}

/* Drops all items of a list but one. File rules always need the default rule. */
static void isolate(reduction *r, int list, int item, bool is_rules)
{
    for (size_t i = 0, n = txm_tree_count(&r->tree, list); i < n; i++) {
        int other = txm_tree_item(&r->tree, list, i, NULL);
        const char *name = name_of(r, other);
        bool needed = is_rules && name && txm_casecmp(name, "Default") == 0;
        txm_tree_drop(&r->tree, other, other != item && !needed);
    }
}
/* The sections whose items are tried while the other sections are left out. */
static const char *const tried[] = {"colorspaces", "display_colorspaces", "view_transforms"};

static void set_aside(reduction *r, const char *section, bool aside)
{
    for (size_t s = 0; s < sizeof tried / sizeof *tried; s++)
        if (strcmp(tried[s], section) != 0)
            txm_tree_drop(&r->tree, txm_tree_value(&r->tree, r->root, tried[s]), aside);
}

/* Tries the items of a section one by one and drops those that are refused; counts the others in `kept`. A refused
 * space is listed with the library's reason; rules and views are not requested by name, so they need none. */
static txm_status try_items(reduction *r, const char *section, bool is_spaces, size_t *kept, txm_error *err)
{
    int list = txm_tree_value(&r->tree, r->root, section);
    size_t n = txm_tree_count(&r->tree, list);
    bool *refused = txm_calloc(n + 1, sizeof *refused);
    if (!refused)
        return txm_no_memory(err, NULL);
    txm_status status = TXM_OK;
    set_aside(r, section, true);
    for (size_t i = 0; status == TXM_OK && i < n; i++) {
        int item = txm_tree_item(&r->tree, list, i, NULL);
        txm_error why = {0};
        isolate(r, list, item, strcmp(section, "file_rules") == 0);
        status = try(r, &why);
        if (status == TXM_OK) {
            ++*kept;
        } else if (status == TXM_STATUS_CONFIG) {
            refused[i] = true;
            bool noted = !is_spaces || add_missing(r, item, *kept, why.message);
            noted = noted && note_name(is_spaces ? &r->spaces : &r->rules, name_of(r, item));
            status = noted ? TXM_OK : TXM_STATUS_NO_MEMORY;
        }
    }
    for (size_t i = 0; i < n; i++)
        txm_tree_drop(&r->tree, txm_tree_item(&r->tree, list, i, NULL), refused[i]);
    set_aside(r, section, false);
    free(refused);
    return status == TXM_OK ? status : txm_fail(err, status, "out of memory");
}

/* Tries item by item, in an order in which items depend only on those that were already tried. */
static txm_status try_everything(reduction *r, txm_error *err)
{
    size_t kept = 0, others = 0;
    txm_status status;
    /* Warnings that remain without any of the items are not caused by them. */
    set_aside(r, "file_rules", true);
    isolate(r, txm_tree_value(&r->tree, r->root, "file_rules"), 0, true);
    r->lenient = try(r, NULL) != TXM_OK;
    set_aside(r, "file_rules", false);
    /* A rule that is refused would make all other trials fail. */
    status = try_items(r, "file_rules", false, &others, err);
    /* Sections are tried in the order of the file, in which the library lists the spaces. */
    for (size_t i = 0, n = txm_tree_count(&r->tree, r->root); status == TXM_OK && i < n; i++) {
        int key = 0;
        txm_tree_item(&r->tree, r->root, i, &key);
        const char *section = txm_tree_text(&r->tree, key);
        bool is_spaces =
            section && (strcmp(section, "colorspaces") == 0 || strcmp(section, "display_colorspaces") == 0);
        if (is_spaces || (section && strcmp(section, "view_transforms") == 0))
            status = try_items(r, section, is_spaces, is_spaces ? &kept : &others, err);
    }
    /* Display-referred spaces are converted through the default view transform: the one that is named, else the first.
     * Another one would give another conversion, but without any view transform the library refuses them. */
    int views = txm_tree_value(&r->tree, r->root, "view_transforms");
    const char *view = txm_tree_text(&r->tree, txm_tree_value(&r->tree, r->root, "default_view_transform"));
    for (size_t i = 0, n = txm_tree_count(&r->tree, views); i < n; i++) {
        int item = txm_tree_item(&r->tree, views, i, NULL);
        const char *name = name_of(r, item);
        if (view && *view ? name && txm_casecmp(name, view) == 0 : i == 0) {
            if (txm_tree_is_dropped(&r->tree, item))
                txm_tree_drop(&r->tree, views, true);
            break;
        }
    }
    return status;
}

/* The profile version is set to the library's own, since otherwise the config would be refused. The library requires a
 * default rule or the space of the role `default`, which a trial may have removed. */
static txm_status reduce(reduction *r, txm_ocio **out, txm_error *err)
{
    static const char *const rule[][2] = {{"name", "Default"}, {"colorspace", "default"}};
    char version[24];
    unsigned major, minor;
    txm_ocio_newest_profile(&major, &minor);
    snprintf(version, sizeof version, "%u.%u", major, minor);
    r->root = txm_tree_root(&r->tree);
    if (!txm_tree_value(&r->tree, r->root, "ocio_profile_version"))
        return txm_fail(err, TXM_STATUS_CONFIG, "no mapping with ocio_profile_version");
    if (!drop_others(r, r->root, config_keys, &r->sections) || !prepare_spaces(r, "colorspaces") ||
        !prepare_spaces(r, "display_colorspaces") ||
        (!txm_tree_value(&r->tree, r->root, "file_rules") &&
         !txm_tree_append_mapping(&r->tree, r->root, "file_rules", "Rule", rule, 2)) ||
        !txm_tree_set(&r->tree, r->root, "ocio_profile_version", version))
        return txm_no_memory(err, NULL);
    txm_status status = load_reduced(r, true, out, NULL);
    if (status != TXM_STATUS_CONFIG)
        return status == TXM_OK ? status : txm_fail(err, status, "out of memory");
    status = try_everything(r, err);
    return status == TXM_OK ? load_reduced(r, false, out, err) : status;
}

txm_status txm_color_load_reduced(const char *text, size_t size_bytes, const char *folder, txm_ocio **out,
                                  txm_color_missing_list *missing, char **left_out, txm_error *err)
{
    reduction r = {.folder = folder, .missing = missing};
    txm_status status = txm_tree_load(&r.tree, text, size_bytes, err);
    if (status == TXM_OK)
        status = reduce(&r, out, err);
    const struct {
        const txm_bytes *names;
        const char *what;
    } parts[] = {{&r.sections, "what textures do not need"},
                 {&r.rules, "rules and view transforms that the library does not support"},
                 {&r.spaces, "colour spaces that the library cannot build"}};
    txm_bytes sentence = {0};
    txm_bytes_puts(&sentence, "");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].names->size)
            txm_bytes_printf(&sentence, "%s%s (%s)", sentence.size ? "; " : "", parts[i].what, parts[i].names->data);
    *left_out = txm_bytes_take(&sentence);
    if (status == TXM_OK && !*left_out)
        status = txm_no_memory(err, NULL);
    txm_tree_free(&r.tree);
    txm_bytes_free(&r.sections);
    txm_bytes_free(&r.rules);
    txm_bytes_free(&r.spaces);
    return status;
}

txm_color_missing *txm_color_missing_add(txm_color_missing_list *list)
{
    if (!TXM_GROW(list->items, list->capacity, list->count))
        return NULL;
    return memset(&list->items[list->count++], 0, sizeof list->items[0]);
}

void txm_color_missing_free(txm_color_missing_list *list)
{
    if (!list)
        return;
    for (size_t i = 0; i < list->count; i++) {
        txm_color_missing *m = &list->items[i];
        for (char **alias = m->aliases; alias && *alias; alias++)
            free(*alias);
        free(m->aliases);
        free(m->name);
        free(m->family);
        free(m->description);
        free(m->reason);
    }
    free(list->items);
    memset(list, 0, sizeof *list);
}
