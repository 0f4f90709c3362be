// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/chats/chats_panel.h"

#include "ui/icons/icons.h"
#include "ui/views/chats/chat_row_delegate.h"

#include <QAction>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

namespace ui {

ChatsPanel::ChatsPanel(const Theme& theme, ChatStore& store, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_store(store)
    , m_model(new ChatListModel(
          store, [] { return QDateTime::currentDateTime(); }, this)) {
    setAttribute(Qt::WA_StyledBackground);
    setProperty("ground", QStringLiteral("panel"));
    auto* const column = new QVBoxLayout(this);
    column->setContentsMargins({});
    column->setSpacing(0);
    makeFilterRow();
    makeList();
    makeUndoBar();
    connect(&theme, &Theme::changed, this, &ChatsPanel::restyle);
    connect(m_model, &ChatListModel::loaded, this, [this] {
        m_isLoaded = true;
        updateEmptyText();
    });
    for (const auto signal : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved})
        connect(m_model, signal, this, &ChatsPanel::updateEmptyText);
    connect(m_model, &QAbstractItemModel::modelReset, this, &ChatsPanel::markCurrent);
    connect(m_model, &QAbstractItemModel::rowsInserted, this, &ChatsPanel::markCurrent);
    restyle();
}

void ChatsPanel::makeFilterRow() {
    auto* const row = new QWidget(this);
    auto* const line = new QHBoxLayout(row);
    line->setContentsMargins(8, 8, 8, 8);
    line->setSpacing(8);
    m_filter = new QLineEdit(row);
    m_filter->setPlaceholderText(tr("Filter"));
    m_filter->setAccessibleName(tr("Filter chats by their words"));
    m_filter->setClearButtonEnabled(true);
    m_filterIcon = m_filter->addAction(QIcon(), QLineEdit::LeadingPosition);
    m_filter->installEventFilter(this);
    m_new = new QPushButton(tr("New"), row);
    m_new->setProperty("form", QStringLiteral("small"));
    m_new->setAccessibleName(tr("New chat"));
    m_new->setToolTip(tr("Begin a new chat"));
    line->addWidget(m_filter, 1);
    line->addWidget(m_new);
    layout()->addWidget(row);
    connect(m_filter, &QLineEdit::textChanged, m_model, &ChatListModel::setFilter);
    connect(m_new, &QPushButton::clicked, this, &ChatsPanel::newChatAsked);
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
    m_empty = new QLabel(m_list->viewport());
    m_empty->setTextFormat(Qt::PlainText);
    m_empty->setWordWrap(true);
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

void ChatsPanel::makeUndoBar() {
    m_undoBar = new QWidget(this);
    m_undoBar->setAttribute(Qt::WA_StyledBackground);
    m_undoBar->setProperty("ground", QStringLiteral("raised"));
    auto* const line = new QHBoxLayout(m_undoBar);
    line->setContentsMargins(12, 4, 4, 4);
    line->setSpacing(4);
    m_undoText = new QLabel(m_undoBar);
    m_undoText->setTextFormat(Qt::PlainText);
    m_undoText->setProperty("tone", QStringLiteral("small"));
    m_undo = new QPushButton(tr("Undo"), m_undoBar);
    m_undo->setProperty("kind", QStringLiteral("link"));
    m_undo->setProperty("form", QStringLiteral("small"));
    m_undo->setAccessibleName(tr("Bring the deleted chat back"));
    m_closeUndo = new QToolButton(m_undoBar);
    m_closeUndo->setAccessibleName(tr("Close this message"));
    m_closeUndo->setToolTip(tr("The chat is removed for good when the program starts again."));
    line->addWidget(m_undoText, 1);
    line->addWidget(m_undo);
    line->addWidget(m_closeUndo);
    layout()->addWidget(m_undoBar);
    m_undoBar->hide();
    connect(m_undo, &QPushButton::clicked, this, &ChatsPanel::undoDelete);
    connect(m_closeUndo, &QToolButton::clicked, m_undoBar, &QWidget::hide);
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
    else if (m_list->currentIndex() != index || !m_list->selectionModel()->isSelected(index))
        m_list->setCurrentIndex(index);
}

void ChatsPanel::choose(const QModelIndex& index) {
    const ChatId id = m_model->chatAt(index.row());
    if (id == 0 || id == m_currentId)
        return;
    setCurrentChat(id);
    emit chatChosen(id);
}

void ChatsPanel::deleteSelected() {
    const QModelIndex index = m_list->currentIndex();
    const ChatId id = m_model->chatAt(index.row());
    if (id == 0 || !m_list->selectionModel()->isSelected(index))
        return;
    m_deletedId = id;
    const QString title = index.data(Qt::DisplayRole).toString();
    const QString text = tr("Deleted “%1”").arg(title);
    m_undoText->setToolTip(text.toHtmlEscaped());
    m_undoText->setAccessibleName(text);
    m_undoBar->show();
    m_undoText->setText(tr("Chat deleted"));
    m_store.deleteChat(id);
    emit chatDeleted(id);
}

void ChatsPanel::undoDelete() {
    m_store.restoreChat(m_deletedId);
    m_undoBar->hide();
    m_list->setFocus();
    emit chatRestored(m_deletedId);
}

void ChatsPanel::showMenu(const QPoint& position) {
    const QModelIndex index = m_list->indexAt(position);
    if (!index.isValid())
        return;
    m_list->setCurrentIndex(index);
    auto* const menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const QPersistentModelIndex row(index);
    menu->addAction(tr("Open"), this, [this, row] { choose(row); });
    menu->addAction(tr("Rename"), this, [this, row] { m_list->edit(row); });
    menu->addAction(tr("Delete"), this, &ChatsPanel::deleteSelected);
    menu->popup(m_list->viewport()->mapToGlobal(position));
}

bool ChatsPanel::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::KeyPress)
        return QWidget::eventFilter(watched, event);
    const int key = static_cast<QKeyEvent*>(event)->key();
    const bool isInFilter = watched == m_filter;
    if (isInFilter && key == Qt::Key_Escape && !m_filter->text().isEmpty()) {
        m_filter->clear();
        return true;
    }
    if (isInFilter && key == Qt::Key_Down && m_model->rowCount() > 0) {
        m_list->setFocus(Qt::TabFocusReason);
        if (!m_list->currentIndex().isValid())
            m_list->setCurrentIndex(m_model->index(0));
        return true;
    }
    if (isInFilter && (key == Qt::Key_Return || key == Qt::Key_Enter) && m_model->rowCount() > 0) {
        choose(m_model->index(0));
        return true;
    }
    if (!isInFilter && key == Qt::Key_Delete) {
        deleteSelected();
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
    m_empty->setText(m_model->filter().trimmed().isEmpty()
                         ? tr("Chats will be listed here. Write a message to begin the first one.")
                         : tr("No chat contains these words."));
}

void ChatsPanel::restyle() {
    const Colours& colours = m_theme.colours();
    m_filterIcon->setIcon(makeIcon(IconName::Search, colours.muted, colours.disabled));
    m_new->setIcon(makeIcon(IconName::Plus, colours.text, colours.disabled));
    m_closeUndo->setIcon(makeIcon(IconName::Close, colours.muted, colours.disabled));
    relayout();
    m_list->viewport()->update();
}

} // namespace ui
