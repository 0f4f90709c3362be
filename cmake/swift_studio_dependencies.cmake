# SPDX-License-Identifier: Apache-2.0
# Libraries from the system and from the cache folder that installer/ fills.

find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Threads REQUIRED)
find_package(Qt6 6.4 REQUIRED COMPONENTS Core Gui Network PrintSupport Sql Svg Test Widgets)
find_package(QCustomPlotQt6 REQUIRED)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(CAIRO REQUIRED IMPORTED_TARGET cairo-pdf)
pkg_check_modules(MD4C REQUIRED IMPORTED_TARGET md4c)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)

# sentencepiece 0.2.1, static with hidden symbols, built once by installer/ into the cache folder.
# Empty settings mean the cache folder, so that naming another cache folder moves all of them.
set(SENTENCEPIECE_ROOT "" CACHE PATH "sentencepiece install tree; empty: in the cache folder")
if(NOT SENTENCEPIECE_ROOT)
    set(SENTENCEPIECE_ROOT "${SWIFT_STUDIO_CACHE}/sentencepiece-0.2.1")
endif()
if(NOT EXISTS "${SENTENCEPIECE_ROOT}/lib/libsentencepiece.a")
    message(FATAL_ERROR "sentencepiece is not in ${SENTENCEPIECE_ROOT}: run installer/test.sh or "
        "installer/run.sh once, or set SENTENCEPIECE_ROOT.")
endif()
add_library(sentencepiece STATIC IMPORTED)
set_target_properties(sentencepiece PROPERTIES
    IMPORTED_LOCATION "${SENTENCEPIECE_ROOT}/lib/libsentencepiece.a"
    INTERFACE_INCLUDE_DIRECTORIES "${SENTENCEPIECE_ROOT}/include"
    INTERFACE_LINK_LIBRARIES Threads::Threads)

# LibTorch: two imported libraries, no find_package(Torch) and no libtorch.so (they pull CUDA in).
if(SWIFT_STUDIO_TORCH)
    set(TORCH_ROOT "" CACHE PATH "unpacked torch wheel; empty: in the cache folder")
    set(TORCH_CUDA_RUNTIME_DIR "" CACHE PATH
        "folder of libcudart.so.13 and libcupti.so.13; empty: in the cache folder")
    if(NOT TORCH_ROOT)
        set(TORCH_ROOT "${SWIFT_STUDIO_CACHE}/torch-2.11.0/torch")
    endif()
    if(NOT TORCH_CUDA_RUNTIME_DIR)
        set(TORCH_CUDA_RUNTIME_DIR "${SWIFT_STUDIO_CACHE}/torch-2.11.0/cuda/nvidia/cu13/lib")
    endif()
    foreach(file lib/libtorch_cpu.so lib/libc10.so include/ATen/ATen.h)
        if(NOT EXISTS "${TORCH_ROOT}/${file}")
            message(FATAL_ERROR "LibTorch is not in ${TORCH_ROOT} (${file} is missing): run "
                "installer/test.sh once, set TORCH_ROOT, or configure with -DSWIFT_STUDIO_TORCH=OFF.")
        endif()
    endforeach()
    add_library(torch_c10 SHARED IMPORTED)
    set_target_properties(torch_c10 PROPERTIES IMPORTED_LOCATION "${TORCH_ROOT}/lib/libc10.so")
    add_library(torch_cpu SHARED IMPORTED)
    set_target_properties(torch_cpu PROPERTIES
        IMPORTED_LOCATION "${TORCH_ROOT}/lib/libtorch_cpu.so"
        # Searched last: the folder also holds copies of libraries (fmt 12) that we have from the system.
        INTERFACE_COMPILE_OPTIONS "SHELL:-idirafter ${TORCH_ROOT}/include"
        INTERFACE_LINK_LIBRARIES torch_c10
        INTERFACE_LINK_OPTIONS "-Wl,-rpath-link,${TORCH_CUDA_RUNTIME_DIR}")
endif()
