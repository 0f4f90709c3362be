// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/analysis/analyse.h"
#include "engine/experiments/report/analysis/result_parts.h"
#include "engine/experiments/report/analysis/verdict/verdict_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace engine {

namespace {

/// A variant and what was measured for it.
struct Measurement {
    const ReportVariant* variant = nullptr;
    Estimate value;
};

class VerdictMaker {
public:
    VerdictMaker(const RunData& data, const Recipe& recipe)
        : m_data(data)
        , m_wish(recipe.verdict)
        , m_isAboutSets(
              std::any_of(recipe.figures.begin(),
                          recipe.figures.end(),
                          [](const FigureWish& wish) { return wish.kind == "layer_grids"; }))
        , m_stage(data.stageOf({})) {}

    ExperimentVerdict make() const {
        if (m_data.shards().empty())
            return {VerdictKind::Finding, "Nothing has been measured yet.", ""};
        if (isAboutSpeed() && !m_data.drift().isSteady())
            return refused();
        if (m_wish.kind == "gain")
            return gain();
        if (m_wish.kind == "better")
            return better();
        if (m_wish.kind == "diagonal")
            return diagonal();
        if (m_wish.kind == "equal")
            return equal();
        if (m_wish.kind == "share")
            return share();
        if (m_wish.kind == "best")
            return best();
        if (m_wish.kind == "drift")
            return drift();
        return plain();
    }

private:
    bool isAboutSpeed() const {
        return m_wish.kind == "gain" || m_wish.kind == "diagonal" ||
               ((m_wish.kind == "best" || m_wish.kind == "better") &&
                (m_wish.measure == "speedup" || m_wish.measure == "speedup_with_prompt" ||
                 m_wish.measure == "cumulative_speedup"));
    }

    Selection of(const ReportVariant& variant, const std::string& task = {}) const {
        std::vector<Filter> filters = {{"variant", variant.name}};
        if (!task.empty())
            filters.emplace_back("task", task);
        // A variant belongs to one stage; vanilla to all of them.
        return m_data.select(variant.planned ? std::string() : m_stage, filters);
    }

