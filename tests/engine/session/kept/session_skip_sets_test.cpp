// SPDX-License-Identifier: Apache-2.0
// How a session lists, changes and exchanges the skip sets that are kept.
#include "tests/engine/session/session_fixture.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

using namespace engine;
using namespace session_test;

namespace {

constexpr int kStubLayers = 4;

StoredSkipSet setOf(std::vector<int> attention, double score = 0.5) {
    return {.set = {std::move(attention), {2}},
            .score = score,
            .skipRatio = 0.4,
            .decoder = "swift",
            .savedAt = 1000,
            .trials = 9};
}

SkipSetMemory memoryIn(const test_support::TemporaryFolder& folder) {
    return {folder.path(), kFingerprint, kStubLayers};
}

std::vector<std::string> tasksOf(const std::vector<NamedSkipSet>& sets) {
    std::vector<std::string> tasks;
    for (const NamedSkipSet& set : sets)
        tasks.push_back(set.task);
    return tasks;
}

using Words = std::vector<std::string>;

} // namespace

class SessionSkipSetsTest : public QObject {
    Q_OBJECT

private slots:
    void setsAreListedByModel();
    void withoutAModelThoseOfOthersAreListed();
    void aRemovedSetComesBackAsItWas();
    void aRenamedSetIsToldUnderBothNames();
    void aTaskThatHasASetKeepsItUnlessReplaced();
    void setsAreImportedForTheModelThatIsNamedWhicheverIsLoaded();
    void whatIsExportedIsImportedAgain();
    void whatCannotBeDoneIsRefusedAndNothingChanges();
    void damagedFilesAreNamed();
};

void SessionSkipSetsTest::setsAreListedByModel() {
    const test_support::TemporaryFolder folder;
    QVERIFY(memoryIn(folder).store("code", setOf({1})));
    QVERIFY(SkipSetMemory(folder.path(), "0d", 8, "Other").store("code", setOf({5})));
    Fixture fixture({}, 4096, {.dataFolder = folder.path()});
    QVERIFY(fixture.loadModel());
    fixture.session.send(ListSkipSets{3});
    const auto* listed = fixture.next<SkipSetsListed>();
    QVERIFY(listed != nullptr);
    QCOMPARE(listed->requestId, std::uint64_t{3});
    QCOMPARE(listed->own.fingerprint, kFingerprint);
    QCOMPARE(listed->own.layerCount, kStubLayers);
    QVERIFY((listed->own.sets == std::vector<NamedSkipSet>{{"code", setOf({1})}}));
    QCOMPARE(listed->others.size(), std::size_t{1});
    QCOMPARE(listed->others[0].model, std::string("Other"));
    QCOMPARE(listed->others[0].layerCount, 8);
    QVERIFY(listed->problems.empty() && listed->lost.empty() && listed->note.empty());
}

void SessionSkipSetsTest::withoutAModelThoseOfOthersAreListed() {
    const test_support::TemporaryFolder folder;
    QVERIFY(SkipSetMemory(folder.path(), "0d", 8, "Other").store("code", setOf({5})));
    Fixture fixture({}, 4096, {.dataFolder = folder.path()});
    fixture.session.send(ListSkipSets{1});
    const auto* listed = fixture.next<SkipSetsListed>();
    QVERIFY(listed != nullptr);
    QCOMPARE(listed->own.layerCount, 0);
    QCOMPARE(listed->others.size(), std::size_t{1});
}

void SessionSkipSetsTest::aRemovedSetComesBackAsItWas() {
    const test_support::TemporaryFolder folder;
    QVERIFY(memoryIn(folder).store({{"code", setOf({1}, 0.75)}, {"story", setOf({})}}));
    Fixture fixture({}, 4096, {.dataFolder = folder.path()});
    QVERIFY(fixture.loadModel());
    fixture.session.send(ChangeSkipSets{1, {"code"}});
    const auto* listed = fixture.next<SkipSetsListed>();
    QVERIFY(listed != nullptr);
    QCOMPARE(tasksOf(listed->own.sets), Words{"story"});
    const std::vector<NamedSkipSet> lost = listed->lost;
    QVERIFY((lost == std::vector<NamedSkipSet>{{"code", setOf({1}, 0.75)}}));
    fixture.session.send(ChangeSkipSets{2, {}, lost});
    listed = fixture.next<SkipSetsListed>();
    QVERIFY(listed != nullptr);
    QCOMPARE(listed->taken, Words{"code"});
    QVERIFY(memoryIn(folder).find("code").value() == setOf({1}, 0.75));
}

