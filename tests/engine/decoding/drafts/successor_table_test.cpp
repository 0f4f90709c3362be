// SPDX-License-Identifier: Apache-2.0
#include "engine/base/counter_random.h"
#include "engine/base/result.h"
#include "engine/decoding/free/successor_memory.h"
#include "tests/support/file_content.h"
#include "tests/support/programs/damaged_bytes.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <random>

using namespace engine;

namespace {

constexpr int kVocab = 50;
constexpr const char* kModel = "0123456789abcdef0123456789abcdef";

/// Ten successors of which `first` is the best.
HeadSummary summaryOf(TokenId first) {
    HeadSummary summary;
    summary.count = HeadSummary::kMost;
    for (int rank = 0; rank < summary.count; ++rank) {
        summary.ids[static_cast<std::size_t>(rank)] = (first + rank) % kVocab;
        summary.logits[static_cast<std::size_t>(rank)] = -rank;
    }
    summary.logSumExp = 0.5;
    return summary;
}

SuccessorTable randomTable(unsigned seed, int rows, int pairCapacity = 64) {
    std::mt19937 random(seed);
    SuccessorTable table(kVocab, pairCapacity);
    for (int row = 0; row < rows; ++row) {
        const auto previous = static_cast<TokenId>(random() % kVocab);
        const auto token = static_cast<TokenId>(random() % kVocab);
        table.record(row == 0 ? kNoToken : previous,
                     token,
                     summaryOf(static_cast<TokenId>(random() % kVocab)));
    }
    return table;
}

bool isSame(const SuccessorTable& a, const SuccessorTable& b) {
    const auto same = [](const Successors* left, const Successors* right) {
        return left == nullptr || right == nullptr ? left == right : *left == *right;
    };
    for (TokenId token = 0; token < kVocab; ++token) {
        if (!same(a.ofToken(token), b.ofToken(token)))
            return false;
        for (TokenId previous = 0; previous < kVocab; ++previous)
            if (!same(a.ofPair(previous, token), b.ofPair(previous, token)))
                return false;
    }
    return true;
}

void overwrite(const std::filesystem::path& path, const std::string& bytes) {
    std::filesystem::create_directories(path.parent_path());
    std::filesystem::remove(path);
    std::ofstream(path, std::ios::binary) << bytes;
}

/// The check sum of the file's format, so that what lies behind it can be damaged, too.
std::string withCheckSum(std::string bytes) {
    std::uint64_t sum = bytes.size();
    for (std::size_t at = 0; at < bytes.size(); at += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, std::min<std::size_t>(8, bytes.size() - at));
        sum = mixBits(sum ^ word);
    }
    bytes.append(reinterpret_cast<const char*>(&sum), sizeof sum);
    return bytes;
}

} // namespace

class SuccessorTableTest : public QObject {
    Q_OBJECT

private slots:
    void theNewestRecordIsKept();
    void pairsThatWereRecordedLongAgoMakeRoom();
    void memoryIsBounded();
    void aStoredTableComesBack();
    void aTableIsStoredWhenEnoughIsNew();
    void noFileIsAnEmptyTable();
    void damagedFilesAreSetAsideAndTold();
    void forgedFilesAreRefused();
    void filesOfOtherModelsAreSetAside();
};

