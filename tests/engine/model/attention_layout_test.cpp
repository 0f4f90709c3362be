// SPDX-License-Identifier: Apache-2.0
#include "engine/base/result.h"
#include "engine/model/cache/attention_layout.h"

#include <QTest>

using namespace engine;

namespace {

std::vector<Position> keysOf(const AttentionLayout& layout, int row, int window = 0) {
    std::vector<Position> seen;
    layout.forEachKey(row, window, [&seen](Position slot) { seen.push_back(slot); });
    return seen;
}

using Slots = std::vector<Position>;

} // namespace

class AttentionLayoutTest : public QObject {
    Q_OBJECT

private slots:
    void chainRowsSeeAllThatCameBefore();
    void treeNodesSeeThePrefixAndTheirAncestors();
    void windowsCutByPositionNotBySlot();
    void laterNodesSeeAncestorsOfEarlierPasses();
    void aTreeMayLiveBeyondRowsItDoesNotSee();
    void aParentMustComeBeforeItsChild();
    void rowsBesideCachedOnesSeeThoseAndThemselvesOnly();
};

void AttentionLayoutTest::chainRowsSeeAllThatCameBefore() {
    const AttentionLayout layout = AttentionLayout::chain(2, 3);
    QCOMPARE(layout.firstSlot(), 2);
    QCOMPARE(layout.endSlot(), 5);
    QCOMPARE(layout.position(1), 3);
    QCOMPARE(keysOf(layout, 0), (Slots{0, 1, 2}));
    QCOMPARE(keysOf(layout, 2), (Slots{0, 1, 2, 3, 4}));
}

void AttentionLayoutTest::treeNodesSeeThePrefixAndTheirAncestors() {
    const std::vector<int> parents = {-1, -1, 0, 2, 1};
    const AttentionLayout layout = AttentionLayout::tree(3, parents);
    QCOMPARE(layout.position(0), 3);
    QCOMPARE(layout.position(1), 3);
    QCOMPARE(layout.position(3), 5);
    QCOMPARE(keysOf(layout, 1), (Slots{0, 1, 2, 4}));
    QCOMPARE(keysOf(layout, 3), (Slots{0, 1, 2, 3, 5, 6}));
    QCOMPARE(keysOf(layout, 4), (Slots{0, 1, 2, 4, 7}));
}

void AttentionLayoutTest::windowsCutByPositionNotBySlot() {
    const std::vector<int> parents = {-1, -1, 1};
    const AttentionLayout layout = AttentionLayout::tree(4, parents);
    // Node 2 stands at position 5 in slot 6; a window of 3 reaches back to position 3.
    QCOMPARE(keysOf(layout, 2, 3), (Slots{3, 5, 6}));
    QCOMPARE(keysOf(AttentionLayout::chain(5, 1), 0, 1), (Slots{5}));
}

void AttentionLayoutTest::laterNodesSeeAncestorsOfEarlierPasses() {
    const std::vector<int> parents = {-1, 0, 1};
    const AttentionLayout layout = AttentionLayout::tree(2, parents, 2, 2);
    QCOMPARE(layout.rowCount(), 1);
    QCOMPARE(layout.firstSlot(), 4);
    QCOMPARE(keysOf(layout, 0), (Slots{0, 1, 2, 3, 4}));
}

void AttentionLayoutTest::aTreeMayLiveBeyondRowsItDoesNotSee() {
    const std::vector<int> parents = {-1, 0};
    const AttentionLayout layout = AttentionLayout::tree(2, parents, 0, 10);
    QCOMPARE(layout.position(1), 3);
    QCOMPARE(keysOf(layout, 1), (Slots{0, 1, 10, 11}));
    QCOMPARE(keysOf(layout, 1, 2), (Slots{10, 11}));
}

void AttentionLayoutTest::aParentMustComeBeforeItsChild() {
    const std::vector<int> parents = {0};
    QVERIFY_EXCEPTION_THROWN(AttentionLayout::tree(2, parents), EngineBug);
}

void AttentionLayoutTest::rowsBesideCachedOnesSeeThoseAndThemselvesOnly() {
    const AttentionLayout layout = AttentionLayout::beside(2, 3, 7);
    QCOMPARE(layout.firstSlot(), 7);
    QCOMPARE(layout.endSlot(), 10);
    QCOMPARE(layout.position(2), 4);
    QCOMPARE(keysOf(layout, 0), (Slots{0, 1, 7}));
    QCOMPARE(keysOf(layout, 2), (Slots{0, 1, 2, 3, 9}));
    QCOMPARE(keysOf(layout, 2, 2), (Slots{3, 9}));
    QVERIFY_EXCEPTION_THROWN(AttentionLayout::beside(2, 3, 3), EngineBug);
}

QTEST_GUILESS_MAIN(AttentionLayoutTest)
#include "attention_layout_test.moc"
