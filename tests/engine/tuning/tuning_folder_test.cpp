// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/tuning_folder.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <fstream>
#include <iterator>

using namespace engine;

namespace {

namespace fs = std::filesystem;

const RunPlanTexts kPlan = {R"({"seed":1})", R"({"seed":1,"rate":0.5})"};
const RunPlanTexts kOtherRate = {R"({"seed":1})", R"({"seed":1,"rate":0.25})"};
const RunPlanTexts kOtherSeed = {R"({"seed":2})", R"({"seed":2,"rate":0.5})"};
const RunPlanTexts kTenMinutes = {R"({"minutes":10,"seed":1})",
                                  R"({"minutes":10,"seed":1,"rate":0.5})"};
const RunPlanTexts kTwentyMinutes = {R"({"minutes":20,"seed":1})",
                                     R"({"minutes":20,"seed":1,"rate":0.5})"};
const RunPlanTexts kTwentyOtherRate = {R"({"minutes":20,"seed":1})",
                                       R"({"minutes":20,"seed":1,"rate":0.25})"};

/// Files of a run, and such that are not.
constexpr std::array kOwn = {"rows-00000.bin",
                             "rows-unfinished.bin",
                             "checkpoint-0.bin",
                             "checkpoint-1.bin",
                             "checkpoint-good.bin",
                             "self-prompts.jsonl"};
constexpr std::array kForeign = {"notes.txt",
                                 "rows-of-mine.txt",
                                 "my-rows-00000.bin",
                                 "rows-of-mine.bin",
                                 "checkpoint-diary.md",
                                 "checkpoint-diary.bin",
                                 "checkpoint-.bin",
                                 "self-prompts-of-mine.jsonl",
                                 ".swift-studio-mine.part",
                                 "plan.json.old",
                                 "lock.smith",
                                 ".swift-studio-settings"};

void write(const fs::path& path, const std::string& text = "something") {
    std::ofstream(path, std::ios::binary) << text;
}

std::string textOf(const fs::path& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

bool isOneSentence(const std::string& text) {
    return !text.empty() && text.back() == '.' && text.find(". ") == std::string::npos &&
           text.find('\n') == std::string::npos;
}

} // namespace

class TuningFolderTest : public QObject {
    Q_OBJECT

private slots:
    void init();
    void theFolderLiesBesideTheOutput();
    void anEarlierRunIsRefusedUnlessItIsAskedFor();
    void aFolderOfSomebodyElseIsRefused_data();
    void aFolderOfSomebodyElseIsRefused();
    void aRunThatWasKilledAtOnceIsInNobodysWay();
    void withoutAnEarlierRunThereIsNothingToGoOnWith();
    void aRunGoesOnWithAllItHas();
    void withOtherMinutesItGoesOnWithTheSameFiles();
    void howItsPromptsWereDealtOutIsKnownBefore();
    void anotherPlanIsRefusedWithTheFirstDifference();
    void replacingDeletesTheEarlierRunAlone();
    void keepingRowsDeletesCheckpointsAndTakesTheNewPlan();
    void rowsOfAnotherPlanAreNotKept();
    void aSecondOpenerIsRefusedWhileTheFirstLives();
    void whatAKilledRunHadNotFinishedIsDeleted();
    void removingLeavesForeignFiles();
    void removingLeavesNoEmptyFolder();
    void ofTheModelOnlyWhatARunWritesIsDeleted();
    void aDamagedPlanIsRefusedInOneSentence_data();
    void aDamagedPlanIsRefusedInOneSentence();

private:
    fs::path output() const { return m_folder->path() / "out.safetensors"; }

    fs::path file(const char* name) const { return TuningFolder::folderFor(output()) / name; }

    Result<TuningFolder> open(EarlierWork earlier, const RunPlanTexts& plan = kPlan) const {
        return TuningFolder::open(output(), plan, earlier);
    }

    /// A run with rows and checkpoints that has ended, and files that are not its own.
    void makeEarlierRun() const {
        QVERIFY(open(EarlierWork::Refuse).hasValue());
        for (const char* name : kOwn)
            write(file(name));
        for (const char* name : kForeign)
            write(file(name));
    }

    void checkForeignFiles() const {
        for (const char* name : kForeign)
            QVERIFY2(fs::exists(file(name)), name);
    }

