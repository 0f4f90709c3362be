// SPDX-License-Identifier: Apache-2.0
// swift-run tune --recipe layerskip and space on a tiny model: from prompts to a model folder that
// drafts by itself.
#include "app/exit_codes.h"
#include "tests/app/tune/tiny_tuning.h"

#include <QJsonArray>
#include <QTest>

#include <csignal>

using support::ProgramRun;
using test_support::TinyTuning;
using test_support::waitForEvent;

namespace {

constexpr int kLongRun = 80;

/// With all rows in every round, so that masks have a chance in short answers.
QStringList maskDecoder() {
    return {"--decoder", "space", "--set", "masks=2", "--set", "adaptive=off"};
}

struct Acceptance {
    int accepted = 0;
    int drafted = 0;

    double share() const { return drafted > 0 ? static_cast<double>(accepted) / drafted : 0.0; }
};

} // namespace

class SwiftRunTuneModelTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void theFolderIsAModelThatSaysHowItWasMade_data();
    void theFolderIsAModelThatSaysHowItWasMade();
    void theOriginalStaysAsItIs();
    void draftsOfTheNewModelAreItsOwnTokens_data();
    void draftsOfTheNewModelAreItsOwnTokens();
    void theNewModelDraftsAtTheExitThatWasJudged();
    void theNewModelDraftsBetterThanTheOldOne();
    void everyEventHasItsFields_data();
    void everyEventHasItsFields();
    void aKilledRunGoesOnToTheSameModel_data();
    void aKilledRunGoesOnToTheSameModel();
    void ctrlCKeepsWhatIsThere();
    void aModelThatKeepsItsQualityGetsItsName_data();
    void aModelThatKeepsItsQualityGetsItsName();
    void aModelThatIsNotKeptIsCalledRejected();
    void anEarlierModelIsReplaced();
    void whatComesToItsPlaceMeanwhileIsNotReplaced();
    void allWeightsCanBeTrained();
    void aCopyIsMeasuredBesideItsModel_data();
    void aCopyIsMeasuredBesideItsModel();

private:
    QJsonObject generated(const QString& model,
                          const QStringList& decoder,
                          const QStringList& more = {},
                          const QString& prompt = "abc ab") const {
        return TinyTuning::run(QStringList{"generate",
                                           "--model",
                                           m_tuning.path(model),
                                           "--backend",
                                           "plain",
                                           "--prompt",
                                           prompt,
                                           "--max-tokens",
                                           "60",
                                           "--json"} +
                               more + decoder)
            .jsonLines()
            .constLast();
    }

    /// Over greedy answers to several prompts.
    Acceptance acceptance(const QString& model, const QStringList& decoder) const {
        Acceptance sum;
        for (const char* prompt : {"abc ab", "da be", "cab dab", "dead bee"}) {
            const QJsonObject metrics = generated(model, decoder, {}, prompt)["metrics"].toObject();
            sum.accepted += metrics["accepted"].toInt();
            sum.drafted += metrics["draft_steps"].toInt();
        }
        return sum;
    }

    /// The folder that a run has made: a random model may lose too much to be kept.
    QString made(const QString& out) const {
        const QString rejected = out + "-rejected";
        return m_tuning.isThere(rejected) ? rejected : out;
    }

    QByteArray weightsOf(const QString& out) const {
        return m_tuning.read(made(out) + "/model.safetensors");
    }

    QJsonObject tuningFile(const QString& folder) const {
        return QJsonDocument::fromJson(m_tuning.read(folder + "/tuning.json")).object();
    }

    /// The weights that an undisturbed run makes.
    QByteArray undisturbed(const QString& recipe) {
        const QString out = "undisturbed-" + recipe;
        if (weightsOf(out).isEmpty()) {
            const ProgramRun result =
                TinyTuning::run(m_tuning.modelCommand(recipe, out, {}, kLongRun));
            if (result.exitCode != 0)
                return {};
        }
        return weightsOf(out);
    }

    TinyTuning m_tuning;
    QMap<QString, QList<QJsonObject>> m_lines; // of the runs that made "layerskip" and "space"
    QByteArray m_original;
};

