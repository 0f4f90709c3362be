// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/model/transformer.h"

#include <memory>
#include <utility>

namespace support {

/// Passes on to another transformer what every transformer must have. A test's own class overrides
/// what it watches or changes; all else is as in a transformer that has no more.
class WrappingTransformer : public engine::Transformer {
public:
    /// `wrapped` must outlive this.
    explicit WrappingTransformer(engine::Transformer& wrapped)
        : m_inner(wrapped) {}

    explicit WrappingTransformer(std::unique_ptr<engine::Transformer> wrapped)
        : m_owned(std::move(wrapped))
        , m_inner(*m_owned) {}

    const engine::ModelConfig& config() const override { return m_inner.config(); }

    engine::Precision precision() const override { return m_inner.precision(); }

    engine::Result<engine::KvCache> makeCache(engine::Position capacity) const override {
        return m_inner.makeCache(capacity);
    }

    engine::Result<void> forwardInto(const engine::ForwardRequest& request,
                                     engine::KvCache& cache,
                                     engine::ForwardResult& result) override {
        return m_inner.forwardInto(request, cache, result);
    }

    std::size_t weightBytes() const override { return m_inner.weightBytes(); }

protected:
    engine::Transformer& inner() const { return m_inner; }

private:
    std::unique_ptr<engine::Transformer> m_owned; // null if another owns it
    engine::Transformer& m_inner;
};

} // namespace support
