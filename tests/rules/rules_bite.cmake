# SPDX-License-Identifier: Apache-2.0
# A rule that never fails is no rule: makes small trees with one fault each, and expects the rule to
# name it. Then a faultless tree, which must pass.
#   cmake -D RULES_DIR=tests/rules -D WORK_DIR=scratch -P rules_bite.cmake
cmake_minimum_required(VERSION 3.22)

function(run_rule script tree out_status out_text)
    execute_process(COMMAND "${CMAKE_COMMAND}" -D "SOURCE_DIR=${tree}" -P "${RULES_DIR}/${script}"
        RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
    set(${out_status} "${status}" PARENT_SCOPE)
    set(${out_text} "${text}" PARENT_SCOPE)
endfunction()

# expect_tree_fault(SCRIPT RULE FILE): the tree with this file must fail by this rule, once.
function(expect_tree_fault script rule file)
    run_rule(${script} "${WORK_DIR}/tree" status text)
    string(REGEX MATCHALL "\\(rule [a-z-]+\\)" named "${text}")
    if(status EQUAL 0 OR NOT named STREQUAL "(rule ${rule})")
        message(SEND_ERROR "${file} should fail by rule ${rule} alone, but: ${status}, ${text}")
    endif()
    file(REMOVE_RECURSE "${WORK_DIR}/tree")
endfunction()

# expect_fault(SCRIPT RULE FILE CONTENT): a tree of this one file.
function(expect_fault script rule file content)
    file(REMOVE_RECURSE "${WORK_DIR}/tree")
    file(WRITE "${WORK_DIR}/tree/${file}" "${content}")
    expect_tree_fault(${script} ${rule} ${file})
endfunction()

function(expect_bad_include rule file include)
    expect_fault(dependency_rules.cmake ${rule} ${file} "#include <vector>\n#include ${include}\n")
endfunction()

expect_bad_include(level-order engine/base/a.h "\"engine/loading/b.h\"")
expect_bad_include(level-order engine/text/a.cpp "\"engine/kernels/b.h\"")
expect_bad_include(level-order engine/decoding/bpe/a.cpp "<engine/session/b.h>")
expect_bad_include(unknown-level engine/tools/a.cpp "<string>")
expect_bad_include(unknown-level engine/session/a.cpp "\"engine/tools/b.h\"")
expect_bad_include(engine-alone engine/session/a.cpp "\"ui/shell/docks/view.h\"")
expect_bad_include(engine-alone engine/model/a.cpp "\"plugins/backend_torch/a.h\"")
expect_bad_include(qt-in-ui-only engine/session/a.h "<QString>")
expect_bad_include(qt-in-ui-only engine/session/a.h "<QtCore/qglobal.h>")
expect_bad_include(qt-in-ui-only plugins/swift/a.cpp "  <qobject.h>")
expect_bad_include(qt-in-ui-only app/cli_main.cpp "<QCoreApplication>")
expect_bad_include(torch-in-modules-only engine/model/a.cpp "<ATen/core/Tensor.h>")
expect_bad_include(torch-in-modules-only plugins/backend_cuda/a.cu "<torch/torch.h>")
expect_bad_include(torch-in-modules-only ui/views/a.cpp "<c10/core/Device.h>")
expect_bad_include(torch-in-modules-only tests/plugins/a.cpp "<ATen/ATen.h>")
expect_bad_include(qt-in-ui-only plugins/backend_torch/a.cpp "<QTest>")
expect_bad_include(ui-sees-session ui/views/a.cpp "\"engine/model/transformer.h\"")
expect_bad_include(ui-sees-session ui/views/a.cpp "\"app/commands/chat.h\"")
# What a part of the window does not name, directly or through others; and parts that include each other.
foreach(case "theme;ui/views/chat/b.h;ui/text/blocks/a.cpp" "chat;ui/text/b.h;ui part text")
    list(POP_FRONT case used include place)
    file(REMOVE_RECURSE "${WORK_DIR}/tree")
    file(WRITE "${WORK_DIR}/tree/ui/views/chat/CMakeLists.txt" "add_ui_part(chat SOURCES a.cpp PARTS text)\n")
    file(WRITE "${WORK_DIR}/tree/ui/text/CMakeLists.txt" "add_ui_part(text SOURCES a.cpp PARTS ${used})\n")
    file(WRITE "${WORK_DIR}/tree/ui/text/blocks/a.cpp" "#include \"${include}\"\n")
    run_rule(dependency_rules.cmake "${WORK_DIR}/tree" status text)
    if(status EQUAL 0 OR NOT text MATCHES "${place}: [^\n]*\\(rule ui-parts\\)")
        message(SEND_ERROR "${place} should fail by rule ui-parts, but: ${status}, ${text}")
    endif()
endforeach()
file(REMOVE_RECURSE "${WORK_DIR}/tree")

expect_bad_include(plugins-apart plugins/swift/a.cpp "\"plugins/self_sd/b.h\"")
expect_bad_include(plugin-levels plugins/swift/a.cpp "\"engine/session/engine_event.h\"")
expect_bad_include(plugins-see-engine plugins/swift/a.cpp "\"ui/shell/docks/view.h\"")
expect_bad_include(tests-outside app/cli_main.cpp "\"tests/support/a.h\"")
expect_bad_include(rooted-include engine/base/a.cpp "\"result.h\"")
expect_bad_include(rooted-include engine/base/a.cpp "\"engine/base/../text/tokenizer.h\"")

set(tag "SPDX-License-Identifier:")
string(REPEAT "// line\n" 500 many_lines)
expect_fault(file_rules.cmake licence engine/base/a.h "#pragma once\n// ${tag} Apache-2.0\n")
expect_fault(file_rules.cmake licence ui/shell/a.h "// ${tag} Apache-2.0\n")
expect_fault(file_rules.cmake licence installer/a.sh "echo\n")
expect_fault(file_rules.cmake executable installer/a.sh "#!/bin/bash\n# ${tag} Apache-2.0\n")
foreach(limit "QTRY_VERIFY_WITH_TIMEOUT(a, 9)" "process.waitForFinished()" "timer.elapsed() < 9"
        "QTest::qWaitForWindowActive(&window)" "QTest::qWait(50)" "changed.wait_for(lock, 9s)")
    expect_fault(file_rules.cmake time-limit tests/engine/a.cpp
        "// ${tag} Apache-2.0\nQVERIFY(${limit})\;\n")
endforeach()
expect_fault(file_rules.cmake line-wall engine/base/a.h "// ${tag} Apache-2.0\n${many_lines}")

foreach(number RANGE 1 16)
    file(WRITE "${WORK_DIR}/tree/engine/base/a${number}.h" "// ${tag} Apache-2.0\n")
endforeach()
expect_tree_fault(file_rules.cmake folder-wall engine/base)

set(good "${WORK_DIR}/good")
file(REMOVE_RECURSE "${good}")
file(WRITE "${good}/engine/decoding/a.cpp"
    "// ${tag} Apache-2.0\n#include \"engine/model/b.h\"\n#include \"engine/decoding/c.h\"\n")
file(WRITE "${good}/plugins/swift/a.cpp" "// ${tag} Apache-2.0\n#include \"engine/search/b.h\"\n")
file(WRITE "${good}/plugins/backend_torch/a.cpp" "// ${tag} Apache-2.0\n#include <ATen/ATen.h>\n")
file(WRITE "${good}/ui/bridge/a.cpp"
    "// ${tag} GPL-3.0-only\n#include \"engine/session/b.h\"\n#include <QObject>\n")
file(WRITE "${good}/app/studio_main.cpp"
    "// ${tag} GPL-3.0-only\n#include \"ui/shell/b.h\"\n#include \"engine/session/b.h\"\n")
file(WRITE "${good}/tests/engine/a.cpp" "// ${tag} Apache-2.0\n#include <QTest>\n#include \"a.moc\"\n")
foreach(script dependency_rules.cmake file_rules.cmake)
    run_rule(${script} "${good}" status text)
    if(NOT status EQUAL 0)
        message(SEND_ERROR "${script} fails on a faultless tree: ${text}")
    endif()
endforeach()
