// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_registry.h"
#include "tests/support/models/plain_model.h"

#include <QDir>

#include <memory>
#include <string>
#include <vector>

namespace support {

/// The decoders of this build, opened in the same way as by the programs.
inline engine::DecoderRegistry& registry() {
    static engine::DecoderRegistry decoders(
        QDir(SWIFT_STUDIO_MODULE_DIR).absolutePath().toStdString());
    return decoders;
}

/// The names of all decoders of this build. A test that asks must depend on every module.
inline std::vector<std::string> decoderNames() {
    std::vector<engine::Error> refused;
    std::vector<std::string> names;
    for (const engine::DecoderInfo& info : registry().list(&refused))
        names.push_back(info.name);
    ENGINE_CHECK(refused.empty(), "{}", refused.front().message);
    return names;
}

/// The settings that a decoder needs besides its defaults to run on any network: any token will do
/// as a mask.
inline engine::SettingValues neededSettings(const std::string& decoder) {
    const auto info = valueOf(registry().info(decoder));
    engine::SettingValues settings;
    if (info.find("mask_token") != nullptr)
        settings["mask_token"] = 4.0;
    return settings;
}

/// A decoder of this build. Fails by exception.
inline std::unique_ptr<engine::Decoder> openDecoder(const std::string& name,
                                                    const engine::DecoderContext& context) {
    return valueOf(registry().make(name, context));
}

/// The steps until the answer has its maximum of tokens or the context ends; end tokens are
/// ignored. Fails by exception.
inline std::vector<engine::DecodeStep> answer(engine::Decoder& decoder,
                                              const engine::Prompt& prompt) {
    const auto begun = decoder.begin(prompt, {});
    ENGINE_CHECK(begun.hasValue(), "{}", begun.error().message);
    std::vector<engine::DecodeStep> steps;
    for (int emitted = 0; emitted < prompt.maxTokens && decoder.remainingContext() > 0;) {
        auto step = valueOf(decoder.step());
        emitted += static_cast<int>(step.tokens.size());
        steps.push_back(std::move(step));
    }
    return steps;
}

inline std::vector<engine::TokenId> tokensOf(const std::vector<engine::DecodeStep>& steps) {
    std::vector<engine::TokenId> tokens;
    for (const engine::DecodeStep& step : steps)
        tokens.insert(tokens.end(), step.tokens.begin(), step.tokens.end());
    return tokens;
}

/// Null if the step has none with that name.
inline const engine::StepTable* tableOf(const engine::DecodeStep& step, const std::string& name) {
    for (const engine::StepTable& table : step.tables)
        if (table.name == name)
            return &table;
    return nullptr;
}

} // namespace support
