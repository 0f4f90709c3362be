// SPDX-License-Identifier: GPL-3.0-only
#include "ui/theme/theme.h"
#include "ui/views/layer_map/grid/cell_painter.h"
#include "ui/views/layer_map/grid/grid_geometry.h"
#include "ui/views/layer_map/grid/layer_map_model.h"

#include <QAbstractItemModelTester>
#include <QImage>
#include <QPainter>
#include <QTest>

#include <algorithm>
#include <array>
#include <cmath>

using namespace ui;

namespace {

// The sets of the mock-ups: 14 + 11 sublayers each, 22 in common.
const engine::SkipSet kLive{{3, 6, 8, 9, 11, 13, 15, 17, 18, 20, 22, 24, 26, 27},
                            {4, 7, 10, 12, 14, 16, 19, 21, 23, 25, 27}};
const engine::SkipSet kAtStep300{{3, 5, 6, 8, 10, 11, 13, 15, 17, 18, 20, 22, 24, 27},
                                 {4, 7, 10, 12, 14, 16, 18, 19, 23, 25, 27}};

LayerMapState stateOf(const engine::SkipSet& set) { return {30, set, {}, {}, {0, 29}}; }

QImage greyCell(const QSize& size, const CellLook& look, const Colours& colours) {
    QImage image(size, QImage::Format_RGB32);
    image.fill(colours.panel);
    QPainter painter(&image);
    paintCell(painter, image.rect(), look, colours);
    painter.end();
    return image.convertToFormat(QImage::Format_Grayscale8);
}

/// Pixels that differ clearly, as a share of all.
double difference(const QImage& a, const QImage& b) {
    int differing = 0;
    for (int y = 0; y < a.height(); ++y)
        for (int x = 0; x < a.width(); ++x)
            differing += std::abs(qGray(a.pixel(x, y)) - qGray(b.pixel(x, y))) > 24 ? 1 : 0;
    return static_cast<double>(differing) / (a.width() * a.height());
}

/// How many different shades the middle of a cell has: a hatch makes more than one.
int shades(const QImage& image) {
    std::array<bool, 256> isThere{};
    for (int y = 6; y < image.height() - 6; ++y)
        for (int x = 2; x < image.width() - 2; ++x)
            isThere[static_cast<std::size_t>(qGray(image.pixel(x, y)))] = true;
    return static_cast<int>(std::ranges::count(isThere, true));
}

} // namespace

class LayerMapModelTest : public QObject {
    Q_OBJECT

private slots:

    void theModelKeepsTheRulesOfModelsThroughAllChanges() {
        LayerMapModel model;
        QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
        for (const int layers : {0, 4, 30, 100, 30, 0}) {
            engine::SkipSet set;
            for (int layer = 1; layer < layers - 1; layer += 2)
                set.attention.push_back(layer);
            model.setState({layers, set, {}, {}, {0, layers - 1}});
            QCOMPARE(model.columnCount(), layers);
            QCOMPARE(model.rowCount(), layers == 0 ? 0 : 2);
        }
    }

    void aCellSaysWhatItIsInWords() {
        LayerMapModel model;
        model.setState({30, kAtStep300, kLive, QStringLiteral("live set"), {0, 29}});
        const auto words = [&](int row, int layer) {
            return model.data(model.index(row, layer), Qt::AccessibleTextRole).toString();
        };
        QCOMPARE(words(0, 3), QStringLiteral("Layer 3, attention, skipped"));
        QCOMPARE(words(1, 3), QStringLiteral("Layer 3, MLP, kept"));
        QCOMPARE(words(0, 0), QStringLiteral("Layer 0, attention, kept, locked"));
        QCOMPARE(words(1, 29), QStringLiteral("Layer 29, MLP, kept, locked"));
        QCOMPARE(words(0, 5),
                 QStringLiteral("Layer 5, attention, skipped, differs from the live set"));
    }

    void onlyCellsThatLookDifferentAreTold() {
        LayerMapModel model;
        model.setState(stateOf(kLive));
        QSignalSpy changes(&model, &QAbstractItemModel::dataChanged);
        model.setState(stateOf(kLive));
        QCOMPARE(changes.count(), 0);
        model.setState(stateOf(flipped(kLive, {Sublayer::Mlp, 5})));
        QCOMPARE(changes.count(), 1);
        QCOMPARE(changes[0][0].toModelIndex(), model.index(1, 5));
        changes.clear();
        model.setState(stateOf(kAtStep300));
        QCOMPARE(changes.count(), 7); // the six that differ, and layer 5's MLP back
    }

    void twoSetsAreComparedAsInTheMockUps() {
        const engine::SkipSetComparison comparison = engine::compareSkipSets(kLive, kAtStep300);
        QCOMPARE(comparison.both, 22);
        QCOMPARE(comparison.onlyFirst, 3);
        QCOMPARE(comparison.onlySecond, 3);
        QCOMPARE(comparison.hamming(), 6);
        QCOMPARE(shareText(comparison.jaccard()), QStringLiteral(".79"));
        QCOMPARE(shareText(engine::compareSkipSets({}, {}).jaccard()), QStringLiteral("1.00"));
        QCOMPARE(shareText(engine::compareSkipSets(kLive, {}).jaccard()), QStringLiteral(".00"));
    }

