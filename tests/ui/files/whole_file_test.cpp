// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/file_content.h"
#include "ui/files/whole_file.h"

#include <QDir>
#include <QFileInfo>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <sys/stat.h>

/// Whatever is saved by saveWhole() lies on the disk as a whole, or the old file does: the n-th
/// write, flush or rename fails, for every n.
class WholeFileTest : public QObject {
    Q_OBJECT

    struct Run {
        int exitCode;
        QString told;
        int calls;
    };

    std::unique_ptr<QTemporaryDir> m_folder;

    QString path() const { return m_folder->filePath(QStringLiteral("kept/file.json")); }

    Run run(const QString& what, const QString& kind, int at) const {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
        environment.insert(QStringLiteral("XDG_RUNTIME_DIR"), m_folder->path());
        environment.insert(QStringLiteral("LD_PRELOAD"),
                           QFileInfo(QStringLiteral(TEST_FAULT_SHIM)).absoluteFilePath());
        environment.insert(QStringLiteral("SWIFT_FAULT_KIND"), kind);
        environment.insert(QStringLiteral("SWIFT_FAULT_AT"), QString::number(at));
        environment.insert(QStringLiteral("SWIFT_FAULT_COUNT"),
                           m_folder->filePath(QStringLiteral("count")));
        QProcess saver;
        saver.setProcessEnvironment(environment);
        saver.start(QCoreApplication::applicationDirPath() + QStringLiteral("/file_saver"),
                    {what, path()});
        saver.waitForFinished(-1);
        return {saver.exitStatus() == QProcess::NormalExit ? saver.exitCode() : -1,
                QString::fromUtf8(saver.readAllStandardError()),
                support::fileBytes(m_folder->filePath(QStringLiteral("count"))).trimmed().toInt()};
    }

    /// An earlier file, of the same kind where that is read before it is replaced.
    QByteArray putEarlierFile(const QString& what) const {
        QDir(m_folder->filePath(QStringLiteral("kept"))).removeRecursively();
        QDir(m_folder->path()).mkpath(QStringLiteral("kept"));
        QByteArray earlier("what was there before\n");
        if (what == QLatin1String("preset"))
            earlier = "{\"format\":\"swift-studio-preset\",\"version\":1,\"name\":\"file\","
                      "\"meaning\":\"\",\"decoder\":\"swift\",\"values\":{\"r\":0.5}}";
        if (what == QLatin1String("prompts"))
            earlier = "{\"format\":\"swift-studio-prompts\",\"version\":1,\"prompts\":[]}";
        support::writeFile(path(), earlier);
        return earlier;
    }

    /// By what it begins and ends with: pages and pictures tell the time of day.
    static bool isWhole(const QByteArray& content, const QByteArray& like) {
        return content.size() > like.size() / 2 && content.first(4) == like.first(4) &&
               content.last(4) == like.last(4);
    }

private slots:

    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    /// Such as /dev/null, which would be gone for all programs of the computer.
    void devicesAndPipesAreNotReplaced() {
        const QString pipe = m_folder->filePath(QStringLiteral("pipe"));
        QCOMPARE(mkfifo(QFile::encodeName(pipe).constData(), 0600), 0);
        const QString link = m_folder->filePath(QStringLiteral("link"));
        QVERIFY(QFile::link(pipe, link));
        for (const QString& place : {pipe, link}) {
            QVERIFY(ui::saveWhole("content", place).contains(QStringLiteral("pipe")));

            struct stat status = {};

            QCOMPARE(::stat(QFile::encodeName(pipe).constData(), &status), 0);
            QVERIFY(S_ISFIFO(status.st_mode));
        }
        QCOMPARE(QFileInfo(link).symLinkTarget(), pipe);
        QVERIFY(!ui::saveWhole("content", m_folder->path()).isEmpty());
        QCOMPARE(ui::saveWhole("content", m_folder->filePath(QStringLiteral("new"))), QString());
    }

    void noCallThatFailsCostsTheEarlierFile_data() {
        QTest::addColumn<QString>("what");
        QTest::addColumn<QString>("kind");
        for (const char* what : {"markdown",
                                 "html",
                                 "json",
                                 "pdf",
                                 "prompts",
                                 "csv",
                                 "svg",
                                 "png",
                                 "skip_set",
                                 "preset"})
            for (const char* kind : {"write", "rename"})
                QTest::addRow("%s, %s", what, kind) << what << kind;
        // All are flushed by the same lines.
        for (const char* what : {"markdown", "prompts"})
            QTest::addRow("%s, flush", what) << what << "flush";
    }

    void noCallThatFailsCostsTheEarlierFile() {
        if (QByteArray(TEST_FAULT_SHIM).isEmpty())
            QSKIP("The sanitizers leave no room for the library that lets calls fail.");
        QFETCH(const QString, what);
        QFETCH(const QString, kind);
        QByteArray earlier = putEarlierFile(what);
        const Run whole = run(what, kind, 0);
        QVERIFY2(whole.exitCode == 0, qPrintable(whole.told));
        QVERIFY(whole.calls > 0);
        const QByteArray made = support::fileBytes(path());
        QVERIFY(made != earlier);
        int told = 0;
        for (int at = 1; at <= whole.calls; ++at) {
            earlier = putEarlierFile(what);
            const Run failed = run(what, kind, at);
            const QString where =
                QStringLiteral("%1 of %2: %3").arg(at).arg(whole.calls).arg(failed.told);
            const QByteArray now = support::fileBytes(path());
            const bool isReplaced = isWhole(now, made);
            if (failed.exitCode == 0) { // a call that has nothing to do with the file
                QVERIFY2(isReplaced, qPrintable(where));
            } else {
                ++told;
                QCOMPARE(failed.exitCode, 7);
                QVERIFY2(failed.told.contains(path()) && failed.told.endsWith(u'.') &&
                             !failed.told.contains(u'\n'),
                         qPrintable(where));
                // Its folder alone may be what could not be brought to the disk.
                QVERIFY2(now == earlier || (kind == QLatin1String("flush") && isReplaced),
                         qPrintable(where));
            }
            QCOMPARE(QDir(QFileInfo(path()).path()).entryList(QDir::Files | QDir::Hidden),
                     QStringList{QStringLiteral("file.json")});
        }
        QVERIFY(told > 0);
    }
};

QTEST_GUILESS_MAIN(WholeFileTest)
#include "whole_file_test.moc"
