// SPDX-License-Identifier: Apache-2.0
#include "engine/model/skip_sets/skip_set.h"
#include "tests/support/programs/damaged_bytes.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

using namespace engine;

namespace {

const SkipSet kSet = {{0, 2, 11}, {3}};

Result<SkipSet> readText(const std::string& text) {
    ENGINE_TRY(const JsonDocument document, JsonDocument::parse(text, "set.json"));
    return readSkipSet(document.root(), "set.json");
}

bool mentions(const Error& error, const std::string& words) {
    return (error.message + " " + error.hint).find(words) != std::string::npos;
}

} // namespace

class SkipSetTest : public QObject {
    Q_OBJECT

private slots:
    void plansAndSkipSetsAreInverse();
    void layersThatTheModelLacksAreNamed();
    void writtenSetsReadTheSame();
    void listsAreSortedAndMayBeMissing();
    void badSetsSayWhere_data();
    void badSetsSayWhere();
    void collectionsReadTheSame();
    void badEntriesOfACollectionAreNamed();
    void filesOfBothShapesGiveAPlan();
    void severalEntriesAskForAName();
    void filesForAnotherModelSaySo();
    void damagedFilesNeverCrash();
};

void SkipSetTest::plansAndSkipSetsAreInverse() {
    const auto plan = planOf(kSet, 12);
    QVERIFY(plan);
    for (int layer = 0; layer < 12; ++layer) {
        QCOMPARE(plan.value().runsAttention(layer), layer != 0 && layer != 2 && layer != 11);
        QCOMPARE(plan.value().runsMlp(layer), layer != 3);
    }
    QCOMPARE(plan.value().exitAfterLayer, 11);
    QVERIFY(skipSetOf(plan.value()) == kSet);
    QVERIFY(planOf(SkipSet(), 3).value() == LayerPlan::full(3));
    QVERIFY(skipSetOf(LayerPlan::full(3)) == SkipSet());
}

void SkipSetTest::layersThatTheModelLacksAreNamed() {
    const auto attention = planOf({{1, 45}, {}}, 30);
    QVERIFY(!attention);
    QVERIFY(attention.error().code == ErrorCode::InvalidInput);
    QVERIFY(mentions(attention.error(), "attention layer 45"));
    QVERIFY(mentions(attention.error(), "layers 0 to 29"));
    QVERIFY(mentions(attention.error(), "another model"));
    QVERIFY(mentions(planOf({{}, {30}}, 30).error(), "mlp layer 30"));
    QVERIFY(planOf({{29}, {29}}, 30));
    QVERIFY(!planOf({{-1}, {}}, 30));
}

void SkipSetTest::writtenSetsReadTheSame() {
    QCOMPARE(skipSetJson(kSet), std::string(R"({"attention":[0,2,11],"mlp":[3]})"));
    QVERIFY(readText(skipSetJson(kSet)).value() == kSet);
    QVERIFY(readText(skipSetJson({})).value() == SkipSet());
}

void SkipSetTest::listsAreSortedAndMayBeMissing() {
    QVERIFY(readText(R"({"mlp":[3,1,2]})").value() == (SkipSet{{}, {1, 2, 3}}));
    QVERIFY(readText(R"({"note":"x","attention":[9],"mlp":null})").value() == (SkipSet{{9}, {}}));
}

void SkipSetTest::badSetsSayWhere_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("words");
    QTest::newRow("neither") << R"({"layers":[1]})"
                             << "neither";
    QTest::newRow("no object") << "[1]"
                               << "neither";
    QTest::newRow("no list") << R"({"mlp":"all"})"
                             << "mlp is not a list";
    QTest::newRow("twice") << R"({"attention":[3,1,3]})"
                           << "lists layer 3 twice (byte 19)";
    QTest::newRow("negative") << R"({"attention":[3,-1]})"
                              << "(byte 18)";
    QTest::newRow("fraction") << R"({"attention":[1.5]})"
                              << "(byte 17)";
    QTest::newRow("text") << R"({"attention":["1"]})"
                          << "(byte 17)";
    QTest::newRow("beyond 32 bits") << R"({"attention":[4294967296]})"
                                    << "(byte 24)";
}