    std::optional<test_support::TemporaryFolder> m_folder;
};

void TuningFolderTest::init() { m_folder.emplace(); }

void TuningFolderTest::theFolderLiesBesideTheOutput() {
    const auto opened = open(EarlierWork::Refuse);
    QVERIFY2(opened.hasValue(), opened ? "" : opened.error().message.c_str());
    QCOMPARE(opened.value().path().string(), output().string() + ".work");
    QVERIFY(fs::is_directory(opened.value().path()));
    QVERIFY(opened.value().run() != opened.value().rowsRun());
    QVERIFY(!fs::exists(output()));
}

void TuningFolderTest::anEarlierRunIsRefusedUnlessItIsAskedFor() {
    makeEarlierRun();
    const auto refused = open(EarlierWork::Refuse);
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::InvalidInput);
    QVERIFY(isOneSentence(refused.error().message));
    QVERIFY(refused.error().message.find(file("").parent_path().string()) != std::string::npos);
    QVERIFY(refused.error().hint.find("--resume") != std::string::npos);
    QVERIFY(refused.error().hint.find("--anew") != std::string::npos);
    for (const char* name : kOwn)
        QVERIFY(fs::exists(file(name)));
    checkForeignFiles();
}

void TuningFolderTest::aFolderOfSomebodyElseIsRefused_data() {
    QTest::addColumn<std::string>("name");
    for (const char* name : {"notes.txt", "rows-00000.bin", "plan.json", "model"})
        QTest::newRow(name) << std::string(name);
}

/// It has the name of a run's folder, but none has worked there.
void TuningFolderTest::aFolderOfSomebodyElseIsRefused() {
    QFETCH(const std::string, name);
    fs::create_directories(TuningFolder::folderFor(output()));
    write(file(name.c_str()), "dear");
    for (const EarlierWork earlier :
         {EarlierWork::Refuse, EarlierWork::Replace, EarlierWork::GoOn, EarlierWork::KeepRows}) {
        const auto refused = open(earlier);
        QVERIFY(!refused.hasValue());
        QVERIFY2(isOneSentence(refused.error().message), refused.error().message.c_str());
        QVERIFY(refused.error().message.find(file("").parent_path().string()) != std::string::npos);
        QVERIFY(!refused.error().hint.empty());
        QCOMPARE(textOf(file(name.c_str())), std::string("dear"));
        QVERIFY(!fs::exists(file("lock")));
    }
}

/// It had the lock, and perhaps had begun to write its plan.
void TuningFolderTest::aRunThatWasKilledAtOnceIsInNobodysWay() {
    fs::create_directories(TuningFolder::folderFor(output()));
    QVERIFY(open(EarlierWork::Refuse).hasValue()); // an empty folder is nobody's
    fs::remove(file("plan.json"));
    QVERIFY(fs::exists(file("lock")));
    write(file(".swift-studio-12345-0.part"));
    QVERIFY(open(EarlierWork::Refuse).hasValue());
}

void TuningFolderTest::withoutAnEarlierRunThereIsNothingToGoOnWith() {
    for (const EarlierWork earlier : {EarlierWork::GoOn, EarlierWork::KeepRows}) {
        const auto refused = open(earlier);
        QVERIFY(!refused.hasValue());
        QCOMPARE(refused.error().code, ErrorCode::NotFound);
        QVERIFY(isOneSentence(refused.error().message));
        QVERIFY(!fs::exists(TuningFolder::folderFor(output())));
    }
    QVERIFY(open(EarlierWork::Replace).hasValue()); // there need not be anything to replace
}

void TuningFolderTest::aRunGoesOnWithAllItHas() {
    makeEarlierRun();
    const std::string plan = textOf(file("plan.json"));
    const auto again = open(EarlierWork::GoOn);
    QVERIFY2(again.hasValue(), again ? "" : again.error().message.c_str());
    for (const char* name : kOwn)
        QVERIFY(fs::exists(file(name)));
    checkForeignFiles();
    QCOMPARE(textOf(file("plan.json")), plan);
    const auto other = TuningFolder::open(m_folder->path() / "b", kOtherRate, EarlierWork::Refuse);
    QCOMPARE(other.value().rowsRun(), again.value().rowsRun());
    QVERIFY(other.value().run() != again.value().run());
    const auto third = TuningFolder::open(m_folder->path() / "c", kPlan, EarlierWork::Refuse);
    QCOMPARE(third.value().run(), again.value().run());
}

