// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <string>
#include <string_view>

namespace engine::jinja {

/// Undoes the escapes of a Python text literal; unknown ones stay as they are.
/// Errors: \x, \u or \U with too few digits or no character of that number; \N{...}.
Result<std::string> unescaped(std::string_view literal);

} // namespace engine::jinja
