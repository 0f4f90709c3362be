// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/chat_records.h"

#include <QStringList>

#include <functional>

class QMenu;
class QWidget;

namespace ui {

/// The actions for a chat of the list.
struct ChatMenuActions {
    std::function<void()> open;
    std::function<void()> rename;
    std::function<void()> togglePinned;
    std::function<void()> toggleArchived;
    std::function<void()> remove;
    std::function<void(const QString&)> moveTo; ///< an empty name: out of its folder
    std::function<void()> askForFolder;         ///< one that is not there yet
    std::function<void()> renameFolder;         ///< the one that the chat is in
};

/// The context menu of a chat; it deletes itself when it closes. Thread: UI.
QMenu* makeChatMenu(const ChatRecord& chat,
                    const QStringList& folders,
                    const ChatMenuActions& actions,
                    QWidget* parent);

} // namespace ui
