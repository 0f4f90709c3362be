// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

namespace engine {

/// What passes cost on this machine, measured while decoding, so that a draft is made only where it
/// pays. A machine may become faster or slower within minutes, while the relative cost of a pass of
/// several rows changes slowly, as with the length of the text; so both are estimated separately.
/// Passes of several rows alone cannot tell one from the other: a pass of one row behind many of
/// them corrects the cost of several rows. Thread: one.
class StepCosts {
public:
    /// Passes of more rows than this are priced by extrapolation.
    static constexpr int kMostRows = 65;

    /// Records the time of a full pass over so many rows. Here and below a time of 0 is ignored:
    /// the clock stood still or was set back.
    void record(int rows, double ms);

    /// The same for a pass that was made only to measure it. Its time is believed at once, while
    /// record() gives the first times little weight. Ignored if passes of so many rows were
    /// measured before, or if no plain pass was.
    void recordFirst(int rows, double ms);

    /// v(rows): the cost of a pass of so many rows relative to a pass of one. Between measured
    /// numbers of rows it is interpolated; beyond the last one, the line through (1, 1) and that
    /// measurement goes on. Before any measurement each further row costs kFirstGuess of the first
    /// one.
    double relativeCost(int rows) const;

    /// Records the time of a pass of one row that read this share of the weights (see weightShare).
    void recordDraft(double share, double ms);

    /// The cost of such a pass relative to a full pass of one row, by a line through (1, 1) that is
    /// fitted to the measurements; before any measurement, the share itself.
    double relativeDraftCost(double share) const;

    /// Such passes read other weights from now on: what they cost is measured anew.
    void forgetDrafts() { m_drafts = {}; }

    /// Records the time of a pass of one row through a network of its own that drafts, whose
    /// weights are this share of the full model's.
    void recordNetwork(double share, double ms);

    /// The cost of such a pass relative to a full pass of one row: a line of their own, as small
    /// matrices take more time for each byte than the model's. Before any measurement, the share
    /// itself.
    double relativeNetworkCost(double share) const;

    /// Records the time of a pass over so many rows that resumed behind the first layers and read
    /// this share of the weights.
    void recordResumed(double share, int rows, double ms);

    /// The cost of such a pass relative to a full pass of one row: relativeCost(rows), reduced by a
    /// line like that of draft passes; before any measurement the line of draft passes is used.
    double relativeResumedCost(double share, int rows) const;

    /// Milliseconds that a full pass of one row takes at present; 0 before the first measurement.
    double oneRowMs() const { return m_oneRowMs; }

    /// How many full passes of so many rows were measured.
    int samples(int rows) const;

    /// How many draft passes were measured and used.
    int draftSamples() const { return m_drafts.samples; }

    /// How many resumed passes were measured and used.
    int resumedSamples() const { return m_resumed.samples; }

    static constexpr double kFirstGuess = 0.08;

private:
    struct Entry {
        double relative = 1.0;
        int samples = 0;
    };

    /// Passes that read only part of the weights.
    struct PartPasses {
        double savedPart = 1.0; // share of the left-out weights' time that is really saved
        int samples = 0;

        void add(double share, double relative);
        double relativeCost(double share) const;
    };

    int nextMeasured(int rows, int step) const;
    void correctRows(double surprise);

    double m_oneRowMs = 0.0;
    int m_sincePlain = 0; // passes of several rows behind the newest one of one row
    PartPasses m_drafts;
    PartPasses m_networks;
    PartPasses m_resumed;
    std::array<Entry, kMostRows + 1> m_entries = {}; // by rows
};

/// How many nodes of a draft are worth verifying at once, at most `atMost`: `usual` until enough
/// passes of one row and of several were measured. The likeliest nodes come first, and the n-th one
/// is taken to give an n-th part of what the first one gives, `firstTaken` tokens a draft. So each
/// of n nodes is worth its row as long as all their rows together cost no more plain steps than
/// that. A width never goes far beyond the rows that were measured, unless `usual` does.
int nodesWorth(const StepCosts& costs, double firstTaken, int usual, int atMost);

} // namespace engine
