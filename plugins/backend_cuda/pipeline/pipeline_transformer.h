// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plugins/backend_cuda/transformer/cuda_transformer.h"

#include <memory>
#include <string>
#include <vector>

namespace backend_cuda {

/// The caches of the parts of a network.
class PipelineCache final : public engine::KvStorage {
public:
    /// At least one.
    explicit PipelineCache(std::vector<engine::KvCache> parts)
        : m_parts(std::move(parts)) {}

    engine::Position capacity() const override { return m_parts.front().capacity(); }

    void copySlots(std::span<const engine::SlotCopy> copies) override;

    std::size_t byteSize() const override;

    bool isInHostMemory() const override { return false; }

    std::vector<engine::KvCache>& parts() { return m_parts; }

private:
    std::vector<engine::KvCache> m_parts;
};

/// A network whose layers lie on several GPUs, each of which computes its own and hands the stream
/// on, a few numbers a row: straight into the memory of the next one where it reaches that, else by
/// way of the computer's. It gains room and no speed. The bits are those of one GPU of that kind.
/// Thread: engine.
class PipelineTransformer final : public engine::Transformer {
public:
    /// Transformers of neighbouring layers, in order, that have this key; together they are the
    /// network.
    PipelineTransformer(std::vector<std::unique_ptr<CudaTransformer>> parts,
                        engine::TransformerKey key,
                        std::string arithmetic);

    const engine::ModelConfig& config() const override { return m_parts.front()->config(); }

    engine::Precision precision() const override { return engine::Precision::F32; }

    std::string arithmeticName() const override { return m_arithmetic; }

    std::string_view kvTypeName() const override { return m_parts.front()->kvTypeName(); }

    std::string_view instructionSet() const override { return m_parts.front()->instructionSet(); }

    std::size_t weightBytes() const override;

    bool tellsAttention() const override { return true; }

    std::string deviceName() const override;

    int preferredTreeNodes() const override { return m_parts.front()->preferredTreeNodes(); }

    /// That of the first GPU.
    engine::Result<std::unique_ptr<engine::ReadRoof>> makeReadRoof(std::size_t bytes,
                                                                   int threads) const override {
        return m_parts.front()->makeReadRoof(bytes, threads);
    }

    engine::Result<engine::KvCache> makeCache(engine::Position capacity) const override;

    /// Errors: Numeric; behind one of a device every later pass answers with the same.
    engine::Result<void> forwardInto(const engine::ForwardRequest& request,
                                     engine::KvCache& cache,
                                     engine::ForwardResult& result) override;

private:
    LayerSpan layersOf(const engine::ForwardRequest& request, std::size_t part) const;
    std::size_t nextPart(const engine::ForwardRequest& request, std::size_t from) const;

    std::vector<std::unique_ptr<CudaTransformer>> m_parts;
    std::vector<std::vector<bool>> m_reaches; // of each part, of each: the stream goes straight
    engine::TransformerKey m_key;
    std::string m_arithmetic;
    engine::HiddenRows m_borders[2]; // the stream that a part gets, and that which it hands on
    engine::ForwardResult m_partResult;
};

} // namespace backend_cuda
