// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QString>

#include <optional>
#include <vector>

namespace ui {

/// A prompt of an experiment and what was measured on it so far. A plain value.
struct PromptRow {
    int prompt = 0; ///< place in the order of the run, from 1
    QString task;
    QString text;                          ///< the beginning of its first turn, in one line
    long tokens = 0;                       ///< of the answer
    std::optional<double> tokensPerRound;  ///< M
    long accepted = 0;                     ///< drafted tokens that were kept
    long drafted = 0;                      ///< draft steps
    std::optional<double> tokensPerSecond; ///< without the reading of the prompt
    std::optional<double> speed;           ///< over vanilla on the same prompt
    bool isUnsteady = false;               ///< no speed, because vanilla's own changed beside it
    QString draftedBy;                     ///< words, see draftedByText()

    /// Accepted over drafted; none when nothing was drafted.
    std::optional<double> acceptance() const {
        return drafted > 0 ? std::optional(double(accepted) / double(drafted)) : std::nullopt;
    }

    bool operator==(const PromptRow&) const = default;
};

} // namespace ui
