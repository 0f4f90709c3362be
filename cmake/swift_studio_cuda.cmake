# SPDX-License-Identifier: Apache-2.0
# Machine code for NVIDIA GPUs. The compiler is SWIFT_STUDIO_NVCC, that of the cache folder, or one of
# CUDA 13 on PATH; where there is none, the program is built without kernels and says so when asked for
# a GPU. CMake's own CUDA language is not used: it wants a whole toolkit.
include_guard(GLOBAL)

set(SWIFT_STUDIO_NVCC "" CACHE FILEPATH
    "nvcc of CUDA 13; empty: in the cache folder, else on PATH; OFF: no kernels")
set(found_nvcc "${SWIFT_STUDIO_NVCC}")
# Compiling them takes a processor three minutes, so it is done where they can run, or where it is asked for.
set(SWIFT_STUDIO_CUDA "" CACHE STRING
    "Kernels for NVIDIA GPUs: 1 builds them, 0 does not; empty: where there is such a GPU")
if(DEFINED ENV{SWIFT_STUDIO_CUDA}) # also where the build was configured without it before
    set_property(CACHE SWIFT_STUDIO_CUDA PROPERTY VALUE "$ENV{SWIFT_STUDIO_CUDA}")
endif()
set(wants_kernels "${SWIFT_STUDIO_CUDA}")
if(wants_kernels STREQUAL "")
    file(GLOB vendor_files "/sys/bus/pci/devices/*/vendor")
    foreach(vendor_file ${vendor_files})
        file(STRINGS "${vendor_file}" vendor LIMIT_COUNT 1)
        if(vendor STREQUAL "0x10de")
            set(wants_kernels 1)
        endif()
    endforeach()
endif()
if(wants_kernels AND NOT found_nvcc AND NOT "${SWIFT_STUDIO_NVCC}" STREQUAL "OFF")
    find_program(SWIFT_STUDIO_FOUND_NVCC nvcc
        HINTS "${SWIFT_STUDIO_CACHE}/cuda-13.0.88/nvidia/cu13/bin" NO_CACHE)
    if(SWIFT_STUDIO_FOUND_NVCC)
        execute_process(COMMAND "${SWIFT_STUDIO_FOUND_NVCC}" --version
            OUTPUT_VARIABLE nvcc_version ERROR_QUIET)
        if(nvcc_version MATCHES "release 13\\.")
            set(found_nvcc "${SWIFT_STUDIO_FOUND_NVCC}")
        endif()
    endif()
endif()
set(nvcc_version "")
if(found_nvcc)
    execute_process(COMMAND "${found_nvcc}" --version OUTPUT_VARIABLE nvcc_version ERROR_QUIET)
endif()

# The folder of cuda.h, with which tests compare what device/driver_functions.h writes down: of the wheel that the
# set-up pins and leaves in the cache folder, else of the compiler. Empty: there is none.
set(cuda_header_folder "")
set(cuda_wheel "${SWIFT_STUDIO_CACHE}/downloads")
string(APPEND cuda_wheel
    "/nvidia_cuda_runtime-13.0.96-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl")
if(EXISTS "${cuda_wheel}")
    file(SHA256 "${cuda_wheel}" cuda_wheel_hash)
    if(cuda_wheel_hash STREQUAL 7f82250d7782aa23b6cfe765ecc7db554bd3c2870c43f3d1821f1d18aebf0548)
        set(cuda_unpacked "${CMAKE_BINARY_DIR}/cuda-header")
        if(NOT EXISTS "${cuda_unpacked}/nvidia/cu13/include/cuda.h")
            file(ARCHIVE_EXTRACT INPUT "${cuda_wheel}" DESTINATION "${cuda_unpacked}"
                PATTERNS nvidia/cu13/include/cuda.h)
        endif()
        set(cuda_header_folder "${cuda_unpacked}/nvidia/cu13/include")
    endif()
endif()
if(NOT cuda_header_folder AND found_nvcc)
    get_filename_component(cuda_bin "${found_nvcc}" REALPATH)
    get_filename_component(cuda_bin "${cuda_bin}" DIRECTORY)
    if(EXISTS "${cuda_bin}/../include/cuda.h")
        set(cuda_header_folder "${cuda_bin}/../include")
    endif()
endif()
set_property(GLOBAL PROPERTY SWIFT_STUDIO_CUDA_HEADER "${cuda_header_folder}")

# Warnings are errors, and so are registers that do not suffice.
set(kernel_flags -std=c++20 -O3 --expt-relaxed-constexpr --fmad=false -ftz=false -prec-div=true
    -prec-sqrt=true -Werror all-warnings -Xptxas -warn-spills,-warn-lmem-usage)
set(kernel_targets "")
foreach(capability 80 86 90 100 120)
    list(APPEND kernel_targets -gencode "arch=compute_${capability},code=sm_${capability}")
endforeach()
# For GPUs to come. It asks ahead the fewest chunks (ringSlots), so its shared memory suffices on all of them.
list(APPEND kernel_targets -gencode "arch=compute_86,code=compute_86")

# What tells the kernels of this build from others: a hash of their sources, and of how and by what they are
# compiled.
file(GLOB kernel_files CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/plugins/backend_cuda/kernels/*.h"
    "${CMAKE_SOURCE_DIR}/plugins/backend_cuda/kernels/*.cu")
list(SORT kernel_files)
set(kernel_text "${kernel_flags} ${kernel_targets} ${found_nvcc} ${nvcc_version} ")
foreach(kernel_file ${kernel_files})
    file(SHA256 "${kernel_file}" kernel_hash)
    string(APPEND kernel_text "${kernel_hash} ")
    set_property(DIRECTORY "${CMAKE_SOURCE_DIR}" APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
        "${kernel_file}")
endforeach()
string(SHA256 kernel_hash "${kernel_text}")
string(SUBSTRING "${kernel_hash}" 0 16 kernel_hash)
set(kernel_mark "swift-studio-kernels-${kernel_hash}")

# add_kernel_image(NAME SOURCE): NAME.fatbin in the module folder, for all targets, with the mark behind. The cache
# folder keeps it under that mark, so that no other build compiles it again.
function(add_kernel_image name source)
    if(NOT found_nvcc)
        if(wants_kernels)
            message(STATUS "Kernels for NVIDIA GPUs are not built: there is no nvcc of CUDA 13 for them.")
        else()
            message(STATUS "Kernels for NVIDIA GPUs are not built (SWIFT_STUDIO_CUDA=1 asks for them).")
        endif()
        return()
    endif()
    set(image "${SWIFT_STUDIO_MODULE_DIR}/${name}.fatbin")
    set(kept "${SWIFT_STUDIO_CACHE}/kernels/${kernel_mark}-${name}.fatbin")
    set(plain "${CMAKE_CURRENT_BINARY_DIR}/${name}.plain")
    set(script "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/make_kernel_image.sh")
    file(MAKE_DIRECTORY "${SWIFT_STUDIO_MODULE_DIR}")
    add_custom_command(OUTPUT "${image}"
        COMMAND sh "${script}" "${kept}" "${image}" "${plain}" "${kernel_mark}"
            "${found_nvcc}" ${kernel_flags} ${kernel_targets} -I "${CMAKE_SOURCE_DIR}"
            -fatbin -o "${plain}" "${CMAKE_CURRENT_SOURCE_DIR}/${source}"
        DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${source}" ${kernel_files} "${script}"
        COMMENT "Making ${name} for NVIDIA GPUs (some minutes where they were never compiled)" VERBATIM)
    add_custom_target(${name} ALL DEPENDS "${image}")
endfunction()
