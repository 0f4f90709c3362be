// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/text/message_samples.h"
#include "tests/ui/text/random_markdown.h"
#include "ui/markdown/formula_finder.h"
#include "ui/text/message_body.h"

#include <QAbstractButton>
#include <QClipboard>
#include <QGuiApplication>
#include <QImage>
#include <QPaintEvent>
#include <QPainter>
#include <QPixmap>
#include <QSignalSpy>
#include <QTest>

#include <algorithm>
#include <cmath>

namespace {

using namespace ui;
using engine::TokenOrigin;

constexpr int kWidth = 500;

QImage pictureOf(MessageBody& body) {
    body.resize(kWidth, body.heightForWidth(kWidth));
    QImage picture(body.size(), QImage::Format_RGB32);
    picture.fill(Qt::white);
    body.render(&picture);
    return picture;
}

/// Pixels of this colour in a part of a picture.
int countOf(const QImage& picture, const QRect& area, const QColor& colour) {
    int count = 0;
    for (int y = area.top(); y <= area.bottom(); ++y)
        for (int x = area.left(); x <= area.right(); ++x)
            count += picture.rect().contains(x, y) && picture.pixelColor(x, y) == colour ? 1 : 0;
    return count;
}

/// How often grey changes by much from one pixel to the next along a token's last row.
int changesAlong(const QImage& grey, const QRect& token) {
    int changes = 0;
    for (int x = token.left() + 1; x <= token.right(); ++x) {
        const int before = qGray(grey.pixel(x - 1, token.bottom() - 1));
        changes += std::abs(qGray(grey.pixel(x, token.bottom() - 1)) - before) > 40 ? 1 : 0;
    }
    return changes;
}

/// Remembers what was asked to be painted.
class PaintWatch : public QObject {
public:
    using QObject::QObject;

    bool eventFilter(QObject*, QEvent* event) override {
        if (event->type() == QEvent::Paint)
            painted += static_cast<QPaintEvent*>(event)->region();
        return false;
    }

    QRegion painted;
};

MessageSample fourOrigins() {
    MessageSample sample;
    sample.add(QStringLiteral("certainly"), TokenOrigin::Draft, 0.95);
    sample.add(QStringLiteral(" alternative"), TokenOrigin::Sibling);
    sample.add(QStringLiteral(" ownwords"), TokenOrigin::Bonus);
    sample.add(QStringLiteral(" vanillas"), TokenOrigin::Vanilla);
    sample.add(QStringLiteral(" likely"), TokenOrigin::Draft, 0.6);
    sample.add(QStringLiteral(" guessed"), TokenOrigin::Draft, 0.2);
    return sample;
}

class MessageBodyTest : public QObject {
    Q_OBJECT

private slots:

    void tokensOfARunTouch() {
        const Theme theme;
        MessageBody body(theme);
        const MessageSample sample = fourOrigins();
        body.setShowsOrigin(true);
        body.setMessage(sample.text, sample.tokens);
        body.resize(kWidth, body.heightForWidth(kWidth));
        for (int token = 3; token < 6; ++token) {
            const int gap = body.tokenRect(token).left() - body.tokenRect(token - 1).right();
            QVERIFY2(gap >= 0 && gap <= 1, qPrintable(QString::number(gap)));
        }
        // The sibling's k2 stands between it and the next one.
        QVERIFY(body.tokenRect(2).left() > body.tokenRect(1).right() + 8);
    }

    void codeKeepsItsColumnsWhileItsOriginIsShown() {
        const Theme theme;
        MessageSample sample;
        sample.add(QStringLiteral("```python\nif a:\n"), TokenOrigin::Draft);
        sample.add(QStringLiteral("    "), TokenOrigin::Sibling);
        sample.add(QStringLiteral("first"), TokenOrigin::Draft);
        sample.add(QStringLiteral("\n"), TokenOrigin::Vanilla);
        sample.add(QStringLiteral("    "), TokenOrigin::Vanilla);
        sample.add(QStringLiteral("second"), TokenOrigin::Sibling);
        sample.add(QStringLiteral("()\n```\n"), TokenOrigin::Bonus);
        MessageBody body(theme);
        body.setMessage(sample.text, sample.tokens);
        body.setShowsOrigin(true);
        body.resize(kWidth, body.heightForWidth(kWidth));
        QCOMPARE(body.tokenRect(2).left(), body.tokenRect(5).left());
        const int behindSibling = body.tokenRect(6).left() - body.tokenRect(5).right();
        QVERIFY2(behindSibling <= 1, qPrintable(QString::number(behindSibling)));
    }

