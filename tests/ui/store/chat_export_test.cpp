// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/file_content.h"
#include "tests/ui/store/store_fixture.h"
#include "ui/store/export/chat_page.h"
#include "ui/store/export/printed_formula.h"

#include <QImage>
#include <QJsonArray>
#include <QJsonDocument>
#include <QPainter>
#include <QRegularExpression>
#include <QTemporaryDir>

using namespace ui;

namespace {

const QString kHostile = QStringLiteral(
    "<script>alert(1)</script><img src=\"http://x/y.png\" onerror='z'> & \u0001 ]]> &lt;");

Chat hostileChat() {
    Chat chat;
    chat.record = titled(QStringLiteral("</title>") + kHostile);
    chat.record.id = 5;
    chat.record.systemPrompt = kHostile;
    chat.record.settings.insert(QStringLiteral("r"), 0.45);
    StoredMessage question = userMessage(5, 0, kHostile);
    question.id = 1;
    StoredMessage answer = answerOfTokens(5, 1, 6);
    answer.id = 2;
    answer.state = MessageState::Finished;
    answer.text.append(kHostile);
    answer.figures.modelName = kHostile;
    answer.figures.speedup = 1.33;
    answer.figures.acceptedTokens = 141;
    answer.figures.draftSteps = 149;
    answer.figures.task = kHostile;
    answer.figures.taskLikeness = 0.9;
    StoredMessage other = answer;
    other.id = 3;
    other.text = QStringLiteral("another branch");
    other.tokens.clear();
    chat.messages = {question, answer, other};
    chat.record.leafId = 2;
    return chat;
}

QString textBetween(const QString& html, const QString& begin, const QString& end) {
    const qsizetype from = html.indexOf(begin) + begin.size();
    return html.mid(from, html.indexOf(end, from) - from);
}

} // namespace

class ChatExportTest : public QObject {
    Q_OBJECT

private slots:

    void htmlHoldsNoElementThatTheTextBrought_data() {
        QTest::addColumn<bool>("hasOrigin");
        QTest::newRow("plain") << false;
        QTest::newRow("with origin") << true;
    }

    void htmlHoldsNoElementThatTheTextBrought() {
        QFETCH(bool, hasOrigin);
        const QString html = QString::fromUtf8(chatToHtml(hostileChat(), hasOrigin));
        const QStringList known = {QStringLiteral("html"),
                                   QStringLiteral("head"),
                                   QStringLiteral("meta"),
                                   QStringLiteral("style"),
                                   QStringLiteral("title"),
                                   QStringLiteral("body"),
                                   QStringLiteral("h1"),
                                   QStringLiteral("h2"),
                                   QStringLiteral("p"),
                                   QStringLiteral("div"),
                                   QStringLiteral("section"),
                                   QStringLiteral("span")};
        QRegularExpressionMatchIterator tags =
            QRegularExpression(QStringLiteral("</?([A-Za-z][A-Za-z0-9]*)[^>]*>")).globalMatch(html);
        QVERIFY(tags.hasNext());
        while (tags.hasNext()) {
            const QRegularExpressionMatch tag = tags.next();
            QVERIFY2(known.contains(tag.captured(1)), qPrintable(tag.captured(0)));
            QVERIFY(!tag.captured(0).contains(QStringLiteral("onerror")));
        }
        QVERIFY(html.contains(QStringLiteral("default-src 'none'")));
        QVERIFY(!html.contains(QChar(1)));
        QVERIFY(html.contains(QStringLiteral("&lt;script&gt;")));
        QVERIFY(html.contains(QStringLiteral("&amp;lt;")));
    }

