#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the program for `swift-run bench --against-ik`: compiles ik_llama.cpp for this very processor
# from a checkout of it, and links ik_llama_cpp_bench.cpp with it. Takes ten minutes and more; a second
# run compiles only what changed.
set -euo pipefail

fail() {
    echo "set_up_ik_llama_cpp.sh: $1" >&2
    exit 1
}

(($# == 1)) || fail "name the folder of a checkout: set_up_ik_llama_cpp.sh ik_llama.cpp"
readonly checkout="$1"
[[ -f "$checkout/include/llama.h" && -f "$checkout/ggml/CMakeLists.txt" ]] ||
    fail "$checkout is no checkout of ik_llama.cpp: it has no include/llama.h."
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
readonly build="${SWIFT_STUDIO_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/swift-studio}/ik-llama-cpp"

version="$(git -C "$checkout" rev-parse --short HEAD 2>/dev/null || echo unknown)"
cmake -S "$checkout" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
    -DGGML_NATIVE=ON -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_SERVER=OFF \
    -DLLAMA_CURL=OFF >"$build.log" 2>&1 ||
    fail "it cannot be configured; the reason stands in $build.log."
cmake --build "$build" --target llama >>"$build.log" 2>&1 ||
    fail "it cannot be compiled; the reason stands in $build.log."
mapfile -t libraries < <(find "$build" -name 'libllama.a' -o -name 'libggml.a')
c++ -std=c++17 -O2 -fopenmp -DIK_VERSION="\"$version\"" -I "$checkout/include" \
    -I "$checkout/ggml/include" "$here/ik_llama_cpp_bench.cpp" \
    -Wl,--start-group "${libraries[@]}" -Wl,--end-group -lpthread -ldl \
    -o "$build/ik_llama_cpp_bench" ||
    fail "its libraries cannot be linked."
echo "ik_llama.cpp $version is ready: $build/ik_llama_cpp_bench"
