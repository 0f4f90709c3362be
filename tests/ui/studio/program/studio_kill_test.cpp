// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/studio/letter_model.h"
#include "tests/ui/support/scripted_link.h"
#include "ui/studio/studio.h"
#include "ui/views/chat/chat_view.h"
#include "ui/views/chat/messages/conversation_view.h"

#include <QFile>
#include <QFileInfo>
#include <QProcess>
#include <QRandomGenerator>
#include <QSqlDatabase>
#include <QSqlQuery>
#include <QTemporaryDir>
#include <QTest>

#include <map>
#include <memory>
#include <vector>

using namespace support;
using namespace ui;

namespace {

/// What a reader outside the program finds committed.
struct CommittedMessage {
    QString role;
    QString state;
    QString text;
};

using CommittedMessages = std::map<MessageId, CommittedMessage>;

/// One user's files, and the program at work on them.
struct Home {
    QString folder;
    CommittedMessages committed; ///< by all its runs so far
    QProcess process;
    MessageId before = 0;       ///< the last message of its earlier runs
    qsizetype killAtLength = 0; ///< of the answer, characters on the disk
    bool isKilled = false;

    QString chats() const { return folder + QStringLiteral("/data/swift-studio/chats.sqlite"); }

    QString settings() const {
        return folder + QStringLiteral("/config/swift-studio/swift-studio.ini");
    }
};

} // namespace

/// swift-studio itself dies by SIGKILL in the middle of an answer; what an outside reader had seen
/// committed is there at the next start.
class StudioKillTest : public QObject {
    Q_OBJECT

    static constexpr int kAtATime = 4;

    QTemporaryDir m_folder;
    QRandomGenerator m_random{7};
    int m_partialAnswers = 0;

    QString model() const { return m_folder.filePath(QStringLiteral("letters")); }

    void start(Home& home) const {
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("QT_QPA_PLATFORM"), QStringLiteral("offscreen"));
        environment.insert(QStringLiteral("XDG_DATA_HOME"), home.folder + QStringLiteral("/data"));
        environment.insert(QStringLiteral("XDG_CONFIG_HOME"),
                           home.folder + QStringLiteral("/config"));
        environment.insert(QStringLiteral("SWIFT_STUDIO_DATA"),
                           home.folder + QStringLiteral("/memory"));
        home.isKilled = false;
        home.before = home.committed.empty() ? 0 : home.committed.rbegin()->first;
        home.process.setProcessEnvironment(environment);
        home.process.start(
            QFileInfo(QStringLiteral(SWIFT_STUDIO_BIN_DIR "/swift-studio")).absoluteFilePath(),
            {QStringLiteral("--model"),
             model(),
             QStringLiteral("--backend"),
             QStringLiteral("plain"),
             QStringLiteral("--decoder"),
             QStringLiteral("vanilla"),
             QStringLiteral("--ask"),
             QStringLiteral("abc ab")});
        QVERIFY(home.process.waitForStarted(-1));
    }

    /// Reads the file of a program that is at work on it and has locked it: a copy, as the next
    /// start would find it if the program died now.
    static CommittedMessages readCommitted(const Home& home) {
        CommittedMessages found;
        const QTemporaryDir copies;
        const QString copy = copies.filePath(QStringLiteral("chats.sqlite"));
        const QString log = QStringLiteral("-wal");
        if (!QFile::copy(home.chats() + log, copy + log) || !QFile::copy(home.chats(), copy))
            return found;
        const QString name = QStringLiteral("outside");
        {
            QSqlDatabase file = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), name);
            file.setDatabaseName(copy);
            if (file.open()) {
                QSqlQuery query(QStringLiteral("SELECT id, role, state, text FROM messages"), file);
                while (query.next())
                    found[query.value(0).toLongLong()] = {query.value(1).toString(),
                                                          query.value(2).toString(),
                                                          query.value(3).toString()};
            }
        }
        QSqlDatabase::removeDatabase(name);
        return found;
    }

    /// Kills it once as much of the answer is on the disk as was drawn for this time.
    static void killInTheMiddle(Home& home) {
        const CommittedMessages now = readCommitted(home);
        const bool isReached = std::any_of(now.begin(), now.end(), [&](const auto& message) {
            return message.first > home.before &&
                   message.second.state == QLatin1String("streaming") &&
                   message.second.text.size() >= home.killAtLength;
        });
        // What was once committed counts, whichever run of the program this is.
        for (const auto& [id, message] : now)
            if (CommittedMessage& known = home.committed[id];
                message.text.size() >= known.text.size())
                known = message;
        if (!isReached)
            return;
        home.process.kill();
        home.isKilled = home.process.waitForFinished(-1);
    }

    /// The next start, with an engine that only listens.
    void verifyNextStart(Home& home) {
        auto link = std::make_unique<ScriptedLink>();
        ScriptedLink* engine = link.get();
        StudioOptions options;
        options.chatsPath = home.chats();
        options.settingsPath = home.settings();
        options.modelPath = model();
        Studio studio(std::move(link), options);
        const auto notice = [&](const char* id) -> const Notice* {
            for (const Notice* shown : studio.window().messages().notices())
                if (shown->id == QLatin1String(id))
                    return shown;
            return nullptr;
        };
        studio.window().show();
        studio.start();
        QTRY_VERIFY(notice("ended_badly") != nullptr);
        QTRY_VERIFY(notice("recovered") != nullptr);
        QVERIFY2(engine->lastSent<engine::LoadModel>() == nullptr,
                 "the model was loaded by itself");
        QCOMPARE(notice("recovered")->headline,
                 QStringLiteral("An answer was interrupted when the program ended."));
        notice("recovered")->choices.front().act();
        QTRY_VERIFY(studio.session().branch().size() == 2);
        const StoredMessage answer = studio.session().branch().last();
        QCOMPARE(answer.state, MessageState::Recovered);
        QVERIFY(answer.text.startsWith(home.committed[answer.id].text));
        MessageCard* card = studio.chatView().conversation().card(answer.id);
        QVERIFY(card != nullptr);
        QCOMPARE(card->body().source(), answer.text);
        m_partialAnswers += answer.text.isEmpty() ? 0 : 1;
        verifyAllMessages(home, studio);
    }

    void verifyAllMessages(Home& home, Studio& studio) {
        std::optional<QList<ChatRecord>> chats;
        studio.chats().listChats(this, [&](QList<ChatRecord> found) { chats = found; });
        QTRY_VERIFY(chats.has_value());
        CommittedMessages found;
        for (const ChatRecord& record : *chats) {
            std::optional<Chat> chat;
            studio.chats().loadChat(
                record.id, this, [&](std::optional<Chat> loaded) { chat = loaded; });
            QTRY_VERIFY(chat.has_value());
            for (const StoredMessage& message : chat->messages)
                found[message.id] = {
                    roleName(message.role), stateName(message.state), message.text};
        }
        for (const auto& [id, message] : home.committed) {
            QVERIFY2(found.contains(id), "a committed message is lost");
            QCOMPARE(found[id].role, message.role);
            QVERIFY2(found[id].text.startsWith(message.text), "committed text is lost");
        }
    }

