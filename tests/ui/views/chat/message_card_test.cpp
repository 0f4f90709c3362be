// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/stored_messages.h"
#include "ui/views/chat/messages/message_card.h"

#include <QAction>
#include <QMainWindow>
#include <QPlainTextEdit>
#include <QSignalSpy>
#include <QTest>
#include <QTextBlock>
#include <QTextDocument>
#include <QTextLayout>
#include <QTextOption>

using namespace engine;
using namespace support;
using namespace ui;

/// Counts how often the layout of a widget is asked for anew.
class LayoutWatch : public QObject {
public:
    using QObject::QObject;

    bool eventFilter(QObject*, QEvent* event) override {
        count += event->type() == QEvent::LayoutRequest ? 1 : 0;
        return false;
    }

    int count = 0;
};

class MessageCardTest : public QObject {
    Q_OBJECT

    Theme m_theme;

    StoredMessage answer() const {
        using enum TokenOrigin;
        StoredMessage message = answerOf({Vanilla, Draft, Sibling, Bonus, Draft, Draft, Bonus});
        message.id = 12;
        message.figures.firstTokenMs = 640.0;
        message.figures.tokensPerSecond = 62.24;
        message.figures.tokensPerStep = 3.0;
        message.figures.acceptedTokens = 4;
        message.figures.draftSteps = 5;
        message.figures.speedup = 1.33;
        message.figures.baselineTokensPerSecond = 46.8;
        return message;
    }

    QString figures(const StoredMessage& message) const {
        QTextDocument words;
        words.setHtml(figuresText(message, m_theme.colours()));
        return words.toPlainText().remove(QChar(0x2060)).simplified();
    }

    StoredMessage question() const {
        StoredMessage message;
        message.id = 11;
        message.text = QStringLiteral("why?");
        return message;
    }

private slots:

    void figuresBreakBetweenAndNeverWithin() {
        QTextDocument words;
        words.setHtml(figuresText(answer(), m_theme.colours()));
        QTextOption option;
        option.setWrapMode(QTextOption::WordWrap);
        words.setDefaultTextOption(option);
        words.setTextWidth(10);             // narrower than any figure
        QVERIFY(words.size().height() > 0); // it is laid out now
        QStringList lines;
        const QTextLayout* layout = words.firstBlock().layout();
        for (int i = 0; i < layout->lineCount(); ++i) {
            const QTextLine line = layout->lineAt(i);
            lines << words.firstBlock()
                         .text()
                         .mid(line.textStart(), line.textLength())
                         .replace(QChar::Nbsp, u' ')
                         .remove(QChar(0x2060))
                         .trimmed();
        }
        QCOMPARE(lines,
                 QStringList({QStringLiteral("1.33\u00D7 vs vanilla 46.8"),
                              QStringLiteral("62.2 tok/s"),
                              QStringLiteral("0.64 s to first token"),
                              QStringLiteral("3.00 tokens/step (M)"),
                              QStringLiteral("4/5 accepted (.80)")}));
    }

    void theReasonForTheEndBreaksBetweenItsWords() {
        StoredMessage message = answer();
        message.figures = {};
        message.figures.finishReason = QStringLiteral("max_tokens");
        QTextDocument words;
        words.setDefaultFont(m_theme.font(TextRole::Small));
        words.setDocumentMargin(0.0);
        words.setHtml(figuresText(message, m_theme.colours()));
        const double room = m_theme.scaled(160);
        words.setTextWidth(room);
        QVERIFY(words.toPlainText().contains(QStringLiteral("stopped at the length limit")));
        QVERIFY2(words.idealWidth() <= room, qPrintable(QString::number(words.idealWidth())));
    }

    void figuresEqualTheMessage() {
        const QString text = figures(answer());
        for (const char* part : {"1.33\u00D7 vs vanilla 46.8",
                                 "62.2 tok/s",
                                 "0.64 s to first token",
                                 "3.00 tokens/step (M)",
                                 "4/5 accepted (.80)"})
            QVERIFY2(text.contains(QString::fromUtf8(part)), qPrintable(text));
    }

