#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The count of test programs that installer/test.sh ends with: a program that skips all of its
# functions is skipped, one that skips some is not, and one that cannot be started failed.
#   skips_are_counted.sh CHECKOUT SCRATCH_FOLDER PATTERN_OF_SKIPPED_PROGRAMS
set -euo pipefail

scratch="$2"
build="$scratch/build/release"

rm -rf "$scratch"
mkdir -p "$build" "$scratch/installer"
cp "$1/installer/common.sh" "$scratch/installer"

# program NAME STATUS TEXT: says this and ends with this exit status.
program() {
    printf '#!/bin/sh\nprintf "%%b" "%s"\nexit %s\n' "$3" "$2" >"$build/$1"
    chmod +x "$build/$1"
}

long="$(printf 'PASS   : A::row()%.0s\\n' {1..200})"
program whole 0 "${long}Totals: 200 passed, 0 failed, 0 skipped, 0 blacklisted, 5ms\\n"
program some 0 "SKIP   : A::b()\\n${long}Totals: 201 passed, 0 failed, 12 skipped, 0 blacklisted, 5ms\\n"
program all 0 "SKIP   : A::b()\\nTotals: 2 passed, 0 failed, 4 skipped, 0 blacklisted, 5ms\\n"
program at_once 0 "SKIP   : A::initTestCase()\\nTotals: 1 passed, 0 failed, 1 skipped, 0 blacklisted, 5ms\\n"
program failing 1 "Totals: 2 passed, 1 failed, 1 skipped, 0 blacklisted, 5ms\\n"
for name in whole some all at_once failing missing; do
    printf 'add_test(%s "%s/%s")\nset_tests_properties(%s PROPERTIES SKIP_REGULAR_EXPRESSION "%s")\n' \
        "$name" "$build" "$name" "$name" "$3" >>"$build/CTestTestfile.cmake"
done
cat >"$scratch/CMakePresets.json" <<'JSON'
{"version": 6,
 "configurePresets": [{"name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build/release"}],
 "testPresets": [{"name": "release", "configurePreset": "release"}]}
JSON

# shellcheck source=installer/common.sh
source "$scratch/installer/common.sh"
testPreset release >"$scratch/log" 2>&1 || true
counted="$(countTests release)"
expected="12 test functions of the programs that passed were skipped
2 passed, 2 failed, 2 skipped"
[[ "$counted" == "$expected" ]] || {
    cat "$scratch/log"
    printf 'counted:\n%s\ninstead of:\n%s\n' "$counted" "$expected"
    exit 1
}
