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

  facts       the machine, its GPU, driver and clocks; a first load, which tests the GPU, and a second
  tokens      decoders make vanilla's tokens on the default model, greedily and drawn
  forms       each form of weights makes the tokens of the same form on the cpu backend; their logits
  bits        logits are the same digits for any rows, beside a draft, with fewer layers, by operations
  speed       shapes of 7b, 1b and 13b parameters (of this 10 layers): cost of rows and of skip sets, prefill
  contexts    the default model behind a short and a long text, by whole passes and by operations
  planted     a model with a known skip set: SWIFT with it, SWIFT with what it finds, and auto, over vanilla
  torch       logits beside PyTorch's, its linear layers as a graph, how fast it reads and copies
  sanitizer   compute-sanitizer's memcheck and racecheck on a small load by operations
  counters    ncu: the share of the GPU's memory that one pass uses

The last three need programs of others, and are skipped where those are missing; TORCH_PYTHON names
another Python than python3. The user's own data, such as skip sets, is neither read nor written.

--backend NAME   another backend than cuda, for instance cpu
--small          few layers and tokens, in as much time as it takes: whether the check itself works
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

# The seconds of each part, 585 in all.
declare -rA seconds_of=([facts]=45 [tokens]=60 [forms]=40 [bits]=70 [speed]=135 [contexts]=40 [planted]=95
    [torch]=40 [sanitizer]=40 [counters]=20)
