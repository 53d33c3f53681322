/* SPDX-License-Identifier: Apache-2.0
 * Rules from the command line: colour space and alpha type by file name, for every command that must treat textures as
 * make does. */
#ifndef TXM_TOOLS_RULE_ARGS_H
#define TXM_TOOLS_RULE_ARGS_H
#include "tools/options/opt.h"
#include "txmill/batch.h"
#include "txmill/color.h"

typedef struct txm_rule_args {
    txm_opt_list rules, rule_files, limits;
    const char *preset;
    const struct txm_project *project; /* its rules come after those of the options; may be NULL */
} txm_rule_args;
extern const txm_option txm_rule_options[]; /* --rule, --rules, --preset, --limit */
#define TXM_RULES_GROUP(args)                                                                                          \
    {                                                                                                                  \
        "Rules", txm_rule_options, offsetof(args, rules)                                                               \
    }

/* Checks a value of --limit or of the setting limit. USAGE. */
txm_status txm_args_limit(const char *text, txm_error *err);

/* Reads all rules, in the order of precedence. USAGE, NOT_FOUND ..., NO_MEMORY. Free with txm_rules_free. */
txm_status txm_rule_args_read(const txm_rule_args *args, txm_rules **out, txm_error *err);

/* The alpha type that was probably meant by a word; NULL if none is similar. */
const char *txm_alpha_near(const char *word);
#endif
