#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The set-up where a user has arranged the system otherwise: another language, a CDPATH, a network disk, a pip that
# works in virtual environments only; and what is told where a connection breaks.
#   set_up_on_other_systems.sh CHECKOUT SCRATCH_FOLDER
set -euo pipefail

scratch="$2"
rm -rf "$scratch"
mkdir -p "$scratch/bin" "$scratch/part/lib" "$scratch/cache" "$scratch/work"
# expect FOUND WANTED WHAT
expect() {
    [[ "$1" == "$2" ]] || {
        printf '%s:\n%s\ninstead of:\n%s\n' "$3" "$1" "$2"
        exit 1
    }
}

# A folder that cd looks in first, where everything is found, too.
found="$(cd "$1" && CDPATH=. bash -c 'source installer/common.sh && echo "$sourceDir"')"
expect "$found" "$(cd "$1" && pwd -P)" "the checkout with CDPATH"

# shellcheck source=installer/dependencies.sh
source "$1/installer/dependencies.sh"

# sort as in languages in which capital and small letters stand together.
cat >"$scratch/bin/sort" <<SH
#!/bin/sh
[ "\$LC_ALL" = C ] || set -- -f "\$@"
exec $(command -v sort) "\$@"
SH
chmod +x "$scratch/bin/sort"
: >"$scratch/part/LICENSE"
: >"$scratch/part/lib/a"
PATH="$scratch/bin:$PATH"
export LC_ALL=C
writeStamp "$scratch/part/.stamp" recipe "$scratch/part"
LC_ALL=C.UTF-8
isInPlace "$scratch/part/.stamp" recipe "$scratch/part" ||
    expect "made again" "in place" "a part in another language"

# A network disk whose name holds a space, with 5 MB free.
df() {
    if [[ "$*" == *--output=avail* ]]; then
        printf ' Avail\n 5120\n'
    else
        printf 'Filesystem 1024-blocks Used Available Capacity Mounted on\n//nas/My Files 9000 3880 5120 44%% /mnt\n'
    fi
}
# Used below, by the functions under test.
# shellcheck disable=SC2034
SWIFT_STUDIO_CACHE="$scratch/cache" workFolder="$scratch/work"
needSpace "this" 5
said="$( (needSpace "this" 6) 8>&1)" && expect "enough" "too little" "free space"
expect "${said%%:*}: ${said#*but only }" "error: 5 MB are: free some space, or name another folder with SWIFT_STUDIO_CACHE." "free space"

# pip whose connection breaks; it is asked from outside of any virtual environment.
cat >"$scratch/bin/pip" <<'SH'
#!/bin/sh
[ "$PIP_REQUIRE_VIRTUALENV" = 1 ] && echo "ERROR: Could not find an activated virtualenv (required)." && exit 3
echo "Collecting sentencepiece==0.2.1"
echo "ERROR: Exception:"
echo "Traceback (most recent call last):"
echo "ReadTimeoutError: HTTPSConnectionPool: Read timed out."
exit 2
SH
chmod +x "$scratch/bin/pip"
# shellcheck disable=SC2034
pipCommand=("$scratch/bin/pip")
said="$( (PIP_REQUIRE_VIRTUALENV=1 fetch sentencepiece) 8>&1 | tail -n 1)" || true
expect "$said" "error: sentencepiece==0.2.1 could not be fetched (pip says: ReadTimeoutError: HTTPSConnectionPool: Read timed out.): check the network and pip's index settings, then run this again." \
    "a connection that breaks"
