// SPDX-License-Identifier: GPL-3.0-only
#include "ui/tuning/tuning_event.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

/// Reads the members of an event and remembers whether one was missing or no such value can be.
class EventFields {
public:
    explicit EventFields(const QJsonObject& object)
        : m_object(object) {}

    bool areWhole() const { return m_areWhole; }

    QString text(const char* name) {
        const QJsonValue value = m_object[QLatin1String(name)];
        expect(value.isString());
        return value.toString();
    }

    double number(const char* name) { return number(m_object[QLatin1String(name)]); }

    qint64 count(const char* name) {
        constexpr double kMost = 9e15; // whole in a double
        const double value = number(name);
        expect(value >= 0.0 && value <= kMost);
        return m_areWhole ? static_cast<qint64>(value) : 0;
    }

    bool flag(const char* name) {
        const QJsonValue value = m_object[QLatin1String(name)];
        expect(value.isBool());
        return value.toBool();
    }

    /// Null and nothing: not known.
    std::optional<double> secondsLeft() {
        const QJsonValue value = m_object[QLatin1String("eta_s")];
        if (value.isNull() || value.isUndefined())
            return std::nullopt;
        expect(value.isDouble() && value.toDouble() >= 0.0);
        return value.toDouble();
    }

    TuningPrices prices() {
        TuningPrices prices;
        prices.draft = number("c");
        expect(prices.draft > 0.0);
        const QJsonObject rows = m_object[QLatin1String("v")].toObject();
        for (const char* count : {"2", "3", "4"}) {
            prices.rows.push_back(number(rows[QLatin1String(count)]));
            expect(prices.rows.back() > 0.0);
        }
        prices.isOfResult = text("when") == QLatin1String("end");
        if (const QJsonValue even = m_object[QLatin1String("break_even")]; !even.isNull()) {
            prices.breakEven = number(even);
            expect(*prices.breakEven >= 0.0 && *prices.breakEven <= 1.0);
        }
        return prices;
    }

    /// Nothing: the model stays as it is.
    std::optional<TuningQuality> quality() {
        const QJsonValue value = m_object[QLatin1String("quality")];
        if (value.isUndefined())
            return std::nullopt;
        const QJsonObject object = value.toObject();
        EventFields fields(object);
        const TuningQuality quality{fields.count("tokens"),
                                    fields.number("perplexity_before"),
                                    fields.number("perplexity"),
                                    fields.number("most_perplexity"),
                                    fields.number("agreement"),
                                    fields.number("least_agreement"),
                                    fields.flag("kept")};
        expect(fields.areWhole() && quality.perplexityBefore > 0.0 && quality.perplexity > 0.0);
        expect(quality.agreement >= 0.0 && quality.agreement <= 1.0);
        return quality;
    }

    std::vector<double> exits() {
        constexpr qsizetype kMostExits = 1000;
        std::vector<double> shares;
        const QJsonArray exits = m_object[QLatin1String("exits")].toArray();
        expect(exits.size() <= kMostExits);
        for (const auto& share : exits) {
            shares.push_back(number(share));
            expect(shares.back() >= 0.0 && shares.back() <= 1.0);
        }
        return shares;
    }

    std::optional<double> drafting() const {
        const QJsonValue value =
            m_object[QLatin1String("parts")].toObject()[QLatin1String("drafting")];
        return value.isDouble() ? std::optional(value.toDouble()) : std::nullopt;
    }

    DraftScore score() { return score(m_object); }

    ScoresByTask tasks() {
        const QJsonValue value = m_object[QLatin1String("tasks")];
        expect(value.isObject());
        ScoresByTask scores;
        const QJsonObject tasks = value.toObject();
        for (auto task = tasks.begin(); task != tasks.end(); ++task)
            scores[task.key()] = score(task.value().toObject());
        return scores;
    }

private:
    void expect(bool isTrue) { m_areWhole = m_areWhole && isTrue; }

    double number(const QJsonValue& value) {
        expect(value.isDouble());
        return value.toDouble();
    }

