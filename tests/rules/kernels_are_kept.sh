#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kernels that one build has compiled are taken from the cache folder by the next, but no damaged ones; and an
# emptied cache folder, or one that takes nothing, stops no build. In folders as a user may name them.
#   kernels_are_kept.sh CHECKOUT SCRATCH_FOLDER
set -euo pipefail

scratch="$2/it's \"mine\" \$HOME"
cache="$scratch/cache"
kernels="$scratch/tree/plugins/backend_cuda/kernels"

rm -rf "$2"
mkdir -p "$kernels"
echo "the kernel" >"$kernels/a.cu"
# A compiler that tells each call and writes what it reads.
cat >"$scratch/nvcc" <<'SH'
#!/bin/sh
[ "$1" = --version ] && exec echo "Cuda compilation tools, release 13.0, V13.0.88"
echo called >>"$(dirname "$0")/calls"
while [ $# -gt 1 ]; do
    [ "$1" = -o ] && to="$2"
    shift
done
cat "$1" >"$to"
SH
chmod +x "$scratch/nvcc"
cat >"$scratch/tree/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(kernels LANGUAGES NONE)
set(SWIFT_STUDIO_MODULE_DIR "\${CMAKE_BINARY_DIR}/modules")
include("$1/cmake/swift_studio_cuda.cmake")
add_kernel_image(image plugins/backend_cuda/kernels/a.cu)
CMAKE

# build NAME CALLS: a build in this folder makes the image, and the compiler was called so often altogether.
build() {
    local image="$scratch/$1/modules/image.fatbin" calls
    { SWIFT_STUDIO_CUDA=1 cmake -G Ninja -S "$scratch/tree" -B "$scratch/$1" \
        -DSWIFT_STUDIO_CACHE="$cache" -DSWIFT_STUDIO_NVCC="$scratch/nvcc" &&
        cmake --build "$scratch/$1"; } >"$scratch/log" 2>&1 || {
        cat "$scratch/log"
        exit 1
    }
    calls="$(wc -l <"$scratch/calls")"
    if [[ "$calls" != "$2" || "$(<"$image")" != "$(<"$kernels/a.cu")"$'\n'swift-studio-kernels-* ]]; then
        echo "build $1: $calls calls of the compiler instead of $2, or not the image that was asked for:"
        cat "$image"
        exit 1
    fi
}

build first 1
build second 1
for kept in "$cache"/kernels/*; do
    echo half >"$kept"
done
build third 2
build fourth 2
rm -r "$cache/kernels" "$scratch/fourth/modules/image.fatbin"
cmake --build "$scratch/fourth" >"$scratch/log" 2>&1 || {
    cat "$scratch/log"
    exit 1
}
build fourth 3
rm -r "$cache/kernels"
: >"$cache/kernels"
build fifth 4
echo "another kernel" >"$kernels/a.cu"
build fifth 5
