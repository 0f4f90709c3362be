// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/chats/chat_list_model.h"

#include <QWidget>

class QComboBox;
class QInputDialog;
class QLabel;
class QLineEdit;
class QListView;
class QPushButton;

namespace ui {

class ChatCatalog;
class ChatRowDelegate;
class RemovalBar;

/// The list of chats: search in them, new, choose, rename (F2), pin, folders, archive and delete
/// (Del) with undo (Ctrl+Z while the list has the focus). Files and folders of chats can be dropped
/// here. Thread: UI.
class ChatsPanel : public QWidget {
    Q_OBJECT

public:
    /// Both outlive the panel.
    ChatsPanel(const Theme& theme, ChatStore& store, QWidget* parent = nullptr);

    /// Marks the chat shown, without emitting chatChosen(); a new chat is marked as soon as it is
    /// listed.
    void setCurrentChat(ChatId id);

    ChatId currentChat() const { return m_currentId; }

    /// No chat can be added: New is off and says why, as the empty list does, and nothing can be
    /// dropped here.
    void refuseChats(const QString& why);

    /// Puts the cursor into the filter.
    void focusFilter();

    /// The chat that commands act on: the one selected in the list, which is the chat shown unless
    /// the list has the focus.
    ChatId targetChat() const;

    void togglePinned(ChatId id);
    void toggleArchived(ChatId id);
    void askForFolder(ChatId id);
    void removeChat(ChatId id);

signals:
    /// The user wants to see this chat.
    void chatChosen(qint64 id);

    /// The user wants to see a message that a search found.
    void messageChosen(qint64 chat, qint64 message);

    /// In this folder; empty = in none.
    void newChatAsked(const QString& folder);

    /// A folder has another name from here on.
    void folderRenamed(const QString& folder, const QString& name);

    /// These were dropped here.
    void importAsked(const QStringList& paths);

    /// The chat was removed from the list; the undo bar can still restore it.
    void chatDeleted(qint64 id);

protected:
    void showEvent(QShowEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void makeFilterRow();
    void makeList();
    void fillScopes();
    void choose(const QModelIndex& index);
    void chooseFirst();
    void leaveList(const QFocusEvent& event);
    QInputDialog* askForName(const QString& title, const QString& name);
    void renameFolder(const QString& folder);
    void showMenu(const QPoint& position);
    void markCurrent();
    void relayout();
    void updateEmptyText();
    void restyle();

    const Theme& m_theme;
    ChatStore& m_store;
    ChatCatalog* m_catalog = nullptr; ///< declared before the list, so that the list is never ahead
                                      ///< of it
    ChatListModel* m_model = nullptr;
    QComboBox* m_scope = nullptr;
    QLineEdit* m_filter = nullptr;
    QAction* m_filterIcon = nullptr;
    QPushButton* m_new = nullptr;
    QListView* m_list = nullptr;
    ChatRowDelegate* m_delegate = nullptr;
    QLabel* m_empty = nullptr;
    QString m_noChats;
    RemovalBar* m_removals = nullptr;
    ChatId m_currentId = 0;
    bool m_isLoaded = false;
    bool m_isFirstWanted = false; ///< Enter came before what was searched had been found
};

} // namespace ui
