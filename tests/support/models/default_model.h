// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/model_files.h"
#include "engine/model/transformer.h"
#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

#include <memory>
#include <string>
#include <vector>

namespace support {

/// Gives each layer of a network a near-silent copy: layers 2i and 2i + 1 both have the weights of
/// layer i, but the output projections of one are scaled by 1e-3. So it is known which sublayers
/// can be skipped without harm. The silent one of each pair is chosen irregularly, because
/// otherwise the uniform set at r = .5 would be the right answer; the first and the last layer are
/// never silent.
class PlantedWeights final : public engine::WeightSource {
public:
    /// `source` must outlive this.
    PlantedWeights(const engine::WeightSource& source, int layerCount);

    std::span<const engine::TensorInfo> tensors() const override { return m_tensors; }

    const engine::TensorInfo* find(std::string_view name) const override;

    engine::Result<void> readRows(const engine::TensorInfo& tensor,
                                  std::uint64_t firstRow,
                                  std::uint64_t rowCount,
                                  std::span<float> out) const override;

    engine::Result<void> readRawRows(const engine::TensorInfo& tensor,
                                     std::uint64_t firstRow,
                                     std::uint64_t rowCount,
                                     std::span<std::byte> out) const override;

    /// Whether a layer of the network with `layerCount` layers, copies included, is a silent copy.
    static bool isSilent(int layer, int layerCount);

    /// The config of the network with the copies.
    static engine::ModelConfig planted(engine::ModelConfig config);

private:
    const engine::TensorInfo& original(const engine::TensorInfo& tensor) const;
    bool isQuiet(const engine::TensorInfo& tensor) const; // an output projection of a silent layer

    const engine::WeightSource& m_source;
    std::vector<engine::TensorInfo> m_tensors;
    std::vector<std::string> m_sourceNames; // [tensors]
    int m_layerCount;                       // copies included
};

/// The model that installer/run.sh fetches, ready to answer.
struct DefaultModel {
    engine::ModelConfig config;
    std::unique_ptr<engine::Transformer> transformer;
    std::unique_ptr<engine::Tokenizer> tokenizer;
    std::unique_ptr<engine::ChatTemplate> chatTemplate;

    /// False when it was never fetched.
    static bool isThere();

    /// `planted`: with a near-silent copy of each layer. `backend` is "torch" if there is such a
    /// module, otherwise "plain" (unless given). Fails by exception.
    static DefaultModel load(bool planted, std::string backend = {});

    /// A user's message in the chat template, as ids.
    std::vector<engine::TokenId> prompt(const std::string& text) const;

    std::vector<engine::TokenId> endIds() const;
};

/// Whether the shared data is beside the checkout. Without it dataPrompts() reads the few prompts
/// of tests/data/prompts, which has no file for some tasks.
bool hasSharedData();

/// The first `count` prompts of a task (for several turns the first one).
std::vector<std::string> dataPrompts(const std::string& task, int count);

} // namespace support
