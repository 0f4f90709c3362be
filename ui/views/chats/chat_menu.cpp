// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/chats/chat_menu.h"

#include "ui/shell/figure_text.h"

#include <QCoreApplication>
#include <QMenu>

namespace ui {

namespace {

struct ChatMenu {
    Q_DECLARE_TR_FUNCTIONS(ChatMenu)
};

void addFolders(QMenu& menu,
                const ChatRecord& chat,
                const QStringList& folders,
                const ChatMenuActions& actions) {
    QMenu* const places = menu.addMenu(ChatMenu::tr("&Folder"));
    const auto add = [&](const QString& text, const QString& folder) {
        QAction* const action =
            places->addAction(text, [move = actions.moveTo, folder] { move(folder); });
        action->setCheckable(true);
        action->setChecked(chat.folder == folder);
    };
    add(ChatMenu::tr("None"), {});
    for (const QString& folder : folders)
        add(menuText(folder), folder);
    places->addSeparator();
    places->addAction(ChatMenu::tr("New folder..."), actions.askForFolder);
    if (!chat.folder.isEmpty())
        places->addAction(ChatMenu::tr("Rename \"%1\"...").arg(menuText(chat.folder)),
                          actions.renameFolder);
}

} // namespace

QMenu* makeChatMenu(const ChatRecord& chat,
                    const QStringList& folders,
                    const ChatMenuActions& actions,
                    QWidget* parent) {
    auto* const menu = new QMenu(parent);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    // After the tab comes the key, which the list itself handles.
    menu->addAction(ChatMenu::tr("&Open\tEnter"), actions.open);
    menu->addAction(ChatMenu::tr("&Rename\tF2"), actions.rename);
    menu->addAction(chat.isPinned ? ChatMenu::tr("Un&pin") : ChatMenu::tr("&Pin"),
                    actions.togglePinned);
    addFolders(*menu, chat, folders, actions);
    menu->addAction(chat.isArchived ? ChatMenu::tr("Remove from the &archive")
                                    : ChatMenu::tr("&Archive"),
                    actions.toggleArchived);
    menu->addAction(ChatMenu::tr("&Delete\tDel"), actions.remove);
    return menu;
}

} // namespace ui
