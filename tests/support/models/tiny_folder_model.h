// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/engine/text/tiny_tokenizers.h"
#include "tests/support/models/tiny_model.h"
#include "tests/support/models/tiny_safetensors.h"

#include <filesystem>
#include <fstream>

namespace support {

/// A small model for texts of "a" to "e", spaces and line ends: `layers` layers, vocabulary 16.
inline engine::ModelConfig letterConfig(int layers) {
    engine::ModelConfig config = layeredConfig(layers);
    config.vocabSize = 16;
    return config;
}

inline void writeText(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
}

/// Writes config, weights and tokenizer as a folder that programs can open.
inline void writeFolderModel(const std::filesystem::path& folder,
                             const engine::ModelConfig& config,
                             MemoryWeights& weights) {
    std::filesystem::create_directories(folder);
    writeText(folder / "config.json",
              fmt::format(R"({{"architectures":["LlamaForCausalLM"],"model_type":"llama",)"
                          R"("hidden_act":"silu","num_hidden_layers":{},"hidden_size":{},)"
                          R"("intermediate_size":{},"num_attention_heads":{},)"
                          R"("num_key_value_heads":{},"head_dim":{},"vocab_size":{},)"
                          R"("max_position_embeddings":{},"rms_norm_eps":1e-5,)"
                          R"("rope_theta":10000.0,"tie_word_embeddings":false}})",
                          config.layerCount,
                          config.hiddenSize,
                          config.mlpSize,
                          config.headCount,
                          config.kvHeadCount,
                          config.headDim,
                          config.vocabSize,
                          config.contextLength));
    test_support::TinySafetensors file;
    for (const engine::TensorInfo& tensor : weights.tensors())
        file.add(tensor.name,
                 "F32",
                 tensor.shape,
                 test_support::bytesOf(std::span<const float>(weights.values(tensor.name))));
    writeText(folder / "model.safetensors", file.toBytes());
    // The letters' tokenizer has 13 ids; the model may make any of 16.
    writeText(folder / "tokenizer.json",
              tiny::json(fmt::format("[{},{},{}]",
                                     tiny::addedToken(13, "<one>"),
                                     tiny::addedToken(14, "<two>"),
                                     tiny::addedToken(15, "<three>"))));
}

/// Makes both sublayers of a layer add nothing: skipping them changes no number.
inline void silenceLayer(MemoryWeights& weights, int layer) {
    for (const char* name : {"self_attn.o_proj", "mlp.down_proj"})
        for (float& value : weights.values(fmt::format("model.layers.{}.{}.weight", layer, name)))
            value = 0.0F;
}

/// Makes the logits of tokens 2k and 2k + 1 equal, whatever comes in.
inline void tieTokenPairs(MemoryWeights& weights, const engine::ModelConfig& config) {
    std::vector<float>& head = weights.values("lm_head.weight");
    const auto width = static_cast<std::size_t>(config.hiddenSize);
    for (std::size_t row = 0; row + 1 < head.size() / width; row += 2)
        for (std::size_t column = 0; column < width; ++column)
            head[(row + 1) * width + column] = head[row * width + column];
}

} // namespace support
