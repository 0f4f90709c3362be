// SPDX-License-Identifier: GPL-3.0-only
// LaTeX becomes a tree, a picture and words; bad LaTeX becomes its source, never a crash.
#include "ui/math/formula.h"
#include "ui/math/reading/math_parser.h"

#include <QFontMetricsF>
#include <QPainter>
#include <QRandomGenerator>
#include <QTest>
#include <QThread>

#include <memory>

using namespace ui;

namespace {

MathPicture pictureOf(const QString& latex, bool isDisplay = true) {
    QFont font(QStringLiteral("DejaVu Sans"));
    font.setPixelSize(40);
    const auto picture = formulaPicture({latex, isDisplay}, font);
    return picture ? *picture : MathPicture();
}

QString spoken(const QString& latex) { return spokenFormula({latex, false}); }

/// Where the only glyphs with this text stand.
QPointF placeOf(const MathPicture& picture, const QString& text) {
    for (const MathPicture::Glyphs& each : picture.glyphs)
        if (each.text == text)
            return each.at;
    return {-1e9, -1e9};
}

int pixelsOf(const MathPicture& picture, const QString& text) {
    for (const MathPicture::Glyphs& each : picture.glyphs)
        if (each.text == text)
            return each.font.pixelSize();
    return 0;
}

} // namespace

class FormulaTest : public QObject {
    Q_OBJECT

private slots:

    void everyConstructIsUnderstood_data() {
        QTest::addColumn<QString>("latex");
        for (const char* latex :
             {"\\frac{a}{b} + \\dfrac12 + \\tfrac{x}{y} + {n \\over m}",
              "\\sqrt{x^2 + y^2} + \\sqrt[3]{8}",
              "x_i^2 + x'' + {}^{14}C + a_{i,j}^{(k)}",
              "\\sum_{i=1}^{n} i + \\prod_k p_k + \\int_0^\\infty e^{-x}\\,dx + \\oint_C f",
              "\\lim_{x \\to 0} \\frac{\\sin x}{x} = 1, \\max\\limits_{y} f(y)",
              "\\alpha\\beta\\Gamma\\varepsilon\\Omega\\vartheta",
              "a \\le b \\neq c \\approx d \\in \\mathbb{R} \\not\\subset \\mathcal{L}, \\mathfrak "
              "g",
              "A \\Rightarrow B \\iff C \\xrightarrow[n]{f} D \\mapsto E",
              "\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}",
              "f(x) = \\begin{cases} 1 & \\text{if } x > 0 \\\\ 0 & \\text{otherwise} \\end{cases}",
              "\\text{words and $x$ in them}, \\mathrm{d}x, \\mathbf{v}, \\operatorname{tr} A",
              "\\hat{y}, \\bar{x}, \\vec{v}, \\tilde{z}, \\dot{q}, \\widehat{abc}, \\overline{z}",
              "\\left( \\frac{a}{b} \\right] \\left\\{ x \\middle| y \\right\\} \\left. x "
              "\\right|_0",
              "\\begin{aligned} a &= b + c \\\\ &= d \\end{aligned}",
              "\\begin{array}{c|cc} 1 & 2 & 3 \\\\ \\hline 4 & 5 & 6 \\end{array}",
              "\\underbrace{a + b}_{n} + \\overbrace{c}^{m} + \\overset{!}{=} + \\stackrel{?}{=}",
              "\\binom{n}{k} + \\boxed{x = 1} + a \\bmod b + \\pmod{7}",
              "\\bigl( x \\Bigr) \\|v\\| \\lfloor x \\rfloor \\langle u, v \\rangle",
              "P(A \\mid B) = \\frac{P(B \\mid A)\\,P(A)}{P(B)} \\tag{1}",
              "a = b \\\\ c = d",
              "\\mathbb{E}_{x \\sim p(x)}[f(x)] = \\int f(x)\\,p(x)\\,dx",
              "\\nabla \\cdot \\mathbf{E} = \\frac{\\rho}{\\varepsilon_0}",
              "\\hbox", // an unknown command is no error
              "\\substack{a \\\\ b}"})
            QTest::newRow(latex) << QString::fromLatin1(latex);
    }

