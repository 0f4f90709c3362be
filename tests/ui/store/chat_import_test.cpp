// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/store/store_fixture.h"
#include "ui/store/import/chat_import.h"
#include "ui/store/import/foreign_chat.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>

using namespace ui;

namespace {

const QString kData = QStringLiteral("tests/data/chats/");

/// All that an import gives, as one slice.
ImportSlice importOf(const QStringList& paths, int mostEntries = ChatImport::kMostEntries) {
    ChatImport import(paths, mostEntries);
    ImportSlice all;
    while (!all.isOver) {
        const ImportSlice slice = import.next();
        all.chats += slice.chats;
        all.problems += slice.problems;
        all.leftOut += slice.leftOut;
        all.bytesRead = slice.bytesRead;
        all.bytesTotal = slice.bytesTotal;
        all.isOver = slice.isOver;
    }
    return all;
}

QStringList textsOf(const QList<StoredMessage>& messages) {
    QStringList texts;
    for (const StoredMessage& message : messages)
        texts.append(message.text);
    return texts;
}

QByteArray shareGpt(const QByteArray& question) {
    return R"({"conversations":[{"from":"human","value":")" + question +
           R"("},{"from":"gpt","value":"yes"}]})";
}

} // namespace

class ChatImportTest : public QObject {
    Q_OBJECT

private:
    std::unique_ptr<QTemporaryDir> m_folder;

    QString write(const QString& name, const QByteArray& content) const {
        const QString path = m_folder->filePath(name);
        QDir().mkpath(QFileInfo(path).path());
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size())
            qFatal("%s cannot be written.", qPrintable(path));
        return path;
    }