void SwiftRunTuneModelTest::initTestCase() {
    m_original = m_tuning.read("model/model.safetensors");
    for (const char* recipe : {"layerskip", "space"}) {
        const ProgramRun result =
            TinyTuning::run(m_tuning.modelCommand(recipe, recipe, {"--json"}, 240));
        QVERIFY2(result.exitCode == 0, result.errors.constData());
        m_lines[QString(recipe)] = result.jsonLines();
        QVERIFY(m_tuning.isThere(recipe) != m_tuning.isThere(QString(recipe) + "-rejected"));
        QVERIFY(!m_tuning.isThere(QString(recipe) + ".work"));
    }
}

void SwiftRunTuneModelTest::theFolderIsAModelThatSaysHowItWasMade_data() {
    QTest::addColumn<QString>("recipe");
    QTest::newRow("layerskip") << "layerskip";
    QTest::newRow("space") << "space";
}

void SwiftRunTuneModelTest::theFolderIsAModelThatSaysHowItWasMade() {
    QFETCH(const QString, recipe);
    const QString folder = made(recipe);
    QStringList files = QDir(m_tuning.path(folder)).entryList(QDir::Files | QDir::Hidden);
    files.sort();
    QCOMPARE(files,
             (QStringList{"config.json", "model.safetensors", "tokenizer.json", "tuning.json"}));
    QCOMPARE(m_tuning.read(folder + "/tokenizer.json"), m_tuning.read("model/tokenizer.json"));
    const QJsonObject config =
        QJsonDocument::fromJson(m_tuning.read(folder + "/config.json")).object();
    QCOMPARE(config["torch_dtype"].toString(), QString("float32")); // as the original
    QCOMPARE(config.contains("mask_token_id"), recipe == "space");
    const QJsonObject told = tuningFile(folder);
    QCOMPARE(told["model"].toString(), QString("model"));
    QCOMPARE(told["fingerprint"].toString().toStdString(), m_tuning.fingerprint());
    QCOMPARE(told["recipe"]["name"].toString(), recipe);
    QCOMPARE(told["recipe"]["rank"].toInt(), 8);
    QCOMPARE(told["data"]["sources"].toArray(),
             (QJsonArray{QJsonObject{{"file", "data.jsonl"}, {"licence", "unknown"}}}));
    QVERIFY(told["quality"]["before"]["perplexity"].toDouble() > 1.0);
    QVERIFY(told["quality"]["after"]["perplexity"].toDouble() > 1.0);
    QVERIFY(told["quality"]["agreement"].toDouble() > 0.5);
    QCOMPARE(told["quality"]["kept"].toBool(), folder == recipe);
    QVERIFY(!told["date"].toString().isEmpty());
    const ProgramRun looked =
        TinyTuning::run({"inspect", "--model", m_tuning.path(folder), "--json"});
    QVERIFY2(looked.exitCode == 0, looked.errors.constData());
}

void SwiftRunTuneModelTest::theOriginalStaysAsItIs() {
    QCOMPARE(m_tuning.read("model/model.safetensors"), m_original);
    QVERIFY(weightsOf("layerskip") != m_original);
}

void SwiftRunTuneModelTest::draftsOfTheNewModelAreItsOwnTokens_data() {
    QTest::addColumn<QString>("recipe");
    QTest::addColumn<QStringList>("decoder");
    QTest::addColumn<QStringList>("sampling");
    const QStringList sampled = {"--temperature", "0.7", "--seed", "3"};
    for (const bool isGreedy : {true, false}) {
        const char* name = isGreedy ? "greedy" : "sampled";
        QTest::addRow("layerskip, %s", name)
            << "layerskip" << QStringList{"--decoder", "layerskip", "--set", "exit_layer=2"}
            << (isGreedy ? QStringList() : sampled);
        QTest::addRow("space, %s", name)
            << "space" << maskDecoder() << (isGreedy ? QStringList() : sampled);
    }
}

