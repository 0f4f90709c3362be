// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/few_cases.h"
#include "tests/ui/text/random_markdown.h"
#include "ui/markdown/code/code_highlighter.h"
#include "ui/markdown/markdown_document.h"
#include "ui/markdown/plain_characters.h"

#include <QTest>

namespace {

using namespace ui;

QString described(const StyledText& text) {
    QString words = QStringLiteral("[%1|%2").arg(text.text).arg(text.newline);
    for (const TextRun& run : text.runs)
        words += QStringLiteral(" %1+%2<%3-%4 %5%6")
                     .arg(run.start)
                     .arg(run.length)
                     .arg(run.sourceBegin)
                     .arg(run.sourceEnd)
                     .arg(run.style)
                     .arg(run.isVerbatim ? u'v' : u'r');
    return words + u']';
}

QString described(const Block& block) {
    QString words = QStringLiteral("%1 h%2 c%3 t%4 s%5 %6:")
                        .arg(static_cast<int>(block.kind))
                        .arg(block.headingLevel)
                        .arg(block.containers.size())
                        .arg(block.isTight)
                        .arg(block.sharedContainers)
                        .arg(block.language);
    for (const ItemMarker& marker : block.markers)
        words += QString::number(marker.level) + described(marker.text);
    for (const StyledText& part : block.parts)
        words += described(part);
    return words + block.links.join(u',');
}

QStringList described(const MarkdownDocument& document) {
    QStringList lines;
    for (const Block& block : document.blocks())
        lines << described(block);
    return lines;
}

MarkdownDocument documentOf(const QString& text) {
    MarkdownDocument document;
    document.append(text);
    document.finish();
    return document;
}

/// Whether the run shows what its range of the source says.
bool tellsTheTruth(const StyledText& part, const TextRun& run, const QString& source) {
    const QString shown = part.text.mid(run.start, run.length);
    const QString written = source.mid(run.sourceBegin, run.sourceEnd - run.sourceBegin);
    // A formula is one run, whatever lines it is written on.
    const bool isFormula = (run.style & kFormula) != 0;
    if (isFormula && showableText(QString(written).replace(u'\n', u' ')) ==
                         QString(shown).replace(QChar::LineSeparator, u' '))
        return true;
    if (run.isVerbatim)
        return written.size() == shown.size() && showableText(written) == shown;
    const bool isEntity = written.startsWith(u'&') && written.endsWith(u';');
    const bool isLineEnd = written == u"\n" && (shown == u" " || shown == QChar::LineSeparator);
    const bool isIndent = shown.trimmed().isEmpty() && written.isEmpty();
    const bool isMarker = shown == u"\u2022" ? QStringView(u"-*+").contains(written)
                                             : written.startsWith(u'[') && written.endsWith(u']');
    return isEntity || isLineEnd || isIndent || isMarker;
}

class MarkdownDocumentTest : public QObject {
    Q_OBJECT

    /// Of random texts: a quarter by default.
    static int roundsOf(int all) { return support::takesAllCases() ? all : all / 4; }

private slots:

    void blocksOfAllKindsAreFound() {
        const MarkdownDocument document =
            documentOf(QStringLiteral("# T\n\ntext\n\n- a\n  1. b\n- [x] c\n\n> "
                                      "q\n\n```py\nx\n```\n\n|a|b|\n|-|-:|\n|1|2|\n\n---\n"));
        const auto& blocks = document.blocks();
        QCOMPARE(blocks.size(), 9U);
        QCOMPARE(blocks[0].headingLevel, 1);
        QCOMPARE(blocks[1].parts[0].text, QStringLiteral("text"));
        QCOMPARE(blocks[2].markers[0].text.text, QStringLiteral("\u2022"));
        QCOMPARE(blocks[3].containers.size(), 2U);
        QCOMPARE(blocks[3].markers[0].text.text, QStringLiteral("1."));
        QCOMPARE(blocks[4].markers[0].text.text, QStringLiteral("\u2611"));
        QCOMPARE(blocks[5].containers[0], Container::Quote);
        QCOMPARE(blocks[6].language, QStringLiteral("py"));
        QCOMPARE(blocks[7].kind, BlockKind::Table);
        QCOMPARE(blocks[7].columns[1], CellAlignment::Right);
        QCOMPARE(blocks[7].parts[3].text, QStringLiteral("2"));
        QCOMPARE(blocks[8].kind, BlockKind::Rule);
    }

