// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace engine {

/// The numbers of a list as the system writes it, in their order: "0-3,8"; empty if it cannot be
/// understood.
std::vector<int> numberList(std::string_view text);

/// The same of the first line of a file; empty if it cannot be read.
std::vector<int> numberListIn(const std::filesystem::path& file);

} // namespace engine