void SwiftRunTuneModelTest::draftsOfTheNewModelAreItsOwnTokens() {
    QFETCH(const QString, recipe);
    QFETCH(const QStringList, decoder);
    QFETCH(const QStringList, sampling);
    const QJsonObject vanilla = generated(made(recipe), {"--decoder", "vanilla"}, sampling);
    const QJsonObject drafted = generated(made(recipe), decoder, sampling);
    QVERIFY(!vanilla["tokens"].toArray().isEmpty());
    QCOMPARE(drafted["tokens"].toArray(), vanilla["tokens"].toArray());
    QVERIFY2(drafted["metrics"]["accepted"].toInt() > 0,
             QJsonDocument(drafted).toJson().constData());
}

/// Of three layers a quarter would be the first one alone. A setting of the user wins.
void SwiftRunTuneModelTest::theNewModelDraftsAtTheExitThatWasJudged() {
    // Of other exits other layers are read.
    const auto tokensPerLayer = [&](const QString& model, const QStringList& more) {
        const QJsonObject made = generated(model, {"--decoder", "layerskip"}, more);
        return made["metrics"].toObject()["tokens_per_layer"].toDouble();
    };
    const auto told = [&](const QString& folder, const char* number) {
        return tuningFile(folder)["recipe"].toObject()[QLatin1String(number)].toInt();
    };
    const QString folder = made("layerskip");
    QCOMPARE(told(folder, "exit"), 2);
    const QStringList first = {"--set", "exit_layer=1"};
    const QStringList second = {"--set", "exit_layer=2"};
    QVERIFY(tokensPerLayer(folder, first) != tokensPerLayer(folder, second));
    QCOMPARE(tokensPerLayer(folder, {}), tokensPerLayer(folder, second));
    QCOMPARE(tokensPerLayer("model", {}), tokensPerLayer("model", first));
    for (const auto& [recipe, exit, masks] :
         {std::tuple("layerskip", 2, 0), {"space", 0, told(made("space"), "masks")}}) {
        const QJsonObject config =
            TinyTuning::run({"inspect", "--model", m_tuning.path(made(recipe)), "--json"})
                .jsonLines()
                .constFirst()["config"]
                .toObject();
        QCOMPARE(config["tuned_exit"].toInt(-1), exit);
        QCOMPARE(config["tuned_masks"].toInt(-1), masks);
    }
}

void SwiftRunTuneModelTest::theNewModelDraftsBetterThanTheOldOne() {
    const QStringList layerskip = {"--decoder", "layerskip", "--set", "exit_layer=2"};
    const Acceptance before = acceptance("model", layerskip);
    const Acceptance after = acceptance(made("layerskip"), layerskip);
    const QString told = QString("layerskip: %1 of %2, before %3 of %4")
                             .arg(after.accepted)
                             .arg(after.drafted)
                             .arg(before.accepted)
                             .arg(before.drafted);
    qInfo("%s", qPrintable(told));
    QVERIFY2(after.share() > before.share() + 0.02, qPrintable(told));
    const QJsonObject file = tuningFile(made("space"));
    const int mask = file["recipe"]["mask_token"].toInt(-1);
    QVERIFY(mask >= 13); // none of the letters
    const QStringList masks = maskDecoder();
    const QStringList named = masks + QStringList{"--set", QString("mask_token=%1").arg(mask)};
    const int untrained = acceptance("model", named).accepted;
    const int trained = acceptance(made("space"), masks).accepted;
    qInfo("space: %d tokens accepted, before %d", trained, untrained);
    QVERIFY2(trained > untrained + 20,
             qPrintable(QString("%1 after %2").arg(trained).arg(untrained)));
}

void SwiftRunTuneModelTest::everyEventHasItsFields_data() {
    theFolderIsAModelThatSaysHowItWasMade_data();
}

