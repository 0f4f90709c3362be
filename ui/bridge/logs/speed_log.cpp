// SPDX-License-Identifier: GPL-3.0-only
#include "ui/bridge/logs/speed_log.h"

#include "ui/bridge/logs/answer_log.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ui {

using namespace engine;

namespace {

void add(DecodeMetrics& sums, const SpeedPoint& point) {
    sums.searchMs += point.searchMs;
    if (point.isPlain) {
        const double ms = point.draftMs + point.verifyMs + point.otherMs;
        sums.baselineTokens += point.tokens;
        sums.baselineMs += ms;
        if (!point.isBaseline) {
            sums.plainRounds += point.tokens;
            sums.plainMs += ms;
        }
        return;
    }
    ++sums.rounds;
    sums.tokens += point.tokens;
    sums.accepted += point.accepted;
    sums.draftSteps += point.draftSteps;
    sums.draftMs += point.draftMs;
    sums.verifyMs += point.verifyMs;
    sums.otherMs += point.otherMs;
}

} // namespace

double SpanFigures::tokensPerMs() const {
    const bool hasOwn = sums.ownTokens() > 0;
    const auto tokens = static_cast<double>(hasOwn ? sums.ownTokens() : sums.baselineTokens);
    const double ms = hasOwn ? sums.ownMs() + sums.searchMs : sums.baselineMs;
    return ms > 0.0 ? tokens / ms : 0.0;
}

std::optional<double> SpanFigures::tokensPerSecond() const {
    const double rate = tokensPerMs();
    return rate > 0.0 ? std::optional(1e3 * rate) : std::nullopt;
}

std::optional<double> SpanFigures::speedup() const {
    const double rate = tokensPerMs();
    return baselineMs && rate > 0.0 ? std::optional(*baselineMs * rate) : std::nullopt;
}

std::optional<SpeedFactors> SpanFigures::factors() const {
    const auto tokens = sums.tokensPerRound();
    const auto acceptance = sums.acceptance();
    if (!baselineMs || *baselineMs <= 0.0 || !tokens || !acceptance)
        return std::nullopt;
    const auto rounds = static_cast<double>(sums.ownRounds());
    return SpeedFactors{.tokensPerRound = *tokens,
                        .acceptance = *acceptance,
                        .draftCost =
                            sums.draftMs / static_cast<double>(sums.draftSteps) / *baselineMs,
                        .verifyCost = (sums.verifyMs + sums.plainMs) / rounds / *baselineMs,
                        .otherCost = sums.otherMs / rounds / *baselineMs};
}

bool SpeedLog::apply(const EngineEvent& event) {
    if (const auto* step = event.as<StepFinished>()) {
        addStep(*step, event.time);
        return true;
    }
    if (const auto* statistics = event.as<Statistics>()) {
        takeSums(*statistics);
        return true;
    }
    if (const auto* started = event.as<PromptStarted>()) {
        m_isHidden = started->promptId >= kFirstHiddenPrompt;
        m_hasHiddenDrafted = false;
        if (m_isHidden)
            return false;
        m_answer = {};
        m_answerVanilla = {};
        m_baselineAtEnd.reset();
        m_firstOfAnswer = m_dropped + static_cast<std::int64_t>(m_points.size());
        return true;
    }
    if (const auto* finished = event.as<PromptFinished>()) {
        if (m_isHidden || m_answer.allTokens() == 0)
            return false;
        // A search goes on after the last step.
        m_answer.searchMs = std::max(m_answer.searchMs, finished->decoding.searchMs);
        m_baselineAtEnd = baselineMs();
        return true;
    }
    if (const auto* chosen = event.as<DecoderChosen>()) {
        m_decoder = chosen->info.title;
        m_chat = {};
        m_chatVanilla = {};
        return true;
    }
    if (const auto* started = event.as<SpanStarted>()) {
        m_chat = {};
        m_chatVanilla = {};
        m_marks.push_back(
            {m_dropped + static_cast<std::int64_t>(m_points.size()), started->cause, m_decoder});
        if (m_marks.size() > kMarksKept)
            m_marks.erase(m_marks.begin());
        return true;
    }
    if (event.as<ModelLoaded>() != nullptr || event.as<ModelUnloaded>() != nullptr) {
        clear();
        return true;
    }
    return false;
}

void SpeedLog::clear() {
    const int number = m_number + 1;
    *this = SpeedLog();
    m_number = number;
}

