// SPDX-License-Identifier: Apache-2.0
// swift-run library on the skip sets of a tiny model.
#include "app/exit_codes.h"
#include "engine/decoding/statistics/task_memory.h"
#include "engine/loading/model_files.h"
#include "engine/model/model_fingerprint.h"
#include "tests/engine/experiments/report/searched_run.h"
#include "tests/support/models/tiny_folder_model.h"
#include "tests/support/programs/swift_run.h"

#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

#include <memory>

using namespace engine;
using support::ProgramRun;

namespace {

StoredSkipSet stored(const SkipSet& set, double score) {
    return {.set = set, .score = score, .skipRatio = 0.5, .decoder = "swift", .trials = 7};
}

} // namespace

class SwiftRunLibraryTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void init();
    void setsAreListedOneATask();
    void aSetIsShownLayerByLayer();
    void learntPromptsAreCountedRenamedAndForgotten();
    void setsAreComparedByTaskAndByFile();
    void ofTwoLibrariesTheBetterSetsStay();
    void theLibraryOfAnotherModelIsNotMerged();
    void aRenamedLibraryIsStillThatOfItsModel();
    void whatIsExportedIsImportedAgain();
    void entriesThatDoNotFitAreNamedAndTheRestIsUsed();
    void aTaskThatHasASetKeepsItUnlessReplaced();
    void theSameSetWithoutAScoreChangesNothing();
    void theSetsThatAnExperimentHasFoundAreTakenFromItsFolder();
    void theSetsOfAnotherModelsExperimentAreNamed();
    void anEntryOfTheLibraryThatIsDamagedIsNamed();
    void badInputIsOneSentence_data();
    void badInputIsOneSentence();

private:
    QString path(const QString& name) const { return m_folder.filePath(name); }

    ProgramRun run(const QStringList& arguments) const {
        return support::runProgram(support::swiftRunPath(),
                                   QStringList{"library"} + arguments +
                                       QStringList{"--model", path("model")});
    }

    SkipSetMemory memoryIn(const QString& data) const {
        return {path(data).toStdString(), m_fingerprint, 5};
    }

    QString libraryFile(const QString& data) const {
        return QString::fromStdString(memoryIn(data).path().string());
    }

    void write(const QString& name, const std::string& text) const {
        support::writeText(path(name).toStdString(), text);
    }

    QTemporaryDir m_folder;
    std::string m_fingerprint;
};

void SwiftRunLibraryTest::initTestCase() {
    const auto config = support::letterConfig(5);
    auto network = support::randomWeights(config, 3);
    support::writeFolderModel(path("model").toStdString(), config, network);
    const auto files = ModelFiles::open(path("model").toStdString());
    const auto weights = files.value().weights();
    m_fingerprint = modelFingerprint(files.value().config().value(), *weights.value()).value();
}

void SwiftRunLibraryTest::init() {
    qputenv("SWIFT_STUDIO_DATA", path("data").toUtf8());
    QDir(path("data")).removeRecursively();
    SkipSetMemory memory = memoryIn("data");
    QVERIFY(memory.store(
        {{"code", stored({{1, 2}, {3}}, 0.75)}, {"story", stored({{2}, {1, 3}}, 0.5)}}));
}

void SwiftRunLibraryTest::setsAreListedOneATask() {
    const auto lines = run({"list", "--json"}).jsonLines();
    QCOMPARE(lines.size(), 2);
    QCOMPARE(lines[0]["task"].toString(), QString("code"));
    QCOMPARE(lines[0]["attention"].toArray(), (QJsonArray{1, 2}));
    QCOMPARE(lines[1]["score"].toDouble(), 0.5);
    const QString people = run({"list"}).output;
    QVERIFY2(people.contains("code   2 attention, 1 MLP; score 0.750, r 0.50, 7 trials, swift"),
             qPrintable(people));
    qputenv("SWIFT_STUDIO_DATA", path("empty").toUtf8());
    QVERIFY(run({"list"}).output.contains("holds no skip set yet"));
}