    void htmlMarksEachTokenAndKeepsTheText() {
        const Chat chat = hostileChat();
        const QString html = QString::fromUtf8(chatToHtml(chat, true));
        const QString body = textBetween(
            html, QStringLiteral("<section class=\"assistant\">"), QStringLiteral("</section>"));
        QCOMPARE(body.count(QStringLiteral("<span class=")), 6);
        QCOMPARE(body.count(QStringLiteral("class=\"draft\"")), 2);
        QCOMPARE(body.count(QStringLiteral("class=\"sibling\"")), 1);
        QCOMPARE(body.count(QStringLiteral("class=\"bonus\"")), 1);
        QVERIFY(body.contains(QStringLiteral("title=\"token 1007, step 1, 12.5 ms")));
        QString text =
            textBetween(body, QStringLiteral("<div class=\"text\">"), QStringLiteral("</div>"));
        text.remove(QRegularExpression(QStringLiteral("<[^>]*>")));
        QString expected = chat.messages[1].text;
        expected.replace(QChar(1), QChar::ReplacementCharacter);
        QCOMPARE(text, expected.toHtmlEscaped());
        QVERIFY(!chatToHtml(chat, false).contains("<span"));
    }

    void eachLineOfHtmlHasTheDirectionOfItsOwnLetters() {
        const QString style = textBetween(QString::fromUtf8(chatToHtml(hostileChat(), false)),
                                          QStringLiteral("<style>"),
                                          QStringLiteral("</style>"));
        const QRegularExpression rule(QStringLiteral("\\.text \\{[^}]*unicode-bidi: plaintext;"));
        QVERIFY(rule.match(style).hasMatch());
    }

    void aTokenThatTheUserChoseHasNoStep() {
        Chat chat = hostileChat();
        chat.messages[1].tokens[1].step = kChosenByUser;
        QVERIFY(chatToHtml(chat, true).contains("title=\"token 1007, step none, "));
    }

    void tokensWithoutTraceAreNotMarked() {
        Chat chat = hostileChat();
        chat.messages[1].isTraced = false;
        const QString html = QString::fromUtf8(chatToHtml(chat, true));
        QVERIFY(!textBetween(html, QStringLiteral("<section"), QStringLiteral("</body>"))
                     .contains(QStringLiteral("<span")));
    }

    void markdownHoldsTheShownBranchAndItsFigures() {
        const QString text = QString::fromUtf8(chatToMarkdown(hostileChat()));
        QVERIFY(text.startsWith(QStringLiteral("# </title>")));
        QVERIFY(text.contains(QStringLiteral("## You\n\n") + kHostile));
        QVERIFY(text.contains(QStringLiteral("w0 w1 w2")));
        QVERIFY(text.contains(QStringLiteral("1.33x as fast as vanilla, accepted 141 of 149")));
        QVERIFY(!text.contains(QStringLiteral("another branch")));
    }

    /// As in the window, where the name of a new task is only the beginning of its prompt.
    void aTaskIsNamedWhereItWasRecognised() {
        Chat chat = hostileChat();
        QVERIFY(figuresLine(chat.messages[1]).contains(QStringLiteral("task \u201C<script>")));
        chat.messages[1].figures.taskLikeness.reset();
        QCOMPARE(figuresLine(chat.messages[1]),
                 QStringLiteral("1.33x as fast as vanilla, accepted 141 of 149 drafted"));
    }

    void aContinuedAnswerSaysWhatItsFiguresCover() {
        Chat chat = hostileChat();
        chat.messages[1].figures.outputTokens = 4;
        QVERIFY(chatToMarkdown(chat).contains("*last 4 of 6 tokens: 1.33x as fast as vanilla, "));
        QVERIFY(chatToHtml(chat, true).contains(">last 4 of 6 tokens: 1.33x as fast as "));
        chat.messages[1].figures.outputTokens = 6;
        QVERIFY(chatToMarkdown(chat).contains("*1.33x as fast as vanilla, "));
    }

