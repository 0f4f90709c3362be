// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/analysis/analyse.h"
#include "engine/experiments/report/analysis/result_parts.h"
#include "engine/experiments/report/analysis/verdict/verdict_context.h"
#include "engine/experiments/report/analysis/verdict/verdict_words.h"
#include "engine/experiments/run/baseline/baseline_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace engine {

namespace {

class VerdictMaker {
public:
    VerdictMaker(const RunData& data, const Recipe& recipe)
        : m_context{data,
                    recipe.verdict,
                    data.stageOf({}),
                    std::any_of(recipe.figures.begin(),
                                recipe.figures.end(),
                                [](const auto& wish) { return wish.kind == "layer_grids"; }),
                    recipe.source} {}

    ExperimentVerdict make() const {
        if (m_context.data.shards().empty())
            return {VerdictKind::Finding, "Nothing has been measured yet.", ""};
        if (isAboutSpeed()) {
            if (const auto moved = movedOf(nullptr); !isSteady(moved))
                return refused(*moved);
        }
        if (m_context.wish.kind == "gain")
            return gain();
        if (m_context.wish.kind == "better")
            return better();
        if (m_context.wish.kind == "diagonal")
            return diagonalVerdict(m_context);
        if (m_context.wish.kind == "equal")
            return equalVerdict(m_context);
        if (m_context.wish.kind == "share")
            return shareVerdict(m_context);
        if (m_context.wish.kind == "best")
            return best();
        if (m_context.wish.kind == "drift")
            return driftVerdict(m_context);
        return plainVerdict(m_context);
    }

private:
    bool isAboutSpeed() const {
        return m_context.wish.kind == "gain" || m_context.wish.kind == "diagonal" ||
               ((m_context.wish.kind == "best" || m_context.wish.kind == "better") &&
                isSpeedup(m_context.wish.measure));
    }

    /// How far vanilla moved beside a variant, or beside all of the last stage.
    std::optional<double> movedOf(const ReportVariant* variant) const {
        return vanillaMoved(variant ? m_context.of(*variant)
                                    : m_context.data.select(m_context.stage, {}));
    }

    static ExperimentVerdict refused(double moved) {
        return {
            VerdictKind::Refused,
            fmt::format(
                "No speedup is printed: vanilla moved by {:.1f} % between the beginning and "
                "the end of its prompts, and {:.0f} % is the limit.",
                std::abs(moved) * 100.0,
                kBaselineLimit * 100.0),
            "Something else used the computer meanwhile, so a ratio of speeds would say nothing. "
            "Acceptance, M and whether the texts are equal still hold. Repeat on a quiet machine."};
    }

    static bool isClearGain(const Estimate& value) { return value.low.value_or(value.value) > 1.0; }

    ExperimentVerdict gain() const {
        const std::vector<Measurement> all = m_context.ranked("speedup");
        const auto subject = std::find_if(all.begin(), all.end(), [&](const Measurement& one) {
            return m_context.wish.variant.empty() || isNamed(*one.variant, m_context.wish.variant);
        });
        if (subject == all.end()) {
            const ReportVariant* wanted = m_context.data.variant(m_context.wish.variant);
            const auto moved = wanted ? movedOf(wanted) : std::nullopt;
            return isSteady(moved) ? plainVerdict(m_context) : refused(*moved);
        }
        const Estimate& value = subject->value;
        const std::string& name = subject->variant->label;
        const std::string interval = intervalWords("speedup", value);
        const Selection own = m_context.of(*subject->variant);
        std::string others;
        if (all.front().variant != subject->variant && all.front().value.value > 1.0 &&
            all.front().value.low.value_or(0.0) > 1.0)
            others = fmt::format(" {} gains {}.",
                                 all.front().variant->label,
                                 measureText("speedup", all.front().value));
        const std::string rest =
            fewPromptsSentence("speedup", value) + others + " " + equalSentence(m_context.data);
        if (!value.low) // one prompt
            return {VerdictKind::Finding,
                    fmt::format("{} runs at {} of vanilla on one prompt.",
                                name,
                                measureText("speedup", value)),
                    costSentence(own) + rest};
        if (isClearGain(value))
            return {
                VerdictKind::Gain,
                fmt::format(
                    "{} gains {} over vanilla{}.", name, measureText("speedup", value), interval),
                costSentence(own) + rest};
        if (value.high.value_or(value.value) >= 1.0)
            return {VerdictKind::NoGain,
                    fmt::format("{} shows no gain that can be told from none: {} of vanilla{}.",
                                name,
                                measureText("speedup", value),
                                interval),
                    costSentence(own) + rest};
        return {VerdictKind::NoGain,
                fmt::format("{} does not gain on this model: {} of vanilla{}.",
                            name,
                            measureText("speedup", value),
                            interval),
                noGainSentence(own) + rest};
    }

