// SPDX-License-Identifier: GPL-3.0-only
// Formulas within messages and lessons: shown, copied, read aloud, and given up for their source.
#include "tests/support/patience.h"
#include "tests/ui/text/message_samples.h"
#include "ui/math/formula.h"
#include "ui/text/formula_browser.h"
#include "ui/text/message_body.h"

#include <QAccessible>
#include <QMimeData>
#include <QTest>
#include <QTextBlock>
#include <QTextList>

using namespace ui;

namespace {

constexpr int kWidth = 500;

class OpenBrowser : public FormulaBrowser {
public:
    using FormulaBrowser::createMimeDataFromSelection;
    using FormulaBrowser::FormulaBrowser;
};

void show(MessageBody& body, const QString& text, const std::vector<TokenMark>& tokens = {}) {
    body.setMessage(text, tokens);
    body.resize(kWidth, body.heightForWidth(kWidth));
}

/// Rows of pixels that hold ink, over the columns of a rectangle.
int inkRows(MessageBody& body) {
    const QImage picture = body.grab().toImage().convertToFormat(QImage::Format_RGB32);
    const QRgb ground = picture.pixel(picture.width() - 1, 0);
    int rows = 0;
    for (int y = 0; y < picture.height(); ++y)
        for (int x = 0; x < picture.width(); ++x)
            if (picture.pixel(x, y) != ground) {
                ++rows;
                break;
            }
    return rows;
}

} // namespace

class FormulaTextTest : public QObject {
    Q_OBJECT

private slots:

    void aFormulaIsAPictureAndItsCopyIsItsSource() {
        const Theme theme;
        MessageBody body(theme);
        const QString text =
            QStringLiteral("So $x^2$ and \\(y\\), then:\n\n$$\n\\frac{a}{b}\n$$\n");
        show(body, text);
        QCOMPARE(body.plainText(),
                 QStringLiteral("So $x^2$ and \\(y\\), then:\n\n$$\n\\frac{a}{b}\n$$"));
        body.selectAll();
        QCOMPARE(body.selectedText(), body.plainText());
        QCOMPARE(body.source(), text);
        MessageBody plain(theme);
        show(plain, QStringLiteral("So `$x^2$` and `y`, then:"));
        QVERIFY(body.height() > plain.height() + 20);
    }

    void aTallFormulaMakesItsLineTallerAndNoOther() {
        const Theme theme;
        MessageBody flat(theme);
        show(flat, QStringLiteral("one\ntwo $x$\nthree"));
        MessageBody tall(theme);
        show(tall,
             QStringLiteral("one\ntwo $\\begin{pmatrix} a \\\\ b \\\\ c \\end{pmatrix}$\nthree"));
        QVERIFY(tall.height() > flat.height() + 15);
        QVERIFY(tall.height() < flat.height() + 60);
        MessageBody words(theme);
        show(words, QStringLiteral("one\ntwo x\nthree"));
        QCOMPARE(flat.height(), words.height());
        // Places below it are still found where they are drawn.
        const QPointF last(2, tall.height() - 10);
        QCOMPARE(tall.messageLayout().sourceAt(last), int(tall.source().indexOf(u"three")));
    }

    void aFormulaWiderThanItsLineBecomesSmaller() {
        const Theme theme;
        MessageBody body(theme);
        QString sum = QStringLiteral("$$a_1");
        for (int i = 2; i < 22; ++i)
            sum += QStringLiteral(" + a_{%1}").arg(i);
        show(body, sum + QStringLiteral("$$"));
        const QImage picture = body.grab().toImage();
        const QRgb ground = picture.pixel(picture.width() - 1, 0);
        for (int y = 0; y < picture.height(); ++y)
            QCOMPARE(picture.pixel(picture.width() - 3, y), ground);
        QVERIFY(inkRows(body) > 5);
    }

    void whatCannotBeReadIsShownAsItsSource() {
        const Theme theme;
        MessageBody body(theme);
        const QString text = QStringLiteral("see $\\frac{a$ there");
        show(body, text);
        QCOMPARE(body.plainText(), text);
        QCOMPARE(body.spokenText(), text);
    }

