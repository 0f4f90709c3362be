// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_registry.h"
#include "tests/support/tiny_model.h"

#include <QDir>

#include <memory>
#include <string>
#include <vector>

namespace support {

/// The decoders of this build, opened as programs open them.
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

/// What a decoder needs beside its defaults to run on any network: any token does as a mask.
inline engine::SettingValues neededSettings(const std::string& decoder) {
    const auto info = registry().info(decoder);
    ENGINE_CHECK(info.hasValue(), "{}", info.error().message);
    engine::SettingValues settings;
    if (info.value().find("mask_token") != nullptr)
        settings["mask_token"] = 4.0;
    return settings;
}

/// A tiny model in double precision with enough layers to skip some.
inline std::unique_ptr<engine::Transformer> layeredModel(int layers, unsigned seed) {
    engine::ModelConfig config = tinyConfig();
    config.layerCount = layers;
    config.layerWindows.assign(static_cast<std::size_t>(layers), 0);
    return engine::makePlainTransformer(
               config, randomWeights(config, seed), {.precision = engine::Precision::F64})
        .value();
}

} // namespace support
