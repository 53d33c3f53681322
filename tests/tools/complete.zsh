# SPDX-License-Identifier: Apache-2.0
# Types lines into a zsh as a user would, each with a tab at its end, and prints what zsh shows: complete.zsh FUNCTIONS
# PROGRAM_FOLDER <LINES. Each line is printed as "=== LINE" before its result.
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; fpath=($1 \$fpath); PATH=$2:\$PATH; autoload -U compinit; compinit -D -u; stty columns 400 rows 500
bindkey '^I' complete-word; unsetopt beep automenu; setopt nolistambiguous autolist; LISTMAX=100000; echo REA''DY"
zpty -r shell out '*READY*'
while IFS= read -r line; do
    # The display ends with the character that this key prints.
    zpty -w -n shell $'\x15'"$line"$'\t\x1b'"xwhat-cursor-position"$'\n'
    zpty -r shell out '*point*column*' || break
    print -r -- "=== $line"
    print -r -- "$out"
done
zpty -d shell
