// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/views/chat/chat_view_stage.h"
#include "ui/views/chat/attachment_row.h"

#include <QDropEvent>
#include <QFile>
#include <QMimeData>
#include <QSignalSpy>

using namespace support;
using namespace ui;

/// Several files at once, or one that comes late.
class AttachedFilesTest : public QObject, ChatViewStage {
    Q_OBJECT

    QString write(const QString& name, const QByteArray& text) const {
        QFile file(m_folder->filePath(name));
        if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size())
            qFatal("cannot write");
        return file.fileName();
    }

    QStringList attached() const {
        QStringList names;
        for (const Attachment& attachment : m_view->input().attachments().attachments())
            names.append(attachment.name);
        return names;
    }

private slots:

    void init() { open(); }

    void cleanup() { close(); }

    void theyStandInTheOrderInWhichTheyWereDropped() {
        const QStringList paths = {write("long.txt", QByteArray(900'000, 'a')),
                                   write("empty.txt", " "),
                                   write("short.txt", "b")};
        QSignalSpy refused(m_view.get(), &ChatView::refused);
        QMimeData dropped;
        QList<QUrl> urls;
        for (const QString& path : paths)
            urls.append(QUrl::fromLocalFile(path));
        dropped.setUrls(urls);
        QDragEnterEvent enter({20, 20}, Qt::CopyAction, &dropped, Qt::LeftButton, {});
        QCoreApplication::sendEvent(m_view.get(), &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent event({20, 20}, Qt::CopyAction, &dropped, Qt::LeftButton, {});
        QCoreApplication::sendEvent(m_view.get(), &event);
        QTRY_COMPARE(attached(), (QStringList{"long.txt", "short.txt"}));
        QCOMPARE(refused.count(), 1);
    }

    void oneThatIsReadBehindItsMessageIsNotLostWithoutAWord() {
        m_chat->loadModel();
        QSignalSpy refused(m_view.get(), &ChatView::refused);
        m_view->attachFiles({write("notes.txt", "some notes")});
        m_chat->session->send(QStringLiteral("What do my notes say?"));
        QTRY_COMPARE(refused.count(), 1);
        QVERIFY(refused.first().first().toString().startsWith("notes.txt was not attached"));
        QCOMPARE(attached(), QStringList());
    }

    void whatTheWindowOpensIsLeftToIt() {
        for (const char* name : {"a.gguf", "b.json", "c.swiftexp", "D.SWIFTRUN"}) {
            QMimeData dropped;
            dropped.setUrls({QUrl::fromLocalFile(m_folder->filePath(QLatin1String(name)))});
            QDragEnterEvent enter({20, 20}, Qt::CopyAction, &dropped, Qt::LeftButton, {});
            QCoreApplication::sendEvent(m_view.get(), &enter);
            QVERIFY2(!enter.isAccepted(), name);
        }
    }
};

QTEST_MAIN(AttachedFilesTest)
#include "attached_files_test.moc"
