// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QByteArray>
#include <QString>

#include <map>
#include <optional>
#include <vector>

namespace ui {

// What `swift-run compare --json` says of an adapter, and `swift-run tune --compare` of a copy of
// the model, a line each. Plain values.

/// What a decoder did with one prompt, which it answered twice.
struct ComparedAnswer {
    qint64 tokens = 0;
    qint64 rounds = 0;
    qint64 drafted = 0;               ///< draft steps
    qint64 accepted = 0;              ///< of these
    double ms = 0.0;                  ///< of decoding
    bool isEqual = true;              ///< every token is the one of plain decoding
    std::optional<double> score = {}; ///< how good the answer is, 0 to 1, where that is known
};

struct ComparedPrompt {
    QString task;
    ComparedAnswer plain;
    ComparedAnswer with;    ///< Auto with the adapter; of a copy, the decoder that it is made for
    ComparedAnswer without; ///< Auto without it; of a copy, plain decoding of the model itself
};

/// Prompts together. Speeds are those of the sums.
struct ComparedSum {
    int prompts = 0;
    double with = 0.0; ///< times as fast as plain decoding
    double without = 0.0;
    std::optional<double> acceptance; ///< with the adapter, of all that was drafted; none: nothing
    double tokensPerRound = 0.0;      ///< with the adapter, all rounds
    int differing = 0;                ///< prompts of which a text was not the one of plain decoding
    std::optional<double> score = {}; ///< mean of the answers `with`; none: not all have one
    std::optional<double> scoreBefore = {}; ///< likewise of those `without`
};

/// How much faster one is than another, and where that lies by 95 %.
struct GainRange {
    double gain = 1.0;
    double low = 1.0;
    double high = 1.0;
};

/// What is known of an adapter, or of a copy of the model, on prompts that it was not trained on.
class ComparedPrompts {
public:
    /// Takes a line of the program. False for one that tells of no answer.
    bool take(const QByteArray& line);

    /// Those that all three have answered.
    const std::vector<ComparedPrompt>& prompts() const { return m_prompts; }

    /// That there will be; 0 = not known yet.
    int planned() const { return m_planned; }

    /// Of those that are planned, from 0 to 1.
    double part() const;

    ComparedSum all() const;
    std::map<QString, ComparedSum> byTask() const;

    /// From fewer prompts nothing follows.
    static constexpr std::size_t kFewestForGain = 6;

    /// `with` over `without`; none with fewer than kFewestForGain prompts.
    std::optional<GainRange> gain() const { return gainOver(&ComparedPrompt::without); }

    /// `with` over plain decoding, likewise.
    std::optional<GainRange> gainOverPlain() const { return gainOver(&ComparedPrompt::plain); }

private:
    struct Unfinished {
        QString key; ///< file and line of the prompt
        QString task;
        std::map<QString, ComparedAnswer> answers; ///< by variant
    };

    void finish();
    std::optional<GainRange> gainOver(ComparedAnswer ComparedPrompt::*base) const;

    std::vector<ComparedPrompt> m_prompts;
    Unfinished m_newest;
    int m_planned = 0;
};

} // namespace ui
