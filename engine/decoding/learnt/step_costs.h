// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

namespace engine {

/// What a pass of the full model costs on this machine, by its rows: measured while running, so
/// that a draft is made only where it pays. Machines grow faster and slower within minutes; that is
/// told apart from what rows cost relative to each other, which changes slowly. Thread: one.
class StepCosts {
public:
    /// Rows beyond are extrapolated.
    static constexpr int kMostRows = 65;

    /// A pass of so many rows took so long. Here as below no time at all tells nothing: the clock
    /// stood still or was set back meanwhile.
    void record(int rows, double ms);

    /// The same of a pass that was made to find it out: taken at its word, where record() trusts
    /// the first ones little. Without effect once rows like these were measured, or before a plain
    /// pass was.
    void recordFirst(int rows, double ms);

    /// v(rows): the cost of a pass over that of one row. Rows that were never measured lie between
    /// their neighbours; before any measurement a row more costs kFirstGuess of the first one.
    double relativeCost(int rows) const;

    /// A pass of one row that reads this share of the weights (weightShare) took so long.
    void recordDraft(double share, double ms);

    /// What such a pass costs over a full one of one row. The line through (1, 1) on which what was
    /// measured lies; before any measurement its share.
    double relativeDraftCost(double share) const;

    /// A pass of so many rows that resumed behind layers which had run for them already, and read
    /// this share of the weights, took so long.
    void recordResumed(double share, int rows, double ms);

    /// What such a pass costs over a full one of one row: of what as many rows cost, what is left
    /// by a line like that of draft passes; theirs before any measurement.
    double relativeResumedCost(double share, int rows) const;

    /// Of a pass of one row just now, milliseconds; 0 before the first measurement.
    double oneRowMs() const { return m_oneRowMs; }

    /// Passes of so many rows that were measured.
    int samples(int rows) const;

    /// Draft passes that were measured and told something.
    int draftSamples() const { return m_drafts.samples; }

    /// The same of resumed passes.
    int resumedSamples() const { return m_resumed.samples; }

    static constexpr double kFirstGuess = 0.08;

private:
    struct Entry {
        double relative = 1.0;
        int samples = 0;
    };

    /// Passes that read less than all weights.
    struct PartPasses {
        double savedPart = 1.0; // of the time of the weights that they leave out
        int samples = 0;

        void add(double share, double relative);
        double relativeCost(double share) const;
    };

    int nextMeasured(int rows, int step) const;

    double m_oneRowMs = 0.0;
    PartPasses m_drafts;
    PartPasses m_resumed;
    std::array<Entry, kMostRows + 1> m_entries = {}; // by rows
};

} // namespace engine
