// SPDX-License-Identifier: Apache-2.0
// The skip sets of all models of a data folder, and those that come from files or go into them.
#include "engine/decoding/skip_sets/all_skip_sets.h"
#include "engine/decoding/skip_sets/skip_set_exchange.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

using namespace engine;

namespace {

StoredSkipSet setOf(std::vector<int> attention, double score = 0.5) {
    return {.set = {std::move(attention), {2}},
            .score = score,
            .skipRatio = 0.4,
            .decoder = "swift",
            .savedAt = 1000,
            .trials = 9};
}

bool mentions(const std::vector<std::string>& sentences, const std::string& words) {
    return std::ranges::any_of(sentences, [&](const std::string& sentence) {
        return sentence.find(words) != std::string::npos;
    });
}

} // namespace

class AllSkipSetsTest : public QObject {
    Q_OBJECT

private slots:
    void nothingKeptIsNoProblem();
    void modelsAreListedByTheirNames();
    void whatIsDamagedIsNamedAndTheRestIsListed();
    void aMemoryIsImportedWithItsScores();
    void theMemoryOfAnotherModelIsNotImported();
    void aFileUnderTheNameOfAnotherModelIsAProblem();
    void thePublishedShapeIsImportedByEntry();
    void anEntryMaySayHowItWasFoundAndForWhom();
    void bothFormsComeBack();
};

void AllSkipSetsTest::nothingKeptIsNoProblem() {
    const test_support::TemporaryFolder folder;
    const AllSkipSets all = readAllSkipSets(folder.path());
    QVERIFY(all.models.empty() && all.problems.empty());
}

void AllSkipSetsTest::modelsAreListedByTheirNames() {
    const test_support::TemporaryFolder folder;
    QVERIFY(SkipSetMemory(folder.path(), "aa", 4, "Large").store("code", setOf({1})));
    QVERIFY(SkipSetMemory(folder.path(), "bb", 6, "Big").store("b", setOf({4})));
    QVERIFY(SkipSetMemory(folder.path(), "bb", 6, "Big").store("a", setOf({3}, 0.75)));
    const AllSkipSets all = readAllSkipSets(folder.path());
    QVERIFY(all.problems.empty()); // the locks are no files of sets
    QCOMPARE(all.models.size(), std::size_t(2));
    QVERIFY((all.models[0] ==
             ModelSkipSets{"bb", "Big", 6, {{"a", setOf({3}, 0.75)}, {"b", setOf({4})}}}));
    QCOMPARE(all.models[1].model, std::string("Large"));
    QCOMPARE(all.models[1].layerCount, 4);
}

void AllSkipSetsTest::whatIsDamagedIsNamedAndTheRestIsListed() {
    const test_support::TemporaryFolder folder;
    QVERIFY(SkipSetMemory(folder.path(), "aa", 4, "Good").store("code", setOf({1})));
    folder.write("skip-sets/bb.json", "broken");
    folder.write("skip-sets/cc.json",
                 R"({"format":1,"layers":4,"tasks":{"x":{},"y":{"mlp":[1],"score":1,)"
                 R"("skip_ratio":0,"decoder":"","saved_at":1,"trials":1}}})");
    folder.write("skip-sets/dd.json", R"({"format":1,"layers":-4,"tasks":{}})");
    folder.write("skip-sets/aa.json.broken-1", "set aside");
    const AllSkipSets all = readAllSkipSets(folder.path());
    QCOMPARE(all.models.size(), std::size_t(2));
    QCOMPARE(all.models[0].sets.front().task, std::string("y"));
    QCOMPARE(all.problems.size(), std::size_t(3));
    QVERIFY(mentions(all.problems, "bb.json"));
    QVERIFY(mentions(all.problems, "task \"x\""));
    QVERIFY(mentions(all.problems, "for how many layers"));
}

void AllSkipSetsTest::aMemoryIsImportedWithItsScores() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory(folder.path(), "aa", 4, "Tiny");
    QVERIFY(memory.store("code", setOf({1}, 0.9)));
    const auto imports = readSkipSetImport(memory.path(), 4);
    QVERIFY(imports.value().sets == (SkipSetsByTask{{"code", setOf({1}, 0.9)}}));
    const auto other = readSkipSetImport(memory.path(), 5);
    QVERIFY(!other && other.error().message.find("4 layers") != std::string::npos);
}

