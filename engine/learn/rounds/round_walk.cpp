// SPDX-License-Identifier: Apache-2.0
#include "engine/learn/rounds/round_walk.h"

#include <algorithm>
#include <array>

namespace engine {

namespace {

std::string textAt(const std::vector<std::string>& texts, std::size_t index) {
    return index < texts.size() ? texts[index] : std::string();
}

/// The tokens of the answer as people read them: their own texts may be parts of characters.
std::vector<std::string> readableTexts(const StepFinished& step, const RoundShape& shape) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < step.tokens.size(); ++i) {
        const EmittedToken& token = step.tokens[i];
        std::string text = token.text;
        for (const TokenChoice& choice : token.choices)
            if (choice.id == token.id && !choice.text.empty())
                text = choice.text;
        if (i < shape.path.size())
            if (std::string drafted =
                    textAt(step.draftTexts, static_cast<std::size_t>(shape.path[i] - 1));
                !drafted.empty())
                text = std::move(drafted);
        texts.push_back(std::move(text));
    }
    return texts;
}

std::vector<WalkRow> rowsOf(const StepFinished& step,
                            const RoundShape& shape,
                            const std::vector<std::string>& tokenTexts,
                            const std::string& rootText) {
    std::vector<WalkRow> rows(static_cast<std::size_t>(shape.rowCount()));
    rows[0].text = rootText;
    for (std::size_t i = 0; i < step.draft.size(); ++i)
        rows[i + 1] = {step.draft[i].token, textAt(step.draftTexts, i), step.draft[i].probability};
    for (std::size_t i = 0; i < step.sides.size(); ++i)
        rows[1 + step.draft.size() + i] = {step.sides[i].token, textAt(step.sideTexts, i)};
    if (step.rowChoices.size() == step.draft.size() + 1)
        for (std::size_t i = 0; i < step.rowChoices.size(); ++i)
            if (step.rowChoices[i].id != kNoToken)
                rows[i].choice = step.rowChoices[i];
    // The row that decided a token: the root for the first one, then the accepted nodes.
    for (std::size_t i = 0; i < step.tokens.size() && i <= shape.path.size(); ++i) {
        WalkRow& row = rows[i == 0 ? 0 : static_cast<std::size_t>(shape.path[i - 1])];
        row.choice =
            TokenChoice{step.tokens[i].id, tokenTexts[i], step.tokens[i].fact.targetProbability};
        row.isEmitted = true;
    }
    return rows;
}

DraftingFacts draftingOf(const StepFinished& step, const RoundShape& shape, double plainMs) {
    DraftingFacts facts;
    for (int row = 1; row <= shape.nodeCount; ++row)
        if (shape.isSpine[static_cast<std::size_t>(row)])
            facts.spine.push_back(row);
    std::ranges::stable_sort(
        facts.spine, {}, [&](int row) { return shape.depths[static_cast<std::size_t>(row)]; });
    facts.confidences = step.confidences;
    facts.end = step.draftEnd;
    facts.ms = step.draftMs;
    if (!facts.confidences.empty()) {
        facts.layersPerPass = step.draftLayers / static_cast<double>(facts.confidences.size());
        if (plainMs > 0.0 && facts.passes() > 0)
            facts.passCost = step.draftMs / facts.passes() / plainMs;
        if (facts.passes() > 0)
            facts.guessed = std::max(static_cast<int>(facts.spine.size()) - facts.passes(), 0);
    }
    return facts;
}

/// Whether the schedule alone explains how wide the draft is.
bool explains(const SiblingSchedule& schedule,
              const std::vector<int>& choices,
              const std::vector<double>& confidences) {
    if (choices.size() != confidences.size())
        return false;
    for (std::size_t i = 0; i < choices.size(); ++i)
        if (schedule.choicesAt(confidences[i]) != choices[i])
            return false;
    return true;
}