    void everyConstructIsUnderstood() {
        QFETCH(QString, latex);
        const auto node = parseMath(latex);
        QVERIFY(node);
        const MathPicture picture = pictureOf(latex);
        QVERIFY(picture.width > 10.0);
        QVERIFY(picture.ascent > 5.0);
        if (latex != u"\\hbox")
            for (const MathPicture::Glyphs& each : picture.glyphs)
                QVERIFY2(!each.text.contains(u'\\'), qPrintable(each.text));
        QVERIFY(!spoken(latex).isEmpty());
    }

    void whatIsIncompleteIsItsSource_data() {
        QTest::addColumn<QString>("latex");
        for (const char* latex : {"{a",
                                  "a}",
                                  "\\frac{a}",
                                  "\\left( a",
                                  "a \\right)",
                                  "x^",
                                  "a^b^c",
                                  "\\begin{matrix} a",
                                  "\\end{matrix}",
                                  "\\sqrt[3",
                                  "\\text{a",
                                  "\\left\\foo a \\right)",
                                  "\\",
                                  "   ",
                                  "\\begin{matrix} a \\end{cases}",
                                  "\\not{a = b}",
                                  "\\substack a"})
            QTest::newRow(latex) << QString::fromLatin1(latex);
    }

    void whatIsIncompleteIsItsSource() {
        QFETCH(QString, latex);
        QVERIFY(!parseMath(latex));
        QFont font;
        font.setPixelSize(14);
        QVERIFY(!formulaPicture({latex, true}, font));
        QCOMPARE(spoken(latex), latex);
    }

    void anUnknownCommandIsShownAsItWasWritten() {
        const MathPicture picture = pictureOf(QStringLiteral("a + \\unknowable{b}{c} + d"));
        QVERIFY(placeOf(picture, QStringLiteral("\\unknowable{b}{c}")).x() > 0.0);
        QVERIFY(placeOf(picture, QStringLiteral("d")).x() > 0.0);
    }

    void depthLengthAndSizeAreBounded() {
        const auto nested = [](const char* open, const char* close, int depth) {
            return QString::fromLatin1(open).repeated(depth) + u'x' +
                   QString::fromLatin1(close).repeated(depth);
        };
        QVERIFY(parseMath(nested("\\frac{1}{", "}", 10)));
        for (const char* open : {"{",
                                 "\\sqrt{",
                                 "\\frac{1}{",
                                 "x^{",
                                 "\\left(",
                                 "\\text{",
                                 "\\begin{matrix}",
                                 "\\hat",
                                 "x_",
                                 "\\bm "}) {
            const QString opening = QString::fromLatin1(open);
            const QString close = opening == u"\\left("           ? QStringLiteral("\\right)")
                                  : opening == u"\\begin{matrix}" ? QStringLiteral("\\end{matrix}")
                                  : opening.endsWith(u'{')        ? QStringLiteral("}")
                                                                  : QString();
            for (const int depth : {100, 300, 3000})
                parseMath(nested(open, qPrintable(close), depth));
        }
        QVERIFY(!parseMath(nested("{", "}", 300)));
        QVERIFY(!parseMath(QString(kLongestFormula + 1, u'x')));
        QVERIFY(!parseMath(QStringLiteral("\\begin{matrix}") + QString(3500, u'&') +
                           QStringLiteral("\\end{matrix}")));
    }

