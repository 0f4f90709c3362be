// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/experiments/line_reader.h"
#include "engine/loading/json/json_document.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace engine {

/// One prompt of a data file.
struct DataRecord {
    std::int64_t line = 0;          ///< counted from 1
    std::string task;               ///< the file's stem when the record names none
    std::string id;                 ///< the record's "id"; its line number when it has none
    std::vector<std::string> turns; ///< never empty: one for a single prompt, several for a list
    /// The accepted answers: "reference", a text or a list of texts; none if it is neither.
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

struct DataStreamOptions {
    std::string textField = "prompt"; ///< a string, or a list of strings: the user's turns
    std::string taskField = "task";
    std::optional<std::int64_t> limit;   ///< how many records are returned, without invalid lines
    std::optional<std::string> onlyTask; ///< records of other tasks are skipped
};

/// Reads prompts from a file in order, with one record in memory: JSON Lines, or plain text with
/// one prompt per line if the name ends in .txt. UTF-8, lines end with LF or CRLF, empty lines are
/// skipped, a line has at most 16 MB. Thread: one.
class DataStream {
public:
    /// Errors: as LineReader::open; InvalidInput for a negative limit.
    static Result<DataStream> open(const std::filesystem::path& path,
                                   const DataStreamOptions& options = {});

    /// The next record or bad line; nothing at the end. Errors: Io, CorruptFile (the file was cut
    /// short while it was read); nothing more can be read then.
    Result<std::optional<DataItem>> next();

private:
    DataStream(LineReader lines,
               const std::filesystem::path& path,
               const DataStreamOptions& options);

    Result<DataRecord> readLine(const TextLine& line) const;
    Result<DataRecord> readJsonRecord(const TextLine& line) const;
    Result<std::vector<std::string>> readTurns(const JsonValue& value,
                                               const std::string& where) const;

    LineReader m_lines;
    DataStreamOptions m_options;
    std::string m_fileTask;
    bool m_isPlainText;
    std::int64_t m_recordCount = 0;
};

} // namespace engine
