// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/run_store.h"
#include "ui/shell/figure_text.h"

#include <QString>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace ui {

/// What the drafts are made by.
enum class DraftSource {
    SkippedLayers,
    Copy, ///< of the weights, in lower precision
    Other,
};

/// Whether drafting pays in this chat with these settings, and the measured numbers that say so. A
/// plain value.
struct GainFinding {
    std::int64_t rounds = 0; ///< that drafted
    std::int64_t accepted = 0;
    std::int64_t draftSteps = 0;
    engine::SpeedFactors factors;
    DraftSource source = DraftSource::Other;
    bool isByAuto = false;    ///< which chooses among sources itself
    int skippedSublayers = 0; ///< of the set that drafts use, 0 when unknown
    int sublayers = 0;
    double expected = 0.0;               ///< equation 6: c and alpha alone, times vanilla
    double expectedFull = 0.0;           ///< with v and other costs as well
    std::optional<double> measured = {}; ///< all its own steps, without the search
    double inChat = 0.0;                 ///< as shown for this chat in every view, including the
                                         ///< search
    /// Of the log and the first point of its span: with others it is judged anew.
    std::pair<int, std::int64_t> span = {};

    /// The acceptance at which drafting would be as fast as vanilla, at these costs and this M;
    /// none when no acceptance would do.
    std::optional<double> neededAcceptance() const;
};

/// Rounds that must have drafted before it is judged.
inline constexpr std::int64_t kRoundsToJudge = 30;

/// The finding so far; none until the baseline and enough rounds are measured.
std::optional<GainFinding> gainFinding(const RunStore& store);

/// Whether to show "no gain": it appears below .97 and disappears where nothing is lost, so that it
/// neither flaps nor calls slower what is as fast as vanilla. `wasSaid`: it is shown now.
bool isWithoutGain(const GainFinding& finding, bool wasSaid);

/// What "no gain" says first: what does not pay.
QString gainHeadline(const GainFinding& finding);

/// The arithmetic, name and value, as rows; the last one is the result.
std::vector<std::pair<QString, QString>> arithmeticRows(const GainFinding& finding);

/// The conclusion, as a sentence.
QString arithmeticSentence(const GainFinding& finding);

} // namespace ui