    ExperimentVerdict better() const {
        const ReportVariant* subject = m_context.bestNamed(m_context.wish.variant);
        const ReportVariant* other = m_context.bestNamed(m_context.wish.against);
        if (!subject || !other)
            return plainVerdict(m_context);
        const auto own = measured(m_context.wish.measure, m_context.of(*subject));
        const auto against = measured(m_context.wish.measure, m_context.of(*other));
        for (const ReportVariant* variant : {subject, other})
            if (const auto moved = refusedFor(m_context.wish.measure, m_context.of(*variant)))
                return refused(*moved);
        if (!own || !against)
            return plainVerdict(m_context);
        const bool isBetter = own->value > against->value;
        const bool hasInterval = own->low || against->low;
        const bool isOfOnePrompt = isSpeedup(m_context.wish.measure) && !hasInterval;
        const bool isClear =
            !isOfOnePrompt &&
            (own->low.value_or(own->value) > against->high.value_or(against->value) ||
             own->high.value_or(own->value) < against->low.value_or(against->value));
        std::string cause = costSentence(m_context.of(*subject));
        if (sumsOf(m_context.of(*subject)).rounds == 0 && !m_context.source.empty())
            cause += fmt::format(" So this model cannot show {}.", m_context.source);
        const std::string ownText = measureText(m_context.wish.measure, *own);
        const std::string otherText = measureText(m_context.wish.measure, *against);
        if (!hasInterval && ownText == otherText)
            return {VerdictKind::NoGain,
                    fmt::format("{} and {} have the same {}: {}.",
                                subject->label,
                                other->label,
                                m_context.measureWords(),
                                ownText),
                    cause};
        if (!isClear)
            cause = fmt::format("{}, so the difference may be chance. {}",
                                isOfOnePrompt              ? "There is one prompt alone"
                                : own->low && against->low ? "The two intervals overlap"
                                                           : "The interval holds the other value",
                                cause);
        if (isClear)
            cause += fewPromptsSentence(m_context.wish.measure, *own);
        return {isBetter && isClear ? VerdictKind::Gain : VerdictKind::NoGain,
                fmt::format("{} {} than {}: {}{} against {}{}.",
                            subject->label,
                            measureInfo(m_context.wish.measure).isOverVanilla
                                ? (isBetter ? "is faster" : "is not faster")
                                : "has " + m_context.comparedWords(isBetter),
                            other->label,
                            ownText,
                            intervalWords(m_context.wish.measure, *own),
                            otherText,
                            intervalWords(m_context.wish.measure, *against)),
                cause};
    }

