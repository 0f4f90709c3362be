// SPDX-License-Identifier: Apache-2.0
// swift-run tune on a tiny model: from prompts to an adapter that drafts.
#include "app/exit_codes.h"
#include "engine/loading/drafts/draft_adapter.h"
#include "tests/app/tune/tiny_tuning.h"

#include <QJsonArray>
#include <QSet>
#include <QTest>

#include <cmath>
#include <csignal>

using support::ProgramRun;
using test_support::TinyTuning;
using test_support::waitForEvent;

namespace {

/// Steps of a run that is stopped in the middle: many more than pass until it is.
constexpr int kLongRun = 150;

QStringList keysOf(const QJsonObject& object) {
    QStringList keys = object.keys();
    keys.sort();
    return keys;
}

QStringList sorted(QStringList words) {
    words.sort();
    return words;
}

} // namespace

class SwiftRunTuneTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void theAdapterFitsItsModelAndNoOther();
    void draftsWithItAreVanillasTokens_data();
    void draftsWithItAreVanillasTokens();
    void everyEventHasItsFields();
    void theTableForPeopleNamesWhatWasMade();
    void theSameSeedGivesTheSameFile();
    void whatWasCollectedIsTrainedOnLater();
    void answersCanBeTrainedOnAnew();
    void aKilledRunGoesOnToTheSameFile();
    void aKillAmongTheAnswersLosesOnlyTheNewest();
    void aPauseTakesNoTimeFromTheRun();
    void ctrlCKeepsWhatIsThere();
    void itCanBecomeTheAdapterOfTheModel();
    void theBetterAdapterStaysInUse();
    void anEarlierAdapterIsReplaced();
    void itNamesItsDataAndTheirLicences();
    void theBestStateCanBeUsedWhileItIsTrained();
    void aTrainingKeepsToItsMemory();

private:
    engine::DraftAdapter adapter(const QString& name) const;

    /// Where the adapter lies that is in use.
    QString used() const {
        return QString("memory/draft-adapters/%1.safetensors")
            .arg(QString::fromStdString(m_tuning.fingerprint()));
    }

    /// The file of a long run that nothing has stopped, without its date; made once.
    QByteArray undisturbed() const;

    TinyTuning m_tuning;
    QList<QJsonObject> m_lines; // of the run that made "first"
};

/// Fails by exception.
engine::DraftAdapter SwiftRunTuneTest::adapter(const QString& name) const {
    auto read = engine::readDraftAdapter(m_tuning.path(name).toStdString());
    ENGINE_CHECK(read.hasValue(), "{}", read.error().message);
    return std::move(read).value();
}

QByteArray SwiftRunTuneTest::undisturbed() const {
    if (!m_tuning.isThere("calm"))
        TinyTuning::run(m_tuning.command("calm", {}, kLongRun));
    return m_tuning.withoutDate("calm");
}

void SwiftRunTuneTest::initTestCase() {
    const ProgramRun result = TinyTuning::run(m_tuning.command("first", {"--json"}));
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    m_lines = result.jsonLines();
    QVERIFY(m_tuning.isThere("first"));
    QVERIFY2(!m_tuning.isThere("first.work"), qPrintable(m_tuning.workFiles("first").join(' ')));
    QVERIFY(!m_tuning.withoutDate("first").isEmpty());
}

void SwiftRunTuneTest::theAdapterFitsItsModelAndNoOther() {
    const auto check = [&](const QString& model) {
        return TinyTuning::run(
            {"tune", "--check", m_tuning.path("first"), "--model", m_tuning.path(model)});
    };
    const ProgramRun fits = check("model");
    QVERIFY2(fits.exitCode == 0, fits.errors.constData());
    for (const char* part : {"Trained for model on", "window 16", "fits model"})
        QVERIFY2(fits.output.contains(part), fits.output.constData());
    const ProgramRun slashed = check("model/");
    QVERIFY2(slashed.output.contains("fits model"), slashed.output.constData());
    const ProgramRun other = check("other");
    QCOMPARE(other.exitCode, int(app::kUsage));
    QVERIFY2(other.errors.contains("was trained for the model"), other.errors.constData());
}