void SwiftRunLibraryTest::aSetIsShownLayerByLayer() {
    const QString people = run({"show", "code"}).output;
    QVERIFY2(people.contains("attention  .##..\nMLP        ...#.\n"), qPrintable(people));
    QCOMPARE(run({"show", "code", "--json"}).jsonLines().value(0)["mlp"].toArray(), QJsonArray{3});
    StoredSkipSet once = stored({{1}, {}}, 0.5);
    once.trials = 1;
    QVERIFY(memoryIn("data").store("once", once).hasValue());
    QVERIFY(run({"show", "once"}).output.contains(", 1 trial, swift"));
}

void SwiftRunLibraryTest::learntPromptsAreCountedRenamedAndForgotten() {
    TaskMemory tasks(memoryIn("data"));
    const PromptVector vector = promptVector(std::vector<double>{1.0, 2.0});
    QVERIFY(tasks.learn("code", vector, 100).hasValue());
    QVERIFY(tasks.learn("Say it", vector, 100).hasValue());
    QVERIFY(tasks.learn("Say it", vector, 100).hasValue());
    const QString people = run({"list"}).output;
    QVERIFY2(people.contains("; 1 prompt learnt\n"), qPrintable(people));
    QVERIFY2(people.contains("Say it  no skip set; 2 prompts learnt\n"), qPrintable(people));
    QVERIFY2(people.contains("; 0 prompts learnt\n"), qPrintable(people));
    QVERIFY(run({"show", "code"}).output.contains("1 prompt learnt"));
    QCOMPARE(run({"show", "Say it"}).output, QByteArray("Say it: no skip set; 2 prompts learnt\n"));
    const auto shown = run({"show", "Say it", "--json"}).jsonLines();
    QCOMPARE(shown.size(), 1);
    QCOMPARE(shown[0]["event"].toString(), QString("learnt"));
    const auto lines = run({"list", "--json"}).jsonLines();
    QCOMPARE(lines.size(), 4); // two sets, two learnt
    QCOMPARE(lines[0]["event"].toString(), QString("learnt"));
    QCOMPARE(lines[0]["prompts"].toInt(), 2);
    QCOMPARE(run({"rename", "Say it", "translation"}).exitCode, app::kSuccess);
    QVERIFY(run({"list"}).output.contains("translation  no skip set; 2 prompts learnt"));
    QCOMPARE(run({"forget", "translation"}).exitCode, app::kSuccess);
    QVERIFY(!run({"list"}).output.contains("translation"));
    QFile file(QString::fromStdString(tasks.path().string()));
    QVERIFY(file.open(QIODevice::WriteOnly | QIODevice::Truncate) && file.write("{") == 1);
    file.close();
    const ProgramRun damaged = run({"list"});
    QCOMPARE(damaged.exitCode, app::kSuccess);
    QVERIFY(damaged.errors.contains("tasks"));
    QVERIFY(damaged.output.contains("code"));
}

void SwiftRunLibraryTest::setsAreComparedByTaskAndByFile() {
    const QJsonObject tasks = run({"diff", "code", "story", "--json"}).jsonLines().value(0);
    QCOMPARE(tasks["both"].toInt(), 2); // attention 2 and MLP 3
    QCOMPARE(tasks["hamming"].toInt(), 2);
    QCOMPARE(tasks["jaccard"].toDouble(), 0.5);
    write("sets.json", R"({"a":{"attention":[1,2],"mlp":[3]},"b":{"mlp":[3]}})");
    const QString file = path("sets.json");
    const auto same = run({"diff", "code", file + ":a", "--json"}).jsonLines().value(0);
    QCOMPARE(same["hamming"].toInt(), 0);
    QCOMPARE(same["jaccard"].toDouble(), 1.0);
    QVERIFY(run({"diff", "code", file + ":b"}).output.contains("Hamming 2, Jaccard 0.33"));
}

