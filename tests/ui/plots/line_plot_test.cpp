// SPDX-License-Identifier: GPL-3.0-only
#include "ui/plots/line_plot.h"
#include "ui/theme/theme.h"

#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <QWheelEvent>

using namespace ui;

namespace {

/// A plot of one line, x and y from 0 to 1, on the screen.
struct ShownPlot {
    Theme theme;
    LinePlot plot{theme, "Speed"};

    ShownPlot() {
        plot.addSeries({"raw", &Colours::rawLine});
        plot.resize(400, 240);
    }

    bool show() {
        plot.show();
        if (!QTest::qWaitForWindowExposed(&plot, support::kPatienceMs))
            return false;
        settle();
        return plot.replotCount() > 0;
    }

    void settle() {
        for (int i = 0; i < 5; ++i)
            QCoreApplication::processEvents();
    }

    QWidget& canvas() { return *plot.childAt(200, 60); }
};

int pixelsOf(const QImage& image, const QColor& colour) {
    int count = 0;
    for (int y = 0; y < image.height(); ++y)
        for (int x = 0; x < image.width(); ++x)
            count += image.pixelColor(x, y) == colour ? 1 : 0;
    return count;
}

} // namespace

class LinePlotTest : public QObject {
    Q_OBJECT

private slots:

