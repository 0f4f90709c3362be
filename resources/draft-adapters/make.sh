#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the draft adapter of the default model anew: the model answers the prompts of a folder, and a
# small layer is trained on its answers. README.md beside this file says what came out.
set -euo pipefail

fail() {
    echo "make.sh: $1" >&2
    exit 1
}

(($# >= 1)) || fail "name the folder with the prompts: make.sh FOLDER [ARGUMENT OF swift-run tune ...]"
readonly prompts="$1"
shift
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
readonly program="$here/../../build/release/bin/swift-run"
[[ -x "$program" ]] || fail "build the program first: installer/run.sh."

# Prompts under the MIT or the Apache licence alone; of the code prompts those of HumanEval.
chosen="$(mktemp -d)"
readonly part="$here/draft-adapter.part"
trap 'rm -rf "$chosen" "$part"' EXIT
data=()
for source in summarization:Apache-2.0 math_reasoning:MIT instruction_following:Apache-2.0 \
    multi_turn_chat:Apache-2.0 code:MIT; do
    task="${source%%:*}"
    file="$prompts/$task.jsonl"
    [[ -f "$file" ]] || fail "there is no $file."
    if [[ "$task" == code ]]; then
        grep '"id": *"HumanEval' "$file" >"$chosen/code.jsonl" ||
            fail "$file has no prompt of HumanEval."
        file="$chosen/code.jsonl"
    fi
    data+=(--data "$file" --licence "${source#*:}")
done

# FILE.work beside it holds the answers: --resume goes on, --retrain uses them again.
readonly made="$here/../../build/draft-adapter.safetensors"
"$program" tune --recipe draft "${data[@]}" --draft-adapter none --out "$made" "$@"

# The program looks for an adapter under the fingerprint of its model.
fingerprint="$("$program" tune --check "$made" --json | grep -o '"fingerprints": *\["[0-9a-f]*"' | cut -d '"' -f 4)"
[[ -n "$fingerprint" ]] || fail "$made names no model."
# The earlier one is replaced once the new one is whole; those of other models stay.
cp "$made" "$part"
mv -f "$part" "$here/$fingerprint.safetensors"
echo "$here/$fingerprint.safetensors"
