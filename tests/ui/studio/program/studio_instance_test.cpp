// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/studio/letter_model.h"

#include <QFile>
#include <QFileInfo>
#include <QProcess>
#include <QSettings>
#include <QSqlDatabase>
#include <QSqlQuery>
#include <QTemporaryDir>
#include <QTest>

#include <csignal>
#include <vector>

using namespace support;

/// swift-studio started twice, and ended by the system.
class StudioInstanceTest : public QObject {
    Q_OBJECT

    struct Message {
        QString role;
        QString state;
        QString text;
        qint64 chat = 0;
    };

    QTemporaryDir m_models;
    std::unique_ptr<QTemporaryDir> m_folder; ///< of the user

    QString path(const char* name) const { return m_folder->filePath(QLatin1String(name)); }

    QString settingsPath() const { return path("config/swift-studio/swift-studio.ini"); }

    void start(QProcess& process, const QStringList& arguments) const {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
        environment.insert(QStringLiteral("XDG_DATA_HOME"), path("data"));
        environment.insert(QStringLiteral("XDG_CONFIG_HOME"), path("config"));
        environment.insert(QStringLiteral("XDG_RUNTIME_DIR"), m_folder->path());
        environment.insert(QStringLiteral("SWIFT_STUDIO_DATA"), path("memory"));
        process.setProcessEnvironment(environment);
        process.start(
            QFileInfo(QStringLiteral(SWIFT_STUDIO_BIN_DIR "/swift-studio")).absoluteFilePath(),
            QStringList{QStringLiteral("--backend"), QStringLiteral("plain")} + arguments);
        QVERIFY(process.waitForStarted(-1));
    }

    QStringList asking(const char* model, const char* words) const {
        return {QStringLiteral("--model"),
                m_models.filePath(QLatin1String(model)),
                QStringLiteral("--ask"),
                QLatin1String(words),
                // The others are quick where a text repeats itself.
                QStringLiteral("--decoder"),
                QStringLiteral("vanilla")};
    }

    /// Whether the answer to these words is being written to the disk, or was.
    bool hasAnswerBegun(const QString& words) const {
        const std::vector<Message> found = messages();
        for (const Message& each : found)
            if (each.text == words)
                return std::any_of(found.begin(), found.end(), [&](const Message& other) {
                    return other.chat == each.chat && other.role == QLatin1String("assistant") &&
                           !other.text.isEmpty();
                });
        return false;
    }

    /// The file may be locked by the program at work on it: a copy is read.
    std::vector<Message> messages() const {
        std::vector<Message> found;
        const QTemporaryDir copies;
        const QString copy = copies.filePath(QStringLiteral("chats.sqlite"));
        const QString chats = path("data/swift-studio/chats.sqlite");
        QFile::copy(chats + QStringLiteral("-wal"), copy + QStringLiteral("-wal"));
        if (!QFile::copy(chats, copy))
            return found;
        const QString name = QStringLiteral("outside");
        {
            QSqlDatabase file = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), name);
            file.setDatabaseName(copy);
            if (file.open()) {
                QSqlQuery query(
                    QStringLiteral("SELECT role, state, text, chat FROM messages ORDER BY id"),
                    file);
                while (query.next())
                    found.push_back({query.value(0).toString(),
                                     query.value(1).toString(),
                                     query.value(2).toString(),
                                     query.value(3).toLongLong()});
            }
        }
        QSqlDatabase::removeDatabase(name);
        return found;
    }

private slots:

    void initTestCase() {
        writeLetterModel(m_models.filePath(QStringLiteral("letters")), 3);
        writeSlowLetterModel(m_models.filePath(QStringLiteral("slow")));
    }

    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        allowLongAnswers(settingsPath());
    }

    void aRecipeThatIsOpenedAsAFileIsKeptAmongTheOwnOnes() {
        const QString shipped = QStringLiteral("resources/recipes/ablation.json");
        for (const char* name : {"mine.swiftexp", "later one.swiftexp"})
            QVERIFY(QFile::copy(shipped, path(name)));
        const QString own = path("data/swift-studio/experiments/recipes/");
        QProcess first;
        start(first, {path("mine.swiftexp")});
        QTRY_VERIFY(QFile::exists(own + QStringLiteral("mine.swiftexp")));
        QProcess second; // while the window is open
        start(second, {path("later one.swiftexp")});
        QVERIFY(second.waitForFinished(-1));
        QCOMPARE(second.exitCode(), 0);
        QCOMPARE(second.readAllStandardError(), QByteArray());
        QTRY_VERIFY(QFile::exists(own + QStringLiteral("later one.swiftexp")));
        first.kill();
        first.waitForFinished(-1);
    }

    void aRecordingBesideOtherFilesIsRefused() {
        QProcess window;
        start(window, {QStringLiteral("a.swiftrun"), QStringLiteral("b.swiftexp")});
        QVERIFY(window.waitForFinished(-1));
        QVERIFY(window.exitCode() != 0);
        const QByteArray errors = window.readAllStandardError();
        QCOMPARE(errors.count('\n'), 1);
        QVERIFY2(errors.contains("window of its own"), errors.constData());
    }

    void aSecondStartHandsOverToTheFirst() {
        QProcess first;
        start(first, asking("letters", "abc ab"));
        QTRY_VERIFY(hasAnswerBegun(QStringLiteral("abc ab")));
        QProcess second;
        start(second, {QStringLiteral("--ask"), QStringLiteral("cab")});
        QVERIFY(second.waitForFinished(-1));
        QCOMPARE(second.exitStatus(), QProcess::NormalExit);
        QCOMPARE(second.exitCode(), 0);
        QCOMPARE(second.readAllStandardError(), QByteArray());
        QTRY_VERIFY(hasAnswerBegun(QStringLiteral("cab")));
        const std::vector<Message> kept = messages();
        QVERIFY(kept.at(0).chat != kept.at(2).chat);
        QCOMPARE(first.state(), QProcess::Running);
        kill(static_cast<pid_t>(first.processId()), SIGTERM);
        QVERIFY(first.waitForFinished(-1));
    }

    void aWindowThatWasKilledStandsInNobodysWayAndALogoutSavesTheAnswer() {
        const auto isOpen = [this] {
            return QSettings(settingsPath(), QSettings::IniFormat)
                .value(QStringLiteral("session/open"))
                .toBool();
        };
        QProcess killed;
        start(killed, asking("slow", "abc ab"));
        QTRY_VERIFY(hasAnswerBegun(QStringLiteral("abc ab")));
        killed.kill();
        QVERIFY(killed.waitForFinished(-1));
        QProcess window;
        start(window, asking("slow", "cab"));
        QTRY_VERIFY(hasAnswerBegun(QStringLiteral("cab")));
        QVERIFY(isOpen());
        kill(static_cast<pid_t>(window.processId()), SIGTERM);
        QVERIFY(window.waitForFinished(-1));
        QCOMPARE(window.exitStatus(), QProcess::NormalExit);
        QCOMPARE(window.exitCode(), 0);
        QVERIFY(!isOpen());
        const std::vector<Message> kept = messages();
        QCOMPARE(kept.size(), std::size_t{4});
        QCOMPARE(kept[3].state, QStringLiteral("stopped"));
        QVERIFY(!kept[3].text.isEmpty());
    }
};

QTEST_GUILESS_MAIN(StudioInstanceTest)
#include "studio_instance_test.moc"