    void manyChangesAndOneRefreshMakeOneReplot() {
        ShownPlot shown;
        QVERIFY(shown.show());
        const auto before = shown.plot.replotCount();
        for (int i = 0; i < 1'000; ++i) {
            shown.plot.append(0, {i / 1'000.0, 0.5});
            shown.plot.refresh();
        }
        QCOMPARE(shown.plot.replotCount(), before);
        shown.settle();
        QCOMPARE(shown.plot.replotCount(), before + 1);
    }

    /// At every size: what is shown of the note is shown whole.
    void theNoteOfAnEmptyPlotIsNeverCut() {
        ShownPlot shown;
        shown.theme.setTextPercent(150);
        shown.plot.setEmptyNote({QStringLiteral("Nothing measured yet"),
                                 QStringLiteral("Matchness says how many of the last tokens a "
                                                "draft would have written itself. The first search "
                                                "step adds the first point."),
                                 QStringLiteral("Use SWIFT")});
        QVERIFY(shown.show());
        std::vector<QSize> sizes = {{240, 400}, {400, 260}, {900, 600}};
        for (int height = 90; height < 300; height += 5)
            sizes.emplace_back(300, height);
        for (const QSize& size : sizes) {
            shown.plot.resize(size);
            shown.settle();
            for (const QLabel* label : shown.plot.findChildren<QLabel*>()) {
                if (!label->isVisible())
                    continue;
                QVERIFY(label->wordWrap() || label->sizeHint().width() <= label->width());
                QVERIFY2(label->height() >= label->heightForWidth(label->width()),
                         qPrintable(label->text()));
                // Together: no line of it takes room that the others leave.
                QVERIFY(label->height() <= label->heightForWidth(label->width()) + 2);
                const QRect place(label->mapTo(&shown.plot, QPoint()), label->size());
                QVERIFY2(shown.plot.rect().contains(place), qPrintable(label->text()));
            }
        }
    }

    void nothingIsPaintedWithoutRefresh() {
        ShownPlot shown;
        QVERIFY(shown.show());
        const auto before = shown.plot.replotCount();
        for (int i = 0; i < 100; ++i)
            shown.plot.append(0, {i / 100.0, 0.5});
        shown.settle();
        QCOMPARE(shown.plot.replotCount(), before);
    }

    void aHiddenPlotPaintsOnceItIsShown() {
        ShownPlot shown;
        QVERIFY(shown.show());
        shown.plot.hide();
        const auto before = shown.plot.replotCount();
        for (int i = 0; i < 10; ++i) {
            shown.plot.append(0, {i / 10.0, 0.5});
            shown.plot.refresh();
            shown.settle();
        }
        QCOMPARE(shown.plot.replotCount(), before);
        shown.plot.show();
        QTRY_VERIFY(shown.plot.replotCount() > before);
        QCOMPARE(shown.plot.drawnPointCount(), 10);
    }

    void theScrubberMovesWithoutAWholeReplot() {
        ShownPlot shown;
        QVERIFY(shown.show());
        const auto whole = shown.plot.replotCount();
        const auto layer = shown.plot.cursorReplotCount();
        for (int i = 0; i < 20; ++i)
            shown.plot.setCursor(PlotCursor{i / 20.0, {}, "step"});
        shown.settle();
        QCOMPARE(shown.plot.replotCount(), whole);
        QCOMPARE(shown.plot.cursorReplotCount(), layer + 20);
        const QImage image = shown.plot.grab().toImage();
        QVERIFY(pixelsOf(image, shown.theme.colours().accent) > 150);
    }

    void longRunsAreDrawnWithFewPoints() {
        ShownPlot shown;
        for (int i = 0; i < 300'000; ++i)
            shown.plot.append(0, {i / 300'000.0, (i % 100) / 100.0});
        QVERIFY(shown.show());
        QVERIFY(shown.plot.drawnPointCount() <= LinePlot::kLargestDrawn);
        QVERIFY(shown.plot.drawnPointCount() > 1'000);
    }

    void aRollingRangeKeepsOnlyItsPoints() {
        ShownPlot shown;
        QVERIFY(shown.show());
        for (int i = 0; i < 1'000; ++i) {
            shown.plot.append(0, {i / 10.0, 0.5});
            if (i % 50 == 49) {
                shown.plot.setHome({i / 10.0 - 20.0, i / 10.0}, {0.0, 1.0});
                shown.plot.refresh();
                shown.settle();
            }
        }
        // 20 units of 10 points, both ends, and one point before the edge.
        QVERIFY(shown.plot.drawnPointCount() >= 201 && shown.plot.drawnPointCount() <= 203);
        shown.plot.removeBefore(90.0);
        shown.plot.refresh();
        shown.settle();
        QCOMPARE(shown.plot.drawnPointCount(), 100);
    }

    void livePensAreOnePixelAndNotAntialiased() {
        ShownPlot shown;
        shown.plot.addSeries({"flat", &Colours::success});
        shown.plot.append(1, {0.0, 0.51});
        shown.plot.append(1, {1.0, 0.51});
        QVERIFY(shown.show());
        const QImage image = shown.plot.grab().toImage();
        const int x = image.width() / 2;
        int hits = 0;
        for (int y = 0; y < image.height(); ++y)
            hits += image.pixelColor(x, y) == shown.theme.colours().success ? 1 : 0;
        QCOMPARE(hits, 1);
    }

    void theNewestPointIsMarkedBySevenPixelsSquare() {
        ShownPlot shown;
        shown.plot.addSeries(
            {"speed", &Colours::accent, LineForm::None, Dash::Solid, Marker::None, true});
        shown.plot.append(1, {0.2, 0.2});
        shown.plot.append(1, {0.5, 0.5});
        QVERIFY(shown.show());
        QCOMPARE(
            pixelsOf(shown.plot.grab().toImage(), shown.theme.colours().accent),
            static_cast<int>(49 * shown.plot.devicePixelRatioF() * shown.plot.devicePixelRatioF()));
    }

    void labelsBesideThePlotStandOffItsData() {
        ShownPlot shown;
        shown.plot.append(0, {0.0, 0.31});
        shown.plot.append(0, {1.0, 0.31});
        shown.plot.setHome({0.0, 1.0}, {0.0, 1.0});
        QVERIFY(shown.show());
        const auto dataEnd = [&] {
            const QImage image = shown.plot.grab().toImage();
            for (int x = image.width() - 1; x >= 0; --x)
                for (int y = 0; y < image.height(); ++y)
                    if (image.pixelColor(x, y) == shown.theme.colours().rawLine)
                        return x;
            return 0;
        };
        const int alone = dataEnd();
        const QString label = QStringLiteral("expected 1.31 to 1.34");
        shown.plot.setReferences({{0.5, label, &Colours::muted, Dash::Dashed, LabelSide::Beside}});
        shown.plot.refresh();
        shown.settle();
        const int width = QFontMetrics(shown.theme.font(TextRole::Tiny)).horizontalAdvance(label);
        QVERIFY2(dataEnd() <= alone - width + shown.theme.scaled(12),
                 qPrintable(QStringLiteral("%1 of %2").arg(dataEnd()).arg(alone)));
    }

    void theThemeIsFollowed() {
        ShownPlot shown;
        shown.theme.setChoice(ThemeChoice::Light);
        QVERIFY(shown.show());
        const QPoint corner(2, 2);
        QCOMPARE(shown.plot.grab().toImage().pixelColor(corner), lightColours().panel);
        shown.theme.setChoice(ThemeChoice::Dark);
        shown.settle();
        QCOMPARE(shown.plot.grab().toImage().pixelColor(corner), darkColours().panel);
    }

    void keysZoomPanAndGoHome() {
        ShownPlot shown;
        QVERIFY(shown.show());
        shown.plot.setFocus();
        QTest::keyClick(&shown.plot, Qt::Key_Plus);
        QVERIFY(shown.plot.isZoomed());
        QVERIFY(qAbs(shown.plot.shownX().from - 0.1) < 1e-9);
        QVERIFY(qAbs(shown.plot.shownX().to - 0.9) < 1e-9);
        QTest::keyClick(&shown.plot, Qt::Key_Right);
        QVERIFY(qAbs(shown.plot.shownX().from - 0.18) < 1e-9);
        QTest::keyClick(&shown.plot, Qt::Key_Up);
        QVERIFY(shown.plot.shownY().from > 0.05);
        QTest::keyClick(&shown.plot, Qt::Key_Home);
        QVERIFY(!shown.plot.isZoomed());
        QCOMPARE(shown.plot.shownX(), (PlotRange{0.0, 1.0}));
        QTest::keyClick(&shown.plot, Qt::Key_Minus);
        QVERIFY(shown.plot.shownX().span() > 1.2);
    }

    void wheelZoomsAboutTheMouseAndDoubleClickGoesHome() {
        ShownPlot shown;
        QVERIFY(shown.show());
        QWheelEvent wheel(QPointF(394, 100),
                          QPointF(394, 100),
                          {},
                          {0, 120},
                          Qt::NoButton,
                          Qt::NoModifier,
                          Qt::NoScrollPhase,
                          false);
        QCoreApplication::sendEvent(&shown.canvas(), &wheel);
        QVERIFY(shown.plot.isZoomed());
        QCOMPARE(shown.plot.shownX().to, 1.0);
        QVERIFY(qAbs(shown.plot.shownX().from - 0.2) < 1e-9);
        QTest::mouseDClick(&shown.canvas(), Qt::LeftButton, {}, QPoint(200, 100));
        QVERIFY(!shown.plot.isZoomed());
    }

    void draggingPansAndAClickChoosesAPoint() {
        ShownPlot shown;
        QVERIFY(shown.show());
        QSignalSpy chosen(&shown.plot, &LinePlot::pointChosen);
        QWidget& canvas = shown.canvas();
        QTest::mousePress(&canvas, Qt::LeftButton, {}, QPoint(200, 100));
        QTest::mouseMove(&canvas, QPoint(150, 100));
        QTest::mouseRelease(&canvas, Qt::LeftButton, {}, QPoint(150, 100));
        QVERIFY(shown.plot.shownX().from > 0.05);
        QCOMPARE(chosen.count(), 0);
        shown.plot.goHome();
        shown.settle();
        QTest::mouseClick(&canvas, Qt::LeftButton, {}, QPoint(200, 100));
        QCOMPARE(chosen.count(), 1);
        const double x = chosen.at(0).at(0).toDouble();
        QVERIFY(x > 0.3 && x < 0.6);
    }

    void theNearestPointIsReadByMouseAndByKeyboard() {
        ShownPlot shown;
        shown.plot.append(0, {0.25, 0.125});
        shown.plot.append(0, {0.75, 0.875});
        QVERIFY(shown.show());
        QSignalSpy chosen(&shown.plot, &LinePlot::pointChosen);
        shown.plot.setFocus();
        QTest::keyClick(&shown.plot, Qt::Key_Left, Qt::ShiftModifier);
        QVERIFY(shown.plot.readoutText().contains("0.875"));
        QTest::keyClick(&shown.plot, Qt::Key_Left, Qt::ShiftModifier);
        QVERIFY(shown.plot.readoutText().contains("0.125"));
        QTest::keyClick(&shown.plot, Qt::Key_Return);
        QCOMPARE(chosen.at(0).at(0).toDouble(), 0.25);
        const QImage with = shown.plot.grab().toImage();
        QVERIFY(pixelsOf(with, shown.theme.colours().controlBorder) > 50);
    }

    void gapsInALineAreNotRead() {
        ShownPlot shown;
        for (const double y : {0.125, qQNaN(), 0.875, qQNaN()})
            shown.plot.append(0, {0.25 * static_cast<double>(shown.plot.pointCount(0) + 1), y});
        QVERIFY(shown.show());
        const auto readAt = [&](Qt::Key key) {
            QTest::keyClick(&shown.plot, key, Qt::ShiftModifier);
            return shown.plot.readoutText();
        };
        QVERIFY(readAt(Qt::Key_Left).contains("0.875"));
        QVERIFY(readAt(Qt::Key_Left).contains("0.125"));
        QVERIFY(readAt(Qt::Key_Left).contains("0.125"));
        QVERIFY(readAt(Qt::Key_Right).contains("0.875"));
        QVERIFY(readAt(Qt::Key_Right).contains("0.875"));
    }

    void anEmptyPlotSaysWhatItWillShowAndOffersOneAction() {
        ShownPlot shown;
        shown.plot.setEmptyNote(
            {"Nothing measured yet", "Points appear with the first step.", "Run"});
        QVERIFY(shown.show());
        QSignalSpy asked(&shown.plot, &LinePlot::actionRequested);
        auto* button = shown.plot.findChild<QPushButton*>();
        QVERIFY(button->isVisible());
        button->click();
        QCOMPARE(asked.count(), 1);
        shown.plot.append(0, {0.5, 0.5});
        shown.plot.refresh();
        QVERIFY(!button->isVisible());
        shown.plot.clearPoints();
        shown.plot.refresh();
        QVERIFY(button->isVisible());
    }

    void ticksOfALowPlotAreLeftOutBeforeTheyTouch() {
        ShownPlot shown;
        QVERIFY(shown.show());
        const auto textRows = [&](int height) {
            shown.plot.resize(400, height);
            shown.settle();
            shown.plot.refresh();
            shown.settle();
            const QImage image = shown.plot.grab().toImage();
            // Rows of pixels at the left edge, where nothing but the ticks' texts stands.
            int rows = 0;
            for (int y = 0; y < image.height(); ++y)
                for (int x = 0; x < 8; ++x)
                    if (image.pixelColor(x, y) != shown.theme.colours().panel) {
                        ++rows;
                        break;
                    }
            return rows;
        };
        QVERIFY(textRows(240) > 0);
        QCOMPARE(textRows(45), 0);
    }

    /// With room at the top that holds no ticks, too.
    void ticksOfALowPlotKeepApart() {
        ShownPlot shown;
        AxisForm axis;
        axis.tickCount = 6;
        shown.plot.setYAxis(axis);
        shown.plot.setHome({0.0, 1.0}, {0.0, 1.0});
        shown.plot.setHeadroom(36);
        QVERIFY(shown.show());
        for (int height = 60; height <= 260; height += 10) {
            shown.plot.resize(400, height);
            shown.plot.refresh();
            shown.settle();
            const QImage image = shown.plot.grab().toImage();
            int blank = 0;
            bool hadText = false;
            for (int y = 0; y < image.height(); ++y) {
                bool isText = false;
                for (int x = 0; x < 14 && !isText; ++x)
                    isText = image.pixelColor(x, y) != shown.theme.colours().panel;
                if (isText && hadText && blank > 0)
                    QVERIFY2(blank >= 6, qPrintable(QString::number(height)));
                hadText |= isText;
                blank = isText ? 0 : blank + 1;
            }
        }
    }

    void theNameOfAPhaseStaysOffThePointsOfALowPlot() {
        ShownPlot shown;
        shown.plot.addSeries(
            {"score", &Colours::accent, LineForm::None, Dash::Solid, Marker::FilledDiamond});
        for (int i = 0; i <= 40; ++i)
            shown.plot.append(1, {i / 40.0, 1.0});
        shown.plot.setHeadroom(36);
        QVERIFY(shown.show());
        const auto pictureWith = [&](std::vector<PhaseBand> bands) {
            shown.plot.setBands(std::move(bands));
            shown.plot.refresh();
            shown.settle();
            return shown.plot.grab().toImage();
        };
        int named = 0;
        for (int height = 60; height <= 200; height += 10) {
            shown.plot.resize(400, height);
            const QImage without = pictureWith({});
            const QImage with = pictureWith({{0.0, 1.0, "optimise", {}, &Colours::panel}});
            QRect name;
            for (int y = 0; y < with.height(); ++y)
                for (int x = 0; x < with.width(); ++x)
                    if (with.pixelColor(x, y) == shown.theme.colours().muted &&
                        with.pixel(x, y) != without.pixel(x, y))
                        name |= QRect(x, y, 1, 1);
            named += name.isEmpty() ? 0 : 1;
            const QImage beneath = name.isEmpty() ? QImage() : without.copy(name);
            QVERIFY2(pixelsOf(beneath, shown.theme.colours().accent) == 0,
                     qPrintable(QStringLiteral("%1: %2 to %3, %4 wide")
                                    .arg(height)
                                    .arg(name.top())
                                    .arg(name.bottom())
                                    .arg(name.width())));
        }
        QVERIFY2(named >= 8, qPrintable(QString::number(named)));
    }

    void theTableHasARowForEachX() {
        ShownPlot shown;
        shown.plot.addSeries({"smooth"});
        AxisForm axis;
        axis.title = "seconds";
        shown.plot.setXAxis(axis);
        shown.plot.append(0, {1.0, 10.0});
        shown.plot.append(0, {2.0, 20.0});
        shown.plot.append(1, {2.0, 15.0});
        const FigureTable table = shown.plot.table();
        QCOMPARE(table.header, QStringList({"seconds", "raw", "smooth"}));
        QCOMPARE(table.rows.size(), 2u);
        QVERIFY(table.rows[0][2].isEmpty());
        QCOMPARE(table.rows[1][2].toDouble(), 15.0);
    }

    void theTableHasEachOfSeveralPointsAtOneX() {
        ShownPlot shown;
        for (const double y : {10.0, 30.0, 20.0})
            shown.plot.append(0, {1.0, y});
        const FigureTable table = shown.plot.table();
        QCOMPARE(table.rows.size(), 3u);
        QCOMPARE(table.rows[1], QStringList({"1", "30"}));
    }

    void screenReadersAreNotFloodedButGetTheNewest() {
        ShownPlot shown;
        shown.plot.setSummary("Speed 1.0.");
        for (int i = 1; i < 100; ++i)
            shown.plot.setSummary(QString("Speed 1.%1.").arg(i));
        QCOMPARE(shown.plot.accessibleDescription(), QString("Speed 1.0."));
        QFocusEvent focus(QEvent::FocusIn, Qt::TabFocusReason);
        QCoreApplication::sendEvent(&shown.plot, &focus);
        QCOMPARE(shown.plot.accessibleDescription(), QString("Speed 1.99."));
    }

    void aHiddenSeriesIsNotDrawnAndComesBack() {
        ShownPlot shown;
        for (int i = 0; i < 10; ++i)
            shown.plot.append(0, {i / 10.0, 0.5});
        QVERIFY(shown.show());
        const QColor line = shown.theme.colours().rawLine;
        const int seen = pixelsOf(shown.plot.grab().toImage(), line);
        QVERIFY(seen > 100);
        shown.plot.setSeriesShown(0, false);
        shown.plot.refresh();
        shown.settle();
        QCOMPARE(pixelsOf(shown.plot.grab().toImage(), line), 0);
        shown.plot.setSeriesShown(0, true);
        shown.plot.refresh();
        shown.settle();
        QCOMPARE(pixelsOf(shown.plot.grab().toImage(), line), seen);
    }
};

QTEST_MAIN(LinePlotTest)
#include "line_plot_test.moc"
