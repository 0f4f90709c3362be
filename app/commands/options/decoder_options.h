// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/options/model_options.h"
#include "engine/decoding/decoder_registry.h"

#include <string>
#include <vector>

namespace app {

/// The decoder and its settings, as typed.
struct DecoderOptions {
    std::string name = "vanilla";
    std::vector<std::string> settings; ///< NAME=VALUE
    std::string task;                  ///< the task whose search state is used
    bool isTaskNamed = false;          ///< by the user
};

/// --decoder, --set, --task.
void addDecoderOptions(CLI::App& command, DecoderOptions& options, const std::string& defaultTask);

/// --context.
void addContextOption(CLI::App& command, ModelOptions& options);

/// Checks a decoder's name and what was typed for it, before any model is loaded; if a setting is
/// typed twice, the last value counts. Errors: those of DecoderRegistry::info, parseSetting and
/// checkTogether.
engine::Result<engine::SettingValues> parseSettings(engine::DecoderRegistry& registry,
                                                    const std::string& decoder,
                                                    const std::vector<std::string>& typed);

} // namespace app
