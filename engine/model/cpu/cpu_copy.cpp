// SPDX-License-Identifier: Apache-2.0
// The copy of the weights in 4 bits, from which drafts may be made.
#include "engine/model/cpu/cpu_transformer.h"

namespace engine::cpu {

Result<bool> CpuTransformer::makeCopyPiece() {
    if (m_copy)
        return true;
    if (!m_copying) {
        ENGINE_TRY(
            m_copying,
            WeightCopy::begin(m_full.weights, m_config, m_packedCache, m_freeMemory(), *m_pool));
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

double CpuTransformer::copyShare() const {
    return m_copy ? m_copy->weights.bytesRead(m_config) / m_full.weights.bytesRead(m_config) : 1.0;
}

} // namespace engine::cpu
