#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes an interpreter with llama-cpp-python for `swift-run bench --against-llama-cpp`: a virtual
# environment of its own in the cache folder, compiled from source for this very processor. Takes
# some minutes; a second run does nothing, and one after an interruption goes on where it was:
# sources and compiled files lie beside the environment until it is ready.
set -euo pipefail

readonly version=0.3.36
cache="${SWIFT_STUDIO_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/swift-studio}"
readonly folder="$cache/llama-cpp-python"
readonly work="$cache/llama-cpp-python.build-$version"

fail() {
    echo "set_up_llama_cpp.sh: $1" >&2
    exit 1
}

# Whether the environment holds the wanted version and it can be loaded.
isReady() {
    [[ -x "$folder/bin/python3" ]] && [[ "$("$folder/bin/python3" -c \
        'import llama_cpp; print(llama_cpp.__version__)' 2>/dev/null)" == "$version" ]]
}

tellReady() {
    echo "llama-cpp-python $version is ready: $folder/bin/python3"
}

pip() {
    "$folder/bin/python3" -m pip "$@" --quiet --disable-pip-version-check
}

# An interrupted venv may lack pip; an older version of llama-cpp-python is replaced.
makeEnvironment() {
    "$folder/bin/python3" -m pip --version >/dev/null 2>&1 && return
    python3 -m venv --clear "$folder" ||
        fail "no virtual environment can be made; install python3-venv."
}

# Into a place of its own that stays the same: what was compiled there is found again.
fetchSource() {
    [[ -d "$work/source" ]] && return
    rm -rf "$work/download" "$work/unpacked"
    mkdir -p "$work/unpacked"
    pip download --no-deps --no-binary llama-cpp-python --dest "$work/download" \
        "llama-cpp-python==$version" ||
        fail "the source could not be fetched; run the same command again when the network is there."
    tar -xzf "$work/download/"*.tar.gz --strip-components=1 -C "$work/unpacked" ||
        fail "the source could not be unpacked; check the free space of $cache."
    mv "$work/unpacked" "$work/source"
}

# The machine's own cmake and ninja are used where they are new enough.
compileWheel() {
    rm -rf "$work/made"
    CMAKE_ARGS="-DGGML_NATIVE=ON -DLLAVA_BUILD=OFF" CMAKE_GENERATOR=Ninja \
        CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" \
        pip wheel --no-deps --config-settings "build-dir=$work/compiled" \
        --wheel-dir "$work/made" "$work/source" &&
        mv "$work/made" "$work/wheel"
}

if isReady; then
    tellReady
    exit 0
fi
for tool in python3 cmake ninja c++ tar flock; do
    command -v "$tool" >/dev/null || fail "$tool is missing; installer/run.sh installs what is needed."
done
mkdir -p "$work"
exec 9>"$work/lock"
flock --nonblock 9 || fail "another run is at work in $work; wait for it."
trap 'echo "set_up_llama_cpp.sh: interrupted; run the same command again to go on." >&2; exit 130' \
    INT TERM
makeEnvironment
if [[ ! -d "$work/wheel" ]]; then
    fetchSource
    echo "Compiling llama-cpp-python $version into $work; this takes some minutes."
    compileWheel || fail "the compilation failed; run the same command again when that is put \
right, or remove $work before to begin anew."
fi
pip install --force-reinstall --no-deps "$work/wheel/"*.whl ||
    fail "the compiled package could not be installed; check the free space of $cache."
pip install "llama-cpp-python==$version" ||
    fail "what llama-cpp-python needs could not be fetched; run the same command again."
isReady || fail "llama-cpp-python was installed, but cannot be loaded."
rm -rf "$work"
tellReady