void SpeedLog::addStep(const StepFinished& step, double time) {
    SpeedPoint point{.time = time,
                     .tokens = static_cast<int>(step.tokens.size()),
                     .isBaseline = step.isBaseline,
                     .isPlain = step.isPlain(),
                     .draftSteps = static_cast<int>(step.confidences.size()),
                     .accepted = static_cast<int>(step.path.size()),
                     .draftMs = step.draftMs,
                     .verifyMs = step.verifyMs,
                     .searchMs = step.searchMs,
                     .otherMs = step.otherMs};
    const std::optional<double> plainMs = baselineMs(); // as known before it
    noteBaseline(point);
    if (m_isHidden) {
        m_hasHiddenDrafted |= !point.isPlain;
        return;
    }
    add(m_answer, point);
    if (plainMs && !point.isBaseline) {
        m_answerVanilla.add(*plainMs, point.tokens);
        m_chatVanilla.add(*plainMs, point.tokens);
    }
    m_points.push_back(point);
    m_isLastOpen = true;
    m_points.back().nowPerMs = now().tokensPerMs();
    noteSums(m_points.back());
    if (m_points.size() > kPointsKept) {
        m_points.pop_front();
        ++m_dropped;
    }
}

/// The totals after the last step; others may follow an answer's end.
void SpeedLog::takeSums(const Statistics& statistics) {
    // 0 behind a baseline: its steps are too old by now, and are measured anew.
    m_isBaselineOld = statistics.baselineStepMs <= 0.0 && m_baselineMs > 0.0;
    if (statistics.baselineStepMs > 0.0)
        m_baselineMs = statistics.baselineStepMs;
    if (m_isHidden)
        return;
    if (m_isBaselineOld) // the answer's first step was counted by it
        m_answerVanilla = {};
    m_chat = statistics.total;
    if (std::exchange(m_isLastOpen, false))
        noteSums(m_points.back());
}

void SpeedLog::noteSums(SpeedPoint& point) const {
    const SpanFigures ofChat = chat();
    point.chatPerMs = ofChat.tokensPerMs();
    point.plainMs = baselineMs().value_or(0.0);
    point.chatPlainMs = ofChat.baselineMs.value_or(0.0);
}

/// Older recordings lack the baseline, so their plain steps are counted.
void SpeedLog::noteBaseline(const SpeedPoint& point) {
    if (!point.isPlain)
        return;
    m_plainMs.push_back(point.verifyMs + point.otherMs);
    if (m_plainMs.size() > kBaselineStepsKept)
        m_plainMs.pop_front();
}

std::optional<double> SpeedLog::baselineMs() const {
    if (m_isBaselineOld)
        return std::nullopt;
    if (m_baselineMs > 0.0)
        return m_baselineMs;
    if (m_plainMs.size() < kBaselineStepsNeeded)
        return std::nullopt;
    return std::accumulate(m_plainMs.begin(), m_plainMs.end(), 0.0) /
           static_cast<double>(m_plainMs.size());
}

SpanFigures SpeedLog::answer() const {
    if (const auto known = m_answerVanilla.msPerToken())
        return {m_answer, known};
    return {m_answer, m_baselineAtEnd ? m_baselineAtEnd : baselineMs()};
}

SpanFigures SpeedLog::chat() const {
    if (const auto known = m_chatVanilla.msPerToken())
        return {m_chat, known};
    return {m_chat, m_isBaselineOld ? std::optional(m_baselineMs) : baselineMs()};
}

/// With vanilla as it was at its end, where the curve ends, too.
SpanFigures SpeedLog::now() const {
    const DecodeMetrics sums = sumsOfNow();
    const double plainMs = sums.allTokens() > 0 ? m_points.back().plainMs : 0.0;
    return {sums, plainMs > 0.0 ? std::optional(plainMs) : baselineMs()};
}

DecodeMetrics SpeedLog::sumsOfNow() const {
    DecodeMetrics sums;
    const std::int64_t first = std::max(m_firstOfAnswer - m_dropped, std::int64_t{0});
    double decodedMs = 0.0;
    for (auto index = static_cast<std::int64_t>(m_points.size()); index > first;) {
        const SpeedPoint& point = m_points[static_cast<std::size_t>(--index)];
        add(sums, point);
        decodedMs += point.totalMs();
        if (decodedMs >= kNowMs)
            break;
    }
    return sums;
}

} // namespace ui