    void theRecognisedTaskIsShownAsItIsWrittenAndANewOneInWordsAlone() {
        StoredMessage message = answer();
        message.figures.task = QStringLiteral("<b>Sum</b> & more");
        QVERIFY(!figures(message).contains(QStringLiteral("task")));
        QVERIFY(figuresInWords(message).contains(QStringLiteral("a new task begins with it")));
        message.figures.taskLikeness = 0.83;
        QVERIFY2(figures(message).contains(QStringLiteral("task <b>Sum</b> & more")),
                 qPrintable(figures(message)));
        QVERIFY(figuresInWords(message).contains(QStringLiteral("(likeness 0.83 of 1)")));
        message.figures = answer().figures;
        QVERIFY(!figures(message).contains(QStringLiteral("task")));
        QVERIFY(!figuresInWords(message).contains(QStringLiteral("likeness")));
    }

    void theRecognisedTaskLeadsToItsListAlsoByKeys() {
        StoredMessage message = answer();
        FiguresLine line(m_theme);
        line.show(message);
        QCOMPARE(line.focusPolicy(), Qt::NoFocus); // there is nothing to choose
        message.figures.task = QStringLiteral("<b>Sum</b> & more");
        message.figures.taskLikeness = 0.83;
        line.show(message);
        line.QWidget::show();
        QSignalSpy asked(&line, &FiguresLine::taskAsked);
        QCOMPARE(line.focusPolicy(), Qt::TabFocus);
        line.resize(line.sizeHint().width() * 4, line.heightForWidth(line.sizeHint().width() * 4));
        QTest::keyClick(&line, Qt::Key_Return);
        QCOMPARE(asked.count(), 1);
        QCOMPARE(asked[0][0].toString(), message.figures.task);
        QTest::mouseClick(&line, Qt::LeftButton, {}, QPoint(2, 2)); // on the first figure
        QCOMPARE(asked.count(), 1);
        for (int y = 2; y < line.height(); y += 4) // the link is the last of them
            for (int x = 2; x < line.width(); x += 8)
                QTest::mouseClick(&line, Qt::LeftButton, {}, QPoint(x, y));
        QVERIFY(asked.count() > 1);
        asked.clear();
        for (int y = 2; y < line.height(); y += 4)
            for (int x = 2; x < line.width(); x += 8)
                QTest::mouseClick(&line, Qt::RightButton, {}, QPoint(x, y));
        QCOMPARE(asked.count(), 0);
    }

    void countsEqualTheColouredTokensAndTheFigures() {
        const StoredMessage message = answer();
        const OriginCounts counts = countOrigins(message);
        QCOMPARE(counts.accepted, 4);
        QCOMPARE(counts.siblings, 1);
        QCOMPARE(counts.bonus, 2);
        QCOMPARE(counts.vanilla, 1);
        QCOMPARE(qint64(counts.accepted), message.figures.acceptedTokens);
        QCOMPARE(counts.accepted + counts.bonus + counts.vanilla,
                 static_cast<int>(message.tokens.size()));
        MessageCard card(m_theme, message, {});
        int marked = 0;
        for (const TokenMark& mark : card.body().tokens())
            marked += mark.origin == TokenOrigin::Draft || mark.origin == TokenOrigin::Sibling;
        QCOMPARE(marked, counts.accepted);
    }

    void figuresOfAnAnswerThatWentOnSayOfWhichTokensTheyAre() {
        StoredMessage message = answer();
        message.figures.outputTokens = 3; // Draft, Draft, Bonus
        message.figures.acceptedTokens = 2;
        QVERIFY2(figures(message).startsWith(QStringLiteral("last 3 of 7 tokens: 1.33")),
                 qPrintable(figures(message)));
        QCOMPARE(countOrigins(message).accepted, 2);
        QVERIFY(figuresInWords(message).contains(QStringLiteral("its last 3 tokens")));
        message.figures.outputTokens = 1;
        QVERIFY(figuresInWords(message).contains(QStringLiteral("its last token.")));
        message.figures.outputTokens = 7;
        QVERIFY(!figures(message).contains(QStringLiteral("last")));
        QVERIFY(figuresInWords(message).contains(QStringLiteral("Accepted draft steps: 2 of 5.")));
    }