    void randomLatexNeverCrashes() {
        static const QStringList kPieces{"\\frac",
                                         "{",
                                         "}",
                                         "{a}",
                                         "^",
                                         "_",
                                         "\\left",
                                         "\\right",
                                         "(",
                                         ")",
                                         "\\begin{cases}",
                                         "\\end{cases}",
                                         "&",
                                         "\\\\",
                                         "\\sqrt",
                                         "[",
                                         "]",
                                         "x",
                                         "12",
                                         "'",
                                         "\\text{a $b$}",
                                         "\\sum",
                                         "\\limits",
                                         "\\hat",
                                         "\\over",
                                         "\\not",
                                         "\\",
                                         " ",
                                         "\\middle|",
                                         "\\big",
                                         "\\mathbb",
                                         "$",
                                         "\\begin{array}{lc}",
                                         "\\end{array}",
                                         "%",
                                         "\n",
                                         "\U0001F600",
                                         "\\xrightarrow",
                                         "\\tag",
                                         "\\displaystyle",
                                         "\\substack{",
                                         "\\bm",
                                         "~",
                                         "\\operatorname*",
                                         "\\hspace",
                                         "\\phantom"};
        QRandomGenerator random(5);
        QImage image(400, 200, QImage::Format_RGB32);
        QPainter painter(&image);
        int understood = 0;
        for (int round = 0; round < 20'000; ++round) {
            QString latex;
            for (int i = 1 + random.bounded(12); i > 0; --i)
                latex += kPieces[random.bounded(static_cast<int>(kPieces.size()))];
            const auto node = parseMath(latex);
            spoken(latex);
            if (!node || round % 20 != 0)
                continue;
            ++understood;
            pictureOf(latex).paint(painter, {10, 100}, Qt::black);
        }
        QVERIFY(understood > 50);
    }

    /// Else "x'{}'{}'{}..." would nest as deep as it is long.
    void scriptsAreNeverTheBaseOfOthers() {
        const auto tensor = parseMath(QStringLiteral("R^a{}_b{}^c"));
        QVERIFY(tensor);
        QCOMPARE(tensor->parts.size(), 3U);
        const auto sum = parseMath(QStringLiteral("\\sum_a\\limits^b"));
        QVERIFY(sum);
        QCOMPARE(sum->parts.size(), 1U);
        QVERIFY(sum->parts[0].hasLimits);
        QVERIFY(sum->parts[0].parts[0].kind == MathKind::Symbol);
    }

    void aFractionStandsOnTheAxis() {
        const MathPicture picture = pictureOf(QStringLiteral("\\frac{a}{b}"));
        QCOMPARE(picture.rules.size(), 1U);
        const double rule = picture.rules[0].center().y();
        QVERIFY(placeOf(picture, QStringLiteral("a")).y() < rule);
        QVERIFY(placeOf(picture, QStringLiteral("b")).y() > rule);
        const MathPicture plus = pictureOf(QStringLiteral("+"));
        const QFontMetricsF metrics(plus.glyphs[0].font);
        const double axis =
            plus.glyphs[0].at.y() + metrics.tightBoundingRect(plus.glyphs[0].text).center().y();
        QVERIFY2(std::abs(rule - axis) < 4.0, qPrintable(QString::number(rule - axis)));
        QVERIFY(picture.height() > pictureOf(QStringLiteral("\\frac{a}{b}"), false).height());
    }

    void scriptsAreSmallerAndStandAboveAndBelow() {
        const MathPicture picture = pictureOf(QStringLiteral("x_a^b"));
        QVERIFY(placeOf(picture, QStringLiteral("b")).y() < 0.0);
        QVERIFY(placeOf(picture, QStringLiteral("a")).y() > 0.0);
        QVERIFY(pixelsOf(picture, QStringLiteral("a")) < pixelsOf(picture, QStringLiteral("x")));
        const MathPicture deep = pictureOf(QStringLiteral("x^{y^z}"));
        QVERIFY(pixelsOf(deep, QStringLiteral("z")) < pixelsOf(deep, QStringLiteral("y")));
    }

    void limitsStandAboveASumButBesideItInALine() {
        const auto x = [](const QString& latex, bool isDisplay, const QString& text) {
            return placeOf(pictureOf(latex, isDisplay), text).x();
        };
        const QString sum = QStringLiteral("\\sum_{i}^{n} a");
        QVERIFY(x(sum, true, QStringLiteral("n")) < x(sum, true, QStringLiteral("a")));
        QVERIFY(std::abs(x(sum, true, QStringLiteral("n")) - x(sum, true, QStringLiteral("i"))) <
                20);
        QVERIFY(x(sum, false, QStringLiteral("n")) > 15.0);
        QVERIFY(x(QStringLiteral("\\int_{i}^{n} a"), true, QStringLiteral("n")) > 10.0);
    }