void SwiftRunLibraryTest::ofTwoLibrariesTheBetterSetsStay() {
    SkipSetMemory other = memoryIn("other");
    QVERIFY(other.store({{"code", stored({{1}, {}}, 0.9)},
                         {"math", stored({{3}, {}}, 0.1)},
                         {"story", stored({{3}, {}}, 0.5)}}));
    const ProgramRun merged = run({"merge", libraryFile("other")});
    QVERIFY2(merged.output.contains("code: replaced, score 0.900 above 0.750"),
             merged.errors.constData());
    QVERIFY(merged.output.contains("math: added"));
    QVERIFY(!merged.output.contains("story"));
    const auto sets = memoryIn("data").all().value().sets;
    QCOMPARE(sets.size(), std::size_t(3));
    QCOMPARE(sets.at("code").set.attention, std::vector<int>{1});
    QCOMPARE(sets.at("story").set.attention, std::vector<int>{2});
    QVERIFY(run({"merge", libraryFile("other")}).output.contains("the same score or a better one"));
}

void SwiftRunLibraryTest::theLibraryOfAnotherModelIsNotMerged() {
    SkipSetMemory other(path("other").toStdString(), std::string(m_fingerprint.size(), 'e'), 5);
    QVERIFY(other.store("code", stored({{1}, {}}, 0.95)));
    const QString file = QString::fromStdString(other.path().string());
    const ProgramRun alone = run({"merge", file});
    QCOMPARE(alone.exitCode, app::kUsage);
    QVERIFY2(alone.errors.contains("is left out: its skip sets are another model's"),
             alone.errors.constData());
    SkipSetMemory better = memoryIn("better");
    QVERIFY(better.store("math", stored({{3}, {}}, 0.9)));
    QCOMPARE(run({"merge", file, libraryFile("better")}).exitCode, app::kSuccess);
    const auto sets = memoryIn("data").all().value().sets;
    QCOMPARE(sets.at("code").score, 0.75);
    QVERIFY(sets.contains("math"));
}

void SwiftRunLibraryTest::aRenamedLibraryIsStillThatOfItsModel() {
    const QString otherName(static_cast<qsizetype>(m_fingerprint.size()), u'e');
    SkipSetMemory other(path("renamed").toStdString(), otherName.toStdString(), 5, "Other");
    QVERIFY(other.store("code", stored({{1}, {}}, 0.95)));
    QFile file(QString::fromStdString(other.path().string()));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QByteArray content = file.readAll();
    const QByteArray owner = "\"fingerprint\": \"" + otherName.toUtf8() + "\",\n";
    QVERIFY(content.contains(owner));
    QByteArray older = content; // as it was written before files named their model's fingerprint
    older.remove(older.indexOf(owner), owner.size());
    const QString ownName = QString::fromStdString(m_fingerprint) + ".json";
    QDir().mkpath(path("moved"));
    write("moved/" + ownName, content.toStdString());
    write("mine.json", content.toStdString());
    write("older.json", older.toStdString());
    for (const QString& name : QStringList{"moved/" + ownName, "mine.json", "older.json"}) {
        const ProgramRun refused = run({"merge", path(name)});
        QCOMPARE(refused.exitCode, app::kUsage);
        QVERIFY2(refused.errors.contains("is left out: its skip sets are another model's"),
                 refused.errors.constData());
    }
    const ProgramRun imported = run({"import", path("mine.json"), "--replace"});
    QCOMPARE(imported.exitCode, app::kUsage);
    QVERIFY2(imported.errors.contains("it was found for another model (Other)"),
             imported.errors.constData());
    QCOMPARE(memoryIn("data").find("code").value()->score, 0.75);
    SkipSetMemory better = memoryIn("own");
    QVERIFY(better.store("math", stored({{3}, {}}, 0.9)));
    QDir().mkpath(path("elsewhere"));
    QVERIFY(QFile::copy(libraryFile("own"), path("elsewhere/" + otherName + ".json")));
    QCOMPARE(run({"merge", path("elsewhere/" + otherName + ".json")}).exitCode, app::kSuccess);
    QVERIFY(memoryIn("data").find("math").value());
}

