// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QByteArray>
#include <QString>

#include <map>
#include <optional>
#include <variant>
#include <vector>

namespace ui {

// What `swift-run tune --json` says, a line each. Plain values.

/// What a training is, said once the model was read.
struct TuningStarted {
    QString model;
    QString fingerprint;
    qint64 trainedWeights = 0;
    qint64 answerTokens = 0; ///< that are planned
    double minutes = 0.0;    ///< for all of it; 0 = as long as it takes
};

/// What drafting with such an adapter costs on this computer, in plain steps.
struct TuningPrices {
    double draft = 0.0;       ///< c: a drafted token
    std::vector<double> rows; ///< v: checking 2, 3 and 4 rows in one pass
    bool isOfResult = false;  ///< measured with the trained adapter; else with one of its size
    std::optional<double> breakEven; ///< acceptance from which on drafting pays; none: never

    /// g c + v(g + 1): what a round of so many drafted tokens costs, in plain steps, and so many
    /// tokens must it write to be as fast as they are. None if that was not measured.
    std::optional<double> round(int drafted) const;
};

/// Prompts that the model writes itself.
struct TuningSelfPrompts {
    qint64 written = 0;
    qint64 planned = 0;
};

struct TuningCollected {
    qint64 prompts = 0; ///< answered since the process began
    qint64 answerTokens = 0;
    qint64 planned = 0;
    double tokensPerSecond = 0.0;
    std::optional<double> secondsLeft; ///< none: not known yet

    /// Of the planned tokens, from 0 to 1.
    double part() const;
};

struct TuningStep {
    qint64 step = 0;
    qint64 steps = 0;
    double loss = 0.0;
    double tokensPerSecond = 0.0;
    std::optional<double> secondsLeft;
    std::optional<double> drafting = {}; ///< loss of the drafts of a copy of the model

    /// From 0 to 1.
    double part() const;
};

/// How good drafts are.
struct DraftScore {
    std::vector<double> acceptance; ///< [depths] each given that those before were right
    double tokensPerRound = 0.0;
};

using ScoresByTask = std::map<QString, DraftScore>;

/// On answers that are not trained on.
struct TuningEvaluation {
    qint64 step = 0;
    DraftScore all;
    bool isBest = false; ///< this state is kept
    ScoresByTask tasks;
    std::vector<double> exits = {}; ///< [layers - 1] tokens that the exit behind each says; or none
};

/// A copy of the model beside the untouched one, on answers that were not trained on.
struct TuningQuality {
    qint64 tokens = 0; ///< that both have read
    double perplexityBefore = 0.0;
    double perplexity = 0.0;
    double mostPerplexity = 0.0; ///< with which it is kept
    double agreement = 0.0;      ///< share of equal most probable tokens
    double leastAgreement = 0.0; ///< with which it is kept
    bool isKept = false;         ///< else its folder has another name
};

/// Everything up to here is on the disk. The first one is written before the first step.
struct TuningCheckpoint {};

/// The best state so far of a training that goes on: an adapter that can be used already.
struct TuningBest {
    QString path;
    qint64 step = 0;
    DraftScore score;
    bool isHeldOut = true; ///< as in TuningDone
};

struct TuningNote {
    QString text;
};

struct TuningDone {
    QString path; ///< of the adapter, or of the new model's folder
    qint64 bytes = 0;
    DraftScore all;
    bool isHeldOut = true; ///< else the figures are those of answers that were trained on
    ScoresByTask tasks;
    qint64 steps = 0;
    double seconds = 0.0;                      ///< of collecting and training
    bool hasAllSeconds = true;                 ///< else of training alone
    std::optional<TuningQuality> quality = {}; ///< of a copy of the model
    std::vector<double> exits = {};            ///< as in TuningEvaluation
};

struct TuningError {
    QString message;
    QString hint;

    QString sentence() const;
};

using TuningEvent = std::variant<TuningStarted,
                                 TuningPrices,
                                 TuningSelfPrompts,
                                 TuningCollected,
                                 TuningStep,
                                 TuningEvaluation,
                                 TuningCheckpoint,
                                 TuningBest,
                                 TuningNote,
                                 TuningDone,
                                 TuningError>;

/// None for a line that is no event, is damaged, or has a number that cannot be.
std::optional<TuningEvent> tuningEventOf(const QByteArray& line);

} // namespace ui
