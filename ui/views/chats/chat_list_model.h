// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/store/chat_store.h"

#include <QAbstractListModel>
#include <QDateTime>

#include <functional>

namespace ui {

/// The chats of a store, newest first, perhaps only those that a search found. Follows the store by
/// itself. Titles and excerpts are untrusted: plain text only. Thread: UI.
class ChatListModel : public QAbstractListModel {
    Q_OBJECT

public:
    enum Role {
        ChatIdRole = Qt::UserRole,
        SubtitleRole,         ///< "09:12 · SWIFT · 1.3×", or the text around what was found
        UpdatedRole,          ///< QDateTime, local
        SectionRole,          ///< "Today", "Yesterday", "Last week", "Earlier"
        IsFirstOfSectionRole, ///< whether the section's name stands above this row
    };

    using Clock = std::function<QDateTime()>;

    ChatListModel(ChatStore& store, Clock clock, QObject* parent = nullptr);

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;

    /// Qt::EditRole renames; an empty title is refused.
    bool setData(const QModelIndex& index, const QVariant& value, int role) override;

    Qt::ItemFlags flags(const QModelIndex& index) const override;

    /// Shows what contains all words of `text`; all chats if it has none. Tells loaded() when done.
    void setFilter(const QString& text);

    const QString& filter() const { return m_filter; }

    /// 0 for a row that is not there.
    ChatId chatAt(int row) const;

    /// Invalid for a chat that is not shown.
    QModelIndex indexOf(ChatId id) const;

    /// Another day may have begun: asks the clock again for all sections and times.
    void refreshDates();

signals:
    /// What the store answered to the newest filter is shown.
    void loaded();

    /// A row has another height now, for views that keep heights.
    void sectionsChanged();

private:
    void reload();
    void take(const QList<ChatMatch>& matches);
    void takeChat(const ChatRecord& chat);
    void moveChat(int from, const ChatRecord& chat);
    int rowFor(const ChatRecord& chat, int withoutRow) const;
    void tellSections();
    QString sectionOf(const ChatRecord& chat) const;
    QString subtitleOf(const ChatMatch& match) const;

    ChatStore& m_store;
    Clock m_clock;
    QList<ChatMatch> m_matches;
    QString m_filter;
    bool m_isAsking = false;
    bool m_isOutdated = false; ///< something changed while the store was being asked
};

} // namespace ui
