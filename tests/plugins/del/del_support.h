// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/lossless/decoding_checks.h"
#include "tests/support/lossless/tiny_decoders.h"

#include <random>
#include <string>
#include <vector>

namespace support {

inline constexpr int kLayers = 8;
inline constexpr int kContext = 400;

/// Layers from `firstQuiet` on add little, so that exits behind them are often right.
inline std::unique_ptr<engine::Transformer> quietModel(int firstQuiet, float part) {
    return quietModel(kLayers, 21, {firstQuiet, kLayers, part});
}

/// Exits from the second on are right now and then, later ones more often.
inline engine::Transformer& quiet() {
    static const auto made = quietModel(1, 0.15F);
    return *made;
}

/// Exits are hardly ever right.
inline engine::Transformer& dense() {
    static const auto made = layeredModel(kLayers, 4);
    return *made;
}

inline Ids randomPrompt(unsigned seed, int length) {
    std::mt19937 random(seed);
    return randomIds(random, static_cast<std::size_t>(length));
}

inline std::unique_ptr<engine::Decoder> make(const std::string& name,
                                             engine::Transformer& transformer,
                                             const engine::SettingValues& settings = {},
                                             const engine::SamplingOptions& sampling = {},
                                             engine::StepClock clock = {}) {
    return openDecoder(name,
                       {.transformer = transformer,
                        .sampling = sampling,
                        .contextLength = kContext,
                        .settings = settings,
                        .clock = std::move(clock)});
}

inline engine::DecodeStep stepOf(engine::Decoder& decoder) { return valueOf(decoder.step()); }

inline void begin(engine::Decoder& decoder, const Ids& prompt, int maxTokens = 1000) {
    ENGINE_CHECK(decoder.begin({.tokens = prompt, .maxTokens = maxTokens}, {}).hasValue(), "begin");
}

/// All exits in every round.
inline const engine::SettingValues kAllCompared = {{"every", 1.0}, {"compare_every", 1.0}};

inline double cell(const engine::StepTable& table, std::size_t row, std::size_t column) {
    return std::get<double>(table.rows[row][column]);
}

} // namespace support
