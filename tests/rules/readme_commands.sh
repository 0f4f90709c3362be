#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the commands of every ```sh block of the given documents, in a copy of the checkout whose
# build/release/bin is the given folder of programs. A block goes unrun only where the line before
# it says so and why:  <!-- run: no, it downloads 600 MB -->
# With SWIFT_STUDIO_FULL_EXACTNESS=1 it also runs what takes long,  <!-- run: full, it writes for long -->
# and again what an earlier block has run.
#   readme_commands.sh CHECKOUT BIN_FOLDER SCRATCH_FOLDER DOCUMENT ...
set -euo pipefail

checkout="$1"
binFolder="$2"
scratch="$3"
shift 3
isFull=0
[[ "${SWIFT_STUDIO_FULL_EXACTNESS:-}" == 1 ]] && isFull=1

# The copy: a command may write beside the sources without touching them.
copyCheckout() {
    local entry
    rm -rf "$scratch"
    mkdir -p "$scratch/tree/build/release" "$scratch/blocks"
    for entry in "$checkout"/*; do
        case "$(basename "$entry")" in
        build*) ;;
        *) cp -r "$entry" "$scratch/tree/" ;;
        esac
    done
    ln -s "$binFolder" "$scratch/tree/build/release/bin"
}

# Writes each block to blocks/NAME-LINE.sh. Ends with an error on a fence that never closes.
extractBlocks() {
    [[ -f "$1" ]] || {
        echo "$1 is missing"
        return 1
    }
    awk -v isFull="$isFull" \
        -v prefix="$scratch/blocks/$(basename "$(dirname "$1")")-$(basename "$1" .md)-" '
        /^```/ && inside      { inside = 0; close(target); next }
        inside == 1           { print > target; next }
        inside                { next }
        /^```sh[ \t]*$/       { inside = isMarked ? 2 : 1
                                isMarked = 0
                                target = sprintf("%s%04d.sh", prefix, NR)
                                if (inside == 1) printf "" > target
                                next }
        /^```/                { inside = 2; next }
        /<!-- run: no, .+-->/ { isMarked = 1; next }
        /<!-- run: full, .+-->/ { isMarked = !isFull; next }
        NF                    { isMarked = 0 }
        END                   { exit inside != 0 }' "$1" || {
        echo "$1: a block of commands does not end"
        return 1
    }
}

# Leaves out the commands of one line that stand in an earlier block, too.
dropRepeatedCommands() {
    local block
    awk '/^build\/release\/bin\// && !/\\$/ && seen[$0]++ { next }
        { print > (FILENAME ".kept") }' "$@"
    for block in "$@"; do
        if [[ -f "$block.kept" ]]; then
            mv "$block.kept" "$block"
        else
            : >"$block"
        fi
    done
}

copyCheckout
for document in "$@"; do
    extractBlocks "$document"
done
if [[ "$isFull" == 0 ]] && compgen -G "$scratch/blocks/*.sh" >/dev/null; then
    dropRepeatedCommands "$scratch"/blocks/*.sh
fi

failedCount=0
blockCount=0
for block in "$scratch"/blocks/*.sh; do
    [[ -e "$block" ]] || break
    blockCount=$((blockCount + 1))
    if (cd "$scratch/tree" && PATH="$binFolder:$PATH" bash -euo pipefail -x "$block") \
        </dev/null >"$scratch/output.txt" 2>&1; then
        echo "passed: $(basename "$block" .sh)"
    else
        echo "failed: $(basename "$block" .sh) (document and line), the last lines of its output:"
        tail -n 20 "$scratch/output.txt"
        failedCount=$((failedCount + 1))
    fi
done
echo "$blockCount blocks run, $failedCount failed"
((blockCount > 0 && failedCount == 0))
