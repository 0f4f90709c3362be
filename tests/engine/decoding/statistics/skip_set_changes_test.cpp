// SPDX-License-Identifier: Apache-2.0
// What else can be done with stored skip sets than storing them.
#include "engine/decoding/statistics/skip_set_memory.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

using namespace engine;

namespace {

const std::string kModel = "0123456789abcdef0123456789abcdef";
constexpr int kLayers = 12;

StoredSkipSet storedSet(std::int64_t savedAt) {
    return {.set = {{1, 3}, {11}},
            .score = 0.75,
            .skipRatio = 0.45,
            .decoder = "swift",
            .savedAt = savedAt,
            .trials = 120};
}

SkipSetMemory memoryIn(const test_support::TemporaryFolder& folder) {
    return {folder.path(), kModel, kLayers};
}

bool mentions(const Error& error, const std::string& words) {
    return (error.message + " " + error.hint).find(words) != std::string::npos;
}

} // namespace

class SkipSetChangesTest : public QObject {
    Q_OBJECT

private slots:
    void setsAreRemovedAndAddedTogetherOrNotAtAll();
    void aSetIsRenamedUnlessTheNameIsTaken();
    void ofOfferedSetsTheMissingAreTaken();
    void theNameOfTheModelStays();
    void theFileOfAnotherModelIsNotUsedUnderThisOnesName();
    void anOlderFileIsOnlyNamedForItsModel();
};

void SkipSetChangesTest::setsAreRemovedAndAddedTogetherOrNotAtAll() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory = memoryIn(folder);
    QVERIFY(memory.store({{"code", storedSet(1)}, {"story", storedSet(2)}}));
    const auto missing = memory.exchange({"code", "math"}, {});
    QVERIFY(!missing && missing.error().code == ErrorCode::NotFound);
    QVERIFY(mentions(missing.error(), "\"math\""));
    const auto taken = memory.exchange({"code"}, {{"story", storedSet(3)}});
    QVERIFY(!taken && mentions(taken.error(), "\"story\" has a skip set already"));
    QCOMPARE(memory.all().value().sets.size(), std::size_t(2));
    const auto done = memory.exchange({"code"}, {{"math", storedSet(4)}});
    QVERIFY(done && done.value().note.empty());
    QVERIFY(done.value().lost == (SkipSetsByTask{{"code", storedSet(1)}}));
    QVERIFY(memory.all().value().sets ==
            (SkipSetsByTask{{"math", storedSet(4)}, {"story", storedSet(2)}}));
}

void SkipSetChangesTest::aSetIsRenamedUnlessTheNameIsTaken() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory = memoryIn(folder);
    QVERIFY(memory.store({{"code", storedSet(1)}, {"story", storedSet(2)}}));
    QVERIFY(!memory.rename("code", "story"));
    QVERIFY(!memory.rename("math", "other"));
    QVERIFY(!memory.rename("code", "caf\xE9"));
    QVERIFY(memory.rename("code", "Python").value().lost.contains("code"));
    QVERIFY(memory.all().value().sets ==
            (SkipSetsByTask{{"Python", storedSet(1)}, {"story", storedSet(2)}}));
}

void SkipSetChangesTest::ofOfferedSetsTheMissingAreTaken() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory = memoryIn(folder);
    const SkipSetsByTask offered = {{"code", storedSet(3)}, {"story", storedSet(4)}};
    QVERIFY(memory.store("code", storedSet(1)));
    const auto taken = memory.storeMissing(offered);
    QCOMPARE(taken.value().kept, std::vector<std::string>{"code"});
    QVERIFY(taken.value().lost.empty());
    QVERIFY(memory.find("code").value() == storedSet(1));
    QVERIFY(memory.find("story").value() == storedSet(4));
    QVERIFY(memory.replace(offered).value().lost == (SkipSetsByTask{{"code", storedSet(1)}}));
    QVERIFY(memory.find("code").value() == storedSet(3));
}

void SkipSetChangesTest::theNameOfTheModelStays() {
    const test_support::TemporaryFolder folder;
    QVERIFY(memoryIn(folder).store("code", storedSet(1)));
    QCOMPARE(memoryIn(folder).all().value().model, std::string());
    QVERIFY(SkipSetMemory(folder.path(), kModel, kLayers, "Tiny \"1\"").store("b", storedSet(2)));
    QVERIFY(memoryIn(folder).store("c", storedSet(3)));
    const auto found = readSkipSetLibrary(memoryIn(folder).path(), 0);
    QCOMPARE(found.value().model, std::string("Tiny \"1\""));
    QCOMPARE(found.value().layerCount, kLayers);
    QCOMPARE(found.value().sets.size(), std::size_t(3));
}

void SkipSetChangesTest::theFileOfAnotherModelIsNotUsedUnderThisOnesName() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory other(folder.path(), "00ff", kLayers, "Other");
    QVERIFY(other.store("code", storedSet(1)));
    QCOMPARE(readSkipSetLibrary(other.path(), kLayers).value().fingerprint, std::string("00ff"));
    SkipSetMemory memory = memoryIn(folder);
    std::filesystem::copy_file(other.path(), memory.path());
    const auto found = memory.find("code");
    QVERIFY(!found && mentions(found.error(), "another model"));
    const auto note = memory.store("math", storedSet(2));
    QVERIFY2(note && note.value().find(".broken-1") != std::string::npos, "the file is set aside");
    QVERIFY(memory.all().value().sets == (SkipSetsByTask{{"math", storedSet(2)}}));
    QCOMPARE(memory.all().value().fingerprint, kModel);
}

void SkipSetChangesTest::anOlderFileIsOnlyNamedForItsModel() {
    const test_support::TemporaryFolder folder;
    std::filesystem::create_directories(folder.path() / "skip-sets");
    folder.write("skip-sets/" + kModel + ".json",
                 "{\"format\":1,\"layers\":12,\"model\":\"Tiny\",\"tasks\":{\"code\":{\"mlp\":[1],"
                 "\"score\":1,\"skip_ratio\":0,\"decoder\":\"\",\"saved_at\":1,\"trials\":1}}}");
    SkipSetMemory memory = memoryIn(folder);
    QVERIFY(memory.find("code").value());
    QVERIFY(memory.store("math", storedSet(2)).value().empty());
    const auto after = readSkipSetLibrary(memory.path(), kLayers);
    QCOMPARE(after.value().sets.size(), std::size_t(2));
    QCOMPARE(after.value().fingerprint, kModel);
}

QTEST_APPLESS_MAIN(SkipSetChangesTest)
#include "skip_set_changes_test.moc"
