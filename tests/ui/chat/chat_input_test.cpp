// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/file_content.h"
#include "tests/ui/support/chat_fixture.h"
#include "ui/chat/attachment_file.h"
#include "ui/chat/prompt_list.h"
#include "ui/chat/token_counter.h"

#include <QDir>
#include <QSignalSpy>
#include <QTest>

#include <sys/stat.h>

using namespace engine;
using namespace support;
using namespace ui;

/// What goes to the model beside typed words: system prompts, limits, files, drafts, prompts.
class ChatInputTest : public QObject {
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<ChatFixture> m_chat;

    ChatSession& session() { return *m_chat->session; }

    const SubmitPrompt& prompt() { return *m_chat->engine->lastSent<SubmitPrompt>(); }

    QString file(const char* name, const QByteArray& content) const {
        return support::writeFile(m_folder->filePath(QString::fromUtf8(name)), content);
    }

    void restart() {
        m_chat.reset();
        m_chat = std::make_unique<ChatFixture>(m_folder->path());
    }

private slots:

    void init() {
        m_chat.reset();
        m_folder = std::make_unique<QTemporaryDir>();
        m_chat = std::make_unique<ChatFixture>(m_folder->path());
    }

    void theNearestSettingHolds() {
        m_chat->loadModel();
        session().setSettingsAt(SettingsPlace::Everywhere,
                                {QStringLiteral("all"), 100, QStringList{QStringLiteral("END")}});
        QCOMPARE(session().settings().systemPrompt, QStringLiteral("all"));
        session().setSettingsAt(SettingsPlace::Model, {QStringLiteral("model"), 50, {}});
        QCOMPARE(session().settings().systemPrompt, QStringLiteral("model"));
        QVERIFY(session().settings().systemPromptPlace == SettingsPlace::Model);
        session().setSettingsAt(SettingsPlace::Chat, {QStringLiteral("chat"), {}, {}});
        session().send(QStringLiteral("hello"));
        m_chat->count();
        QCOMPARE(prompt().messages[0].role, std::string("system"));
        QCOMPARE(prompt().messages[0].content, std::string("chat"));
        QCOMPARE(prompt().maxTokens, 50);
        QCOMPARE(prompt().stopStrings, std::vector<std::string>{"END"});
        m_chat->answer();
        // None at all is a choice, too.
        session().setSettingsAt(SettingsPlace::Chat, {QString(), {}, {}});
        session().send(QStringLiteral("again"));
        m_chat->count();
        QCOMPARE(prompt().messages[0].role, std::string("user"));
        m_chat->answer();
        session().setSettingsAt(SettingsPlace::Chat, {});
        QCOMPARE(session().settings().systemPrompt, QStringLiteral("model"));
    }

    void settingsOutliveARestart() {
        m_chat->loadModel();
        session().send(QStringLiteral("hello"));
        m_chat->count();
        m_chat->answer();
        const ChatId chat = session().chat().record.id;
        session().setSettingsAt(SettingsPlace::Model, {QStringLiteral("model"), 50, {}});
        session().setSettingsAt(SettingsPlace::Chat,
                                {{}, 7, QStringList{QStringLiteral("a\n"), QStringLiteral("b")}});
        restart();
        m_chat->loadModel();
        session().openChat(chat);
        QTRY_COMPARE(session().chat().record.id, chat);
        const ResolvedAnswerSettings settings = session().settings();
        QCOMPARE(settings.systemPrompt, QStringLiteral("model"));
        QCOMPARE(settings.maxTokens, 7);
        QCOMPARE(settings.stopStrings, (QStringList{QStringLiteral("a\n"), QStringLiteral("b")}));
    }

    void whatIsSetForAChatThatHasNotBegunWaitsForIt() {
        m_chat->loadModel();
        session().send(QStringLiteral("hello"));
        m_chat->count();
        m_chat->answer();
        const ChatId other = session().chat().record.id;
        session().newChat();
        session().setNewFolder(QStringLiteral("Thesis"));
        session().setSettingsAt(SettingsPlace::Chat, {QStringLiteral("Be brief."), 7, {}});
        for (const bool isLeft : {false, true}) {
            if (isLeft) {
                session().openChat(other);
                QTRY_COMPARE(session().chat().record.id, other);
                QVERIFY(session().settings().systemPrompt.isEmpty());
            }
            session().newChat();
            QCOMPARE(session().settings().systemPrompt, QStringLiteral("Be brief."));
            QCOMPARE(session().settings().maxTokens, 7);
            QCOMPARE(session().chat().record.folder, QStringLiteral("Thesis"));
        }
        session().send(QStringLiteral("hello"));
        m_chat->count();
        m_chat->answer();
        session().newChat(); // the one behind it has none of that
        QVERIFY(session().settings().systemPrompt.isEmpty());
        QVERIFY(session().settings().maxTokens != 7);
        QCOMPARE(session().chat().record.folder, QString());
    }

