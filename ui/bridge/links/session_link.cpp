// SPDX-License-Identifier: GPL-3.0-only
#include "ui/bridge/links/session_link.h"

namespace ui {

namespace {

class SessionLink : public EngineLink {
public:
    explicit SessionLink(engine::SessionOptions options)
        : m_session(std::move(options)) {}

    bool send(engine::EngineCommand command) override { return m_session.send(std::move(command)); }

    std::vector<engine::EngineEvent> takeEvents() override { return m_session.takeEvents(); }

    void borrowProcessor() override { m_session.borrowProcessor(); }

    void returnProcessor() override { m_session.returnProcessor(); }

private:
    engine::EngineSession m_session;
};

} // namespace

std::unique_ptr<EngineLink> makeSessionLink(engine::SessionOptions options) {
    return std::make_unique<SessionLink>(std::move(options));
}

} // namespace ui
