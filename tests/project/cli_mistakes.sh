#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Common mistakes of users: each causes a message that says what is wrong, where, and what to do. Messages are compared in full.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

mkdir tex empty void && cp "$golden/rgb8.png" tex/wood.png && cp "$golden/tile64.png" tex/stone.png
"$TXMILL" make -q tex/wood.png
tx=tex/blender_tx/wood.png.0-926BDA8569F1F2504902F06ABA51E46D.tx
echo "shopping list" >notes.txt && cp notes.txt tex/notes.png
head -c 1000 tex/wood.png >cut.png
cp "$TXM_TESTDATA/blend/materials.blend" shot.blend
printf 'cache_dirr = x\n' >empty/.txmill
number=0

# mistake EXIT MESSAGE ARGUMENT...: the first line on standard error, less "txmill: error: ", and the exit code.
mistake() {
    local code=$1 message=$2
    shift 2
    number=$((number + 1))
    gives "$number-exit-$1" "$code" -- "$@"
    if [ "$(sed -n '1s/^txmill: error: //p' err)" = "$message" ]; then
        ok "$number-words"
    else
        not_ok "$number-words" "txmill $*" "expected: $message" "got:      $(sed -n '1s/^txmill: error: //p' err)"
    fi
}

# The same for a table of lines EXIT|ARGUMENTS|MESSAGE.
mistakes() {
    local code words message
    while IFS='|' read -r code words message; do
        # shellcheck disable=SC2016
        eval "mistake \"\$code\" \"\${message//'\$tx'/\$tx}\" $words"
    done
}

