// SPDX-License-Identifier: Apache-2.0
#include "engine/decoding/statistics/step_costs.h"

#include "engine/base/result.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace engine {

namespace {

/// How much of an unexpected duration is attributed to the machine's speed and to the rows.
constexpr double kSpeedShare = 0.3;
constexpr double kRowsShare = 0.02;

/// Behind so many passes of several rows, which have set the speed between them, a plain pass that
/// surprises tells that rows cost other than believed: so much of it, and of no more surprise than
/// that, is believed at once.
constexpr int kPassesToCorrect = 8;
constexpr double kToldByPlain = 0.2;
constexpr double kMostToldByPlain = 0.3;

/// The first measurements of a number of rows have more weight: until then its cost is a guess.
constexpr int kQuickSamples = 8;

/// The same for passes of a part of the weights. Passes that leave out almost nothing are ignored.
constexpr double kPartShare = 0.05;
constexpr double kMostShareUsed = 0.98;

/// A pass is never assumed to cost less than this part of the share that it reads.
constexpr double kLeastOfShare = 0.5;

/// A pass of several rows is never assumed to cost less than this part of a plain one.
constexpr double kLeastOfRows = 0.5;

/// Longer times are cut: the thread probably lost its core for a while.
constexpr double kMostSurprise = 0.7; // natural logarithm: a factor of 2

/// The price of a row is believed behind so many passes of one row, and of so many rows.
constexpr int kPassesToPrice = 4;

/// A draft has at most so many times the nodes whose rows were measured.
constexpr int kFurthest = 4;

} // namespace

void StepCosts::record(int rows, double ms) {
    ENGINE_CHECK(rows >= 1 && ms >= 0.0, "a pass of {} rows took {} ms", rows, ms);
    if (ms == 0.0)
        return;
    if (rows > kMostRows) { // what fewer would have taken on the line that relativeCost() goes on
        const double oneRowMs = m_oneRowMs > 0.0 ? m_oneRowMs : ms / relativeCost(rows);
        ms = oneRowMs + (ms - oneRowMs) * (kMostRows - 1) / (rows - 1);
        rows = kMostRows;
    }
    Entry& entry = m_entries[static_cast<std::size_t>(rows)];
    if (m_oneRowMs <= 0.0) {
        entry.relative = relativeCost(rows);
        m_oneRowMs = ms / entry.relative;
        ++entry.samples;
        return;
    }
    if (entry.samples == 0)
        entry.relative = relativeCost(rows);
    const double surprise =
        std::clamp(std::log(ms / (m_oneRowMs * entry.relative)), -kMostSurprise, kMostSurprise);
    const double rowsShare =
        std::max(kRowsShare, entry.samples < kQuickSamples ? 1.0 / (entry.samples + 1.5) : 0.0);
    m_oneRowMs *= std::exp(surprise * (rows == 1 ? kSpeedShare : kSpeedShare * (1.0 - rowsShare)));
    if (rows > 1) {
        entry.relative = std::max(entry.relative * std::exp(surprise * rowsShare), kLeastOfRows);
        ++m_sincePlain;
    } else {
        correctRows(surprise);
    }
    ++entry.samples;
}

/// All of them, also those not used of late: what makes some rows dearer makes others dearer, too.
void StepCosts::correctRows(double surprise) {
    if (std::exchange(m_sincePlain, 0) < kPassesToCorrect)
        return;
    const double told = kToldByPlain * std::clamp(surprise, -kMostToldByPlain, kMostToldByPlain);
    for (std::size_t rows = 2; rows < m_entries.size(); ++rows) {
        double& relative = m_entries[rows].relative;
        relative = std::max(relative * std::exp(-told), kLeastOfRows);
    }
}

void StepCosts::recordFirst(int rows, double ms) {
    ENGINE_CHECK(rows > 1 && rows <= kMostRows && ms >= 0.0, "{} rows took {} ms", rows, ms);
    Entry& entry = m_entries[static_cast<std::size_t>(rows)];
    if (m_oneRowMs <= 0.0 || entry.samples > 0 || ms == 0.0)
        return;
    entry.relative = std::max(ms / m_oneRowMs, 1.0);
    entry.samples = 1;
}

/// The nearest measured number of rows in one direction; -1 when there is none.
int StepCosts::nextMeasured(int rows, int step) const {
    for (int at = rows; at >= 1 && at <= kMostRows; at += step)
        if (m_entries[static_cast<std::size_t>(at)].samples > 0 || at == 1)
            return at;
    return -1;
}