    void linesOfAParagraphStayLines() {
        const MarkdownDocument document = documentOf(QStringLiteral("one\ntwo  \nthree `a\nb`\n"));
        QCOMPARE(document.blocks().size(), 1U);
        QCOMPARE(document.blocks()[0].parts[0].text, QStringLiteral("one\u2028two\u2028three a b"));
    }

    void everyShownCharacterIsTheSourcesOwn() {
        QRandomGenerator random(7);
        for (int round = 0; round < roundsOf(400); ++round) {
            const QString source = randomMarkdown(random, 40);
            const MarkdownDocument document = documentOf(source);
            int last = 0;
            const auto check = [&](const StyledText& part) {
                for (const TextRun& run : part.runs) {
                    QVERIFY2(tellsTheTruth(part, run, source), qPrintable(described(part)));
                    QVERIFY2(run.sourceBegin >= last, qPrintable(described(part)));
                    last = run.sourceEnd;
                }
            };
            for (const Block& block : document.blocks()) {
                for (const ItemMarker& marker : block.markers)
                    check(marker.text);
                for (const StyledText& part : block.parts)
                    check(part);
            }
            QVERIFY(last <= source.size());
        }
    }

    void piecesGiveTheSameBlocksAsTheWhole() {
        QRandomGenerator random(11);
        for (int round = 0; round < roundsOf(300); ++round) {
            const QString source = randomMarkdown(random, 40);
            MarkdownDocument whole;
            whole.append(source);
            MarkdownDocument pieces;
            for (const QString& chunk : randomChunks(random, source, 9))
                pieces.append(chunk);
            QCOMPARE(described(pieces), described(whole));
            whole.finish();
            pieces.finish();
            QCOMPARE(described(pieces), described(whole));
        }
    }

    void everyChangeIsTold() {
        QRandomGenerator random(13);
        for (int round = 0; round < roundsOf(150); ++round) {
            const QString source = randomMarkdown(random, 40);
            MarkdownDocument document;
            std::vector<Block> before;
            for (const QString& chunk : randomChunks(random, source, 12)) {
                const DocumentChange change = document.append(chunk);
                for (std::size_t i = 0; i < change.block; ++i)
                    QCOMPARE(described(document.blocks()[i]), described(before[i]));
                for (std::size_t i = 0; i < change.part; ++i)
                    QCOMPARE(described(document.blocks()[change.block].parts[i]),
                             described(before[change.block].parts[i]));
                before = document.blocks();
            }
        }
    }

    void closedBlocksAreParsedOnce() {
        MarkdownDocument document;
        const QString paragraph =
            QStringLiteral("Some *words* of a paragraph of usual length.\n\n");
        const QString text = paragraph.repeated(300);
        std::int64_t appends = 0;
        for (qsizetype begin = 0; begin < text.size(); begin += 5, ++appends)
            document.append(text.mid(begin, 5));
        document.finish();
        QCOMPARE(document.closedParses(), 300);
        // Each append parses the open paragraph at most, and each closing that paragraph once.
        QVERIFY(document.parsedCharacters() <= (appends + 300) * (paragraph.size() + 5));
    }

    void linesOfOpenCodeAreNotParsedAgain() {
        MarkdownDocument document;
        document.append(QStringLiteral("```cpp\n"));
        const std::int64_t parsed = document.parsedCharacters();
        for (int line = 0; line < 2000; ++line) {
            const DocumentChange change = document.append(QStringLiteral("int x;\n"));
            QCOMPARE(change.part, static_cast<std::size_t>(line));
        }
        QCOMPARE(document.parsedCharacters(), parsed);
        QCOMPARE(document.blocks().size(), 1U);
        QCOMPARE(document.blocks()[0].parts.size(), 2000U);
    }