    void theHeadOfAnAnswerKeepsItsHeightWhileItIsEdited() {
        MessageCard card(m_theme, answer(), {});
        card.resize(700, 420); // higher than it needs
        card.show();
        const auto labels = card.findChildren<QLabel*>();
        const auto chip = std::ranges::find(labels, QStringLiteral("SWIFT"), &QLabel::text);
        QVERIFY(chip != labels.end());
        QTest::mouseClick(buttonNamed(card, QStringLiteral("Edit the answer in a new branch")),
                          Qt::LeftButton);
        QCoreApplication::processEvents();
        QVERIFY(card.findChild<QPlainTextEdit*>()->isVisible());
        QCOMPARE((*chip)->height(), (*chip)->sizeHint().height());
    }

    void whatWasNotMeasuredIsLeftOut() {
        StoredMessage message = answer();
        message.figures = {};
        QCOMPARE(figures(message), QStringLiteral("7 tokens, one by one"));
        message.tokens = message.tokens.mid(0, 1);
        QCOMPARE(figures(message), QStringLiteral("1 token"));
        message.tokens.clear();
        QCOMPARE(figures(message), QString());
        message = answer();
        message.state = MessageState::Recovered;
        QVERIFY(figures(message).endsWith(QStringLiteral("recovered, 7 tokens")));
        message.state = MessageState::Stopped;
        QVERIFY(figures(message).endsWith(QStringLiteral("stopped")));
    }

    void enterSendsTheEditedWordsAndEscapeLeavesThem() {
        MessageCard card(m_theme, question(), {});
        card.show();
        QSignalSpy edited(&card, &MessageCard::editAsked);
        QAbstractButton* edit = buttonNamed(card, QStringLiteral("Edit and send again"));
        edit->click();
        auto* editor = card.findChild<QPlainTextEdit*>();
        QCOMPARE(editor->toPlainText(), QStringLiteral("why?"));
        QVERIFY(!card.body().isVisible());
        QTest::keyClicks(editor, QStringLiteral("never sent"));
        QTest::keyClick(editor, Qt::Key_Escape);
        QCOMPARE(edited.count(), 0);
        QVERIFY(card.body().isVisible());
        edit->click();
        editor = card.findChildren<QPlainTextEdit*>().last();
        QCOMPARE(editor->toPlainText(), QStringLiteral("why?"));
        QTest::keyClicks(editor, QStringLiteral("how?"));
        QTest::keyClick(editor, Qt::Key_Return, Qt::ShiftModifier);
        QCOMPARE(edited.count(), 0);
        QTest::keyClick(editor, Qt::Key_Return);
        QCOMPARE(edited.count(), 1);
        QCOMPARE(edited[0][0].toLongLong(), 11);
        QCOMPARE(edited[0][1].toString(), QStringLiteral("how?\n"));
    }

    void anAnswerThatWasCutOffersToGoOn() {
        StoredMessage message = answer();
        message.figures.finishReason = QStringLiteral("max_tokens");
        MessageCard card(m_theme, message, {});
        card.show();
        QSignalSpy asked(&card, &MessageCard::continueAsked);
        QAbstractButton* goOn = buttonNamed(card, QStringLiteral("Continue"));
        QVERIFY(goOn->isVisible());
        card.setBusy(true, false);
        goOn->click();
        QCOMPARE(asked.count(), 0);
        card.setBusy(false, true);
        goOn->click();
        QCOMPARE(asked.count(), 1);
        message.figures.finishReason = QStringLiteral("end_token");
        card.finish(message);
        QVERIFY(!goOn->isVisible());
    }