void SessionSkipSetsTest::aRenamedSetIsToldUnderBothNames() {
    const test_support::TemporaryFolder folder;
    QVERIFY(memoryIn(folder).store("code", setOf({1})));
    Fixture fixture({}, 4096, {.dataFolder = folder.path()});
    QVERIFY(fixture.loadModel());
    fixture.session.send(RenameSkipSet{1, "code", "Python"});
    const auto* listed = fixture.next<SkipSetsListed>();
    QVERIFY(listed != nullptr);
    QCOMPARE(listed->taken, Words{"Python"});
    QCOMPARE(tasksOf(listed->lost), Words{"code"});
    QVERIFY((listed->own.sets == std::vector<NamedSkipSet>{{"Python", setOf({1})}}));
}

void SessionSkipSetsTest::aTaskThatHasASetKeepsItUnlessReplaced() {
    const test_support::TemporaryFolder folder;
    QVERIFY(memoryIn(folder).store("code", setOf({1})));
    const std::string file =
        folder
            .write("sets.json",
                   R"({"code":{"mlp":[1]},"story":{"attention":[2]},"deep":{"mlp":[9]}})")
            .string();
    Fixture fixture({}, 4096, {.dataFolder = folder.path()});
    QVERIFY(fixture.loadModel());
    fixture.session.send(ImportSkipSets{1, file});
    const auto* listed = fixture.next<SkipSetsListed>();
    QVERIFY(listed != nullptr);
    QCOMPARE(listed->taken, Words{"story"});
    QCOMPARE(listed->kept, Words{"code"});
    QCOMPARE(listed->leftOut.size(), std::size_t{1});
    QVERIFY(memoryIn(folder).find("code").value() == setOf({1}));
    fixture.session.send(ImportSkipSets{2, file, true});
    listed = fixture.next<SkipSetsListed>();
    QVERIFY(listed != nullptr);
    QCOMPARE(listed->taken, Words{"code"}); // that of "story" is stored already
    QVERIFY(listed->kept.empty());
    QVERIFY(listed->lost.front() == (NamedSkipSet{"code", setOf({1})}));
    QCOMPARE(memoryIn(folder).find("code").value()->decoder, std::string("import"));
}

void SessionSkipSetsTest::setsAreImportedForTheModelThatIsNamedWhicheverIsLoaded() {
    const test_support::TemporaryFolder folder;
    const std::string file =
        folder
            .write(
                "sets.json",
                R"({"code":{"mlp":[5],"fingerprint":"0d"},"story":{"mlp":[1],"fingerprint":"ee"}})")
            .string();
    const SkipSetOwner owner = {.fingerprint = "0d", .model = "Other", .layerCount = 8};
    const SkipSetMemory owners(folder.path(), "0d", 8);
    Fixture fixture({}, 4096, {.dataFolder = folder.path()});
    fixture.session.send(ImportSkipSets{.requestId = 1, .path = file, .owner = owner});
    const auto* listed = fixture.next<SkipSetsListed>(); // no model is loaded
    QVERIFY(listed != nullptr);
    QCOMPARE(listed->taken, Words{"code"});
    QVERIFY(listed->leftOut.empty()); // those of others are passed over
    QCOMPARE(listed->others.size(), std::size_t{1});
    QCOMPARE(listed->others.front().model, std::string("Other"));
    QVERIFY(fixture.loadModel());
    fixture.session.send(ChangeSkipSets{.requestId = 2, .removed = {"code"}, .owner = owner});
    listed = fixture.next<SkipSetsListed>();
    QVERIFY(listed != nullptr);
    QCOMPARE(tasksOf(listed->lost), Words{"code"});
    QVERIFY(owners.all().value().sets.empty());
    QVERIFY(memoryIn(folder).all().value().sets.empty());
    fixture.session.send(
        ImportSkipSets{.requestId = 3,
                       .path = file,
                       .owner = {.fingerprint = "../0d", .model = "Other", .layerCount = 8}});
    QVERIFY(fixture.fails("import_skip_sets"));
}