    void originsHaveTheirColoursInLightAndDark() {
        for (const ThemeChoice choice : {ThemeChoice::Light, ThemeChoice::Dark}) {
            Theme theme;
            theme.setChoice(choice);
            MessageBody body(theme);
            const MessageSample sample = fourOrigins();
            body.setMessage(sample.text, sample.tokens);
            const Colours& colours = theme.colours();
            const QImage plain = pictureOf(body);
            QCOMPARE(countOf(plain, plain.rect(), colours.accepted), 0);
            body.setShowsOrigin(true);
            const QImage picture = pictureOf(body);
            const auto tint = [&](int token) {
                return countOf(picture, body.tokenRect(token), colours.accepted);
            };
            const auto line = [&](int token) {
                return countOf(picture, body.tokenRect(token), colours.acceptedLine);
            };
            QVERIFY(tint(0) > 300 && tint(1) > 300);
            QCOMPARE(tint(3), 0);
            const int wide = body.tokenRect(0).width();
            QVERIFY(std::abs(line(0) - 2 * wide) <= 4);
            QVERIFY(line(1) > body.tokenRect(1).width() / 2 && line(1) < 2 * wide);
            QCOMPARE(line(3), 0);
            QVERIFY(std::abs(line(4) - body.tokenRect(4).width()) <= 2);
            QVERIFY(std::abs(line(5) - body.tokenRect(5).width() / 3) <= 3);
        }
    }

    void originsDifferWithoutColour() {
        for (const ThemeChoice choice : {ThemeChoice::Light, ThemeChoice::Dark}) {
            Theme theme;
            theme.setChoice(choice);
            MessageBody body(theme);
            const MessageSample sample = fourOrigins();
            body.setShowsOrigin(true);
            body.setMessage(sample.text, sample.tokens);
            body.resize(kWidth, body.heightForWidth(kWidth));
            QImage picture(body.size(), QImage::Format_RGB32);
            picture.fill(theme.colours().panel);
            body.render(&picture, {}, {}, QWidget::DrawChildren);
            const QImage grey = picture.convertToFormat(QImage::Format_Grayscale8);
            const auto inner = [&](int token) {
                return body.tokenRect(token).adjusted(2, 0, -2, 0);
            };
            QCOMPARE(changesAlong(grey, inner(0)), 0);  // a whole line
            QVERIFY(changesAlong(grey, inner(1)) >= 8); // dashes
            const int dot = changesAlong(grey, inner(2));
            QVERIFY2(dot >= 2 && dot <= 4, qPrintable(QString::number(dot)));
            QCOMPARE(changesAlong(grey, inner(3)), 0); // nothing
            const auto rowGrey = [&](int token) {
                const QRect rect = inner(token);
                return qGray(grey.pixel(rect.left() + 3, rect.bottom() - 1));
            };
            const auto groundGrey = qGray(theme.colours().panel.rgb());
            QVERIFY(std::abs(rowGrey(0) - groundGrey) > 40);
            QVERIFY(std::abs(rowGrey(3) - groundGrey) < 5);
        }
    }

    void shownAndUnseenTokensAreAllTokens() {
        const Theme theme;
        QRandomGenerator random(5);
        for (int round = 0; round < 60; ++round) {
            const MessageSample sample = tokenised(random, randomMarkdown(random, 25));
            MessageBody body(theme);
            body.setShowsOrigin(round % 2 == 0);
            body.setMessage(sample.text, sample.tokens);
            const int before = body.unseenTokens();
            body.setShowsOrigin(true);
            const int unseen = body.unseenTokens();
            if (findFormulas(sample.text).empty()) // a picture shows no token of its own
                QCOMPARE(unseen, before);
            int shown = 0;
            for (int token = 0; token < static_cast<int>(sample.tokens.size()); ++token)
                shown += body.tokenRect(token).isNull() ? 0 : 1;
            QCOMPARE(shown + unseen, static_cast<int>(sample.tokens.size()));
        }
    }

