# SPDX-License-Identifier: Apache-2.0
# What a binary brings along: the libraries that start with it, or the symbols it shows to others.
#   cmake -D BINARY=file -D LOOK_AT=libraries|symbols -D FORBIDDEN=regex [-D EXPECT_FAULT=ON]
#         -P linked_libraries.cmake
# EXPECT_FAULT proves that the look would find something: it passes when FORBIDDEN is there.
cmake_minimum_required(VERSION 3.22)

if(LOOK_AT STREQUAL "libraries")
    set(command ldd "${BINARY}")
else()
    set(command nm --dynamic "${BINARY}")
endif()
execute_process(COMMAND ${command} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE error)
if(NOT status EQUAL 0)
    message(FATAL_ERROR "${command} failed: ${error}")
endif()

# A library's name stands first on its line; the folder it was found in does not count.
string(REGEX REPLACE " => [^\n]*" "" text "${text}")
string(REGEX MATCHALL "[^\n]*${FORBIDDEN}[^\n]*" found "${text}")
list(LENGTH found found_count)
if(EXPECT_FAULT AND found_count EQUAL 0)
    message(FATAL_ERROR "${BINARY} should show ${FORBIDDEN}: this test is blind")
elseif(NOT EXPECT_FAULT AND found_count GREATER 0)
    list(GET found 0 first)
    message(FATAL_ERROR "${BINARY} brings ${found_count} times ${FORBIDDEN}, first: ${first}")
endif()