    void screenReadersGetWords() {
        const Theme theme;
        MessageBody body(theme);
        show(body, QStringLiteral("Then $\\frac{a}{b} = x^2$ holds."));
        const QString spoken = QStringLiteral("Then a over b equals x squared holds.");
        QCOMPARE(body.spokenText(), spoken);
        QAccessibleInterface* reader = QAccessible::queryAccessibleInterface(&body);
        QVERIFY(reader != nullptr);
        QAccessibleTextInterface* words = reader->textInterface();
        QCOMPARE(words->text(0, words->characterCount()), spoken);
        body.selectAll();
        int start = -1;
        int end = -1;
        words->selection(0, &start, &end);
        QCOMPARE(start, 0);
        QCOMPARE(end, int(spoken.size()));
    }

    void shownOriginTurnsFormulasIntoTheirTokens() {
        const Theme theme;
        MessageSample sample;
        using engine::TokenOrigin;
        sample.add(QStringLiteral("So $"), TokenOrigin::Vanilla);
        sample.add(QStringLiteral("\\frac"), TokenOrigin::Draft);
        sample.add(QStringLiteral("{a}"), TokenOrigin::Draft);
        sample.add(QStringLiteral("{b}"), TokenOrigin::Bonus);
        sample.add(QStringLiteral("$ holds"), TokenOrigin::Vanilla);
        MessageBody body(theme);
        show(body, sample.text, sample.tokens);
        QVERIFY(body.tokenRect(2).isNull());
        body.setShowsOrigin(true);
        QCOMPARE(body.unseenTokens(), 0);
        for (int token = 0; token < 5; ++token)
            QVERIFY2(body.tokenRect(token).width() > 5, qPrintable(QString::number(token)));
        QVERIFY(body.tokenRect(3).left() >= body.tokenRect(2).right());
        body.setShowsOrigin(false);
        QVERIFY(body.tokenRect(2).isNull());
    }

    void aDoubleClickTakesTheWholeFormula() {
        const Theme theme;
        MessageBody body(theme);
        show(body, QStringLiteral("a$x+y$ b")); // no formula: a dollar behind a letter
        show(body, QStringLiteral("($x + y$) b"));
        const SourceRange word = body.messageLayout().wordAt({20, 10});
        QCOMPARE(body.source().mid(word.begin, word.end - word.begin), QStringLiteral("$x + y$"));
    }

    void piecesGiveTheSameAsTheWhole() {
        const Theme theme;
        const QString text = QStringLiteral("Let $x_i$ be\n\n\\[\n\\sum_{i=1}^n x_i = "
                                            "\\frac{1}{2}\n\\]\n\n- so \\(y\\)\n- $5 and $6\n");
        MessageBody whole(theme);
        show(whole, text);
        MessageBody pieces(theme);
        pieces.resize(kWidth, 10);
        for (const QChar character : text)
            pieces.append(QString(character), {});
        pieces.finish();
        pieces.resize(kWidth, pieces.heightForWidth(kWidth));
        QCOMPARE(pieces.plainText(), whole.plainText());
        QCOMPARE(pieces.grab().toImage(), whole.grab().toImage());
    }

    void aFormulaOfAStreamedAnswerIsLaidOutOnce() {
        Theme theme;
        MessageBody body(theme);
        body.resize(kWidth, 10);
        const QString text = QStringLiteral("Let $q_{17}$ be \\(\\frac{q}{17}\\) and then go on "
                                            "with many further words of the same paragraph.");
        const std::int64_t before = formulaLayoutCount();
        for (const QChar character : text) {
            body.append(QString(character), {});
            body.heightForWidth(kWidth);
        }
        body.finish();
        QCOMPARE(body.plainText(), text);
        QCOMPARE(formulaLayoutCount() - before, 2);
        theme.setTextPercent(150);
        body.heightForWidth(kWidth);
        QCOMPARE(formulaLayoutCount() - before, 4);
    }

    void formulasTakeThemeAndTextSize() {
        Theme theme;
        MessageBody body(theme);
        const QString text = QStringLiteral("$$\\int_0^1 x\\,dx$$");
        show(body, text);
        const int small = inkRows(body);
        theme.setTextPercent(150);
        body.resize(kWidth, body.heightForWidth(kWidth));
        QVERIFY(inkRows(body) > small * 1.3);
    }

