#!/bin/sh
# Fills a man page source: expand.sh TXMILL SOURCE. The lines @OPTIONS@, @EXITS@, @COMMANDS@, @FINDINGS@ and @WORDS:LIST@ are
# replaced by what the program's own tables say, @VERSION@ by its version, @RELEASES@ by the releases of
# Blender, and @OFFICIAL_BUILDS@ by the builds with which each was compared.
set -eu
txmill=$1 source=$2
name=$(basename "$source" .in)
command=${name#txmill-} command=${command%.*}
version=$("$txmill" --version)

# By section, then by name, as mandoc wants it.
see_also() {
    {
        "$txmill" --generate man-commands | sed -n 's/^\.It Xr //p' | sort
        for page in "$(dirname "$source")"/*.5 "$(dirname "$source")"/*.5.in; do
            [ -e "$page" ] || continue
            page=$(basename "$page" .in)
            echo "${page%.5} 5"
        done | sort
    } | sed -e 's/^/.Xr /' -e '$!s/$/ ,/'
}

# A page of another program has its options from there.
case $source in
    stream/*) generate() { "$txmill" "$command" --generate "$1"; } ;;
    *) generate() { "$txmill" --generate "$1" "$command"; } ;;
esac

while IFS= read -r line; do
    case $line in
        @OPTIONS@) generate man-options ;;
        @EXITS@) generate man-exits ;;
        @WORDS:*@)
            list=${line#@WORDS:}
            "$txmill" --generate man-words "${list%@}"
            ;;
        @FINDINGS@) "$txmill" --generate man-findings ;;
        @SEEALSO@) see_also ;;
        @COMMANDS@) "$txmill" --generate man-commands ;;
        *@RELEASES@*) printf '%s\n' "${line%%@RELEASES@*}$("$txmill" --generate releases)${line#*@RELEASES@}" ;;
        *@OFFICIAL_BUILDS@*) printf '%s\n' "${line%%@OFFICIAL_BUILDS@*}$("$txmill" --generate official-builds)${line#*@OFFICIAL_BUILDS@}" ;;
        *@VERSION@*) printf '%s\n' "${line%%@VERSION@*}${version#txmill }${line#*@VERSION@}" ;;
        *) printf '%s\n' "$line" ;;
    esac
done <"$source"
