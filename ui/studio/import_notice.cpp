// SPDX-License-Identifier: GPL-3.0-only
#include "ui/studio/import_notice.h"

#include "ui/shell/figure_text.h"

namespace ui {

namespace {

constexpr qsizetype kMostProblems = 200; ///< that are listed
constexpr qint64 kProgressMs = 400;
const QString kId = QStringLiteral("import");

} // namespace

ImportNotice::ImportNotice(ChatStore& store,
                           MessageBar& messages,
                           const QStringList& paths,
                           QObject* parent)
    : QObject(parent)
    , m_store(store)
    , m_messages(messages) {
    m_sinceReported.start();
    store.importChats(paths, this, [this](const ImportSlice& slice) { return take(slice); });
}

bool ImportNotice::take(const ImportSlice& slice) {
    for (const Chat& chat : slice.chats)
        m_chats.append(chat.record.id);
    m_leftOut += slice.leftOut;
    m_problemCount += slice.problems.size();
    m_problems += slice.problems.mid(0, kMostProblems - m_problems.size());
    if (slice.isOver || m_isStopped) {
        tellEnd();
        deleteLater();
        return false;
    }
    if (m_sinceReported.hasExpired(kProgressMs))
        tellProgress(slice);
    return true;
}

void ImportNotice::tellProgress(const ImportSlice& slice) {
    m_sinceReported.start();
    const qint64 percent = slice.bytesTotal > 0 ? 100 * slice.bytesRead / slice.bytesTotal : 0;
    m_messages.show({Notice::Kind::Info,
                     kId,
                     tr("Importing chats: %1 % read.").arg(percent),
                     countText(m_chats.size(), tr("1 chat so far."), tr("%1 chats so far.")),
                     {},
                     {{tr("Stop"), [guard = QPointer(this)] {
                           if (guard)
                               guard->m_isStopped = true;
                       }}}});
}

void ImportNotice::tellEnd() {
    Notice notice;
    notice.id = kId;
    notice.kind = m_problemCount == 0 ? Notice::Kind::Info
                  : m_chats.isEmpty() ? Notice::Kind::Error
                                      : Notice::Kind::Warning;
    notice.headline =
        countText(m_chats.size(), tr("1 chat was imported"), tr("%1 chats were imported"));
    if (m_leftOut > 0)
        notice.headline = countText(m_leftOut, tr("%2, 1 was left out"), tr("%2, %1 were left out"))
                              .replace(QLatin1String("%2"), notice.headline);
    notice.headline = m_isStopped ? tr("%1; the import was stopped.").arg(notice.headline)
                                  : notice.headline + QLatin1Char('.');
    if (m_problemCount > 0)
        notice.sentence = m_problems.first();
    if (m_problemCount > 1) {
        notice.sentence += QLatin1Char(' ') + countText(m_problemCount - 1,
                                                        tr("Details lists 1 more."),
                                                        tr("Details lists %1 more."));
        notice.details = m_problems.join(QLatin1Char('\n'));
    }
    if (m_problemCount > m_problems.size())
        notice.details += tr("\n... and %1 more.").arg(m_problemCount - m_problems.size());
    if (!m_chats.isEmpty())
        notice.choices.push_back(
            {m_chats.size() == 1 ? tr("Remove it again") : tr("Remove them again"),
             [store = &m_store, chats = m_chats] { store->deleteChats(chats); }});
    m_messages.show(std::move(notice));
}

} // namespace ui
