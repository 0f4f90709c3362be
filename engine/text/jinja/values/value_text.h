// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/values/value.h"

#include <nlohmann/json_fwd.hpp>

namespace engine::jinja {

/// Python's str(value): what {{ }} prints. Errors: longer than a text may become.
Result<std::string> toText(RenderContext& context, const Value& value);

/// Python's repr of a float: the shortest digits that read back equal, "1.0", "1e+16", "inf".
std::string floatText(double value);

/// How json.dumps writes.
struct JsonStyle {
    int indent = -1; ///< -1: everything on one line
    bool escapesNonAscii = false;
};

/// Python's json.dumps. Errors: a value JSON has no word for; longer than a text may become.
Result<std::string> toJson(RenderContext& context, const Value& value, const JsonStyle& style);

/// Variables for a template. Errors: nested beyond kMaxValueDepth.
Result<Value> valueFromJson(const nlohmann::ordered_json& json);

} // namespace engine::jinja