void SwiftRunTuneModelTest::everyEventHasItsFields() {
    QFETCH(const QString, recipe);
    const QList<QJsonObject>& lines = m_lines[recipe];
    QCOMPARE(lines.constFirst()["recipe"].toString(), recipe);
    QVERIFY(lines.constFirst()["trained_weights"].toInt() > 1000);
    int steps = 0;
    int evaluations = 0;
    for (const QJsonObject& line : lines) {
        if (line["event"] == "step") {
            ++steps;
            QCOMPARE(line["parts"].toObject().keys(),
                     (QStringList{"drafting", "gradient", "likelihood"}));
        }
        if (line["event"] == "eval") {
            ++evaluations;
            QCOMPARE(line["acceptance"].toArray().size(), qsizetype{4});
            QCOMPARE(line["exits"].toArray().size(), qsizetype{recipe == "space" ? 0 : 2});
        }
    }
    QVERIFY(steps >= 6 && evaluations >= 3);
    const QJsonObject done = lines.constLast();
    QCOMPARE(done["event"].toString(), QString("done"));
    QCOMPARE(done["path"].toString(), m_tuning.path(made(recipe)));
    QCOMPARE(done["bytes"].toInt(), static_cast<int>(weightsOf(recipe).size()));
    QCOMPARE(done["mask_token"].isNull(), recipe == "layerskip");
    QCOMPARE(done["quality"].toObject().keys(),
             (QStringList{"agreement",
                          "kept",
                          "least_agreement",
                          "most_perplexity",
                          "perplexity",
                          "perplexity_before",
                          "tokens"}));
    QCOMPARE(done["quality"]["kept"].toBool(), m_tuning.isThere(recipe));
    QVERIFY(done["held_out"].toBool());
}

void SwiftRunTuneModelTest::aKilledRunGoesOnToTheSameModel_data() {
    theFolderIsAModelThatSaysHowItWasMade_data();
}

/// Checkpoints are written before every step, and the kill comes behind the tenth.
void SwiftRunTuneModelTest::aKilledRunGoesOnToTheSameModel() {
    QFETCH(const QString, recipe);
    QVERIFY(!undisturbed(recipe).isEmpty());
    const QString out = "killed-" + recipe;
    QProcess process;
    process.start(
        TinyTuning::program(),
        m_tuning.modelCommand(recipe, out, {"--checkpoint-minutes", "0", "--json"}, kLongRun));
    QVERIFY(!waitForEvent(process, "step").isEmpty());
    process.kill();
    process.waitForFinished(-1);
    QVERIFY2(process.exitStatus() == QProcess::CrashExit, "the run was over before it was killed");
    QVERIFY(weightsOf(out).isEmpty());
    const ProgramRun rest =
        TinyTuning::run(m_tuning.modelCommand(recipe, out, {"--resume"}, kLongRun));
    QVERIFY2(rest.exitCode == 0, rest.errors.constData());
    QVERIFY2(rest.errors.contains("its first steps will tell how long that takes"),
             rest.errors.constData());
    QCOMPARE(weightsOf(out), undisturbed(recipe));
    QVERIFY(!m_tuning.isThere(out + ".work"));
}

void SwiftRunTuneModelTest::ctrlCKeepsWhatIsThere() {
    QVERIFY(!undisturbed("layerskip").isEmpty());
    QProcess process;
    process.start(TinyTuning::program(),
                  m_tuning.modelCommand("layerskip", "stopped", {"--json"}, kLongRun));
    QVERIFY(!waitForEvent(process, "step").isEmpty());
    ::kill(static_cast<pid_t>(process.processId()), SIGINT);
    QVERIFY(!waitForEvent(process, "remark", [](const QJsonObject& line) {
                 return line["text"].toString().contains("--resume");
             }).isEmpty());
    process.waitForFinished(-1);
    QCOMPARE(process.exitCode(), int(app::kCancelled));
    QVERIFY(weightsOf("stopped").isEmpty());
    const ProgramRun rest =
        TinyTuning::run(m_tuning.modelCommand("layerskip", "stopped", {"--resume"}, kLongRun));
    QVERIFY2(rest.exitCode == 0, rest.errors.constData());
    QCOMPARE(weightsOf("stopped"), undisturbed("layerskip"));
}

void SwiftRunTuneModelTest::aModelThatKeepsItsQualityGetsItsName_data() {
    theFolderIsAModelThatSaysHowItWasMade_data();
}