void SuccessorTableTest::theNewestRecordIsKept() {
    SuccessorTable table(kVocab);
    QVERIFY(table.ofToken(7) == nullptr && table.ofPair(3, 7) == nullptr);
    table.record(3, 7, summaryOf(20));
    table.record(4, 7, summaryOf(30));
    QCOMPARE(table.ofToken(7)->ids[0], 30);
    QCOMPARE(table.ofPair(3, 7)->ids[0], 20);
    QCOMPARE(table.ofPair(4, 7)->ids[0], 30);
    QVERIFY(table.ofPair(7, 3) == nullptr && table.ofPair(kNoToken, 7) == nullptr);
    table.record(3, 7, summaryOf(40));
    const Successors& newest = *table.ofPair(3, 7);
    QCOMPARE(newest.count, 10);
    for (int rank = 0; rank < 10; ++rank) {
        QCOMPARE(newest.ids[static_cast<std::size_t>(rank)], (40 + rank) % kVocab);
        QCOMPARE(newest.probabilities[static_cast<std::size_t>(rank)],
                 static_cast<float>(std::exp(-rank - 0.5)));
    }
    table.record(kNoToken, 9, summaryOf(1)); // the first token of a text has none before it
    QVERIFY(table.ofToken(9) != nullptr && table.ofPair(kNoToken, 9) == nullptr);
    QVERIFY_THROWS_EXCEPTION(EngineBug, table.record(1, kVocab, summaryOf(1)));
}

void SuccessorTableTest::pairsThatWereRecordedLongAgoMakeRoom() {
    SuccessorTable table(kVocab, SuccessorTable::kPairsOfASet); // one set: all pairs compete
    for (TokenId token = 0; token < 4; ++token)
        table.record(10, token, summaryOf(token));
    table.record(10, 0, summaryOf(5)); // 0 is new again, 1 is now the oldest
    table.record(10, 4, summaryOf(4));
    QVERIFY(table.ofPair(10, 1) == nullptr);
    for (const TokenId token : {0, 2, 3, 4})
        QVERIFY(table.ofPair(10, token) != nullptr);
    QCOMPARE(table.ofPair(10, 0)->ids[0], 5);
}

void SuccessorTableTest::memoryIsBounded() {
    SuccessorTable table(kVocab, 64);
    std::size_t most = 0;
    for (int row = 0; row < 5000; ++row) {
        table.record(row % kVocab, row / kVocab % kVocab, summaryOf(row % kVocab));
        most = std::max(most, table.byteSize());
    }
    QVERIFY(most < (64 + 2 * kVocab) * sizeof(SuccessorTable::Entry) + 4 * kVocab);
    QVERIFY(table.entries().size() <= 64 + kVocab);
}

void SuccessorTableTest::aStoredTableComesBack() {
    const test_support::TemporaryFolder folder;
    SuccessorTable table = randomTable(1, 400);
    SuccessorMemory memory(folder.path(), kModel);
    QVERIFY(memory.isBehind(table));
    QVERIFY(memory.store(table).hasValue());
    QVERIFY(!memory.isBehind(table));
    std::filesystem::path expected = folder.path() / "successors" / kModel;
    expected += ".bin";
    QCOMPARE(memory.path(), expected);
    SuccessorTable loaded(kVocab, 64);
    const auto note = SuccessorMemory(folder.path(), kModel).load(loaded);
    QVERIFY(note.hasValue() && note.value().empty());
    QVERIFY(isSame(table, loaded));
    // And who makes room next is known as well.
    std::mt19937 random(2);
    for (int row = 0; row < 100; ++row) {
        const auto previous = static_cast<TokenId>(random() % kVocab);
        const auto token = static_cast<TokenId>(random() % kVocab);
        table.record(previous, token, summaryOf(1));
        loaded.record(previous, token, summaryOf(1));
    }
    QVERIFY(isSame(table, loaded));
}

void SuccessorTableTest::aTableIsStoredWhenEnoughIsNew() {
    const test_support::TemporaryFolder folder;
    SuccessorTable table = randomTable(1, 400);
    SuccessorMemory memory(folder.path(), kModel);
    QVERIFY(memory.keep(table).hasValue());
    QVERIFY(!std::filesystem::exists(memory.path()));
    while (table.recordCount() < SuccessorMemory::kRowsBetweenWrites)
        table.record(1, 2, summaryOf(3));
    QVERIFY(memory.keep(table).hasValue());
    QVERIFY(std::filesystem::exists(memory.path()));
    QVERIFY(!memory.isBehind(table));
}