    void jsonHoldsEveryMessageAndField() {
        const QJsonObject json = QJsonDocument::fromJson(chatToJson(hostileChat())).object();
        QCOMPARE(json.value(QStringLiteral("system_prompt")).toString(), kHostile);
        QCOMPARE(json.value(QStringLiteral("current_leaf")).toInteger(), 2);
        const QJsonArray messages = json.value(QStringLiteral("messages")).toArray();
        QCOMPARE(messages.size(), 3);
        const QJsonObject answer = messages[1].toObject();
        QCOMPARE(answer.value(QStringLiteral("parent")).toInteger(), 1);
        QCOMPARE(answer.value(QStringLiteral("text")).toString(), hostileChat().messages[1].text);
        const QJsonArray tokens = answer.value(QStringLiteral("tokens")).toArray();
        QCOMPARE(tokens.size(), 6);
        QCOMPARE(tokens[1].toObject().value(QStringLiteral("origin")).toString(),
                 QStringLiteral("draft"));
        QCOMPARE(tokens[1].toObject().value(QStringLiteral("id")).toInt(), 1007);
        QCOMPARE(
            answer.value(QStringLiteral("figures")).toObject().value(QStringLiteral("speedup")),
            QJsonValue(1.33));
    }

    void filesOfAMessageAreInEveryExport() {
        Chat chat = hostileChat();
        chat.messages[0].attachments = {{QStringLiteral("a.txt"), QStringLiteral("attached"), 2}};
        QVERIFY(chatToMarkdown(chat).contains("a.txt:\n```\nattached\n```"));
        QVERIFY(chatToHtml(chat, false).contains("attached"));
        QVERIFY(chatToJson(chat).contains("\"text\": \"attached\""));
    }

    void formulasAreDrawnInHtmlAndStayTheirSourceInMarkdown() {
        Chat chat = hostileChat();
        const QString text = QStringLiteral("So $x^2 < y$ and\n\n$$\\frac{a}{b}$$\n\nbut not "
                                            "$\\frac{a$ or `$code$` or $5 and $6.");
        chat.messages[1].text = text;
        chat.messages[1].tokens.clear();
        QVERIFY(chatToMarkdown(chat).contains(text.toUtf8()));
        const QString html = QString::fromUtf8(chatToHtml(chat, false));
        const QString body = textBetween(
            html, QStringLiteral("<section class=\"assistant\">"), QStringLiteral("</section>"));
        QCOMPARE(body.count(QStringLiteral("<svg ")), 2);
        QCOMPARE(body.count(QStringLiteral("</svg>")), 2);
        QCOMPARE(body.count(QStringLiteral("class=\"display\"")), 1);
        QVERIFY(body.contains(QStringLiteral("aria-label=\"x squared is less than y\"")));
        QVERIFY(body.contains(QStringLiteral("<title>$x^2 &lt; y$</title>")));
        QVERIFY(body.contains(QStringLiteral("but not $\\frac{a$ or `$code$` or $5 and $6.")));
        QString words = body;
        words.remove(QRegularExpression(QStringLiteral("<title>.*?</title>")));
        QVERIFY(!words.contains(QStringLiteral("\\frac{a}{b}")));
        const QRegularExpressionMatch outline =
            QRegularExpression(QStringLiteral("<path d=\"([^\"]*)\"/>")).match(body);
        QVERIFY(outline.captured(1).size() > 100);
        QVERIFY(QRegularExpression(QStringLiteral("^[MLCZhv0-9 .e-]+$"))
                    .match(outline.captured(1))
                    .hasMatch());
    }

    void aFormulaBringsNoElementOfItsOwn() {
        Chat chat = hostileChat();
        chat.messages[1].text = QStringLiteral("$\\text{<script>\" onload=\"x}$ \uFDD2\uFDD0 end");
        chat.messages[1].tokens.clear();
        const QString html = QString::fromUtf8(chatToHtml(chat, false));
        QVERIFY(html.contains(QStringLiteral("<svg ")));
        QVERIFY(!html.contains(QStringLiteral("<script")));
        QVERIFY(!html.contains(QStringLiteral("\" onload")));
        QVERIFY(!html.contains(QChar(0xFDD2)) && !html.contains(QChar(0xFDD0)));
    }

