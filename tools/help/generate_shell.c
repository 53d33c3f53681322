/* SPDX-License-Identifier: Apache-2.0
 *
 * Generates completion for bash, zsh and fish: commands with their options, the words of options that have a fixed
 * set, and files and folders.
 *
 * In: the parser's tables. Out: a script per shell, which the build installs. Names of colour spaces, which differ
 * between machines, are read from the program during completion; everything else is fixed in the script, so that
 * completion is fast. The three generators have no common layer, because the shells complete the same things in
 * entirely different ways.
 *
 * Help texts are quoted as zsh and fish require.
 */
#include <string.h>

#include "tools/help/generate.h"
#include "txmill/format.h"
#include "txmill/scene.h"

/* fish, bash and zsh all take # for a comment. */
static const char header[] = "# Generated from the tables of options of txmill %s.\n";

/* Files that complete a value, by their extensions; without any, all files match. */
typedef struct file_kind {
    const char *values;
    const char *extensions; /* in lower case, separated by blanks */
    bool scenes, images;    /* scenes, and images that txmill converts, complete it as well */
} file_kind;

static const file_kind kinds[] = {
    {TXM_VALUES_FILE, "", false, false},
    {TXM_VALUES_TX, "tx", false, false},
    {TXM_VALUES_TX_OR_IMAGE, "tx ptx", false, true},
    {TXM_VALUES_IMAGE, "", true, true},
    {TXM_VALUES_SCENE, "", true, false},
    {TXM_VALUES_LOG, "jsonl json log", false, false},
    {TXM_VALUES_CONFIG, "ocio ocioz", false, false},
    {TXM_VALUES_PAGE, "html htm", false, false},
};

/* NULL if files do not complete it. */
static const file_kind *kind_of(const char *values)
{
    for (size_t i = 0; values && i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(values, kinds[i].values))
            return &kinds[i];
    return NULL;
}

/* Kinds of values are constants of opt.h, which differ from any set of words. */
static bool is_spaces(const char *values)
{
    return values && !strcmp(values, TXM_VALUES_SPACE);
}

static void put_alternatives(FILE *out, const char *words)
{
    for (; *words; words++)
        fputc(*words == ' ' ? '|' : *words, out);
}

static bool has_extensions(const file_kind *kind)
{
    return *kind->extensions || kind->scenes || kind->images;
}

/* Writes the extensions of a kind that has some as alternatives of a pattern: "html|htm". */
static void put_extensions(FILE *out, const file_kind *kind)
{
    const char *extensions, *before = *kind->extensions ? "|" : "";
    put_alternatives(out, kind->extensions);
    for (size_t i = 0; kind->scenes && txm_scene_format_at(i); i++, before = "|") {
        fputs(before, out);
        put_alternatives(out, txm_scene_format_at(i)->extensions);
    }
    for (size_t i = 0; kind->images && (extensions = txm_image_extensions(i)); i++)
        if (*extensions) {
            fputs(before, out);
            put_alternatives(out, extensions);
            before = "|";
        }
}

/* If only folders are valid, files are not offered. */
static bool is_folders(const char *values)
{
    return values && !strcmp(values, TXM_VALUES_DIR);
}

/* ---- bash ------------------------------------------------------------------------------------------------------- */

/* Folders always complete, because the files may be in them. Values without a kind are words; if there are none,
 * nothing completes. */
static void bash_values(FILE *out, const char *values)
{
    const file_kind *kind = kind_of(values);
    if (is_spaces(values)) {
        fputs("_txmill_spaces", out);
    } else if (is_folders(values)) {
        fputs("mapfile -t COMPREPLY < <(compgen -d -- \"$cur\")", out);
    } else if (kind && has_extensions(kind)) {
        fputs("_txmill_files '", out);
        put_extensions(out, kind);
        fputs("'", out);
    } else if (kind) {
        fputs("mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")", out);
    } else {
        fprintf(out, "COMPREPLY=($(compgen -W '%s' -- \"$cur\"))", values ? values : "");
    }
}

/* Words of a compgen -W list, separated by blanks. */
static void bash_word(void *user, const txm_option_group *group, const txm_option *option)
{
    (void)group;
    if (option->letter)
        fprintf(user, " -%c", option->letter);
    fprintf(user, " --%s", option->name);
}