void SwiftRunTuneTest::draftsWithItAreVanillasTokens_data() {
    QTest::addColumn<QStringList>("sampling");
    QTest::newRow("greedy") << QStringList{};
    QTest::newRow("sampled") << QStringList{"--temperature", "0.7", "--seed", "3"};
}

void SwiftRunTuneTest::draftsWithItAreVanillasTokens() {
    QFETCH(QStringList, sampling);
    const auto done = [&](const QStringList& decoder) {
        return TinyTuning::run(QStringList{"generate",
                                           "--model",
                                           m_tuning.path("model"),
                                           "--backend",
                                           "plain",
                                           "--prompt",
                                           "abc ab",
                                           "--max-tokens",
                                           "60",
                                           "--json"} +
                               sampling + decoder)
            .jsonLines()
            .constLast();
    };
    const QJsonObject vanilla = done({"--decoder", "vanilla"});
    const QJsonObject tuned =
        done({"--decoder", "tuned", "--draft-adapter", m_tuning.path("first"), "--set", "th=0"});
    QCOMPARE(vanilla["tokens"].toArray().size(), qsizetype{60});
    QCOMPARE(tuned["tokens"].toArray(), vanilla["tokens"].toArray());
    QVERIFY(tuned["metrics"]["accepted"].toInt() > 0);
}

void SwiftRunTuneTest::everyEventHasItsFields() {
    const QMap<QString, QStringList> fields = {
        {"start",
         {"event",
          "recipe",
          "model",
          "fingerprint",
          "profile",
          "seed",
          "threads",
          "precision",
          "trained_weights",
          "answer_tokens",
          "epochs",
          "steps",
          "minutes",
          "memory_bytes",
          "disk_bytes"}},
        {"collect", {"event", "prompts", "answer_tokens", "planned", "tokens_per_s", "eta_s"}},
        {"step", {"event", "step", "steps", "loss", "parts", "rate", "tokens_per_s", "eta_s"}},
        {"eval", {"event", "step", "acceptance", "tokens_per_round", "best", "tasks"}},
        {"checkpoint", {"event", "path"}},
        {"best", {"event", "path", "step", "acceptance", "tokens_per_round", "held_out"}},
        {"prices", {"event", "when", "plain_ms", "c", "v", "rounds", "break_even", "drafted"}},
        {"remark", {"event", "text"}},
        {"done",
         {"event",
          "path",
          "bytes",
          "acceptance",
          "tokens_per_round",
          "held_out",
          "tasks",
          "head_coverage",
          "answer_tokens",
          "steps",
          "seconds"}}};
    QSet<QString> seen;
    QList<int> steps;
    for (const QJsonObject& line : m_lines) {
        const QString event = line["event"].toString();
        seen.insert(event);
        QVERIFY2(fields.contains(event), qPrintable(event));
        QCOMPARE(keysOf(line), sorted(fields[event]));
        if (event == "step") {
            steps.append(line["step"].toInt());
            QCOMPARE(keysOf(line["parts"].toObject()),
                     (QStringList{"gradient", "likelihood", "overlap", "stream"}));
        }
        if (event == "prices") {
            QVERIFY(line["when"] == "start" || line["when"] == "end");
            QCOMPARE(keysOf(line["v"].toObject()), (QStringList{"2", "3", "4"}));
            QVERIFY(line["plain_ms"].toDouble() > 0.0 && line["c"].toDouble() > 0.0);
            QVERIFY(line["rounds"].toInt() >= 3);
        }
        if (event == "eval")
            QCOMPARE(line["acceptance"].toArray().size(), qsizetype{4});
    }
    QCOMPARE(seen.size(), fields.size());
    QCOMPARE(steps, (QList<int>{10, 20, 30, 40, 50, 60}));

    const QJsonObject start = m_lines.constFirst();
    QCOMPARE(start["event"].toString(), QString("start"));
    QCOMPARE(start["model"].toString(), QString("model"));
    QCOMPARE(start["fingerprint"].toString().toStdString(), m_tuning.fingerprint());
    QCOMPARE(start["steps"].toInt(), 60);
    QVERIFY(start["minutes"].isNull());

    const QJsonObject done = m_lines.constLast();
    QCOMPARE(done["event"].toString(), QString("done"));
    QCOMPARE(done["path"].toString(), m_tuning.path("first"));
    QCOMPARE(done["bytes"].toInt(), static_cast<int>(m_tuning.read("first").size()));
    QCOMPARE(done["held_out"].toBool(), true);
    QCOMPARE(done["head_coverage"].toDouble(), 1.0);
    QCOMPARE(done["tasks"].toObject().keys(), QStringList{"letters"});
    QVERIFY(done["answer_tokens"].toInt() >= 1500);
    QVERIFY(done["seconds"]["train"].toDouble() > 0.0);
    QVERIFY(done["seconds"]["collect"].toDouble() > 0.0);
    const double accepted = done["acceptance"][0].toDouble();
    QVERIFY2(accepted > 0.2, qPrintable(QString::number(accepted))); // guessing gives a sixteenth
}