    void fencesGrowWithWhatTheyHold() {
        const MathPicture small = pictureOf(QStringLiteral("\\left( x \\right)"));
        const MathPicture large = pictureOf(QStringLiteral("\\left( \\frac{a}{b} \\right)"));
        QCOMPARE(small.paths.size(), 0U);
        QCOMPARE(large.paths.size(), 2U);
        QVERIFY(large.paths[0].boundingRect().height() > 1.5 * 40);
    }

    void relationsHaveRoomAndASignHasNone() {
        const auto gap = [](const QString& latex) {
            const MathPicture picture = pictureOf(latex);
            return placeOf(picture, QStringLiteral("b")).x() -
                   placeOf(picture, QStringLiteral("a")).x();
        };
        QVERIFY(gap(QStringLiteral("a=b")) > gap(QStringLiteral("a{=}b")));
        QVERIFY(gap(QStringLiteral("a-b")) > gap(QStringLiteral("a{-b}")));
    }

    void cellsOfAMatrixStandInColumns() {
        const MathPicture picture =
            pictureOf(QStringLiteral("\\begin{matrix} a & b \\\\ ccc & d \\end{matrix}"));
        QCOMPARE(placeOf(picture, QStringLiteral("a")).y(),
                 placeOf(picture, QStringLiteral("b")).y());
        QVERIFY(placeOf(picture, QStringLiteral("d")).y() >
                placeOf(picture, QStringLiteral("b")).y());
        QVERIFY(placeOf(picture, QStringLiteral("d")).x() >
                placeOf(picture, QStringLiteral("a")).x());
    }

    void aFormulaIsReadAloudWithoutDoubt() {
        QCOMPARE(spoken(QStringLiteral("\\frac{a+1}{b}")),
                 QStringLiteral("fraction a plus 1 over b end fraction"));
        QCOMPARE(spoken(QStringLiteral("x^2 + \\sqrt{y}")),
                 QStringLiteral("x squared plus square root of y end root"));
        QCOMPARE(spoken(QStringLiteral("\\sum_{i=1}^n i")),
                 QStringLiteral("sum from i equals 1 to n of i"));
        QCOMPARE(spoken(QStringLiteral("a \\le \\hat{b}")), QStringLiteral("a is at most b hat"));
        QCOMPARE(spoken(QStringLiteral("\\overline{z} f'' f'")),
                 QStringLiteral("z bar f prime prime f prime"));
        QCOMPARE(spoken(QStringLiteral("A \\not\\subset B")),
                 QStringLiteral("A not is a subset of B"));
    }

    /// A comment ends with its line: what nothing could end is none.
    void aPercentageHidesNothingOfTheFormula() {
        QCOMPARE(spoken(QStringLiteral("20% + 1")), QStringLiteral("20 % plus 1"));
        QCOMPARE(spoken(QStringLiteral("x = 20%\n+ b")), QStringLiteral("x equals 20 % plus b"));
        QCOMPARE(spoken(QStringLiteral("a % a note\n+ b")), QStringLiteral("a plus b"));
    }

    void signsOfLatexWithinWordsAreSignsOfTheWords() {
        QCOMPARE(spoken(QStringLiteral("\\text{for \\$5 and $x$}")),
                 QStringLiteral("for $5 and x"));
        QCOMPARE(spoken(QStringLiteral("\\text{\\{a\\}}")), QStringLiteral("{a}"));
    }

    void theDistanceOfLinesIsNoPartOfThem() {
        QCOMPARE(spoken(QStringLiteral("a \\\\[4pt] b")), QStringLiteral("a; b"));
        QCOMPARE(spoken(QStringLiteral("\\begin{matrix} a \\\\[x] \\end{matrix}")),
                 QStringLiteral("a; open bracket x close bracket"));
    }

    void whatABraceIsLabelledWithIsNoLimit() {
        QCOMPARE(spoken(QStringLiteral("\\underbrace{a + b}_{n}")),
                 QStringLiteral("a plus b with n below it"));
        QCOMPARE(spoken(QStringLiteral("\\overbrace{a + b}^{n}")),
                 QStringLiteral("a plus b with n above it"));
    }

