// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/models/stored_weights.h"

#include <memory>

namespace support {

/// A model as a file stores it whose matrices have several types (StoredWeights).
class MixedWeights final : public engine::WeightSource {
public:
    MixedWeights(MemoryWeights weights, engine::TensorType usual)
        : m_weights(std::move(weights)) {
        store("", usual);
    }

    /// Of the matrices with `part` in their names; the last call that names a matrix holds.
    void store(const std::string& part, engine::TensorType type) {
        m_stored.push_back({part, std::make_unique<StoredWeights>(m_weights, type)});
        m_tensors.clear();
        for (const engine::TensorInfo& tensor : m_weights.tensors())
            m_tensors.push_back(*sourceOf(tensor.name).find(tensor.name));
    }

    std::span<const engine::TensorInfo> tensors() const override { return m_tensors; }

    const engine::TensorInfo* find(std::string_view name) const override {
        return sourceOf(name).find(name);
    }

    engine::Result<void> readRows(const engine::TensorInfo& tensor,
                                  std::uint64_t first,
                                  std::uint64_t count,
                                  std::span<float> out) const override {
        return sourceOf(tensor.name).readRows(tensor, first, count, out);
    }

    engine::Result<void> readRawRows(const engine::TensorInfo& tensor,
                                     std::uint64_t first,
                                     std::uint64_t count,
                                     std::span<std::byte> out) const override {
        return sourceOf(tensor.name).readRawRows(tensor, first, count, out);
    }

private:
    const engine::WeightSource& sourceOf(std::string_view name) const {
        auto last = m_stored.rbegin();
        while (name.find(last->part) == std::string_view::npos)
            ++last;
        return *last->source;
    }

    struct Stored {
        std::string part;
        std::unique_ptr<StoredWeights> source;
    };

    MemoryWeights m_weights;
    std::vector<Stored> m_stored;
    std::vector<engine::TensorInfo> m_tensors;
};

} // namespace support
