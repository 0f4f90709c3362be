// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/chats/chats_panel.h"

#include "ui/icons/icons.h"
#include "ui/shell/bars/removal_bar.h"
#include "ui/views/chats/chat_catalog.h"
#include "ui/views/chats/chat_menu.h"
#include "ui/views/chats/chat_row_delegate.h"

#include <QAction>
#include <QComboBox>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

constexpr int kLongestFolder = 60;

/// Files and folders that may hold chats; a model's folder does not.
QStringList chatPathsOf(const QMimeData& dragged) {
    QStringList paths;
    for (const QUrl& url : dragged.urls()) {
        const QFileInfo info(url.toLocalFile());
        const bool isFolder = info.isDir() && !QFileInfo::exists(info.filePath() + "/config.json");
        const QString suffix = info.suffix().toLower();
        if (isFolder || suffix == QLatin1String("json") || suffix == QLatin1String("jsonl"))
            paths.append(info.filePath());
    }
    return paths;
}

} // namespace

ChatsPanel::ChatsPanel(const Theme& theme, ChatStore& store, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_store(store)
    , m_catalog(new ChatCatalog(store, this))
    , m_model(new ChatListModel(
          store, [] { return QDateTime::currentDateTime(); }, this))
    , m_noChats(tr("Your chats will be listed here. Write a message to start the first one.")) {
    setAttribute(Qt::WA_StyledBackground);
    setAcceptDrops(true);
    setProperty("ground", QStringLiteral("panel"));
    auto* const column = new QVBoxLayout(this);
    column->setContentsMargins({});
    column->setSpacing(0);
    makeFilterRow();
    makeList();
    m_removals = new RemovalBar(theme, this);
    column->addWidget(m_removals);
    connect(m_removals, &RemovalBar::undone, this, [this] { m_list->setFocus(); });
    connect(&theme, &Theme::changed, this, &ChatsPanel::restyle);
    connect(m_model, &ChatListModel::loaded, this, [this] {
        m_isLoaded = true;
        updateEmptyText();
        if (std::exchange(m_isFirstWanted, false))
            chooseFirst();
    });
    for (const auto signal : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved})
        connect(m_model, signal, this, &ChatsPanel::updateEmptyText);
    connect(m_model, &QAbstractItemModel::modelReset, this, &ChatsPanel::markCurrent);
    connect(m_model, &QAbstractItemModel::rowsInserted, this, &ChatsPanel::markCurrent);
    connect(m_model, &QAbstractItemModel::rowsRemoved, this, [this] {
        if (!m_list->hasFocus()) // otherwise the next row gets the focus
            markCurrent();
    });
    restyle();
}

void ChatsPanel::makeFilterRow() {
    auto* const row = new QWidget(this);
    auto* const line = new QHBoxLayout(row);
    line->setContentsMargins(8, 8, 8, 8);
    line->setSpacing(8);
    m_filter = new QLineEdit(row);
    m_filter->setPlaceholderText(tr("Search"));
    m_filter->setAccessibleName(tr("Search the chats and their messages"));
    m_filter->setClearButtonEnabled(true);
    m_filterIcon = m_filter->addAction(QIcon(), QLineEdit::LeadingPosition);
    m_filter->installEventFilter(this);
    m_new = new QPushButton(tr("New"), row);
    m_new->setProperty("form", QStringLiteral("small"));
    m_new->setAccessibleName(tr("New chat"));
    m_new->setToolTip(tr("Start a new chat"));
    m_filter->setAcceptDrops(false);
    line->addWidget(m_filter, 1);
    line->addWidget(m_new);
    layout()->addWidget(row);
    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& text) {
        m_isFirstWanted = false;
        m_model->setFilter(text);
    });
    connect(
        m_new, &QPushButton::clicked, this, [this] { emit newChatAsked(m_model->scope().folder); });
    m_scope = new QComboBox(this);
    m_scope->setAccessibleName(tr("Folder to show"));
    m_scope->setFocusPolicy(Qt::StrongFocus);
    auto* const place = new QHBoxLayout;
    place->setContentsMargins(8, 0, 8, 8);
    place->addWidget(m_scope);
    static_cast<QVBoxLayout*>(layout())->addLayout(place);
    connect(m_catalog, &ChatCatalog::changed, this, &ChatsPanel::fillScopes);
    connect(m_scope, &QComboBox::activated, this, [this] {
        m_model->setScope(m_scope->currentData().value<ChatScope>());
    });
    fillScopes();
}

