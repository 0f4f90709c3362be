#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# installer/run.sh without a display: it tells of a picture only where the program draws one.
#   start_without_display.sh CHECKOUT SCRATCH_FOLDER
set -euo pipefail

scratch="$2"
rm -rf "$scratch"
mkdir -p "$scratch/installer" "$scratch/build/release/bin"
cp "$1"/installer/{run,common}.sh "$scratch/installer"
# Everything is set up and built.
cat >"$scratch/installer/dependencies.sh" <<'SH'
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
readonly torchRecipe=none
setUpDependencies() { :; }
isTorchInPlace() { :; }
configurePreset() { :; }
buildPreset() { :; }
SH
printf '#!/bin/sh\necho "$*"\n' >"$scratch/build/release/bin/swift-studio"
chmod +x "$scratch/build/release/bin/swift-studio"
unset DISPLAY WAYLAND_DISPLAY QT_QPA_PLATFORM
export SWIFT_STUDIO_CACHE="$scratch/cache"

# expect ARGUMENTS PICTURES ARGUMENT ...: with these arguments the program gets those, and so many pictures are told.
expect() {
    local arguments="$1" pictures="$2" found told
    shift 2
    found="$(bash "$scratch/installer/run.sh" "$@" 2>"$scratch/said")"
    told="$(grep -c swift-studio.png "$scratch/said" || true)"
    [[ "$found" == "$arguments" && "$told" == "$pictures" ]] || {
        printf 'with %s the program got: %s\n' "$*" "$found"
        cat "$scratch/said"
        exit 1
    }
}

drawn="--screenshot $scratch/build/swift-studio.png --overwrite"
expect "$drawn" 2
expect "$drawn --prompt Why?" 2 --prompt "Why?"
expect "--version" 0 --version
expect "--theme dark --help" 0 --theme dark --help
expect "--ask Why?" 0 --ask "Why?"
expect "--screenshot=mine.png" 0 --screenshot=mine.png
