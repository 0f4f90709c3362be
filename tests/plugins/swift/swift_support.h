// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/lossless/tiny_decoders.h"

/// The model of several of SWIFT's tests, and the decoder on it.
namespace swift_support {

constexpr int kLayers = 10;

inline engine::Transformer& model() {
    static const auto made = support::layeredModel(kLayers, 3);
    return *made;
}

inline std::unique_ptr<engine::Decoder> make(const engine::SettingValues& given,
                                             engine::SkipSetMemory* memory = nullptr) {
    return support::openDecoder(
        "swift",
        {.transformer = model(), .contextLength = 512, .settings = given, .memory = memory});
}

} // namespace swift_support
