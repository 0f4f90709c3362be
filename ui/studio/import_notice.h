// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/bars/message_bar.h"
#include "ui/store/chat_store.h"

#include <QElapsedTimer>
#include <QObject>
#include <QPointer>

namespace ui {

/// One import of chats, shown as a notice: its progress, its result, and an undo. Deletes itself
/// when it is over. Thread: UI.
class ImportNotice : public QObject {
    Q_OBJECT

public:
    /// Both outlive it. Begins at once.
    ImportNotice(ChatStore& store, MessageBar& messages, const QStringList& paths, QObject* parent);

private:
    bool take(const ImportSlice& slice);
    void tellProgress(const ImportSlice& slice);
    void tellEnd();

    ChatStore& m_store;
    MessageBar& m_messages;
    QList<ChatId> m_chats;
    QStringList m_problems;
    qsizetype m_problemCount = 0;
    int m_leftOut = 0;
    bool m_isStopped = false;
    QElapsedTimer m_sinceReported;
};

} // namespace ui