    void formulasAreDrawnInPdf() {
        Chat chat = hostileChat();
        chat.messages[1].text =
            QStringLiteral("\uFDD2 So $x^2$ and\n\n$$\\frac{a}{b}$$\n\nbut not $\\frac{a$.");
        chat.messages[1].tokens.clear();
        const auto document = printedChat(chat, false);
        const QString text = document->toPlainText();
        QCOMPARE(text.count(QChar(QChar::ObjectReplacementCharacter)), 2);
        QVERIFY(!text.contains(QStringLiteral("x^2")));
        QVERIFY(text.contains(QStringLiteral("but not $\\frac{a$.")));
        PrintedFormula drawing;
        QTextCharFormat format;
        format.setProperty(PrintedFormula::kSource, QStringLiteral("$$\\frac{a}{b}$$"));
        const QSizeF size = drawing.intrinsicSize(document.get(), 0, format);
        QVERIFY(size.width() > 5.0 && size.height() > 20.0);
        QImage paper(300, 100, QImage::Format_RGB32);
        paper.fill(Qt::white);
        QImage drawn = paper;
        QPainter painter(&drawn);
        drawing.drawObject(&painter, {{20.0, 20.0}, size}, document.get(), 0, format);
        painter.end();
        QVERIFY(drawn != paper);
        QVERIFY(chatToPdf(chat, false).startsWith("%PDF-1."));
    }

    /// As the window does it: each token of the source has a place.
    void markedTokensShowFormulasAsTheirSource() {
        Chat chat = hostileChat();
        chat.messages[1].text += QStringLiteral(" $x^2$");
        QVERIFY(!chatToHtml(chat, true).contains("<svg"));
        QVERIFY(chatToHtml(chat, true).contains("$x^2$"));
    }

    void pdfHasPagesAndTheTitle() {
        const QByteArray one = chatToPdf(hostileChat(), true);
        QVERIFY(one.startsWith("%PDF-1."));
        QVERIFY(one.trimmed().endsWith("%%EOF"));
        Chat chat = hostileChat();
        const auto pages = [](const QByteArray& pdf) { return pdf.count("/Type /Page\n"); };
        const qsizetype few = pages(one);
        QVERIFY(few >= 1);
        chat.messages[1].text = QStringLiteral("A sentence of some words. ").repeated(2000);
        chat.messages[1].tokens.clear();
        QVERIFY(pages(chatToPdf(chat, false)) > few + 5);
    }

    void theStoreWritesAFileAndSaysWhenItCannot() {
        QTemporaryDir folder;
        OpenStore store({folder.filePath(QStringLiteral("chats.sqlite")), 5, 20});
        const ChatId chat = store.createChat(titled(QStringLiteral("to a file")));
        store.appendMessage(userMessage(chat, 0, QStringLiteral("hello")));
        const auto exported = [&](ChatId id, const QString& path) {
            return answerTo<ExportOutcome>([&](QObject* context, auto done) {
                store.exportChat(id, {ExportFormat::Markdown, path, false}, context, done);
            });
        };
        const QString path = folder.filePath(QStringLiteral("chat.md"));
        QCOMPARE(exported(chat, path).error, QString());
        QCOMPARE(support::fileBytes(path), QByteArray("# to a file\n\n## You\n\nhello\n\n"));
        const QString pdf = folder.filePath(QStringLiteral("chat.pdf"));
        const auto printed = answerTo<ExportOutcome>([&](QObject* context, auto done) {
            store.exportChat(chat, {ExportFormat::Pdf, pdf, true}, context, done);
        });
        QCOMPARE(printed.error, QString());
        QVERIFY(support::fileBytes(pdf).startsWith("%PDF-1."));
        const QString nowhere = folder.filePath(QStringLiteral("no/such/chat.md"));
        const ExportOutcome failed = exported(chat, nowhere);
        QVERIFY(failed.error.contains(nowhere));
        QVERIFY(failed.error.endsWith(u'.'));
        QVERIFY(!exported(chat + 1, path).error.isEmpty());
    }
};

QTEST_MAIN(ChatExportTest)
#include "chat_export_test.moc"
