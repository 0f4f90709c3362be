// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/store/store_fixture.h"

#include <QFileInfo>
#include <QMap>
#include <QProcess>
#include <QRandomGenerator>
#include <QTemporaryDir>

using namespace ui;

/// What was acknowledged is there after SIGKILL, which no program can answer.
class StoreKillTest : public QObject {
    Q_OBJECT

private:
    QMap<MessageId, qint64> m_acknowledged; ///< tokens of each message, by all runs together
    int m_recoveredCount = 0;

    // Whole lines only: the last one may have been cut by the end of the program, and then nobody
    // was told.
    void readAcknowledgements(const QByteArray& output) {
        for (const QByteArray& line : output.first(output.lastIndexOf('\n') + 1).split('\n')) {
            const QList<QByteArray> words = line.split(' ');
            if (words.size() == 2)
                m_acknowledged[words[0].toLongLong()] = words[1].toLongLong();
        }
    }

    void streamAndKill(const QString& path, int acknowledgementsBeforeKill) {
        QProcess streamer;
        streamer.setProcessChannelMode(QProcess::ForwardedErrorChannel);
        QByteArray output;
        connect(&streamer, &QProcess::readyReadStandardOutput, this, [&] {
            output += streamer.readAllStandardOutput();
        });
        streamer.start(QCoreApplication::applicationDirPath() + QStringLiteral("/chat_streamer"),
                       {path});
        QVERIFY(streamer.waitForStarted(-1));
        QTRY_VERIFY(output.count('\n') >= acknowledgementsBeforeKill);
        streamer.kill();
        QVERIFY(streamer.waitForFinished(-1));
        QCOMPARE(streamer.exitStatus(), QProcess::CrashExit);
        readAcknowledgements(output + streamer.readAllStandardOutput());
    }

    /// One call of a kind fails; the program ends itself when its store tells so.
    void streamWithFault(const QString& path, const QString& kind, int at) {
        QProcess streamer;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("LD_PRELOAD"),
                           QFileInfo(QStringLiteral(TEST_FAULT_SHIM)).absoluteFilePath());
        environment.insert(QStringLiteral("SWIFT_FAULT_KIND"), kind);
        environment.insert(QStringLiteral("SWIFT_FAULT_AT"), QString::number(at));
        streamer.setProcessEnvironment(environment);
        streamer.start(QCoreApplication::applicationDirPath() + QStringLiteral("/chat_streamer"),
                       {path});
        QByteArray output;
        while (output.count('\n') < 12 && streamer.waitForReadyRead(-1))
            output += streamer.readAllStandardOutput();
        streamer.kill();
        streamer.waitForFinished(-1);
        readAcknowledgements(output + streamer.readAllStandardOutput());
    }

    void verifyFile(const QString& path) {
        ChatStore store({path, 4, 10});
        QSignalSpy faulted(&store, &ChatStore::faulted);
        QSignalSpy recovered(&store, &ChatStore::recovered);
        store.open();
        QMap<MessageId, StoredMessage> found;
        for (const ChatRecord& chat : chatsOf(store))
            for (const StoredMessage& message : chatOf(store, chat.id).messages)
                found.insert(message.id, message);
        QCOMPARE(faulted.count(), 0);
        m_recoveredCount += static_cast<int>(recovered.count());
        for (auto told = m_acknowledged.cbegin(); told != m_acknowledged.cend(); ++told) {
            QVERIFY2(found.contains(told.key()), "an acknowledged message is lost");
            const StoredMessage& message = found[told.key()];
            QVERIFY(message.tokens.size() >= told.value());
            QVERIFY(message.state != MessageState::Streaming);
            verifyTokens(message);
        }
    }

    static void verifyTokens(const StoredMessage& message) {
        if (message.role == MessageRole::User)
            return;
        const StoredMessage expected = answerOfTokens(
            message.chatId, message.parentId, static_cast<int>(message.tokens.size()));
        QCOMPARE(message.text, expected.text);
        QVERIFY(message.isTraced);
        for (qsizetype i = 0; i < expected.tokens.size(); ++i) {
            QCOMPARE(message.tokens[i].id, expected.tokens[i].id);
            QCOMPARE(message.tokens[i].end, expected.tokens[i].end);
        }
    }

private slots:

    void init() {
        m_acknowledged.clear();
        m_recoveredCount = 0;
    }

    void noAcknowledgedTokenIsLostByACallThatFails_data() {
        QTest::addColumn<QString>("kind");
        for (const char* kind : {"write", "flush", "read", "open", "alloc"})
            QTest::newRow(kind) << QString::fromLatin1(kind);
    }

    void noAcknowledgedTokenIsLostByACallThatFails() {
        if (QByteArray(TEST_FAULT_SHIM).isEmpty())
            QSKIP("The sanitizers leave no room for the library that lets calls fail.");
        QFETCH(const QString, kind);
        const bool isFull = qEnvironmentVariable("SWIFT_STUDIO_FULL_FAULTS") == QStringLiteral("1");
        QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("chats.sqlite"));
        streamAndKill(path, 12);
        const int most = kind == QStringLiteral("alloc") ? 40'000 : 200; // until 12 are told
        for (int at = 1; at <= most; at += isFull ? 1 : 1 + at) {
            streamWithFault(path, kind, at);
            verifyFile(path);
            if (QTest::currentTestFailed()) {
                qWarning("%s %d", qPrintable(kind), at);
                return;
            }
        }
    }

    void noAcknowledgedTokenIsLostBySigkill() {
        const bool isFull = qEnvironmentVariableIsSet("SWIFT_STUDIO_FULL_KILLS");
        const int killCount = isFull ? 50 : 10;
        QTemporaryDir folder;
        const QString path = folder.filePath(QStringLiteral("chats.sqlite"));
        QRandomGenerator random(7);
        for (int kill = 0; kill < killCount; ++kill) {
            streamAndKill(path, random.bounded(1, 60));
            verifyFile(path);
            if (QTest::currentTestFailed())
                return;
        }
        qInfo("%d kills, %lld acknowledged messages, all there; %d partial answers recovered",
              killCount,
              static_cast<long long>(m_acknowledged.size()),
              m_recoveredCount);
        QVERIFY(m_acknowledged.size() > killCount);
        // Most kills hit an answer in the making.
        QVERIFY(m_recoveredCount > killCount / 2);
    }
};

QTEST_MAIN(StoreKillTest)
#include "store_kill_test.moc"