double StepCosts::relativeCost(int rows) const {
    if (rows <= 1)
        return 1.0;
    const int below = nextMeasured(std::min(rows, kMostRows), -1);
    const int above = rows <= kMostRows ? nextMeasured(rows, 1) : -1;
    const double low = below == 1 ? 1.0 : m_entries[static_cast<std::size_t>(below)].relative;
    if (above == rows)
        return m_entries[static_cast<std::size_t>(rows)].relative;
    if (above < 0) {
        const double slope = below > 1 ? std::max((low - 1.0) / (below - 1), 0.0) : kFirstGuess;
        return low + slope * (rows - below);
    }
    const double high = m_entries[static_cast<std::size_t>(above)].relative;
    return low + (high - low) * (rows - below) / (above - below);
}

void StepCosts::PartPasses::add(double share, double relative) {
    const double saved = (1.0 - relative) / (1.0 - share);
    const double part = std::max(kPartShare, 1.0 / (samples + 1.0));
    savedPart += part * (saved - savedPart);
    ++samples;
}

double StepCosts::PartPasses::relativeCost(double share) const {
    return std::max(1.0 - savedPart * (1.0 - share), kLeastOfShare * share);
}

void StepCosts::recordDraft(double share, double ms) {
    ENGINE_CHECK(share > 0.0 && ms >= 0.0, "a draft pass of {} took {} ms", share, ms);
    if (m_oneRowMs <= 0.0 || share > kMostShareUsed || ms == 0.0)
        return;
    m_drafts.add(share, std::min(ms / m_oneRowMs, std::exp(kMostSurprise)));
}

double StepCosts::relativeDraftCost(double share) const { return m_drafts.relativeCost(share); }

void StepCosts::recordNetwork(double share, double ms) {
    ENGINE_CHECK(share > 0.0 && ms >= 0.0, "a pass of a network of {} took {} ms", share, ms);
    if (m_oneRowMs <= 0.0 || share > kMostShareUsed || ms == 0.0)
        return;
    m_networks.add(share, std::min(ms / m_oneRowMs, std::exp(kMostSurprise)));
}

double StepCosts::relativeNetworkCost(double share) const { return m_networks.relativeCost(share); }

/// While all passes resume, they alone show how fast the machine is at present.
void StepCosts::recordResumed(double share, int rows, double ms) {
    ENGINE_CHECK(share > 0.0 && rows >= 1 && ms >= 0.0,
                 "a resumed pass of {}, {} rows, took {} ms",
                 share,
                 rows,
                 ms);
    if (m_oneRowMs <= 0.0 || ms == 0.0)
        return;
    const double surprise =
        std::clamp(std::log(ms / (m_oneRowMs * relativeResumedCost(share, rows))),
                   -kMostSurprise,
                   kMostSurprise);
    if (m_resumed.samples >= kQuickSamples)
        m_oneRowMs *= std::exp(surprise * kSpeedShare);
    if (share <= kMostShareUsed)
        m_resumed.add(share,
                      relativeResumedCost(share, rows) * std::exp(surprise) / relativeCost(rows));
}

double StepCosts::relativeResumedCost(double share, int rows) const {
    const PartPasses& known = m_resumed.samples > 0 ? m_resumed : m_drafts;
    return relativeCost(rows) * known.relativeCost(share);
}

int StepCosts::samples(int rows) const {
    return rows >= 1 && rows <= kMostRows ? m_entries[static_cast<std::size_t>(rows)].samples : 0;
}

int nodesWorth(const StepCosts& costs, double firstTaken, int usual, int atMost) {
    int measured = 0;
    for (int rows = 2; rows <= StepCosts::kMostRows; ++rows)
        if (costs.samples(rows) >= kPassesToPrice)
            measured = rows - 1;
    if (measured == 0 || costs.samples(1) < kPassesToPrice)
        return std::min(usual, atMost);
    const int most = std::min(atMost, std::max(usual, kFurthest * measured));
    int worth = 1;
    for (int nodes = 2; nodes <= most; ++nodes)
        if (costs.relativeCost(nodes + 1) - 1.0 <= firstTaken)
            worth = nodes; // whatever a smaller number seems to cost: it may be measured badly
    return worth;
}

} // namespace engine