    void anAnswerIsEditedInManyLines() {
        MessageCard card(m_theme, answer(), {});
        card.show();
        QSignalSpy edited(&card, &MessageCard::answerEdited);
        QAbstractButton* edit =
            buttonNamed(card, QStringLiteral("Edit the answer in a new branch"));
        edit->click();
        buttonNamed(card, QStringLiteral("Keep as a new branch"))->click();
        QCOMPARE(edited.count(), 0); // nothing was changed
        edit->click();
        auto* editor = card.findChildren<QPlainTextEdit*>().last();
        editor->moveCursor(QTextCursor::End);
        QTest::keyClick(editor, Qt::Key_Return);
        QTest::keyClicks(editor, QStringLiteral("more"));
        card.setBusy(true, false);
        QTest::keyClick(editor, Qt::Key_Return, Qt::ControlModifier);
        QCOMPARE(edited.count(), 0);
        QVERIFY(!card.body().isVisible());
        for (const char* name : {"Keep and continue", "Keep as a new branch"}) {
            const QAbstractButton* keep = nullptr; // of the newest editor
            for (const QAbstractButton* each : card.findChildren<QAbstractButton*>())
                keep = each->text() == QLatin1String(name) ? each : keep;
            for (const bool isBusy : {true, false, true}) {
                card.setBusy(isBusy, !isBusy);
                QCOMPARE(keep->isEnabled(), !isBusy);
                QCOMPARE(keep->toolTip().isEmpty(), !isBusy);
            }
        }
        card.setBusy(false, true);
        QTest::keyClick(editor, Qt::Key_Return, Qt::ControlModifier);
        QCOMPARE(edited.count(), 1);
        QCOMPARE(edited[0][1].toString(), answer().text + QStringLiteral("\nmore"));
        QCOMPARE(edited[0][2].toBool(), true);
        QVERIFY(card.body().isVisible());
    }

    void filesStandBelowTheWords() {
        StoredMessage message = question();
        message.attachments = {{QStringLiteral("<b>a.txt"), QStringLiteral("<i>x"), 1234}};
        const MessageCard card(m_theme, message, {});
        const auto labels = card.findChildren<QLabel*>();
        const auto found = std::find_if(labels.begin(), labels.end(), [](const QLabel* label) {
            return label->text() == QStringLiteral("<b>a.txt \u00B7 1,234 tokens");
        });
        QVERIFY(found != labels.end());
        QCOMPARE((*found)->textFormat(), Qt::PlainText);
    }

    void escapeInTheEditorStopsNothingElse() {
        QMainWindow window;
        QAction stop;
        int stopped = 0;
        stop.setShortcut(Qt::Key_Escape);
        connect(&stop, &QAction::triggered, this, [&stopped] { ++stopped; });
        window.addAction(&stop);
        auto* card = new MessageCard(m_theme, question(), {});
        window.setCentralWidget(card);
        window.show();
        window.activateWindow();
        QVERIFY(QTest::qWaitForWindowActive(&window, support::kPatienceMs));
        buttonNamed(*card, QStringLiteral("Edit and send again"))->click();
        QTest::keyClick(card->findChild<QPlainTextEdit*>(), Qt::Key_Escape);
        QCOMPARE(stopped, 0);
        QVERIFY(card->body().isVisible());
        QTest::keyClick(card, Qt::Key_Escape);
        QCOMPARE(stopped, 1);
    }

    void branchButtonsWalkAndTheEndsAreOff() {
        MessageCard card(m_theme, question(), {0, 3, 0, 99});
        QSignalSpy shown(&card, &MessageCard::branchShown);
        QAbstractButton* before = buttonNamed(card, QStringLiteral("Show the previous version"));
        QAbstractButton* next = buttonNamed(card, QStringLiteral("Show the next version"));
        card.setBusy(true, false);
        QVERIFY(!next->isEnabled());
        card.setBusy(false, true);
        QVERIFY(!before->isEnabled());
        QTest::mouseClick(before, Qt::LeftButton);
        QCOMPARE(shown.count(), 0);
        QTest::mouseClick(next, Qt::LeftButton);
        QCOMPARE(shown.count(), 1);
        QCOMPARE(shown[0][0].toLongLong(), 99);
        MessageCard alone(m_theme, question(), {});
        QVERIFY(buttonNamed(alone, QStringLiteral("Show the next version")) == nullptr);
    }

    void nothingCanBeAskedOfAnAnswerThatIsWritten() {
        StoredMessage message = answer();
        message.state = MessageState::Streaming;
        MessageCard card(m_theme, message, {});
        card.show();
        QVERIFY(card.body().isStreaming());
        QAbstractButton* copy = buttonNamed(card, QStringLiteral("Copy the text"));
        QVERIFY(!copy->isVisible());
        message.state = MessageState::Finished;
        card.finish(message);
        QVERIFY(copy->isVisible());
        QVERIFY(!card.body().isStreaming());
    }

