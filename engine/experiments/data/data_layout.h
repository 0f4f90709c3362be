// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace engine {

/// The forms in which prompts are read. The name of a file says which one it has.
enum class DataFormat : std::uint8_t {
    JsonLines, ///< one JSON object in each line; also for every name that is not listed here
    Table,     ///< .csv, .tsv, .tab: rows of cells as in RFC 4180
    Lines,     ///< .txt: one prompt in each line
    Document,  ///< .md, .markdown: the whole file is one prompt
};

DataFormat dataFormatOf(const std::filesystem::path& path);

/// Where the task of a prompt is found.
enum class TaskSource : std::uint8_t {
    Field, ///< in a field; a record without it has the task of its file
    File,  ///< it is the task of the file: its name without the extension
    Fixed, ///< all prompts have the same
};

/// Which field of a JSON object, or which column of a table, holds what. Records need a prompt; all
/// else may be missing. Plain text and documents have only a prompt.
struct DataLayout {
    std::string prompt = "prompt"; ///< a text; in JSON also a list of texts: a user's turns
    TaskSource taskSource = TaskSource::Field;
    std::string task = "task"; ///< the field, or the fixed task
    std::string id = "id";
    std::string reference = "reference";
    std::string test = "test"; ///< this and the next: see DataRecord
    std::string entryPoint = "entry_point";
    std::optional<char> separator = {}; ///< between a table's cells; none = findSeparator()
    /// Of the fields above: those that a user has named, so that a file must have them.
    std::vector<std::string> required = {};
    bool hasHeader = true; ///< a table's first row has the names of its columns; without such a row
                           ///< they are called "1", "2", ...
};

/// The field's name, or the column's.
struct DataField {
    std::string name;
    bool isText = true;          ///< its first values are texts, or lists of texts
    std::int64_t textBytes = 0;  ///< of its first values together
    std::string firstValue = {}; ///< the beginning of its first text
};

/// The fields of the first records, in the order in which they appear; none for plain text and
/// documents. Errors: those of DataStream::open; Cancelled.
Result<std::vector<DataField>> fieldsOf(const std::filesystem::path& path,
                                        const DataLayout& layout,
                                        const std::stop_token& stop = {});

/// A layout for a file of which nothing is known: made from the names that data sets usually give
/// to their fields ("question", "answer", ...) and from the first records. The prompt is the
/// longest text if no name is known. Whether a table has a header is read off its first row unless
/// it is said. The separator stays open, because the layout may be used for other tables, too.
/// Errors: as fieldsOf().
Result<DataLayout> proposeLayout(const std::filesystem::path& path,
                                 std::optional<bool> hasHeader = {},
                                 const std::stop_token& stop = {});

} // namespace engine