/// If the folder no longer exists, all chats are shown. While there is nothing to choose, the
/// choice is hidden.
void ChatsPanel::fillScopes() {
    const ChatScope shown = m_model->scope();
    m_scope->clear();
    const auto add = [this](const QString& text, const ChatScope& scope) {
        m_scope->addItem(text, QVariant::fromValue(scope));
    };
    add(tr("All chats"), {});
    for (const QString& folder : m_catalog->folders())
        add(folder, {ChatScope::Kind::Folder, folder});
    if (m_catalog->hasArchived())
        add(tr("Archived"), {ChatScope::Kind::Archived, {}});
    for (int i = 0; i < m_scope->count(); ++i)
        if (m_scope->itemData(i).value<ChatScope>() == shown)
            m_scope->setCurrentIndex(i);
    m_model->setScope(m_scope->currentData().value<ChatScope>());
    m_scope->setVisible(m_scope->count() > 1);
}

void ChatsPanel::makeList() {
    m_list = new QListView(this);
    m_list->setModel(m_model);
    m_delegate = new ChatRowDelegate(m_theme, m_list);
    m_list->setItemDelegate(m_delegate);
    m_list->setAccessibleName(tr("Chats"));
    m_list->setMouseTracking(true);
    m_list->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setEditTriggers(QAbstractItemView::EditKeyPressed);
    m_list->setContextMenuPolicy(Qt::CustomContextMenu);
    m_list->installEventFilter(this);
    layout()->addWidget(m_list);
    static_cast<QVBoxLayout*>(layout())->setStretchFactor(m_list, 1);
    m_empty = plainLabel(m_list->viewport(), true);
    m_empty->setProperty("tone", QStringLiteral("small"));
    m_empty->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    m_empty->hide();
    auto* const inside = new QVBoxLayout(m_list->viewport());
    inside->setContentsMargins(12, 8, 12, 8);
    inside->addWidget(m_empty, 0, Qt::AlignTop);
    connect(m_model, &ChatListModel::sectionsChanged, m_delegate, [this] { relayout(); });
    connect(m_list, &QListView::clicked, this, &ChatsPanel::choose);
    connect(m_list, &QListView::activated, this, &ChatsPanel::choose);
    connect(m_list, &QListView::customContextMenuRequested, this, &ChatsPanel::showMenu);
}

void ChatsPanel::setCurrentChat(ChatId id) {
    m_currentId = id;
    m_delegate->setShownChat(id);
    m_list->viewport()->update();
    markCurrent();
}

void ChatsPanel::focusFilter() {
    m_filter->setFocus(Qt::ShortcutFocusReason);
    m_filter->selectAll();
}

void ChatsPanel::markCurrent() {
    const QModelIndex index = m_model->indexOf(m_currentId);
    if (!index.isValid())
        m_list->clearSelection();
    else if (m_model->chatAt(m_list->currentIndex().row()) != m_currentId ||
             !m_list->selectionModel()->isSelected(m_list->currentIndex()))
        m_list->setCurrentIndex(index);
}

void ChatsPanel::choose(const QModelIndex& index) {
    const ChatId id = m_model->chatAt(index.row());
    const MessageId message = m_model->messageAt(index.row());
    if (id == 0 || (id == m_currentId && message == 0))
        return;
    setCurrentChat(id);
    m_list->setCurrentIndex(index);
    if (message == 0)
        emit chatChosen(id);
    else
        emit messageChosen(id, message);
}

