// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/chats/chat_list_model.h"

#include <QLocale>

#include <algorithm>

namespace ui {

namespace {

constexpr qint64 kDaysOfLastWeek = 7;

QDateTime updatedOf(const ChatRecord& chat) {
    return QDateTime::fromMSecsSinceEpoch(chat.updatedMs);
}

// "09:12" in the user's format; some short formats have seconds.
QString clockTime(const QDateTime& time) {
    QString form = QLocale().timeFormat(QLocale::ShortFormat);
    form.remove(QStringLiteral(":ss")).remove(QStringLiteral(".ss"));
    return QLocale().toString(time.time(), form);
}

bool hasSameRows(const QList<ChatMatch>& a, const QList<ChatMatch>& b) {
    return std::equal(a.cbegin(),
                      a.cend(),
                      b.cbegin(),
                      b.cend(),
                      [](const ChatMatch& left, const ChatMatch& right) {
                          return left.record.id == right.record.id &&
                                 left.messageId == right.messageId;
                      });
}

} // namespace

ChatListModel::ChatListModel(ChatStore& store, Clock clock, QObject* parent)
    : QAbstractListModel(parent)
    , m_store(store)
    , m_clock(std::move(clock)) {
    connect(&store, &ChatStore::listReset, this, &ChatListModel::reload);
    connect(&store, &ChatStore::chatChanged, this, &ChatListModel::takeChat);
    reload();
}

int ChatListModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_matches.size());
}

QVariant ChatListModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const ChatMatch& match = m_matches[index.row()];
    switch (role) {
    case Qt::DisplayRole:
        return match.record.title.simplified();
    case Qt::EditRole:
        return match.record.title;
    case Qt::AccessibleTextRole:
        return tr("%1, %2, %3")
            .arg(match.record.title.simplified(), sectionOf(match.record), subtitleOf(match));
    case ChatIdRole:
        return match.record.id;
    case SubtitleRole:
        return subtitleOf(match);
    case UpdatedRole:
        return updatedOf(match.record);
    case SectionRole:
        return sectionOf(match.record);
    case FoundWordsRole:
        return m_filter.split(u' ', Qt::SkipEmptyParts);
    case IsFirstOfSectionRole:
        return index.row() == 0 ||
               sectionOf(match.record) != sectionOf(m_matches[index.row() - 1].record);
    default:
        return {};
    }
}

bool ChatListModel::setData(const QModelIndex& index, const QVariant& value, int role) {
    const QString title = value.toString().simplified();
    if (!index.isValid() || role != Qt::EditRole || title.isEmpty())
        return false;
    ChatRecord& chat = m_matches[index.row()].record;
    if (chat.title == title)
        return true;
    chat.title = title;
    m_store.renameChat(chat.id, title);
    emit dataChanged(index, index);
    return true;
}

Qt::ItemFlags ChatListModel::flags(const QModelIndex& index) const {
    const Qt::ItemFlags flags = QAbstractListModel::flags(index);
    return index.isValid() ? flags | Qt::ItemIsEditable | Qt::ItemNeverHasChildren : flags;
}

void ChatListModel::setFilter(const QString& text) {
    m_filter = text;
    reload();
}

void ChatListModel::setScope(const ChatScope& scope) {
    if (scope == m_scope)
        return;
    m_scope = scope;
    reload();
}

ChatId ChatListModel::chatAt(int row) const {
    return row >= 0 && row < m_matches.size() ? m_matches[row].record.id : 0;
}

ChatRecord ChatListModel::recordAt(int row) const {
    return row >= 0 && row < m_matches.size() ? m_matches[row].record : ChatRecord();
}

MessageId ChatListModel::messageAt(int row) const {
    return row >= 0 && row < m_matches.size() ? m_matches[row].messageId : 0;
}

QModelIndex ChatListModel::indexOf(ChatId id) const {
    for (int row = 0; row < m_matches.size(); ++row)
        if (m_matches[row].record.id == id)
            return index(row);
    return {};
}

void ChatListModel::refreshDates() {
    if (m_matches.isEmpty())
        return;
    emit dataChanged(index(0), index(rowCount() - 1));
    emit sectionsChanged();
}

// One query at a time, however fast the user types; the last one is always made.
void ChatListModel::reload() {
    m_isOutdated = m_isAsking;
    if (m_isAsking)
        return;
    m_isAsking = true;
    m_store.searchChats(m_filter, this, [this](const QList<ChatMatch>& matches) {
        m_isAsking = false;
        if (m_isOutdated)
            reload();
        else
            take(matches);
    });
}

