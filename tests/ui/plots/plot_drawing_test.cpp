// SPDX-License-Identifier: GPL-3.0-only
#include "ui/plots/drawing/labels/label_places.h"
#include "ui/plots/drawing/labels/plot_ticks.h"
#include "ui/plots/drawing/point_pyramid.h"

#include <QTest>

#include <cmath>
#include <limits>

using namespace ui;

namespace {

double wave(int i) { return std::sin(i * 0.37) + (i % 991 == 0 ? 5.0 : 0.0); }

PointPyramid pyramidOf(int count) {
    PointPyramid pyramid;
    for (int i = 0; i < count; ++i)
        pyramid.append({static_cast<double>(i), wave(i)});
    return pyramid;
}

LabelWish wishAt(double y, LabelSide side = LabelSide::Left, bool isBelow = false) {
    return {QSizeF(80, 14), y, y, side, isBelow};
}

} // namespace

class PlotDrawingTest : public QObject {
    Q_OBJECT

private slots:

    void coarseLevelsHaveFewPointsAndMissNoPeak() {
        const PointPyramid pyramid = pyramidOf(100'000);
        const PlotRange all{0.0, 100'000.0};
        for (const int level : {1, 2}) {
            const auto points = pyramid.pointsIn(all, level);
            QVERIFY(points.size() <= 2u * (100'000u / (level == 1 ? 16u : 256u) + 1u));
            double highest = -10.0;
            double lowest = 10.0;
            double before = -1.0;
            for (const PlotPoint& point : points) {
                QVERIFY(point.x >= before);
                before = point.x;
                highest = std::max(highest, point.y);
                lowest = std::min(lowest, point.y);
                QCOMPARE(point.y, wave(static_cast<int>(point.x)));
            }
            double trueHighest = -10.0;
            double trueLowest = 10.0;
            for (int i = 0; i < 100'000; ++i) {
                trueHighest = std::max(trueHighest, wave(i));
                trueLowest = std::min(trueLowest, wave(i));
            }
            QCOMPARE(highest, trueHighest);
            QCOMPARE(lowest, trueLowest);
        }
    }

    void theFinestLevelThatFitsIsTaken() {
        const PointPyramid pyramid = pyramidOf(100'000);
        QCOMPARE(pyramid.levelFor({0.0, 1e6}, 200'000), 0);
        QCOMPARE(pyramid.levelFor({0.0, 1e6}, 20'000), 1);
        QCOMPARE(pyramid.levelFor({0.0, 1e6}, 2'000), 2);
        QCOMPARE(pyramid.levelFor({500.0, 900.0}, 2'000), 0);
        QVERIFY(pyramid.pointsIn({0.0, 1e6}, 1).size() <= 20'000u);
    }

    void aRangeBringsItsNeighboursSoThatLinesReachTheEdge() {
        const PointPyramid pyramid = pyramidOf(100);
        const auto points = pyramid.pointsIn({10.5, 12.5}, 0);
        QCOMPARE(points.size(), 4u);
        QCOMPARE(points.front().x, 10.0);
        QCOMPARE(points.back().x, 13.0);
    }

    void removedPointsAreInNoLevel() {
        PointPyramid pyramid = pyramidOf(10'000);
        pyramid.removeBefore(5'003.0);
        QCOMPARE(pyramid.size(), 4'997u);
        QCOMPARE(pyramid.appendedCount(), 10'000);
        for (const int level : {0, 1, 2}) {
            const auto points = pyramid.pointsIn({0.0, 1e5}, level);
            QVERIFY(!points.empty());
            QVERIFY(points.front().x >= 5'003.0);
        }
        pyramid.append({10'000.0, 99.0});
        QCOMPARE(pyramid.pointsIn({0.0, 1e5}, 2).back().y, 99.0);
    }

    void removingEverythingAndGoingOnWorks() {
        PointPyramid pyramid = pyramidOf(1'000);
        pyramid.removeBefore(1e9);
        QVERIFY(pyramid.isEmpty());
        QVERIFY(pyramid.pointsIn({0.0, 1e9}, 1).empty());
        for (int i = 0; i < 600; ++i)
            pyramid.append({2'000.0 + i, i == 300 ? 7.0 : 0.0});
        double highest = 0.0;
        for (const PlotPoint& point : pyramid.pointsIn({0.0, 1e9}, 2))
            highest = std::max(highest, point.y);
        QCOMPARE(highest, 7.0);
    }

    void aPointThatGoesBackInTimeIsPutAtTheNewest() {
        PointPyramid pyramid;
        pyramid.append({2.0, 1.0});
        pyramid.append({1.0, 3.0});
        QCOMPARE(pyramid.newest().x, 2.0);
        QCOMPARE(pyramid.newest().y, 3.0);
    }

    void gapsAreNoPeaks() {
        PointPyramid pyramid;
        for (int i = 0; i < 64; ++i)
            pyramid.append({static_cast<double>(i),
                            i % 2 == 0 ? std::numeric_limits<double>::quiet_NaN() : 1.0});
        for (const PlotPoint& point : pyramid.pointsIn({0.0, 100.0}, 1))
            QCOMPARE(point.y, 1.0);
    }

    void ticksAreThoseOfTheMockUps() {
        AxisForm speed;
        speed.origin = 1.0;
        const auto speeds = tickPositions(speed, {0.6, 1.8});
        QCOMPARE(speeds.size(), 4u);
        QCOMPARE(tickText(speed, speeds, speeds.front()), QStringLiteral("0.6"));
        QCOMPARE(tickText(speed, speeds, speeds[1]), QStringLiteral("1.0"));
        QCOMPARE(tickText(speed, speeds, speeds.back()), QStringLiteral("1.8"));
        AxisForm steps;
        steps.tickCount = 5;
        QCOMPARE(tickPositions(steps, {-32.0, 496.0}),
                 (std::vector<double>{0.0, 100.0, 200.0, 300.0, 400.0}));
    }

    void noRangeGivesTooManyTicks() {
        AxisForm axis;
        for (const double span : {1e-6, 0.3, 0.99, 1.0, 7.0, 123.4, 5e8}) {
            for (const double from : {-3.0, 0.0, 0.17, 1e4}) {
                const auto ticks = tickPositions(axis, {from, from + span});
                QVERIFY2(ticks.size() <= 4u && !ticks.empty(), qPrintable(QString::number(span)));
            }
        }
        QVERIFY(tickPositions(axis, {1.0, 1.0}).empty());
        QVERIFY(tickPositions(axis, {0.0, std::numeric_limits<double>::infinity()}).empty());
    }

    void numbersHaveATrueMinusAndNoNegativeZero() {
        QCOMPARE(plainNumber(-20.0, 0), QStringLiteral("\u221220"));
        QCOMPARE(plainNumber(-0.001, 1), QStringLiteral("0.0"));
        QCOMPARE(plainNumber(12345.0, 0), QStringLiteral("12345"));
    }

    void labelsOfNeighbouringLinesDoNotOverlap() {
        const LabelRoom room{QRectF(0, 0, 300, 120), {}, {50.0, 56.0, 60.0, 64.0}};
        const std::vector<LabelWish> wishes = {
            wishAt(50), wishAt(56), wishAt(60), wishAt(64, LabelSide::Right, true)};
        const auto places = placeLabels(wishes, room);
        QCOMPARE(places.size(), wishes.size());
        for (std::size_t i = 0; i < places.size(); ++i) {
            QVERIFY2(places[i].has_value(), qPrintable(QString::number(i)));
            QVERIFY(room.frame.contains(*places[i]));
            for (std::size_t k = 0; k < i; ++k)
                QVERIFY(!places[i]->intersects(*places[k]));
        }
    }

    void aLabelAtTheEdgeTurnsToTheOtherSideOfItsLine() {
        const LabelRoom room{QRectF(0, 0, 300, 120), {}, {5.0}};
        const std::vector<LabelWish> wishes = {wishAt(5.0)};
        const auto places = placeLabels(wishes, room);
        QVERIFY(places[0].has_value());
        QVERIFY(places[0]->top() > 5.0);
    }

    void aLabelAtTheLeftKeepsBehindItsPlace() {
        const LabelRoom room{QRectF(0, 0, 300, 120), {}, {}};
        LabelWish wish = wishAt(60.0);
        wish.smallestX = 40.0;
        const std::vector<LabelWish> wishes = {wish};
        QCOMPARE(placeLabels(wishes, room)[0]->left(), 40.0);
    }

    void aLabelRisesAboveThePointsOfItsLine() {
        LabelRoom room{QRectF(0, 0, 300, 120), {}, {50.0}};
        room.markers = {{20.0, 44.0}, {200.0, 30.0}}; // the second is beside it
        const std::vector<LabelWish> wishes = {wishAt(50)};
        const auto places = placeLabels(wishes, room);
        QVERIFY(places[0].has_value() && !coversMarker(*places[0], room));
        QVERIFY(places[0]->bottom() <= 44.0 - room.markerRadius && places[0]->top() >= 20.0);
        QVERIFY(places[0]->left() < 20.0);
    }

    void aLabelKeepsToTheSideWithoutPoints() {
        LabelRoom room{QRectF(0, 0, 300, 120), {}, {20.0}};
        for (int y = 4; y < 60; y += 8)
            room.markers.emplace_back(40.0, y);
        const std::vector<LabelWish> wishes = {wishAt(20)};
        const auto places = placeLabels(wishes, room);
        QVERIFY(places[0].has_value() && places[0]->left() > 150.0);
    }

    void aLabelThatFitsNowhereIsLeftOut() {
        const LabelRoom room{QRectF(0, 0, 60, 120), {}, {}};
        const std::vector<LabelWish> wishes = {wishAt(60.0)};
        QVERIFY(!placeLabels(wishes, room)[0].has_value());
    }

    void labelsKeepAwayFromWhatIsTaken() {
        LabelRoom room{QRectF(0, 0, 300, 120), {QRectF(0, 30, 150, 20)}, {50.0}};
        const std::vector<LabelWish> wishes = {wishAt(50.0)};
        const auto places = placeLabels(wishes, room);
        QVERIFY(places[0] && !places[0]->intersects(room.taken[0]));
    }
};

QTEST_APPLESS_MAIN(PlotDrawingTest)
#include "plot_drawing_test.moc"
