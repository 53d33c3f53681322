/* SPDX-License-Identifier: Apache-2.0
 *
 * Says to the completion of bash, zsh and fish what completes.
 *
 * In: the parser's tables. Out: lines NAME|ARGUMENT|VALUES|HELP. The scripts in tools/help/completion run the program
 * for them, as they do for commands of other programs; so they need no change for a new command or option.
 *
 * NAME is an option, each of its forms on a line of its own; a command, if no command was given; or * for operands.
 * ARGUMENT is empty for flags, and ends with ... if the option is repeatable. VALUES are words, or one of <space>,
 * <dir>, <file> and <file EXTENSION...>.
 */
#include <string.h>

#include "tools/help/generate.h"
#include "txmill/format.h"
#include "txmill/scene.h"

static void put_extensions(FILE *out, const char *extensions)
{
    if (*extensions)
        fprintf(out, " %s", extensions);
}

/* What completes a kind of values; other values are words. */
static void put_values(FILE *out, const char *values)
{
    static const struct {
        const char *values;
        const char *extensions; /* in lower case, separated by blanks */
        bool scenes, images;    /* scenes, and images that txmill converts, complete it as well */
    } kinds[] = {
        {TXM_VALUES_TX, "tx", false, false},
        {TXM_VALUES_TX_OR_IMAGE, "tx ptx", false, true},
        {TXM_VALUES_IMAGE, "", true, true},
        {TXM_VALUES_SCENE, "", true, false},
        {TXM_VALUES_LOG, "jsonl json log", false, false},
        {TXM_VALUES_CONFIG, "ocio ocioz", false, false},
        {TXM_VALUES_PAGE, "html htm", false, false},
    };
    for (size_t k = 0; values && k < sizeof kinds / sizeof *kinds; k++) {
        if (strcmp(values, kinds[k].values) != 0)
            continue;
        fputs("<file", out);
        put_extensions(out, kinds[k].extensions);
        for (size_t i = 0; kinds[k].scenes && txm_scene_format_at(i); i++)
            put_extensions(out, txm_scene_format_at(i)->extensions);
        for (size_t i = 0; kinds[k].images && txm_image_extensions(i); i++)
            put_extensions(out, txm_image_extensions(i));
        fputc('>', out);
        return;
    }
    fputs(values ? values : "", out);
}

static void put_form(FILE *out, const txm_option *option, bool letter)
{
    const bool takes = txm_opt_takes_argument(option);
    if (letter)
        fprintf(out, "-%c", option->letter);
    else
        fprintf(out, "--%s", option->name);
    /* A bar in the name of an argument would end the field. */
    fprintf(out, "|%.*s%s|", takes ? (int)strcspn(option->arg, "|") : 0, takes ? option->arg : "",
            takes && option->type == TXM_OPT_LIST ? "..." : "");
    put_values(out, takes ? option->values : NULL);
    fprintf(out, "|%s\n", option->help);
}

void txm_generate_options(FILE *out, const txm_command *command)
{
    fputs("*||", out);
    put_values(out, command->operand_values);
    fputs("|\n", out);
    for (txm_option_walk w = {0}; txm_option_next(command, &w);) {
        if (w.option->letter)
            put_form(out, w.option, true);
        put_form(out, w.option, false);
    }
}

void txm_generate_commands(FILE *out)
{
    for (const txm_command *const *c = txm_commands; *c; c++)
        fprintf(out, "%s|||%s\n", (*c)->name, (*c)->purpose);
    fputs("help|||Print the help of a command\n--help|||Print help\n--version|||Print the version\n-V|||Print the "
          "version\n",
          out);
}
