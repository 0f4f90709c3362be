// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/chats/chat_list_model.h"

#include <QWidget>

class QLabel;
class QLineEdit;
class QListView;
class QPushButton;
class QToolButton;

namespace ui {

class ChatRowDelegate;

/// The list of chats: filter, new, choose, rename (F2), delete (Del) with undo. Thread: UI.
class ChatsPanel : public QWidget {
    Q_OBJECT

public:
    /// Both outlive the panel.
    ChatsPanel(const Theme& theme, ChatStore& store, QWidget* parent = nullptr);

    /// Marks the chat that is shown, without telling chatChosen(); a new one as soon as it is
    /// listed.
    void setCurrentChat(ChatId id);

    ChatId currentChat() const { return m_currentId; }

    /// Puts the cursor into the filter.
    void focusFilter();

signals:
    /// The user wants to see this chat.
    void chatChosen(qint64 id);

    void newChatAsked();

    /// The chat is gone from the list; the undo bar can still bring it back.
    void chatDeleted(qint64 id);

    void chatRestored(qint64 id);

protected:
    void showEvent(QShowEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void makeFilterRow();
    void makeList();
    void makeUndoBar();
    void choose(const QModelIndex& index);
    void deleteSelected();
    void undoDelete();
    void showMenu(const QPoint& position);
    void markCurrent();
    void relayout();
    void updateEmptyText();
    void restyle();

    const Theme& m_theme;
    ChatStore& m_store;
    ChatListModel* m_model = nullptr;
    QLineEdit* m_filter = nullptr;
    QAction* m_filterIcon = nullptr;
    QPushButton* m_new = nullptr;
    QListView* m_list = nullptr;
    ChatRowDelegate* m_delegate = nullptr;
    QLabel* m_empty = nullptr;
    QWidget* m_undoBar = nullptr;
    QLabel* m_undoText = nullptr;
    QPushButton* m_undo = nullptr;
    QToolButton* m_closeUndo = nullptr;
    ChatId m_currentId = 0;
    ChatId m_deletedId = 0;
    bool m_isLoaded = false;
};

} // namespace ui