    void theMarkOfAnItemIsFoundBeforeBoldTextToo() {
        for (const char* text : {"- **Bold** word", "- word", "- `code`"}) {
            const MarkdownDocument document = documentOf(QString::fromLatin1(text));
            const StyledText& mark = document.blocks()[0].markers[0].text;
            QCOMPARE(mark.runs.size(), 1U);
            QCOMPARE(mark.runs[0].sourceBegin, 0);
            QCOMPARE(mark.runs[0].sourceEnd, 1);
        }
        const MarkdownDocument numbered = documentOf(QStringLiteral("1. **Bold**"));
        QCOMPARE(numbered.blocks()[0].markers[0].text.runs.size(), 1U);
    }

    void listsGoOnBehindBlankLines() {
        const MarkdownDocument document =
            documentOf(QStringLiteral("1. a\n\n1. b\n\n   still b\n\n1. c\n\nbehind"));
        QCOMPARE(document.blocks().size(), 5U);
        QCOMPARE(document.blocks()[1].markers[0].text.text, QStringLiteral("2."));
        QCOMPARE(document.blocks()[2].containers.size(), 1U);
        QCOMPARE(document.blocks()[3].markers[0].text.text, QStringLiteral("3."));
        QVERIFY(document.blocks()[4].containers.empty());
    }

    void rawHtmlAndImagesAreText() {
        const MarkdownDocument document = documentOf(
            QStringLiteral("<script>go()</script>\n\n<img src=x> ![alt text](file:///etc)"));
        QCOMPARE(document.blocks()[0].parts[0].text, QStringLiteral("<script>go()</script>"));
        QCOMPARE(document.blocks()[1].parts[0].text, QStringLiteral("<img src=x> alt text"));
        QCOMPARE(document.blocks()[1].links, QStringList{QStringLiteral("file:///etc")});
    }

    void aLinkWithoutWordsShowsItsAddress() {
        const QString source = QStringLiteral(
            "see [](http://x), ![](<p q.png>), [![](i)](http://y) and [![z](i)](http://y) end");
        const MarkdownDocument document = documentOf(source);
        const StyledText& part = document.blocks()[0].parts[0];
        QCOMPARE(part.text, QStringLiteral("see http://x, p q.png, i and z end"));
        int last = 0;
        for (const TextRun& run : part.runs) {
            QVERIFY2(run.isVerbatim && run.sourceBegin >= last, qPrintable(described(part)));
            QVERIFY2(tellsTheTruth(part, run, source), qPrintable(described(part)));
            last = run.sourceEnd;
        }
        QCOMPARE(part.runs[1].style, static_cast<unsigned>(kLink));
        QCOMPARE(document.blocks()[0].links[part.runs[1].link], QStringLiteral("http://x"));
    }

    void anAddressThatStandsElsewhereIsShownInItsPlace() {
        const QString source = QStringLiteral("[a]: http://w\nsee [][a] and [](v\\_1), [][a]!");
        const MarkdownDocument document = documentOf(source);
        const StyledText& part = document.blocks()[0].parts[0];
        QCOMPARE(part.text, QStringLiteral("see http://w and v_1, http://w!"));
        int last = 0;
        for (const TextRun& run : part.runs) {
            QVERIFY2(run.sourceBegin >= last, qPrintable(described(part)));
            last = run.sourceEnd;
        }
        // Each has a character of the message, or it would be left out of copies.
        const MarkdownDocument alone = documentOf(QStringLiteral("![](http://x?w=1&h=2)"));
        const TextRun& address = alone.blocks()[0].parts[0].runs[0];
        QVERIFY(address.sourceBegin < address.sourceEnd);
        // One definition for very many links does not make a very long text of it.
        const QString often = QStringLiteral("[a]: http://") + QString(4000, u'w') + u'\n' +
                              QStringLiteral("[][a]").repeated(800);
        const MarkdownDocument repeated = documentOf(often);
        qsizetype shown = 0;
        for (const Block& block : repeated.blocks())
            for (const StyledText& each : block.parts)
                shown += each.text.size();
        QVERIFY2(shown < 20 * often.size(), qPrintable(QString::number(shown)));
    }

