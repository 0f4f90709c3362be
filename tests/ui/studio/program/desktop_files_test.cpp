// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/file_content.h"

#include <QDir>
#include <QFile>
#include <QMimeDatabase>
#include <QProcess>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

/// installer/desktop.sh: what a double click on a file does.
class DesktopFilesTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    /// The exit code; `errors` is what it said.
    int install(const QString& program, QByteArray& errors) const {
        QProcess script;
        script.start(QStringLiteral("bash"), {QStringLiteral("installer/desktop.sh"), program});
        if (!script.waitForFinished(-1))
            return -1;
        errors = script.readAllStandardError();
        return script.exitCode();
    }

private slots:

    void initTestCase() { qputenv("XDG_DATA_HOME", m_folder.filePath("share").toUtf8()); }

    void recipesAndRecordingsBelongToTheProgram() {
        const QString program = m_folder.filePath(QStringLiteral("it's 100 % $mine"));
        QVERIFY(QFile::copy(QStringLiteral("/bin/true"), program));
        QByteArray errors;
        QVERIFY2(install(program, errors) == 0, errors.constData());
        const QByteArray text = support::fileBytes(
            m_folder.filePath(QStringLiteral("share/applications/swift-studio.desktop")));
        QVERIFY(!text.contains('@'));
        QVERIFY2(text.contains("/it's 100 %% \\\\$mine\" %F\n"), text.constData());
        QVERIFY(text.contains("TryExec=" + program.toUtf8() + '\n'));
        const QMimeDatabase types;
        for (const auto& [file, type] : {std::pair("a.swiftexp", "application/x-swift-experiment"),
                                         std::pair("a.swiftrun", "application/x-swift-run")}) {
            QCOMPARE(
                types.mimeTypeForFile(QLatin1String(file), QMimeDatabase::MatchExtension).name(),
                QLatin1String(type));
            QVERIFY(text.contains(QByteArray(type) + ';'));
        }
    }

    void aProgramThatIsNotThereIsRefused() {
        QByteArray errors;
        QVERIFY(install(m_folder.filePath(QStringLiteral("none")), errors) != 0);
        QCOMPARE(errors.count('\n'), 1);
        QVERIFY2(errors.contains("there is no program"), errors.constData());
    }

    void aFolderThatTakesNothingIsOneSentence() {
        qputenv("XDG_DATA_HOME",
                support::writeFile(m_folder.filePath(QStringLiteral("wall"))).toUtf8());
        QByteArray errors;
        QVERIFY(install(QStringLiteral("/bin/true"), errors) != 0);
        qputenv("XDG_DATA_HOME", m_folder.filePath("share").toUtf8());
        QVERIFY2(errors.contains("cannot be written: files are not opened by a double click"),
                 errors.constData());
    }
};

QTEST_GUILESS_MAIN(DesktopFilesTest)
#include "desktop_files_test.moc"
