// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/shown_words.h"
#include "ui/icons/icons.h"
#include "ui/theme/text_room.h"
#include "ui/theme/theme.h"
#include "ui/theme/tip_text.h"

#include <QApplication>
#include <QCheckBox>
#include <QRadioButton>
#include <QRegularExpression>
#include <QSignalSpy>
#include <QTest>

#include <array>
#include <cstdlib>

using namespace ui;

/// Contrast as the project's interface paper demands it: text 4.5, marks and outlines 3.
class ThemeTest : public QObject {
    Q_OBJECT

private slots:

    void anIconWithoutRoomIsNotPainted() {
        QTest::failOnWarning(QRegularExpression(QStringLiteral("QPainter")));
        const QIcon icon = makeIcon(IconName::Search, Qt::red, Qt::gray);
        QVERIFY(icon.pixmap(QSize(0, 0)).isNull());
        QVERIFY(!icon.pixmap(QSize(16, 16)).isNull());
    }

    void roomOfATextIsThatOfTheWidestDigitOfItsFont() {
        Theme theme;
        for (int role = 0; role <= static_cast<int>(TextRole::Title); ++role) {
            const QFontMetrics metrics(theme.font(static_cast<TextRole>(role)));
            for (QChar digit = u'0'; digit <= u'9'; digit = QChar(digit.unicode() + 1))
                QVERIFY2(metrics.horizontalAdvance(textRoom(digit, metrics)) >=
                             metrics.horizontalAdvance(digit),
                         qPrintable(QStringLiteral("role %1, %2").arg(role).arg(digit)));
        }
    }

    void textIsLegibleOnEveryGround_data() {
        QTest::addColumn<ThemeChoice>("choice");
        QTest::newRow("light") << ThemeChoice::Light;
        QTest::newRow("dark") << ThemeChoice::Dark;
        QTest::newRow("high contrast, light") << ThemeChoice::HighContrastLight;
        QTest::newRow("high contrast, dark") << ThemeChoice::HighContrastDark;
    }

    void textIsLegibleOnEveryGround() {
        QFETCH(ThemeChoice, choice);
        Theme theme;
        theme.setChoice(choice);
        const Colours& c = theme.colours();
        for (const QColor& ground :
             {c.window, c.panel, c.raised, c.hover, c.selection, c.accepted, c.codeGround}) {
            QVERIFY2(contrast(c.text, ground) >= 7.0, qPrintable(ground.name()));
        }
        for (const QColor& ground : {c.window, c.panel, c.raised, c.hover})
            QVERIFY2(contrast(c.muted, ground) >= 4.5, qPrintable(ground.name()));
        QVERIFY(contrast(c.onAccent, c.accent) >= 4.5);
        QVERIFY(contrast(c.onDraftTime, c.draftTime) >= 4.5);
        QVERIFY(contrast(c.onVerifyTime, c.verifyTime) >= 4.5);
        QVERIFY(contrast(c.rejectedText, c.rejected) >= 4.5);
        QVERIFY(contrast(c.text, c.flash) >= 4.5);
        QVERIFY(contrast(c.warning, c.warningGround) >= 4.5);
        QVERIFY(contrast(c.error, c.errorGround) >= 4.5);
        for (std::size_t step = 0; step < c.heat.size(); ++step)
            QVERIFY2(contrast(c.onHeat[step], c.heat[step]) >= 4.5,
                     qPrintable(c.heat[step].name()));
        for (const QColor& code : {c.codeKeyword, c.codeLiteral, c.codeComment})
            for (const QColor& ground : {c.codeGround, c.accepted})
                QVERIFY2(contrast(code, ground) >= 4.5, qPrintable(code.name()));
    }

    void marksStandOutFromTheirGround_data() { textIsLegibleOnEveryGround_data(); }

    void marksStandOutFromTheirGround() {
        QFETCH(ThemeChoice, choice);
        Theme theme;
        theme.setChoice(choice);
        const Colours& c = theme.colours();
        QVERIFY(contrast(c.acceptedLine, c.accepted) >= 3.0);
        QVERIFY(contrast(c.flashLine, c.panel) >= 3.0);
        QVERIFY(contrast(c.keptOutline, c.panel) >= 3.0);
        QVERIFY(contrast(c.attention, c.panel) >= 3.0);
        QVERIFY(contrast(c.mlp, c.panel) >= 3.0);
        QVERIFY(contrast(c.accent, c.panel) >= 4.5);
        QVERIFY(contrast(c.focus, c.panel) >= 3.0);
    }

    void partsOfABarAreToldApartInGreyscale_data() { textIsLegibleOnEveryGround_data(); }