    void aLongAnswerFullOfFormulasIsLaidOutSoon() {
        const Theme theme;
        MessageBody body(theme);
        QString text;
        for (int i = 0; i < 200; ++i)
            text += QStringLiteral("Term %1 is $\\frac{x_{%1}^2}{\\sqrt{y + %1}}$.\n\n").arg(i);
        const support::ProcessorClock clock;
        show(body, text);
        QVERIFY2(clock.ms() < support::kEndsSoonMs, qPrintable(QString::number(clock.ms())));
    }

    void lessonsShowFormulasToo() {
        const Theme theme;
        OpenBrowser browser(theme);
        browser.resize(400, 300);
        browser.showMarkdown(QStringLiteral("# Speed\n\nIt is $\\frac{M}{c}$ at **most**:\n\n"
                                            "$$s = \\frac{E}{1 + c}$$\n\nnot $5 or $6."));
        QVERIFY(!browser.toPlainText().contains(u'$') || browser.toPlainText().count(u'$') == 2);
        QCOMPARE(browser.writtenText(),
                 QStringLiteral("Speed\nIt is $\\frac{M}{c}$ at most:\n$$s = \\frac{E}{1 + c}$$\n"
                                "not $5 or $6."));
        QVERIFY(browser.accessibleDescription().contains(QStringLiteral("M over c")));
        browser.selectAll();
        const std::unique_ptr<QMimeData> copied(browser.createMimeDataFromSelection());
        QCOMPARE(copied->text(), browser.writtenText());
        QVERIFY(!browser.loadResource(2, QUrl(QStringLiteral("file:///etc/passwd"))).isValid());
    }

    void anAddressWithAFormulaLeavesTheOthersInPlace() {
        const Theme theme;
        FormulaBrowser browser(theme);
        browser.showMarkdown(QStringLiteral("See [here](doc/$a$/b) that $x$ and $y$ hold."));
        QCOMPARE(browser.writtenText(), QStringLiteral("See here that $x$ and $y$ hold."));
    }

    void aFormulaOnALineOfItsOwnKeepsItsListAndItsQuote() {
        const Theme theme;
        FormulaBrowser browser(theme);
        browser.showMarkdown(
            QStringLiteral("1. one $$x$$ goes on\n2. $$y$$\n3. three\n   $$\n   z\n"
                           "   $$\n4. four\n\n> quoted $$w$$ ends\n\nlast"));
        QCOMPARE(browser.writtenText(),
                 QStringLiteral("one\n$$x$$\ngoes on\n$$y$$\nthree\n$$\n   z\n   $$\nfour\n"
                                "quoted\n$$w$$\nends\nlast"));
        const auto blockOf = [&browser](const char* text) {
            return browser.document()->find(QString::fromLatin1(text)).block();
        };
        const QTextBlock one = blockOf("one");
        QVERIFY(one.textList() != nullptr);
        QCOMPARE(one.textList()->count(), 4);
        QCOMPARE(blockOf("four").textList(), one.textList());
        QVERIFY(blockOf("goes on").textList() == nullptr);
        QCOMPARE(blockOf("goes on").blockFormat().indent(), 1);
        for (const char* part : {"quoted", "ends"})
            QCOMPARE(blockOf(part).blockFormat().intProperty(QTextFormat::BlockQuoteLevel), 1);
        QCOMPARE(blockOf("last").blockFormat().intProperty(QTextFormat::BlockQuoteLevel), 0);
    }

    void cellsOfALessonsTableAreLinesInACopy() {
        const Theme theme;
        FormulaBrowser browser(theme);
        browser.showMarkdown(QStringLiteral("|a|$b$|\n|---|---|\n|1|2|\n"));
        QVERIFY2(browser.writtenText().contains(QStringLiteral("a\n$b$\n1\n2")),
                 qPrintable(browser.writtenText()));
        for (const int mark : {0xFDD0, 0xFDD1})
            QVERIFY(!browser.spokenText().contains(QChar(mark)));
    }

    void aPrivateCharacterIsNoFormula() {
        const Theme theme;
        FormulaBrowser browser(theme);
        const QString text = QStringLiteral("a \uE000 b $x$ c \uE000 d $y$");
        browser.showMarkdown(text);
        QCOMPARE(browser.writtenText(), QString(text).replace(QChar(0xE000), QChar(0xFFFD)));
        MessageBody body(theme);
        show(body, text);
        QCOMPARE(body.plainText(), text);
        QCOMPARE(body.spokenText(), QString(text).remove(u'$'));
    }
};

QTEST_MAIN(FormulaTextTest)
#include "formula_text_test.moc"
