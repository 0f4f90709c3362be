// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace engine {

/// One prompt of a data file.
struct DataRecord {
    std::int64_t line = 0;          ///< in which it begins, counted from 1
    std::string task;               ///< see DataLayout::task
    std::string id;                 ///< its line number when it has none
    std::vector<std::string> turns; ///< never empty: one for a single prompt, several for a list
    /// The accepted answers: a text or a list of texts; none if it is neither.
    std::vector<std::string> references = {};
    /// Of a programming task in the form of HumanEval: Python code that defines check(function),
    /// and the name of the function. Empty: not given.
    std::string test = {};
    std::string entryPoint = {};
};

/// A line without a prompt; later lines are not affected.
struct BadLine {
    std::int64_t line = 0;
    std::string message; ///< the error: "line 3: ..."
};

using DataItem = std::variant<DataRecord, BadLine>;

/// A prompt and the file that it is from, as the file was named.
struct DataPrompt {
    std::string file;
    DataRecord record;
};

} // namespace engine
