// SPDX-License-Identifier: GPL-3.0-only
#include "ui/tuning/compare/compared_prompts.h"

#include "engine/metrics/sample_statistics.h"
#include "ui/tuning/compare/comparison_arguments.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

double quotientOf(double a, double b) { return b > 0.0 ? a / b : 0.0; }

double speedOf(const ComparedAnswer& answer) {
    return quotientOf(static_cast<double>(answer.tokens), answer.ms);
}

/// By the measure of the answer's task, mean of both halves; none where one has none.
std::optional<double> scoreOf(const QJsonArray& halves) {
    double sum = 0.0;
    for (const auto& half : halves) {
        const QJsonObject scores = half.toObject();
        QJsonValue score;
        for (const char* name : {"rougeL", "exact_match", "pass_at_1"})
            if (const QJsonValue value = scores[QLatin1String(name)]; value.isDouble())
                score = value;
        if (!score.isDouble())
            return std::nullopt;
        sum += score.toDouble();
    }
    return halves.isEmpty() ? std::nullopt
                            : std::optional(sum / static_cast<double>(halves.size()));
}

/// None for a line that lacks something.
std::optional<ComparedAnswer> answerOf(const QJsonObject& line) {
    ComparedAnswer answer;
    for (const auto& [name, to] : {std::pair{"output_tokens", &answer.tokens},
                                   std::pair{"steps", &answer.rounds},
                                   std::pair{"draft_steps", &answer.drafted},
                                   std::pair{"accepted", &answer.accepted}}) {
        const QJsonValue value = line[QLatin1String(name)];
        if (!value.isDouble() || value.toDouble() < 0.0)
            return std::nullopt;
        *to = value.toInteger();
    }
    const QJsonArray halves = line[QLatin1String("decode_ms")].toArray();
    for (const auto& half : halves)
        answer.ms += half.toDouble();
    answer.isEqual = line[QLatin1String("equal")].toBool();
    answer.score = scoreOf(line[QLatin1String("quality")].toArray());
    if (halves.isEmpty() || answer.ms <= 0.0)
        return std::nullopt;
    return answer;
}

void addTo(ComparedAnswer& sum, const ComparedAnswer& answer) {
    sum.tokens += answer.tokens;
    sum.rounds += answer.rounds;
    sum.drafted += answer.drafted;
    sum.accepted += answer.accepted;
    sum.ms += answer.ms;
}

/// Adds prompts up.
struct SumMaker {
    ComparedAnswer plain;
    ComparedAnswer with;
    ComparedAnswer without;
    int prompts = 0;
    int differing = 0;
    int scored = 0; ///< prompts of which both answers have a score
    double score = 0.0;
    double scoreBefore = 0.0;

    void add(const ComparedPrompt& prompt) {
        addTo(plain, prompt.plain);
        addTo(with, prompt.with);
        addTo(without, prompt.without);
        ++prompts;
        if (!prompt.plain.isEqual || !prompt.with.isEqual || !prompt.without.isEqual)
            ++differing;
        if (prompt.with.score && prompt.without.score) {
            ++scored;
            score += *prompt.with.score;
            scoreBefore += *prompt.without.score;
        }
    }

    ComparedSum sum() const {
        ComparedSum made;
        made.prompts = prompts;
        made.with = quotientOf(speedOf(with), speedOf(plain));
        made.without = quotientOf(speedOf(without), speedOf(plain));
        if (with.drafted > 0)
            made.acceptance =
                static_cast<double>(with.accepted) / static_cast<double>(with.drafted);
        made.tokensPerRound =
            quotientOf(static_cast<double>(with.tokens), static_cast<double>(with.rounds));
        made.differing = differing;
        if (scored > 0 && scored == prompts) {
            made.score = score / scored;
            made.scoreBefore = scoreBefore / scored;
        }
        return made;
    }
};

} // namespace

bool ComparedPrompts::take(const QByteArray& line) {
    const QJsonObject object = QJsonDocument::fromJson(line).object();
    if (object[QLatin1String("event")].toString() != QLatin1String("prompt"))
        return false;
    const auto answer = answerOf(object);
    if (!answer)
        return false;
    const QString key =
        QStringLiteral("%1:%2").arg(object[QLatin1String("data")].toString(),
                                    QString::number(object[QLatin1String("line")].toInteger()));
    if (key != m_newest.key)
        m_newest = {key, object[QLatin1String("task")].toString(), {}};
    m_newest.answers[object[QLatin1String("variant")].toString()] = *answer;
    m_planned = static_cast<int>(object[QLatin1String("of")].toInteger());
    finish();
    return true;
}

/// Once all three are there.
void ComparedPrompts::finish() {
    const auto find = [this](const char* variant) {
        const auto found = m_newest.answers.find(QLatin1String(variant));
        return found == m_newest.answers.end() ? nullptr : &found->second;
    };
    const ComparedAnswer* plain = find(kPlainVariant);
    const ComparedAnswer* with = find(kWithVariant);
    const ComparedAnswer* without = find(kWithoutVariant);
    if (without == nullptr)
        without = find(kOriginalVariant);
    if (plain == nullptr || with == nullptr || without == nullptr)
        return;
    m_prompts.push_back({m_newest.task, *plain, *with, *without});
    m_newest = {};
}

double ComparedPrompts::part() const {
    return m_planned > 0 ? std::clamp(static_cast<double>(m_prompts.size()) / m_planned, 0.0, 1.0)
                         : 0.0;
}

ComparedSum ComparedPrompts::all() const {
    SumMaker sums;
    for (const ComparedPrompt& prompt : m_prompts)
        sums.add(prompt);
    return sums.sum();
}

std::map<QString, ComparedSum> ComparedPrompts::byTask() const {
    std::map<QString, SumMaker> makers;
    for (const ComparedPrompt& prompt : m_prompts)
        makers[prompt.task].add(prompt);
    std::map<QString, ComparedSum> sums;
    for (const auto& [task, maker] : makers)
        sums[task] = maker.sum();
    return sums;
}

std::optional<GainRange> ComparedPrompts::gainOver(ComparedAnswer ComparedPrompt::*base) const {
    if (m_prompts.size() < kFewestForGain)
        return std::nullopt;
    std::vector<double> slower; // times for the same tokens
    std::vector<double> faster;
    for (const ComparedPrompt& prompt : m_prompts) {
        slower.push_back(
            quotientOf(static_cast<double>(prompt.with.tokens), speedOf(prompt.*base)));
        faster.push_back(prompt.with.ms);
    }
    const engine::RatioEstimate ratio = engine::ratioOfSums(slower, faster);
    return GainRange{ratio.ratio, ratio.low, ratio.high};
}

} // namespace ui
