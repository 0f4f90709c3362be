// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/bench/bench_figures.h"

#include <nlohmann/json.hpp>

#include <string>

namespace app {

/// The first line of --json: what will be measured.
nlohmann::ordered_json benchStartLine(const BenchFacts& facts);

/// The last line of --json; app/README.md documents every field. What was not measured is null.
nlohmann::ordered_json benchDoneLine(const BenchResults& results);

/// The same as readable text.
std::string benchTable(const BenchResults& results);

} // namespace app