    void linkDefinitionsAloneAreText() {
        const QString source =
            QStringLiteral("[a]: http://x\r\n[b]: http://y\n\n  [c]: http://z\n");
        const MarkdownDocument document = documentOf(source);
        QCOMPARE(document.blocks().size(), 3U);
        for (const Block& block : document.blocks())
            for (const TextRun& run : block.parts[0].runs)
                QVERIFY(tellsTheTruth(block.parts[0], run, source));
        QCOMPARE(document.blocks()[0].parts[0].text, QStringLiteral("[a]: http://x"));
        QCOMPARE(document.blocks()[1].parts[0].text, QStringLiteral("[b]: http://y"));
        QCOMPARE(document.blocks()[2].parts[0].text, QStringLiteral("[c]: http://z"));
        const MarkdownDocument used = documentOf(QStringLiteral("[a]: http://x\n[a]"));
        QCOMPARE(used.blocks().size(), 1U);
        QCOMPARE(used.blocks()[0].links, QStringList{QStringLiteral("http://x")});
    }

    void linkDefinitionsThatNoLinkUsesAreText() {
        for (const char* words : {"- [a]: http://x",
                                  "- [a]: http://x\n- b",
                                  "1. > [a]: <http://x> 'y'",
                                  "[a]: http://x\nbelow",
                                  "- b\n\n  [a]:\n  http://x",
                                  "- b `[a]`\n- [a]: http://x"}) {
            const QString source = QString::fromLatin1(words);
            const MarkdownDocument document = documentOf(source);
            QString shown;
            for (const Block& block : document.blocks())
                for (const StyledText& part : block.parts) {
                    shown += part.text + u' ';
                    for (const TextRun& run : part.runs)
                        QVERIFY2(tellsTheTruth(part, run, source), words);
                }
            QVERIFY2(shown.contains(QStringLiteral("[a]:")), words);
            QVERIFY2(shown.contains(QStringLiteral("http://x")), words);
        }
        const MarkdownDocument used = documentOf(QStringLiteral("- [a]: <http://x>\n- see [a]"));
        QCOMPARE(used.blocks().size(), 2U);
        QCOMPARE(used.blocks()[1].parts[0].text, QStringLiteral("see a"));
        QCOMPARE(used.blocks()[1].links, QStringList{QStringLiteral("http://x")});
        for (const char* words : {"- [a]: http://x/y\\_z\n- see [a]",
                                  "- [a]: http://x?p=1&amp;q=2\n- see [a]",
                                  "> [a]:\n> http://x\n>\n> see [a]"}) {
            const MarkdownDocument document = documentOf(QString::fromLatin1(words));
            QVERIFY2(document.blocks().back().parts[0].text == QStringLiteral("see a"), words);
        }
    }

    void charactersThatSteerTheLayoutAreNotShown() {
        const QString source = QStringLiteral("a\u202Eb\u2066c\u2028d\uFFFCe\u0007f");
        const MarkdownDocument document = documentOf(source);
        for (const QChar character : document.blocks()[0].parts[0].text)
            QVERIFY(isShowable(character.unicode()));
        QCOMPARE(document.blocks()[0].parts[0].text.size(), source.size());
    }

    void hostileTextEndsSoon() {
        // Behind those come the same pieces in other lengths.
        for (int index = 0; index < (support::takesAllCases() ? 200 : 80); ++index) {
            const QString text = hostileText(index);
            const support::ProcessorClock clock;
            MarkdownDocument document;
            for (qsizetype begin = 0; begin < text.size(); begin += 50)
                document.append(text.mid(begin, 50));
            document.finish();
            QVERIFY2(clock.ms() < support::kEndsSoonMs, qPrintable(text.left(40)));
            for (const Block& block : document.blocks())
                QVERIFY(block.containers.size() <= 12 && block.parts.size() <= 4000);
        }
    }

    void tenThousandQuotesAreFlat() {
        const MarkdownDocument document =
            documentOf(QStringLiteral("> ").repeated(10000) + QStringLiteral("deep"));
        QVERIFY(!document.blocks().empty());
        for (const Block& block : document.blocks())
            QVERIFY(block.containers.size() <= 12);
    }