void SwiftRunLibraryTest::whatIsExportedIsImportedAgain() {
    QCOMPARE(run({"export", path("out.json")}).exitCode, app::kSuccess);
    QCOMPARE(run({"export", path("code.json"), "--task", "code"}).exitCode, app::kSuccess);
    const auto before = memoryIn("data").all().value().sets;
    qputenv("SWIFT_STUDIO_DATA", path("fresh").toUtf8());
    QDir(path("fresh")).removeRecursively();
    QCOMPARE(run({"import", path("out.json")}).exitCode, app::kSuccess);
    const auto after = memoryIn("fresh").all().value().sets;
    QCOMPARE(after.size(), before.size());
    QCOMPARE(after.at("story").set, before.at("story").set);
    QCOMPARE(after.at("story").skipRatio, 0.5); // 3 of 6
    QCOMPARE(run({"import", path("code.json"), "--task", "mine"}).exitCode, app::kSuccess);
    QCOMPARE(memoryIn("fresh").find("mine").value()->set, before.at("code").set);
    QVERIFY(run({"list"}).output.contains("not measured here"));
    qputenv("SWIFT_STUDIO_DATA", path("data").toUtf8());
    QCOMPARE(run({"export", path("scores.json"), "--scores"}).exitCode, app::kSuccess);
    qputenv("SWIFT_STUDIO_DATA", path("whole").toUtf8());
    QDir(path("whole")).removeRecursively();
    QCOMPARE(run({"import", path("scores.json")}).exitCode, app::kSuccess);
    QVERIFY(memoryIn("whole").all().value().sets == before);
    QCOMPARE(memoryIn("whole").all().value().model, std::string("model"));
}

void SwiftRunLibraryTest::entriesThatDoNotFitAreNamedAndTheRestIsUsed() {
    write("mixed.json", R"({"note":"x","deep":{"mlp":[7]},"bad":{"mlp":"x"},"good":{"mlp":[2]}})");
    const ProgramRun result = run({"import", path("mixed.json")});
    QCOMPARE(result.exitCode, app::kSuccess);
    QVERIFY2(result.errors.contains("\"deep\" is left out") && result.errors.contains("\"note\"") &&
                 result.errors.contains("\"bad\""),
             result.errors.constData());
    QCOMPARE(memoryIn("data").all().value().sets.size(), std::size_t(3));
    QVERIFY(memoryIn("data").find("good").value());
}

void SwiftRunLibraryTest::aTaskThatHasASetKeepsItUnlessReplaced() {
    write("again.json", R"({"code":{"mlp":[2]}})");
    const ProgramRun kept = run({"import", path("again.json")});
    QCOMPARE(kept.exitCode, app::kUsage);
    QVERIFY2(kept.errors.contains("has a set already"), kept.errors.constData());
    QCOMPARE(memoryIn("data").find("code").value()->set.mlp, std::vector<int>{3});
    QCOMPARE(run({"import", path("again.json"), "--replace"}).exitCode, app::kSuccess);
    QCOMPARE(memoryIn("data").find("code").value()->set.mlp, std::vector<int>{2});
}

void SwiftRunLibraryTest::theSameSetWithoutAScoreChangesNothing() {
    write("same.json", R"({"code":{"attention":[1,2],"mlp":[3]}})");
    for (const QStringList& more : {QStringList{}, QStringList{"--replace"}}) {
        const ProgramRun result = run(QStringList{"import", path("same.json")} + more);
        QVERIFY2(result.exitCode == app::kSuccess, result.errors.constData());
        QVERIFY(result.output.contains("code: was there already"));
        QCOMPARE(memoryIn("data").find("code").value()->score, 0.75);
    }
}

void SwiftRunLibraryTest::theSetsThatAnExperimentHasFoundAreTakenFromItsFolder() {
    const QString folder = path("run");
    QDir(folder).removeRecursively();
    test_support::searchedRun(folder.toStdString(),
                              {test_support::runModel("model", m_fingerprint, 5)});
    qputenv("SWIFT_STUDIO_DATA", path("found").toUtf8());
    QDir(path("found")).removeRecursively();
    const ProgramRun taken = run({"import", folder});
    QVERIFY2(taken.exitCode == app::kSuccess, taken.errors.constData());
    QVERIFY2(taken.output.contains("code: imported\nstory: imported\n"), taken.output.constData());
    const auto sets = memoryIn("found").all().value().sets;
    QCOMPARE(sets.size(), std::size_t(2));
    QVERIFY((sets.at("code").set == SkipSet{{1}, {1}}));
    QCOMPARE(sets.at("code").score, 0.75);
    QCOMPARE(sets.at("code").skipRatio, 0.25);
    QCOMPARE(sets.at("code").trials, 30);
    QCOMPARE(sets.at("code").decoder, std::string("bayes, Own search"));
    const ProgramRun again = run({"import", folder});
    QVERIFY2(again.exitCode == app::kSuccess, again.errors.constData());
    QVERIFY2(again.output.contains("code: was there already"), again.output.constData());
    QVERIFY(memoryIn("found").all().value().sets == sets);
}

