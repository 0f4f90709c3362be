#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes an interpreter with llama-cpp-python for `swift-run bench --against-llama-cpp`: a virtual
# environment of its own in the cache folder, compiled from source for this very processor. Takes
# some minutes; a second run does nothing.
set -euo pipefail

readonly version=0.3.36
cache="${SWIFT_STUDIO_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/swift-studio}"
readonly folder="$cache/llama-cpp-python"

fail() {
    echo "set_up_llama_cpp.sh: $1" >&2
    exit 1
}

# Whether the environment holds the wanted version and it can be loaded.
isReady() {
    [[ -x "$folder/bin/python3" ]] && [[ "$("$folder/bin/python3" -c \
        'import llama_cpp; print(llama_cpp.__version__)' 2>/dev/null)" == "$version" ]]
}

if isReady; then
    echo "llama-cpp-python $version is ready: $folder/bin/python3"
    exit 0
fi
for tool in python3 cmake ninja c++; do
    command -v "$tool" >/dev/null || fail "$tool is missing; installer/run.sh installs what is needed."
done
rm -rf "$folder"
python3 -m venv "$folder" || fail "no virtual environment can be made; install python3-venv."
echo "Compiling llama-cpp-python $version into $folder; this takes some minutes."
# The machine's own cmake and ninja are used where they are new enough.
CMAKE_ARGS="-DGGML_NATIVE=ON -DLLAVA_BUILD=OFF" CMAKE_GENERATOR=Ninja \
    CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" \
    "$folder/bin/pip" install --quiet --disable-pip-version-check \
    --no-binary llama-cpp-python "llama-cpp-python==$version" ||
    fail "the compilation failed; run the same command again when that is put right."
isReady || fail "llama-cpp-python was installed, but cannot be loaded."
echo "llama-cpp-python $version is ready: $folder/bin/python3"