    void whatIsSetForAChatThatHasNotBegunOutlivesARestart() {
        const AnswerSettings set{QStringLiteral("Be brief."), 7, {}};
        session().setSettingsAt(SettingsPlace::Chat, set);
        restart();
        QTRY_COMPARE(session().settingsAt(SettingsPlace::Chat), set);
        session().beginOwnChat(QStringLiteral("a lesson's")); // which begins another one
        QVERIFY(session().settingsAt(SettingsPlace::Chat).isEmpty());
        QCOMPARE(m_chat->defaults.ofNewChat(), set);
        m_chat->loadModel();
        session().newChat();
        session().send(QStringLiteral("hello"));
        m_chat->count();
        QCOMPARE(prompt().messages[0].content, std::string("Be brief."));
        QVERIFY(m_chat->defaults.ofNewChat().isEmpty()); // it has begun
    }

    void theFolderOfAChatThatHasNotBegunOutlivesARestart() {
        session().newChat();
        session().setNewFolder(QStringLiteral("Thesis"));
        restart();
        QTRY_COMPARE(session().chat().record.folder, QStringLiteral("Thesis"));
        session().followFolder(QStringLiteral("Thesis"), QStringLiteral("Work")); // renamed
        session().beginOwnChat(QStringLiteral("a lesson's")); // which is in no folder
        QCOMPARE(session().chat().record.folder, QString());
        restart();
        QTRY_COMPARE(session().chat().record.folder, QStringLiteral("Work"));
        m_chat->loadModel();
        session().send(QStringLiteral("hello"));
        m_chat->count();
        QCOMPARE(session().chat().record.folder, QStringLiteral("Work"));
        QCOMPARE(m_chat->defaults.folderOfNewChat(), QString()); // it has begun
    }

    void wordsThatCannotBeSentNowComeBack() {
        m_chat->loadModel();
        m_chat->engine->say(promptStarted(kFirstHiddenPrompt));
        m_chat->bridge->tick();
        QSignalSpy returned(&session(), &ChatSession::draftReturned);
        session().send(QStringLiteral("hello"));
        QCOMPARE(returned.count(), 1);
        QCOMPARE(returned.first().first().toString(), QStringLiteral("hello"));
        QVERIFY(session().branch().isEmpty());
    }

    void aCountThatComesLateIsNotTheNextChats() {
        m_chat->loadModel();
        session().setDraft({QStringLiteral("hello"), {}});
        session().countDraft();
        session().send(QStringLiteral("hello"));
        session().newChat();
        session().setDraft({});
        QSignalSpy counted(&session(), &ChatSession::promptCounted);
        session().countDraft();
        QCOMPARE(counted.takeFirst().first().toInt(), 0);
        const auto* asked = m_chat->engine->lastSent<CountTokens>();
        m_chat->engine->say(TokensCounted{asked->requestId, 10, {10}, 1000});
        m_chat->bridge->tick();
        QCOMPARE(counted.count(), 0);
    }

    void aSystemPromptLongerThanTheContextIsOneSentenceAndTheWordsComeBack() {
        m_chat->loadModel(600);
        session().setSettingsAt(SettingsPlace::Chat, {QStringLiteral("much"), {}, {}});
        QSignalSpy failed(&session(), &ChatSession::failed);
        QSignalSpy returned(&session(), &ChatSession::draftReturned);
        session().send(QStringLiteral("hello"));
        m_chat->count(700);
        QCOMPARE(failed.count(), 1);
        QVERIFY(failed.first().first().toString().contains(QStringLiteral("700")));
        QCOMPARE(returned.first().first().toString(), QStringLiteral("hello"));
        QVERIFY(session().branch().isEmpty());
        QVERIFY(session().contextQuestion() == nullptr);
        QCOMPARE(session().obstacle(QStringLiteral("hello")), SendObstacle::None);
        QCOMPARE(session().settings().systemPrompt, QStringLiteral("much"));
    }

