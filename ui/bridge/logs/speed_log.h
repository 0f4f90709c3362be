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
    bool isBaseline = false; ///< a plain step made as a baseline for comparison
    bool isPlain = false;    ///< made by the full model alone, as a baseline or not
    int draftSteps = 0;
    int accepted = 0;
    double draftMs = 0.0;
    double verifyMs = 0.0;
    double searchMs = 0.0;
    double otherMs = 0.0;
    double nowPerMs = 0.0;    ///< tokens per millisecond of SpeedLog::now() at this point
    double chatPerMs = 0.0;   ///< the same for SpeedLog::chat(); 0 before its first step
    double plainMs = 0.0;     ///< SpeedLog::baselineMs() at this point; 0 while it is not known
    double chatPlainMs = 0.0; ///< the baseline of SpeedLog::chat(), likewise

    double totalMs() const { return draftMs + verifyMs + searchMs + otherMs; }
};

/// What was measured over some steps: the totals, and the time of a plain step. The decoder's own
/// steps count, including their search. Plain steps made only as a baseline count when there are no
/// others. Every view that shows a speed, M or acceptance asks here. A plain value.
struct SpanFigures {
    engine::DecodeMetrics sums;
    std::optional<double> baselineMs; ///< milliseconds of one plain step, over the span

    bool isEmpty() const { return sums.allTokens() == 0; }

    /// Whether one of its steps has drafted; M, acceptance and the factors exist only then.
    bool isDrafting() const { return sums.rounds > 0; }

    /// Tokens per millisecond; 0 when it is empty.
    double tokensPerMs() const;

    std::optional<double> tokensPerSecond() const;

    /// As a multiple of the baseline.
    std::optional<double> speedup() const;

    /// The costs of drafting and verifying as measured; none without a baseline.
    std::optional<engine::SpeedFactors> factors() const;
};

/// What vanilla would have taken for a span's own tokens, each step by the baseline known then: the
/// machine may become faster or slower meanwhile. A plain value.
struct VanillaTime {
    double ms = 0.0;
    std::int64_t tokens = 0; ///< of the steps with a known baseline

    void add(double baselineMs, int count) {
        ms += baselineMs * count;
        tokens += count;
    }

    std::optional<double> msPerToken() const {
        return tokens > 0 ? std::optional(ms / static_cast<double>(tokens)) : std::nullopt;
    }
};

/// A point where the conditions of measurement changed, so that the chat's totals start again. A
/// plain value.
struct SpanMark {
    std::int64_t point = 0; ///< number of its first point, see SpeedLog::droppedPoints()
    engine::SpanCause cause = engine::SpanCause::Decoder;
    std::string decoder; ///< its title
};

/// The decoding speed, relative to the full model's own plain steps in the same run. Three spans
/// are defined here and nowhere else: *now* is the last 2 s of decoding of the newest answer; *this
/// answer* is the newest answer or, if it was continued, its last part; *this chat with this
/// decoder and settings* starts again with every change (engine::SpanStarted). The baseline is kept
/// when another decoder is chosen, and forgotten with the model. Hidden prompts
/// (kFirstHiddenPrompt) belong to none of the spans. Thread: UI.
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

    /// Its baseline is that of its steps, so that its speedup stays as it was when others follow;
    /// where none was known during them, that of its end.
    SpanFigures answer() const;

    /// Its baseline is that of its steps. Where none was known during them, an old one holds until
    /// there is a new one.
    SpanFigures chat() const;

    /// Whether the newest prompt is hidden, as those of a search are, and has drafted.
    bool isDraftingHidden() const { return m_isHidden && m_hasHiddenDrafted; }

    /// Milliseconds of one plain step; none until two were measured, and again where those are too
    /// old (Statistics::baselineStepMs).
    std::optional<double> baselineMs() const;

    const std::deque<SpeedPoint>& points() const { return m_points; }

    /// Number of points dropped at the front: a point's number is its index plus this.
    std::int64_t droppedPoints() const { return m_dropped; }

    /// Oldest first; the span with which the log began has none.
    const std::vector<SpanMark>& marks() const { return m_marks; }

    /// How often the log was cleared. Points from before a clear are not comparable.
    int number() const { return m_number; }

private:
    void addStep(const engine::StepFinished& step, double time);
    void takeSums(const engine::Statistics& statistics);
    void noteBaseline(const SpeedPoint& point);
    void noteSums(SpeedPoint& point) const;
    engine::DecodeMetrics sumsOfNow() const;

    std::deque<SpeedPoint> m_points;
    std::int64_t m_dropped = 0;
    std::vector<SpanMark> m_marks;
    std::string m_decoder;                 // its title
    std::deque<double> m_plainMs;          // for recordings without the baseline
    double m_baselineMs = 0.0;             // as reported; 0 = not reported
    bool m_isBaselineOld = false;          // it is no longer reported
    engine::DecodeMetrics m_answer;        // sums of the newest answer
    VanillaTime m_answerVanilla;           // of that answer
    std::optional<double> m_baselineAtEnd; // of that answer; none before it
    engine::DecodeMetrics m_chat;          // as told
    VanillaTime m_chatVanilla;
    std::int64_t m_firstOfAnswer = 0; // number of its first point
    bool m_isHidden = false;          // the newest prompt is hidden
    bool m_hasHiddenDrafted = false;  // that one
    bool m_isLastOpen = false;        // the totals after the last point are not reported yet
    int m_number = 0;
};

} // namespace ui
