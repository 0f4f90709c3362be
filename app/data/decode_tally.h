// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decode_step.h"

#include <nlohmann/json.hpp>

namespace app {

/// Sums over the steps of answers. A plain value.
struct DecodeTally {
    long tokens = 0;
    long steps = 0;
    long draftSteps = 0; ///< passes that drafted: what acceptance divides by
    long accepted = 0;   ///< drafted tokens that were emitted
    double draftMs = 0.0;
    double verifyMs = 0.0;
    double searchMs = 0.0;

    void add(const engine::DecodeStep& step) {
        if (step.tokens.empty()) // held-back text at the end, no step
            return;
        tokens += static_cast<long>(step.tokens.size());
        ++steps;
        draftSteps += step.draft.draftSteps();
        accepted += static_cast<long>(step.path.size());
        draftMs += step.draftMs;
        verifyMs += step.verifyMs;
        add(step.search);
    }

    void add(const engine::SearchReport& report) { searchMs += report.searchMs; }

    void add(const DecodeTally& other) {
        tokens += other.tokens;
        steps += other.steps;
        draftSteps += other.draftSteps;
        accepted += other.accepted;
        draftMs += other.draftMs;
        verifyMs += other.verifyMs;
        searchMs += other.searchMs;
    }

    /// M: tokens of a round on average.
    double tokensPerStep() const {
        return steps > 0 ? static_cast<double>(tokens) / static_cast<double>(steps) : 0.0;
    }

    /// Accepted tokens of a draft step; 0 when nothing was drafted.
    double acceptance() const {
        return draftSteps > 0 ? static_cast<double>(accepted) / static_cast<double>(draftSteps)
                              : 0.0;
    }

    /// The fields that all commands' JSON has in common; acceptance is null without drafts.
    nlohmann::ordered_json json() const {
        using Json = nlohmann::ordered_json;
        return {{"M", tokensPerStep()},
                {"acceptance", draftSteps > 0 ? Json(acceptance()) : Json(nullptr)},
                {"draft_steps", draftSteps},
                {"accepted", accepted},
                {"draft_ms", draftMs},
                {"verify_ms", verifyMs},
                {"search_ms", searchMs}};
    }
};

} // namespace app
