// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace engine {

/// The text as a JSON string with its quotes; bytes that are no UTF-8 become U+FFFD.
std::string jsonString(std::string_view text);

} // namespace engine