void SessionSkipSetsTest::whatIsExportedIsImportedAgain() {
    const test_support::TemporaryFolder folder;
    const SkipSetsByTask sets = {{"code", setOf({1}, 0.75)}, {"story", setOf({})}};
    QVERIFY(memoryIn(folder).store(sets));
    Fixture fixture({}, 4096, {.dataFolder = folder.path()});
    QVERIFY(fixture.loadModel());
    const std::string all = (folder.path() / "all.json").string();
    const std::string one = (folder.path() / "one.json").string();
    fixture.session.send(ExportSkipSets{1, all, {}, SkipSetForm::Memory});
    fixture.session.send(ExportSkipSets{2, one, {"story"}, SkipSetForm::Published});
    const auto* listed =
        fixture.next<SkipSetsListed>([](const auto& event) { return event.requestId == 2; });
    QVERIFY(listed != nullptr);
    QCOMPARE(listed->taken, Words{"story"});
    QVERIFY(readSkipSetImport(all, kStubLayers).value().sets == sets);
    const auto published = readSkipSetImport(one, kStubLayers);
    QCOMPARE(published.value().sets.size(), std::size_t{1});
    QVERIFY(published.value().sets.at("story").set == sets.at("story").set);
    fixture.session.send(ImportSkipSets{3, one, true}); // it knows no score, so it says nothing new
    listed = fixture.next<SkipSetsListed>([](const auto& event) { return event.requestId == 3; });
    QVERIFY(listed != nullptr);
    QVERIFY(listed->taken.empty() && listed->lost.empty());
    QVERIFY(memoryIn(folder).all().value().sets == sets);
}

void SessionSkipSetsTest::whatCannotBeDoneIsRefusedAndNothingChanges() {
    const test_support::TemporaryFolder folder;
    QVERIFY(memoryIn(folder).store("code", setOf({1})));
    const SkipSetsByTask before = memoryIn(folder).all().value().sets;
    Fixture fixture({}, 4096, {.dataFolder = folder.path()});
    fixture.session.send(ChangeSkipSets{1, {"code"}});
    QVERIFY(fixture.fails("change_skip_sets")); // no model
    QVERIFY(fixture.loadModel());
    fixture.session.send(ChangeSkipSets{2, {"code", "none"}});
    QVERIFY(fixture.fails("change_skip_sets"));
    QCOMPARE(fixture.all<EngineFailed>().back().requestId, std::uint64_t{2});
    fixture.session.send(ChangeSkipSets{3, {}, {{"code", setOf({3})}}});
    QVERIFY(fixture.fails("change_skip_sets"));
    fixture.session.send(RenameSkipSet{4, "none", "code"});
    QVERIFY(fixture.fails("rename_skip_set"));
    fixture.session.send(ImportSkipSets{5, (folder.path() / "none.json").string()});
    QVERIFY(fixture.fails("import_skip_sets"));
    fixture.session.send(ExportSkipSets{6, (folder.path() / "x.json").string(), {"none"}});
    QVERIFY(fixture.fails("export_skip_sets"));
    QVERIFY(!std::filesystem::exists(folder.path() / "x.json"));
    QVERIFY(memoryIn(folder).all().value().sets == before);
}

void SessionSkipSetsTest::damagedFilesAreNamed() {
    const test_support::TemporaryFolder folder;
    QVERIFY(memoryIn(folder).store("code", setOf({1})));
    folder.write("skip-sets/0d.json", "broken");
    Fixture fixture({}, 4096, {.dataFolder = folder.path()});
    QVERIFY(fixture.loadModel());
    fixture.session.send(ListSkipSets{1});
    const auto* listed = fixture.next<SkipSetsListed>();
    QVERIFY(listed != nullptr);
    QCOMPARE(listed->own.sets.size(), std::size_t{1});
    QCOMPARE(listed->problems.size(), std::size_t{1});
    QVERIFY(listed->problems.front().find("0d.json") != std::string::npos);
}

QTEST_GUILESS_MAIN(SessionSkipSetsTest)
#include "session_skip_sets_test.moc"
