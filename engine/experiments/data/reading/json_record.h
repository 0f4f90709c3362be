// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/experiments/data/data_layout.h"
#include "engine/experiments/data/data_record.h"
#include "engine/experiments/data/reading/line_reader.h"
#include "engine/loading/json/json_document.h"

#include <functional>
#include <set>
#include <string>

namespace engine {

/// The object in a line. Errors: CorruptFile for anything else, "line 3: ...".
Result<JsonDocument> readJsonLine(const TextLine& line);

/// A text, or a list of nothing but texts; none for anything else.
std::vector<std::string> textsIn(const JsonValue& value);

/// Names of fields.
using FieldSet = std::set<std::string, std::less<>>;

/// The record in a line; `fileTask` is the task of the file. Takes the fields that the line's
/// object has out of `missing`. Errors: as readJsonLine(); also for fields that are missing or of
/// another type.
Result<DataRecord> readJsonRecord(const TextLine& line,
                                  const DataLayout& layout,
                                  const std::string& fileTask,
                                  FieldSet& missing);

} // namespace engine
