// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "tests/support/transformers/wrapping_transformer.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <utility>

namespace support {

/// Lets a test hold the engine between two passes, so that "while it runs" needs no luck.
class EngineGate {
public:
    /// The engine waits before its pass of this number (counted from now, 1 = the next).
    void holdAtPass(int number) {
        const std::lock_guard lock(m_mutex);
        m_passesLeft = number;
        m_isHolding = true;
    }

    void release() {
        {
            const std::lock_guard lock(m_mutex);
            m_isHolding = false;
        }
        m_changed.notify_all();
    }

    bool isWaiting() {
        const std::lock_guard lock(m_mutex);
        return m_isWaiting;
    }

    /// Engine's thread: before a pass.
    void pass() {
        std::unique_lock lock(m_mutex);
        if (!m_isHolding || --m_passesLeft > 0)
            return;
        m_isWaiting = true;
        m_changed.wait(lock, [this] { return !m_isHolding; });
        m_isWaiting = false;
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    int m_passesLeft = 0;
    bool m_isHolding = false;
    bool m_isWaiting = false;
};

/// Another transformer behind a gate.
class GatedTransformer final : public WrappingTransformer {
public:
    GatedTransformer(std::unique_ptr<engine::Transformer> inner, EngineGate& gate)
        : WrappingTransformer(std::move(inner))
        , m_gate(gate) {}

    engine::Result<void> forwardInto(const engine::ForwardRequest& request,
                                     engine::KvCache& cache,
                                     engine::ForwardResult& result) override {
        m_gate.pass();
        return inner().forwardInto(request, cache, result);
    }

    int preferredTreeNodes() const override { return inner().preferredTreeNodes(); }

private:
    EngineGate& m_gate;
};

} // namespace support