/// Rows and checkpoints say which run they belong to.
void TuningFolderTest::withOtherMinutesItGoesOnWithTheSameFiles() {
    std::string rows;
    std::string all;
    {
        const auto first = open(EarlierWork::Refuse, kTenMinutes);
        rows = first.value().rowsRun();
        all = first.value().run();
    }
    for (const RunPlanTexts* plan : {&kTwentyMinutes, &kTenMinutes}) {
        const auto again = open(EarlierWork::GoOn, *plan);
        QVERIFY2(again.hasValue(), again ? "" : again.error().message.c_str());
        QCOMPARE(again.value().rowsRun(), rows);
        QCOMPARE(again.value().run(), all);
    }
    for (const EarlierWork earlier : {EarlierWork::KeepRows, EarlierWork::GoOn}) {
        const auto anew = open(earlier, kTwentyOtherRate);
        QVERIFY2(anew.hasValue(), anew ? "" : anew.error().message.c_str());
        QCOMPARE(anew.value().rowsRun(), rows); // those are kept
        QVERIFY(anew.value().run() != all);
    }
}

/// A run of an earlier version goes on as it was begun.
void TuningFolderTest::howItsPromptsWereDealtOutIsKnownBefore() {
    QVERIFY(TuningFolder::splitRuleFor(output()) == SplitRule::ByText); // there is none
    for (const int version : {2, 3}) {
        const std::string rows = "{\"version\":" + std::to_string(version) + "}";
        QVERIFY(open(EarlierWork::Replace, {rows, rows}).hasValue());
        QVERIFY(TuningFolder::splitRuleFor(output()) ==
                (version == 2 ? SplitRule::ByBytes : SplitRule::ByText));
    }
    write(file("plan.json"), "{");
    QVERIFY(TuningFolder::splitRuleFor(output()) == SplitRule::ByText);
}

void TuningFolderTest::anotherPlanIsRefusedWithTheFirstDifference() {
    makeEarlierRun();
    const auto refused = open(EarlierWork::GoOn, kOtherRate);
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::InvalidInput);
    QVERIFY(isOneSentence(refused.error().message));
    QVERIFY(refused.error().message.find("rate is 0.25, but was 0.5") != std::string::npos);
    QVERIFY(refused.error().hint.find("--retrain") != std::string::npos);
    QVERIFY(open(EarlierWork::GoOn).hasValue());
    for (const char* name : kOwn)
        QVERIFY(fs::exists(file(name)));
}

void TuningFolderTest::replacingDeletesTheEarlierRunAlone() {
    makeEarlierRun();
    QVERIFY(open(EarlierWork::Replace, kOtherSeed).hasValue());
    for (const char* name : kOwn)
        QVERIFY2(!fs::exists(file(name)), name);
    checkForeignFiles();
    QVERIFY(!open(EarlierWork::GoOn).hasValue()); // it is another run now
    QVERIFY(open(EarlierWork::GoOn, kOtherSeed).hasValue());
}

void TuningFolderTest::keepingRowsDeletesCheckpointsAndTakesTheNewPlan() {
    makeEarlierRun();
    const auto kept = open(EarlierWork::KeepRows, kOtherRate);
    QVERIFY2(kept.hasValue(), kept ? "" : kept.error().message.c_str());
    for (const char* name : kOwn)
        QCOMPARE(fs::exists(file(name)), !std::string_view(name).starts_with("checkpoint-"));
    checkForeignFiles();
    QVERIFY(textOf(file("plan.json")).find("0.25") != std::string::npos);
}

void TuningFolderTest::rowsOfAnotherPlanAreNotKept() {
    makeEarlierRun();
    const auto refused = open(EarlierWork::KeepRows, kOtherSeed);
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::InvalidInput);
    QVERIFY(refused.error().message.find("seed is 2, but was 1") != std::string::npos);
    QVERIFY(isOneSentence(refused.error().message));
    for (const char* name : kOwn)
        QVERIFY(fs::exists(file(name)));
    QVERIFY(open(EarlierWork::GoOn).hasValue());
}