void SuccessorTableTest::noFileIsAnEmptyTable() {
    const test_support::TemporaryFolder folder;
    SuccessorTable table(kVocab);
    SuccessorMemory memory(folder.path(), kModel);
    const auto note = memory.load(table);
    QVERIFY(note.hasValue() && note.value().empty());
    QVERIFY(table.entries().empty() && !memory.isBehind(table));
}

void SuccessorTableTest::damagedFilesAreSetAsideAndTold() {
    const test_support::TemporaryFolder folder;
    SuccessorMemory memory(folder.path(), kModel);
    QVERIFY(memory.store(randomTable(1, 3)).hasValue());
    const std::string whole = support::fileText(memory.path());
    int count = 0;
    const auto check = [&](const std::string& damaged, std::size_t where) {
        overwrite(memory.path(), damaged);
        SuccessorTable table(kVocab);
        const auto note = memory.load(table);
        QVERIFY2(note.hasValue() && !note.value().empty(), std::to_string(where).c_str());
        QVERIFY(table.entries().empty());
        QVERIFY(!std::filesystem::exists(memory.path()));
        const std::string aside = memory.path().string() + ".broken-1";
        QVERIFY(support::fileText(aside) == damaged);
        QVERIFY(note.value().find(".bin.broken-1") != std::string::npos);
        std::filesystem::remove(aside);
        ++count;
    };
    test_support::forEachCut(whole, check);
    test_support::forEachFlip(whole, 300, 1, check);
    QCOMPARE(count, static_cast<int>(whole.size()) + 300);
    QVERIFY(memory.store(randomTable(1, 3)).hasValue()); // a new one can be begun
    QVERIFY(support::fileText(memory.path()) == whole);
}

/// The check sum is right, the numbers are not: all of them are checked.
void SuccessorTableTest::forgedFilesAreRefused() {
    const test_support::TemporaryFolder folder;
    SuccessorMemory memory(folder.path(), kModel);
    QVERIFY(memory.store(randomTable(1, 2)).hasValue());
    std::string content = support::fileText(memory.path());
    content.resize(content.size() - 8);
    int refused = 0;
    const auto tryIt = [&](const std::string& forged) {
        overwrite(memory.path(), withCheckSum(forged));
        SuccessorTable table(kVocab);
        const auto note = memory.load(table);
        QVERIFY(note.hasValue());
        refused += note.value().empty() ? 0 : 1;
        for (const SuccessorTable::Entry& entry : table.entries())
            for (int rank = 0; rank < entry.successors.count; ++rank)
                QVERIFY(entry.successors.ids[static_cast<std::size_t>(rank)] < kVocab);
        std::filesystem::remove(memory.path().string() + ".broken-1");
    };
    tryIt(content);
    QCOMPARE(refused, 0);
    test_support::forEachFlip(
        content, 500, 3, [&](const std::string& forged, std::size_t) { tryIt(forged); });
    QVERIFY(refused > 300); // a flip in a probability's fraction is another good number
    const int before = refused;
    tryIt(content + "x");
    tryIt(content.substr(0, content.size() - 4));
    QCOMPARE(refused, before + 2);
}

void SuccessorTableTest::filesOfOtherModelsAreSetAside() {
    const test_support::TemporaryFolder folder;
    SuccessorMemory memory(folder.path(), kModel);
    QVERIFY(memory.store(randomTable(1, 40)).hasValue());
    SuccessorTable larger(kVocab + 1);
    const auto otherSize = memory.load(larger);
    QVERIFY(otherSize.hasValue() && !otherSize.value().empty());
    QVERIFY(larger.entries().empty());
    SuccessorMemory other(folder.path(), "ff");
    QVERIFY(memory.store(randomTable(1, 40)).hasValue());
    std::filesystem::rename(memory.path(), other.path());
    SuccessorTable table(kVocab);
    const auto otherModel = other.load(table);
    QVERIFY(otherModel.hasValue() && !otherModel.value().empty());
    QVERIFY(table.entries().empty());
}

QTEST_APPLESS_MAIN(SuccessorTableTest)

#include "successor_table_test.moc"
