// SPDX-License-Identifier: GPL-3.0-only
#include "ui/plots/line_plot.h"
#include "ui/theme/theme.h"

#include <QSignalSpy>
#include <QTest>

using namespace ui;

namespace {

/// A plot on the screen, x and y from 0 to 1.
struct ReadPlot {
    Theme theme;
    LinePlot plot{theme, "Matchness"};

    ReadPlot() { plot.resize(400, 240); }

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

    QString read(Qt::Key key) {
        QTest::keyClick(&plot, key, Qt::ShiftModifier);
        return plot.readoutText();
    }
};

} // namespace

/// Points are read one by one, and chosen.
class PlotReadingTest : public QObject {
    Q_OBJECT

private slots:

    void thePointsOfEverySeriesAreReachedByKeys() {
        ReadPlot shown;
        for (const char* name : {"random", "Bayesian", "other", "current"})
            shown.plot.addSeries({name});
        for (int i = 0; i < 4; ++i)
            shown.plot.append(0, {0.1 * i, 0.125});
        shown.plot.append(1, {0.25, 0.875});
        shown.plot.append(3, {0.0, 0.5});
        QVERIFY(shown.show());
        QVERIFY(shown.read(Qt::Key_Left).startsWith("random"));
        QVERIFY(shown.read(Qt::Key_Down).startsWith("Bayesian\n0.875"));
        QVERIFY(shown.read(Qt::Key_Down).startsWith("current")); // the one between has no point
        QVERIFY(shown.read(Qt::Key_Down).startsWith("current"));
        QVERIFY(shown.read(Qt::Key_Up).startsWith("Bayesian"));
        QVERIFY2(shown.plot.accessibleDescription().startsWith("Bayesian: 0.875"),
                 qPrintable(shown.plot.accessibleDescription()));
        shown.plot.setSummary("Matchness 0.875");
        QVERIFY(shown.plot.accessibleDescription().startsWith("Bayesian")); // not talked over
        QVERIFY(!shown.plot.isZoomed());
        QSignalSpy chosen(&shown.plot, &LinePlot::pointChosen);
        QTest::keyClick(&shown.plot, Qt::Key_Return);
        QCOMPARE(chosen.at(0).at(0).toDouble(), 0.25);
    }

    void aPointOutOfSightComesIntoSight() {
        ReadPlot shown;
        shown.plot.addSeries({"raw"});
        for (const double x : {0.25, 0.75, 5.0})
            shown.plot.append(0, {x, 0.5});
        QVERIFY(shown.show());
        shown.read(Qt::Key_Left);
        QVERIFY(!shown.plot.isZoomed()); // the newest one that is seen
        shown.read(Qt::Key_Right);
        QVERIFY(shown.plot.shownX().contains(5.0));
        QVERIFY(qAbs(shown.plot.shownX().span() - 1.0) < 1e-9);
        shown.read(Qt::Key_Left);
        QVERIFY(shown.plot.shownX().contains(0.75));
    }

    /// An axis that counts from the newest point has another word for the same one later.
    void whatIsReadIsToldAsTheAxisIsNow() {
        ReadPlot shown;
        shown.plot.addSeries({"raw"});
        shown.plot.append(0, {0.25, 0.5});
        QVERIFY(shown.show());
        const auto countWith = [&](const QString& words) {
            AxisForm axis;
            axis.tickText = [words](double) { return words; };
            shown.plot.setXAxis(axis);
            shown.plot.refresh();
            shown.settle();
        };
        countWith("1 s ago");
        QVERIFY(shown.read(Qt::Key_Left).endsWith("1 s ago"));
        countWith("9 s ago");
        QVERIFY(shown.plot.readoutText().endsWith("9 s ago"));
    }

    void theHeightIsZoomedByKeysToo() {
        ReadPlot shown;
        shown.plot.addSeries({"raw"});
        shown.plot.append(0, {0.25, 0.5});
        QVERIFY(shown.show());
        QTest::keyClick(&shown.plot, Qt::Key_PageUp);
        QVERIFY(qAbs(shown.plot.shownY().span() - 0.8) < 1e-6);
        QVERIFY(qAbs(shown.plot.shownX().span() - 1.0) < 1e-9);
        QTest::keyClick(&shown.plot, Qt::Key_PageDown);
        QVERIFY(qAbs(shown.plot.shownY().span() - 1.0) < 1e-6);
    }

    void aDoubleClickTakesItsFirstClickBack() {
        ReadPlot shown;
        shown.plot.addSeries({"raw"});
        shown.plot.append(0, {0.25, 0.5});
        QVERIFY(shown.show());
        QSignalSpy chosen(&shown.plot, &LinePlot::pointChosen);
        QSignalSpy takenBack(&shown.plot, &LinePlot::choiceTakenBack);
        QTest::mouseClick(&shown.canvas(), Qt::LeftButton, {}, QPoint(200, 100));
        QVERIFY(!chosen.isEmpty());
        QCOMPARE(takenBack.count(), 0);
        QTest::mouseDClick(&shown.canvas(), Qt::LeftButton, {}, QPoint(200, 100));
        QCOMPARE(takenBack.count(), 1);
    }
};

QTEST_MAIN(PlotReadingTest)
#include "plot_reading_test.moc"
