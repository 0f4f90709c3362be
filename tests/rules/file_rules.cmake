# SPDX-License-Identifier: Apache-2.0
# What holds for every source file: its licence in the first lines, and the wall of 500 lines. And for
# tests: they wait for what must happen and never for a time (tests/support/patience.h).
#   cmake -D SOURCE_DIR=checkout -P file_rules.cmake
cmake_minimum_required(VERSION 3.22)

set(line_wall 500)
set(time_limit "_WITH_TIMEOUT|waitFor(Started|Finished|ReadyRead|BytesWritten)\\([0-9)]")
string(APPEND time_limit "|waitForEvents\\(std::chrono::[a-z]+\\([0-9]|wait_(for|until)\\(")
string(APPEND time_limit "|sleep_(for|until)\\(|qSleep\\(|qWait\\([1-9]|elapsed\\(\\) *<")
string(APPEND time_limit "|qWaitForWindow(Active|Exposed)\\([^,\n]*\n")

file(GLOB_RECURSE files RELATIVE "${SOURCE_DIR}"
    "${SOURCE_DIR}/app/*" "${SOURCE_DIR}/engine/*" "${SOURCE_DIR}/plugins/*" "${SOURCE_DIR}/ui/*"
    "${SOURCE_DIR}/tests/*" "${SOURCE_DIR}/cmake/*" "${SOURCE_DIR}/installer/*")
list(FILTER files INCLUDE REGEX "\\.(h|hpp|cpp|cu|cuh|inl|cmake|sh|py)$|(^|/)CMakeLists\\.txt$")
list(FILTER files EXCLUDE REGEX "^tests/data/")
foreach(single CMakeLists.txt .ci/run .clang-tidy)
    if(EXISTS "${SOURCE_DIR}/${single}")
        list(APPEND files ${single})
    endif()
endforeach()
if(NOT files)
    message(FATAL_ERROR "no sources in ${SOURCE_DIR}")
endif()

set(violation_count 0)
foreach(file ${files})
    # The window is GPL (it links QCustomPlot), everything else Apache.
    set(licence Apache-2.0)
    if(file MATCHES "^(ui|tests/ui)/" OR file MATCHES "^app/studio")
        set(licence GPL-3.0-only)
    endif()
    file(READ "${SOURCE_DIR}/${file}" content)
    if(NOT content MATCHES "^(#![^\n]*\n)?(//|#) SPDX-License-Identifier: ${licence}\n")
        message("${file}: the first line is not 'SPDX-License-Identifier: ${licence}' (rule licence)")
        math(EXPR violation_count "${violation_count} + 1")
    endif()
    string(REGEX MATCHALL "\n" line_ends "${content}")
    list(LENGTH line_ends line_count)
    if(line_count GREATER line_wall)
        message("${file}: ${line_count} lines, the wall is ${line_wall} (rule line-wall)")
        math(EXPR violation_count "${violation_count} + 1")
    endif()
endforeach()

foreach(file ${files})
    if(file MATCHES "^tests/" AND NOT file MATCHES "/benchmarks/|^tests/(rules/|support/patience)")
        file(READ "${SOURCE_DIR}/${file}" content)
        if(content MATCHES "${time_limit}")
            message("${file}: '${CMAKE_MATCH_0}' fails on a slow machine (rule time-limit)")
            math(EXPR violation_count "${violation_count} + 1")
        endif()
    endif()
endforeach()

list(LENGTH files file_count)
if(violation_count GREATER 0)
    message(FATAL_ERROR "${violation_count} files against the rules")
endif()
message("${file_count} files carry their licence and stay under the wall")
