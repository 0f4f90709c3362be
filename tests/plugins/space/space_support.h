// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_files.h"
#include "engine/model/plain/plain_backend.h"
#include "tests/support/lossless/tiny_decoders.h"

#include <memory>
#include <string>
#include <vector>

namespace support {

/// The model with a mask token of tests/data; see tests/data/make_space_model.py.
struct SpaceModel {
    /// Of its alphabet: a line end, a space, a full stop, then the letters.
    static std::vector<engine::TokenId> tokensOf(const std::string& text) {
        std::vector<engine::TokenId> tokens;
        for (const char letter : text)
            tokens.push_back(letter == '\n'  ? 0
                             : letter == ' ' ? 1
                             : letter == '.' ? 2
                                             : static_cast<engine::TokenId>(3 + letter - 'a'));
        return tokens;
    }

    static std::string textOf(const std::vector<engine::TokenId>& tokens) {
        std::string text;
        for (const engine::TokenId token : tokens)
            text += token < 3 ? "\n ."[token] : static_cast<char>('a' + token - 3);
        return text;
    }

    static constexpr engine::TokenId kMask = 29;
    static constexpr engine::TokenId kLineEnd = 0;
};

template <typename Make> std::unique_ptr<engine::Transformer> loadSpaceModel(Make&& make) {
    const auto files = valueOf(engine::ModelFiles::open(SWIFT_STUDIO_TEST_DATA_DIR "/space_llama"));
    return valueOf(make(valueOf(files.config()), *valueOf(files.weights())));
}

/// The reference of exactness, in double precision.
inline std::unique_ptr<engine::Transformer> plainSpaceModel() {
    return loadSpaceModel([](const auto& config, const auto& weights) {
        return engine::makePlainTransformer(config, weights, {.precision = engine::Precision::F64});
    });
}

/// The decoder, opened through the registry.
inline engine::Result<std::unique_ptr<engine::Decoder>>
makeSpace(engine::Transformer& transformer,
          const engine::SettingValues& settings,
          const engine::SamplingOptions& sampling = {}) {
    return registry().make("space",
                           {.transformer = transformer,
                            .sampling = sampling,
                            .contextLength = 400,
                            .settings = settings});
}

/// All rows in every round, as the paper has it.
inline engine::SettingValues fixedRows(int masks) {
    return {{"masks", static_cast<double>(masks)}, {"adaptive", 0.0}};
}

/// Beginnings of stories.
inline const std::vector<std::string>& spacePrompts() {
    static const std::vector<std::string> all = {
        "the quiet fox", "the young sai", "the clever robot repairs ", "near the harbour.\nthe g"};
    return all;
}

} // namespace support