void ChatListModel::take(QList<ChatMatch> matches) {
    matches.removeIf(
        [this](const ChatMatch& match) { return !m_scope.contains(match.record, isSearch()); });
    std::stable_sort(
        matches.begin(), matches.end(), [this](const ChatMatch& a, const ChatMatch& b) {
            return comesBefore(a.record, b.record);
        });
    if (hasSameRows(matches, m_matches)) {
        m_matches = matches;
        refreshDates();
    } else {
        beginResetModel();
        m_matches = matches;
        endResetModel();
    }
    emit loaded();
}

void ChatListModel::takeChat(const ChatRecord& chat) {
    // Only the store knows the results of a search, and a pending result would undo this change.
    if (m_isAsking || isSearch()) {
        reload();
        return;
    }
    const QModelIndex present = indexOf(chat.id);
    const bool isWanted = chat.deletedMs == 0 && m_scope.contains(chat, false);
    if (!present.isValid() && isWanted) {
        const int row = rowFor(chat, -1);
        beginInsertRows({}, row, row);
        m_matches.insert(row, {chat, QString(), 0});
        endInsertRows();
    } else if (present.isValid() && !isWanted) {
        beginRemoveRows({}, present.row(), present.row());
        m_matches.removeAt(present.row());
        endRemoveRows();
    } else if (present.isValid()) {
        moveChat(present.row(), chat);
    }
    tellSections();
}

void ChatListModel::moveChat(int from, const ChatRecord& chat) {
    const int to = rowFor(chat, from);
    if (to != from) {
        // Qt counts the destination before the row is taken out.
        beginMoveRows({}, from, from, {}, to > from ? to + 1 : to);
        m_matches.move(from, to);
        m_matches[to].record = chat;
        endMoveRows();
    }
    m_matches[to].record = chat;
    emit dataChanged(index(to), index(to));
}

// As if `withoutRow` was not there.
int ChatListModel::rowFor(const ChatRecord& chat, int withoutRow) const {
    int row = 0;
    for (int i = 0; i < m_matches.size(); ++i)
        if (i != withoutRow && comesBefore(m_matches[i].record, chat))
            ++row;
    return row;
}

/// Pinned ones come first, archived ones last, then the newest.
bool ChatListModel::comesBefore(const ChatRecord& a, const ChatRecord& b) const {
    const auto place = [](const ChatRecord& chat) {
        return chat.isArchived ? 2 : chat.isPinned ? 0 : 1;
    };
    if (m_scope.kind != ChatScope::Kind::Archived && place(a) != place(b))
        return place(a) < place(b);
    return a.updatedMs != b.updatedMs ? a.updatedMs > b.updatedMs : a.id > b.id;
}

void ChatListModel::tellSections() {
    if (!m_matches.isEmpty())
        emit dataChanged(index(0), index(rowCount() - 1), {IsFirstOfSectionRole});
    emit sectionsChanged();
}

QString ChatListModel::sectionOf(const ChatRecord& chat) const {
    if (chat.isArchived && m_scope.kind != ChatScope::Kind::Archived)
        return tr("Archived");
    if (chat.isPinned && !chat.isArchived)
        return tr("Pinned");
    const qint64 daysAgo = updatedOf(chat).date().daysTo(m_clock().date());
    if (daysAgo <= 0)
        return tr("Today");
    if (daysAgo == 1)
        return tr("Yesterday");
    return daysAgo <= kDaysOfLastWeek ? tr("Last week") : tr("Earlier");
}

QString ChatListModel::subtitleOf(const ChatMatch& match) const {
    if (!match.excerpt.isEmpty())
        return match.excerpt;
    const ChatRecord& chat = match.record;
    const QDateTime updated = updatedOf(chat);
    const qint64 daysAgo = updated.date().daysTo(m_clock().date());
    QStringList parts;
    if (!chat.folder.isEmpty() && m_scope.kind != ChatScope::Kind::Folder)
        parts.append(chat.folder.simplified());
    if (daysAgo <= 0)
        parts.append(clockTime(updated));
    else if (daysAgo > kDaysOfLastWeek || chat.decoderName.isEmpty())
        parts.append(QLocale().toString(updated.date(), QLocale::ShortFormat));
    if (!chat.decoderName.isEmpty())
        parts.append(decoderTitle(chat.decoderName));
    if (chat.speedup)
        parts.append(QString::number(*chat.speedup, 'f', 1) + u'×');
    return parts.join(QStringLiteral(" · "));
}

} // namespace ui