void SkipSetTest::badSetsSayWhere() {
    QFETCH(const QString, text);
    QFETCH(const QString, words);
    const auto set = readText(text.toStdString());
    QVERIFY(!set);
    QVERIFY(set.error().code == ErrorCode::CorruptFile);
    QVERIFY(set.error().message.starts_with("set.json"));
    QVERIFY2(mentions(set.error(), words.toStdString()), set.error().message.c_str());
}

void SkipSetTest::collectionsReadTheSame() {
    const std::map<std::string, SkipSet> sets = {
        {"", {}}, {"llama_\"code\"", kSet}, {"caf\xC3\xA9", {{1}, {}}}};
    const auto document = JsonDocument::parse(skipSetCollectionJson(sets), "sets.json");
    QVERIFY(document);
    QVERIFY(readSkipSetCollection(document.value().root(), "sets.json").value() == sets);
    const auto empty = JsonDocument::parse(skipSetCollectionJson({}), "sets.json");
    QVERIFY(empty);
    QVERIFY(readSkipSetCollection(empty.value().root(), "sets.json").value().empty());
}

void SkipSetTest::badEntriesOfACollectionAreNamed() {
    const auto document =
        JsonDocument::parse(R"({"a":{"mlp":[1]},"b":{"mlp":[1,1]}})", "sets.json");
    const auto sets = readSkipSetCollection(document.value().root(), "sets.json");
    QVERIFY(!sets);
    QVERIFY(mentions(sets.error(), "set \"b\""));
    QVERIFY(mentions(sets.error(), "byte"));
}

void SkipSetTest::filesOfBothShapesGiveAPlan() {
    const test_support::TemporaryFolder folder;
    const LayerPlan expected = planOf(kSet, 12).value();
    const auto single = folder.write("single.json", skipSetJson(kSet));
    QVERIFY(readSkipSetFile(single, 12).value() == expected);
    const auto one = folder.write("one.json", skipSetCollectionJson({{"code", kSet}}));
    QVERIFY(readSkipSetFile(one, 12).value() == expected);
    QVERIFY(readSkipSetFile(one, 12, "code").value() == expected);
    QVERIFY(mentions(readSkipSetFile(single, 12, "code").error(), "without a name"));
    QVERIFY(readSkipSetFile(folder.path() / "none", 12).error().code == ErrorCode::NotFound);
}

void SkipSetTest::severalEntriesAskForAName() {
    const test_support::TemporaryFolder folder;
    const auto path =
        folder.write("two.json", skipSetCollectionJson({{"code", kSet}, {"story", {{1}, {}}}}));
    const auto unnamed = readSkipSetFile(path, 12);
    QVERIFY(!unnamed);
    QVERIFY(mentions(unnamed.error(), "two.json holds 2 skip sets"));
    QVERIFY(mentions(unnamed.error(), "code, story"));
    const auto wrong = readSkipSetFile(path, 12, "math");
    QVERIFY(!wrong);
    QVERIFY(mentions(wrong.error(), "\"math\""));
    QVERIFY(mentions(wrong.error(), "code, story"));
    QVERIFY(readSkipSetFile(path, 12, "story").value() == planOf({{1}, {}}, 12).value());
}

void SkipSetTest::filesForAnotherModelSaySo() {
    const test_support::TemporaryFolder folder;
    const auto plan = readSkipSetFile(folder.write("set.json", skipSetJson(kSet)), 11);
    QVERIFY(!plan);
    QVERIFY(plan.error().code == ErrorCode::InvalidInput);
    QVERIFY(mentions(plan.error(), "set.json"));
    QVERIFY(mentions(plan.error(), "attention layer 11"));
}

void SkipSetTest::damagedFilesNeverCrash() {
    const test_support::TemporaryFolder folder;
    const std::string good = skipSetCollectionJson({{"code", kSet}});
    int refused = 0;
    const auto read = [&](const std::string& bytes, std::size_t) {
        const auto plan = readSkipSetFile(folder.write("set.json", bytes), 12);
        refused += plan ? 0 : 1;
        QVERIFY(plan || mentions(plan.error(), "set.json"));
    };
    test_support::forEachCut(good.substr(0, good.size() - 1), read);
    QCOMPARE(refused, static_cast<int>(good.size()) - 1);
    test_support::forEachFlip(good, 500, 7, read);
    QVERIFY(refused > static_cast<int>(good.size()) + 100);
}

QTEST_APPLESS_MAIN(SkipSetTest)
#include "skip_set_test.moc"
