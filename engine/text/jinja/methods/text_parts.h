// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/text/jinja/operations/text_search.h"
#include "engine/text/jinja/values/containers.h"

/// What text methods and text filters share.
namespace engine::jinja {

/// A list of copies. Errors: the limit of steps.
Result<Value> listOfTexts(RenderContext& context, const std::vector<std::string_view>& texts);

/// str.strip; `characters` may be null. Errors: characters that are no text.
Result<Value>
strippedValue(RenderContext& context, const Value& text, const Value* characters, Side side);

struct Replacement {
    std::string_view wanted;
    std::string_view replacement;
    std::int64_t limit = -1; ///< negative: all
};

Result<Value>
replacedValue(RenderContext& context, std::string_view text, const Replacement& replacement);

/// str.join of texts. Errors: an item that is no text.
Result<Value>
joinedTexts(RenderContext& context, const Value& iterable, std::string_view separator);

struct Justification {
    std::int64_t width = 0;
    std::string_view fill = " ";
    char align = '<'; ///< '<' '>' '^'
};

/// str.ljust, rjust, center.
Result<Value>
justifiedValue(RenderContext& context, std::string_view text, const Justification& justification);

/// text[start:end] by characters; a null bound is open. Nothing when it starts behind its end:
/// not even an empty text is found there. Errors: no integers.
Result<std::optional<std::string_view>>
characterRange(RenderContext& context, std::string_view text, const Value* start, const Value* end);

/// Whether some character passes `wanted` and none passes `other`.
bool hasOnlyCase(std::string_view text, bool (*wanted)(char32_t), bool (*other)(char32_t));

} // namespace engine::jinja
