// SPDX-License-Identifier: Apache-2.0
// swift-run search on a model one of whose layers is known to do nothing.
#include "app/exit_codes.h"
#include "tests/support/models/tiny_folder_model.h"
#include "tests/support/programs/swift_run.h"

#include <QJsonArray>
#include <QTemporaryDir>
#include <QTest>

using support::ProgramRun;

namespace {

ProgramRun run(const QStringList& arguments) {
    return support::runProgram(support::swiftRunPath(), arguments);
}

constexpr int kSilentLayer = 2;

} // namespace

class SwiftRunSearchTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void everyMethodFindsTheSilentLayer_data();
    void everyMethodFindsTheSilentLayer();
    void selfSdFindsTheSilentLayerByDecoding();
    void entriesOfACollectionAreKept();
    void theSameSeedTriesTheSameSets();
    void manyPromptsGiveWindowsFromEverywhere();
    void theFoundSetCanBeUsed();
    void badInputIsOneSentence_data();
    void badInputIsOneSentence();
    void aModelIsCalledAfterItsFolder();
    void aModelWithoutInnerLayersIsRefused();
    void nothingIsWrittenWhenNothingWasTried();

private:
    QString path(const QString& name) const { return m_folder.filePath(name); }

    QStringList arguments(const QString& method, const QString& out) const;

    QTemporaryDir m_folder;
};

void SwiftRunSearchTest::initTestCase() {
    qputenv("SWIFT_STUDIO_DATA", m_folder.path().toUtf8());
    const auto config = support::letterConfig(5); // 6 sublayers may be skipped
    auto weights = support::randomWeights(config, 3);
    support::silenceLayer(weights, kSilentLayer);
    support::writeFolderModel(path("model").toStdString(), config, weights);
    const auto small = support::letterConfig(2);
    auto smallWeights = support::randomWeights(small, 3);
    support::writeFolderModel(path("small").toStdString(), small, smallWeights);
    std::string lines;
    for (const char* prompt : {"abc ab", "da be", "cab dab", "ee ab", "bad cab", "dead bee"})
        lines += fmt::format("{{\"prompt\":\"{}\",\"task\":\"letters\"}}\n", prompt);
    support::writeText(path("data.jsonl").toStdString(), lines + "{\"prompt\":\"a\"}\n");
}

QStringList SwiftRunSearchTest::arguments(const QString& method, const QString& out) const {
    return {"search",
            "--data",
            path("data.jsonl"),
            "--task",
            "letters",
            "--method",
            method,
            "--out",
            path(out),
            "--model",
            path("model"),
            "--backend",
            "plain",
            "--raw",
            "--json"};
}

void SwiftRunSearchTest::everyMethodFindsTheSilentLayer_data() {
    QTest::addColumn<QStringList>("more");
    // 2 of 6 sublayers: 15 sets, one of which changes nothing.
    const QStringList trials = {"--ratio", "0.34", "--trials", "80", "--max-tokens", "24"};
    const QStringList settings = {"--set",
                                  "r=0.34",
                                  "--set",
                                  "gamma=16",
                                  "--set",
                                  "rows_per_trial=1",
                                  "--set",
                                  "lower_below=0",
                                  "--set",
                                  "stop_score=1",
                                  "--max-tokens",
                                  "120"};
    QTest::newRow("random") << trials;
    QTest::newRow("bayes") << trials;
    QTest::newRow("swift") << settings;
    QTest::newRow("guided") << settings;
}

