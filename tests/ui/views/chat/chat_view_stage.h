// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/chat_fixture.h"
#include "tests/ui/support/stored_messages.h"
#include "ui/views/chat/chat_view.h"
#include "ui/views/chat/input_bar.h"
#include "ui/views/chat/messages/conversation_view.h"

#include <QPlainTextEdit>
#include <QTest>
#include <QUndoStack>

#include <memory>

namespace support {

/// The chat view over a chat in a folder of its own; what a person does with it.
class ChatViewStage {
protected:
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<ChatFixture> m_chat;
    std::unique_ptr<ui::ChatView> m_view;
    ui::Theme m_theme;
    ui::Selection m_selection;
    QUndoStack m_undo;

    void open() {
        close();
        m_folder = std::make_unique<QTemporaryDir>();
        m_chat = std::make_unique<ChatFixture>(m_folder->path());
        m_view = std::make_unique<ui::ChatView>(
            ui::ViewContext{m_theme, m_chat->run, *m_chat->bridge, m_selection, m_undo},
            *m_chat->session);
        m_view->resize(800, 600);
        m_view->show();
        m_view->activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(m_view.get(), kPatienceMs));
    }

    void close() {
        m_view.reset();
        m_chat.reset();
    }

    QPlainTextEdit* field() const { return m_view->input().findChild<QPlainTextEdit*>(); }

    QAbstractButton* button(const char* name) const {
        return buttonNamed(*m_view, QLatin1String(name));
    }

    const ui::MessageCard& lastCard() const { return *m_view->conversation().cards().back(); }

    void type(const char* words) {
        QTest::keyClicks(field(), QLatin1String(words));
        QTest::keyClick(field(), Qt::Key_Return);
    }

    void converse(const char* words) {
        type(words);
        m_chat->count();
        m_chat->answer();
    }
};

} // namespace support