    ExperimentVerdict best() const {
        const std::vector<Measurement> all = m_context.ranked(m_context.wish.measure);
        if (all.empty()) {
            const std::string leftOut = leftOutWords();
            ExperimentVerdict plain = plainVerdict(m_context);
            plain.cause = leftOut + plain.cause;
            return plain;
        }
        const Measurement& first = all.front();
        const bool isSpeed = measureInfo(m_context.wish.measure).isOverVanilla;
        const std::string& name = first.variant->label;
        std::string cause = leftOutWords();
        const auto text = [&](const Measurement& one) {
            return measureText(m_context.wish.measure, one.value);
        };
        if (!isSpeed && all.size() > 1 && text(first) == text(all.back()))
            return {VerdictKind::Finding,
                    fmt::format("All have the same {}: {}.", m_context.measureWords(), text(first)),
                    cause + costSentence(m_context.of(*first.variant))};
        std::vector<std::string> alike = {name}; // those that read like the first
        for (std::size_t i = 1; !isSpeed && i < all.size() && text(all[i]) == text(first); ++i)
            alike.push_back(all[i].variant->label);
        const std::size_t next = alike.size();
        if (all.size() > next)
            cause +=
                fmt::format("The next is {} with {}", all[next].variant->label, text(all[next]));
        if (all.size() > next + 1)
            cause +=
                fmt::format(", the last {} with {}", all.back().variant->label, text(all.back()));
        if (all.size() > next)
            cause += ". ";
        const bool overlaps = next == 1 && all.size() > 1 && first.value.low && all[1].value.high &&
                              *first.value.low <= *all[1].value.high;
        if (overlaps)
            cause += "The intervals of the first two overlap, so their order may be chance. ";
        const std::string few = fewPromptsSentence(m_context.wish.measure, first.value);
        const std::string cost = costSentence(m_context.of(*first.variant)) + few;
        if (isSpeedup(m_context.wish.measure) && !first.value.low) // one prompt
            return {VerdictKind::Finding,
                    fmt::format(
                        "The highest on one prompt is {} with {} of vanilla.", name, text(first)),
                    cause + cost};
        if (isSpeed && !isClearGain(first.value))
            return bestByChance(all, cause);
        return {isSpeed ? VerdictKind::Gain : VerdictKind::Finding,
                fmt::format("{}: {}{}{}.",
                            isSpeed ? name + " is best"
                                    : fmt::format("{} {} the highest {}",
                                                  joined(alike),
                                                  next == 1 ? "has" : "have",
                                                  m_context.measureWords()),
                            text(first),
                            isSpeed ? " over vanilla" : "",
                            next == 1 ? intervalWords(m_context.wish.measure, first.value)
                                      : std::string()),
                cause + cost};
    }

    /// Of speeds whose highest one may be no gain; another one may be.
    ExperimentVerdict bestByChance(const std::vector<Measurement>& all,
                                   const std::string& cause) const {
        const auto words = [&](const Measurement& one, const char* of) {
            return measureText(m_context.wish.measure, one.value) + of +
                   intervalWords(m_context.wish.measure, one.value);
        };
        const Measurement& first = all.front();
        const Selection own = m_context.of(*first.variant);
        const auto clear = std::find_if(
            all.begin(), all.end(), [](const Measurement& one) { return isClearGain(one.value); });
        if (clear != all.end())
            return {VerdictKind::Gain,
                    fmt::format("{} gains {}; higher, but perhaps by chance, is {} with {}.",
                                clear->variant->label,
                                words(*clear, " over vanilla"),
                                first.variant->label,
                                words(first, "")),
                    cause + costSentence(m_context.of(*clear->variant)) +
                        fewPromptsSentence(m_context.wish.measure, clear->value)};
        const bool isOpen = first.value.high.value_or(first.value.value) >= 1.0;
        return {
            VerdictKind::NoGain,
            fmt::format("{}: the best is {} with {}.",
                        isOpen ? "None shows a gain that can be told from none" : "None gains here",
                        first.variant->label,
                        words(first, " of vanilla")),
            cause + (isOpen ? costSentence(own) : noGainSentence(own)) +
                fewPromptsSentence(m_context.wish.measure, first.value)};
    }

    /// The variants that cannot be ranked by their speed.
    std::string leftOutWords() const {
        std::vector<std::string> names;
        for (const auto& variant : m_context.data.variants()) {
            if (!variant->isVanilla && variant->planned &&
                variant->planned->stage == m_context.stage &&
                refusedFor(m_context.wish.measure, m_context.of(*variant)))
                names.push_back(variant->label);
        }
        return names.empty() ? ""
                             : fmt::format("Without a speedup, because vanilla moved beside it: "
                                           "{}. ",
                                           joined(names));
    }

    VerdictContext m_context;
};

} // namespace

ExperimentVerdict makeVerdict(const RunData& data, const Recipe& recipe) {
    ExperimentVerdict verdict = VerdictMaker(data, recipe).make();
    while (!verdict.cause.empty() && verdict.cause.back() == ' ')
        verdict.cause.pop_back();
    verdict.cause.erase(0, std::min(verdict.cause.find_first_not_of(' '), verdict.cause.size()));
    return verdict;
}

} // namespace engine