    void modelDefaultsKeepEverythingAndAreFoundByPath() {
        ModelDefaults defaults;
        defaults.answers.systemPrompt = QStringLiteral("Be brief.");
        defaults.sampling = SamplingOptions();
        defaults.sampling->temperature = 0.3;
        defaults.sampling->topK = 7;
        defaults.decoder = "swift";
        defaults.decoderSettings = {{"r", 0.25}, {"start", std::string("uniform")}};
        const QString path = QStringLiteral("/models/a b/tiny%20.gguf");
        m_chat->defaults.setOfModel(path, defaults);
        QSettings settings(m_folder->filePath(QStringLiteral("studio.ini")), QSettings::IniFormat);
        m_chat->settings.sync();
        settings.sync();
        const ModelDefaults read = AnswerDefaults(settings).ofModel(path);
        QCOMPARE(read.answers, defaults.answers);
        QCOMPARE(*read.sampling, *defaults.sampling);
        QCOMPARE(read.decoder, defaults.decoder);
        QVERIFY(read.decoderSettings == defaults.decoderSettings);
        QVERIFY(m_chat->defaults.ofModel(QStringLiteral("/models/other")).isEmpty());
        m_chat->defaults.setOfModel(path, {});
        QVERIFY(m_chat->defaults.ofModel(path).isEmpty());
    }

    void aModelThatWasMovedKeepsItsDefaults() {
        const QDir folder(m_folder->path());
        QVERIFY(folder.mkpath(QStringLiteral("old")) && folder.mkpath(QStringLiteral("new")));
        const QString before = folder.filePath(QStringLiteral("old/tiny.gguf"));
        const QString after = folder.filePath(QStringLiteral("new/tiny.gguf"));
        QFile model(before);
        QVERIFY(model.open(QIODevice::WriteOnly));
        ModelDefaults defaults;
        defaults.answers.systemPrompt = QStringLiteral("Be brief.");
        m_chat->defaults.setOfModel(before, defaults);
        QVERIFY(m_chat->defaults.ofModel(after).isEmpty()); // two models of one name
        QVERIFY(model.rename(after));
        QCOMPARE(m_chat->defaults.ofModel(after).answers, defaults.answers);
        QVERIFY(
            m_chat->defaults.ofModel(folder.filePath(QStringLiteral("new/other.gguf"))).isEmpty());
        m_chat->defaults.setOfModel(after, {});
        QVERIFY(m_chat->defaults.ofModel(after).isEmpty());
    }

    void aDraftBelongsToItsChatAndOutlivesARestart() {
        m_chat->loadModel();
        session().send(QStringLiteral("hello"));
        m_chat->count();
        m_chat->answer();
        const ChatId chat = session().chat().record.id;
        const ui::Draft inChat{QStringLiteral("to be sent"),
                               {{QStringLiteral("a.txt"), QStringLiteral("text"), 1}}};
        session().setDraft(inChat);
        session().newChat();
        QVERIFY(session().draft().isEmpty());
        session().setDraft({QStringLiteral("something new"), {}});
        session().openChat(chat);
        QTRY_COMPARE(session().draft(), inChat);
        session().newChat();
        QCOMPARE(session().draft().text, QStringLiteral("something new"));
        restart();
        QTRY_COMPARE(session().draft().text, QStringLiteral("something new"));
        session().openChat(chat);
        QTRY_COMPARE(session().draft(), inChat);
        session().setDraft({});
        restart();
        session().openChat(chat);
        QTRY_COMPARE(session().chat().record.id, chat);
        QVERIFY(session().draft().isEmpty());
    }

    void theDraftOfTheNewChatComesBackBehindAnotherChat() {
        m_chat->loadModel();
        session().send(QStringLiteral("hello"));
        m_chat->count();
        m_chat->answer();
        const ChatId chat = session().chat().record.id;
        session().newChat();
        session().setDraft({QStringLiteral("something new"), {}});
        restart();
        session().openChat(chat); // as a start of the window does
        QTRY_COMPARE(session().chat().record.id, chat);
        bool isRead = false; // the store answers in order
        m_chat->store->loadDraft(0, this, [&](const ui::Draft&) { isRead = true; });
        QTRY_VERIFY(isRead);
        QVERIFY(session().draft().isEmpty());
        session().newChat();
        QCOMPARE(session().draft().text, QStringLiteral("something new"));
    }