private slots:

    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void ofALargeFolderItIsSaidThatOnlyTheFirstFilesWereLookedAt() {
        for (int i = 0; i < 3; ++i)
            write(QStringLiteral("chats/%1.json").arg(i), shareGpt("why?"));
        const QString folder = m_folder->filePath(QStringLiteral("chats"));
        QVERIFY(importOf({folder}, 3).problems.isEmpty());
        const ImportSlice cut = importOf({folder}, 2);
        QCOMPARE(cut.chats.size(), 2);
        QCOMPARE(cut.problems.size(), 1);
        QVERIFY2(cut.problems.first().contains(QStringLiteral("more than 2 files")),
                 qPrintable(cut.problems.first()));
    }

    void aConversationOfLmStudioComesWithItsVersionsAsBranches() {
        const ImportSlice slice = importOf({kData + QStringLiteral("lm_studio.conversation.json")});
        QCOMPARE(slice.chats.size(), 1);
        const Chat& chat = slice.chats.first();
        QCOMPARE(chat.record.title, QStringLiteral("A trip"));
        QCOMPARE(chat.record.systemPrompt, QStringLiteral("Be brief."));
        QCOMPARE(chat.record.createdMs, 1719410101010);
        QVERIFY(chat.record.isPinned);
        QCOMPARE(textsOf(chat.currentBranch()),
                 (QStringList{QStringLiteral("Where is Lisbon?"),
                              QStringLiteral("<think>No.</think>In Portugal."),
                              QStringLiteral("What is this?")}));
        QCOMPARE(chat.messages.size(), 4);
        QCOMPARE(chat.childrenOf(chat.currentBranch().first().id).size(), 2);
        QCOMPARE(chat.currentBranch()[1].figures.modelName, QStringLiteral("small-model"));
        QCOMPARE(slice.problems.size(), 1); // the picture
        QVERIFY(slice.problems.first().contains(QStringLiteral("A trip")));
        QVERIFY(slice.problems.first().contains(QStringLiteral("not text (once)")));
        QCOMPARE(slice.leftOut, 0);
    }

    void aThreadOfJanIsFoundByItsFolderOrByEitherOfItsFiles() {
        const QString folder = kData + QStringLiteral("jan_thread");
        for (const QString& path : {folder,
                                    folder + QStringLiteral("/thread.json"),
                                    folder + QStringLiteral("/messages.jsonl")}) {
            const ImportSlice slice = importOf({path});
            QCOMPARE(slice.problems, QStringList());
            QCOMPARE(slice.chats.size(), 1);
            const ChatRecord& record = slice.chats.first().record;
            QCOMPARE(record.title, QStringLiteral("Boats"));
            QCOMPARE(record.systemPrompt, QStringLiteral("You like the sea."));
            QCOMPARE(record.modelName, QStringLiteral("tiny"));
            QCOMPARE(record.createdMs, 1719410101000);
            QCOMPARE(record.updatedMs, 1719410201500);
            QCOMPARE(
                textsOf(slice.chats.first().currentBranch()),
                (QStringList{QStringLiteral("A name for a boat?"), QStringLiteral("Strömung.")}));
        }
    }

    void theExportOfOpenWebUiKeepsItsTreesAndLeavesOutWhatItMust() {
        const ImportSlice slice = importOf({kData + QStringLiteral("open_webui.json")});
        QCOMPARE(slice.chats.size(), 2);
        const Chat& tree = slice.chats.first();
        QVERIFY(tree.record.isArchived);
        QCOMPARE(tree.record.systemPrompt, QStringLiteral("Answer in one line."));
        QCOMPARE(tree.record.modelName, QStringLiteral("llama3:8b"));
        QCOMPARE(tree.record.updatedMs, 1719410301000);
        QCOMPARE(textsOf(tree.currentBranch()),
                 (QStringList{QStringLiteral("Name a tree."), QStringLiteral("Oak.")}));
        QCOMPARE(tree.messages.size(), 4);
        for (const StoredMessage& message : tree.messages)
            QVERIFY(message.parentId < message.id);
        QCOMPARE(textsOf(slice.chats.last().messages),
                 (QStringList{QStringLiteral("hi"), QStringLiteral("hello")}));
        QCOMPARE(slice.leftOut, 1);
        QCOMPARE(slice.problems.size(), 1);
        for (const char* part :
             {"Chat 2 of", "open_webui.json", "With a tool", "\"tool\"", "import"})
            QVERIFY2(slice.problems.first().contains(QLatin1String(part)), part);
    }

    void shareGptComesAsAListAndAsLines() {
        const ImportSlice list = importOf({kData + QStringLiteral("share_gpt.json")});
        QCOMPARE(list.chats.size(), 2);
        QCOMPARE(list.chats.first().record.systemPrompt, QStringLiteral("Be kind."));
        QCOMPARE(list.chats.first().record.title, QStringLiteral("Hello [there] {you}"));
        QCOMPARE(list.chats.first().messages.last().text, QStringLiteral("Hi \"friend\"."));
        QCOMPARE(list.leftOut, 2);
        QCOMPARE(list.problems.size(), 3);
        QVERIFY(
            list.problems[0].contains(QStringLiteral("message 1 is an answer without a question")));
        QVERIFY(list.problems[1].contains(QStringLiteral("one question had no answer")));
        QVERIFY(list.problems[2].contains(QStringLiteral("no messages")));
        const ImportSlice lines = importOf({kData + QStringLiteral("share_gpt.jsonl")});
        QCOMPARE(lines.chats.size(), 2);
        QCOMPARE(lines.problems, QStringList());
    }

    void aMissingAnswerIsAnEmptyOneInItsPlace() {
        const Chat chat = importOf({kData + QStringLiteral("share_gpt.json")}).chats.last();
        const QList<StoredMessage> branch = chat.currentBranch();
        QCOMPARE(textsOf(branch),
                 (QStringList{QStringLiteral("First?"),
                              QString(),
                              QStringLiteral("Second?"),
                              QStringLiteral("Both.")}));
        QCOMPARE(branch[1].role, MessageRole::Assistant);
        QCOMPARE(branch[1].state, MessageState::Stopped);
    }

    void ourOwnExportComesBackWithoutItsTokens() {
        StoredMessage question = userMessage(7, 0, QStringLiteral("√ or \U0001F600?"));
        question.id = 70;
        question.createdMs = 1719410101010;
        StoredMessage answer = answerOfTokens(7, 70, 6);
        answer.id = 71;
        answer.state = MessageState::Failed;
        answer.figures.decoderName = QStringLiteral("swift");
        answer.figures.speedup = 1.25;
        answer.figures.task = QStringLiteral("translation");
        answer.figures.taskLikeness = 0.83;
        answer.figures.seed = 0xFFFF'FFFF'FFFF'FFFFULL;
        StoredMessage other = answerOfTokens(7, 70, 1);
        other.id = 72;
        other.state = MessageState::Streaming;
        Chat chat;
        chat.record = titled(QStringLiteral("Own"));
        chat.record.leafId = 71;
        chat.record.createdMs = 1719410101000;
        chat.record.updatedMs = 1719410109000;
        chat.record.folder = QStringLiteral("Thesis");
        chat.record.isPinned = true;
        chat.record.settings.insert(QStringLiteral("r"), 0.45);
        chat.messages = {question, answer, other};
        const ImportSlice slice = importOf({write(QStringLiteral("own.json"), chatToJson(chat))});
        QCOMPARE(slice.problems, QStringList());
        QCOMPARE(slice.chats.size(), 1);
        const Chat& back = slice.chats.first();
        QCOMPARE(back.record.folder, QStringLiteral("Thesis"));
        QVERIFY(back.record.isPinned && !back.record.isArchived);
        QCOMPARE(back.record.updatedMs, chat.record.updatedMs);
        QCOMPARE(back.record.settings, chat.record.settings);
        QCOMPARE(back.messages[0].createdMs, question.createdMs);
        QCOMPARE(back.messages[0].text, question.text);
        QCOMPARE(back.record.leafId, back.messages[1].id);
        QCOMPARE(back.messages[1].state, MessageState::Failed);
        QVERIFY(back.messages[1].figures == answer.figures);
        // The model is told ids in place of the text, so those of a file are not believed.
        QVERIFY(back.messages[1].tokens.isEmpty());
        QCOMPARE(back.messages[2].state, MessageState::Recovered);
    }

    void whatIsWrongWithAFileIsSaidAndTheGoodChatsOfItCome_data() {
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<int>("chats");
        QTest::addColumn<int>("leftOut");
        QTest::addColumn<QString>("said");
        const QByteArray good = shareGpt("good");
        const auto row = [](const char* name,
                            const QByteArray& content,
                            int chats,
                            int leftOut,
                            const char* said) {
            QTest::newRow(name) << content << chats << leftOut << QString::fromUtf8(said);
        };
        row("empty", {}, 0, 0, "no chats in a known format");
        row("an empty list", "[]", 0, 0, "no chats in a known format");
        row("other JSON", R"({"a":1})", 0, 0, "no chats in a known format");
        row("other JSON among chats", '[' + good + R"(,{"a":1}])", 1, 1, "1 of the 2 entries");
        row("one of it", '[' + good + R"(,{"a":1}])", 1, 1, "is not a chat in a known format");
        row("no JSON", "Dear diary", 0, 0, "not valid JSON at byte 0");
        row("other JSON, then none", R"({"a":1} oops)", 0, 0, "Nothing of it was imported");
        row("a number behind", '[' + good + ", 5]", 1, 0, "Everything before it was imported");
        row("cut in a chat", '[' + good + ',' + good.chopped(9), 1, 0, "ends in the middle");
        row("cut behind a chat", '[' + good + ',', 1, 0, "ends in the middle");
        row("lists in lists", "[[" + good + "]]", 0, 0, "at byte 1");
        row("UTF-16", QByteArray("\xff\xfe{\0", 4), 0, 0, "UTF-16");
        row("a mark before", "\xef\xbb\xbf[" + good + "]", 1, 0, "");
        row("broken UTF-8", '[' + shareGpt("\xc3\x28") + ',' + good + ']', 1, 1, "not valid UTF-8");
        row("a bad member",
            '[' + QByteArray(R"({"conversations":[1,,2]})") + ',' + good + ']',
            1,
            1,
            "damaged near byte");
        row("too deep",
            '[' + QByteArray(R"({"conversations":)") + QByteArray(5000, '[') +
                QByteArray(5000, ']') + "}," + good + ']',
            1,
            1,
            "nested too deeply");
        row("wrong types",
            R"([{"conversations":[7,null,{"from":{},"value":[]}]}])",
            0,
            1,
            "role \"\"");
        row("no history", R"([{"chat":{"history":5}}])", 0, 1, "no messages");
        row("a parent that is not there",
            R"([{"chat":{"history":{"messages":{"a":{"role":"user","content":"x","parentId":"z"}}}}}])",
            0,
            1,
            "reply to a message that is not in the file");
        row("a ring of messages",
            R"([{"chat":{"history":{"messages":{"a":{"role":"user","parentId":"b"},)"
            R"("b":{"role":"assistant","parentId":"a"}}}}}])",
            0,
            1,
            "reply to a message that is not in the file");
        row("a system prompt in the middle",
            R"([{"conversations":[{"from":"human","value":"a"},{"from":"system","value":"b"}]}])",
            0,
            1,
            "system prompt in the middle");
    }

    void whatIsWrongWithAFileIsSaidAndTheGoodChatsOfItCome() {
        QFETCH(QByteArray, content);
        QFETCH(int, chats);
        QFETCH(int, leftOut);
        QFETCH(QString, said);
        const QString path = write(QStringLiteral("some.json"), content);
        const ImportSlice slice = importOf({path});
        QCOMPARE(slice.chats.size(), chats);
        QCOMPARE(slice.leftOut, leftOut);
        QCOMPARE(slice.problems.size(), said.isEmpty() ? 0 : 1);
        for (const QString& sentence : slice.problems) {
            QVERIFY2(sentence.contains(said), qPrintable(sentence));
            QVERIFY2(sentence.contains(path), qPrintable(sentence));
            QVERIFY2(sentence.endsWith(u'.'), qPrintable(sentence));
        }
        QCOMPARE(slice.bytesRead, slice.bytesTotal == 0 ? 0 : content.size());
        QFile file(path);
        QVERIFY(file.open(QIODevice::ReadOnly));
        QCOMPARE(file.readAll(), content);
    }

    void whatIsNoChatIsToldAlsoInFrontOfAFault() {
        const QString path =
            write(QStringLiteral("some.json"), '[' + shareGpt("good") + R"(,{"a":1}, 5])");
        const ImportSlice slice = importOf({path});
        QCOMPARE(slice.chats.size(), 1);
        QCOMPARE(slice.leftOut, 1);
        QCOMPARE(slice.problems.size(), 2);
        QVERIFY(slice.problems[0].contains(QStringLiteral("Everything before it was imported")));
        QVERIFY(slice.problems[1].contains(QStringLiteral("1 of the 2 entries")));
    }

    void aThreadWhoseOwnFileCannotBeReadIsLeftOut() {
        QDir().mkpath(m_folder->filePath(QStringLiteral("t/thread.json"))); // a folder
        const QString lines =
            write(QStringLiteral("t/messages.jsonl"), R"({"role":"user","content":"a"})");
        const ImportSlice slice = importOf({lines});
        QCOMPARE(slice.chats.size(), 0);
        QCOMPARE(slice.leftOut, 1);
        QCOMPARE(slice.problems.size(), 1);
        QVERIFY(slice.problems.first().contains(QStringLiteral("thread.json cannot be read")));
    }

    void namesAreShortAndInOneLine() {
        ForeignChat foreign;
        foreign.record.title = QStringLiteral("A title\nof many words ").repeated(10'000);
        foreign.record.folder = QStringLiteral(" Thesis\n");
        ForeignTurn& turn = addTurn(foreign, {});
        turn.role = QStringLiteral("user");
        turn.message.text = QString(59, u'x') + QStringLiteral("\U0001F600 and more");
        const ImportedChat imported = chatOf(foreign);
        QVERIFY(imported.chat.has_value());
        QVERIFY(imported.chat->record.title.size() <= 200);
        QVERIFY(imported.chat->record.title.startsWith(QStringLiteral("A title of many")));
        QCOMPARE(imported.chat->record.folder, QStringLiteral("Thesis"));
        foreign.record.title.clear();
        QCOMPARE(chatOf(foreign).chat->record.title, QString(59, u'x'));
    }

    void aThreadWithABrokenLineIsLeftOutWhole() {
        write(QStringLiteral("t/thread.json"), R"({"title":"Boats"})");
        write(QStringLiteral("t/messages.jsonl"),
              R"({"role":"user","content":"a"})"
              "\n{\"role\":\"assistant\" \"content\":1}\n");
        const ImportSlice slice = importOf({m_folder->filePath(QStringLiteral("t"))});
        QCOMPARE(slice.chats.size(), 0);
        QCOMPARE(slice.leftOut, 1);
        QCOMPARE(slice.problems.size(), 1);
        QVERIFY(slice.problems.first().contains(QStringLiteral("Boats")));
    }

    void aTreeAHundredThousandLevelsDeepIsImported() {
        ForeignChat foreign;
        QString before;
        for (int i = 0; i < 100'000; ++i) {
            ForeignTurn& turn = addTurn(foreign, before);
            turn.role = i % 2 == 0 ? QStringLiteral("user") : QStringLiteral("assistant");
            before = turn.id;
        }
        const ImportedChat imported = chatOf(foreign);
        QVERIFY(imported.chat.has_value());
        QCOMPARE(imported.chat->currentBranch().size(), 100'000);
    }

    void aFolderGivesAllChatsBelowIt() {
        write(QStringLiteral("a/one.json"), shareGpt("one"));
        write(QStringLiteral("a/b/two.jsonl"), shareGpt("two") + '\n' + shareGpt("three"));
        write(QStringLiteral("a/FOUR.JSON"), shareGpt("four"));
        write(QStringLiteral("a/picture.png"), "no chat");
        QCOMPARE(importOf({m_folder->path()}).chats.size(), 4);
        QCOMPARE(importOf({m_folder->path()}).problems, QStringList());
        QDir().mkpath(m_folder->filePath(QStringLiteral("empty")));
        const QString empty = m_folder->filePath(QStringLiteral("empty"));
        for (const QString& path : {empty, m_folder->filePath(QStringLiteral("absent"))}) {
            const ImportSlice slice = importOf({path});
            QCOMPARE(slice.problems.size(), 1);
            QVERIFY(slice.problems.first().contains(path));
        }
    }

    void aChatThatIsTooLongIsLeftOutAndNotHeld() {
        QFile file(m_folder->filePath(QStringLiteral("long.json")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        const QByteArray mebibyte(1 << 20, 'x');
        file.write("[" + shareGpt("before") + R"(,{"conversations":[{"from":"human","value":")");
        for (qint64 i = 0; i <= ChatImport::kMostChatBytes >> 20; ++i)
            file.write(mebibyte);
        file.write(R"("}]},)" + shareGpt("behind") + "]");
        file.close();
        const ImportSlice slice = importOf({file.fileName()});
        QCOMPARE(slice.chats.size(), 2);
        QCOMPARE(slice.leftOut, 1);
        QVERIFY(slice.problems.first().contains(QStringLiteral("longer than 64 MB")));
    }

    void aGigabyteOfZerosIsRefusedAtItsFirstByte() {
        QFile file(m_folder->filePath(QStringLiteral("sparse.json")));
        QVERIFY(file.open(QIODevice::WriteOnly) && file.resize(qint64{1} << 30));
        ChatImport import({file.fileName()});
        ImportSlice slice;
        int slices = 0;
        for (; !slice.isOver && slices < 10; ++slices)
            slice = import.next();
        QVERIFY(slice.isOver);
        QCOMPARE(slice.problems.size(), 1);
        QVERIFY(slice.problems.first().contains(QStringLiteral("at byte 0")));
    }

    void importedChatsAreKeptBesideThoseThatWereThere() {
        const StoreOptions options{m_folder->filePath(QStringLiteral("chats.sqlite")), 5, 20};
        ChatId old = 0;
        QList<ChatId> added;
        {
            ChatStore store(options);
            store.open();
            old = store.createChat(titled(QStringLiteral("was there")));
            store.appendMessage(userMessage(old, 0, QStringLiteral("old words")));
            bool isOver = false;
            store.importChats({kData + QStringLiteral("open_webui.json"),
                               kData + QStringLiteral("share_gpt.jsonl")},
                              this,
                              [&](const ImportSlice& slice) {
                                  for (const Chat& chat : slice.chats)
                                      added.append(chat.record.id);
                                  isOver = slice.isOver;
                                  return true;
                              });
            QTRY_VERIFY(isOver);
            QCOMPARE(added.size(), 4);
        }
        ChatStore store(options);
        store.open();
        QCOMPARE(chatsOf(store).size(), 5);
        QCOMPARE(chatOf(store, old).messages.first().text, QStringLiteral("old words"));
        const Chat tree = chatOf(store, added.first());
        QCOMPARE(tree.record.updatedMs, 1719410301000);
        QCOMPARE(textsOf(tree.currentBranch()),
                 (QStringList{QStringLiteral("Name a tree."), QStringLiteral("Oak.")}));
        QCOMPARE(titlesFound(store, QStringLiteral("Elm")), QStringList{QStringLiteral("Tree")});
        const MessageId next = store.appendMessage(userMessage(old, 0, QStringLiteral("more")));
        for (const ChatId id : added)
            for (const StoredMessage& message : chatOf(store, id).messages)
                QVERIFY(message.id < next);
    }

    void anImportThatIsStoppedKeepsWhatHasCome() {
        ChatStore store({m_folder->filePath(QStringLiteral("chats.sqlite")), 5, 20});
        store.open();
        int slices = 0;
        store.importChats(
            {kData + QStringLiteral("share_gpt.jsonl"), kData + QStringLiteral("open_webui.json")},
            this,
            [&](const ImportSlice& slice) {
                ++slices;
                return slice.chats.isEmpty();
            });
        QTRY_COMPARE(chatsOf(store).size(), 2);
        const int asked = slices;
        for (int i = 0; i < 5; ++i)
            QCOMPARE(chatsOf(store).size(), 2);
        QCOMPARE(slices, asked);
    }
};

QTEST_MAIN(ChatImportTest)
#include "chat_import_test.moc"
