#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# ccache and precompiled headers: a checkout in another folder finds what was compiled, and one where only the
# comment of a header differs does not find the precompiled header that was made of another text.
#   precompiled_headers_are_found.sh CHECKOUT SCRATCH_FOLDER
set -euo pipefail

scratch="$2"
export CCACHE_DIR="$scratch/store"
command -v ccache >/dev/null || {
    echo "ccache is not installed: nothing to check"
    exit 77
}

rm -rf "$scratch"
mkdir -p "$scratch/first/part"
cat >"$scratch/first/CMakeLists.txt" <<CMAKE
cmake_minimum_required(VERSION 3.25)
project(precompiled CXX)
include("$1/cmake/swift_studio_options.cmake")
add_library(precompiled OBJECT empty.cpp)
target_link_libraries(precompiled PRIVATE swift_studio_flags)
target_include_directories(precompiled PRIVATE "\${CMAKE_SOURCE_DIR}")
swift_studio_precompile(precompiled part/precompiled.h)
add_library(user OBJECT user.cpp)
target_link_libraries(user PRIVATE swift_studio_flags)
target_include_directories(user PRIVATE "\${CMAKE_SOURCE_DIR}")
target_precompile_headers(user REUSE_FROM precompiled)
CMAKE
printf '#pragma once\n#include "part/kind.h"\n' >"$scratch/first/part/precompiled.h"
printf '#pragma once\n// One comment.\nenum class Kind { A };\n' >"$scratch/first/part/kind.h"
printf '#include "part/kind.h"\nint f() { return int(Kind::A); }\n' >"$scratch/first/user.cpp"
: >"$scratch/first/empty.cpp"
cp -r "$scratch/first" "$scratch/same"
cp -r "$scratch/first" "$scratch/other"
sed -i 's/One comment/Other words/' "$scratch/other/part/kind.h"
printf 'int g() { return 1; }\n' >>"$scratch/other/user.cpp"

build() {
    cmake -G Ninja -S "$scratch/$1" -B "$scratch/$1/build" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache >"$scratch/log"
    cmake --build "$scratch/$1/build" >>"$scratch/log" || {
        cat "$scratch/log"
        exit 1
    }
}
# misses: how often ccache has compiled so far.
misses() { ccache --print-stats | sed -n 's/^cache_miss\t//p'; }

build first
compiled="$(misses)"
build same
[[ "$(misses)" == "$compiled" ]] || {
    echo "The second checkout compiled again what the first one had compiled:"
    ccache -s -v
    exit 1
}
build other
