# SPDX-License-Identifier: Apache-2.0
# Decoder modules that a registry must open or refuse; tests/engine/decoding/decoder_registry_test.cpp.
set(test_decoder_dir "${CMAKE_BINARY_DIR}/tests/decoder_modules")

# add_test_decoder(NAME SOURCE DEFINITIONS...): libdecoder_NAME.so in the test modules' folder.
function(add_test_decoder name source)
    add_library(test_decoder_${name} MODULE ${source})
    target_link_libraries(test_decoder_${name} PRIVATE swift_engine)
    target_compile_definitions(test_decoder_${name} PRIVATE ${ARGN})
    set_target_properties(test_decoder_${name} PROPERTIES
        OUTPUT_NAME decoder_${name}
        LIBRARY_OUTPUT_DIRECTORY "${test_decoder_dir}")
    add_custom_command(TARGET test_decoder_${name} POST_BUILD
        COMMAND chmod go-w "$<TARGET_FILE:test_decoder_${name}>")
    add_dependencies(decoder_registry_test test_decoder_${name})
endfunction()

add_test_decoder(faulty decoder_modules/faulty_decoder.cpp)
add_test_decoder(showing decoder_modules/showing_decoder.cpp)
foreach(fault throwing silent usurper bad_default bad_profile)
    add_test_decoder(${fault} decoder_modules/broken_registration.cpp TEST_FAULT="${fault}")
endforeach()
add_test_decoder(stale decoder_modules/stale_decoder.cpp)

# The example of plugins/README.md: its one ```cpp block is the whole source of the module.
set(plugin_guide "${CMAKE_SOURCE_DIR}/plugins/README.md")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${plugin_guide}")
file(READ "${plugin_guide}" guide_text)
string(FIND "${guide_text}" "```cpp\n" block_begin)
if(block_begin LESS 0)
    message(FATAL_ERROR "plugins/README.md holds no example decoder")
endif()
math(EXPR block_begin "${block_begin} + 7")
string(SUBSTRING "${guide_text}" ${block_begin} -1 guide_text)
string(FIND "${guide_text}" "\n```" block_end)
math(EXPR block_end "${block_end} + 1")
string(SUBSTRING "${guide_text}" 0 ${block_end} example_source)
set(example_file "${CMAKE_CURRENT_BINARY_DIR}/echo_decoder.cpp")
file(CONFIGURE OUTPUT "${example_file}" CONTENT "@example_source@" @ONLY)
add_test_decoder(echo "${example_file}")
foreach(module faulty showing throwing silent usurper bad_default bad_profile echo)
    add_module_build_id(test_decoder_${module})
endforeach()

file(RELATIVE_PATH relative_test_decoder_dir "${CMAKE_SOURCE_DIR}" "${test_decoder_dir}")
target_compile_definitions(decoder_registry_test PRIVATE
    TEST_DECODER_DIR="${relative_test_decoder_dir}")