    void partsOfABarAreToldApartInGreyscale() {
        QFETCH(ThemeChoice, choice);
        Theme theme;
        theme.setChoice(choice);
        const Colours& c = theme.colours();
        // As they stand beside each other, and the ground behind them.
        const std::array parts = {c.draftTime, c.verifyTime, c.searchTime, c.otherTime, c.panel};
        for (std::size_t i = 0; i + 1 < parts.size(); ++i)
            QVERIFY2(std::abs(qGray(parts[i].rgb()) - qGray(parts[i + 1].rgb())) >= 20,
                     qPrintable(parts[i].name()));
        QVERIFY(std::abs(qGray(c.attention.rgb()) - qGray(c.kept.rgb())) >= 40);
        QVERIFY(std::abs(qGray(c.mlp.rgb()) - qGray(c.kept.rgb())) >= 40);
    }

    void whatCanBeTickedHasAVisibleEdge_data() { textIsLegibleOnEveryGround_data(); }

    void whatCanBeTickedHasAVisibleEdge() {
        QFETCH(ThemeChoice, choice);
        Theme theme;
        theme.setChoice(choice);
        theme.applyTo(*qApp);
        QWidget ground;
        setGround(ground, theme.colours().panel);
        QCheckBox box(&ground);
        QRadioButton radio(&ground);
        ground.resize(40, 40);
        ground.show();
        for (QWidget* button : std::initializer_list<QWidget*>{&box, &radio}) {
            button->resize(40, 40);
            const QImage picture = button->grab().toImage();
            double most = 1.0;
            for (int x = 0; x < picture.width(); ++x)
                most = std::max(most, contrast(picture.pixelColor(x, 20), theme.colours().panel));
            QVERIFY2(most >= 3.0, qPrintable(QString::number(most)));
        }
    }

    void highContrastHasStrongTextAndVisibleEdges() {
        for (const Colours& c : {highContrastLightColours(), highContrastDarkColours()}) {
            QVERIFY(contrast(c.text, c.panel) >= 20.0);
            for (const QColor& ink : {c.muted, c.accent, c.success, c.warning, c.error})
                QVERIFY2(contrast(ink, c.panel) >= 7.0, qPrintable(ink.name()));
            for (const QColor& line : {c.border, c.controlBorder, c.keptOutline, c.axis, c.focus})
                QVERIFY2(contrast(line, c.panel) >= 7.0, qPrintable(line.name()));
            QVERIFY(contrast(c.disabled, c.panel) >= 4.5);
        }
    }

    void choosingAThemeChangesProgramAndTellsOnce() {
        Theme theme;
        theme.applyTo(*qApp);
        QSignalSpy changed(&theme, &Theme::changed);
        theme.setChoice(ThemeChoice::Dark);
        QCOMPARE(changed.count(), 1);
        QCOMPARE(qApp->palette().color(QPalette::Base), darkColours().panel);
        theme.setChoice(ThemeChoice::Light);
        QCOMPARE(qApp->palette().color(QPalette::Base), lightColours().panel);
    }

    void textSizeIsClampedAndScalesFonts() {
        Theme theme;
        theme.setTextPercent(150);
        QCOMPARE(theme.font(TextRole::Interface).pixelSize(), 20);
        theme.setTextPercent(1000);
        QCOMPARE(theme.textPercent(), Theme::kLargestPercent);
        theme.setTextPercent(0);
        QCOMPARE(theme.textPercent(), Theme::kSmallestPercent);
    }

    /// Qt takes some texts for HTML and others not.
    void aTipShowsItsTextAsItIs() {
        QWidget widget;
        for (const char* words :
             {"is <b> bold?", "\"yes\" & no", "plain", "two\nlines", "&lt;", "a\n<i>b</i>"}) {
            const QString text = QString::fromLatin1(words);
            QCOMPARE(support::shownTip(tipOf(text)), text);
            QVERIFY2(Qt::mightBeRichText(tipOf(text)), words); // else its lines do not break
            setTip(widget, text);
            QCOMPARE(widget.toolTip(), tipOf(text));
            QCOMPARE(widget.accessibleDescription(), text);
        }
        setTip(widget, {});
        QVERIFY(widget.toolTip().isEmpty()); // so no tip comes up
        QVERIFY(widget.accessibleDescription().isEmpty());
    }

    void everyNameInTheStyleSheetIsReplaced() {
        Theme theme;
        const QString sheet = controlStyleSheet(theme);
        QVERIFY(!sheet.contains(QRegularExpression("\\{[A-Za-z0-9]+\\}")));
    }
};

QTEST_MAIN(ThemeTest)
#include "theme_test.moc"
