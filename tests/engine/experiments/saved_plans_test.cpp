// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/saved_plans.h"
#include "tests/support/file_content.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

using namespace engine;
using test_support::TemporaryFolder;

class SavedPlansTest : public QObject {
    Q_OBJECT

private slots:
    void plansAreSavedInThePublishedShape();
    void aPlanOfTheSameNameIsReplacedAndOthersStay();
    void filesOfAnotherShapeAreLeftAlone_data();
    void filesOfAnotherShapeAreLeftAlone();
    void namesThatAreNoTextAreRefused();
};

void SavedPlansTest::plansAreSavedInThePublishedShape() {
    const TemporaryFolder folder;
    const auto path = folder.path() / "set.json";
    const SkipSet set{{0, 3, 4}, {1, 4}};
    const std::string name = "llama-2-13b_cnndm";
    QVERIFY(savePlan(path, name, set).hasValue());
    QCOMPARE(support::fileText(path),
             std::string("{\n \"llama-2-13b_cnndm\": {\"attention\":[0,3,4],\"mlp\":[1,4]}\n}\n"));
    const auto plan = readSkipSetFile(path, 5, name);
    QVERIFY(plan.hasValue());
    QVERIFY(skipSetOf(plan.value()) == set);
}

void SavedPlansTest::aPlanOfTheSameNameIsReplacedAndOthersStay() {
    const TemporaryFolder folder;
    const auto path = folder.path() / "set.json";
    QVERIFY(savePlan(path, "m_code", {{1}, {}}).hasValue());
    QVERIFY(savePlan(path, "m_story", {{2}, {}}).hasValue());
    QVERIFY(savePlan(path, "m_code", {{}, {3}}).hasValue());
    QVERIFY(skipSetOf(readSkipSetFile(path, 5, "m_code").value()) == (SkipSet{{}, {3}}));
    QVERIFY(skipSetOf(readSkipSetFile(path, 5, "m_story").value()) == (SkipSet{{2}, {}}));
}

void SavedPlansTest::filesOfAnotherShapeAreLeftAlone_data() {
    QTest::addColumn<std::string>("content");
    QTest::newRow("broken") << std::string("{\"a\":");
    QTest::newRow("a list") << std::string("[1]");
    QTest::newRow("other members") << std::string(R"({"note":"x"})");
    QTest::newRow("one set without a name") << std::string(R"({"attention":[1],"mlp":[2]})");
}

void SavedPlansTest::filesOfAnotherShapeAreLeftAlone() {
    QFETCH(std::string, content);
    const TemporaryFolder folder;
    const auto path = folder.write("set.json", content);
    const auto saved = savePlan(path, "m_code", {{1}, {}});
    QVERIFY(!saved);
    QCOMPARE(saved.error().code, ErrorCode::CorruptFile);
    QVERIFY(saved.error().message.find(path.string()) != std::string::npos);
    QCOMPARE(support::fileText(path), content);
}

void SavedPlansTest::namesThatAreNoTextAreRefused() {
    const TemporaryFolder folder;
    for (const char* name : {"", "a\xff"}) {
        const auto saved = savePlan(folder.path() / "set.json", name, {});
        QVERIFY(!saved);
        QCOMPARE(saved.error().code, ErrorCode::InvalidInput);
    }
    QVERIFY(!std::filesystem::exists(folder.path() / "set.json"));
}

QTEST_GUILESS_MAIN(SavedPlansTest)
#include "saved_plans_test.moc"