mistakes <<'EOF'
2|mkae tex/wood.png|unknown command mkae; did you mean 'make'? 'txmill --help' lists the commands
2|make -o wood.tx|no image given besides the name after -o; 'txmill make --help' lists the options
2|make --colourspace sRGB tex/wood.png|unknown option --colourspace; did you mean --colorspace? 'txmill make --help' lists the options
2|make tex/wood.png -c sRGBB|--colorspace: colour space "sRGBB" is not in the OCIO config built-in; did you mean "sRGB"?
3|make tex/wodo.png|tex/wodo.png: cannot be opened: No such file or directory
2|make 'tex/*.tga'|tex/*.tga: no file matches this pattern; list the folder to see what is there
2|make 'C:\textures\wood.png'|C:\textures\wood.png: is a Windows path, which does not exist here; name it as on this machine, with slashes, as /mnt/c/textures/wood.png for C:\textures\wood.png
3|make nowhere|nowhere: cannot be opened: No such file or directory
2|make --rule normal tex/wood.png|--rule: rule 'normal': must be GLOB=SPACE or GLOB=SPACE,ALPHA
2|make --rule '*.png=sRGB,strait' tex/wood.png|--rule '*.png': unknown alpha type 'strait' (did you mean 'straight'?); there are straight, premultiplied, channel_packed, none, default and auto
2|make --compression gzip tex/wood.png|--compression gzip: must be zip, zip:1 to zip:12, zstd, zstd:1 to zstd:19, or none
2|make --tile 100 tex/wood.png|--tile 100: must be 16, 32, 64, 128, 256, 512 or 1024
2|make -j 0 tex/wood.png|--jobs 0: must be a whole number from 1 to 1024
2|make --max-memory lots tex/wood.png|--max-memory lots: must be a number of bytes, such as 500000000, 512M or 1.5G
EOF
for age in '1 ' '1d ' 30 -1d 1e3d .5d; do
    mistake 2 "--older-than $age: must be a number and s, m, h, d or w, such as 36h or 30d" gc --older-than "$age" tex
done
mistakes <<'EOF'
2|make -o out.tx tex/wood.png tex/stone.png|--output takes a single image, but 2 are given; use --cache-dir
2|make --log tex/stone.png tex/wood.png|--log tex/stone.png: the file already exists and is a PNG image, not a log of txmill; nothing was written. Was the name after --log left out, as in --log run.jsonl? Give another name, or remove the file
2|make -o tex/stone.png tex/wood.png|-o tex/stone.png: the file already exists and is a PNG image, not a tx file; nothing was written. Was the name after -o left out, as in -o wood.tx? Give another name, or remove the file
3|make cut.png|cut.png: row 0 of 200: the file ends inside the pixel data
3|make --ocio missing.ocio tex/wood.png|missing.ocio: the OCIO config cannot be opened: No such file or directory; name another one with --ocio, or leave out --ocio, and unset $BLENDER_OCIO and $OCIO, for the built-in config
2|make --working-space ACESgc tex/wood.png|--working-space: working space "ACESgc" is not in the OCIO config built-in; did you mean "ACEScg", "ACEScc" or "ACEScct"?
3|make @list.txt|list.txt: cannot open the list: No such file or directory
3|info shot.blend|shot.blend: is a zstd file, not a tx file; 'txmill list shot.blend' shows the images of the scene
3|info notes.txt|notes.txt: is another kind of file, not a tx file
2|verify|no tx file given; 'txmill verify --help' lists the options
2|view "$tx"|standard output is not a terminal: write a page with --html FILE, choose a format with --format symbols, sixel or kitty, or write an image file with 'txmill extract'
2|view --html "$tx" "$tx"|--html $tx: is an input of this command, which would be lost; nothing was written. Give the output another name, as in --html page.html
3|view --html page.html tex/stone.png|tex/stone.png: is a PNG image without a tx file; 'txmill make tex/stone.png' makes one
2|extract "$tx"|no output given; name one with -o, as in -o picture.png
2|extract -o tex/wood.png "$tx"|-o tex/wood.png: is the image that $tx was made from, which would be lost; nothing was written. Give the output another name, as in -o picture.png
3|extract -o picture.xyz "$tx"|picture.xyz: no picture format has this extension; use one such as .png, .tif or .exr
2|extract -l 12 -o picture.png "$tx"|$tx: no level 12, the last is 8
2|tile -t 9,9 "$tx"|$tx: level 0 has no tile 9,9, only 5x4 tiles
2|tile -t 9 "$tx"|--tile 9: must be a column and a row of tiles, such as 3,0
2|diff "$tx"|give two files to compare: 1 is given; 'txmill diff --help' lists the options
3|resolve tex/none.png|tex/none.png: cannot be opened: No such file or directory
2|gc|no folder given, and no --store; 'txmill gc --help' lists the options
3|gc notes.txt|notes.txt: neither a folder nor a file named like the tx files of a texture cache, IMAGE.0-MD5.tx; name the folder that holds the tx files
2|report|no log given; txmill make --json writes them
2|borders "$tx"|give exactly one of --add, --strip and --check
2|make --cache-dir "" tex/wood.png|--cache-dir: its argument DIR is empty; is a variable of a script unset?
2|make --tile "" tex/wood.png|--tile '': must be 16, 32, 64, 128, 256, 512 or 1024
2|make --preset prb tex/wood.png|--preset: unknown preset 'prb'; use pbr or none
2|watch --rule '*.png=Non-Colour' tex|--rule '*.png': colour space "Non-Colour" is not in the OCIO config built-in; did you mean "Non-Color"?
2|gc --rule '*.png=Non-Colour' tex|--rule '*.png': colour space "Non-Colour" is not in the OCIO config built-in; did you mean "Non-Color"?
2|colorspaces --working-space ACESgc|--working-space: working space "ACESgc" is not in the OCIO config built-in; did you mean "ACEScg", "ACEScc" or "ACEScct"?
2|watch 'C:\textures'|C:\textures: is a Windows path, which does not exist here; name it as on this machine, with slashes, as /mnt/c/textures/wood.png for C:\textures\wood.png
2|gc void|void: no tx files found; name the folder that contains them
3|settings nowhere|nowhere: cannot be examined: No such file or directory
2|devices x|unexpected argument 'x'; the command takes none, and lists the devices of this machine
2|plan tex/wood.png|no number of shards given; give it with --shards N
2|check --ignore typo tex|--ignore typo: must be one of the ids that check prints: outdated stale missing unusable no-image data-as-color color-as-data wide-8-bit opaque-alpha grey-rgb large
2|make -n tex --shard 3/2|--shard 3/2: must be I/N, from 1/N to N/N, N at most 100000
2|make -x tex/wood.png|unknown option -x; 'txmill make --help' lists the options
2|make --device gpu tex/wood.png|--device gpu: must be one of auto, cpu, cuda, cuda:N, opencl, opencl:N
EOF

# There is only one name, and an option took it.
mistakes <<'EOF'
2|view --html "$tx"|no tx file given besides the name after --html; 'txmill view --help' lists the options
2|make --log tex/wood.png|no image given besides the name after --log; 'txmill make --help' lists the options
3|extract -o wood.tx "$tx"|wood.tx: is the name of a tx file, but this writes a picture; use an extension such as .png, .tif or .exr
2|make -a strait tex/wood.png|--alpha-type strait: must be straight, premultiplied, channel_packed, none, default or auto; did you mean straight?
2|view -F symbol "$tx"|--format symbol: must be one of: auto symbols sixel kitty; did you mean symbols?
3|verify --source tex/wodo.png "$tx"|--source tex/wodo.png: cannot be read: No such file or directory
3|make notes.txt|notes.txt: not an image in a format that can be read
3|list "$tx"|$tx: not a scene, but a tx file; 'txmill info $tx' shows what is in it
2|report notes.txt|notes.txt: not a log of txmill make; 'txmill make --log run.jsonl' writes one
EOF
check no-page-of-nothing test "$(grep -c ' runs\?,' err)" -eq 0
mistakes <<'EOF'
3|watch tex/wood.png|tex/wood.png: a file, not a folder; name the folder that contains it
2|gc --max-size 1G tex|--max-size applies to a store; name one with --store, or limit folders with --cache-limit
3|stream budget rom|rom: neither a folder nor a built-in scene (did you mean 'room'?); the built-in scenes are plane, room, grid, udim, sphere and fly
3|stream render shot.blend|shot.blend: is a zstd file, but a scene is a folder with a file scene.txt, described in txmill-scene(5); the Blender extension's Export Scene writes one
3|stream render void|void: not a scene: scene.txt is missing; in Blender, the extension's Export Scene writes one
2|make ""|'': an argument is empty; is a variable of a script unset?
2|info ""|'': an argument is empty; is a variable of a script unset?
2|make '~/wood.png'|~/wood.png: begins with ~, which the shell replaces only outside of quotes; leave them out, or write $HOME
2|make https://example.org/wood.png|https://example.org/wood.png: is an address, not a file; download it first, then name the file
2|resolve file:///tmp/wood.png|file:///tmp/wood.png: is an address, not a path; leave out file:// in front of it
2|make -c sRGB,straight tex/wood.png|--colorspace sRGB,straight: must be only a colour space; give the alpha type with -a straight
EOF
TXMILL_CACHEDIR=elsewhere txm settings
check near-variable test "$(head -n 1 err)" = "txmill: warning: TXMILL_CACHEDIR: unknown variable, ignored; did you mean TXMILL_CACHE_DIR?"
TXMILL_READER=libpng TXMILL_PLUGINS="" TXMILL_FSYNC=no TXMILL_PRESET=pbr TXMILL_RULE='*=sRGB' txm settings
check own-variables test ! -s err
# The message names the memory limit, and the amount that it recommends suffices, for each reader's own limits too.
for image in rgb8.png half-rgb.exr rgba16-straight.tif photo.jpg rgba8.tga light.hdr; do
    cp "$golden/$image" "mem_$image"
    txm make --max-memory 1 "mem_$image"
    enough=$(sed -n 's/.*more than --max-memory allows; --max-memory \([0-9]*M\) would suffice$/\1/p' err)
    gives "memory-of-$image" 0 -- make --max-memory "${enough:-nothing}" "mem_$image"
done
# A mistyped scene name must not look like a scene whose images are missing.
txm check shto.blend
check mistyped-scene test "$rc $(tail -n 1 out)" = "3 not ready to render: 0 of 1 texture fresh, 1 not checked"
check mistyped-scene-is-named says "shto.blend: cannot open: No such file"

# Messages that contain paths or facts of the machine.
begins() { # NAME EXIT PART... -- ARGUMENT...
    local name=$1 code=$2 parts=() part
    shift 2
    while [ "$1" != -- ]; do parts+=("$1") && shift; done
    shift
    number=$((number + 1))
    gives "$name" "$code" -- "$@"
    for part in "${parts[@]}"; do check "$name-says-$part" says "$part"; done
}
begins memory 3 "more than --max-memory allows" "would suffice" -- make --max-memory 1M --force tex/wood.png
begins scene-for-png 3 "tex/wood.png: not a scene, but a PNG image; 'txmill resolve tex/wood.png' shows the tx file of an image" -- list tex/wood.png
begins settings-misspelt 2 "empty/.txmill:1: unknown setting 'cache_dirr' (did you mean 'cache-dir'?)" -- make empty
begins report-of-png 2 "tex/wood.png: not a log of txmill" -- report tex/wood.png
begins two-kinds-of-failure 3 "1 failed: the file does not exist; check the names" "1 failed: the data is damaged" -- \
    make tex/wodo.png cut.png
check enough-mistakes test "$number" -ge 30

# ---- on a terminal: text is not garbled and not wider than the terminal --------------------------------------------------
if has_terminal; then
    mkdir many && for i in 1 2 3 4 5 6 7 8; do
        cp "$golden/rgb8.png" "many/a_rather_long_name_of_a_texture_that_somebody_gave_it_$i.png"
    done
    for columns in 80 120; do
        rm -rf many/blender_tx
        TERM=xterm-256color on_terminal --screen ${columns}x24 "$TXMILL" make many
        check "terminal-$columns-exit" prints "exit 0"
        check "terminal-$columns-fits" test "$(sed -n 's/^widest //p' out)" -le $columns
        check "terminal-$columns-whole-lines" test "$(grep -c '^[^ ]*[0-9].png: created' out)" -eq 8
        check "terminal-$columns-no-remains" test "$(grep -c '%.*created\|created.*MP/s' out)" -eq 0
        check "terminal-$columns-sum" prints "8 created"
        TERM=xterm-256color on_terminal --screen ${columns}x24 "$TXMILL" verify many
        check "terminal-$columns-short-hash" prints "-926BDA...tx"
        check "terminal-$columns-verify-sum" prints "8 files: 8 good"
    done
    TERM=xterm-256color on_terminal --screen 80x24 "$TXMILL" view "$tx"
    check view-in-24-lines test "$(sed -n 's/^lines //p' out)" -lt 24
    check view-in-80-columns test "$(sed -n 's/^widest //p' out)" -le 80
    check view-says prints "300 x 200 px"
else
    skip terminal "no pseudo-terminal here"
fi
finish
