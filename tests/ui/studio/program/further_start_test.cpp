// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/studio_stage.h"
#include "ui/studio/program/single_instance.h"
#include "ui/views/chat/chat_view.h"
#include "ui/views/chat/input_bar.h"

using namespace engine;
using namespace support;
using namespace ui;

/// What a start asks of a window whose model does not come, or has not come yet.
class FurtherStartTest : public QObject {
    Q_OBJECT

    static void failLoad(StudioStage& stage, ErrorCode code = ErrorCode::NotFound) {
        stage.say(failedTask("load_model", {code, "The file is gone.", "Choose another one."}));
        stage.settle();
    }

private slots:

    void theMessageOfAStartWhoseModelFailsStandsInTheInput() {
        for (const ErrorCode code : {ErrorCode::NotFound, ErrorCode::Cancelled}) {
            StudioStage stage(QStringLiteral("/models/tiny.gguf"));
            stage.options.firstMessage = QStringLiteral("a question");
            stage.open();
            failLoad(stage, code);
            QCOMPARE(stage.studio->chatView().input().text(), QStringLiteral("a question"));
            const Notice* notice = stage.notice("first_message");
            QVERIFY(notice != nullptr);
            QVERIFY(notice->headline.contains(QStringLiteral("the model was not loaded")));
            stage.loadModel(); // another one: the user sends it
            QVERIFY(stage.notice("first_message") == nullptr);
            QVERIFY(stage.engine->lastSent<SubmitPrompt>() == nullptr);
            QCOMPARE(stage.studio->chatView().input().text(), QStringLiteral("a question"));
        }
    }

    void aMessageWaitsForTheModelThatTookTheFirstOnesPlace() {
        StudioStage stage(QStringLiteral("/models/tiny.gguf"));
        stage.open();
        stage.studio->takeStart(
            {QStringLiteral("/models/other.gguf"), {}, {}, QStringLiteral("a question")});
        failLoad(stage, ErrorCode::Cancelled); // the first one
        QVERIFY(stage.notice("first_message") == nullptr);
        stage.loadModel();
        QCOMPARE(stage.engine->lastSent<SubmitPrompt>()->messages.back().content,
                 std::string("a question"));
    }

    void theMessageForAModelThatFailsIsNotSentToTheOneThatIsThere() {
        StudioStage stage;
        stage.open();
        stage.loadModel();
        stage.studio->takeStart(
            {QStringLiteral("/models/other.gguf"), {}, {}, QStringLiteral("a question")});
        failLoad(stage);
        QVERIFY(stage.engine->lastSent<SubmitPrompt>() == nullptr);
        QVERIFY(stage.notice("first_message") != nullptr);
        QCOMPARE(stage.studio->chatView().input().text(), QStringLiteral("a question"));
    }

    void messagesOfSeveralStartsAreSentInTheirTurn() {
        StudioStage stage;
        stage.open();
        stage.loadModel();
        stage.beginAnswer();
        for (const char* words : {"first", "second"})
            stage.studio->takeStart({{}, {}, {}, QString::fromLatin1(words)});
        const auto newest = [&stage] {
            return stage.engine->lastSent<SubmitPrompt>()->messages.back().content;
        };
        stage.finishAnswer();
        QCOMPARE(newest(), std::string("first"));
        stage.promptId = stage.engine->lastSent<SubmitPrompt>()->promptId;
        stage.engine->countNewest(10, 1000);
        stage.settle();
        QCOMPARE(newest(), std::string("first"));
        stage.finishAnswer();
        QCOMPARE(newest(), std::string("second"));
    }

    void theLessonModelIsMadeOfTheModelThatIsBeingLoaded() {
        StudioStage stage(QStringLiteral("/models/tiny.gguf"));
        stage.open();
        StartRequest planted;
        planted.isPlanted = true;
        stage.studio->takeStart(planted);
        QCOMPARE(stage.engine->lastSent<LoadModel>()->path, std::string("/models/tiny.gguf"));
        QVERIFY(stage.engine->lastSent<LoadModel>()->isPlanted);
        const auto sent = stage.engine->sent.size();
        stage.studio->takeStart(planted); // it comes anyway
        QCOMPARE(stage.engine->sent.size(), sent);
    }
};

QTEST_MAIN(FurtherStartTest)
#include "further_start_test.moc"