void SwiftRunTuneTest::theTableForPeopleNamesWhatWasMade() {
    QStringList command = m_tuning.command("table", {}, 10);
    command[command.indexOf("--model") + 1] += u'/'; // as a shell completes it
    const ProgramRun result = TinyTuning::run(command);
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    const QByteArray path = m_tuning.path("table").toUtf8();
    for (const QByteArray& part : {path + ": ", QByteArray("10 steps"), QByteArray("letters")})
        QVERIFY2(result.output.contains(part), result.output.constData());
    QVERIFY2(result.errors.contains("answer tokens are few"), result.errors.constData());
    QVERIFY2(result.errors.contains("[model: "), result.errors.constData());
}

void SwiftRunTuneTest::theSameSeedGivesTheSameFile() {
    const ProgramRun same = TinyTuning::run(m_tuning.command("same"));
    QVERIFY2(same.exitCode == 0, same.errors.constData());
    QCOMPARE(m_tuning.withoutDate("same"), m_tuning.withoutDate("first"));
    const ProgramRun other = TinyTuning::run(m_tuning.command("seed", {"--seed", "2"}));
    QVERIFY2(other.exitCode == 0, other.errors.constData());
    QVERIFY(adapter("seed").tensors != adapter("first").tensors);
}

void SwiftRunTuneTest::whatWasCollectedIsTrainedOnLater() {
    const ProgramRun collected =
        TinyTuning::run(m_tuning.command("later", {"--collect-only", "--json"}));
    QVERIFY2(collected.exitCode == 0, collected.errors.constData());
    const QJsonObject done = collected.jsonLines().constLast();
    QCOMPARE(done["event"].toString(), QString("done"));
    QCOMPARE(done["path"].toString(), m_tuning.path("later.work"));
    QVERIFY(done["answer_tokens"].toInt() >= 1500);
    QVERIFY(!m_tuning.isThere("later"));
    const ProgramRun trained = TinyTuning::run(m_tuning.command("later", {"--resume", "--json"}));
    QVERIFY2(trained.exitCode == 0, trained.errors.constData());
    QStringList measured; // when the prices were
    for (const QJsonObject& line : trained.jsonLines()) {
        QVERIFY(line["event"] != "collect");
        if (line["event"] == "prices")
            measured << line["when"].toString();
    }
    QCOMPARE(measured, QStringList{"end"}); // there was no model before
    const QJsonObject seconds = trained.jsonLines().constLast()["seconds"].toObject();
    QVERIFY(seconds["collect"].isNull()); // an earlier run has collected
    QVERIFY(seconds["train"].toDouble() > 0.0);
    QCOMPARE(m_tuning.withoutDate("later"), m_tuning.withoutDate("first"));
    QVERIFY(!m_tuning.isThere("later.work"));
}

