#!/bin/sh
# Makes the benchmark images in the folder given (default ./bench-images) from Debian's own photographs.
# Needs: openimageio-tools, plasma-workspace-wallpapers. Existing images are kept.
#   images.sh [FOLDER]             all
#   images.sh FOLDER textures      those that a scene may use, without the ones that measure memory
#   images.sh FOLDER NAME...       only these (photo4k.png, hdr4k.exr and so on)
set -eu
out=${1:-bench-images}
[ $# -eq 0 ] || shift
textures='' names=''
case ${1-} in
    '') ;;
    textures) textures=yes ;;
    *) names=" $* " ;;
esac
if ! command -v oiiotool >/dev/null || [ ! -d /usr/share/wallpapers/Patak ]; then
    echo "images.sh: photographs or oiiotool are missing; scripts/setup.sh bench installs them" >&2
    exit 1
fi
wallpapers=/usr/share/wallpapers
mkdir -p "$out"
[ -n "$names" ] || mkdir -p "$out/photos" "$out/batch"

# make FILE COMMAND...: runs the command with @ replaced by the name of a temporary file, then renames that.
make_once() {
    target=$1
    shift
    [ -e "$target" ] && return
    [ -z "$names" ] || case $names in *" ${target#"$out/"} "*) ;; *) return 0 ;; esac
    temporary="$(dirname "$target")/.part-$(basename "$target")"
    for word; do
        shift
        [ "$word" = @ ] && word=$temporary
        set -- "$@" "$word"
    done
    echo "making $target" >&2
    "$@"
    mv "$temporary" "$target"
}

patak=$wallpapers/Patak/contents/images/5120x2880.png
volna=$wallpapers/Volna/contents/images/5120x2880.jpg
make_once "$out/photo4k.png" oiiotool "$patak" --resize 4096x4096 --ch R,G,B -d uint8 -o @
make_once "$out/photo8k.jpg" oiiotool "$volna" --resize 8192x8192 --ch R,G,B -d uint8 --compression jpeg:95 -o @
make_once "$out/rgba4k.png" oiiotool "$out/photo4k.png" \
    --pattern fill:topleft=1:topright=0.2:bottomleft=0.6:bottomright=0 4096x4096 1 --chnames A --chappend -d uint8 -o @
make_once "$out/hdr4k.exr" oiiotool "$out/photo4k.png" --colorconvert sRGB linear --mulc 4 --resize 4096x2048 -d half \
    --compression zip -o @

# For measuring memory: the same width with four heights, and two that are larger than the memory that they may take.
if [ -z "$textures" ]; then
    for height in 2048 4096 8192 16384; do
        make_once "$out/tall-$height.png" oiiotool "$volna" --resize "4096x$height" --ch R,G,B -d uint8 -o @
    done
    make_once "$out/rgb16k.png" oiiotool "$volna" --resize 16384x16384 --ch R,G,B -d uint8 -o @
    make_once "$out/grey32k.tif" oiiotool "$volna" --resize 32768x32768 --ch R -d uint8 --compression lzw -o @
fi

[ -z "$names" ] || exit 0

# Twenty other photographs at their own size.
count=0
for image in $(find "$wallpapers" -path '*contents/images*' \( -name '*1920x1200.jpg' -o -name '*1920x1080.jpg' \
    -o -name '*2560x1600.jpg' -o -name '*2560x1440.jpg' \) | sort); do
    [ $count -lt 20 ] || break
    name=$(echo "$image" | sed "s|$wallpapers/||; s|/contents/images||; s|/|-|g")
    make_once "$out/photos/${name%.*}.png" oiiotool "$image" --ch R,G,B -d uint8 -o @
    count=$((count + 1))
done

# Sixty mixed images of 256 to 1536 px: PNG, JPEG, TIFF and EXR in turn.
for i in $(seq 1 60); do
    size=$((256 * (1 + i % 6)))
    source=$(find "$out/photos" -name '*.png' | sort | sed -n "$((1 + i % 20))p")
    case $((i % 4)) in
        0) make_once "$out/batch/$i.png" oiiotool "$source" --resize "${size}x${size}" -o @ ;;
        1) make_once "$out/batch/$i.jpg" oiiotool "$source" --resize "${size}x$((size / 2))" --compression jpeg:92 -o @ ;;
        2) make_once "$out/batch/$i.tif" oiiotool "$source" --resize "${size}x${size}" --compression lzw -o @ ;;
        3) make_once "$out/batch/$i.exr" oiiotool "$source" --resize "${size}x${size}" --colorconvert sRGB linear -d half \
            --compression zip -o @ ;;
    esac
done