void SwiftRunLibraryTest::theSetsOfAnotherModelsExperimentAreNamed() {
    const QString folder = path("others_run");
    QDir(folder).removeRecursively();
    test_support::searchedRun(folder.toStdString(), {test_support::runModel("other", "aa", 5)});
    const ProgramRun refused = run({"import", folder});
    QCOMPARE(refused.exitCode, app::kUsage);
    QVERIFY2(
        refused.errors.contains("\"code\" is left out: it was found for another model (other)"),
        refused.errors.constData());
    QCOMPARE(memoryIn("data").all().value().sets.size(), std::size_t(2));
}

void SwiftRunLibraryTest::anEntryOfTheLibraryThatIsDamagedIsNamed() {
    QFile file(libraryFile("data"));
    QVERIFY(file.open(QIODevice::ReadWrite));
    QByteArray text = file.readAll();
    text.replace("\"trials\":7", "\"trials\":-7");
    QVERIFY(file.resize(0) && file.seek(0) && file.write(text) == text.size());
    file.close();
    write("one.json", R"({"more":{"mlp":[2]}})");
    const ProgramRun listed = run({"list"});
    QCOMPARE(listed.exitCode, app::kSuccess);
    QVERIFY2(listed.errors.contains("task \"code\" lacks a number"), listed.errors.constData());
    QCOMPARE(run({"import", path("one.json")}).exitCode, app::kSuccess);
    QVERIFY(QFile::exists(libraryFile("data") + ".broken-1"));
}

void SwiftRunLibraryTest::badInputIsOneSentence_data() {
    QTest::addColumn<QStringList>("arguments");
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* name, const QStringList& given, int code, const char* words) {
        QTest::newRow(name) << given << code << words;
    };
    row("no command", {}, app::kUsage, "A subcommand is required");
    row("unknown task", {"show", "math"}, app::kNotFound, "The library holds: code, story");
    row("a file is no task", {"show", path("model")}, app::kUsage, "model");
    row("one set", {"diff", "code"}, app::kUsage, "sets");
    row("nothing to rename", {"rename", "math", "x"}, app::kNotFound, "No prompt of a task");
    row("nothing to forget", {"forget", "math"}, app::kNotFound, "No prompt of a task");
    row("no such library", {"merge", path("nothing.json")}, app::kNotFound, "nothing.json");
    row("no run", {"import", path("model")}, app::kNotFound, "holds no run of an experiment");
    row("no file", {"import"}, app::kUsage, "No file was given");
    row("both", {"import", "x.json", "--published"}, app::kUsage, "both given");
    row("task of published",
        {"import", "--published", "--task", "x"},
        app::kUsage,
        "--task names the set of a file");
    row("none published",
        {"import", "--published"},
        app::kUnsupported,
        "No skip set was published");
    row("unknown export",
        {"export", path("never.json"), "--task", "math"},
        app::kNotFound,
        "The library holds");
    row("over the model",
        {"export", path("model/config.json"), "--overwrite"},
        app::kUsage,
        "config.json");
}

void SwiftRunLibraryTest::badInputIsOneSentence() {
    QFETCH(QStringList, arguments);
    QFETCH(int, exitCode);
    QFETCH(QString, words);
    const ProgramRun result = run(arguments);
    QVERIFY2(result.exitCode == exitCode, result.errors.constData());
    QVERIFY2(result.errors.contains(words.toUtf8()), result.errors.constData());
    QVERIFY(!QFile::exists(path("never.json")));
}

QTEST_GUILESS_MAIN(SwiftRunLibraryTest)
#include "swift_run_library_test.moc"
