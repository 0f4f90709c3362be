#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The test of README commands must see a failing one, and must run nothing that is marked.
#   readme_commands_bite.sh FOLDER_OF_RULES SCRATCH_FOLDER
set -euo pipefail

rules="$1"
scratch="$2"
unset SWIFT_STUDIO_FULL_EXACTNESS

rm -rf "$scratch"
mkdir -p "$scratch/checkout" "$scratch/bin"
printf '#!/bin/sh\necho "$*" >>"%s/calls"\n' "$scratch" >"$scratch/bin/program"
chmod +x "$scratch/bin/program"

# expect STATUS CALLS TEXT: a document of this text gives this exit status and makes these calls.
expect() {
    local status=0 calls=""
    printf '%b' "$3" >"$scratch/checkout/README.md"
    rm -f "$scratch/calls"
    bash "$rules/readme_commands.sh" "$scratch/checkout" "$scratch/bin" "$scratch/work" \
        "$scratch/checkout/README.md" >"$scratch/log" 2>&1 || status=1
    [[ -f "$scratch/calls" ]] && calls="$(paste -sd ' ' "$scratch/calls")"
    if [[ "$status" != "$1" || "$calls" != "$2" ]]; then
        printf 'status %s, calls "%s" instead of %s, "%s" for:\n%b\n' "$status" "$calls" "$1" "$2" "$3"
        cat "$scratch/log"
        exit 1
    fi
}

fence='```'
expect 0 "one two" "${fence}sh\nprogram one\nbuild/release/bin/program two\n${fence}\n"
expect 1 "one" "${fence}sh\nprogram one\nfalse\nprogram two\n${fence}\n"
expect 1 "" "${fence}sh\nfalse | cat\nprogram one\n${fence}\n"
expect 1 "two" "${fence}sh\nfalse\n${fence}\n\n${fence}sh\nprogram two\n${fence}\n"
expect 0 "two" "<!-- run: no, slow -->\n${fence}sh\nprogram one\n${fence}\n${fence}sh\nprogram two\n${fence}\n"
expect 0 "one" "<!-- run: no, slow -->\ntext\n${fence}sh\nprogram one\n${fence}\n"
expect 0 "one" "${fence}\nprogram zero\n${fence}\n${fence}sh\nprogram one\n${fence}\n"
long="<!-- run: full, slow -->\n${fence}sh\nprogram one\n${fence}\n${fence}sh\nprogram two\n${fence}\n"
expect 0 "two" "$long"
SWIFT_STUDIO_FULL_EXACTNESS=1 expect 0 "one two" "$long"
twice="${fence}sh\nbuild/release/bin/program one\n${fence}\n"
expect 0 "one two" "$twice${fence}sh\nbuild/release/bin/program one\nprogram two\n${fence}\n"
expect 0 "one" "$twice$twice"
SWIFT_STUDIO_FULL_EXACTNESS=1 expect 0 "one one" "$twice$twice"
expect 1 "" "nothing to run\n"
expect 1 "" "${fence}sh\nprogram one\n"