void SwiftRunTuneModelTest::aModelThatKeepsItsQualityGetsItsName() {
    QFETCH(const QString, recipe);
    const QString out = "kept-" + recipe;
    const ProgramRun result =
        TinyTuning::run(m_tuning.modelCommand(recipe, out, {"--set", "rate=0.00001"}, 10));
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    QVERIFY2(m_tuning.isThere(out), result.errors.constData());
    QVERIFY2(result.output.contains(", a1 "), result.output.constData());
    if (recipe == "space") // two masks draft no third token
        QVERIFY2(!result.output.contains(", a3 "), result.output.constData());
    QVERIFY(!m_tuning.isThere(out + "-rejected"));
    const QJsonObject file = tuningFile(out);
    QVERIFY(file["quality"]["kept"].toBool());
    QVERIFY(file["quality"]["failing"].toString().isEmpty());
    QVERIFY(file["quality"]["agreement"].toDouble() >= 0.9);
}

void SwiftRunTuneModelTest::aModelThatIsNotKeptIsCalledRejected() {
    const ProgramRun result = TinyTuning::run(m_tuning.modelCommand(
        "layerskip", "spoilt", {"--set", "full=on", "--set", "rate=0.1", "--json"}, 20));
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    QVERIFY(!m_tuning.isThere("spoilt"));
    QVERIFY(m_tuning.isThere("spoilt-rejected/model.safetensors"));
    QVERIFY2(result.errors.contains("spoilt-rejected"), result.errors.constData());
    const QJsonObject done = result.jsonLines().constLast();
    QCOMPARE(done["path"].toString(), m_tuning.path("spoilt-rejected"));
    QVERIFY(!done["quality"]["kept"].toBool(true));
    const QJsonObject quality = tuningFile("spoilt-rejected")["quality"].toObject();
    QVERIFY(!quality["kept"].toBool(true));
    QVERIFY(!quality["failing"].toString().isEmpty());
    QVERIFY2(result.errors.contains(quality["failing"].toString().toUtf8()),
             result.errors.constData());
}

void SwiftRunTuneModelTest::anEarlierModelIsReplaced() {
    const QStringList gently = {"--set", "rate=0.00001"};
    QCOMPARE(TinyTuning::run(m_tuning.modelCommand("layerskip", "twice", gently, 10)).exitCode, 0);
    const QByteArray before = m_tuning.read("twice/model.safetensors");
    const ProgramRun again = TinyTuning::run(
        m_tuning.modelCommand("layerskip", "twice/", gently + QStringList{"--seed", "2"}, 10));
    QVERIFY2(again.exitCode == 0, again.errors.constData());
    QVERIFY(m_tuning.read("twice/model.safetensors") != before);
    m_tuning.write("twice/diary.txt", "Dear diary,\n");
    support::expectRefusal(TinyTuning::run(m_tuning.modelCommand("layerskip", "twice", {}, 10)),
                           app::kUsage,
                           {"twice", "something else", "--overwrite"});
    QCOMPARE(m_tuning.read("twice/diary.txt"), QByteArray("Dear diary,\n"));
}

/// --overwrite was said when only the work of an earlier run was there.
void SwiftRunTuneModelTest::whatComesToItsPlaceMeanwhileIsNotReplaced() {
    const QStringList gently = {"--set", "rate=0.00001", "--overwrite"};
    const auto command = [&](const QStringList& more) {
        return m_tuning.modelCommand("layerskip", "meanwhile", gently + more, 10);
    };
    QCOMPARE(TinyTuning::run(command({"--collect-only"})).exitCode, 0);
    QProcess process;
    process.start(TinyTuning::program(), command({"--json"}));
    QVERIFY(!waitForEvent(process, "start").isEmpty());
    ::kill(static_cast<pid_t>(process.processId()), SIGSTOP);
    QDir().mkpath(m_tuning.path("meanwhile"));
    m_tuning.write("meanwhile/diary.txt", "Dear diary,\n");
    ::kill(static_cast<pid_t>(process.processId()), SIGCONT);
    process.waitForFinished(-1);
    QCOMPARE(process.exitCode(), int(app::kUsage));
    QCOMPARE(m_tuning.read("meanwhile/diary.txt"), QByteArray("Dear diary,\n"));
    const ProgramRun rest = TinyTuning::run(command({"--resume"})); // now it is there
    QVERIFY2(rest.exitCode == 0, rest.errors.constData());
    QVERIFY(m_tuning.isThere("meanwhile/model.safetensors"));
    QVERIFY(!m_tuning.isThere("meanwhile/diary.txt"));
}