    void tokensLieInTheWidgetAndInReadingOrder() {
        const Theme theme;
        MessageSample sample;
        for (int i = 0; i < 200; ++i)
            sample.add(QStringLiteral(" word%1").arg(i), TokenOrigin::Draft);
        MessageBody body(theme);
        body.setShowsOrigin(true);
        body.setMessage(sample.text, sample.tokens);
        body.resize(kWidth, body.heightForWidth(kWidth));
        QRect last;
        for (int token = 0; token < 200; ++token) {
            const QRect rect = body.tokenRect(token);
            QVERIFY(body.rect().contains(rect));
            QVERIFY(rect.top() > last.top() || rect.left() > last.left() || token == 0);
            last = rect;
        }
        QVERIFY(last.top() > 100);
    }

    void copiedTextHoldsNoSigns() {
        const Theme theme;
        MessageSample sample;
        sample.add(QStringLiteral("Some **bold"), TokenOrigin::Sibling);
        sample.add(QStringLiteral("** text\n\n1. one\n2. `two`\n\n```py\n"), TokenOrigin::Draft);
        sample.add(QStringLiteral("if x:\n"), TokenOrigin::Sibling);
        sample.add(QStringLiteral("\n    y\n"), TokenOrigin::Draft);
        sample.add(QStringLiteral("```\n\n|a|b|\n|--|--|\n|1|2|\n"), TokenOrigin::Draft);
        MessageBody body(theme);
        const QString expected =
            QStringLiteral("Some bold text\n\n1. one\n2. two\n\nif x:\n\n    y\n\na\tb\n1\t2");
        for (const bool showsOrigin : {false, true}) {
            body.setShowsOrigin(showsOrigin);
            body.setMessage(sample.text, sample.tokens);
            QCOMPARE(body.plainText(), expected);
            body.selectAll();
            QCOMPARE(body.selectedText(), expected);
            QCOMPARE(body.selectionStart(), 0);
        }
    }

    void theButtonOfACodeBlockCopiesTheCodeAlone() {
        const Theme theme;
        MessageBody body(theme);
        body.resize(kWidth, 200);
        body.setMessage(QStringLiteral("1. ```sh\n   cd a\n\n   ls\n   ```\n"), {});
        auto* button = body.findChild<QAbstractButton*>();
        QVERIFY(button != nullptr);
        button->click();
        QCOMPARE(QGuiApplication::clipboard()->text(), QStringLiteral("cd a\n\nls"));
        QCOMPARE(body.plainText(), QStringLiteral("1. cd a\n\nls"));
    }

    void cellsWithoutTextKeepTheirColumnsInACopy() {
        const Theme theme;
        MessageBody body(theme);
        body.setMessage(QStringLiteral("| | A | B |\n|--|--|--|\n| x | | 2 |\n| | 3 | 4 |\n"), {});
        const QString expected = QStringLiteral("\tA\tB\nx\t\t2\n\t3\t4");
        QCOMPARE(body.plainText(), expected);
        body.selectAll();
        QCOMPARE(body.selectedText(), expected);
        body.setMessage(QStringLiteral("above\n\n| | A |\n|--|--|\n"), {});
        QCOMPARE(body.plainText(), QStringLiteral("above\n\n\tA"));
    }

    void theLastColumnsOfAWideTableAreNotCut() {
        const Theme theme;
        QString heads;
        QString lines;
        for (int i = 0; i < 24; ++i) {
            heads += QStringLiteral("|a long heading");
            lines += QStringLiteral("|--");
        }
        MessageBody body(theme);
        body.resize(kWidth, 100);
        body.setMessage(heads + QStringLiteral("|\n") + lines + QStringLiteral("|\n"), {});
        const BlockView& table = body.messageLayout().blocks().front();
        QCOMPARE(table.columnCount(), 24);
        const double right = table.parts().back().at.x() + theme.scaled(8); // of a letter
        QVERIFY2(right <= body.messageLayout().width(), qPrintable(QString::number(right)));
    }

