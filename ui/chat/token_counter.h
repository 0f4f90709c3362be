// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/engine_bridge.h"

#include <QObject>
#include <QString>

#include <functional>
#include <map>

namespace ui {

/// Has the model count the tokens of texts. Without a model there is no answer. Thread: UI.
class TokenCounter : public QObject {
    Q_OBJECT

public:
    /// `bridge` outlives it.
    explicit TokenCounter(EngineBridge& bridge, QObject* parent = nullptr);

    /// The text's number of tokens, and the context's length.
    void count(const QString& text, std::function<void(int tokens, int contextLength)> done);

private:
    void onEvent(const engine::EngineEvent& event);

    EngineBridge& m_bridge;
    std::map<std::uint64_t, std::function<void(int, int)>> m_waiting;
    std::uint64_t m_lastId;
};

} // namespace ui