void SwiftRunTuneTest::answersCanBeTrainedOnAnew() {
    const ProgramRun kept = TinyTuning::run(m_tuning.command("anew", {"--keep-work"}, 10));
    QVERIFY2(kept.exitCode == 0, kept.errors.constData());
    QVERIFY(m_tuning.workFiles("anew").contains("rows-00000.bin"));
    const QByteArray rows = m_tuning.read("anew.work/rows-00000.bin");
    const ProgramRun result = TinyTuning::run(
        m_tuning.command("anew", {"--retrain", "--keep-work", "--set", "rate=0.005"}, 20));
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    QCOMPARE(m_tuning.read("anew.work/rows-00000.bin"), rows);
    const ProgramRun whole =
        TinyTuning::run(m_tuning.command("whole", {"--set", "rate=0.005"}, 20));
    QVERIFY2(whole.exitCode == 0, whole.errors.constData());
    QCOMPARE(m_tuning.withoutDate("anew"), m_tuning.withoutDate("whole"));
}

/// Checkpoints are written before every step, and the kill comes behind the tenth.
void SwiftRunTuneTest::aKilledRunGoesOnToTheSameFile() {
    QVERIFY(!undisturbed().isEmpty());
    QProcess process;
    process.start(TinyTuning::program(),
                  m_tuning.command("killed", {"--checkpoint-minutes", "0", "--json"}, kLongRun));
    QVERIFY(!waitForEvent(process, "step").isEmpty());
    process.kill();
    process.waitForFinished(-1);
    QVERIFY2(process.exitStatus() == QProcess::CrashExit, "the run was over before it was killed");
    QVERIFY(!m_tuning.isThere("killed"));
    QVERIFY(m_tuning.workFiles("killed").contains("checkpoint-1.bin"));

    const ProgramRun rest =
        TinyTuning::run(m_tuning.command("killed", {"--resume", "--json"}, kLongRun));
    QVERIFY2(rest.exitCode == 0, rest.errors.constData());
    for (const QJsonObject& line : rest.jsonLines())
        if (line["event"] == "step")
            QVERIFY(line["step"].toInt() >= 10); // the kill may come before the tenth is kept
    QCOMPARE(m_tuning.withoutDate("killed"), undisturbed());
    QVERIFY(!m_tuning.isThere("killed.work"));
}

/// What is there is kept behind every prompt.
void SwiftRunTuneTest::aKillAmongTheAnswersLosesOnlyTheNewest() {
    const QStringList more = {
        "--collect-only", "--answer-tokens", "1000000", "--checkpoint-minutes", "0", "--json"};
    QProcess process;
    process.start(TinyTuning::program(), m_tuning.bare("cut", more));
    QVERIFY(!waitForEvent(process, "collect", [](const QJsonObject& line) {
                 return line["prompts"].toInt() >= 3;
             }).isEmpty());
    process.kill();
    process.waitForFinished(-1);
    QVERIFY(m_tuning.workFiles("cut").contains("rows-unfinished.bin"));
    QProcess rest;
    rest.start(TinyTuning::program(), m_tuning.bare("cut", more + QStringList{"--resume"}));
    // On a busy machine a line may come before the first answer has ended, or behind later ones.
    const QJsonObject first = waitForEvent(
        rest, "collect", [](const QJsonObject& line) { return line["prompts"].toInt() >= 1; });
    QVERIFY(!first.isEmpty());
    // Those of the three prompts before the kill, and of all of these but the one that is answered.
    QVERIFY2(first["answer_tokens"].toInt() >= (first["prompts"].toInt() + 2) * 190,
             qPrintable(QString::number(first["answer_tokens"].toInt())));
    rest.kill();
    rest.waitForFinished(-1);
}

/// It is held until another run with the same limit has used up its time; then it collects on.
void SwiftRunTuneTest::aPauseTakesNoTimeFromTheRun() {
    const QStringList timed = {"--collect-only", "--minutes", "0.05", "--json"};
    QProcess held;
    held.start(TinyTuning::program(), m_tuning.bare("held", timed));
    QVERIFY(!waitForEvent(held, "collect").isEmpty());
    ::kill(static_cast<pid_t>(held.processId()), SIGSTOP);
    const ProgramRun other = TinyTuning::run(m_tuning.bare("beside", timed));
    QVERIFY2(other.exitCode == 0, other.errors.constData());
    ::kill(static_cast<pid_t>(held.processId()), SIGCONT);
    const int tokens = waitForEvent(held, "done")["answer_tokens"].toInt();
    held.waitForFinished(-1);
    QCOMPARE(held.exitCode(), 0);
    const int others = other.jsonLines().constLast()["answer_tokens"].toInt();
    QVERIFY2(3 * tokens > others, qPrintable(QString("%1, %2").arg(tokens).arg(others)));
}