    void piecesGiveTheSamePictureAsTheWhole() {
        const Theme theme;
        QRandomGenerator random(17);
        for (int round = 0; round < 25; ++round) {
            const MessageSample sample = tokenised(random, randomMarkdown(random, 25));
            MessageBody whole(theme);
            whole.setShowsOrigin(true);
            whole.resize(kWidth, 100);
            whole.setMessage(sample.text, sample.tokens);
            MessageBody pieces(theme);
            pieces.setShowsOrigin(true);
            pieces.resize(kWidth, 100);
            for (std::size_t token = 0; token < sample.tokens.size();) {
                const auto count = static_cast<std::size_t>(1 + random.bounded(4));
                const std::size_t end = std::min(token + count, sample.tokens.size());
                const int from = sample.tokens[token].begin;
                const int to = sample.tokens[end - 1].end;
                const auto at = sample.tokens.begin();
                pieces.append(sample.text.mid(from, to - from),
                              {at + static_cast<std::ptrdiff_t>(token),
                               at + static_cast<std::ptrdiff_t>(end)});
                token = end;
            }
            pieces.finish();
            QCOMPARE(pieces.unseenTokens(), whole.unseenTokens());
            QCOMPARE(pieces.plainText(), whole.plainText());
            QCOMPARE(pictureOf(pieces), pictureOf(whole));
        }
    }

    void anAppendLaysOutTheOpenRestOnly() {
        const Theme theme;
        MessageBody body(theme);
        body.resize(kWidth, 100);
        for (int i = 0; i < 300; ++i)
            body.append(QStringLiteral("A paragraph of its own.\n\n"), {});
        std::int64_t before = body.messageLayout().laidOutPieces();
        QVERIFY(before <= 3 * 300);
        body.append(QStringLiteral("```py\n"), {});
        for (int i = 0; i < 500; ++i)
            body.append(QStringLiteral("x = 1\n"), {});
        QVERIFY(body.messageLayout().laidOutPieces() - before <= 2 * 500 + 10);
        before = body.messageLayout().laidOutPieces();
        body.append(QStringLiteral("y"), {});
        QCOMPARE(body.messageLayout().laidOutPieces() - before, 1);
    }

    void itemsOfAnOpenListAreLaidOutOnce() {
        const Theme theme;
        MessageBody body(theme);
        body.resize(kWidth, 100);
        for (int i = 0; i < 100; ++i)
            body.append(QStringLiteral("- an item of its own\n"), {});
        // Each item: its text and its bullet, and a little more while it is the newest.
        QVERIFY(body.messageLayout().laidOutPieces() <= 6 * 100);
    }

    void anAppendRepaintsBelowTheOpenBlockOnly() {
        const Theme theme;
        MessageBody body(theme);
        body.resize(kWidth, 2000);
        for (int i = 0; i < 20; ++i)
            body.append(QStringLiteral("A paragraph of its own.\n\n"), {});
        body.append(QStringLiteral("open"), {});
        body.show();
        QVERIFY(QTest::qWaitForWindowExposed(&body, support::kPatienceMs));
        QCoreApplication::processEvents();
        PaintWatch watch;
        body.installEventFilter(&watch);
        body.append(QStringLiteral(" more"), {});
        QTRY_VERIFY(!watch.painted.isEmpty());
        const auto last = body.messageLayout().blocks().size() - 1;
        QVERIFY(watch.painted.boundingRect().top() >= body.messageLayout().top(last) - 2);
    }

    void anAppendToALongParagraphRepaintsItsLastLinesOnly() {
        const Theme theme;
        MessageBody body(theme);
        body.setShowsOrigin(true);
        body.resize(kWidth, 2000);
        body.append(QStringLiteral("Many words of one paragraph. ").repeated(60), {});
        body.show();
        QVERIFY(QTest::qWaitForWindowExposed(&body, support::kPatienceMs));
        QCoreApplication::processEvents();
        PaintWatch watch;
        body.installEventFilter(&watch);
        const double lastLine = body.messageLayout().caretRect().top();
        body.append(QStringLiteral("more"), {});
        QTRY_VERIFY(!watch.painted.isEmpty());
        QVERIFY(lastLine > 300);
        QVERIFY(watch.painted.boundingRect().top() >= lastLine - 30);
    }

