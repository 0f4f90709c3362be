// SPDX-License-Identifier: Apache-2.0
#include "engine/sampling/grammar/grammar.h"

#include "engine/sampling/grammar/json/json_parts.h"
#include "engine/sampling/grammar/json/schema_grammar.h"
#include "engine/sampling/grammar/regex_grammar.h"

#include <utility>

namespace engine {

namespace {

constexpr std::size_t kMostPatternBytes = 100'000;

Result<GrammarPart> partOf(GrammarBuilder& builder, const Grammar& grammar) {
    if (grammar.kind == GrammarKind::Schema)
        return schemaPart(builder, grammar.text);
    if (grammar.kind == GrammarKind::Json)
        return JsonParts(builder).anyObject();
    if (grammar.text.size() > kMostPatternBytes)
        return Error{
            ErrorCode::InvalidInput,
            fmt::format("The regular expression is longer than {} bytes.", kMostPatternBytes),
            "Write a shorter one."};
    return regexPart(builder, grammar.text);
}

} // namespace

Result<std::shared_ptr<const GrammarGraph>> makeGrammarGraph(const Grammar& grammar) {
    if (grammar.isOff())
        return std::shared_ptr<const GrammarGraph>();
    GrammarBuilder builder;
    const int whole = builder.addRule("the grammar");
    ENGINE_TRY(const GrammarPart part, partOf(builder, grammar));
    builder.define(whole, part);
    const bool isSchema = grammar.kind == GrammarKind::Schema;
    ENGINE_TRY(GrammarGraph graph,
               std::move(builder).finish(isSchema ? "The JSON schema" : "The regular expression"));
    return std::make_shared<const GrammarGraph>(std::move(graph));
}

} // namespace engine
