# SPDX-License-Identifier: Apache-2.0
# Who may include whom (the levels in engine/README.md). Reads the #include lines of all sources.
#   cmake -D SOURCE_DIR=checkout -P dependency_rules.cmake
cmake_minimum_required(VERSION 3.22)

# Inside the engine an include goes to a lower number or stays in its own level.
set(level_base 0)
set(level_loading 1)
set(level_text 2)
set(level_kernels 2)
set(level_model 3)
set(level_sampling 4)
set(level_decoding 5)
set(level_search 5)
set(level_adaptation 6)
set(level_metrics 7)
set(level_lens 7)
set(level_session 8)
set(level_experiments 8)
set(level_tuning 8)
set(level_learn 9)
set(highest_level_of_plugins 6)

# Run-time modules that may see LibTorch; their tests see it through the engine's interface. None of
# them may see Qt, so no file sees both (LibTorch has members named as Qt's macro `slots`).
set(torch_modules backend_torch trainer_torch)

set_property(GLOBAL PROPERTY VIOLATION_COUNT 0)
function(report_violation rule text)
    message("${file}: ${text} (rule ${rule})")
    get_property(count GLOBAL PROPERTY VIOLATION_COUNT)
    math(EXPR count "${count} + 1")
    set_property(GLOBAL PROPERTY VIOLATION_COUNT ${count})
endfunction()

# The functions below read `file`, `area` (its folder), `part` (its level, module or sub-folder),
# `include` and `seen_part` from the loop at the end.

function(check_engine_include)
    if(NOT include MATCHES "^engine/")
        report_violation(engine-alone "the engine may not include \"${include}\"")
    elseif(NOT DEFINED level_${seen_part})
        report_violation(unknown-level "\"${include}\" is in no level of the engine")
    elseif(DEFINED level_${part} AND NOT seen_part STREQUAL part
           AND NOT level_${seen_part} LESS level_${part})
        report_violation(level-order "level ${part} may not include \"${include}\"")
    endif()
endfunction()

function(check_plugin_include)
    if(include MATCHES "^plugins/backend_cuda/emulation/" AND NOT file MATCHES
       "^plugins/backend_cuda/(emulation/|kernels/device_words\\.h$)")
        report_violation(emulation-in-tests "only tests may include \"${include}\"")
    elseif(include MATCHES "^plugins/")
        if(NOT seen_part STREQUAL part)
            report_violation(plugins-apart "module ${part} may not include \"${include}\"")
        endif()
    elseif(NOT include MATCHES "^engine/")
        report_violation(plugins-see-engine "a module may not include \"${include}\"")
    elseif(part MATCHES "^trainer_" AND include STREQUAL "engine/tuning/trainer.h")
        # What a module that trains implements.
    elseif(NOT DEFINED level_${seen_part} OR level_${seen_part} GREATER highest_level_of_plugins)
        report_violation(plugin-levels "a module may not include \"${include}\"")
    endif()
endfunction()

function(check_project_include)
    if(area STREQUAL engine)
        check_engine_include()
    elseif(area STREQUAL plugins)
        check_plugin_include()
    elseif(area STREQUAL ui AND NOT include MATCHES
           "^(ui/|engine/session/|engine/learn/|engine/metrics/sample_statistics\\.h$|engine/experiments/(data|recipe|run|report)/)")
        report_violation(ui-sees-session "the ui may not include \"${include}\"")
    elseif(area STREQUAL app AND include MATCHES "^tests/")
        report_violation(tests-outside "a program may not include \"${include}\"")
    endif()
endfunction()

# Third-party headers that belong to one part of the house only.
function(check_foreign_include)
    if(include MATCHES "^(Qt?[A-Z]|q[a-z0-9]+\\.h$)" AND NOT file MATCHES "^(ui/|tests/|app/studio)")
        report_violation(qt-in-ui-only "Qt's <${include}> may not be included here")
    elseif(include MATCHES "^(ATen|c10|caffe2|torch)/"
           AND NOT (area STREQUAL plugins AND part IN_LIST torch_modules))
        report_violation(torch-in-modules-only "LibTorch's <${include}> may not be included here")
    endif()
endfunction()

file(GLOB_RECURSE files RELATIVE "${SOURCE_DIR}"
    "${SOURCE_DIR}/app/*" "${SOURCE_DIR}/engine/*" "${SOURCE_DIR}/plugins/*"
    "${SOURCE_DIR}/tests/*" "${SOURCE_DIR}/ui/*")
list(FILTER files INCLUDE REGEX "\\.(h|hpp|cpp|cu|cuh|inl)$")
if(NOT files)
    message(FATAL_ERROR "no sources in ${SOURCE_DIR}")
endif()

foreach(file ${files})
    string(REGEX REPLACE "^([^/]+)/([^/]+).*$" "\\1;\\2" path_parts "${file}")
    list(GET path_parts 0 area)
    list(GET path_parts 1 part)
    if(area STREQUAL engine AND NOT DEFINED level_${part})
        report_violation(unknown-level "this file is in no level of the engine")
    endif()
    file(STRINGS "${SOURCE_DIR}/${file}" lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
    foreach(line ${lines})
        string(REGEX REPLACE "^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"]*).*$" "\\1;\\2" parts "${line}")
        list(GET parts 0 quote)
        list(GET parts 1 include)
        if(include MATCHES "^(app|engine|plugins|tests|ui)/" AND NOT include MATCHES "\\.\\./")
            string(REGEX REPLACE "^[^/]+/([^/]+).*$" "\\1" seen_part "${include}")
            check_project_include()
        elseif(quote STREQUAL "<")
            check_foreign_include()
        elseif(NOT include MATCHES "^[a-z0-9_]+\\.moc$")
            report_violation(rooted-include
                "\"${include}\" is not written from the root of the checkout")
        endif()
    endforeach()
endforeach()

list(LENGTH files file_count)
get_property(violation_count GLOBAL PROPERTY VIOLATION_COUNT)
if(violation_count GREATER 0)
    message(FATAL_ERROR "${violation_count} includes against the dependency rule")
endif()
message("${file_count} files obey the dependency rule")
