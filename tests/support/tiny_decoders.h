// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_registry.h"
#include "tests/support/tiny_model.h"

#include <QDir>

#include <memory>

namespace support {

/// The decoders of this build, opened as programs open them.
inline engine::DecoderRegistry& registry() {
    static engine::DecoderRegistry decoders(
        QDir(SWIFT_STUDIO_MODULE_DIR).absolutePath().toStdString());
    return decoders;
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
