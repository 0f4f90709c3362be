// SPDX-License-Identifier: Apache-2.0
// The copy of the weights in 4 bits, from which drafts may be made.
#include "engine/model/cpu/cpu_transformer.h"

namespace engine::cpu {

Result<bool> CpuTransformer::makeCopyPiece() {
    if (m_copy)
        return true;
    if (!m_copying) {
        ENGINE_TRY(m_copying,
                   WeightCopy::begin(m_full.weights, m_config, m_packedCache, m_freeMemory()));
    }
    const auto isComplete = m_copying->makePiece(*m_pool);
    if (!isComplete) {
        m_copying.reset();
        return isComplete;
    }
    if (!isComplete.value())
        return false;
    auto made = std::make_unique<CutWeights>();
    made->weights = m_copying->take();
    cut(*made);
    m_copying.reset();
    m_copy = std::move(made);
    return true;
}

/// A copy that is still being written to the cache is waited for elsewhere.
void CpuTransformer::dropCopy() {
    m_copying.reset();
    m_used = &m_full;
    if (m_copy)
        m_dropping = std::jthread([copy = std::move(m_copy)]() mutable { copy.reset(); });
}

double CpuTransformer::copyShare() const {
    return m_copy ? m_copy->weights.bytesRead(m_config) / m_full.weights.bytesRead(m_config) : 1.0;
}

} // namespace engine::cpu
