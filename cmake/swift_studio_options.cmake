# SPDX-License-Identifier: Apache-2.0
# Settings that hold for every target of the project.

# On the system that the checks run on, warnings are errors in every build: with the same command lines a
# check finds in the compiler cache what a developer has compiled.
cmake_host_system_information(RESULT system QUERY DISTRIB_ID DISTRIB_VERSION_ID)
set(is_checked_system OFF)
if(system STREQUAL "debian;12" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION MATCHES "^12\\.")
    set(is_checked_system ON)
endif()
option(SWIFT_STUDIO_WARNINGS_AS_ERRORS "Fail on any compiler warning" ${is_checked_system})
option(SWIFT_STUDIO_TORCH "Build the LibTorch backend module" ON)
set(SWIFT_STUDIO_SANITIZE "" CACHE STRING "Sanitizers for all targets, e.g. address,undefined")
set(SWIFT_STUDIO_CACHE "$ENV{SWIFT_STUDIO_CACHE}" CACHE PATH "Folder of fetched dependencies and models")
if(NOT SWIFT_STUDIO_CACHE)
    if(DEFINED ENV{XDG_CACHE_HOME} AND NOT "$ENV{XDG_CACHE_HOME}" STREQUAL "")
        set(SWIFT_STUDIO_CACHE "$ENV{XDG_CACHE_HOME}/swift-studio" CACHE PATH "" FORCE)
    else()
        set(SWIFT_STUDIO_CACHE "$ENV{HOME}/.cache/swift-studio" CACHE PATH "" FORCE)
    endif()
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(SWIFT_STUDIO_MODULE_DIR "${CMAKE_BINARY_DIR}/lib/swift-studio")

# ccache: one store in the cache folder, and paths relative to the checkout, so that a fresh clone in
# another folder finds what an earlier one compiled. The settings travel with the command lines:
# they hold for a build started by hand as well.
if(CMAKE_CXX_COMPILER_LAUNCHER STREQUAL "ccache")
    set(SWIFT_STUDIO_CCACHE_DIR "$ENV{CCACHE_DIR}")
    if(NOT SWIFT_STUDIO_CCACHE_DIR)
        set(SWIFT_STUDIO_CCACHE_DIR "${SWIFT_STUDIO_CACHE}/ccache")
    endif()
    # Sloppiness: what ccache needs to know about precompiled headers of GCC.
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
        "CCACHE_DIR=${SWIFT_STUDIO_CCACHE_DIR}" "CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}"
        CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_MAXSIZE=3G)
    set(SWIFT_STUDIO_PRECOMPILE_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER} CCACHE_DEPEND=1 ccache)
    list(APPEND CMAKE_CXX_COMPILER_LAUNCHER ccache)
endif()

# swift_studio_precompile(TARGET HEADER): compiles a header that includes others of the project, named as an
# #include <> names it, for this target and for those that reuse it. g++ keeps a checksum of every header with its
# comments, and reads a header again that differs: so ccache compares whole headers here (CCACHE_DEPEND), not
# what the preprocessor leaves of them.
function(swift_studio_precompile target header)
    target_precompile_headers(${target} PRIVATE "<${header}>")
    set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${SWIFT_STUDIO_PRECOMPILE_LAUNCHER}")
endfunction()

# Some files are compiled together, because reading the same headers for each costs more than the
# files themselves. Off in the debug preset, where one file at a time is changed.
option(SWIFT_STUDIO_UNITY "Compile several files of the engine and the programs at a time" OFF)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 30)

if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# One flag set for all of our own code. -ffp-contract=off: a sum must not depend on whether the
# compiler found a place to fuse a multiplication with an addition.
add_library(swift_studio_flags INTERFACE)
target_compile_options(swift_studio_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -ffp-contract=off)
# g++ 12 warns of what its own inlining made up: copies in std::string's operator+ that overlap or
# overflow (GCC bug 105651), and members of a Result, an optional or a value made in place that are read
# only where they were written.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(swift_studio_flags INTERFACE
        -Wno-restrict -Wno-stringop-overflow -Wno-maybe-uninitialized)
endif()
if(SWIFT_STUDIO_WARNINGS_AS_ERRORS)
    target_compile_options(swift_studio_flags INTERFACE -Werror)
endif()
target_include_directories(swift_studio_flags INTERFACE "${CMAKE_SOURCE_DIR}")
# For add_compile_options of folders whose code no answer waits for: optimising is two thirds of what a file
# costs to compile. The second one is for code that nobody waits for at all.
set(SWIFT_STUDIO_LITTLE_OPTIMISED "$<$<CONFIG:Release>:-O1>")
set(SWIFT_STUDIO_LEAST_OPTIMISED "$<$<CONFIG:Release>:-Og>")
# g++ looks for memory to free again and again, which is a tenth of what it does. Where there is enough,
# it waits longer: the first file of the command line takes 1.9 GB instead of 1.4, the second one 2.0.
cmake_host_system_information(RESULT memory_mb QUERY TOTAL_PHYSICAL_MEMORY)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND memory_mb GREATER 7000)
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:--param ggc-min-expand=300 --param ggc-min-heapsize=524288>")
endif()
if(SWIFT_STUDIO_SANITIZE)
    add_compile_options(-fsanitize=${SWIFT_STUDIO_SANITIZE} -fno-omit-frame-pointer
        -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${SWIFT_STUDIO_SANITIZE})
endif()
