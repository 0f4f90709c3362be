// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/decoding/decoder_info.h"

#include <string>
#include <utility>
#include <vector>

// Decoders as the engine describes them, shortened; and one that no engine has.

namespace support {

inline engine::SettingInfo setting(std::string name,
                                   std::string title,
                                   engine::SettingKind kind,
                                   engine::SettingValue initial,
                                   std::pair<double, double> range = {0.0, 1.0}) {
    engine::SettingInfo made;
    made.name = std::move(name);
    made.title = std::move(title);
    made.kind = kind;
    made.initial = std::move(initial);
    made.minimum = range.first;
    made.maximum = range.second;
    return made;
}

inline engine::SettingInfo
choice(std::string name, std::string title, std::vector<std::string> choices) {
    auto made =
        setting(std::move(name), std::move(title), engine::SettingKind::Choice, choices.front());
    made.choices = std::move(choices);
    return made;
}

inline engine::SettingInfo acting(engine::SettingInfo made, engine::SettingEffect effect) {
    made.effect = effect;
    return made;
}

inline engine::DecoderInfo swiftDecoder() {
    using enum engine::SettingKind;
    using enum engine::SettingEffect;
    engine::DecoderInfo info{.name = "swift",
                             .title = "SWIFT",
                             .summary = "Drafts with some sublayers skipped, verifies with all of "
                                        "them, and searches for a good skip set meanwhile.",
                             .source = "arXiv 2410.06916",
                             .settings = {},
                             .profiles = {},
                             .lockedLayers = {}};
    info.settings = {
        acting(choice("profile", "Profile", {"paper", "code", "guided"}), NewSearch),
        acting(setting("r", "Skip ratio r", Number, 0.45, {0.0, 0.95}), NewSearch),
        acting(setting("gamma", "Context window \u03b3", Integer, 32.0, {1, 512}), NextAnswer),
        setting("epsilon", "Confidence threshold \u03b5", Number, 0.8),
        acting(setting("beta", "Bayesian interval \u03b2", Integer, 25.0, {1, 10000}), NextTrial),
        acting(setting("S", "Search steps S", Integer, 1000.0, {0, 1e6}), NextTrial),
        acting(setting("stop_score", "Stop score", Number, 0.95), NextTrial),
        acting(setting("patience", "Patience", Integer, 300.0, {1, 1e6}), NextTrial),
        acting(setting("opt_interval", "Steps per trial", Integer, 1.0, {1, 10000}), NextTrial),
        setting("max_draft", "Longest draft", Integer, 25.0, {1, 512}),
        setting("siblings", "Siblings", Text, std::string("1,3,5,10")),
        setting("early_stop", "Early stop", Flag, 1.0),
        acting(choice("start", "Start set", {"uniform", "odd", "influence"}), NewSearch),
        acting(setting("r_min", "Least r", Number, 0.05, {0.0, 0.95}), NewSearch),
        acting(setting("grow", "Growing r", Flag, 0.0), NewSearch),
        acting(choice("budget", "Budget", {"sublayers", "bytes"}), NewSearch)};
    info.lockedLayers = {0, -1};
    info.settings[2].unit = "tokens";
    info.profiles = {
        {"paper", "As the paper means it.", {}},
        {"code",
         "As published.",
         {{"start", std::string("odd")}, {"siblings", std::string("published")}}},
        {"guided",
         "Beyond the paper.",
         {{"start", std::string("influence")}, {"budget", std::string("bytes")}, {"grow", 1.0}}}};
    return info;
}

inline engine::DecoderInfo vanillaDecoder() {
    return {.name = "vanilla",
            .title = "Vanilla",
            .summary = "One token a pass of the whole model.",
            .source = "",
            .settings = {},
            .profiles = {},
            .lockedLayers = {}};
}

/// One setting of each kind, none of them known to the window.
inline engine::DecoderInfo hydraDecoder() {
    using enum engine::SettingKind;
    engine::DecoderInfo info{.name = "hydra",
                             .title = "Hydra",
                             .summary = "Many heads.",
                             .source = "",
                             .settings = {},
                             .profiles = {},
                             .lockedLayers = {}};
    info.settings = {setting("heads", "Heads", Integer, 4.0, {1, 16}),
                     setting("tau", "Doubt \u03c4", Number, 0.3, {-1.0, 1.0}),
                     setting("regrow", "Regrow", Flag, 1.0),
                     choice("lake", "Lake", {"lerna", "argos"}),
                     setting("label", "Label", Text, std::string("<b>none</b>"))};
    return info;
}

} // namespace support
