// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/learn/sides/side_comparison.h"
#include "ui/bridge/engine_bridge.h"

#include <QObject>
#include <QString>

#include <array>
#include <string>

namespace ui {

/// Who answers on a side. A plain value.
struct SideDecoder {
    QString title; ///< "SWIFT"
    std::string name;
    engine::SettingValues settings;
};

/// One prompt, answered by two decoders in turn, one step each; nothing of it reaches the chat. A
/// run ends with the object. Thread: UI.
class SideRun : public QObject {
    Q_OBJECT

public:
    enum Place { Left, Right };

    /// `number` tells the runs of a window apart. The bridge outlives it.
    SideRun(EngineBridge& bridge, int number, QObject* parent = nullptr);
    ~SideRun() override;

    /// Asks both, and forgets what they had answered before. The caller gives everything of the
    /// prompt but its number, conversation and decoder. False if the engine takes no commands.
    bool start(const engine::SubmitPrompt& prompt, std::array<SideDecoder, 2> decoders);

    /// Ends both answers within one forward pass; what was written stays.
    void stop();

    /// Whether it was ever started.
    bool hasBegun() const { return m_hasBegun; }

    bool isRunning() const { return m_hasBegun && !m_comparison.isOver; }

    const engine::SideAnswer& answer(Place side) const { return m_answers[side]; }

    const SideDecoder& decoder(Place side) const { return m_decoders[side]; }

    const engine::SideComparison& comparison() const { return m_comparison; }

    /// That both were asked.
    const engine::SubmitPrompt& prompt() const { return m_prompt; }

signals:
    /// It began, or something came; many times a second.
    void changed();

    /// It began or ended.
    void stateChanged();

private:
    void take(const engine::EngineEvent& event);
    void close();

    EngineBridge& m_bridge;
    const std::uint64_t m_firstConversation;
    bool m_hasBegun = false;
    engine::SubmitPrompt m_prompt;
    std::array<SideDecoder, 2> m_decoders;
    std::array<engine::SideAnswer, 2> m_answers;
    engine::SideComparison m_comparison;
    std::uint64_t m_lastPromptId = 0;
};

} // namespace ui
