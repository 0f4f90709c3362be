// SPDX-License-Identifier: GPL-3.0-only
#include "ui/chat/token_counter.h"

#include <utility>

namespace ui {

using namespace engine;

namespace {

/// The chat's own questions count from 1: the two must not meet.
constexpr std::uint64_t kFirstId = std::uint64_t{1} << 40U;

} // namespace

TokenCounter::TokenCounter(EngineBridge& bridge, QObject* parent)
    : QObject(parent)
    , m_bridge(bridge)
    , m_lastId(kFirstId) {
    connect(&bridge, &EngineBridge::eventCame, this, &TokenCounter::onEvent);
}

void TokenCounter::count(const QString& text, std::function<void(int, int)> done) {
    CountTokens question;
    question.requestId = ++m_lastId;
    question.text = text.toStdString();
    if (m_bridge.send(std::move(question)))
        m_waiting.emplace(m_lastId, std::move(done));
}

void TokenCounter::onEvent(const EngineEvent& event) {
    if (const auto* failure = event.as<EngineFailed>())
        m_waiting.erase(failure->requestId);
    const auto* counted = event.as<TokensCounted>();
    if (counted == nullptr)
        return;
    if (auto waiting = m_waiting.extract(counted->requestId))
        waiting.mapped()(counted->total, counted->contextLength);
}

} // namespace ui
