// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/chat_store.h"
#include "ui/views/chats/chat_scope.h"

#include <QAbstractListModel>
#include <QDateTime>

#include <functional>

namespace ui {

/// The chats of a store, pinned ones first, then newest first; or the results of a search, one row
/// for each message. Follows the store by itself. Titles and excerpts are untrusted: plain text
/// only. Thread: UI.
class ChatListModel : public QAbstractListModel {
    Q_OBJECT

public:
    enum Role {
        ChatIdRole = Qt::UserRole,
        SubtitleRole, ///< "09:12 · SWIFT · 1.3×", or the text around what was found
        UpdatedRole,  ///< QDateTime, local
        SectionRole,  ///< "Pinned", "Today", "Yesterday", "Last week", "Earlier", "Archived"
        IsFirstOfSectionRole, ///< whether the section's name is above this row
        FoundWordsRole,       ///< QStringList: the searched words, to be highlighted
    };

    using Clock = std::function<QDateTime()>;

    ChatListModel(ChatStore& store, Clock clock, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

    /// Qt::EditRole renames; an empty title is refused.
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;

    Qt::ItemFlags flags(const QModelIndex& index) const override;

    /// Shows everything that contains all words of `text`, or all chats if there are none. Emits
    /// loaded() when done.
    void setFilter(const QString& text);

    const QString& filter() const { return m_filter; }

    /// Whether the rows are still those of before: loaded() will be emitted.
    bool isLoading() const { return m_isAsking; }

    /// Shows only these chats, also in search results. Emits loaded() when done.
    void setScope(const ChatScope& scope);

    const ChatScope& scope() const { return m_scope; }

    /// 0 for a row that is not there.
    ChatId chatAt(int row) const;

    /// As it was when the list was made; empty for a row that is not there.
    ChatRecord recordAt(int row) const;

    /// The message that a search found in this row; 0 = the title, or no search.
    MessageId messageAt(int row) const;

    /// The first row of the chat; invalid for one that is not shown.
    QModelIndex indexOf(ChatId id) const;

    /// A new day may have begun: updates all sections and times.
    void refreshDates();

signals:
    /// The store's result for the newest filter is shown.
    void loaded();

    /// The height of a row has changed, for views that cache heights.
    void sectionsChanged();

private:
    void reload();
    void take(QList<ChatMatch> matches);
    void takeChat(const ChatRecord& chat);
    void moveChat(int from, const ChatRecord& chat);
    int rowFor(const ChatRecord& chat, int withoutRow) const;

    bool isSearch() const { return !m_filter.trimmed().isEmpty(); }

    bool comesBefore(const ChatRecord& a, const ChatRecord& b) const;
    void tellSections();
    QString sectionOf(const ChatRecord& chat) const;
    QString subtitleOf(const ChatMatch& match) const;

    ChatStore& m_store;
    Clock m_clock;
    QList<ChatMatch> m_matches;
    QString m_filter;
    ChatScope m_scope;
    bool m_isAsking = false;
    bool m_isOutdated = false; ///< something changed during the query
};

} // namespace ui
