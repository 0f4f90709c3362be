// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/values/value.h"

#include <optional>

namespace engine::jinja {

/// How one value is written into a field, whichever of Python's two syntaxes asked for it.
struct FieldFormat {
    std::string fill = " ";
    char align = 0;           ///< '<' '>' '^' '=', or 0 for the type's own
    char positiveSign = 0;    ///< what stands before numbers that are not negative, or 0
    bool isAlternate = false; ///< 0x before hexadecimal numbers
    bool groupsThousands = false;
    std::int64_t width = 0;
    std::optional<std::int64_t> precision;
    char type = 0; ///< s d f e g x o b c %, or 0 for the value's own
};

/// Digits of a text from `offset` on, which is moved behind them; nothing when there are none.
/// Errors: wider than a text may become.
Result<std::optional<std::int64_t>>
readFieldNumber(RenderContext& context, std::string_view text, std::size_t& offset);

/// Errors: a number format for what is no number, a type that is not known, too wide.
Result<std::string>
formatField(RenderContext& context, const Value& value, const FieldFormat& format);

} // namespace engine::jinja
