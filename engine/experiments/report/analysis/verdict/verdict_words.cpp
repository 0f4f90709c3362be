// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/analysis/verdict/verdict_words.h"

#include "engine/experiments/report/analysis/result_parts.h"
#include "engine/metrics/equation_six.h"

#include <fmt/format.h>

#include <algorithm>

namespace engine {

namespace {

constexpr double kHardlyMoreThanOne = 1.15; ///< tokens a round
constexpr double kLongSearch = 0.1;         ///< share of the time
/// Of all tests of a report together: so often an audit fails by chance.
constexpr double kTestLevel = 0.001;

std::string textOf(std::string_view measure, const Selection& selection) {
    const auto value = measured(measure, selection);
    return value ? numberText(measureInfo(measure).form, *value) : std::string("–");
}

double valueOf(std::string_view measure, const Selection& selection, double otherwise) {
    const auto value = measured(measure, selection);
    return value ? value->value : otherwise;
}

} // namespace

EqualCounts equalCounts(const Selection& selection) {
    EqualCounts counts;
    for (const AnsweredPrompt* run : selection.runs) {
        for (const ShardAnswer* answer : run->own) {
            counts.compared += answer->isEqual.has_value();
            counts.equal += answer->isEqual.value_or(false);
            counts.nearTies += answer->isNearTie && !answer->isEqual.value_or(true);
        }
    }
    return counts;
}

std::string equalSentence(const RunData& data) {
    return equalSentence(equalCounts(data.select({}, {})));
}

std::string equalSentence(const EqualCounts& counts) {
    if (counts.compared == 0)
        return {};
    if (counts.equal == counts.compared)
        return fmt::format(
            "No token differs in {} answer{}.", counts.compared, counts.compared == 1 ? "" : "s");
    const int others = counts.compared - counts.equal;
    if (counts.nearTies == others)
        return fmt::format("{} of {} answers differ, each where vanilla's two best logits are "
                           "closer than 0.001.",
                           others,
                           counts.compared);
    return fmt::format("{} of {} answers differ from vanilla's, {} of them at a near tie.",
                       others,
                       counts.compared,
                       counts.nearTies);
}

DrawnWords drawnWords(const RunData& data, std::span<const ReportVariant* const> variants) {
    struct Tested {
        const ReportVariant* variant;
        TwoSampleTest test;
    };

    std::vector<Tested> all;
    for (const ReportVariant* variant : variants) {
        const std::vector<Filter> own = {{"variant", variant->name}};
        if (const auto test = drawnTest(data.select({}, own)))
            all.push_back({variant, *test});
    }
    if (all.empty())
        return {};
    const double limit = kTestLevel / static_cast<double>(all.size());
    const auto words = [](const Tested& one) {
        return fmt::format("{} (p = {:.2g}, n = {} and {})",
                           one.variant->label,
                           one.test.pValue,
                           one.test.first,
                           one.test.second);
    };
    std::vector<std::string> others;
    const Tested* smallest = &all.front();
    for (const Tested& one : all) {
        if (one.test.pValue < limit)
            others.push_back(words(one));
        if (one.test.pValue < smallest->test.pValue)
            smallest = &one;
    }
    const std::string rule =
        fmt::format("a permutation test with the limit p < {:.2g} / {} = {:.2g}",
                    kTestLevel,
                    all.size(),
                    limit);
    if (!others.empty())
        return {fmt::format("Drawn under seeds of their own, these tokens do not have vanilla's "
                            "distribution: {}; {}.",
                            joined(others),
                            rule),
                true};
    return {fmt::format("Drawn under seeds of their own, no tokens can be told from vanilla's: the "
                        "smallest p is that of {}; {}.",
                        words(*smallest),
                        rule)};
}

std::string intervalWords(std::string_view measure, const Estimate& value) {
    if (!value.low || !value.high)
        return {};
    const bool isShare = measureInfo(measure).form == NumberForm::Share;
    const auto bound = [&](double number) {
        return isShare ? numberText(NumberForm::Share, {number, {}, {}, 1})
                       : fmt::format("{:.2f}", number);
    };
    return fmt::format(
        " ({} to {}, {} prompts)", bound(*value.low), bound(*value.high), value.count);
}

std::string fewPromptsSentence(std::string_view measure, const Estimate& value) {
    if (!isSpeedup(measure) || value.count < 1 || value.count >= kLeastPromptsOfInterval)
        return {};
    if (value.count == 1)
        return " One prompt alone cannot tell a speed from chance.";
    return fmt::format(" With {} prompts alone, the interval is no more than their range, so it "
                       "may be chance.",
                       value.count);
}

namespace {

/// What a draft pass costs, where vanilla was measured beside it, and what is kept of it.
std::string draftWords(const Selection& selection, bool isReason) {
    const DecodeMetrics sums = sumsOf(selection);
    const std::string kept = fmt::format("{}{} of the drafted tokens are kept ({} of {})",
                                         isReason ? "only " : "",
                                         textOf("acceptance", selection),
                                         sums.accepted,
                                         sums.draftSteps);
    if (!measured("c_measured", selection))
        return kept;
    return fmt::format("a draft pass costs {} of a plain step{}, and {}",
                       textOf("c_measured", selection),
                       measured("skip_ratio", selection)
                           ? fmt::format(" (r = {})", textOf("skip_ratio", selection))
                           : std::string(),
                       kept);
}

std::string expectedWords(const Selection& selection) {
    if (!measured("expected_by_cost", selection))
        return {};
    return fmt::format(" Equation 6 expects {}, and {} with the price of verifying.",
                       textOf("expected_by_cost", selection),
                       textOf("expected_by_parts", selection));
}

std::string roundWords(const Selection& selection) {
    const std::string given = fmt::format("a round gives M = {} tokens", textOf("M", selection));
    if (!measured("verify_cost", selection))
        return given + ".";
    return fmt::format(
        "{}, and verifying it costs {} plain steps.", given, textOf("verify_cost", selection));
}

std::string capitalised(std::string text) {
    if (!text.empty() && text.front() >= 'a' && text.front() <= 'z')
        text.front() = static_cast<char>(text.front() - 'a' + 'A');
    return text;
}

} // namespace

std::string costSentence(const Selection& selection) {
    const DecodeMetrics sums = sumsOf(selection);
    if (sums.rounds == 0)
        return sums.plainRounds > 0 ? "It never drafted: every step was a plain one." : "";
    if (!hasDraftPasses(sums))
        return "Its drafts cost no pass; " + roundWords(selection);
    return capitalised(draftWords(selection, false)) + "; " + roundWords(selection) +
           expectedWords(selection);
}

/// Equation 6 is above 1 exactly if a draft pass costs less than the share of drafts that is kept.
std::string noGainSentence(const Selection& selection) {
    const DecodeMetrics sums = sumsOf(selection);
    const bool hasPasses = hasDraftPasses(sums);
    const double cost = valueOf("c_measured", selection, 0.0);
    const double kept = valueOf("acceptance", selection, 1.0);
    const double searching = valueOf("search_share", selection, 0.0);
    const double tokens = valueOf("M", selection, 1.0); // this and the next ones: of a round
    const double drafting = hasPasses ? cost * valueOf("draft_length", selection, 0.0) : 0.0;
    const double verifying = valueOf("verify_cost", selection, 1.0);
    if (sums.rounds == 0)
        return costSentence(selection);
    if (hasPasses && cost >= kept)
        return fmt::format("No gain here, because {}; {}{}",
                           draftWords(selection, true),
                           roundWords(selection),
                           expectedWords(selection));
    // Only where the rest of the time alone would have been no loss.
    if (searching > kLongSearch && valueOf("speedup", selection, 1.0) >= 1.0 - searching)
        return fmt::format("No gain here, because searching took {} of the time. {}",
                           textOf("search_share", selection),
                           costSentence(selection));
    if (tokens < kHardlyMoreThanOne)
        return "No gain here, because a round gives hardly more than one token. " +
               costSentence(selection);
    if (verifying > tokens)
        return "No gain here, because verifying a round costs more than its tokens bring. " +
               costSentence(selection);
    if (drafting + verifying > tokens)
        return "No gain here, because drafting and verifying a round cost more than its tokens "
               "bring. " +
               costSentence(selection);
    return costSentence(selection);
}

void OwnSets::add(const std::string& task,
                  const Estimate& own,
                  const std::string& bestOther,
                  const Estimate& other) {
    ++m_tasks;
    m_ownSum += own.value;
    m_otherSum += other.value;
    if (own.value >= other.value) {
        ++m_wins;
        if (own.low && other.high && *own.low <= *other.high)
            m_overlaps.push_back(task);
    } else {
        m_losses.push_back(
            fmt::format("{} runs faster with the set of {} ({:.2f}× against {:.2f}×).",
                        task,
                        bestOther,
                        other.value,
                        own.value));
    }
    if (std::max(own.value, other.value) < 1.0)
        m_slow.push_back(task);
}

ExperimentVerdict OwnSets::verdict() const {
    if (m_tasks == 0)
        return {VerdictKind::Finding, "No task has both its own set and another one yet.", ""};
    std::string cause;
    for (const std::string& loss : m_losses)
        cause += loss + " ";
    if (!m_overlaps.empty())
        cause += fmt::format("The intervals of the own and the best other set overlap for {}. ",
                             joined(m_overlaps));
    if (!m_slow.empty())
        cause += fmt::format("No set gains on {}.", joined(m_slow));
    const double own = m_ownSum / m_tasks;
    const int clear = m_wins - static_cast<int>(m_overlaps.size());
    return {m_wins * 2 <= m_tasks || own <= 1.0 ? VerdictKind::NoGain
            : clear * 2 > m_tasks               ? VerdictKind::Gain
                                                : VerdictKind::Finding,
            fmt::format("A task's own set is the fastest one for {} of {} tasks: {:.2f}× on "
                        "average, against {:.2f}× with the best set of another task.",
                        m_wins,
                        m_tasks,
                        own,
                        m_otherSum / m_tasks),
            cause};
}

} // namespace engine
