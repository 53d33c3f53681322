# SPDX-License-Identifier: Apache-2.0
# Breaks the text lines of a manual page at spaces, as its style asks for: 80 bytes per line. Requests and what is literal
# stay as they are, and no line begins with what would be a request.
/^\.Bd -literal/ { literal = 1 }
/^\.Ed/ { literal = 0 }
literal || /^[.']/ || /\t/ || length($0) <= 80 { print; next }
{
    line = ""
    count = split($0, words, " ")
    for (i = 1; i <= count; i++) {
        if (line == "")
            line = words[i]
        else if (length(line) + 1 + length(words[i]) <= 80 || words[i] ~ /^[.']/)
            line = line " " words[i]
        else {
            print line
            line = words[i]
        }
    }
    print line
}