WideningFacts wideningOf(const StepFinished& step,
                         const RoundShape& shape,
                         const std::optional<SiblingSchedule>& schedule) {
    WideningFacts facts;
    for (int row = 1; row <= shape.nodeCount; ++row) {
        const auto depth = static_cast<std::size_t>(shape.depths[static_cast<std::size_t>(row)]);
        if (facts.choices.size() < depth)
            facts.choices.resize(depth, 0);
        ++facts.choices[depth - 1];
    }
    if (schedule && explains(*schedule, facts.choices, step.confidences))
        facts.schedule = schedule;
    return facts;
}

VerifyingFacts verifyingOf(const StepFinished& step, const RoundWalk& walk) {
    VerifyingFacts facts;
    facts.rows = std::max(step.verifiedRows, 1);
    facts.layers = step.verifyLayers;
    facts.ms = step.verifyMs;
    if (walk.plainMs > 0.0)
        facts.cost = step.verifyMs / walk.plainMs;
    facts.knowsChoices = std::all_of(walk.rows.begin(),
                                     walk.rows.begin() + 1 + walk.shape.nodeCount,
                                     [](const WalkRow& row) { return row.choice.has_value(); });
    return facts;
}

AcceptingFacts acceptingOf(const StepFinished& step,
                           const RoundWalk& walk,
                           std::vector<std::string> texts,
                           const RoundGround& ground) {
    AcceptingFacts facts;
    facts.tokens = step.tokens;
    facts.texts = std::move(texts);
    facts.accepted = static_cast<int>(std::min(walk.shape.path.size(), step.tokens.size()));
    facts.roundMs = step.draftMs + step.verifyMs + step.otherMs;
    facts.searchMs = step.searchMs;
    facts.plainStepsMs = static_cast<double>(step.tokens.size()) * walk.plainMs;
    facts.before = ground.before;
    facts.soFar = ground.soFar;
    return facts;
}

std::vector<RoundStop> stopsOf(const RoundWalk& walk) {
    std::vector<RoundStop> stops;
    const bool isWider = std::ranges::any_of(walk.widening.choices, [](int k) { return k > 1; });
    if (walk.shape.nodeCount > 0 || walk.drafting.passes() > 0)
        stops.push_back(RoundStop::Draft);
    if (isWider)
        stops.push_back(RoundStop::Widen);
    if (walk.shape.rowCount() > 1)
        stops.push_back(RoundStop::Linearise);
    stops.push_back(RoundStop::Verify);
    stops.push_back(RoundStop::Accept);
    if (!walk.trials.empty())
        stops.push_back(RoundStop::Search);
    return stops;
}

} // namespace

std::string_view roundStopName(RoundStop stop) {
    constexpr std::array<std::string_view, 6> kNames = {
        "draft", "widen", "linearise", "verify", "accept", "search"};
    return kNames[static_cast<std::size_t>(stop)];
}

bool RoundWalk::has(RoundStop stop) const { return std::ranges::find(stops, stop) != stops.end(); }

RoundWalk walkThrough(const StepFinished& step, const RoundGround& ground) {
    RoundWalk walk;
    walk.shape = shapeOf(step);
    std::vector<std::string> texts = readableTexts(step, walk.shape);
    walk.rows = rowsOf(step, walk.shape, texts, ground.rootText);
    walk.layerCount = ground.layerCount;
    walk.plan = ground.plan;
    walk.plainMs = ground.plainMs;
    walk.isPlain = step.isPlain();
    walk.isDrawn = ground.isDrawn;
    walk.drafter = step.drafter;
    walk.drafting = draftingOf(step, walk.shape, walk.plainMs);
    walk.widening = wideningOf(step, walk.shape, ground.siblings);
    walk.widening.isByGuesses = ground.isJoinedByGuesses && walk.drafting.passes() > 0;
    walk.verifying = verifyingOf(step, walk);
    walk.accepting = acceptingOf(step, walk, std::move(texts), ground);
    walk.trials = ground.trials;
    walk.stops = stopsOf(walk);
    return walk;
}

} // namespace engine
