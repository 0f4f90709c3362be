# SPDX-License-Identifier: Apache-2.0
# The build id that the engine and its run-time modules must agree on: a module shares C++ types
# with the engine, so both must come from the same headers, compiler and kind of build. It is a hash
# of just these, without a time stamp, so that a compiler cache serves a fresh clone.
include_guard(GLOBAL)

file(GLOB_RECURSE build_id_headers RELATIVE "${CMAKE_SOURCE_DIR}" CONFIGURE_DEPENDS
    "${CMAKE_SOURCE_DIR}/engine/*.h")
list(SORT build_id_headers)
set(build_id_text "${PROJECT_VERSION} ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
    " ${CMAKE_SYSTEM_PROCESSOR} ${CMAKE_BUILD_TYPE} ${SWIFT_STUDIO_SANITIZE}")
foreach(header ${build_id_headers})
    file(SHA256 "${CMAKE_SOURCE_DIR}/${header}" header_hash)
    list(APPEND build_id_text "${header} ${header_hash}")
    set_property(DIRECTORY "${CMAKE_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
        "${CMAKE_SOURCE_DIR}/${header}")
endforeach()
string(SHA256 build_id_hash "${build_id_text}")
string(SUBSTRING "${build_id_hash}" 0 16 build_id_hash)
set_property(GLOBAL PROPERTY SWIFT_STUDIO_BUILD_ID "${PROJECT_VERSION}-${build_id_hash}")

# define_build_id(SOURCES ...): these files of the calling folder see SWIFT_STUDIO_BUILD_ID. Only
# they: any header that changes gives another id, and all other files shall stay in the cache.
function(define_build_id)
    get_property(build_id GLOBAL PROPERTY SWIFT_STUDIO_BUILD_ID)
    set_property(SOURCE ${ARGN} APPEND PROPERTY
        COMPILE_DEFINITIONS "SWIFT_STUDIO_BUILD_ID=\"${build_id}\"")
    set_source_files_properties(${ARGN} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()

# add_module_build_id(TARGET): lets a run-time module tell its build.
function(add_module_build_id target)
    set(source "${CMAKE_SOURCE_DIR}/plugins/module_build_id.cpp")
    define_build_id("${source}")
    target_sources(${target} PRIVATE "${source}")
endfunction()