    void whatIsCrossedOutIsNeverShownWithoutItsStroke() {
        QCOMPARE(spoken(QStringLiteral("a \\not{=} b")), QStringLiteral("a is not equal to b"));
        QCOMPARE(spoken(QStringLiteral("a \\not= b")), QStringLiteral("a is not equal to b"));
    }

    /// Trees are kept for a while, within a bound.
    void manyFormulasLaterItIsTheSame() {
        const QString latex = QStringLiteral("\\frac{a}{b}");
        const QString broken = QStringLiteral("\\frac{a");
        const QString tooLong = QString(kLongestFormula + 1, u'x');
        const MathPicture first = pictureOf(latex);
        for (int round = 0; round < 2; ++round) {
            QCOMPARE(spoken(latex), QStringLiteral("a over b"));
            QCOMPARE(spoken(broken), broken);
            QCOMPARE(spoken(tooLong), tooLong);
            QCOMPARE(pictureOf(latex).width, first.width);
            for (int i = 0; i < 200; ++i) {
                const QString other = QString(400, u'y') + QString::number(i);
                QVERIFY(spoken(other) != latex);
            }
        }
    }

    void aPictureIsLaidOutOnceForEachFontAndSize() {
        const FormulaSource source{QStringLiteral("\\frac{p}{q} + \\sqrt{once}"), true};
        QFont font(QStringLiteral("DejaVu Sans"));
        font.setPixelSize(20);
        const auto layouts = [](const FormulaSource& asked, const QFont& in) {
            const std::int64_t before = formulaLayoutCount();
            formulaPicture(asked, in);
            return formulaLayoutCount() - before;
        };
        const auto first = formulaPicture(source, font);
        QVERIFY(first);
        QCOMPARE(layouts(source, font), 0);
        QCOMPARE(formulaPicture(source, font)->width, first->width);
        QFont larger = font;
        larger.setPixelSize(40);
        QCOMPARE(layouts(source, larger), 1);
        QVERIFY(formulaPicture(source, larger)->width > first->width * 1.5);
        QFont bold = font;
        bold.setBold(true);
        QCOMPARE(layouts(source, bold), 1);
        QCOMPARE(layouts({source.latex, false}, font), 1);
        QCOMPARE(layouts(source, font), 0);
    }

    void oldPicturesAreGivenUp() {
        QFont font(QStringLiteral("DejaVu Sans"));
        font.setPixelSize(20);
        const FormulaSource source{QStringLiteral("given + up"), false};
        QVERIFY(formulaPicture(source, font));
        for (int i = 0; i < 100; ++i)
            formulaPicture({QString(400, u'z') + QString::number(i), false}, font);
        const std::int64_t before = formulaLayoutCount();
        QVERIFY(formulaPicture(source, font));
        QCOMPARE(formulaLayoutCount() - before, 1);
    }

    void aDrawnFormulaIsTheSameOnAnotherThread() {
        const FormulaSource source{QStringLiteral("\\frac{a}{b} + \\alpha"), true};
        QFont font(QStringLiteral("DejaVu Sans"));
        font.setPixelSize(40);
        const auto here = formulaPicture(source, font);
        QVERIFY(here);
        std::optional<DrawnFormula> there;
        const std::unique_ptr<QThread> thread(
            QThread::create([&] { there = drawnFormula(source, font); }));
        thread->start();
        QVERIFY(thread->wait());
        QVERIFY(there);
        QCOMPARE(there->picture.width, here->width);
        QCOMPARE(there->picture.glyphs.size(), here->glyphs.size());
        QCOMPARE(there->spoken, spokenFormula(source));
        QVERIFY(!drawnFormula({QStringLiteral("\\frac{a"), true}, font));
    }

    void marksAreTakenOff() {
        QCOMPARE(formulaSource(u"$x$").latex, QStringLiteral("x"));
        QVERIFY(!formulaSource(u"$x$").isDisplay);
        QCOMPARE(formulaSource(u"$$\u2028x\u2028$$").latex, QStringLiteral("\nx\n"));
        QVERIFY(formulaSource(u"\\[x\\]").isDisplay);
        QCOMPARE(formulaSource(u"\\(x\\)").latex, QStringLiteral("x"));
    }
};

QTEST_MAIN(FormulaTest)
#include "formula_test.moc"