/// The first chat of the search, as soon as the list shows it.
void ChatsPanel::chooseFirst() {
    m_isFirstWanted = m_model->isLoading();
    if (!m_isFirstWanted)
        choose(m_model->index(0));
}

ChatId ChatsPanel::targetChat() const {
    const QModelIndex index = m_list->currentIndex();
    const bool isSelected = index.isValid() && m_list->selectionModel()->isSelected(index);
    return isSelected ? m_model->chatAt(index.row()) : m_currentId;
}

void ChatsPanel::togglePinned(ChatId id) {
    const ChatRecord chat = m_catalog->record(id);
    if (chat.id != 0)
        m_store.setPinned(chat.id, !chat.isPinned);
}

void ChatsPanel::toggleArchived(ChatId id) {
    const ChatRecord chat = m_catalog->record(id);
    if (chat.id == 0)
        return;
    m_store.setArchived(chat.id, !chat.isArchived);
    m_removals->add({chat.isArchived ? tr("Removed from the archive") : tr("Chat archived"),
                     (chat.isArchived ? tr("Removed “%1” from the archive") : tr("Archived “%1”"))
                         .arg(chat.title.simplified()),
                     tr("Move the chat back to where it was"),
                     [this, chat] { m_store.setArchived(chat.id, chat.isArchived); }});
}

void ChatsPanel::removeChat(ChatId id) {
    const ChatRecord chat = m_catalog->record(id);
    if (chat.id == 0)
        return;
    m_removals->add({tr("Chat deleted"),
                     tr("Deleted “%1”. It will be removed for good when the program starts again")
                         .arg(chat.title.simplified()),
                     tr("Restore the deleted chat"),
                     [this, id] { m_store.restoreChat(id); }});
    m_store.deleteChat(id);
    emit chatDeleted(id);
}

QInputDialog* ChatsPanel::askForName(const QString& title, const QString& name) {
    auto* const dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(title);
    dialog->setTextValue(name);
    dialog->resize(m_theme.scaled(480), dialog->sizeHint().height());
    dialog->open();
    return dialog;
}

void ChatsPanel::askForFolder(ChatId id) {
    const ChatRecord chat = m_catalog->record(id);
    if (chat.id == 0)
        return;
    QInputDialog* const dialog = askForName(tr("Move the chat to a folder"), chat.folder);
    dialog->setLabelText(tr("Folder; an empty name takes the chat out of its folder"));
    dialog->setComboBoxEditable(true);
    dialog->setComboBoxItems(m_catalog->folders());
    dialog->setTextValue(chat.folder);
    connect(
        dialog, &QInputDialog::textValueSelected, this, [this, id = chat.id](const QString& name) {
            m_store.setFolder(id, name.simplified().left(kLongestFolder));
        });
}

void ChatsPanel::renameFolder(const QString& folder) {
    QInputDialog* const dialog = askForName(tr("Rename the folder"), folder);
    dialog->setLabelText(tr("Name of the folder"));
    connect(dialog, &QInputDialog::textValueSelected, this, [this, folder](const QString& name) {
        const QString simple = name.simplified().left(kLongestFolder);
        if (simple.isEmpty())
            return;
        m_catalog->renameFolder(folder, simple);
        if (m_model->scope() == ChatScope{ChatScope::Kind::Folder, folder})
            m_model->setScope({ChatScope::Kind::Folder, simple}); // it stays the one shown
        emit folderRenamed(folder, simple);
    });
}

/// The keyboard asks for it at the current row.
void ChatsPanel::showMenu(const QPoint& position) {
    const QModelIndex index = m_list->indexAt(position);
    if (!index.isValid())
        return;
    m_list->setCurrentIndex(index);
    m_list->setFocus();
    const QPersistentModelIndex row(index);
    const ChatRecord chat = m_model->recordAt(index.row());
    QMenu* const menu = makeChatMenu(
        chat,
        m_catalog->folders(),
        {[this, row] { choose(row); },
         [this, row] { m_list->edit(row); },
         [this, id = chat.id] { togglePinned(id); },
         [this, id = chat.id] { toggleArchived(id); },
         [this, id = chat.id] { removeChat(id); },
         [this, id = chat.id](const QString& folder) { m_store.setFolder(id, folder); },
         [this, id = chat.id] { askForFolder(id); },
         [this, folder = chat.folder] { renameFolder(folder); }},
        this);
    menu->popup(m_list->viewport()->mapToGlobal(position));
}

