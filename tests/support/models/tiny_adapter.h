// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/drafts/draft_adapter.h"
#include "engine/model/draft_model.h"
#include "tests/support/models/tiny_safetensors.h"
#include "tests/support/value_of.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace support {

/// What an adapter of a test knows.
enum class AdapterKind : std::uint8_t {
    Random,
    Zero,
    OneToken, ///< it can draft only one
    Huge,     ///< its numbers are finite and their products are not
    Bigram,   ///< right wherever the next token depends on the newest one alone
};

inline const std::vector<AdapterKind> kAdapterKinds = {AdapterKind::Bigram,
                                                       AdapterKind::Random,
                                                       AdapterKind::Zero,
                                                       AdapterKind::OneToken,
                                                       AdapterKind::Huge};

/// An adapter for a network of these sizes, of one layer with a window of 6 keys.
inline engine::DraftAdapter
makeAdapter(const engine::ModelConfig& model, AdapterKind kind, unsigned seed) {
    engine::DraftAdapter adapter;
    adapter.name = "tiny.safetensors";
    adapter.about = "made by a test";
    adapter.fingerprints = {"0123456789abcdef0123456789abcdef"};
    adapter.sizes = {.hiddenSize = model.hiddenSize,
                     .headCount = 4,
                     .kvHeadCount = 2,
                     .headDim = 8,
                     .mlpSize = 96,
                     .layerCount = 1,
                     .window = 6,
                     .normEpsilon = 1e-5,
                     .ropeTheta = 10000.0};
    for (engine::TokenId id = 0; id < model.vocabSize; ++id)
        if (kind == AdapterKind::OneToken ? id == 5 : kind != AdapterKind::Random || id % 3 != 0)
            adapter.headIds.push_back(id);
    std::mt19937 random(seed);
    for (const auto& [name, tensor] : engine::adapterTensors(adapter.sizes)) {
        std::size_t count = 1;
        for (const std::uint64_t size : tensor.shape)
            count *= static_cast<std::size_t>(size);
        const bool isNorm = tensor.shape.size() == 1;
        std::normal_distribution<float> normal(
            isNorm ? 1.0F : 0.0F,
            isNorm ? 0.1F : 1.0F / std::sqrt(static_cast<float>(tensor.shape.back())));
        std::vector<float>& values = adapter.tensors[name];
        values.resize(count);
        for (float& value : values)
            value = kind == AdapterKind::Bigram ? (isNorm ? 1.0F : 0.0F)
                    : kind == AdapterKind::Zero ? 0.0F
                    : kind == AdapterKind::Huge ? 3e37F
                                                : normal(random);
    }
    if (kind == AdapterKind::Bigram) { // the half of the token goes through
        const auto width = static_cast<std::size_t>(model.hiddenSize);
        std::vector<float>& input = adapter.tensors["draft.input.weight"];
        for (std::size_t i = 0; i < width; ++i)
            input[i * 2 * width + width + i] = 1.0F;
    }
    return adapter;
}

/// What such an adapter computes for a model. Fails by exception.
inline std::unique_ptr<engine::DraftModel> makeDrafting(const engine::Transformer& model,
                                                        const engine::DraftAdapter& adapter) {
    return valueOf(engine::makeDraftModel(model, adapter));
}

inline void giveAdapter(engine::Transformer& model, AdapterKind kind, unsigned seed) {
    model.useDraftModel(makeDrafting(model, makeAdapter(model.config(), kind, seed)));
}

/// The description of an adapter in its file.
inline std::string adapterDescription(const engine::DraftAdapter& adapter) {
    const engine::DraftSizes& s = adapter.sizes;
    return fmt::format(
        R"({{"version":1,"fingerprints":["{}"],"head":{{"kind":"list"}},"about":"{}","sizes":)"
        R"({{"hidden":{},"heads":{},"kv_heads":{},"head_size":{},"mlp":{},"layers":{},)"
        R"("window":{},"streams":1,"epsilon":{},"theta":{}}}}})",
        adapter.fingerprints.front(),
        adapter.about,
        s.hiddenSize,
        s.headCount,
        s.kvHeadCount,
        s.headDim,
        s.mlpSize,
        s.layerCount,
        s.window,
        s.normEpsilon,
        s.ropeTheta);
}

/// The bytes of an adapter file with this description.
inline std::string adapterFile(const engine::DraftAdapter& adapter,
                               const std::string& description) {
    std::string escaped;
    for (const char letter : description)
        escaped += letter == '"' ? std::string("\\\"") : std::string(1, letter);
    test_support::TinySafetensors file;
    for (const auto& [name, tensor] : engine::adapterTensors(adapter.sizes))
        if (const auto found = adapter.tensors.find(name); found != adapter.tensors.end())
            file.add(tensor.name,
                     "F32",
                     tensor.shape,
                     test_support::bytesOf(std::span<const float>(found->second)));
    std::vector<std::uint32_t> ids(adapter.headIds.begin(), adapter.headIds.end());
    file.add("head.ids",
             "U32",
             {ids.size()},
             test_support::bytesOf(std::span<const std::uint32_t>(ids)));
    const std::string bytes = file.toBytes();
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    const std::string header =
        fmt::format(R"({{"__metadata__":{{"swift_studio_draft_adapter":"{}"}},)", escaped) +
        bytes.substr(sizeof length + 1, static_cast<std::size_t>(length) - 1);
    return test_support::safetensorsFile(header, bytes.substr(sizeof length + length));
}

inline std::string adapterFile(const engine::DraftAdapter& adapter) {
    return adapterFile(adapter, adapterDescription(adapter));
}

} // namespace support
