// SPDX-License-Identifier: GPL-3.0-only
#include "ui/chat/sides/side_run.h"

#include "engine/session/asides.h"

namespace ui {

using namespace engine;

namespace {

/// Events of an answer carry the number of its prompt, so that those of an earlier run are told
/// apart; others are of no interest to the new one before its prompt has begun.
std::uint64_t promptIdOf(const EngineEvent& event) {
    return std::visit(
        [](const auto& content) -> std::uint64_t {
            if constexpr (requires { content.promptId; })
                return content.promptId;
            return 0;
        },
        event.content);
}

} // namespace

SideRun::SideRun(EngineBridge& bridge, int number, QObject* parent)
    : QObject(parent)
    , m_bridge(bridge)
    , m_firstConversation(kFirstAside + 2 * static_cast<std::uint64_t>(number)) {
    connect(&bridge, &EngineBridge::asideCame, this, &SideRun::take);
}

SideRun::~SideRun() {
    if (isRunning())
        close();
}

bool SideRun::start(const SubmitPrompt& prompt, std::array<SideDecoder, 2> decoders) {
    close(); // an earlier run may still go on
    m_prompt = prompt;
    m_decoders = std::move(decoders);
    m_answers = {};
    m_comparison = {};
    m_hasBegun = true;
    ++m_lastPromptId;
    bool isSent = true;
    for (const Place side : {Left, Right}) {
        SubmitPrompt asked = prompt;
        asked.conversation = m_firstConversation + side;
        asked.promptId = m_lastPromptId;
        asked.taskUse = TaskUse::Given;
        asked.decoder =
            ChooseDecoder{m_decoders[side].name, m_decoders[side].settings, asked.conversation};
        isSent = isSent && m_bridge.send(std::move(asked));
    }
    if (!isSent) {
        close(); // one side may have been taken
        for (SideAnswer& answer : m_answers) {
            answer.state = SideState::Failed;
            answer.error = Error{ErrorCode::Unsupported,
                                 tr("The engine cannot take a question now.").toStdString(),
                                 tr("Wait a moment and try again.").toStdString()};
        }
        m_comparison = compareSides(m_answers[Left], m_answers[Right]);
    }
    emit changed();
    emit stateChanged();
    return isSent;
}

void SideRun::stop() {
    if (isRunning())
        for (const Place side : {Left, Right})
            m_bridge.send(StopGeneration{m_firstConversation + side});
}

void SideRun::take(const EngineEvent& event) {
    if (!isRunning() || event.conversation < m_firstConversation ||
        event.conversation > m_firstConversation + Right)
        return;
    if (const std::uint64_t id = promptIdOf(event); id != 0 && id != m_lastPromptId)
        return;
    const auto side = static_cast<std::size_t>(event.conversation - m_firstConversation);
    if (!m_answers[side].apply(event))
        return;
    m_comparison = compareSides(m_answers[Left], m_answers[Right]);
    if (!isRunning())
        close();
    emit changed();
    if (!isRunning())
        emit stateChanged();
}

/// Stops what still runs, and frees both caches.
void SideRun::close() {
    for (const Place side : {Left, Right})
        m_bridge.send(CloseConversation{m_firstConversation + side});
}

} // namespace ui
