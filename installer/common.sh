# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# What run.sh, test.sh and .ci/run share: paths, messages, the release build and the count of tests.
# Sourced, never run. Progress goes to standard error: standard output belongs to the programs.

set -euo pipefail
unset CDPATH # with it cd may go elsewhere, and prints where

sourceDir="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
readonly sourceDir

# Messages reach the user even from within a command whose output is being collected.
exec 8>&2

say() {
    printf '%s\n' "$*" >&8
}

# A step that takes its time, with the minutes and seconds since the script began.
sayStep() {
    printf '%d:%02d %s\n' "$((SECONDS / 60))" "$((SECONDS % 60))" "$*" >&8
}

# Ends the script with one sentence that says what went wrong and what to do.
fail() {
    printf 'error: %s\n' "$*" >&8
    exit 1
}

# Everything that is fetched or built once lies in one folder outside the source tree.
chooseCacheFolder() {
    if [[ -z "${SWIFT_STUDIO_CACHE:-}" ]]; then
        [[ -n "${XDG_CACHE_HOME:-}${HOME:-}" ]] ||
            fail "neither HOME nor SWIFT_STUDIO_CACHE is set: name a cache folder with SWIFT_STUDIO_CACHE."
        SWIFT_STUDIO_CACHE="${XDG_CACHE_HOME:-${HOME:-}/.cache}/swift-studio"
    fi
    mkdir -p "$SWIFT_STUDIO_CACHE" 2>/dev/null ||
        fail "the cache folder $SWIFT_STUDIO_CACHE cannot be made: name another with SWIFT_STUDIO_CACHE."
    [[ -w "$SWIFT_STUDIO_CACHE" ]] ||
        fail "the cache folder $SWIFT_STUDIO_CACHE is not writable: name another with SWIFT_STUDIO_CACHE."
    SWIFT_STUDIO_CACHE="$(cd "$SWIFT_STUDIO_CACHE" && pwd -P)"
    export SWIFT_STUDIO_CACHE
    export CCACHE_DIR="${CCACHE_DIR:-$SWIFT_STUDIO_CACHE/ccache}"
}

# The memory that may be used: what the machine has left, or the limit of a container (cgroup 2 or 1) if
# that is less: memoryMegabytes [FOLDER IN PLACE OF /]
memoryMegabytes() {
    local cgroups="${1:-}/sys/fs/cgroup"
    { cat "${1:-}/proc/meminfo" "$cgroups/memory.max" "$cgroups/memory/memory.limit_in_bytes" \
        2>/dev/null || true; } |
        awk '
            /^MemAvailable:/                                { least = int($2 / 1024) }
            /^[0-9]+$/ && int($1 / (1024 * 1024)) < least   { least = int($1 / (1024 * 1024)) }
            END                                             { print least + 0 }'
}

# As many compilers as cores, but never more than the memory carries (a LibTorch file takes 1.5 GB).
jobCount() {
    local cores memory byMemory
    cores="$(nproc)"
    memory="$(memoryMegabytes)"
    byMemory=$((memory / 1500 > 0 ? memory / 1500 : 1))
    echo "${SWIFT_STUDIO_JOBS:-$((cores < byMemory ? cores : byMemory))}"
}

# alone PRESET COMMAND ...: runs the command in the checkout while no other run of these scripts works on the
# preset's build folder.
alone() (
    cd "$sourceDir" && mkdir -p build && exec 9>"build/.lock-$1" || exit 1
    flock -n 9 || { say "      waiting for another run that works on build/$1" && flock 9; } || exit 1
    shift
    "$@"
)

# Configures a preset: configurePreset NAME [CMAKE ARGUMENT ...]
configurePreset() {
    local preset="$1" warningsAsErrors=()
    shift
    [[ -z "${SWIFT_STUDIO_WERROR:-}" ]] ||
        warningsAsErrors=("-DSWIFT_STUDIO_WARNINGS_AS_ERRORS=$SWIFT_STUDIO_WERROR")
    sayStep "configuring build/$preset"
    alone "$preset" cmake --preset "$preset" --log-level=NOTICE \
        -DSWIFT_STUDIO_CACHE="$SWIFT_STUDIO_CACHE" "${warningsAsErrors[@]}" "$@" >&2 ||
        fail "CMake could not configure build/$preset; its message stands above (after moving the checkout or changing compilers, remove build/$preset and run this again)."
}

# Builds targets of a preset: buildPreset NAME [TARGET ...]
buildPreset() {
    local preset="$1" jobs
    shift
    jobs="$(jobCount)"
    sayStep "building build/$preset ($jobs jobs)"
    alone "$preset" cmake --build --preset "$preset" --parallel "$jobs" ${1:+--target "$@"} >&2 ||
        fail "the build of build/$preset failed; the compiler's message stands above."
}

# Runs the tests of a preset: testPreset NAME [CTEST ARGUMENT ...]; gives ctest's exit status. The report
# keeps the end of what each program said, where it tells how many of its functions it skipped.
testPreset() {
    local preset="$1"
    shift
    sayStep "testing build/$preset"
    rm -f "$sourceDir/build/$preset/test_report.xml"
    (cd "$sourceDir" && ctest --preset "$preset" --parallel "$(jobCount)" \
        --test-output-truncation head \
        --output-junit "$sourceDir/build/$preset/test_report.xml" "$@" </dev/null)
}

# Counts test programs from the reports of presets: "12 passed, 0 failed, 1 skipped". Skipped are those
# that skip all of their functions; what the others skip is told in a line of its own. A program that
# could not be started counts as failed.
countTests() {
    local preset reports=()
    for preset in "$@"; do
        reports+=("$sourceDir/build/$preset/test_report.xml")
    done
    awk '
        /<testcase /                          { waiting = 0 }
        /<testcase / && /status="run"/        { passed++ }
        /<testcase / && /status="fail"/       { failed++ }
        /<testcase / && /status="disabled"/   { skipped++ }
        /<testcase / && /status="notrun"/     { waiting = 1 }
        /<testcase /                          { isRun = /status="run"/ }
        isRun && /Totals: [0-9]+ passed/      { functions += substr($0, index($0, "failed,") + 7) }
        waiting && /<skipped /                { if (/SKIP_/) skipped++; else failed++; waiting = 0 }
        END {
            line = (passed + 0) " passed, " (failed + 0) " failed"
            if (functions)
                print functions " test functions of the programs that passed were skipped"
            print skipped ? line ", " skipped " skipped" : line
        }' "${reports[@]}"
}