/* The case for the previous word that completes the argument of this option. */
static void bash_argument(void *user, const txm_option_group *group, const txm_option *option)
{
    FILE *out = user;
    (void)group;
    if (!txm_opt_takes_argument(option))
        return;
    fputs("            ", out);
    if (option->letter)
        fprintf(out, "-%c|", option->letter);
    fprintf(out, "--%s) ", option->name);
    bash_values(out, option->values);
    fputs("; return ;;\n", out);
}

/* The script begins with functions that complete files and colour spaces; a `case` over the commands follows. Names
 * of colour spaces are read from the program, because they depend on the config in use. */
void txm_generate_bash(FILE *out)
{
    fprintf(out, header, TXM_VERSION);
    fputs(
        "_txmill_files()\n{\n"
        "    local f\n"
        "    mapfile -t COMPREPLY < <(compgen -d -- \"$cur\")\n"
        "    while IFS= read -r f; do\n"
        "        [[ ${f,,} =~ \\.($1)$ && ! -d $f ]] && COMPREPLY+=(\"$f\")\n"
        "    done < <(compgen -f -- \"$cur\")\n"
        "}\n"
        "# Names of colour spaces, of the config that the program would use, which may be anybody's: quoted in full.\n"
        "_txmill_spaces()\n{\n"
        "    local s\n"
        "    compopt -o noquote 2>/dev/null\n"
        "    while IFS= read -r s; do\n"
        "        [[ ${s,,} == \"${cur,,}\"* ]] && printf -v s %q \"$s\" && COMPREPLY+=(\"$s\")\n"
        "    done < <(\"${COMP_WORDS[0]}\" colorspaces --names 2>/dev/null)\n"
        "}\n"
        "# Commands of other programs, which say themselves what completes: NAME|ARGUMENT|VALUES|HELP.\n"
        "_txmill_program()\n{\n"
        "    local name arg values help verbs=\n"
        "    while IFS='|' read -r name arg values help; do\n"
        "        if [[ $arg && $name == \"$prev\" ]]; then\n"
        "            case $values in\n"
        "            '<file>') mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
        "            '<dir>') mapfile -t COMPREPLY < <(compgen -d -- \"$cur\") ;;\n"
        "            *) COMPREPLY=($(compgen -W \"$values\" -- \"$cur\")) ;;\n"
        "            esac\n"
        "            return\n"
        "        fi\n"
        "        if [[ $name == -* ]]; then words+=\" $name\"; else verbs+=\" $name\"; fi\n"
        "    done < <(\"${COMP_WORDS[0]}\" \"$cmd\" --generate options 2>/dev/null)\n"
        "    if ((COMP_CWORD == 2)) && [[ $verbs && $cur != -* ]]; then COMPREPLY=($(compgen -W \"$verbs\" -- "
        "\"$cur\")); return; fi\n"
        "    [[ $cur == -* ]] || mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
        "}\n"
        "_txmill()\n{\n"
        "    local cur prev words= cmd=\n"
        "    cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
        "    # bash splits --name=value into three words\n"
        "    if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
        "    # as it is typed, with a quote in front or with backslashes\n"
        "    cur=${cur#[\\'\\\"]} cur=${cur//\\\\/}\n"
        "    COMPREPLY=()\n"
        "    ((COMP_CWORD > 1)) && cmd=${COMP_WORDS[1]}\n"
        "    if [[ $cmd == [a-z]* && \" ${COMP_WORDS[*]:1:COMP_CWORD-1} \" =~ \" \"(-h|--help|help\" \"[a-z]+)\" \" "
        "]]; then\n"
        "        COMPREPLY=($(compgen -W --all -- \"$cur\")); return\n"
        "    fi\n"
        "    case $cmd in\n"
        "    '') COMPREPLY=($(compgen -W 'help --help --version",
        out);
    for (const txm_command *const *c = txm_commands; *c; c++)
        fprintf(out, " %s", (*c)->name);
    fputs("' -- \"$cur\")); return ;;\n    help) COMPREPLY=($(compgen -W '", out);
    for (const txm_command *const *c = txm_commands; *c; c++)
        fprintf(out, "%s%s", c == txm_commands ? "" : " ", (*c)->name);
    fputs("' -- \"$cur\")); return ;;\n", out);
    for (const txm_command *const *c = txm_commands; *c; c++) {
        if ((*c)->program) {
            fprintf(out, "    %s) _txmill_program ;;\n", (*c)->name);
            continue;
        }
        fprintf(out, "    %s)\n        case $prev in\n", (*c)->name);
        txm_each_option(*c, bash_argument, out);
        fputs("        esac\n        words='", out);
        txm_each_option(*c, bash_word, out);
        fputs("'\n", out);
        fputs("        [[ $cur == -* ]] || ", out);
        bash_values(out, (*c)->operand_values);
        fputs(" ;;\n", out);
    }
    fputs("    esac\n"
          "    if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")); fi\n"
          "}\n"
          "complete -o filenames -F _txmill txmill\n",
          out);
}