void SwiftRunTuneModelTest::allWeightsCanBeTrained() {
    const ProgramRun result = TinyTuning::run(m_tuning.modelCommand(
        "layerskip", "full", {"--set", "full=on", "--set", "rate=0.00001", "--json"}, 10));
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    QVERIFY2(m_tuning.isThere("full"), result.errors.constData());
    const QJsonObject file = tuningFile("full");
    QVERIFY(file["recipe"]["full"].toBool());
    QVERIFY(result.jsonLines().constFirst()["trained_weights"].toInt() >
            m_lines["layerskip"].constFirst()["trained_weights"].toInt());
}

void SwiftRunTuneModelTest::aCopyIsMeasuredBesideItsModel_data() {
    theFolderIsAModelThatSaysHowItWasMade_data();
}

void SwiftRunTuneModelTest::aCopyIsMeasuredBesideItsModel() {
    QFETCH(const QString, recipe);
    const QString folder = made(recipe);
    const QStringList compare = {"tune",
                                 "--compare",
                                 m_tuning.path(folder),
                                 "--data",
                                 m_tuning.path("data.jsonl"),
                                 "--model",
                                 m_tuning.path("model"),
                                 "--backend",
                                 "plain",
                                 "--raw",
                                 "--max-tokens",
                                 "12"};
    const ProgramRun result = TinyTuning::run(compare + QStringList{"--json"});
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    QJsonObject copy;
    QMap<QString, int> answers;
    for (const QJsonObject& line : result.jsonLines()) {
        if (line["event"] == "copy")
            copy = line;
        if (line["event"] != "prompt")
            continue;
        ++answers[line["variant"].toString()];
        QCOMPARE(line["of"].toInt(), 8);
        if (line["variant"] == "with") {
            QCOMPARE(line["decoder"].toString(), recipe);
            QVERIFY(line["equal"].toBool()); // to the copy's own vanilla
        }
    }
    QCOMPARE(answers.keys(), (QStringList{"original", "vanilla", "with"}));
    QCOMPARE(answers.values(), (QList<int>{8, 8, 8}));
    const QJsonObject quality = tuningFile(folder)["quality"].toObject();
    QCOMPARE(copy["perplexity"], quality["after"]["perplexity"]);
    QCOMPARE(copy["perplexity_before"], quality["before"]["perplexity"]);
    const QJsonObject done = result.jsonLines().constLast();
    QCOMPARE(done["event"].toString(), QString("done"));
    QCOMPARE(done["prompts"].toInt(), 8);
    QCOMPARE(done["decoders"].toObject().keys(), (QStringList{"original", "vanilla", "with"}));
    QVERIFY(recipe == "space" || done["decoders"]["with"]["draft_steps"].toInt() > 0);
    for (const char* ratio : {"over_copy", "over_model"}) {
        QVERIFY(done[ratio]["ratio"].toDouble() > 0.0);
        QVERIFY(done[ratio]["low"].toDouble() <= done[ratio]["high"].toDouble());
    }
    const ProgramRun heldOut = TinyTuning::run(compare + QStringList{"--held-out"});
    QVERIFY2(heldOut.exitCode == 0, heldOut.errors.constData());
    QVERIFY2(heldOut.output.contains("1 of 1 prompt"), heldOut.output.constData());
    QVERIFY2(heldOut.output.contains("times as fast as the copy's vanilla"),
             heldOut.output.constData());
    QVERIFY2(heldOut.output.contains("perplexity "), heldOut.output.constData());
}

QTEST_GUILESS_MAIN(SwiftRunTuneModelTest)
#include "swift_run_tune_model_test.moc"