private slots:

    void initTestCase() { writeSlowLetterModel(model()); }

    void noCommittedTokenIsLostBySigkill() {
        const bool isFull = qEnvironmentVariableIsSet("SWIFT_STUDIO_FULL_KILLS");
        // Twice at least: what the first run had committed outlives the second one's end, too. By
        // default the next start behind the first end is that of the program itself.
        const int rounds = isFull ? 50 / kAtATime + 1 : 2;
        int starts = 0;
        std::vector<std::unique_ptr<Home>> homes;
        for (int i = 0; i < kAtATime; ++i) {
            homes.push_back(std::make_unique<Home>());
            homes.back()->folder = m_folder.filePath(QStringLiteral("home%1").arg(i));
            allowLongAnswers(homes.back()->settings());
        }
        for (int round = 0; round < rounds; ++round) {
            for (int i = 0; i < kAtATime; ++i) {
                // One in four dies as soon as its answer has begun.
                homes[i]->killAtLength = i == round % kAtATime ? 0 : 1 + m_random.bounded(60);
                start(*homes[i]);
            }
            const auto areAllKilled = [&] {
                for (const auto& home : homes)
                    if (!home->isKilled)
                        killInTheMiddle(*home);
                return std::all_of(
                    homes.begin(), homes.end(), [](const auto& home) { return home->isKilled; });
            };
            QTRY_VERIFY(areAllKilled());
            for (const auto& home : homes) {
                QCOMPARE(home->process.exitStatus(), QProcess::CrashExit);
                if (!isFull && round + 1 < rounds)
                    continue;
                ++starts;
                verifyNextStart(*home);
                if (QTest::currentTestFailed())
                    return;
            }
        }
        std::size_t messages = 0;
        for (const auto& home : homes)
            messages += home->committed.size();
        qInfo("%d kills, %zu committed messages, all there; %d partial answers shown",
              rounds * kAtATime,
              messages,
              m_partialAnswers);
        QVERIFY(starts >= kAtATime && m_partialAnswers >= starts / 2);
    }
};

QTEST_MAIN(StudioKillTest)
#include "studio_kill_test.moc"