    DraftScore score(const QJsonObject& object) {
        constexpr qsizetype kMostDepths = 16;
        DraftScore score;
        const QJsonArray shares = object[QLatin1String("acceptance")].toArray();
        expect(!shares.isEmpty() && shares.size() <= kMostDepths);
        for (const auto& share : shares) {
            score.acceptance.push_back(number(share));
            expect(score.acceptance.back() >= 0.0 && score.acceptance.back() <= 1.0);
        }
        score.tokensPerRound = number(object[QLatin1String("tokens_per_round")]);
        return score;
    }

    const QJsonObject& m_object;
    bool m_areWhole = true;
};

TuningEvent eventOf(const QString& name, EventFields& fields, const QJsonObject& object) {
    if (name == QLatin1String("start"))
        return TuningStarted{fields.text("model"),
                             fields.text("fingerprint"),
                             fields.count("trained_weights"),
                             fields.count("answer_tokens"),
                             object[QLatin1String("minutes")].toDouble()};
    if (name == QLatin1String("prices"))
        return fields.prices();
    if (name == QLatin1String("self_prompts"))
        return TuningSelfPrompts{fields.count("written"), fields.count("planned")};
    if (name == QLatin1String("collect"))
        return TuningCollected{fields.count("prompts"),
                               fields.count("answer_tokens"),
                               fields.count("planned"),
                               fields.number("tokens_per_s"),
                               fields.secondsLeft()};
    if (name == QLatin1String("step"))
        return TuningStep{fields.count("step"),
                          fields.count("steps"),
                          fields.number("loss"),
                          fields.number("tokens_per_s"),
                          fields.secondsLeft(),
                          fields.drafting()};
    if (name == QLatin1String("eval"))
        return TuningEvaluation{fields.count("step"),
                                fields.score(),
                                fields.flag("best"),
                                fields.tasks(),
                                fields.exits()};
    if (name == QLatin1String("checkpoint"))
        return TuningCheckpoint{};
    if (name == QLatin1String("best"))
        return TuningBest{
            fields.text("path"), fields.count("step"), fields.score(), fields.flag("held_out")};
    if (name == QLatin1String("remark"))
        return TuningNote{fields.text("text")};
    if (name == QLatin1String("done")) {
        const QJsonObject seconds = object[QLatin1String("seconds")].toObject();
        return TuningDone{fields.text("path"),
                          fields.count("bytes"),
                          fields.score(),
                          fields.flag("held_out"),
                          fields.tasks(),
                          fields.count("steps"),
                          seconds[QLatin1String("collect")].toDouble() +
                              seconds[QLatin1String("train")].toDouble(),
                          seconds[QLatin1String("collect")].isDouble(),
                          fields.quality(),
                          fields.exits()};
    }
    return TuningError{fields.text("message"), object[QLatin1String("hint")].toString()};
}

double shareOf(qint64 part, qint64 whole) {
    return whole > 0 ? std::clamp(static_cast<double>(part) / static_cast<double>(whole), 0.0, 1.0)
                     : 0.0;
}

} // namespace

std::optional<double> TuningPrices::round(int drafted) const {
    const auto index = static_cast<std::size_t>(drafted - 1);
    return index < rows.size() ? std::optional(drafted * draft + rows[index]) : std::nullopt;
}

double TuningCollected::part() const { return shareOf(answerTokens, planned); }

double TuningStep::part() const { return shareOf(step, steps); }

QString TuningError::sentence() const {
    return hint.isEmpty() ? message : message + QLatin1Char(' ') + hint;
}

std::optional<TuningEvent> tuningEventOf(const QByteArray& line) {
    static const QStringList kNames = {QStringLiteral("start"),
                                       QStringLiteral("prices"),
                                       QStringLiteral("self_prompts"),
                                       QStringLiteral("collect"),
                                       QStringLiteral("step"),
                                       QStringLiteral("eval"),
                                       QStringLiteral("checkpoint"),
                                       QStringLiteral("best"),
                                       QStringLiteral("remark"),
                                       QStringLiteral("done"),
                                       QStringLiteral("error")};
    const QJsonObject object = QJsonDocument::fromJson(line).object();
    const QString name = object[QLatin1String("event")].toString();
    if (!kNames.contains(name))
        return std::nullopt;
    EventFields fields(object);
    TuningEvent event = eventOf(name, fields, object);
    return fields.areWhole() ? std::optional(std::move(event)) : std::nullopt;
}

} // namespace ui
