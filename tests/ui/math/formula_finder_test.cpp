// SPDX-License-Identifier: GPL-3.0-only
// Where formulas are found in Markdown, and where dollars and brackets stay what they are.
#include "tests/support/patience.h"
#include "ui/markdown/formula_finder.h"
#include "ui/markdown/markdown_document.h"

#include <QTest>

using namespace ui;

namespace {

QStringList found(const QString& text) {
    QStringList formulas;
    for (const FormulaSpan& span : findFormulas(text))
        formulas << text.mid(span.begin, span.end - span.begin);
    return formulas;
}

std::vector<Block> blocksOf(const QString& text) {
    MarkdownDocument document;
    document.append(text);
    document.finish();
    return document.blocks();
}

} // namespace

class FormulaFinderTest : public QObject {
    Q_OBJECT

private slots:

    void eachKindOfMarkIsFound() {
        QCOMPARE(found(QStringLiteral("a $x^2$ b \\(y\\) c $$z$$ d \\[w\\].")),
                 QStringList({"$x^2$", "\\(y\\)", "$$z$$", "\\[w\\]"}));
        QVERIFY(findFormulas(u"$$x$$")[0].isDisplay);
        QVERIFY(!findFormulas(u"\\(x\\)")[0].isDisplay);
        QCOMPARE(found(QStringLiteral("$$\n\\frac{a}{b}\n$$")).size(), 1);
        QCOMPARE(found(QStringLiteral("so $ x = 1 $ holds")), QStringList{"$ x = 1 $"});
        QCOMPARE(found(QStringLiteral("the $n$-th, the $i$th and $3$")),
                 QStringList({"$n$", "$i$", "$3$"}));
        QCOMPARE(found(QStringLiteral("$x = \\text{number of all cases}$")).size(), 1);
    }

    void moneyStaysMoney_data() {
        QTest::addColumn<QString>("text");
        for (const char* text : {"It costs $5 and then $6.",
                                 "from $5 to 10$ or so",
                                 "$5-$6, ($10)/($20), $5/$6",
                                 "Between $1,000 and $2,000",
                                 "I have 5$ and you have 6$.",
                                 "US$5 or AU$6$",
                                 "$20.\nShe paid 30$",
                                 "a price of \\$5 and \\$6",
                                 "$HOME/$USER and $PATH",
                                 "pays $X, receives $Y",
                                 "$ 5 for apples $",
                                 "costs $"})
            QTest::newRow(text) << QString::fromLatin1(text);
    }

    void moneyStaysMoney() {
        QFETCH(QString, text);
        QCOMPARE(found(text), QStringList());
    }

    void dollarsOfAddressesStayTheirs() {
        for (const char* text : {"see https://a.b/?x=1&$top=5&$skip=2 there",
                                 "https://a.b/$x$",
                                 "https://a.b/$$x$$",
                                 "$scheme://host/$path",
                                 "a shell's $5 https://a.b/$x"})
            QCOMPARE(found(QString::fromLatin1(text)), QStringList());
        QCOMPARE(found(QStringLiteral("$x$ at https://a.b/$c is $y$")),
                 QStringList({"$x$", "$y$"}));
        QCOMPARE(found(QStringLiteral("[$x$](https://a.b/$c/$d)")), QStringList{"$x$"});
        // Without spaces, as some languages are written.
        QCOMPARE(found(QStringLiteral("\u516C\uFF1A$x$\u3002\u89C1https://a.b\u3002$y$\u3002")),
                 QStringList({"$x$", "$y$"}));
        QCOMPARE(found(QStringLiteral("`https://a.b` $x$")), QStringList{"$x$"});
    }

    void addressesAndTitlesOfLinksHoldNoFormula() {
        for (const char* text : {"[a](doc/$x$/b)",
                                 "![a](doc/$x$.png)",
                                 "[a]( $$x$$ )",
                                 "[a](<doc/$x$ and $y$>)",
                                 "[a](b \"$x$\") [c](d '$x$') [e](f ($x$))",
                                 "[a](b(c)$x$)",
                                 "[a](b\\(x\\))",
                                 "[a [b] c](d/$x$)"})
            QCOMPARE(found(QString::fromLatin1(text)), QStringList());
        QCOMPARE(found(QStringLiteral("$x$ [$y$](doc/$a$/b) $z$")),
                 QStringList({"$x$", "$y$", "$z$"}));
        QCOMPARE(found(QStringLiteral("[a](b$c) is $x$, [d](e$f)")), QStringList{"$x$"});
        // No links.
        for (const char* text : {"]0,1]($x$)",
                                 "[a] ($x$)",
                                 "[a](no link $x$)",
                                 "[a](b\n$x$",
                                 "\\[a\\]($x$)",
                                 "[a\n\nb]($x$)",
                                 "`[a](` $x$ `)`"})
            QVERIFY2(found(QString::fromLatin1(text)).contains(QStringLiteral("$x$")), text);
        const auto blocks = blocksOf(QStringLiteral("[see](doc/$a$/b) and $x$ end"));
        QCOMPARE(blocks.size(), 1U);
        QCOMPARE(blocks[0].parts[0].text, QStringLiteral("see and $x$ end"));
        QCOMPARE(blocks[0].links.size(), 1U);
        QVERIFY(!blocks[0].links[0].contains(QChar(0xE000)));
    }

