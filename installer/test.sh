#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets the machine up, builds the release preset and runs every test.

# shellcheck source=installer/dependencies.sh
source "$(dirname "${BASH_SOURCE[0]}")/dependencies.sh"

usage() {
    cat <<'TEXT'
Usage: installer/test.sh [CTEST ARGUMENT ...]

Installs what is missing, builds into build/release and runs all tests; the last line of output
tells how many test programs passed, failed and were skipped. Arguments go to ctest: '-R text' runs
the tests whose name contains "text".

Environment:
  SWIFT_STUDIO_CACHE          folder of downloads, models and compiler cache
                              (default: swift-studio in the user's cache directory)
  SWIFT_STUDIO_JOBS           number of compilers and tests at a time (default: cores, less when
                              memory is short)
  SWIFT_STUDIO_WERROR         1: compiler warnings are errors, 0: they are not (default: 1 on Debian 12)
  SWIFT_STUDIO_CUDA           1: kernels for NVIDIA GPUs are compiled, 0: they are not (default: 1 where
                              there is such a GPU)
  SWIFT_STUDIO_SKIP_PACKAGES=1  install no Debian packages

Exit status: 0 all tests passed, 1 otherwise.
TEXT
}

if [[ "${1:-}" == --help || "${1:-}" == -h ]]; then
    usage
    exit 0
fi

setUpDependencies
chooseCacheFolder
configurePreset release
buildPreset release
testStatus=0
testPreset release "$@" || testStatus=1
[[ -f "$sourceDir/build/release/test_report.xml" ]] ||
    fail "ctest wrote no report: its message stands above."
countTests release
exit "$testStatus"
