#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks and measures a backend on the machine at hand: by default that for NVIDIA GPUs. It takes less
# than 10 minutes; what it finds lies in a folder as it comes, so a run that is cut off has told something.
set -euo pipefail

usage() {
    cat <<'TEXT'
Usage: tests/gpu/check.sh [--backend NAME] [--small] FOLDER [PART ...]
       tests/gpu/check.sh --table FOLDER

Runs the parts, each within its own time, and writes FOLDER/PART.json (JSON lines) and
FOLDER/PART.log; one line tells how each part ended. --table prints what a folder holds.

  facts       the machine, its GPU, driver and clocks
  tokens      decoders make vanilla's tokens on the default model, greedily and drawn
  forms       each form of weights makes the tokens of the same form on the cpu backend
  speed       shapes of 1b, 3b and 7b parameters: share of the memory bandwidth, cost of rows, prefill
  planted     a model with known skip sets: SWIFT with what it finds, and auto, over vanilla

--backend NAME   another backend than cuda, for instance cpu
--small          few layers and tokens: whether the check itself works
TEXT
}

say() { echo "check.sh: $1"; }

fail() {
    echo "check.sh: $1" >&2
    exit 2
}

backend=cuda small=false table=false
while [[ "${1:-}" == --* ]]; do
    case "$1" in
    --backend)
        backend="${2:?name a backend}"
        shift
        ;;
    --small) small=true ;;
    --table) table=true ;;
    --help)
        usage
        exit 0
        ;;
    *) fail "$1 is not known; --help lists the options." ;;
    esac
    shift
done
(($# >= 1)) || fail "name the folder for the figures; --help tells more."
readonly folder="$1"
shift
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
readonly program="${SWIFT_RUN:-$here/../../build/release/bin/swift-run}"

if $table; then
    exec python3 "$here/check_table.py" "$folder"
fi
[[ -x "$program" ]] || fail "build the programs first: installer/test.sh -R none."
mkdir -p "$folder"

parts=("$@")
((${#parts[@]} > 0)) || parts=(facts tokens forms speed planted)
for part in "${parts[@]}"; do
    [[ "$part" =~ ^(facts|tokens|forms|speed|planted)$ ]] || fail "there is no part $part."
done

# run LIMIT ARGUMENT OF swift-run ...: its JSON lines; more than LIMIT seconds end it.
run() {
    local limit="$1"
    shift
    timeout --signal=INT --kill-after=10 "$limit" "$program" "$@" --json
}

prompts() {
    local task="$1" count="$2" number
    for ((number = 1; number <= count; ++number)); do
        echo "{\"task\": \"$task\", \"prompt\": \"Tell something about the number $number, and count to it.\"}"
    done
}

facts() {
    local gpu=none
    if command -v nvidia-smi >/dev/null; then
        gpu="$(nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,clocks.max.mem \
            --format=csv,noheader | head -n 1)" || gpu="nvidia-smi failed"
    fi
    echo "{\"event\": \"machine\", \"gpu\": \"${gpu//\"/}\", \"system\": \"$(uname -rm)\", \"processors\": $(nproc)}"
    "$program" --version | head -n 1 | sed 's/.*/{"event": "program", "version": "&"}/'
}

tokens() {
    local count=40 length=128
    $small && count=1 length=8
    prompts numbers "$count" >"$folder/prompts.jsonl"
    for law in 0 0.7; do
        run 120 compare --backend "$backend" --data "$folder/prompts.jsonl" --max-tokens "$length" \
            --decoders vanilla,auto,swift,lookup,jacobi --temperature "$law" --seed 1 --top-p 0.9 || return
    done
}

forms() {
    local length=64 form ids other
    $small && length=4
    for form in auto bf16 f32 int8; do # of a quantised file auto is its own form
        for other in cpu "$backend"; do
            ids="$(run 60 generate --backend "$other" --weights "$form" --kv f32 \
                --prompt "The most important inventions are" --max-tokens "$length" | tail -n 1)" || return
            echo "{\"event\": \"form\", \"form\": \"$form\", \"backend\": \"$other\", \"answer\": $ids}"
        done
    done
}

speed() {
    local shape form rows=1,2,4,8,16,32,64 more=(--pairs 5 --prefill 512 --max-tokens 64)
    local shapes=(1b 3b 7b)
    $small && shapes=(1b) rows=1,2 more=(--layers 1 --pairs 1 --prefill 8 --cached 8 --max-tokens 2 --roof-mib 64)
    for shape in "${shapes[@]}"; do
        for form in bf16 int8 4bit f32; do
            [[ "$form" != bf16 && "$shape" == 3b || "$form$shape" == f327b ]] && continue
            run 90 bench --backend "$backend" --shape "$shape" --weights "$form" --rows "$rows" "${more[@]}" |
                tail -n 1 || return
        done
    done
}

planted() {
    local decoder more=(--shape 7b --pairs 5 --max-tokens 128)
    $small && more=(--shape 1b --layers 2 --pairs 1 --prefill 8 --cached 8 --max-tokens 4 --roof-mib 64)
    for decoder in swift auto; do
        run 120 bench --backend "$backend" --planted --weights bf16 --rows 1,4 --decoder "$decoder" "${more[@]}" |
            tail -n 1 || return
    done
}

failed=0
for part in "${parts[@]}"; do
    start=$SECONDS
    if "$part" >"$folder/$part.json" 2>"$folder/$part.log"; then
        say "$part: done in $((SECONDS - start)) s"
    else
        failed=$((failed + 1))
        say "$part: FAILED after $((SECONDS - start)) s; $folder/$part.log ends with:"
        tail -n 3 "$folder/$part.log"
    fi
done
python3 "$here/check_table.py" "$folder"
((failed == 0))
