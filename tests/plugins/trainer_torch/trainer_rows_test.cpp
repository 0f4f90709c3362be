// SPDX-License-Identifier: Apache-2.0
// How texts are cut into packs.
#include "plugins/trainer_torch/rows/packed_rows.h"
#include "tests/plugins/trainer_torch/trainer_support.h"

#include <QTest>

#include <algorithm>
#include <set>

using namespace engine;
using namespace trainer_torch;
using trainer_support::OwnedText;

namespace {

OwnedText marked(const std::vector<std::uint8_t>& answers) {
    OwnedText text;
    text.answers = answers;
    text.tokens.resize(answers.size());
    return text;
}

OwnedText longText(int rows, int answer) {
    std::vector<std::uint8_t> answers(toSize(rows), 1);
    std::fill_n(answers.begin(), answer, std::uint8_t{0});
    return marked(answers);
}

std::vector<Pack> packsOf(const std::vector<OwnedText>& texts, const PackTerms& terms) {
    return packRows(trainer_support::shown(texts), terms);
}

} // namespace

class TrainerRowsTest : public QObject {
    Q_OBJECT

private slots:
    void chainsBeginBeforeTokensOfAnswersAndEndWithThem();
    void aTextWithoutAnAnswerHasNoRows();
    void longTextsAreCutAndEveryChainOccursOnce_data();
    void longTextsAreCutAndEveryChainOccursOnce();
    void promptsThatNoChainSeesAreLeftOut();
    void shortTextsShareAPack();
};

void TrainerRowsTest::chainsBeginBeforeTokensOfAnswersAndEndWithThem() {
    const auto packs = packsOf({marked({0, 0, 0, 1, 1, 1, 0, 1})}, {.depths = 4});
    QCOMPARE(packs.size(), std::size_t{1});
    const Pack& pack = packs.front();
    QCOMPARE(pack.rows.size(), std::size_t{6}); // the last one is for token 7
    std::vector<std::pair<int, int>> chains;    // slot, length
    for (const PackedChain& chain : pack.chains)
        chains.emplace_back(pack.slotOf(chain).slot, chain.length);
    const std::vector<std::pair<int, int>> wanted = {{1, 3}, {2, 2}, {3, 1}, {5, 1}};
    QVERIFY(chains == wanted);
    QCOMPARE(pack.chainCount(1), 4);
    QCOMPARE(pack.chainCount(2), 2);
    QCOMPARE(pack.chainCount(3), 1);
    QCOMPARE(pack.chainCount(4), 0);
    QVERIFY((chainTotals(packs, 4) == std::vector<std::int64_t>{4, 2, 1, 0}));
}

void TrainerRowsTest::aTextWithoutAnAnswerHasNoRows() {
    QVERIFY(packsOf({marked({0, 0, 0}), marked({}), marked({1, 1}), marked({1})}, {}).empty());
}

void TrainerRowsTest::longTextsAreCutAndEveryChainOccursOnce_data() {
    QTest::addColumn<int>("window");
    QTest::addColumn<int>("layers");
    for (const int window : {0, 1, 8, 100})
        for (const int layers : {1, 2})
            QTest::addRow("window %d, layers %d", window, layers) << window << layers;
}

void TrainerRowsTest::longTextsAreCutAndEveryChainOccursOnce() {
    QFETCH(const int, window);
    QFETCH(const int, layers);
    const PackTerms terms{.depths = 3, .layers = layers, .window = window, .rows = 64};
    const auto packs = packsOf({longText(300, 90), longText(20, 3)}, terms);
    QVERIFY(packs.size() > 3);
    std::set<std::pair<int, int>> seen; // text, slot
    for (const Pack& pack : packs)
        for (const PackedChain& chain : pack.chains) {
            const PackedSlot& slot = pack.slotOf(chain);
            QVERIFY(seen.emplace(slot.text, slot.slot).second);
            const int reach = window > 0 ? layers * (window - 1) : slot.slot;
            const PackedSlot& first = pack.rows[toSize(slot.firstRow)];
            QCOMPARE(first.text, slot.text);
            QVERIFY(first.slot <= std::max(0, slot.slot - reach));
            QCOMPARE(slot.slot - first.slot, chain.row - slot.firstRow);
        }
    QCOMPARE(seen.size(), std::size_t{210 + 17});
    if (window == 8)
        for (const Pack& pack : packs)
            QVERIFY(pack.rows.size() <= 64);
}

void TrainerRowsTest::promptsThatNoChainSeesAreLeftOut() {
    std::vector<std::uint8_t> answers(200, 0);
    std::fill_n(answers.begin() + 50, 5, std::uint8_t{1});
    std::fill_n(answers.begin() + 150, 5, std::uint8_t{1});
    const auto packs = packsOf({marked(answers)}, {.depths = 2, .window = 11});
    QCOMPARE(packs.size(), std::size_t{1});
    QCOMPARE(packs.front().rows.size(), std::size_t{30}); // 10 before each answer's 5 chains
    QCOMPARE(packs.front().rows.front().slot, 38);
    QCOMPARE(packs.front().rows[15].slot, 138);
    QCOMPARE(packs.front().rows[15].firstRow, 15);
}

void TrainerRowsTest::shortTextsShareAPack() {
    const auto packs = packsOf({longText(32, 2), longText(52, 2), longText(22, 2)}, {.rows = 64});
    QCOMPARE(packs.size(), std::size_t{2}); // the third fits behind the first one
    QCOMPARE(packs[0].rows.size(), std::size_t{30 + 20});
    QCOMPARE(packs[1].rows.size(), std::size_t{50});
}

QTEST_GUILESS_MAIN(TrainerRowsTest)
#include "trainer_rows_test.moc"