void ChatsPanel::dragEnterEvent(QDragEnterEvent* event) {
    if (!chatPathsOf(*event->mimeData()).isEmpty())
        event->acceptProposedAction();
}

void ChatsPanel::dropEvent(QDropEvent* event) {
    event->acceptProposedAction();
    emit importAsked(chatPathsOf(*event->mimeData()));
}

/// Outside the list, only the chat shown can be meant. A menu of the list counts as part of it.
void ChatsPanel::leaveList(const QFocusEvent& event) {
    if (event.reason() != Qt::PopupFocusReason && event.reason() != Qt::MenuBarFocusReason &&
        event.reason() != Qt::ActiveWindowFocusReason)
        markCurrent();
}

bool ChatsPanel::eventFilter(QObject* watched, QEvent* event) {
    const bool isInFilter = watched == m_filter;
    if (event->type() == QEvent::FocusOut && !isInFilter)
        leaveList(*static_cast<QFocusEvent*>(event));
    if (!isInFilter && m_removals->takesUndoKey(*event))
        return true;
    const bool isKey =
        event->type() == QEvent::KeyPress || event->type() == QEvent::ShortcutOverride;
    if (!isKey)
        return QWidget::eventFilter(watched, event);
    const int key = static_cast<QKeyEvent*>(event)->key();
    // Here Esc takes the words away; elsewhere it stops the answer.
    if (isInFilter && key == Qt::Key_Escape && !m_filter->text().isEmpty()) {
        event->accept();
        if (event->type() == QEvent::KeyPress)
            m_filter->clear();
        return true;
    }
    if (event->type() != QEvent::KeyPress)
        return QWidget::eventFilter(watched, event);
    if (isInFilter && key == Qt::Key_Down && m_model->rowCount() > 0) {
        m_list->setFocus(Qt::TabFocusReason);
        if (!m_list->currentIndex().isValid())
            m_list->setCurrentIndex(m_model->index(0));
        return true;
    }
    if (isInFilter && (key == Qt::Key_Return || key == Qt::Key_Enter)) {
        chooseFirst();
        return true;
    }
    if (!isInFilter && key == Qt::Key_Delete) {
        if (m_list->selectionModel()->isSelected(m_list->currentIndex()))
            removeChat(targetChat());
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

void ChatsPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    m_model->refreshDates();
}

// Rows that begin a section are higher, and the list keeps heights until the delegate says so.
void ChatsPanel::relayout() { emit m_delegate->sizeHintChanged({}); }

void ChatsPanel::updateEmptyText() {
    m_empty->setVisible(m_isLoaded && m_model->rowCount() == 0);
    const bool isSearch = !m_model->filter().trimmed().isEmpty();
    const bool isAll = m_model->scope().kind == ChatScope::Kind::All;
    m_empty->setText(isSearch && isAll ? tr("No chat contains these words.")
                     : isSearch        ? tr("No chat in this folder contains these words.")
                     : isAll           ? m_noChats
                                       : tr("There are no chats in this folder."));
}

void ChatsPanel::refuseChats(const QString& why) {
    m_noChats = why;
    m_new->setEnabled(false);
    m_new->setToolTip(why);
    setAcceptDrops(false);
    updateEmptyText();
}

void ChatsPanel::restyle() {
    const Colours& colours = m_theme.colours();
    m_filterIcon->setIcon(makeIcon(IconName::Search, colours.muted, colours.disabled));
    m_new->setIcon(makeIcon(IconName::Plus, colours.text, colours.disabled));
    relayout();
    m_list->viewport()->update();
}

} // namespace ui