    /// The drafting variants that have this measure, best first.
    std::vector<Measurement> ranked(const std::string& measure) const {
        std::vector<Measurement> found;
        for (const auto& variant : m_data.variants()) {
            if (variant->isVanilla || (variant->planned && variant->planned->stage != m_stage))
                continue;
            if (const auto value = measured(measure, of(*variant)))
                found.push_back({variant.get(), *value});
        }
        std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
            return a.value.value > b.value.value;
        });
        return found;
    }

    /// Whether this is the variant of the recipe, or one that was made of it.
    static bool isNamed(const ReportVariant& variant, const std::string& name) {
        return variant.name == name || (variant.planned && variant.planned->base == name);
    }

    /// Of several variants that were made of one, the one with the best measure; null for none.
    const ReportVariant* bestNamed(const std::string& name) const {
        for (const Measurement& one : ranked(m_wish.measure)) {
            if (isNamed(*one.variant, name))
                return one.variant;
        }
        return m_data.variant(name);
    }

    /// "a higher acceptance", "no more tokens per layer"
    std::string comparedWords(bool isHigher) const {
        const bool isMany = m_wish.measure.starts_with("tokens");
        const char* const article = isHigher ? (isMany ? "" : "a ") : "no ";
        return fmt::format("{}{} {}", article, isMany ? "more" : "higher", measureWords());
    }

    /// The measure of the wish as words: "tokens per layer".
    std::string measureWords() const {
        std::string words = m_wish.measure;
        std::replace(words.begin(), words.end(), '_', ' ');
        return words;
    }

    std::string text(const std::string& measure, const Estimate& value) const {
        return numberText(measureInfo(measure).form, value);
    }

    ExperimentVerdict refused() const {
        return {
            VerdictKind::Refused,
            fmt::format("No speedup is printed: vanilla moved by {:.1f} % between its two "
                        "passes, and {:.0f} % is the limit.",
                        std::abs(*m_data.drift().betweenPasses) * 100.0,
                        kBaselineLimit * 100.0),
            "Something else used the computer meanwhile, so a ratio of speeds would say nothing. "
            "Acceptance, M and whether the texts are equal still hold; run it again while the "
            "computer is quiet."};
    }

    ExperimentVerdict plain() const {
        const Selection all = m_data.select({}, {});
        std::size_t answers = 0;
        for (const AnsweredPrompt* run : all.runs)
            answers += run->own.size();
        const auto best = measured("best_matchness", all);
        if (best && (m_isAboutSets || answers == 0))
            return {VerdictKind::Finding,
                    fmt::format("{} sets were tried; the best one predicts {} of the tokens.",
                                all.trials.size(),
                                text("best_matchness", *best)),
                    equalSentence(m_data)};
        return {VerdictKind::Finding,
                fmt::format("{} answers were measured.", answers),
                equalSentence(m_data)};
    }

    ExperimentVerdict gain() const {
        const std::vector<Measurement> all = ranked("speedup");
        const auto subject = std::find_if(all.begin(), all.end(), [&](const Measurement& one) {
            return m_wish.variant.empty() || isNamed(*one.variant, m_wish.variant);
        });
        if (subject == all.end())
            return plain();
        const Estimate& value = subject->value;
        const std::string& name = subject->variant->label;
        const std::string interval = intervalWords(value);
        const Selection own = of(*subject->variant);
        std::string others;
        if (all.front().variant != subject->variant && all.front().value.value > 1.0 &&
            all.front().value.low.value_or(0.0) > 1.0)
            others = fmt::format(
                " {} gains {}.", all.front().variant->label, text("speedup", all.front().value));
        const std::string equal = " " + equalSentence(m_data);
        if (value.low.value_or(value.value) > 1.0)
            return {
                VerdictKind::Gain,
                fmt::format("{} gains {} over vanilla{}.", name, text("speedup", value), interval),
                costSentence(own) + others + equal};
        if (value.high.value_or(value.value) >= 1.0)
            return {VerdictKind::NoGain,
                    fmt::format("{} shows no gain that can be told from none: {} of vanilla{}.",
                                name,
                                text("speedup", value),
                                interval),
                    costSentence(own) + others + equal};
        return {VerdictKind::NoGain,
                fmt::format("{} does not gain on this model: {} of vanilla{}.",
                            name,
                            text("speedup", value),
                            interval),
                noGainSentence(own) + others + equal};
    }

    ExperimentVerdict better() const {
        const ReportVariant* subject = bestNamed(m_wish.variant);
        const ReportVariant* other = bestNamed(m_wish.against);
        if (!subject || !other)
            return plain();
        const auto own = measured(m_wish.measure, of(*subject));
        const auto against = measured(m_wish.measure, of(*other));
        if (!own || !against)
            return plain();
        const bool isBetter = own->value > against->value;
        const bool isClear = own->low && against->high
                                 ? *own->low > *against->high || *own->high < *against->low
                                 : own->value != against->value;
        std::string cause = costSentence(of(*subject));
        if (!isClear)
            cause = "The two intervals overlap, so the difference may be chance. " + cause;
        return {isBetter && isClear ? VerdictKind::Gain : VerdictKind::NoGain,
                fmt::format("{} {} than {}: {}{} against {}{}.",
                            subject->label,
                            measureInfo(m_wish.measure).isOverVanilla
                                ? (isBetter ? "is faster" : "is not faster")
                                : "has " + comparedWords(isBetter),
                            other->label,
                            text(m_wish.measure, *own),
                            intervalWords(*own),
                            text(m_wish.measure, *against),
                            intervalWords(*against)),
                cause};
    }

    ExperimentVerdict diagonal() const {
        const std::vector<std::string> tasks = m_data.groups(m_stage, "task");
        const std::vector<std::string> sets = m_data.groups(m_stage, "set");
        OwnSets found;
        for (const std::string& task : tasks) {
            std::optional<Estimate> own;
            std::optional<std::pair<std::string, Estimate>> other;
            for (const std::string& set : sets) {
                const std::vector<Filter> filters = {{"task", task}, {"set", set}};
                const auto value = measured("speedup", m_data.select(m_stage, filters));
                if (!value)
                    continue;
                if (set == task)
                    own = value;
                else if (!other || value->value > other->second.value)
                    other = std::pair(m_data.label("task", set), *value);
            }
            if (own && other)
                found.add(m_data.label("task", task), *own, other->first, other->second);
        }
        return found.verdict();
    }

    ExperimentVerdict equal() const {
        const std::string sentence = equalSentence(m_data);
        const EqualCounts counts = equalCounts(m_data);
        if (counts.compared == 0)
            return plain();
        if (counts.equal == counts.compared)
            return {VerdictKind::Gain, sentence, ""};
        std::vector<std::string> which;
        for (const auto& variant : m_data.variants()) {
            const auto share = measured("equal", of(*variant));
            if (share && share->value < 1.0)
                which.push_back(fmt::format("{} ({})", variant->label, text("equal", *share)));
        }
        return {counts.equal + counts.nearTies == counts.compared ? VerdictKind::Finding
                                                                  : VerdictKind::NoGain,
                sentence,
                "Equal to vanilla's, token for token: " + joined(which) + "."};
    }

    ExperimentVerdict share() const {
        const ReportVariant* subject = m_data.variant(m_wish.variant);
        const auto part = subject ? measured(m_wish.measure, of(*subject)) : std::nullopt;
        if (!part)
            return plain();
        std::vector<std::string> parts;
        for (const char* name : {"draft_share", "verify_share", "search_share", "other_share"}) {
            const auto value = measured(name, of(*subject));
            if (value && name != m_wish.measure)
                parts.push_back(
                    fmt::format("{} {}", measureInfo(name).heading, text(name, *value)));
        }
        return {VerdictKind::Finding,
                fmt::format("{} takes {} of {}'s time.",
                            measureInfo(m_wish.measure).heading,
                            text(m_wish.measure, *part),
                            subject->label),
                parts.empty() ? "" : fmt::format("The rest: {}.", joined(parts))};
    }

    ExperimentVerdict best() const {
        const std::vector<Measurement> all = ranked(m_wish.measure);
        if (all.empty())
            return plain();
        const Measurement& first = all.front();
        const bool isSpeed = measureInfo(m_wish.measure).isOverVanilla;
        const std::string& name = first.variant->label;
        std::string cause;
        if (all.size() > 1)
            cause = fmt::format("The next is {} with {}, the last {} with {}. ",
                                all[1].variant->label,
                                text(m_wish.measure, all[1].value),
                                all.back().variant->label,
                                text(m_wish.measure, all.back().value));
        const bool overlaps = all.size() > 1 && first.value.low && all[1].value.high &&
                              *first.value.low <= *all[1].value.high;
        if (overlaps)
            cause += "The intervals of the first two overlap, so their order may be chance. ";
        const Selection own = of(*first.variant);
        if (isSpeed && first.value.low.value_or(first.value.value) <= 1.0)
            return {VerdictKind::NoGain,
                    fmt::format("None gains here: the best is {} with {} of vanilla{}.",
                                name,
                                text(m_wish.measure, first.value),
                                intervalWords(first.value)),
                    cause + noGainSentence(own)};
        return {isSpeed ? VerdictKind::Gain : VerdictKind::Finding,
                fmt::format("{}: {}{}{}.",
                            isSpeed ? name + " is best"
                                    : fmt::format("{} has the highest {}", name, measureWords()),
                            text(m_wish.measure, first.value),
                            isSpeed ? " over vanilla" : "",
                            intervalWords(first.value)),
                cause + costSentence(own)};
    }

    /// Acceptance on the first task against that on all later ones.
    ExperimentVerdict drift() const {
        const ReportVariant* subject = m_data.variant(m_wish.variant);
        const ReportVariant* other = m_data.variant(m_wish.against);
        const std::vector<std::string> tasks = m_data.groups(m_stage, "task");
        if (!subject || !other || tasks.size() < 2)
            return plain();
        const auto change = [&](const ReportVariant& variant) {
            Selection later = of(variant);
            std::erase_if(later.runs, [&](const AnsweredPrompt* run) {
                return run->place.task == tasks.front();
            });
            return std::pair(measured("acceptance", of(variant, tasks.front())),
                             measured("acceptance", later));
        };
        const auto [first, then] = change(*subject);
        const auto [otherFirst, otherThen] = change(*other);
        if (!first || !then || !otherFirst || !otherThen)
            return plain();
        const double lost = first->value - then->value;
        const double otherLost = otherFirst->value - otherThen->value;
        const auto speed = measured("speedup", of(*subject));
        const auto otherSpeed = measured("speedup", of(*other));
        std::string cause =
            fmt::format("The first task is {}.", m_data.label("task", tasks.front()));
        if (speed && otherSpeed)
            cause += fmt::format(" Over the whole stream {} runs at {}, {} at {} of vanilla.",
                                 subject->label,
                                 text("speedup", *speed),
                                 other->label,
                                 text("speedup", *otherSpeed));
        return {otherLost > lost ? VerdictKind::Gain : VerdictKind::NoGain,
                fmt::format("Behind the first task acceptance goes from {} to {} with {}, and from "
                            "{} to {} with {}.",
                            text("acceptance", *first),
                            text("acceptance", *then),
                            subject->label,
                            text("acceptance", *otherFirst),
                            text("acceptance", *otherThen),
                            other->label),
                cause};
    }

    const RunData& m_data;
    const VerdictWish& m_wish;
    bool m_isAboutSets;
    std::string m_stage;
};

} // namespace

ExperimentVerdict makeVerdict(const RunData& data, const Recipe& recipe) {
    ExperimentVerdict verdict = VerdictMaker(data, recipe).make();
    while (!verdict.cause.empty() && verdict.cause.back() == ' ')
        verdict.cause.pop_back();
    return verdict;
}

} // namespace engine