void TuningFolderTest::aSecondOpenerIsRefusedWhileTheFirstLives() {
    makeEarlierRun();
    {
        const auto first = open(EarlierWork::GoOn);
        QVERIFY(first.hasValue());
        for (const EarlierWork earlier : {EarlierWork::Refuse,
                                          EarlierWork::Replace,
                                          EarlierWork::GoOn,
                                          EarlierWork::KeepRows}) {
            const auto second = open(earlier);
            QVERIFY(!second.hasValue());
            QCOMPARE(second.error().code, ErrorCode::InvalidInput);
            QVERIFY(second.error().message.find(output().string()) != std::string::npos);
            QVERIFY(isOneSentence(second.error().message));
        }
        for (const char* name : kOwn)
            QVERIFY2(fs::exists(file(name)), name);
    }
    QVERIFY(open(EarlierWork::GoOn).hasValue());
}

void TuningFolderTest::whatAKilledRunHadNotFinishedIsDeleted() {
    makeEarlierRun();
    write(file(".swift-studio-12345-0.part"));
    QVERIFY(open(EarlierWork::GoOn).hasValue());
    QVERIFY(!fs::exists(file(".swift-studio-12345-0.part")));
    checkForeignFiles();
}

void TuningFolderTest::removingLeavesForeignFiles() {
    makeEarlierRun();
    auto opened = open(EarlierWork::GoOn);
    opened.value().remove();
    for (const char* name : kOwn)
        QVERIFY2(!fs::exists(file(name)), name);
    QVERIFY(!fs::exists(file("plan.json")));
    QVERIFY(!fs::exists(file("lock")));
    checkForeignFiles();
}

void TuningFolderTest::removingLeavesNoEmptyFolder() {
    auto opened = open(EarlierWork::Refuse);
    write(file("rows-00000.bin"));
    opened.value().remove();
    QVERIFY(!fs::exists(opened.value().path()));
    QVERIFY(fs::exists(m_folder->path()));
}

void TuningFolderTest::ofTheModelOnlyWhatARunWritesIsDeleted() {
    auto opened = open(EarlierWork::Refuse);
    fs::create_directories(opened.value().modelPath());
    constexpr std::array kWritten = {
        "config.json", "tokenizer.json", "model.safetensors", ".swift-studio-12345-0.part"};
    for (const char* name : kWritten)
        write(opened.value().modelPath() / name);
    write(opened.value().modelPath() / "diary.txt", "dear");
    opened.value().remove();
    for (const char* name : kWritten)
        QVERIFY2(!fs::exists(opened.value().modelPath() / name), name);
    QCOMPARE(textOf(opened.value().modelPath() / "diary.txt"), std::string("dear"));
}

void TuningFolderTest::aDamagedPlanIsRefusedInOneSentence_data() {
    QTest::addColumn<std::string>("text");
    QTest::newRow("empty") << std::string();
    QTest::newRow("half") << std::string(R"({"rows":"{}",)");
    QTest::newRow("a list") << std::string("[]");
    QTest::newRow("numbers") << std::string(R"({"rows":1,"all":2})");
    QTest::newRow("one text") << std::string(R"({"rows":"{}"})");
    QTest::newRow("texts that are no plans") << std::string(R"({"rows":"x","all":"y"})");
    QTest::newRow("no text at all") << std::string("\xFF\x00\xFE", 3);
}

void TuningFolderTest::aDamagedPlanIsRefusedInOneSentence() {
    QFETCH(const std::string, text);
    makeEarlierRun();
    fs::remove(file("plan.json"));
    write(file("plan.json"), text);
    for (const EarlierWork earlier : {EarlierWork::GoOn, EarlierWork::KeepRows}) {
        const auto refused = open(earlier);
        QVERIFY(!refused.hasValue());
        QCOMPARE(refused.error().code, ErrorCode::CorruptFile);
        QVERIFY2(isOneSentence(refused.error().message), refused.error().message.c_str());
    }
    for (const char* name : kOwn)
        QVERIFY2(fs::exists(file(name)), name);
    QVERIFY(open(EarlierWork::Replace).hasValue()); // the way out
    QVERIFY(open(EarlierWork::GoOn).hasValue());
}

QTEST_GUILESS_MAIN(TuningFolderTest)
#include "tuning_folder_test.moc"
