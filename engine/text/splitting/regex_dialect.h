// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <string>
#include <string_view>

namespace engine {

/// The same regular expression in PCRE2's dialect. tokenizer.json files are written for Oniguruma
/// (Ruby syntax), where for instance \h is a hexadecimal digit and \s leaves out U+180E.
/// Errors: Unsupported names the construct that has no counterpart.
Result<std::string> translateOniguruma(std::string_view pattern);

} // namespace engine
