// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/learn/rounds/round_log.h"
#include "engine/learn/rounds/round_shape.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// The stops of a walk through a round, in their order. A round has those that happened in it.
enum class RoundStop : std::uint8_t {
    Draft,     ///< first choices are drafted one after the other
    Widen,     ///< alternatives join them
    Linearise, ///< the tree becomes rows of one pass
    Verify,    ///< the full model reads all rows
    Accept,    ///< what it agrees with is kept, and its own token added
    Search,    ///< a candidate of the search for a skip set was scored
};

std::string_view roundStopName(RoundStop stop); ///< "draft", "widen", ...

/// A row of the verifying pass, as a picture shows it. A plain value.
struct WalkRow {
    TokenId token = kNoToken; ///< kNoToken for the root
    std::string text;         ///< as readableToken() writes it; empty if it is not known
    double probability = 0.0; ///< by the draft; 0 for the root and for rows beside the draft
    /// What the full model has behind this row: the token that it emitted there, or else the one
    /// that it found most likely. None if the recording does not have it.
    std::optional<TokenChoice> choice = {};
    bool isEmitted = false; ///< the choice is a token of the answer
};

/// How the first choices were drafted. A plain value.
struct DraftingFacts {
    std::vector<int> spine;          ///< rows of the first choices, from depth 1 on
    std::vector<double> confidences; ///< [passes] the probability of each pass's first choice
    DraftEnd end;
    double ms = 0.0;
    double layersPerPass = 0.0; ///< read by one pass; 0 if no pass was made
    double passCost = 0.0;      ///< c: a pass in plain steps; 0 if it is not known
    int guessed = 0;            ///< first choices behind those of the passes, which took none

    /// Of the model; guesses from seen text have confidences, too, but took none.
    int passes() const { return layersPerPass > 0.0 ? static_cast<int>(confidences.size()) : 0; }
};

/// How the draft was widened. A plain value.
struct WideningFacts {
    std::vector<int> choices; ///< [depths] tokens at each depth, first choices included: k
    /// The schedule by which that was done; none if it was done otherwise, or cut.
    std::optional<SiblingSchedule> schedule;
    bool isByGuesses = false; ///< what passes drafted, by guesses that took none
};

/// The pass of the full model. A plain value.
struct VerifyingFacts {
    int rows = 1;
    double layers = 0.0; ///< that it read; fewer than the model has if it resumed behind an exit
    double ms = 0.0;
    double cost = 0.0;         ///< v: in plain steps; 0 if it is not known
    bool knowsChoices = false; ///< the choice of every row but those beside the draft is known
};

/// What the round wrote. A plain value.
struct AcceptingFacts {
    std::vector<EmittedToken> tokens; ///< as recorded
    std::vector<std::string> texts;   ///< [tokens] readable
    int accepted = 0;                 ///< of them were drafted
    double roundMs = 0.0;             ///< without the search
    double searchMs = 0.0;            ///< of the search for a skip set, within this round
    double plainStepsMs = 0.0;        ///< as many tokens by plain steps; 0 if it is not known
    DecodeMetrics before;             ///< of the answer, without this round
    DecodeMetrics soFar;              ///< of the answer, this round included

    int own() const { return static_cast<int>(tokens.size()) - accepted; }

    /// Of the round, over plain steps; 0 if it is not known.
    double speedup() const { return roundMs > 0.0 ? plainStepsMs / roundMs : 0.0; }
};

/// A round cut into its stops, with the numbers of each. A plain value.
struct RoundWalk {
    RoundShape shape;
    std::vector<WalkRow> rows; ///< [shape.rowCount()]
    std::vector<RoundStop> stops;
    int layerCount = 0;                      ///< 0 = not known
    std::shared_ptr<const PlanOutline> plan; ///< see RoundGround::plan
    double plainMs = 0.0;                    ///< see RoundGround::plainMs
    bool isPlain = false;                    ///< the full model alone, one token
    bool isDrawn = false;                    ///< see RoundGround::isDrawn
    std::string drafter;                     ///< see StepFinished::drafter
    DraftingFacts drafting;
    WideningFacts widening;
    VerifyingFacts verifying;
    AcceptingFacts accepting;
    std::vector<TrialFinished> trials;

    bool has(RoundStop stop) const;

    /// A layer of its own beside the model drafted, and none of the model's.
    bool isByAdapter() const { return drafter == "tuned"; }

    /// All layers drafted, from a copy of their weights in 4 bits.
    bool isByCopy() const { return drafter == "copy"; }

    int candidates() const { return shape.nodeCount; }
};

/// Works for the rounds of every decoder, and for any numbers that a recording may hold.
RoundWalk walkThrough(const StepFinished& step, const RoundGround& ground);

} // namespace engine
