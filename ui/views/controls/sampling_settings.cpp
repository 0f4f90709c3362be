// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/controls/sampling_settings.h"

#include "ui/language/tr.h"
#include "ui/views/controls/settings/setting_text.h"

#include <QStringList>

#include <algorithm>
#include <optional>

namespace ui {

using namespace engine;

namespace {

constexpr double kHottest = 2.0;
constexpr double kLargestTopK = 1000.0;
constexpr double kLargestSeed = 9007199254740991.0; // a double holds all whole numbers up to here
constexpr double kLargestWindow = 4096.0;

/// The names of GrammarKind, in its order.
std::vector<std::string> formNames() {
    return {tr("any text").toStdString(),
            tr("JSON object").toStdString(),
            tr("JSON schema").toStdString(),
            tr("regular expression").toStdString()};
}

SettingInfo row(const char* name, std::string title, SettingKind kind, double maximum) {
    SettingInfo made;
    made.name = name;
    made.title = std::move(title);
    made.kind = kind;
    made.maximum = maximum;
    made.effect = SettingEffect::NextAnswer;
    return made;
}

SettingInfo
numberRow(const char* name, std::string title, double least, double most, std::string meaning) {
    SettingInfo made = row(name, std::move(title), SettingKind::Number, most);
    made.minimum = least;
    made.meaning = std::move(meaning);
    return made;
}

SettingInfo textRow(const char* name, std::string title, std::string meaning) {
    SettingInfo made = row(name, std::move(title), SettingKind::Text, 0.0);
    made.initial = std::string();
    made.meaning = std::move(meaning);
    return made;
}

SettingInfo formRow() {
    SettingInfo made =
        row("form", tr("Form of the answer").toStdString(), SettingKind::Choice, 0.0);
    made.choices = formNames();
    made.initial = made.choices.front();
    made.meaning =
        tr("The whole answer is JSON, or matches a regular expression. Tokens that would "
           "not fit cannot be chosen, whichever decoder drafts.")
            .toStdString();
    return made;
}

void read(const SettingValues& values, const char* name, double& place) {
    const auto found = values.find(name);
    if (found != values.end())
        if (const double* number = std::get_if<double>(&found->second))
            place = *number;
}

/// Parses "42=-5, 7=2"; nothing if the text has another form.
std::optional<std::vector<LogitBias>> biasesOf(const std::string& text) {
    std::vector<LogitBias> biases;
    for (const QString& part : QString::fromStdString(text).split(',', Qt::SkipEmptyParts)) {
        const QStringList sides = part.split('=');
        bool isId = false;
        bool isNumber = false;
        const TokenId token = sides.front().trimmed().toInt(&isId);
        const double value = sides.size() == 2 ? sides.back().trimmed().toDouble(&isNumber) : 0.0;
        if (!isId || !isNumber)
            return std::nullopt;
        biases.push_back({token, value});
    }
    return biases;
}

std::string textOf(const std::vector<LogitBias>& biases) {
    QStringList parts;
    for (const LogitBias& bias : biases)
        parts << QString("%1=%2").arg(bias.token).arg(bias.value);
    return parts.join(", ").toStdString();
}

/// A form chosen before it is written starts with one that accepts nearly everything.
void readForm(const SettingValues& values, Grammar& form) {
    if (const std::string* name = textIn(values, "form")) {
        const std::vector<std::string> names = formNames();
        const auto at = std::find(names.begin(), names.end(), *name) - names.begin();
        if (at < static_cast<std::ptrdiff_t>(names.size()) && form.kind != GrammarKind(at)) {
            form.kind = GrammarKind(at);
            form.text = form.kind == GrammarKind::Schema  ? R"({"type": "object"})"
                        : form.kind == GrammarKind::Regex ? "(?:.|\\n)*"
                                                          : "";
        }
    }
    if (const std::string* text = textIn(values, "form_text"))
        form.text = *text;
}

} // namespace

std::vector<SettingInfo> samplingSettings() {
    SettingInfo topP = row("top_p", tr("Top-p").toStdString(), SettingKind::Number, 1.0);
    topP.initial = 1.0;
    SettingInfo minP =
        numberRow("min_p",
                  tr("Min-p").toStdString(),
                  0.0,
                  0.99,
                  tr("Only tokens whose probability is at least this fraction of the "
                     "highest one can be chosen. 0 = all.")
                      .toStdString());
    SettingInfo typicalP =
        numberRow("typical_p",
                  tr("Typical-p").toStdString(),
                  0.01,
                  1.0,
                  tr("Only the most typical tokens, neither the likeliest nor the unlikeliest, "
                     "that together reach this probability can be chosen. 1 = all.")
                      .toStdString());
    typicalP.initial = 1.0;
    SettingInfo repetition =
        numberRow("repetition_penalty",
                  tr("Repetition penalty").toStdString(),
                  0.5,
                  2.0,
                  tr("Above 1, tokens that are already in the prompt or the answer become less "
                     "probable. 1 = off.")
                      .toStdString());
    repetition.initial = 1.0;
    SettingInfo window = row("repetition_window",
                             tr("Repetition window").toStdString(),
                             SettingKind::Integer,
                             kLargestWindow);
    window.meaning =
        tr("How many of the newest tokens the repetition penalty covers. 0 = all.").toStdString();
    return {row("temperature", tr("Temperature").toStdString(), SettingKind::Number, kHottest),
            topP,
            row("top_k", tr("Top-k").toStdString(), SettingKind::Integer, kLargestTopK),
            minP,
            row("seed", tr("Seed").toStdString(), SettingKind::Integer, kLargestSeed),
            typicalP,
            repetition,
            window,
            numberRow("presence_penalty",
                      tr("Presence penalty").toStdString(),
                      -2.0,
                      2.0,
                      tr("Subtracted from the logit of every token that is already in the "
                         "answer. 0 = off.")
                          .toStdString()),
            numberRow("frequency_penalty",
                      tr("Frequency penalty").toStdString(),
                      -2.0,
                      2.0,
                      tr("Subtracted from a token's logit once for each time that it is "
                         "already in the answer. 0 = off.")
                          .toStdString()),
            textRow("logit_bias",
                    tr("Logit bias").toStdString(),
                    tr("Token ids and the values to add to their logits, such as 42=-5, 7=2. "
                       "-100 practically forbids a token, 100 practically forces it.")
                        .toStdString()),
            formRow(),
            textRow("form_text",
                    tr("Schema or expression").toStdString(),
                    tr("The JSON schema or regular expression that the answer has to match.")
                        .toStdString())};
}

QString samplingProblem(const std::string& setting, const SettingValue& value) {
    const std::string* text = std::get_if<std::string>(&value);
    if (setting != "logit_bias" || text == nullptr || biasesOf(*text))
        return {};
    return QString::fromStdString(
        tr("Write token ids and values separated by commas, such as 42=-5, 7=2.").toStdString());
}

SettingValues valuesOf(const SamplingOptions& sampling) {
    return {{"temperature", sampling.temperature},
            {"top_p", sampling.topP},
            {"top_k", static_cast<double>(sampling.topK)},
            {"min_p", sampling.minP},
            {"seed", static_cast<double>(sampling.seed)},
            {"typical_p", sampling.typicalP},
            {"repetition_penalty", sampling.repetitionPenalty},
            {"repetition_window", static_cast<double>(sampling.repetitionWindow)},
            {"presence_penalty", sampling.presencePenalty},
            {"frequency_penalty", sampling.frequencyPenalty},
            {"logit_bias", textOf(sampling.logitBias)},
            {"form", formNames()[static_cast<std::size_t>(sampling.grammar.kind)]},
            {"form_text", sampling.grammar.text}};
}

SamplingOptions samplingOf(const SettingValues& values, const SamplingOptions& otherwise) {
    double topK = otherwise.topK;
    double window = otherwise.repetitionWindow;
    double seed = static_cast<double>(otherwise.seed);
    SamplingOptions made = otherwise;
    read(values, "temperature", made.temperature);
    read(values, "top_p", made.topP);
    read(values, "top_k", topK);
    read(values, "min_p", made.minP);
    read(values, "seed", seed);
    read(values, "typical_p", made.typicalP);
    read(values, "repetition_penalty", made.repetitionPenalty);
    read(values, "repetition_window", window);
    read(values, "presence_penalty", made.presencePenalty);
    read(values, "frequency_penalty", made.frequencyPenalty);
    made.topK = static_cast<int>(topK);
    made.repetitionWindow = static_cast<int>(window);
    if (values.contains("seed"))
        made.seed = static_cast<std::uint64_t>(seed);
    if (const std::string* text = textIn(values, "logit_bias"))
        made.logitBias = biasesOf(*text).value_or(otherwise.logitBias);
    readForm(values, made.grammar);
    return made;
}

} // namespace ui
