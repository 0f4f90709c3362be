# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# make_kernel_image.sh KEPT IMAGE PLAIN MARK COMPILER ...: makes IMAGE of what the compiler writes into PLAIN, with
# the mark behind it. An image with this mark that lies at KEPT is taken instead; else this one is kept there. Both
# are looked at when the image is made, because the cache folder may have been emptied since CMake ran.
kept="$1" image="$2" plain="$3" mark="$4"
shift 4
if [ "$(tail -c ${#mark} "$kept" 2>/dev/null | tr -d '\0')" = "$mark" ]; then
    exec cp "$kept" "$image"
fi
"$@" && { cat "$plain" && printf %s "$mark"; } >"$image" || exit 1
# Renamed, so that nobody finds half of it. The image is made, whether it can be kept or not.
{ mkdir -p "$(dirname "$kept")" && cp "$image" "$kept.$$" && mv "$kept.$$" "$kept"; } 2>/dev/null ||
    rm -f "$kept.$$"