    void codeBracketsAndBlankLinesHoldNoFormula() {
        QCOMPARE(found(QStringLiteral("`$x$` and ``a ` $y$``")), QStringList());
        QCOMPARE(found(QStringLiteral("```sh\necho $a$\n```\n")), QStringList());
        QCOMPARE(found(QStringLiteral("$$a\n\nb$$")), QStringList());
        QCOMPARE(found(QStringLiteral("as shown \\[1\\] and \\[see the notes\\]")), QStringList());
        QCOMPARE(found(QStringLiteral("a \\\\(b\\\\) c")), QStringList());
        QCOMPARE(found(QStringLiteral("never closed $x")), QStringList());
    }

    void marksOfMarkdownWithinAFormulaAreItsOwn() {
        const auto blocks = blocksOf(QStringLiteral("So $a_1 * b_2 * c$ and **$x_i$** hold."));
        QCOMPARE(blocks.size(), 1U);
        const StyledText& part = blocks[0].parts[0];
        QCOMPARE(part.text, QStringLiteral("So $a_1 * b_2 * c$ and $x_i$ hold."));
        QCOMPARE(part.runs.size(), 5U);
        QCOMPARE(part.runs[1].style, unsigned(kFormula));
        QCOMPARE(part.runs[3].style, unsigned(kFormula | kStrong));
        QCOMPARE(part.runs[1].sourceBegin, 3);
        QCOMPARE(part.runs[1].sourceEnd, 18);
    }

    void aFormulaOnALineOfItsOwnIsABlock() {
        const auto blocks =
            blocksOf(QStringLiteral("First\n\\[\na = b\n- c\n\\]\nthen\n\n- item $$x$$ goes on\n"));
        QCOMPARE(blocks.size(), 6U);
        QCOMPARE(blocks[0].parts[0].text, QStringLiteral("First"));
        QCOMPARE(blocks[1].kind, BlockKind::Formula);
        QCOMPARE(blocks[1].parts[0].text, QStringLiteral("\\[\u2028a = b\u2028- c\u2028\\]"));
        QCOMPARE(blocks[2].parts[0].text, QStringLiteral("then"));
        QCOMPARE(blocks[3].markers.size(), 1U);
        QCOMPARE(blocks[4].kind, BlockKind::Formula);
        QCOMPARE(blocks[4].containers.size(), 1U);
        QCOMPARE(blocks[5].parts[0].text.trimmed(), QStringLiteral("goes on"));
    }

    void aFormulaAloneLeavesNoEmptyParagraph() {
        const auto blocks = blocksOf(QStringLiteral("$$\nx\n$$\n\n1. $$y$$\n2. z\n"));
        QCOMPARE(blocks.size(), 3U);
        QCOMPARE(blocks[0].kind, BlockKind::Formula);
        QCOMPARE(blocks[1].kind, BlockKind::Formula);
        QCOMPARE(blocks[1].markers[0].text.text, QStringLiteral("1."));
    }

    void aQuotesMarksDoNotBelongToTheFormula() {
        const auto blocks = blocksOf(QStringLiteral("> $$\n> a > b\n> $$\n"));
        QCOMPARE(blocks.size(), 1U);
        QCOMPARE(blocks[0].kind, BlockKind::Formula);
        QCOMPARE(blocks[0].parts[0].text.simplified().remove(QChar::LineSeparator).simplified(),
                 QStringLiteral("$$ a > b $$"));
    }

    void tablesAndHeadingsKeepFormulasInTheirLines() {
        const auto blocks = blocksOf(QStringLiteral("# On $x$\n\n|a|b|\n|-|-|\n|$|x|$|$$y$$|\n"));
        QCOMPARE(blocks.size(), 2U);
        QCOMPARE(blocks[0].kind, BlockKind::Heading);
        QCOMPARE(blocks[1].parts.size(), 4U);
        QCOMPARE(blocks[1].parts[2].text, QStringLiteral("$|x|$"));
        QCOMPARE(blocks[1].parts[3].runs[0].style, unsigned(kFormula));
    }

    void manyMarksEndSoon() {
        for (const char* seed : {"$a ",
                                 "\\(a",
                                 "$$a ",
                                 "`",
                                 "\\[ ",
                                 "$a b$",
                                 "$$",
                                 "$",
                                 "://",
                                 "a://$b ",
                                 "[](a$",
                                 "[](<$",
                                 "[](a \"$",
                                 "[](a '$",
                                 "[](a ($",
                                 "[]( $",
                                 "[$](a)"}) {
            const QString text = QString::fromLatin1(seed).repeated(200'000);
            const support::ProcessorClock clock;
            findFormulas(text);
            QVERIFY2(clock.ms() < support::kEndsSoonMs, seed);
        }
    }
};

QTEST_APPLESS_MAIN(FormulaFinderTest)
#include "formula_finder_test.moc"
