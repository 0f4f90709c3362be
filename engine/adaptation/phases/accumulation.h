// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/adaptation/search_settings.h"

#include <algorithm>

namespace engine {

/// The first phase: an answer collects the context window that candidates are scored on, and rounds
/// that pay for the next trial. It ends when the window is there and both enough steps and enough
/// rows have passed since the last trial.
class Accumulation {
public:
    /// An answer begins, whose window is made of so many tokens (gamma).
    void begin(int window) { *this = Accumulation(window); }

    explicit Accumulation(int window)
        : m_window(window) {}

    int window() const { return m_window; }

    /// The tokens of an answer of `outputs` tokens that a candidate can be scored on: the last one
    /// has nothing behind it yet.
    int comparisons(int outputs) const { return std::min(outputs - 1, m_window); }

    bool hasWindow(int outputs) const { return outputs > m_window; }

    void add(int verifiedRows) {
        ++m_steps;
        m_rows += verifiedRows;
    }

    /// `rowsPerTrial`: see Optimisation::rowsPerTrial.
    bool isOver(int outputs, const SearchSettings& settings, double rowsPerTrial) const {
        return hasWindow(outputs) && m_steps >= settings.stepsPerTrial && m_rows >= rowsPerTrial;
    }

    /// Trials that the rounds so far pay for, if the answer ends before it has a window.
    int trialsOwed(int outputs, const SearchSettings& settings, double rowsPerTrial) const {
        if (m_hadWindow || !settings.scoresShortWindows || outputs < kShortestWindow)
            return 0;
        return std::min({static_cast<int>(m_rows / rowsPerTrial),
                         m_steps / settings.stepsPerTrial,
                         kMostTrialsOwed});
    }

    /// A trial was made on so many tokens.
    void spend(int comparisons) {
        m_hadWindow = m_hadWindow || comparisons == m_window;
        m_steps = m_rows = 0;
    }

    /// Output tokens that the shortest window is made of.
    static constexpr int kShortestWindow = 8;

private:
    static constexpr int kMostTrialsOwed = 4;

    int m_window;
    int m_steps = 0; // since the last trial of this answer
    int m_rows = 0;
    bool m_hadWindow = false;
};

} // namespace engine