    void whatIsPaintedBehindEachAppendMakesThePictureOfTheWhole_data() {
        QTest::addColumn<bool>("showsOrigin");
        QTest::newRow("origin") << true;
        QTest::newRow("plain") << false;
    }

    void whatIsPaintedBehindEachAppendMakesThePictureOfTheWhole() {
        QFETCH(bool, showsOrigin);
        const Theme theme;
        QRandomGenerator random(29);
        constexpr int kNarrow = 160; // so that paragraphs have many lines
        for (int round = 0; round < 40; ++round) {
            QString text = randomMarkdown(random, 12);
            for (int i = 0; i < 30; ++i)
                text += randomMarkdown(random, 1).remove(QLatin1String("\n\n"));
            const MessageSample sample = tokenised(random, text);
            MessageLayout layout(theme);
            layout.setShowsOrigin(showsOrigin);
            layout.setWidth(kNarrow);
            QImage followed(kNarrow + 20, 4000, QImage::Format_RGB32);
            followed.fill(Qt::white);
            const auto paint = [&](QImage& picture, double top) {
                QPainter painter(&picture);
                const QRectF area(0, std::floor(top), picture.width(), picture.height());
                painter.setClipRect(area);
                painter.fillRect(area, Qt::white);
                PiecePaint how;
                how.clip = area;
                layout.paint(painter, how);
            };
            for (std::size_t token = 0; token < sample.tokens.size(); ++token) {
                const TokenMark& mark = sample.tokens[token];
                const QString part = sample.text.mid(mark.begin, mark.end - mark.begin);
                paint(followed, layout.append(part, {mark}));
            }
            paint(followed, layout.finish());
            QImage whole(followed.size(), QImage::Format_RGB32);
            paint(whole, 0.0);
            QCOMPARE(followed, whole);
        }
    }

    void tokensThatComeAfterTheirTextAreDrawn() {
        const Theme theme;
        MessageBody body(theme);
        body.setShowsOrigin(true);
        body.append(QStringLiteral("first block\n\nsecond block\n\nthird"), {});
        TokenMark token;
        token.end = 5;
        token.origin = TokenOrigin::Draft;
        body.append(QString(), {token});
        QVERIFY(!body.tokenRect(0).isNull());
        QCOMPARE(body.unseenTokens(), 0);
    }

    void marksOutsideTheTextAreHarmless() {
        const Theme theme;
        MessageBody body(theme);
        body.setShowsOrigin(true);
        std::vector<TokenMark> tokens(3);
        tokens[0].begin = -5;
        tokens[0].end = 999;
        tokens[1].begin = 7;
        tokens[1].end = 3;
        body.setMessage(QStringLiteral("short"), tokens);
        QVERIFY(!body.tokenRect(0).isNull());
        QCOMPARE(body.unseenTokens(), 2);
        QVERIFY(body.tokenRect(17).isNull());
    }

    void hostileTextIsShownAndEndsSoon() {
        const Theme theme;
        for (int index = 0; index < 200; index += 4) {
            const QString text = hostileText(index);
            QRandomGenerator random(static_cast<quint32>(index));
            const MessageSample sample = tokenised(random, text);
            const support::ProcessorClock clock;
            MessageBody body(theme);
            body.resize(kWidth, 100);
            body.setShowsOrigin(true);
            for (qsizetype begin = 0; begin < text.size(); begin += 500)
                body.append(text.mid(begin, 500), {});
            body.setMessage(sample.text, sample.tokens);
            body.selectAll();
            body.resize(kWidth, 400);
            body.grab();
            QVERIFY2(clock.ms() < support::kEndsSoonMs, qPrintable(text.left(20)));
            QVERIFY(body.height() > 0);
        }
    }
};

} // namespace

QTEST_MAIN(MessageBodyTest)
#include "message_body_test.moc"