/* ---- zsh -------------------------------------------------------------------------------------------------------- */

/* Quotes, brackets and colons have a meaning inside a single-quoted specification of _arguments, so they are
 * escaped. */
static void zsh_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else if (strchr("[]:\\", *text))
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

/* Completes the argument of an option by a state that runs the program, by files with certain extensions, by folders,
 * or by words. */
static void zsh_values(FILE *out, const char *values)
{
    const file_kind *kind = kind_of(values);
    if (is_spaces(values)) {
        fputs("->spaces", out);
    } else if (kind && has_extensions(kind)) {
        /* Parentheses around a single extension would be a glob qualifier. */
        bool many = kind->images || kind->scenes || strchr(kind->extensions, ' ');
        fputs(many ? "_files -g \"(#i)*.(" : "_files -g \"(#i)*.", out);
        put_extensions(out, kind);
        fputs(many ? ")\"" : "\"", out);
    } else if (kind)
        fputs("_files", out);
    else if (is_folders(values))
        fputs("_files -/", out);
    else if (values)
        fprintf(out, "(%s)", values);
}

/* A specification for _arguments. "+" and "=" say that the argument may be joined to the option, as in getopt. */
static void zsh_form(FILE *out, const txm_option *option, bool letter)
{
    bool repeats = option->type == TXM_OPT_LIST;
    fprintf(out, "            '%s", repeats ? "*" : "");
    if (letter)
        fprintf(out, "-%c%s[", option->letter, txm_opt_takes_argument(option) ? "+" : "");
    else
        fprintf(out, "--%s%s[", option->name, txm_opt_takes_argument(option) ? "=" : "");
    zsh_text(out, option->help);
    fputc(']', out);
    if (txm_opt_takes_argument(option)) {
        fputc(':', out);
        zsh_text(out, option->arg);
        fputc(':', out);
        zsh_values(out, option->values);
    }
    fputs("' \\\n", out);
}

/* The letter and the name are two specifications of _arguments. */
static void zsh_option(void *user, const txm_option_group *group, const txm_option *option)
{
    (void)group;
    if (option->letter)
        zsh_form(user, option, true);
    zsh_form(user, option, false);
}