void SwiftRunSearchTest::everyMethodFindsTheSilentLayer() {
    QFETCH(QStringList, more);
    const QString method = QTest::currentDataTag();
    const ProgramRun result = run(arguments(method, method + ".json") + more);
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    QFile file(path(method + ".json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonObject set = QJsonDocument::fromJson(file.readAll()).object();
    QCOMPARE(set["attention"].toArray(), QJsonArray{kSilentLayer});
    QCOMPARE(set["mlp"].toArray(), QJsonArray{kSilentLayer});
    QCOMPARE(set["score"].toDouble(), 1.0);
    QCOMPARE(set["task"].toString(), QString("letters"));
    QVERIFY(set["trials"].toInt() > 0 || method == "guided"); // its start set may be the one
    const auto lines = result.jsonLines();
    QCOMPARE(lines.last()["event"].toString(), QString("done"));
    double best = 0.0;
    for (const QJsonObject& line : lines)
        if (line["event"] == "trial")
            best = std::max(best, line["score"].toDouble());
    QCOMPARE(best, 1.0);
}

void SwiftRunSearchTest::selfSdFindsTheSilentLayerByDecoding() {
    const QStringList more = {
        "--objective", "expected_speed", "--trials", "25", "--max-tokens", "12"};
    QList<QJsonArray> sets;
    for (const QString name : {"first.json", "second.json"}) {
        const ProgramRun result = run(arguments("self_sd", name) + more);
        QVERIFY2(result.exitCode == 0, result.errors.constData());
        const QJsonObject done = result.jsonLines().last();
        QCOMPARE(done["measure"].toString(), QString("expected speed"));
        QVERIFY(done["score"].toDouble() > 1.0);
        QVERIFY(done["attention"].toArray().contains(kSilentLayer));
        QVERIFY(done["mlp"].toArray().contains(kSilentLayer));
        sets.append(done["attention"].toArray());
    }
    QCOMPARE(sets[0], sets[1]);
    const ProgramRun refused =
        run(arguments("self_sd", "third.json") + QStringList{"--ratio", "1"});
    QCOMPARE(refused.exitCode, int(app::kUsage));
}

void SwiftRunSearchTest::entriesOfACollectionAreKept() {
    for (const QString entry : {"tiny_one", "tiny_two"}) {
        const ProgramRun result =
            run(arguments("random", "sets.json") + QStringList{"--trials", "3", "--entry", entry});
        QVERIFY2(result.exitCode == 0, result.errors.constData());
    }
    QFile file(path("sets.json"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QJsonObject sets = QJsonDocument::fromJson(file.readAll()).object();
    QCOMPARE(sets.keys(), (QStringList{"tiny_one", "tiny_two"}));
    QVERIFY(sets["tiny_two"].toObject().contains("attention"));
    QVERIFY(sets["tiny_two"].toObject().contains("mlp"));
}

void SwiftRunSearchTest::theSameSeedTriesTheSameSets() {
    const auto scores = [&](const QString& seed) {
        QJsonArray found;
        for (const QJsonObject& line :
             run(arguments("bayes", "seed.json") + QStringList{"--trials", "20", "--seed", seed})
                 .jsonLines())
            found.append(line["score"]);
        return found;
    };
    QCOMPARE(scores("3"), scores("3"));
    QVERIFY(scores("3") != scores("4"));
}

/// Of 128 prompts, those between the ones that are taken do not fit into the context.
void SwiftRunSearchTest::manyPromptsGiveWindowsFromEverywhere() {
    const std::string tooLong(2000, 'e');
    std::string lines;
    for (int i = 0; i < 128; ++i)
        lines += fmt::format("{{\"prompt\":\"{}\",\"task\":\"letters\"}}\n",
                             i % 2 == 0 ? "abc ab" : tooLong);
    support::writeText(path("many.jsonl").toStdString(), lines);
    QStringList all = arguments("random", "many.json");
    all.replaceInStrings("data.jsonl", "many.jsonl");
    const ProgramRun result =
        run(all + QStringList{"--limit", "128", "--trials", "2", "--max-tokens", "12"});
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    QVERIFY2(result.errors.contains("Of 128 prompts, the search uses at most 64, spread evenly"),
             result.errors.constData());
    QVERIFY2(!result.errors.contains("was skipped"), result.errors.constData());
    QCOMPARE(result.jsonLines().last()["prompts"].toInt(), 64);
}

void SwiftRunSearchTest::theFoundSetCanBeUsed() {
    QCOMPARE(run(arguments("random", "used.json") + QStringList{"--trials", "5"}).exitCode, 0);
    const QStringList forward = {"forward", "--ids", "1,2,3", "--backend", "plain", "--skip"};
    QCOMPARE(run(forward + QStringList{path("used.json"), "--model", path("model")}).exitCode, 0);
    const ProgramRun other =
        run(forward + QStringList{path("used.json"), "--model", path("small")});
    QCOMPARE(other.exitCode, static_cast<int>(app::kUsage));
    QVERIFY2(other.errors.contains("used.json"), other.errors.constData());
    QVERIFY2(other.errors.contains("layers 0 to 1"), other.errors.constData());
}

void SwiftRunSearchTest::badInputIsOneSentence_data() {
    QTest::addColumn<QString>("method");
    QTest::addColumn<QStringList>("more");
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QStringList>("named");
    const int usage = app::kUsage;
    QTest::newRow("unknown task") << "random" << QStringList{"--task", "numbers"} << usage
                                  << QStringList{"numbers", "data, letters"};
    QTest::newRow("unknown method") << "grid" << QStringList{} << usage << QStringList{"grid"};
    QTest::newRow("settings for trials")
        << "random" << QStringList{"--set", "r=0.3"} << usage << QStringList{"--set", "random"};
    QTest::newRow("trials for a decoder")
        << "swift" << QStringList{"--trials", "9"} << usage << QStringList{"--trials", "swift"};
    QTest::newRow("a seed for a decoder")
        << "guided" << QStringList{"--seed", "1"} << usage << QStringList{"--seed", "guided"};
    for (const char* method : {"swift", "bayes"})
        QTest::addRow("an objective for %s", method)
            << method << QStringList{"--objective", "tokens_per_second"} << usage
            << QStringList{"--objective", method};
    QTest::newRow("two profiles") << "guided" << QStringList{"--set", "profile=code"} << usage
                                  << QStringList{"--method"};
    QTest::newRow("not a folder") << "random" << QStringList{"--out", "nowhere/set.json"}
                                  << static_cast<int>(app::kNotFound) << QStringList{"nowhere"};
    QTest::newRow("answers too short") << "random" << QStringList{"--max-tokens", "3"} << usage
                                       << QStringList{"at least 8 tokens"};
    QTest::newRow("answers longer than the context")
        << "self_sd" << QStringList{"--context", "40", "--max-tokens", "60", "--trials", "1"}
        << usage << QStringList{"No prompt fits into the context"};
    QTest::newRow("ratio 2") << "random" << QStringList{"--ratio", "2"} << usage
                             << QStringList{"--ratio"};
}

void SwiftRunSearchTest::badInputIsOneSentence() {
    QFETCH(QString, method);
    QFETCH(QStringList, more);
    QFETCH(int, exitCode);
    QFETCH(QStringList, named);
    QStringList all = arguments(method, "refused.json");
    for (qsizetype i = 0; i + 1 < more.size(); i += 2) // in place of the option of that name
        if (const qsizetype at = all.indexOf(more[i]); at >= 0)
            all.remove(at, 2);
    const ProgramRun result = run(all + more);
    QVERIFY2(result.exitCode == exitCode, result.errors.constData());
    for (const QString& part : named)
        QVERIFY2(result.errors.contains(part.toUtf8()), result.errors.constData());
    QVERIFY(!QFile::exists(path("refused.json")));
}

void SwiftRunSearchTest::aModelIsCalledAfterItsFolder() {
    QVERIFY(QDir(path("model")).mkdir("inner"));
    for (const QString end : {"/", "/.", "/./", "/inner/.."}) {
        QStringList all = arguments("random", "named.json") + QStringList{"--trials", "2"};
        all.replaceInStrings(path("model"), path("model") + end);
        const ProgramRun result = run(all);
        QVERIFY2(result.exitCode == 0, result.errors.constData());
        QCOMPARE(result.jsonLines().last()["model"].toString(), QString("model"));
    }
}

void SwiftRunSearchTest::aModelWithoutInnerLayersIsRefused() {
    QStringList all = arguments("random", "small.json");
    all.replaceInStrings(path("model"), path("small"));
    const ProgramRun result = run(all);
    QCOMPARE(result.exitCode, static_cast<int>(app::kUnsupported));
    QVERIFY(result.errors.contains("2 layers"));
    QVERIFY(!QFile::exists(path("small.json")));
}

void SwiftRunSearchTest::nothingIsWrittenWhenNothingWasTried() {
    const ProgramRun result =
        run(arguments("swift", "none.json") + QStringList{"--limit", "1", "--max-tokens", "4"});
    QCOMPARE(result.exitCode, static_cast<int>(app::kUsage));
    QVERIFY2(
        result.errors.contains("tried no skip set on 1 prompt with answers of at most 4 tokens."),
        result.errors.constData());
    QVERIFY(!QFile::exists(path("none.json")));
}

QTEST_GUILESS_MAIN(SwiftRunSearchTest)
#include "swift_run_search_test.moc"