    void aDraftIsOnTheDiskWithoutBeingLeft() {
        session().setDraft({QStringLiteral("before a power cut"), {}});
        // What lies on the disk while the program still runs, as a kill would leave it.
        const QDir copy(m_folder->filePath(QStringLiteral("killed")));
        QString found;
        QTRY_VERIFY([&] {
            QDir(copy).removeRecursively();
            QDir().mkpath(copy.path());
            for (const char* name : {"chats.sqlite", "chats.sqlite-wal"})
                QFile::copy(m_folder->filePath(QLatin1String(name)),
                            copy.filePath(QLatin1String(name)));
            ChatFixture after(copy.path());
            QSignalSpy loaded(after.session.get(), &ChatSession::draftLoaded);
            QSignalSpy opened(after.store.get(), &ChatStore::opened);
            bool isAsked = false;
            after.store->loadDraft(0, this, [&](const ui::Draft& draft) {
                found = draft.text;
                isAsked = true;
            });
            [&] { QTRY_VERIFY(isAsked); }();
            return found == QStringLiteral("before a power cut");
        }());
    }

    void aMessageTakesItsFilesAlong() {
        m_chat->loadModel();
        const QList<Attachment> files{{QStringLiteral("a.txt"), QStringLiteral("first\n"), 2},
                                      {QStringLiteral("b.md"), QStringLiteral("has ``` in it"), 5}};
        session().send(QStringLiteral("Summarise."), files);
        m_chat->count();
        QCOMPARE(QString::fromStdString(prompt().messages.back().content),
                 QStringLiteral("Summarise.\n\na.txt:\n```\nfirst\n```\n\nb.md:\n````\n"
                                "has ``` in it\n````"));
        m_chat->answer();
        QCOMPARE(session().branch().first().text, QStringLiteral("Summarise."));
        session().edit(session().branch().first().id, QStringLiteral("Translate."));
        m_chat->count();
        QCOMPARE(session().branch().first().attachments, files);
        const ChatId chat = session().chat().record.id;
        restart();
        session().openChat(chat);
        QTRY_COMPARE(session().chat().record.id, chat);
        QCOMPARE(session().branch().first().attachments, files);
    }

    void anEditThatCannotBeSentNowComesBackWithItsFiles() {
        m_chat->loadModel();
        const QList<Attachment> files{{QStringLiteral("a.txt"), QStringLiteral("first\n"), 2}};
        session().send(QStringLiteral("Summarise."), files);
        m_chat->count();
        m_chat->answer();
        m_chat->engine->say(ModelUnloaded{});
        m_chat->bridge->tick();
        QSignalSpy returned(&session(), &ChatSession::draftReturned);
        session().edit(session().branch().first().id, QStringLiteral("Translate."));
        QCOMPARE(returned.count(), 1);
        QCOMPARE(returned.first().first().toString(), QStringLiteral("Translate."));
        QCOMPARE(returned.first().last().value<QList<Attachment>>(), files);
    }

    void filesAloneCanBeSent() {
        m_chat->loadModel();
        session().send(QString(), {{QStringLiteral("a.txt"), QStringLiteral("text"), 1}});
        m_chat->count();
        QCOMPARE(session().chat().record.title, QStringLiteral("a.txt"));
    }

    void aTextFileIsReadWhole() {
        const AttachmentFile read = readAttachment(file("ä b.txt", "\xEF\xBB\xBF√ 1\r\n2\t"));
        QCOMPARE(read.error, QString());
        QCOMPARE(read.attachment.name, QStringLiteral("ä b.txt"));
        QCOMPARE(read.attachment.text, QStringLiteral("√ 1\r\n2\t"));
    }