/* zsh completes in two steps: the outer call completes the command, an inner one for each command its options. */
void txm_generate_zsh(FILE *out)
{
    fputs("#compdef txmill\n", out);
    fprintf(out, header, TXM_VERSION);
    fputs("# Commands of other programs, which say themselves what completes: NAME|ARGUMENT|VALUES|HELP.\n"
          "_txmill_program()\n{\n"
          "    local name arg values help action line verbs=\n"
          "    local -a specs lines=(${(f)\"$(_call_program options txmill $words[1] --generate options "
          "2>/dev/null)\"})\n"
          "    for line in $lines; do\n"
          "        IFS='|' read -r name arg values help <<<$line\n"
          "        help=${${${help//:/\\:}//\\[/\\[}//\\]/\\]}\n"
          "        case $values in\n"
          "        '<file>') action=_files ;;\n"
          "        '<dir>') action='_files -/' ;;\n"
          "        *) action=${values:+($values)} ;;\n"
          "        esac\n"
          "        case $name in\n"
          "        --*) specs+=(\"$name${arg:+=}[$help]${arg:+:$arg:$action}\") ;;\n"
          "        -*) specs+=(\"$name${arg:++}[$help]${arg:+:$arg:$action}\") ;;\n"
          "        *) verbs+=\" $name\" ;;\n"
          "        esac\n"
          "    done\n"
          "    _arguments -s $specs ${verbs:+\"1:word:($verbs)\"} '*:file:_files'\n"
          "}\n"
          "_txmill()\n{\n"
          "    local context state state_descr line\n"
          "    typeset -A opt_args\n"
          "    if (( CURRENT > 3 )) && [[ $words[2] == help || -n ${${words[3,CURRENT-1]}[(r)(-h|--help)]} ]]; then "
          "compadd -- --all; return; fi\n"
          "    _arguments -C '(- *)--help[print help]' '(- *)'{-V,--version}'[print the version]' '1: :->command' '*:: "
          ":->rest'\n"
          "    case $state in\n"
          "    command)\n"
          "        local -a commands=(\n",
          out);
    for (const txm_command *const *c = txm_commands; *c; c++) {
        fprintf(out, "            '%s:", (*c)->name);
        zsh_text(out, (*c)->purpose);
        fputs("'\n", out);
    }
    fputs("            'help:print the help of a command'\n"
          "        )\n"
          "        _describe command commands ;;\n"
          "    rest)\n"
          "        case $words[1] in\n",
          out);
    for (const txm_command *const *c = txm_commands; *c; c++) {
        if ((*c)->program) {
            fprintf(out, "        %s) _txmill_program ;;\n", (*c)->name);
            continue;
        }
        fprintf(out, "        %s) _arguments -s \\\n", (*c)->name);
        txm_each_option(*c, zsh_option, out);
        fputs("            '*:file:", out);
        zsh_values(out, (*c)->operand_values);
        fputs("' ;;\n", out);
    }
    fputs("        help) _arguments '1:command:(", out);
    for (const txm_command *const *c = txm_commands; *c; c++)
        fprintf(out, "%s%s", c == txm_commands ? "" : " ", (*c)->name);
    fputs(")' ;;\n        esac ;;\n    esac\n"
          "    if [[ $state == spaces ]]; then\n"
          "        local -a names=(${(f)\"$(_call_program spaces txmill colorspaces --names 2>/dev/null)\"})\n"
          "        local expl\n"
          "        _wanted spaces expl 'colour space' compadd -M 'm:{a-zA-Z}={A-Za-z}' -a names\n"
          "    fi\n"
          "}\n_txmill \"$@\"\n",
          out);
}

/* ---- fish ------------------------------------------------------------------------------------------------------- */

/* Single quotes of fish have only two escapes. */
static void fish_text(FILE *out, const char *text)
{
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc('\'', out);
}

/* `how` disables fish's own list of files: -x for the argument of an option, -f for operands. */
static void fish_files(FILE *out, const file_kind *kind, const char *how)
{
    fprintf(out, " %s -a '(__txmill_files \"", how);
    put_extensions(out, kind);
    fputs("\")'", out);
}

typedef struct fish {
    FILE *out;
    const char *command;
} fish;

/* One line per option, with the condition that its command was typed. */
static void fish_option(void *user, const txm_option_group *group, const txm_option *option)
{
    const fish *f = user;
    (void)group;
    fprintf(f->out, "complete -c txmill -n '__txmill_runs %s' -l %s", f->command, option->name);
    if (option->letter)
        fprintf(f->out, " -s %c", option->letter);
    const file_kind *kind = kind_of(option->values);
    if (is_spaces(option->values))
        fputs(" -x -a '(txmill colorspaces --names 2>/dev/null)'", f->out);
    else if (kind && has_extensions(kind))
        fish_files(f->out, kind, "-x");
    else if (kind)
        fputs(" -r -F", f->out);
    else if (is_folders(option->values))
        fputs(" -x -a '(__fish_complete_directories)'", f->out);
    else if (txm_opt_takes_argument(option))
        fprintf(f->out, " -x -a '%s'", option->values ? option->values : "");
    fputs(" -d ", f->out);
    fish_text(f->out, option->help);
    fputc('\n', f->out);
}

