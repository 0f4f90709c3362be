// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace engine {

/// How a fact is written in a sentence.
enum class FactUnit {
    Count, ///< 7
    Ratio, ///< 2.13
    Share, ///< 0.83, never above 1
    Times, ///< 1.29x
    Word,  ///< a text
};

/// Something about the run that a lesson may show and ask for. A plain value.
struct LessonFactInfo {
    std::string_view name;
    FactUnit unit;
    std::string_view meaning; ///< for those who write lessons
};

/// All facts. "answer" is the newest answer, "round" the round that slow motion shows, "set" the
/// skip set in use or on the layer map, "sides" the newest comparison of two answers.
inline constexpr std::array kLessonFacts = std::to_array<LessonFactInfo>({
    {"model.layers", FactUnit::Count, "layers of the loaded model"},
    {"model.sublayers", FactUnit::Count, "attention and MLP sublayers of the loaded model"},
    {"model.planted", FactUnit::Count, "1 for the lesson model, else 0"},
    {"answer.decoder", FactUnit::Word, "the decoder that wrote the answer, as in a command"},
    {"answer.tokens", FactUnit::Count, "tokens of the answer"},
    {"answer.passes", FactUnit::Count, "passes of the full model that wrote it"},
    {"answer.M", FactUnit::Ratio, "tokens a pass of the full model"},
    {"answer.acceptance", FactUnit::Share, "accepted tokens over drafted ones"},
    {"answer.speedup", FactUnit::Times, "over vanilla, measured"},
    {"answer.c", FactUnit::Ratio, "time of a draft pass over a plain step"},
    {"answer.v", FactUnit::Ratio, "time of a verifying pass over a plain step"},
    {"answer.expected", FactUnit::Times, "equation 6 of arXiv 2410.06916, with the measured c"},
    {"round.stop", FactUnit::Word, "draft, widen, linearise, verify, accept or search"},
    {"round.first_choices", FactUnit::Count, "tokens on the draft's main line"},
    {"round.candidates", FactUnit::Count, "all drafted tokens, alternatives included"},
    {"round.rows", FactUnit::Count, "rows of the verifying pass: the candidates and the root"},
    {"round.accepted", FactUnit::Count, "drafted tokens that were kept"},
    {"round.written", FactUnit::Count, "tokens that the round wrote, its own token included"},
    {"round.row", FactUnit::Count, "the selected row of the mask; 0 is the root"},
    {"set.skipped", FactUnit::Count, "sublayers that the set skips"},
    {"set.attention", FactUnit::Count, "attention sublayers among them"},
    {"set.mlp", FactUnit::Count, "MLP sublayers among them"},
    {"set.ratio", FactUnit::Share, "skipped sublayers over those that may be skipped"},
    {"set.matchness", FactUnit::Share, "share of tokens at which the set agrees with the model"},
    {"search.trials", FactUnit::Count, "sets that the search has scored"},
    {"search.best", FactUnit::Share, "the highest matchness that it has found"},
    {"search.planted", FactUnit::Share, "copies of the lesson model that the set skips, over all"},
    {"lens.layer",
     FactUnit::Count,
     "the layer of the selected cell, from 0; the embedding has none"},
    {"lens.final_layer", FactUnit::Count, "layer from which on the selected token stays first"},
    {"lens.rank", FactUnit::Count, "rank of the selected token at the selected depth, from 1"},
    {"lens.probability", FactUnit::Share, "probability of the selected token at that depth"},
    {"sides.equal", FactUnit::Count, "tokens from the beginning that are the same"},
    {"sides.tokens", FactUnit::Count, "tokens of the longer answer"},
    {"sides.same", FactUnit::Count, "1 once both have ended and are the same, 0 if they differ"},
});

/// Null for an unknown name.
const LessonFactInfo* lessonFact(std::string_view name);

using LessonFact = std::variant<double, std::string>;

/// What is known at a moment, by name.
using LessonFacts = std::map<std::string, LessonFact, std::less<>>;

/// `text` with the value of each {{name}} in its place, "..." for a fact that is not known.
std::string filledIn(std::string_view text, const LessonFacts& facts);

/// The same without the sentences that name a fact that is not known, unless nothing is left then.
std::string filledInAsKnown(std::string_view text, const LessonFacts& facts);

} // namespace engine
