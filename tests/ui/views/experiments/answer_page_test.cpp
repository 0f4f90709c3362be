// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/view_stage.h"
#include "ui/text/message_body.h"
#include "ui/views/experiments/page/answer_page.h"

#include <QLabel>
#include <QTest>

#include <algorithm>

using namespace support;
using namespace ui;

namespace {

/// A prompt of a task, and an answer of one round with these tokens.
AnswersPicture pictureOf(const char* task, std::vector<std::string> tokens) {
    AnswersPicture picture;
    picture.prompt = 1;
    picture.kept.prompt.task = task;
    picture.kept.prompt.turns = {"Hello"};
    engine::ShardAnswer answer;
    answer.variant = "swift";
    answer.tokens = static_cast<long>(tokens.size());
    picture.kept.answers = {answer};
    engine::ShardRound round;
    round.variant = answer.variant;
    round.tokens = std::move(tokens);
    picture.kept.rounds = {round};
    return picture;
}

bool says(const AnswerPage& page, const QString& words) {
    return std::ranges::any_of(page.findChildren<QLabel*>(),
                               [&](const QLabel* label) { return label->text().contains(words); });
}

} // namespace

/// The answers to one prompt of a run.
class AnswerPageTest : public QObject {
    Q_OBJECT

    ViewStage m_stage;

private slots:

    void theTaskIsCalledWhatTheDataCallsIt() {
        AnswerPage page(m_stage.theme);
        page.setAnswers(pictureOf("no_context", {"Yes"}), {});
        QVERIFY(says(page, QStringLiteral("Prompt 1 \u00B7 No context")));
    }

    void theSpeedIsThatOfTheRunsSubjectAlone() {
        AnswersPicture picture = pictureOf("story", {"Yes"});
        picture.subject = "swift";
        picture.kept.answers.push_back(picture.kept.answers.front());
        picture.kept.answers.back().variant = "auto";
        AnswerPage page(m_stage.theme);
        page.setAnswers(picture, 1.5);
        const auto labels = page.findChildren<QLabel*>();
        const auto told = std::ranges::count_if(labels, [](const QLabel* label) {
            return label->text().contains(QStringLiteral("1.50\u00D7 vanilla"));
        });
        QCOMPARE(static_cast<int>(told), 1);
    }

    /// Its first token has half of a character, the last one is the end.
    void tokensThatCompleteNoTextShowNone() {
        AnswerPage page(m_stage.theme);
        page.setAnswers(pictureOf("story", {"", "\xE2\x82\xAC", ""}), {});
        const MessageBody* body = page.findChild<MessageBody*>();
        QVERIFY(body != nullptr);
        QCOMPARE(body->source(), QStringLiteral("\u20AC"));
        QCOMPARE(body->tokens().size(), std::size_t{3});
        QCOMPARE(body->tokens()[2].begin, 1);
        QCOMPARE(body->tokens()[2].end, 1);
    }

    void anAnswerThatIsNothingButItsEndIsKept() {
        AnswerPage page(m_stage.theme);
        page.setAnswers(pictureOf("story", {""}), {});
        QVERIFY(!says(page, QStringLiteral("No text")));
        QVERIFY(page.findChild<MessageBody*>() != nullptr);
    }
};

QTEST_MAIN(AnswerPageTest)
#include "answer_page_test.moc"
