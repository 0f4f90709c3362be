// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/values/value.h"

namespace engine::jinja {

/// Python's str(value): what {{ }} prints. Errors: longer than a text may become.
Result<std::string> toText(RenderContext& context, const Value& value);

/// Python's repr(value): texts in quotes. Errors: as toText.
Result<std::string> toRepresentation(RenderContext& context, const Value& value);

/// Python's repr of a float: the shortest digits that read back equal, "1.0", "1e+16", "inf".
std::string floatText(double value);

} // namespace engine::jinja