/* First the commands, then the operands and options of each. A command without operands takes no files (-f). */
void txm_generate_fish(FILE *out)
{
    fprintf(out, header, TXM_VERSION);
    fputs("# Folders, and files of these extensions.\n"
          "function __txmill_files\n"
          "    for f in (complete -C \"'' \"(commandline -ct))\n"
          "        string match -qir -- \"(/|\\.($argv[1]))\\$\" (string split -f1 \\t -- $f)\n"
          "        and echo $f\n"
          "    end\n"
          "end\n"
          "# Whether this command was typed, and not for its help.\n"
          "function __txmill_runs\n"
          "    set -l typed (commandline -opc)\n"
          "    test (count $typed) -gt 1; and test $typed[2] = $argv[1]; and not __txmill_helps $typed\n"
          "end\n"
          "function __txmill_helps\n"
          "    contains -- -h $argv[3..]; or contains -- --help $argv[3..]; or begin\n"
          "        test (count $argv) -gt 2; and test $argv[2] = help\n"
          "    end\n"
          "end\n"
          "# A command of another program, which says itself what completes: NAME|ARGUMENT|VALUES|HELP.\n"
          "function __txmill_program\n"
          "    set -l verbs\n"
          "    command -q txmill; or return\n"
          "    for line in (txmill $argv[1] --generate options 2>/dev/null)\n"
          "        set -l f (string split -m 3 '|' -- $line)\n"
          "        set -l how\n"
          "        switch \"$f[2]|$f[3]\"\n"
          "            case '|*'\n"
          "            case '*|<file>'\n"
          "                set how -r -F\n"
          "            case '*|<dir>'\n"
          "                set how -x -a '(__fish_complete_directories)'\n"
          "            case '*'\n"
          "                set how -x -a \"$f[3]\"\n"
          "        end\n"
          "        switch $f[1]\n"
          "            case '--*'\n"
          "                complete -c txmill -n \"__txmill_runs $argv[1]\" -l (string sub -s 3 -- $f[1]) $how -d "
          "\"$f[4]\"\n"
          "            case '-*'\n"
          "                complete -c txmill -n \"__txmill_runs $argv[1]\" -s (string sub -s 2 -- $f[1]) $how -d "
          "\"$f[4]\"\n"
          "            case '*'\n"
          "                set -a verbs $f[1]\n"
          "        end\n"
          "    end\n"
          "    test -z \"$verbs\"; or complete -c txmill -n \"__txmill_runs $argv[1]; and not "
          "__fish_seen_subcommand_from "
          "$verbs\" -f -a \"$verbs\"\n"
          "end\n",
          out);
    fputs("complete -c txmill -n __fish_use_subcommand -f -l help -d 'Print help'\n"
          "complete -c txmill -n __fish_use_subcommand -f -s V -l version -d 'Print the version'\n"
          "complete -c txmill -n __fish_use_subcommand -f -a help -d 'Print the help of a command'\n"
          "complete -c txmill -n '__txmill_helps (commandline -opc)' -f -l all -d 'Print all options'\n"
          "complete -c txmill -n '__txmill_runs help' -f -a '",
          out);
    for (const txm_command *const *c = txm_commands; *c; c++)
        fprintf(out, "%s%s", c == txm_commands ? "" : " ", (*c)->name);
    fputs("'\n", out);
    for (const txm_command *const *c = txm_commands; *c; c++) {
        fprintf(out, "complete -c txmill -n __fish_use_subcommand -f -a %s -d ", (*c)->name);
        fish_text(out, (*c)->purpose);
        fputc('\n', out);
        if ((*c)->program) {
            fprintf(out, "__txmill_program %s\n", (*c)->name);
            continue;
        }
        const file_kind *kind = kind_of((*c)->operand_values);
        if (!kind || has_extensions(kind)) {
            fprintf(out, "complete -c txmill -n '__txmill_runs %s'", (*c)->name);
            if (kind)
                fish_files(out, kind, "-f");
            else
                fputs(is_folders((*c)->operand_values) ? " -f -a '(__fish_complete_directories)'" : " -f", out);
            fputc('\n', out);
        }
        fish f = {out, (*c)->name};
        txm_each_option(*c, fish_option, &f);
    }
}
