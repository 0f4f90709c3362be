// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/token.h"

#include <span>
#include <vector>

namespace del {

/// What an exit predicts after one row, beside what the full model predicts there: drafted by
/// nobody, only compared. Exits are named by the layers that they run, from 1 on. A plain value.
struct ShadowToken {
    engine::TokenId token = engine::kNoToken;
    double confidence = 0.0; ///< its probability at temperature 1
    /// 1 = the full model says the same, 0 = it does not; between them where laws are compared: the
    /// part of its law that the full model shares.
    double agreement = 0.0;
};

/// Decayed counts of one exit: a shadow token counts as a match by its agreement. A plain value.
/// Source: arXiv 2504.05598 section 3.2
struct ExitCounts {
    double matches = 0.0;            ///< cM
    double mismatches = 0.0;         ///< cX
    double matchConfidence = 0.0;    ///< sM, sum over the matches
    double mismatchConfidence = 0.0; ///< sX

    /// How likely a drafted token is taken, cM / (cM + cX); 0 before anything was counted.
    double alpha() const;
};

/// How often the shadow tokens of every exit agree with the full model, the newest rounds counting
/// most. An exit's sums fade by the rounds that it was compared in, so one that is compared rarely
/// keeps what it has shown. Thread: one.
class ExitStatistics {
public:
    /// A round weighs `decay` times the next one: w, 0 to 1.
    ExitStatistics(int layerCount, double decay);

    /// The shadow tokens of one round at the rows that were on the model's own path. `counted` is
    /// how many of them alpha divides by: all of them, or what a published formula says instead.
    void record(int exit, std::span<const ShadowToken> shadows, int counted);

    /// All of them count.
    void record(int exit, std::span<const ShadowToken> shadows) {
        record(exit, shadows, static_cast<int>(shadows.size()));
    }

    /// Shapes: 1 <= exit < layers.
    const ExitCounts& counts(int exit) const { return entry(exit).counts; }

    /// Exits that were compared at least once, ascending.
    std::vector<int> known() const;

    bool isKnown(int exit) const { return entry(exit).isKnown; }

    void clear();

    /// From the next round on.
    void changeDecay(double decay) { m_decay = decay; }

private:
    struct Entry {
        ExitCounts counts;
        bool isKnown = false;
    };

    const Entry& entry(int exit) const;

    std::vector<Entry> m_entries; // [layers - 1], that of exit 1 first
    double m_decay;
};

} // namespace del