void AllSkipSetsTest::theMemoryOfAnotherModelIsNotImported() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory(folder.path(), "aa", 4, "Tiny");
    QVERIFY(memory.store("code", setOf({1}, 0.9)));
    const auto renamed = folder.path() / "mine.json";
    std::filesystem::copy_file(memory.path(), renamed);
    const auto imports = readSkipSetImport(renamed, 4, "bb");
    QVERIFY(imports.value().sets.empty());
    QVERIFY(mentions(imports.value().leftOut,
                     "\"code\" is left out: it was found for another model (Tiny)"));
    QVERIFY(readSkipSetImport(renamed, 4, "bb", false).value().leftOut.empty());
    QCOMPARE(readSkipSetImport(renamed, 4, "aa").value().sets.size(), std::size_t(1));
}

void AllSkipSetsTest::aFileUnderTheNameOfAnotherModelIsAProblem() {
    const test_support::TemporaryFolder folder;
    SkipSetMemory memory(folder.path(), "aa", 4, "Tiny");
    QVERIFY(memory.store("code", setOf({1})));
    std::filesystem::copy_file(memory.path(), memory.path().parent_path() / "bb.json");
    const AllSkipSets all = readAllSkipSets(folder.path());
    QCOMPARE(all.models.size(), std::size_t(1));
    QCOMPARE(all.models[0].fingerprint, std::string("aa"));
    QVERIFY(mentions(all.problems, "bb.json holds the skip sets of another model"));
}

void AllSkipSetsTest::thePublishedShapeIsImportedByEntry() {
    const test_support::TemporaryFolder folder;
    const auto path = folder.write(
        "sets.json", R"({"tiny_code":{"attention":[1],"mlp":[]},"deep":{"mlp":[9]},"x":3})");
    const auto imports = readSkipSetImport(path, 4);
    QCOMPARE(imports.value().sets.size(), std::size_t(1));
    const StoredSkipSet& code = imports.value().sets.at("tiny_code");
    QCOMPARE(code.decoder, std::string("import"));
    QCOMPARE(code.trials, 0);
    QCOMPARE(code.skipRatio, 0.25); // one of the four sublayers inside
    QCOMPARE(imports.value().leftOut.size(), std::size_t(2));
    const auto one = folder.write("mine.json", R"({"attention":[1,2]})");
    QCOMPARE(readSkipSetImport(one, 4).value().sets.at("mine").set.attention,
             (std::vector<int>{1, 2}));
    QVERIFY(!readSkipSetImport(folder.write("no.json", "[]"), 4));
}

void AllSkipSetsTest::anEntryMaySayHowItWasFoundAndForWhom() {
    const test_support::TemporaryFolder folder;
    const std::string told =
        R"("score":0.75,"skip_ratio":0.5,"decoder":"swift, a run","saved_at":1000)";
    const auto path =
        folder.write("sets.json",
                     R"({"tiny_code":{"attention":[1],"task":"code","fingerprint":"aa",)" + told +
                         R"(,"trials":9},"half":{"mlp":[2],)" + told +
                         R"(},"other":{"mlp":[1],"model":"Other","fingerprint":"bb"}})");
    const auto imports = readSkipSetImport(path, 4, "aa");
    QVERIFY2(imports.hasValue(), imports ? "" : imports.error().message.c_str());
    QCOMPARE(imports.value().sets.size(), std::size_t(2));
    QVERIFY((imports.value().sets.at("code") == StoredSkipSet{.set = {{1}, {}},
                                                              .score = 0.75,
                                                              .skipRatio = 0.5,
                                                              .decoder = "swift, a run",
                                                              .savedAt = 1000,
                                                              .trials = 9}));
    QCOMPARE(imports.value().sets.at("half").decoder, std::string("import")); // without trials
    QVERIFY(mentions(imports.value().leftOut, "\"other\" is left out: it was found for another"));
    QCOMPARE(readSkipSetImport(path, 4).value().sets.size(), std::size_t(3)); // whoever it is for
}

void AllSkipSetsTest::bothFormsComeBack() {
    const test_support::TemporaryFolder folder;
    SkipSetLibrary library;
    library.sets = {{"code", setOf({1}, 0.9)}, {"a \"b\"", setOf({})}};
    library.layerCount = 4;
    library.model = "Tiny";
    library.fingerprint = "aa";
    const auto memory =
        folder.write("memory.json", skipSetExport(library, SkipSetForm::Memory).value());
    QVERIFY(readSkipSetImport(memory, 4, "aa").value().sets == library.sets);
    const auto published =
        folder.write("published.json", skipSetExport(library, SkipSetForm::Published).value());
    const auto imports = readSkipSetImport(published, 4);
    QCOMPARE(imports.value().sets.size(), std::size_t(2));
    QVERIFY(imports.value().sets.at("code").set == library.sets.at("code").set);
    QCOMPARE(imports.value().sets.at("code").score, 0.0);
}

QTEST_GUILESS_MAIN(AllSkipSetsTest)
#include "all_skip_sets_test.moc"
