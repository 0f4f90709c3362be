// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/sampling/grammar/grammar_graph.h"

#include <cstdint>
#include <memory>
#include <string>

namespace engine {

/// The kind of description of an answer's form.
enum class GrammarKind : std::uint8_t {
    None,   ///< any text
    Json,   ///< any JSON object
    Schema, ///< JSON that fits a schema
    Regex,  ///< texts that match a regular expression as a whole
};

/// The form of an answer, as given by the user. A plain value.
struct Grammar {
    GrammarKind kind = GrammarKind::None;
    std::string text = {}; ///< the schema, the expression

    bool isOff() const { return kind == GrammarKind::None; }

    bool operator==(const Grammar&) const = default;
};

/// The rules of a grammar; null for None. Errors: InvalidInput, saying what is refused and where.
Result<std::shared_ptr<const GrammarGraph>> makeGrammarGraph(const Grammar& grammar);

} // namespace engine