parts=("$@")
((${#parts[@]} > 0)) ||
    parts=(facts tokens forms bits speed contexts planted torch sanitizer counters)
for part in "${parts[@]}"; do
    [[ -n "${seconds_of[$part]:-}" ]] || fail "there is no part $part."
done

work="$(mktemp -d "$folder/work.XXXXXX")"
readonly work
trap 'rm -rf "$work"' EXIT
export SWIFT_STUDIO_DATA="$work/data" SWIFT_STUDIO_PACKED_CACHE_GB=0 PYTHONDONTWRITEBYTECODE=1
python="${TORCH_PYTHON:-python3}"
deadline=0 # of the part, in this shell's seconds

# within COMMAND ...: ends it, with 124, when the part's time is over.
within() {
    ((deadline > SECONDS)) || return 124
    timeout --signal=INT --kill-after=10 "$((deadline - SECONDS))" "$@"
}

# run ARGUMENT OF swift-run ...: its JSON lines.
run() { within "$program" "$@" --json; }

# skip WHY: the part cannot be run here, which is no failure.
skip() { echo "{\"event\": \"skipped\", \"why\": \"$1\"}"; }

# made_up SHAPE LAYERS: the folder $work/SHAPE with such a model's files.
made_up() { [[ -d "$work/$1" ]] || python3 "$here/made_up_model.py" "$1" "$2" "$work/$1"; }

has_default_model() { "$program" inspect --json >/dev/null 2>&1; }

# made_up_ids COUNT: ids that every model has.
made_up_ids() {
    local number ids=3
    for ((number = 1; number < $1; ++number)); do
        ids+=",$((number * 37 % 500 + 3))"
    done
    echo "$ids"
}

prompts() {
    local task="$1" count="$2" number
    for ((number = 1; number <= count; ++number)); do
        echo "{\"task\": \"$task\", \"prompt\": \"Tell something about the number $number, and count to it.\"}"
    done
}

facts() {
    local gpu=none load start tested
    if command -v nvidia-smi >/dev/null; then
        gpu="$(nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm,clocks.max.mem \
            --format=csv,noheader | head -n 1)" || gpu="nvidia-smi failed"
    fi
    echo "{\"event\": \"machine\", \"gpu\": \"${gpu//\"/}\", \"system\": \"$(uname -rm)\", \"processors\": $(nproc)}"
    "$program" --version | head -n 1 | sed 's/.*/{"event": "program", "version": "&"}/'
    made_up tiny 2 || return
    for load in first second; do
        start="${EPOCHREALTIME//[.,]/}"
        run forward --backend "$backend" --model "$work/tiny" --ids 3,4,5 --top 1 >"$work/load.json" || return
        tested="$(find "$SWIFT_STUDIO_DATA/gpus" -type f 2>/dev/null | wc -l)"
        echo "{\"event\": \"load\", \"load\": \"$load\", \"ms\": $(((${EPOCHREALTIME//[.,]/} - start) / 1000))," \
            "\"tested_gpus\": $tested}"
    done
}

tokens() {
    local count=40 length=128
    if ! has_default_model; then
        skip "the default model is not on this machine"
        return
    fi
    $small && count=1 length=8
    prompts numbers "$count" >"$folder/prompts.jsonl"
    for law in 0 0.7; do
        run compare --backend "$backend" --data "$folder/prompts.jsonl" --max-tokens "$length" \
            --decoders vanilla,auto,swift,lookup,jacobi --temperature "$law" --seed 1 --top-p 0.9 || return
    done
}

forms() {
    local length=64 form answer other files=() prompt=(--prompt "The most important inventions are")
    if $small || ! has_default_model; then
        made_up tiny 2 || return
        files=(--model "$work/tiny") prompt=(--prompt-ids "3,4,5")
    fi
    $small && length=4
    for form in auto bf16 f32 int8; do # of a quantised file auto is its own form
        for other in cpu "$backend"; do
            answer="$(run generate --backend "$other" --weights "$form" --kv f32 "${files[@]}" "${prompt[@]}" \
                --max-tokens "$length" | tail -n 1)" || return
            echo "{\"event\": \"form\", \"form\": \"$form\", \"backend\": \"$other\", \"answer\": $answer}"
        done
        for other in cpu "$backend"; do
            run forward --backend "$other" --weights "$form" --kv f32 "${files[@]}" --ids "$(made_up_ids 32)" \
                --top 500 >"$work/logits-$other.json" || return
        done
        python3 "$here/compare_logits.py" "$form" "$work/logits-cpu.json" "$work/logits-$backend.json" || return
    done
}

# one_way WAY [SED COMMAND] -- ARGUMENT ...: computes the logits of $model in a way, which must not show.
one_way() {
    local way="$1" edit="" digits
    shift
    if [[ "$1" != -- ]]; then
        edit="$1"
        shift
    fi
    shift
    digits="$(run forward --backend "$backend" --top 64 "$@" | sed "$edit" | sha256sum | cut -c 1-16)" || return
    echo "{\"event\": \"bits\", \"model\": \"$model\", \"way\": \"$way\", \"digits\": \"$digits\"}"
    if [[ "${expected:=$digits}" != "$digits" ]]; then
        echo "$model: $way gives other logits." >&2
        differ=$((differ + 1))
    fi
}

bits() {
    local length=150 all=(1 8 33 64) models=("1b 4 bf16" "7b 2 bf16" "7b 2 int8")
    local shape layers form model ids rows others expected differ=0 load limit=0.02
    ! has_default_model || models+=("default 0 auto")
    $small && length=40 all=(1 8 33) models=("tiny 2 bf16" "tiny 2 int8")
    ids="$(made_up_ids "$length")"
    # Eight rows behind the same prefix as a token that is none of the text.
    others="$(cut -d , -f "1-$((length - 8))" <<<"$ids"),7,$(cut -d , -f "$((length - 7))-" <<<"$ids")"
    echo '{"attention": [1], "mlp": [0]}' >"$work/skip.json"
    for model in "${models[@]}"; do
        read -r shape layers form <<<"$model"
        model="$shape, $form" expected=""
        load=(--weights "$form")
        if [[ "$shape" != default ]]; then
            made_up "$shape" "$layers" || return
            load+=(--model "$work/$shape")
        fi
        one_way "in order" -- "${load[@]}" --ids "$ids" || return
        for rows in "${all[@]}"; do
            one_way "last $rows in one pass" -- "${load[@]}" --ids "$ids" \
                --parents="$(seq -s , -1 $((rows - 2)))" || return
        done
        one_way "last 8 beside a draft" "$((length - 7))d" -- "${load[@]}" --ids "$others" \
            --parents="-1,-1,1,2,3,4,5,6,7" || return
        if [[ "$backend" == cuda ]]; then
            one_way "by operations" -- "${load[@]}" --launch operation --ids "$ids" || return
        fi
        model+=", two sublayers less" expected=""
        for rows in 1 "${all[-1]}"; do
            one_way "last $rows in one pass" -- "${load[@]}" --skip "$work/skip.json" --ids "$ids" \
                --parents="$(seq -s , -1 $((rows - 2)))" || return
        done
    done
    # What the emulated GPU computes: the same to the last digit, but on other backends.
    [[ "$backend" == cuda ]] && limit=0
    for form in auto int8 f32; do
        run forward --backend "$backend" --model "$here/../data/tiny.gguf" --weights "$form" --kv f32 \
            --ids "$(seq -s , 3 22)" --top 16 >"$work/tiny.json" || return
        python3 "$here/compare_logits.py" "as emulated, $form" "$here/emulated/$form.jsonl" "$work/tiny.json" \
            "$limit" || return
    done
    ((differ == 0))
}

# skip_sets LAYERS: sets that skip every other sublayer of a kind, or of both.
skip_sets() {
    local odd
    odd="$(seq -s , 1 2 $(($1 - 1)))"
    echo "{\"half of the layers\": {\"attention\": [$odd], \"mlp\": [$odd]}," \
        "\"half of the attentions\": {\"attention\": [$odd], \"mlp\": []}," \
        "\"half of the MLPs\": {\"attention\": [], \"mlp\": [$odd]}}"
}

# The backend's own memory is read: enough of it to be no cache.
roof_mib=4096
[[ "$backend" == cuda ]] || roof_mib=1024
$small && roof_mib=64
readonly roof_mib

speed() {
    local shape layers form rows=1,2,4,8,16,32,64 forms=(bf16 4bit int8 f32)
    local shapes=("7b 32" "1b 22" "13b 10") more=(--pairs 5 --prefill 512 --cached 1024 --max-tokens 64)
    $small && shapes=("1b 2") forms=(bf16 4bit) rows=1,2 more=(--pairs 1 --prefill 8 --cached 8 --max-tokens 2)
    for shape in "${shapes[@]}"; do
        read -r shape layers <<<"$shape"
        for form in "${forms[@]}"; do
            [[ "$form" != bf16 && "$shape" == 13b || "$form$shape" == f327b ]] && continue
            run bench --backend "$backend" --shape "$shape" --layers "$layers" --weights "$form" --rows "$rows" \
                "${more[@]}" --skip-set "$(skip_sets "$layers")" --roof-mib "$roof_mib" | tail -n 1 || return
        done
    done
}

contexts() {
    local ways=("1024" "8000") way cached launch figures
    local more=(--rows "1,8,64" --pairs 3 --prefill 128 --max-tokens 16 --decoder vanilla)
    if has_default_model; then
        more+=(--context 8192)
    else
        ways=("1024" "8000") more+=(--shape 1b --weights bf16 --context 8192)
    fi
    [[ "$backend" == cuda ]] && ways+=("1024 operation")
    $small && ways=("8" "64") more=(--shape 1b --layers 1 --rows "1,8" --pairs 1 --prefill 8 --max-tokens 2)
    for way in "${ways[@]}"; do
        read -r cached launch <<<"$way"
        figures="$(run bench --backend "$backend" --cached "$cached" "${more[@]}" --roof-mib "$roof_mib" \
            ${launch:+--launch "$launch"} | tail -n 1)" || return
        echo "{\"event\": \"context\", \"launch\": \"${launch:-pass}\", \"figures\": $figures}"
    done
}

planted() {
    local layers=32 way copies known more=(--shape 7b --pairs 5 --max-tokens 128)
    $small && layers=2 more=(--shape 1b --layers 2 --pairs 1 --prefill 8 --cached 8 --max-tokens 4)
    # Which layers are copies depends on their number alone.
    python3 "$here/made_up_model.py" tiny "$layers" "$work/layers" || return
    copies="$(run inspect --planted --model "$work/layers" | sed -n 's/.*"silent_copies":\(\[[0-9,]*\]\).*/\1/p')" ||
        return
    known="{\"attention\": $copies, \"mlp\": $copies}"
    for way in known swift auto; do
        case "$way" in
        known)
            set -- --decoder swift --set start=manual --set "skip_set=$known" --set optimise=0 --set free_draft=0 \
                --skip-set "{\"the copies\": $known}"
            ;;
        *) set -- --decoder "$way" ;;
        esac
        run bench --backend "$backend" --planted --weights bf16 --rows 1,4 "$@" "${more[@]}" --roof-mib "$roof_mib" |
            tail -n 1 || return
    done
}

torch() {
    local shape=1b layers=4 vocabulary=32000 device=cuda ids
    $small && shape=tiny layers=2 vocabulary=512 device=cpu
    if ! "$python" -c "import sys, torch; sys.exit('$device' == 'cuda' and not torch.cuda.is_available())" \
        2>/dev/null; then
        skip "$python has no PyTorch that computes here"
        return
    fi
    ids="$(made_up_ids 32)"
    made_up "$shape" "$layers" || return
    run forward --backend "$backend" --model "$work/$shape" --weights bf16 --ids "$ids" --top "$vocabulary" \
        >"$work/logits-own.json" || return
    within "$python" "$here/torch_figures.py" logits "$device" "$work/$shape" "$ids" >"$work/logits-torch.json" ||
        return
    python3 "$here/compare_logits.py" "$shape, bf16" "$work/logits-torch.json" "$work/logits-own.json" .02 ||
        return
    $small || within "$python" "$here/torch_figures.py" times
}

sanitizer() {
    local tool outcome summary
    local load=(forward --backend "$backend" --launch operation --model "$work/tiny" --ids "$(made_up_ids 32)")
    if [[ "$backend" != cuda ]]; then
        skip "$backend computes on no NVIDIA GPU"
        return
    elif ! command -v compute-sanitizer >/dev/null; then
        skip "compute-sanitizer is not on PATH"
        return
    fi
    made_up tiny 2 || return
    run "${load[@]}" >"$work/load.json" || return # whatever is tested only once is tested here
    for tool in memcheck racecheck; do
        outcome=0
        within compute-sanitizer --tool "$tool" --error-exitcode 99 "$program" "${load[@]}" >"$folder/$tool.txt" ||
            outcome=$?
        summary="$(grep SUMMARY "$folder/$tool.txt" | tail -n 1 | tr -d '="' || true)"
        echo "{\"event\": \"sanitizer\", \"tool\": \"$tool\", \"exit\": $outcome, \"summary\": \"$summary\"}"
        if ((outcome != 0)); then
            echo "$tool: ${summary:-ended with $outcome}; $folder/$tool.txt has what it says." >&2
            return "$outcome"
        fi
    done
}

counters() {
    local share time
    if [[ "$backend" != cuda ]]; then
        skip "$backend computes on no NVIDIA GPU"
        return
    elif ! command -v ncu >/dev/null; then
        skip "ncu is not on PATH"
        return
    fi
    made_up tiny 2 || return
    run forward --backend "$backend" --model "$work/tiny" --ids 3,4,5 >"$work/load.json" || return
    # Behind the load's own passes come many of one row.
    within ncu --launch-skip 30 --launch-count 1 --section SpeedOfLight --section WarpStateStats --csv \
        "$program" bench --backend "$backend" --shape 1b --weights bf16 --rows 1 --pairs 1 --prefill 8 --cached 8 \
        --max-tokens 2 --decoder vanilla --roof-mib 64 >"$folder/counters.csv" || true
    if grep -q ERR_NVGPUCTRPERM "$folder/counters.csv" "$folder/counters.log"; then
        skip "ncu may not read the GPU's counters here"
        return
    fi
    share="$(sed -n 's/.*"DRAM Throughput","%","\([0-9.]*\)".*/\1/p' "$folder/counters.csv" | head -n 1)"
    time="$(sed -n 's/.*"Duration","\([a-z]*\)","\([0-9.,]*\)".*/\2 \1/p' "$folder/counters.csv" | head -n 1)"
    if [[ -z "$share" ]]; then
        echo "ncu tells no share of the memory; $folder/counters.csv has what it says." >&2
        return 1
    fi
    echo "{\"event\": \"counters\", \"pass\": \"1b, bf16, one row\", \"memory_percent\": $share, \"time\": \"$time\"}"
}

failed=0
for part in "${parts[@]}"; do
    start=$SECONDS outcome=0
    deadline=$((SECONDS + seconds_of[$part]))
    ! $small || deadline=$((SECONDS + 86400))
    "$part" >"$folder/$part.json" 2>"$folder/$part.log" || outcome=$?
    why="$(sed -n 's/^{"event": "skipped", "why": "\(.*\)"}$/\1/p' "$folder/$part.json")"
    if ((outcome == 0)); then
        say "$part: ${why:+skipped: }${why:-done in $((SECONDS - start)) s}"
        continue
    fi
    failed=$((failed + 1))
    if ((outcome == 124)); then
        say "$part: FAILED, cut off after $((SECONDS - start)) s; the table has what came before."
    else
        say "$part: FAILED after $((SECONDS - start)) s; $folder/$part.log ends with:"
        tail -n 3 "$folder/$part.log"
    fi
done
python3 "$here/check_table.py" "$folder"
((failed == 0))