    void flippingTwiceGivesTheSameSetInOrder() {
        const Cell cell{Sublayer::Attention, 12};
        const engine::SkipSet once = flipped(kLive, cell);
        QVERIFY(isSkipped(once, cell));
        QVERIFY(std::ranges::is_sorted(once.attention));
        QCOMPARE(once.attention.size(), kLive.attention.size() + 1);
        QCOMPARE(flipped(once, cell), kLive);
    }

    void kindsAndStatesDifferWithoutColour_data() {
        QTest::addColumn<bool>("isDark");
        QTest::addColumn<int>("width");
        for (const bool isDark : {false, true})
            for (const int width : {8, 12, 30})
                QTest::addRow("%s, %d px", isDark ? "dark" : "light", width) << isDark << width;
    }

    void kindsAndStatesDifferWithoutColour() {
        QFETCH(bool, isDark);
        QFETCH(int, width);
        const Colours colours = isDark ? darkColours() : lightColours();
        const QSize size(width, 34);
        const CellLook attention{Sublayer::Attention, true, false, false, false};
        const CellLook mlp{Sublayer::Mlp, true, false, false, false};
        const CellLook kept{Sublayer::Attention, false, false, false, false};
        const CellLook locked{Sublayer::Attention, false, true, false, false};
        const CellLook differing{Sublayer::Attention, false, false, true, false};
        const QImage images[] = {greyCell(size, attention, colours),
                                 greyCell(size, mlp, colours),
                                 greyCell(size, kept, colours),
                                 greyCell(size, locked, colours),
                                 greyCell(size, differing, colours)};
        for (std::size_t a = 0; a < std::size(images); ++a)
            for (std::size_t b = 0; b < a; ++b)
                QVERIFY2(difference(images[a], images[b]) > 0.015,
                         qPrintable(QStringLiteral("%1 and %2 look alike").arg(a).arg(b)));
        QVERIFY(shades(images[0]) >= 2);
        QVERIFY(shades(images[1]) >= 2);
        QCOMPARE(shades(images[2]), 1);
    }

    void cellsAndNumbersFitAnyModelAndWidth() {
        const Theme theme;
        for (int layers = 4; layers <= 100; ++layers)
            for (const int width : {250, 296, 519, 520, 720, 1100}) {
                const auto geometry = GridGeometry::make(theme, {0, 0, width, 100}, layers);
                QCOMPARE(geometry.isMini, width < 520);
                QCOMPARE(geometry.layerCount(), layers);
                QVERIFY(geometry.edges.back() <= width);
                for (int layer = 0; layer < layers; ++layer)
                    QVERIFY(geometry.cell({Sublayer::Mlp, layer}).width() >= 1);
                checkNumbers(geometry, layers);
            }
    }

    void aMiniMapUsesTheHeightOfItsDock() {
        const Theme theme;
        for (const int height : {60, 70, 80}) {
            const auto geometry = GridGeometry::make(theme, {0, 0, 272, height}, 30);
            QVERIFY(geometry.isMini);
            QVERIFY(geometry.numbers.bottom() < height);
            QVERIFY2(geometry.numbers.bottom() >= height - 3,
                     qPrintable(QString::number(geometry.numbers.bottom())));
        }
    }

    /// A dock may be lower than its view asks for: then the numbers go, and nothing is cut.
    void nothingIsCutWhereTheMapIsLow() {
        Theme theme;
        for (const int percent : {100, 150})
            for (int height = 20; height < 150; ++height) {
                theme.setTextPercent(percent);
                const auto geometry = GridGeometry::make(theme, {0, 0, 272, height}, 30);
                QVERIFY(geometry.cells.bottom() < height);
                QVERIFY(geometry.numbers.bottom() < height);
                QCOMPARE(geometry.numbers.height() > 0, height >= GridGeometry::leastHeight(theme));
            }
    }

private:
    void checkNumbers(const GridGeometry& geometry, int layers) {
        constexpr int kLabelWidth = 24;
        for (const std::optional<int> current :
             {std::optional<int>(), std::optional(0), std::optional(layers / 2 + 1)}) {
            std::vector<int> shown = shownLayerNumbers(geometry, kLabelWidth, current);
            std::ranges::sort(shown);
            QVERIFY(!current || std::ranges::count(shown, *current) == 1);
            for (std::size_t i = 1; i < shown.size(); ++i) {
                const int left = geometry.edges[static_cast<std::size_t>(shown[i - 1])];
                const int right = geometry.edges[static_cast<std::size_t>(shown[i])];
                QVERIFY(right - left >= kLabelWidth - 2);
            }
        }
    }
};

QTEST_MAIN(LayerMapModelTest)
#include "layer_map_model_test.moc"
