// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/data/reading/line_reader.h"
#include "engine/experiments/data/reading/record_reader.h"

namespace engine {

/// The names of a table's columns, without white space around them. `row` is its first one.
std::vector<std::string> columnNames(const std::vector<std::string>& row, const DataLayout& layout);

/// The records of a table, of which no line was read yet. Errors: as openRecords().
Result<std::unique_ptr<RecordReader>> openTable(LineReader lines,
                                                const DataLayout& layout,
                                                const std::string& fileTask,
                                                const std::stop_token& stop);

} // namespace engine
