// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/controls/sampling_settings.h"

#include <QCoreApplication>

namespace ui {

using namespace engine;

namespace {

constexpr double kHottest = 2.0;
constexpr double kLargestTopK = 1000.0;
constexpr double kLargestSeed = 9007199254740991.0; // a double holds all whole numbers up to here

std::string say(const char* text) {
    return QCoreApplication::translate("ui::SamplingSettings", text).toStdString();
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

void read(const SettingValues& values, const char* name, double& place) {
    const auto found = values.find(name);
    if (found != values.end())
        if (const double* number = std::get_if<double>(&found->second))
            place = *number;
}

} // namespace

std::vector<SettingInfo> samplingSettings() {
    SettingInfo topP = row("top_p", say("Top-p"), SettingKind::Number, 1.0);
    topP.initial = 1.0;
    return {row("temperature", say("Temperature"), SettingKind::Number, kHottest),
            topP,
            row("top_k", say("Top-k"), SettingKind::Integer, kLargestTopK),
            row("seed", say("Seed"), SettingKind::Integer, kLargestSeed)};
}

SettingValues valuesOf(const SamplingOptions& sampling) {
    return {{"temperature", sampling.temperature},
            {"top_p", sampling.topP},
            {"top_k", static_cast<double>(sampling.topK)},
            {"seed", static_cast<double>(sampling.seed)}};
}

SamplingOptions samplingOf(const SettingValues& values, const SamplingOptions& otherwise) {
    double topK = otherwise.topK;
    double seed = static_cast<double>(otherwise.seed);
    SamplingOptions made = otherwise;
    read(values, "temperature", made.temperature);
    read(values, "top_p", made.topP);
    read(values, "top_k", topK);
    read(values, "seed", seed);
    made.topK = static_cast<int>(topK);
    if (values.contains("seed"))
        made.seed = static_cast<std::uint64_t>(seed);
    return made;
}

} // namespace ui