    void whatIsNoTextIsRefusedInOneSentence() {
        const QString pipe = m_folder->filePath(QStringLiteral("pipe"));
        QCOMPARE(mkfifo(QFile::encodeName(pipe).constData(), 0600), 0);
        QFile sparse(file("large.txt", ""));
        QVERIFY(sparse.resize(qint64(100) << 30)); // reading it would take all memory
        const QByteArray oneTooMuch(kMostAttachmentBytes + 1, 'a');
        for (const auto& [path, word] :
             {std::pair{file("a.png", QByteArray("\x89PNG\r\n\x1a\n\0\0", 10)), "as text"},
              {file("latin.txt", "caf\xe9"), "as text"},
              {file("empty.txt", " \n"), "empty"},
              {m_folder->filePath(QStringLiteral("missing")), "no file"},
              {m_folder->path(), "not a regular file"},
              {pipe, "not a regular file"},
              {QStringLiteral("/dev/zero"), "not a regular file"},
              {file("big.txt", oneTooMuch), "larger"},
              {sparse.fileName(), "larger"}}) {
            const AttachmentFile read = readAttachment(path);
            QVERIFY2(read.error.contains(QLatin1String(word)),
                     qPrintable(path + u' ' + read.error));
            QVERIFY(read.error.endsWith(u'.'));
            QVERIFY(read.attachment.text.isEmpty());
        }
        QVERIFY(readAttachment(file("most.txt", oneTooMuch.chopped(1))).error.isEmpty());
    }

    void whatIsNoTextIsRefusedWithItsLine() {
        for (const auto& [content, line] :
             {std::pair{QByteArray("one\ntwo\ncaf\xe9\nfour"), "(line 3)"},
              {QByteArray("one\ntwo\x01\ncaf\xe9"), "(line 2)"},
              {QByteArray("one\n\n\xef\xbf"), "(line 3)"}, // cut within a character
              {QByteArray("\xef\xbb\xbf\x7f"), "(line 1)"}}) {
            const AttachmentFile read = readAttachment(file("lines.txt", content));
            QVERIFY2(read.error.contains(QLatin1String(line)), qPrintable(read.error));
        }
    }

    void tokensOfAFileAreCountedByTheModel() {
        m_chat->loadModel();
        TokenCounter counter(*m_chat->bridge);
        int counted = 0;
        counter.count(QStringLiteral("some text"), [&](int tokens, int) { counted = tokens; });
        const auto* asked = m_chat->engine->lastSent<CountTokens>();
        QCOMPARE(asked->text, std::string("some text"));
        m_chat->engine->say(TokensCounted{asked->requestId + 1, 99, {}, 1000});
        m_chat->engine->say(TokensCounted{asked->requestId, 3, {}, 1000});
        m_chat->bridge->tick();
        QCOMPARE(counted, 3);
    }

    void promptsAreKeptByTitle() {
        const QString path = m_folder->filePath(QStringLiteral("new/prompts.json"));
        const SavedPrompt second{QStringLiteral("Summarise"), QStringLiteral("In one line:\n√")};
        {
            PromptList list(path);
            QCOMPARE(list.add(second), QString());
            QCOMPARE(list.add({{}, QStringLiteral("Correct  my\nspelling")}), QString());
            QCOMPARE(list.prompts().first().title, QStringLiteral("Correct my spelling"));
        }
        PromptList list(path);
        QCOMPARE(list.prompts().size(), 2);
        QCOMPARE(list.prompts().last(), second);
        QCOMPARE(list.replace(second, {QStringLiteral("A"), QStringLiteral("b")}), QString());
        QCOMPARE(list.prompts().first().title, QStringLiteral("A"));
        QCOMPARE(list.remove(list.prompts().first()), QString());
        QCOMPARE(PromptList(path).prompts().size(), 1);
    }

    void aDamagedListOfPromptsIsSetAside() {
        const QString path = file("prompts.json", "{\n\"format\": \"swift-studio-pro");
        PromptList list(path);
        QVERIFY(list.problem().contains(QStringLiteral("prompts.json.damaged-")));
        QVERIFY2(list.problem().contains(QStringLiteral("(line 2: ")), qPrintable(list.problem()));
        QVERIFY(!QFileInfo::exists(path));
        QCOMPARE(m_folder->path().isEmpty(), false);
        QCOMPARE(QDir(m_folder->path()).entryList({QStringLiteral("*.damaged-*")}).size(), 1);
        QCOMPARE(list.add({{}, QStringLiteral("new")}), QString());
        QVERIFY(PromptList(file("other.json", "{}"))
                    .problem()
                    .contains(QStringLiteral("(it holds something else)")));
    }

    void promptsThatCannotBeWrittenAreNotKeptHalf() {
        PromptList list(file("a file", "in the way") + QStringLiteral("/prompts.json"));
        QVERIFY(!list.add({{}, QStringLiteral("text")}).isEmpty());
        QVERIFY(list.prompts().isEmpty());
    }
};

QTEST_GUILESS_MAIN(ChatInputTest)
#include "chat_input_test.moc"
