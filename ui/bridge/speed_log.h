// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace ui {

/// One step, as a point of the speed curve. A plain value; times in milliseconds.
struct SpeedPoint {
    double time = 0.0; ///< seconds since the session began, at the step's end
    int tokens = 0;
    bool isBaseline = false; ///< a plain step that was asked for, to compare with
    bool isPlain = false;    ///< by the full model alone, asked for or not
    int draftSteps = 0;
    int accepted = 0;
    double draftMs = 0.0;
    double verifyMs = 0.0;
    double searchMs = 0.0;
    double otherMs = 0.0;
    double nowPerMs = 0.0;  ///< tokens per millisecond of SpeedLog::now(), as it was here
    double chatPerMs = 0.0; ///< the same of SpeedLog::chat(); 0 before its first step

    double totalMs() const { return draftMs + verifyMs + searchMs + otherMs; }
};

/// What was measured over some steps: the sums, and what a plain step takes. The steps that the
/// decoder made itself count, its search included; plain ones that were only asked for, to compare
/// with, count where there are no others. Everything that shows a speed, M or acceptance asks here.
/// A plain value.
struct SpanFigures {
    engine::DecodeMetrics sums;
    std::optional<double> baselineMs; ///< milliseconds of one plain step

    bool isEmpty() const { return sums.allTokens() == 0; }

    /// Whether a step of it has drafted; M, acceptance and the factors are of such spans only.
    bool isDrafting() const { return sums.rounds > 0; }

    /// Tokens per millisecond; 0 when it is empty.
    double tokensPerMs() const;

    std::optional<double> tokensPerSecond() const;

    /// Times the baseline.
    std::optional<double> speedup() const;

    /// The costs of drafting and verifying as measured; none without a baseline.
    std::optional<engine::SpeedFactors> factors() const;
};

/// Where what is measured changed: from this point on the chat's sums are others. A plain value.
struct SpanMark {
    std::int64_t point = 0; ///< number of its first point, see SpeedLog::droppedPoints()
    engine::SpanCause cause = engine::SpanCause::Decoder;
    std::string decoder; ///< its title
};

/// How fast it went, against the full model's own plain steps in the same run. Three spans are
/// defined here and nowhere else: *now*, the last 2 s of the newest answer's decoding; *this
/// answer*, the newest one, or of an answer that went on what came to it last; *this chat with this
/// decoder and settings*, which the engine begins anew with every change (engine::SpanStarted). The
/// baseline is kept when another decoder is chosen, and forgotten with the model. Prompts out of
/// sight (kFirstHiddenPrompt) are in none of the spans. Thread: UI.
class SpeedLog {
public:
    static constexpr std::size_t kPointsKept = 200'000;
    static constexpr std::size_t kMarksKept = 1'000;
    static constexpr std::size_t kBaselineStepsKept = 64;
    static constexpr std::size_t kBaselineStepsNeeded = 2;
    static constexpr double kNowMs = 2000.0;

    bool apply(const engine::EngineEvent& event);

    /// Forgets everything.
    void clear();

    SpanFigures now() const;

    SpanFigures answer() const { return {m_answer, baselineMs()}; }

    SpanFigures chat() const { return {m_chat, baselineMs()}; }

    /// Milliseconds of one plain step; none until two were measured.
    std::optional<double> baselineMs() const;

    const std::deque<SpeedPoint>& points() const { return m_points; }

    /// Points that were dropped at the front: a point's number is its index and this.
    std::int64_t droppedPoints() const { return m_dropped; }

    /// Oldest first; none for the span that the log began with.
    const std::vector<SpanMark>& marks() const { return m_marks; }

    /// How often it was cleared: points of another number are other points.
    int number() const { return m_number; }

private:
    void addStep(const engine::StepFinished& step, double time);
    void takeSums(const engine::Statistics& statistics);
    void noteBaseline(const SpeedPoint& point);
    engine::DecodeMetrics sumsOfNow() const;

    std::deque<SpeedPoint> m_points;
    std::int64_t m_dropped = 0;
    std::vector<SpanMark> m_marks;
    std::string m_decoder;            // its title
    std::deque<double> m_plainMs;     // of recordings that do not tell the baseline
    double m_baselineMs = 0.0;        // as told; 0 = not told
    engine::DecodeMetrics m_answer;   // sums of the newest answer
    engine::DecodeMetrics m_chat;     // as told
    std::int64_t m_firstOfAnswer = 0; // number of its first point
    bool m_isHidden = false;          // the newest prompt is out of sight
    bool m_isLastOpen = false;        // the sums behind the last point are not told yet
    int m_number = 0;
};

} // namespace ui
