# SPDX-License-Identifier: Apache-2.0
# Fills a JSON schema: awk -f expand.awk WORDS SCHEMA. WORDS is the output of `txmill --generate words`; a line of the
# schema with @LIST@ is repeated for each word of that list.
FNR == NR { split($0, of, "\t"); words[of[1], ++count[of[1]]] = of[2]; next }
match($0, /@[a-z-]+@/) {
    list = substr($0, RSTART + 1, RLENGTH - 2)
    if (!count[list]) { print FILENAME ": there is no list of words " list > "/dev/stderr"; exit 1 }
    for (i = 1; i <= count[list]; i++) {
        line = substr($0, 1, RSTART - 1) words[list, i] substr($0, RSTART + RLENGTH)
        print line (i < count[list] && line !~ /,$/ ? "," : "")
    }
    next
}
{ print }