/// Whether it is still collecting or training already: both go on.
void SwiftRunTuneTest::ctrlCKeepsWhatIsThere() {
    QVERIFY(!undisturbed().isEmpty());
    for (const char* event : {"collect", "step"}) {
        QProcess process;
        process.start(TinyTuning::program(),
                      m_tuning.command("stopped", {"--json", "--overwrite"}, kLongRun));
        QVERIFY(!waitForEvent(process, event).isEmpty());
        ::kill(static_cast<pid_t>(process.processId()), SIGINT);
        QVERIFY(!waitForEvent(process, "remark", [](const QJsonObject& line) {
                     return line["text"].toString().contains("--resume");
                 }).isEmpty());
        process.waitForFinished(-1);
        QCOMPARE(process.exitCode(), int(app::kCancelled));
        QVERIFY(!m_tuning.isThere("stopped"));
        const ProgramRun rest =
            TinyTuning::run(m_tuning.command("stopped", {"--resume"}, kLongRun));
        QVERIFY2(rest.exitCode == 0, rest.errors.constData());
        QCOMPARE(m_tuning.withoutDate("stopped"), undisturbed());
        QVERIFY(QFile::remove(m_tuning.path("stopped")));
    }
}

void SwiftRunTuneTest::itCanBecomeTheAdapterOfTheModel() {
    const ProgramRun result = TinyTuning::run(m_tuning.command("used", {"--use"}, 20));
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    const QString kept = used();
    QVERIFY2(m_tuning.isThere(kept), qPrintable(kept));
    QCOMPARE(m_tuning.read(kept), m_tuning.read("used"));
    const ProgramRun drafted = TinyTuning::run({"generate",
                                                "--model",
                                                m_tuning.path("model"),
                                                "--backend",
                                                "plain",
                                                "--prompt",
                                                "abc ab",
                                                "--max-tokens",
                                                "40",
                                                "--decoder",
                                                "tuned",
                                                "--set",
                                                "th=0",
                                                "--json"});
    QVERIFY2(drafted.exitCode == 0, drafted.errors.constData());
    QVERIFY(drafted.jsonLines().constLast()["metrics"]["draft_steps"].toInt() > 0);
    QVERIFY(QFile::remove(m_tuning.path(kept))); // for the other functions
}

void SwiftRunTuneTest::theBetterAdapterStaysInUse() {
    QDir().mkpath(m_tuning.path("memory/draft-adapters"));
    m_tuning.write(used(), m_tuning.read("first"));
    const QStringList hardly = {"--use", "--json", "--set", "start=random", "--set", "rate=1e-7"};
    const ProgramRun worse = TinyTuning::run(m_tuning.command("worse", hardly, 1));
    QVERIFY2(worse.exitCode == 0, worse.errors.constData());
    const double figure = worse.jsonLines().constLast()["tokens_per_round"].toDouble();
    QVERIFY(figure < m_lines.constLast()["tokens_per_round"].toDouble() - 0.01);
    const QString told = "the new adapter writes " + QString::number(figure, 'f', 3);
    QVERIFY2(worse.errors.contains(told.toUtf8()), worse.errors.constData());
    QVERIFY2(worse.errors.contains("that one stayed in use"), worse.errors.constData());
    QCOMPARE(m_tuning.read(used()), m_tuning.read("first"));

    m_tuning.write(used(), m_tuning.read("worse"));
    const ProgramRun better = TinyTuning::run(m_tuning.command("better", {"--use"}));
    QVERIFY2(better.exitCode == 0, better.errors.constData());
    QVERIFY2(better.errors.contains("the new one was put to use"), better.errors.constData());
    QCOMPARE(m_tuning.read(used()), m_tuning.read("better"));
    QCOMPARE(m_tuning.read(used() + ".before"), m_tuning.read("worse")); // that gave way
    QVERIFY(QFile::remove(m_tuning.path(used())));                       // for the other functions
}