    void aWideTableIsText() {
        QString text = QStringLiteral("|") + QStringLiteral("a|").repeated(1000) + u'\n';
        text += QStringLiteral("|") + QStringLiteral("-|").repeated(1000) + u'\n';
        text += QStringLiteral("|\n").repeated(1500);
        const MarkdownDocument document = documentOf(text);
        for (const Block& block : document.blocks())
            QVERIFY(block.parts.size() <= 4000);
    }

    void aLineOfTenMegabytesIsRead() {
        for (const QString& start : {QString(), QStringLiteral("```\n")}) {
            MarkdownDocument document;
            const QString text = start + QStringLiteral("0123456789").repeated(1000000);
            for (qsizetype begin = 0; begin < text.size(); begin += 4000)
                document.append(text.mid(begin, 4000));
            document.finish();
            qsizetype shown = 0;
            for (const Block& block : document.blocks())
                for (const StyledText& part : block.parts)
                    shown += part.text.size();
            QCOMPARE(shown, qsizetype{10000000});
        }
    }

    void aLongTextIsCutBetweenWords() {
        MarkdownDocument document;
        const QString word = QStringLiteral("extraordinarily ");
        document.append(word.repeated(3000));
        document.finish();
        QVERIFY(document.blocks().size() > 1);
        for (const Block& block : document.blocks())
            for (const StyledText& part : block.parts)
                for (const QString& shown : part.text.split(u' ', Qt::SkipEmptyParts))
                    QCOMPARE(shown, QStringLiteral("extraordinarily"));
    }

    void codeIsColouredLineByLine() {
        const CodeHighlighter highlighter(u"Python");
        std::vector<CodeSpan> spans;
        int state = highlighter.highlight(u"def f(x): return 12 # why", 0, spans);
        QCOMPARE(state, 0);
        QCOMPARE(spans.size(), 4U);
        QCOMPARE(spans[0].codeClass, CodeClass::Keyword);
        QCOMPARE(spans[1].start, 10);
        QCOMPARE(spans[2].codeClass, CodeClass::Literal);
        QCOMPARE(spans[3].codeClass, CodeClass::Comment);
        spans.clear();
        state = highlighter.highlight(u"x = \"\"\"open", 0, spans);
        QVERIFY(state != 0);
        state = highlighter.highlight(u"def is text here\"\"\" if", state, spans);
        QCOMPARE(state, 0);
        QCOMPARE(spans[1].codeClass, CodeClass::Literal);
        QCOMPARE(spans[2].codeClass, CodeClass::Keyword);
    }

    void spansOfAnyCodeStayInsideTheirLine() {
        QRandomGenerator random(3);
        const QString alphabet = QStringLiteral("\"'`/*#-\\ ab1.if$_");
        for (const CodeLanguage& language : codeLanguages()) {
            const CodeHighlighter highlighter(language.names[0]);
            int state = 0;
            for (int line = 0; line < 300; ++line) {
                QString text;
                for (int i = random.bounded(20); i > 0; --i)
                    text += alphabet[random.bounded(static_cast<int>(alphabet.size()))];
                std::vector<CodeSpan> spans;
                state = highlighter.highlight(text, state, spans);
                int end = 0;
                for (const CodeSpan& span : spans) {
                    QVERIFY(span.start >= end && span.length > 0);
                    end = span.start + span.length;
                }
                QVERIFY(end <= text.size());
            }
        }
    }

    void anUnknownLanguageKeepsItsName() {
        const CodeHighlighter highlighter(u"brainf");
        std::vector<CodeSpan> spans;
        highlighter.highlight(u"if 1", 0, spans);
        QVERIFY(spans.empty());
        QCOMPARE(highlighter.title(), QStringLiteral("brainf"));
        QCOMPARE(CodeHighlighter(u"js").title(), QStringLiteral("JavaScript"));
    }
};

} // namespace

QTEST_APPLESS_MAIN(MarkdownDocumentTest)
#include "markdown_document_test.moc"