    void anAnswerOfAnotherProgramHasAHead() {
        StoredMessage imported = question();
        imported.role = MessageRole::Assistant;
        MessageCard card(m_theme, imported, {});
        const auto labels = card.findChildren<QLabel*>();
        QVERIFY(std::ranges::find(labels, QStringLiteral("Answer"), &QLabel::text) != labels.end());
    }

    void itGrowsByWhatIsNew() {
        StoredMessage message = answer();
        message.state = MessageState::Streaming;
        MessageCard card(m_theme, message, {});
        const std::size_t before = card.body().tokens().size();
        message.text += QStringLiteral("more");
        TokenTrace token;
        token.begin = static_cast<int>(message.text.size()) - 4;
        token.end = static_cast<int>(message.text.size());
        message.tokens.push_back(token);
        card.grow(message);
        QCOMPARE(card.body().source(), message.text);
        QCOMPARE(card.body().tokens().size(), before + 1);
        QCOMPARE(card.tokenText(static_cast<int>(before)), QStringLiteral("more"));
    }

    void theFiguresOfAGrowingAnswerFollowAtAPaceOfTheirOwnAndEndWithIt() {
        const auto grown = [](int tokens, MessageState state) {
            StoredMessage message = answerOf(QList<TokenOrigin>(tokens, TokenOrigin::Vanilla));
            message.state = state;
            return message;
        };
        MessageCard card(m_theme, grown(2, MessageState::Streaming), {});
        const auto* line = card.findChild<FiguresLine*>();
        const QString first = line->text();
        QCOMPARE(first, figuresText(grown(2, MessageState::Streaming), m_theme.colours()));
        card.grow(grown(3, MessageState::Streaming));
        QCOMPARE(line->text(), first); // they come with those of other views
        card.showFigures();
        QCOMPARE(line->text(), figuresText(grown(3, MessageState::Streaming), m_theme.colours()));
        QVERIFY(line->text() != first);
        card.grow(grown(4, MessageState::Streaming));
        card.finish(grown(5, MessageState::Finished));
        QCOMPARE(line->text(), figuresText(grown(5, MessageState::Finished), m_theme.colours()));
    }

    void newFiguresOfTheSameHeightLayOutNothing() {
        StoredMessage message = answer();
        message.state = MessageState::Streaming;
        message.figures.speedup.reset();
        message.figures.draftSteps = 0;
        QWidget column;
        auto* rows = new QVBoxLayout(&column);
        auto* card = new MessageCard(m_theme, message, {});
        rows->addWidget(card);
        column.resize(500, 300);
        column.show();
        QVERIFY(QTest::qWaitForWindowExposed(&column, support::kPatienceMs));
        QCoreApplication::processEvents();
        LayoutWatch watch;
        card->findChild<FiguresLine*>()->parentWidget()->installEventFilter(&watch);
        message.figures.tokensPerSecond = 63.4;
        card->grow(message);
        card->showFigures();
        QCoreApplication::processEvents();
        QVERIFY(card->findChild<FiguresLine*>()->text().contains(QStringLiteral("63.")));
        QCOMPARE(watch.count, 0);
        message.figures = answer().figures; // they need two lines
        card->grow(message);
        card->showFigures();
        QCoreApplication::processEvents();
        QVERIFY(watch.count > 0);
    }

    void namesFromFilesArePlainText() {
        StoredMessage message = answer();
        message.figures.modelName = QStringLiteral("<b>m</b>");
        message.figures.decoderName = QStringLiteral("<i>d</i>");
        MessageCard card(m_theme, message, {});
        int met = 0;
        for (const QLabel* label : card.findChildren<QLabel*>()) {
            if (!label->text().contains(QStringLiteral("b>m")) &&
                !label->text().contains(QStringLiteral("i>d"), Qt::CaseInsensitive))
                continue;
            ++met;
            QCOMPARE(label->textFormat(), Qt::PlainText);
        }
        QCOMPARE(met, 2);
    }

    void everythingHasAName() {
        MessageCard card(m_theme, answer(), {0, 3, 0, 99});
        MessageCard words(m_theme, question(), {});
        QCOMPARE(namelessWidgets(card).join(QLatin1Char('\n')), QString());
        QCOMPARE(namelessWidgets(words).join(QLatin1Char('\n')), QString());
    }
};

QTEST_MAIN(MessageCardTest)
#include "message_card_test.moc"