void SwiftRunTuneTest::anEarlierAdapterIsReplaced() {
    QCOMPARE(TinyTuning::run(m_tuning.command("twice", {}, 10)).exitCode, 0);
    const QByteArray before = m_tuning.withoutDate("twice");
    const ProgramRun again = TinyTuning::run(m_tuning.command("twice", {}, 20));
    QVERIFY2(again.exitCode == 0, again.errors.constData());
    QVERIFY(m_tuning.withoutDate("twice") != before);
}

void SwiftRunTuneTest::itNamesItsDataAndTheirLicences() {
    m_tuning.giveChatTemplate();
    QStringList train =
        m_tuning.command("named", {"--licence", "CC BY 4.0", "--self-prompts", "3"}, 10);
    train.removeAll("--raw");
    const ProgramRun result = TinyTuning::run(train);
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    QVERIFY(!m_tuning.isThere("named.work")); // nor the prompts in it
    const ProgramRun check = TinyTuning::run(
        {"tune", "--check", m_tuning.path("named"), "--model", m_tuning.path("model")});
    QVERIFY2(check.output.contains("data: data.jsonl (CC BY 4.0), prompts that the model wrote "
                                   "itself (the model's own text)"),
             check.output.constData());
}

void SwiftRunTuneTest::theBestStateCanBeUsedWhileItIsTrained() {
    QProcess process;
    process.start(TinyTuning::program(), m_tuning.command("half", {"--json"}, 20'000));
    const QJsonObject best = waitForEvent(process, "best");
    ::kill(static_cast<pid_t>(process.processId()), SIGSTOP);
    QCOMPARE(best["path"].toString(), m_tuning.path("half.work/best.safetensors"));
    QCOMPARE(best["acceptance"].toArray().size(), qsizetype{4});
    QVERIFY(best["held_out"].toBool());
    QVERIFY(!m_tuning.isThere("half"));
    const ProgramRun check = TinyTuning::run(
        {"tune", "--check", best["path"].toString(), "--model", m_tuning.path("model"), "--json"});
    QVERIFY2(check.exitCode == 0, check.errors.constData());
    const QJsonObject metrics = check.jsonLines().constLast()["holds"]["metrics"].toObject();
    QVERIFY(metrics["step"].toInt() >= best["step"].toInt());
    ::kill(static_cast<pid_t>(process.processId()), SIGCONT);
    ::kill(static_cast<pid_t>(process.processId()), SIGINT);
    process.waitForFinished(-1);
    QCOMPARE(process.exitCode(), int(app::kCancelled));
    QVERIFY(m_tuning.isThere("half.work/best.safetensors")); // with what it could go on from
    const ProgramRun anew =
        TinyTuning::run(m_tuning.command("half", {"--anew", "--collect-only"}, 20'000));
    QVERIFY2(anew.exitCode == 0, anew.errors.constData());
    QVERIFY(!m_tuning.isThere("half.work/best.safetensors"));
}

void SwiftRunTuneTest::aTrainingKeepsToItsMemory() {
    const double needed = m_lines.constFirst()["memory_bytes"].toDouble() / 1e6;
    QVERIFY(needed > 100.0);
    const auto with = [&](double megabytes) {
        return m_tuning.command("limited", {"--memory-mb", QString::number(megabytes)}, 10);
    };
    support::expectRefusal(TinyTuning::run(with(100.0)),
                           app::kNoMemory,
                           {QString("about %1 MB of memory").arg(std::ceil(needed)),
                            "--memory-mb allows 100",
                            "--set head"});
    QVERIFY(!m_tuning.isThere("limited.work"));
    const ProgramRun enough = TinyTuning::run(with(needed + 1.0));
    QVERIFY2(enough.exitCode == 0, enough.errors.constData());
}

QTEST_GUILESS_MAIN(SwiftRunTuneTest)
#include "swift_run_tune_test.moc"
