// SPDX-License-Identifier: Apache-2.0
#include "app/commands/compare/answer_difference.h"

#include "engine/metrics/near_tie.h"

#include <algorithm>
#include <array>

namespace app {

using namespace engine;

namespace {

std::optional<Difference> firstDifference(const Answers& reference, const Answers& answers) {
    const std::size_t turns = std::max(reference.turns.size(), answers.turns.size());
    for (std::size_t turn = 0; turn < turns; ++turn) {
        Difference difference;
        difference.turn = static_cast<int>(turn);
        if (turn >= std::min(reference.turns.size(), answers.turns.size()))
            return difference;
        const auto& expected = reference.turns[turn].tokens;
        const auto& found = answers.turns[turn].tokens;
        if (expected == found)
            continue;
        const auto [at, other] =
            std::mismatch(expected.begin(), expected.end(), found.begin(), found.end());
        difference.position = static_cast<int>(at - expected.begin());
        return difference;
    }
    return std::nullopt;
}

/// Between the full model's two best logits after the prompt and the first tokens of an answer.
Result<double>
marginAt(const AnsweredTurn& turn, std::size_t position, const AnswerRequest& request) {
    Transformer& transformer = *request.model.loaded.transformer;
    std::vector<TokenId> tokens = turn.prompt;
    tokens.insert(tokens.end(),
                  turn.tokens.begin(),
                  turn.tokens.begin() + static_cast<std::ptrdiff_t>(position));
    ENGINE_TRY(KvCache cache, transformer.makeCache(static_cast<Position>(tokens.size())));
    CachedSequence sequence(std::move(cache));
    const auto behind = std::span(tokens).first(tokens.size() - 1);
    std::shared_ptr<void> held = turnOf(request);
    const auto changeTurns = [&](double) {
        held.reset();
        held = turnOf(request);
    };
    ENGINE_TRY_DO(
        sequence.fill(transformer, behind, {.stop = request.stop, .progress = changeTurns}));
    const LayerPlan plan = LayerPlan::full(transformer.config().layerCount);
    const std::array<int, 1> rows = {0};
    ENGINE_TRY(const ForwardResult result,
               transformer.forward({.plan = plan,
                                    .layout = AttentionLayout::chain(sequence.length(), 1),
                                    .tokens = std::span(tokens).last(1),
                                    .summaryRows = rows},
                                   sequence.cache()));
    const HeadSummary& summary = result.summaries.front();
    return summary.logits[0] - summary.logits[1];
}

} // namespace

bool Difference::isNearTie() const { return margin && engine::isNearTie(*margin); }

Result<std::optional<Difference>>
findDifference(const Answers& vanilla, const Answers& answers, const AnswerRequest& request) {
    auto difference = firstDifference(vanilla, answers);
    if (!difference)
        return difference;
    const auto turn = static_cast<std::size_t>(difference->turn);
    const auto position = static_cast<std::size_t>(difference->position);
    if (turn < vanilla.turns.size() && position < vanilla.turns[turn].tokens.size()) {
        ENGINE_TRY(difference->margin, marginAt(vanilla.turns[turn], position, request));
    }
    return difference;
}

} // namespace app
