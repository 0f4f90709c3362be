// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/tuning/scripted_tuning.h"
#include "ui/tuning/model/tuned_output.h"
#include "ui/tuning/model/tuning_costs.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QSignalSpy>
#include <QTest>

using namespace support;
using namespace ui;

/// A training that makes a copy of the model: what it is told, where it writes, what it costs and
/// what comes out, with a script in place of swift-run.
class TunedCopyTest : public QObject, private TuningBench {
    Q_OBJECT

    void makeFolder(const QString& path, const QStringList& names, bool isTuned) const {
        QVERIFY(QDir().mkpath(path));
        for (const QString& name : names) {
            QFile file(path + QLatin1Char('/') + name);
            QVERIFY(file.open(QIODevice::WriteOnly));
        }
        if (!isTuned)
            return;
        QFile file(path + QStringLiteral("/tuning.json"));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(R"({"swift_studio_tuning":1,"files":["tuning.json","model.safetensors"]})");
    }

    /// For a LayerSkip copy of Tiny.
    static QString problemOf(const QString& output, const QString& replaced = {}) {
        return outputProblem(output, Script::model(), TuningRecipe::LayerSkip, replaced);
    }

private slots:

    void init() { renew(); }

    void cleanup() { clear(); }

    void theProgramIsToldTheRecipeAndWhereToWrite() {
        TuningChoice choice = m_script->copyChoice(TuningRecipe::Space);
        choice.isFull = true;
        choice.tokens = 25'000;
        const auto read = tuningChoiceOf(toJson(choice));
        QVERIFY(read);
        const QString arguments = argumentsOf(*read, QStringLiteral("/kept/adapter")).join(u' ');
        QVERIFY(arguments.contains(QStringLiteral("--recipe space --out ") + choice.output));
        QVERIFY(arguments.contains(QStringLiteral("--answer-tokens 25000")));
        QVERIFY(arguments.contains(QStringLiteral("--set full=on")));
        QVERIFY(!arguments.contains(QStringLiteral("--use")));
        QVERIFY(!arguments.contains(QStringLiteral("/kept/adapter")));
        choice.output.clear();
        QVERIFY(!tuningChoiceOf(toJson(choice))); // it has no place
    }

    void aFolderOfOtherFilesIsNeverReplaced() {
        const QString place = m_script->path(QStringLiteral("out"));
        QVERIFY(problemOf(place).isEmpty());
        makeFolder(place, {}, false);
        QVERIFY(problemOf(place).isEmpty()); // an empty one
        makeFolder(place, {QStringLiteral("model.safetensors")}, true);
        QVERIFY(problemOf(place).isEmpty()); // an earlier copy
        makeFolder(place, {QStringLiteral("notes.txt")}, true);
        QVERIFY(problemOf(place).contains(place));
        const QString other = m_script->path(QStringLiteral("other"));
        makeFolder(other + QStringLiteral("-rejected"), {QStringLiteral("notes.txt")}, false);
        QVERIFY(problemOf(other).contains(QStringLiteral("other-rejected")));
        QVERIFY(!problemOf({}).isEmpty());
        QVERIFY(!problemOf(QStringLiteral("here")).isEmpty());
        QVERIFY(!problemOf(m_script->path(QStringLiteral("prompts.jsonl"))).isEmpty());
    }

    void anotherCopyIsNotReplaced_data() {
        QTest::addColumn<QString>("folder");
        QTest::addColumn<QByteArray>("content");
        QTest::addColumn<bool>("isOther");
        const QString place = QStringLiteral("copy");
        const auto contentOf = [](const char* model, const char* recipe) {
            QByteArray content("{'swift_studio_tuning':1,'files':['tuning.json'],'model':'");
            content += QByteArray(model) + "','recipe':{'name':'" + recipe + "'}}";
            return content.replace('\'', '"');
        };
        QTest::newRow("the same") << place << contentOf("Tiny", "layerskip") << false;
        QTest::newRow("another model") << place << contentOf("Other", "layerskip") << true;
        QTest::newRow("another recipe") << place << contentOf("Tiny", "space") << true;
        QTest::newRow("a rejected one")
            << place + QStringLiteral("-rejected") << contentOf("Other", "layerskip") << true;
    }

    void anotherCopyIsNotReplaced() {
        QFETCH(const QString, folder);
        QFETCH(const QByteArray, content);
        QFETCH(const bool, isOther);
        const QString place = m_script->path(QStringLiteral("copy"));
        makeFolder(m_script->path(folder), {}, false);
        m_script->write(folder + QStringLiteral("/tuning.json"), content);
        QCOMPARE(problemOf(place).contains(QStringLiteral("another copy")), isOther);
        QCOMPARE(problemOf(place).isEmpty(), !isOther);
    }

    /// By its name it is another one.
    void aCopyOfAModelThatWasRenamedIsReplaced() {
        const QString place = m_script->path(QStringLiteral("copy"));
        makeFolder(place, {}, false);
        QByteArray content("{'swift_studio_tuning':1,'files':['tuning.json'],'model':'Before',"
                           "'fingerprint':'f00d','recipe':{'name':'layerskip'}}");
        m_script->write(QStringLiteral("copy/tuning.json"), content.replace('\'', '"'));
        TuningModel model = Script::model();
        QVERIFY(!outputProblem(place, model, TuningRecipe::LayerSkip).isEmpty());
        model.fingerprint = QStringLiteral("f00d");
        QVERIFY(outputProblem(place, model, TuningRecipe::LayerSkip).isEmpty());
        model.name = QStringLiteral("Before");
        model.fingerprint = QStringLiteral("beef");
        QVERIFY(!outputProblem(place, model, TuningRecipe::LayerSkip).isEmpty());
    }

    void theWorkOfAnotherTrainingIsNotDeleted() {
        session().setRecipe(TuningRecipe::LayerSkip);
        const QString place = m_script->copyChoice().output;
        session().start(m_script->copyChoice());
        QTRY_VERIFY(session().hasWork());
        session().stop();
        QTRY_VERIFY(state() == TuningState::Stopped);
        QVERIFY(problemOf(place, session().replacedOutput(Script::model())).isEmpty());
        const TuningModel other = Script::model(QStringLiteral("Other"));
        QVERIFY(session().replacedOutput(other).isEmpty());
        QVERIFY(problemOf(place, session().replacedOutput(other))
                    .startsWith(place + QStringLiteral(".work")));
    }

    void theUsualPlaceIsNamedByModelAndRecipe() {
        QCOMPARE(usualOutput(QStringLiteral("/m"), Script::model(), TuningRecipe::LayerSkip),
                 QStringLiteral("/m/Tiny-layerskip"));
        QVERIFY(usualOutput({}, Script::model(), TuningRecipe::Space).isEmpty());
        QVERIFY(usualOutput(QStringLiteral("/m"), TuningModel(), TuningRecipe::Space).isEmpty());
    }

    void theFolderAroundItIsMade() {
        TuningChoice choice = m_script->copyChoice();
        choice.output = m_script->path(QStringLiteral("new/models/copy"));
        session().start(choice);
        QVERIFY(QFileInfo(m_script->path(QStringLiteral("new/models"))).isDir());
        QTRY_COMPARE(told().size(), 1);
        session().stop();
        QTRY_VERIFY(state() == TuningState::Stopped);
        choice.output = m_script->path(QStringLiteral("prompts.jsonl/models/copy"));
        QSignalSpy faults(&session(), &TuningSession::faulted);
        session().start(choice);
        QCOMPARE(faults.size(), 1);
        QVERIFY(faults[0][0].toString().contains(QStringLiteral("prompts.jsonl/models")));
        QVERIFY(state() == TuningState::Stopped);
    }

    void aCopyIsMadeAndFound() {
        const QString copy = m_script->copyChoice().output;
        m_script->say({Script::copyStarted(),
                       Script::copyStepped(10, 0.25, 4.5),
                       Script::withExits(Script::evaluated(10, 0.5), "0.1,0.2,0.4"),
                       Script::copyDone(copy)});
        m_script->endBy("done");
        session().start(m_script->copyChoice());
        QTRY_VERIFY(state() == TuningState::Finished);
        QCOMPARE(session().newModel(), copy);
        QVERIFY(session().canCompare());
        QVERIFY(!session().isResultUsed());
        QCOMPARE(session().run().losses.front().drafting, std::optional(4.5));
        QCOMPARE(session().run().exits(), std::vector<double>({0.05, 0.2, 0.5}));
        const TuningQuality& quality = *session().run().done->quality;
        QCOMPARE(quality.perplexity, 12.24);
        QVERIFY(quality.isKept);
        QVERIFY(!told().front().contains(QStringLiteral("--overwrite")));
        m_session.reset();
        open();
        session().setRecipe(TuningRecipe::LayerSkip); // as after a restart
        QTRY_COMPARE(session().newModel(), copy);
        QVERIFY(QDir(copy).removeRecursively());
        QVERIFY(session().newModel().isEmpty());
    }

    void aCopyIsComparedWithItsModel() {
        const QString copy = m_script->copyChoice().output;
        m_script->say({Script::copyStarted(), Script::copyDone(copy)});
        m_script->endBy("done");
        session().setRecipe(TuningRecipe::LayerSkip);
        session().start(m_script->copyChoice());
        QTRY_VERIFY(state() == TuningState::Finished);
        m_script->sayCompared(Script::comparedCopy(1, 200, 100, 160));
        m_script->endComparisonBy("done");
        session().compare();
        QVERIFY(session().comparison().recipe() == TuningRecipe::LayerSkip);
        QTRY_VERIFY(session().comparison().state() == ComparisonState::Done);
        const QStringList toldOnce = Script::toldToCompare(copy);
        QCOMPARE(toldOnce.size(), 1);
        QVERIFY(toldOnce.front().startsWith(QStringLiteral("tune --json --model /models/Tiny")));
        QVERIFY(toldOnce.front().contains(QStringLiteral("--held-out")));
        QVERIFY(toldOnce.front().endsWith(QStringLiteral("--compare ") + copy));
        const ComparedSum sum = session().comparison().prompts().all();
        QCOMPARE(sum.with, 2.0);
        QCOMPARE(sum.without, 200.0 / 160.0);
        QCOMPARE(sum.score.value(), 0.25);
        QCOMPARE(sum.scoreBefore.value(), 0.5);
        session().setRecipe(TuningRecipe::Draft);
        QTRY_VERIFY(!session().isReading());
        QVERIFY(session().comparison().prompts().prompts().empty());
        session().setRecipe(TuningRecipe::LayerSkip);
        QTRY_VERIFY(session().comparison().state() == ComparisonState::Done); // it is kept
        QVERIFY(QDir(copy).removeRecursively());
        QVERIFY(!session().canCompare());
    }

    void eachRecipeHasItsOwnTraining() {
        session().setRecipe(TuningRecipe::LayerSkip);
        m_script->say({Script::copyStarted(), Script::copyStepped(10, 0.25, 4.5)});
        session().start(m_script->copyChoice());
        QTRY_COMPARE(session().run().losses.size(), std::size_t(1));
        session().setRecipe(TuningRecipe::Draft); // fixed while it runs
        QVERIFY(session().recipe() == TuningRecipe::LayerSkip);
        session().stop();
        QTRY_VERIFY(state() == TuningState::Stopped);
        QVERIFY(session().canGoOn());
        session().setRecipe(TuningRecipe::Space);
        QVERIFY(state() == TuningState::None);
        QVERIFY(session().run().losses.empty());
        session().setRecipe(TuningRecipe::Draft);
        QVERIFY(state() == TuningState::None);
        session().setRecipe(TuningRecipe::LayerSkip);
        QTRY_VERIFY(state() == TuningState::Stopped);
        QCOMPARE(session().run().losses.size(), std::size_t(1));
        session().goOn();
        QTRY_COMPARE(told().size(), 2);
        QVERIFY(told()[1].endsWith(QStringLiteral("--resume")));
        session().stop();
        QTRY_VERIFY(state() == TuningState::Stopped);
        session().start(m_script->copyChoice());
        QTRY_COMPARE(told().size(), 3);
        QVERIFY(told()[2].endsWith(QStringLiteral("--anew"))); // without the work of before
    }

    void aDamagedQualityIsNoResult() {
        const QByteArray line = Script::copyDone(QStringLiteral("/m"));
        QVERIFY(tuningEventOf(line));
        for (const auto& [is, was] : {std::pair(R"("agreement":0.96)", R"("agreement":1.2)"),
                                      std::pair(R"("kept":true)", R"("kept":1)"),
                                      std::pair(R"("perplexity":12.24)", R"("perplexity":0)"),
                                      std::pair("0.05,0.2", "0.05,2")})
            QVERIFY(!tuningEventOf(QByteArray(line).replace(is, was)));
    }

    void theDiskHasRoomForPromptsAndForWhatIsTrained() {
        TuningChoice choice = m_script->choice(); // a layer beside the model
        choice.tokens = 1000;
        const qint64 rows = costsOf(choice, {}, 4).diskBytes;
        QCOMPARE(rows, 2 * 1000 * (2 * 576 + 92));
        TuningRun run;
        run.facts.emplace().trainedWeights = 4'200'000;
        QCOMPARE(costsOf(choice, run, 4).diskBytes, rows + 4 * 20 * 4'200'000);
        choice.model.draftWeights = 4'100'000; // before anything has run
        const auto read = tuningChoiceOf(toJson(choice));
        QVERIFY(read);
        QCOMPARE(costsOf(*read, {}, 4).diskBytes, rows + 4 * 20 * 4'100'000);
        QCOMPARE(costsOf(*read, run, 4).diskBytes, rows + 4 * 20 * 4'200'000);
    }

    void theCostsFollowTheModelAndWhatWasMeasured() {
        TuningChoice choice = m_script->copyChoice();
        choice.length = TuningLength::Quick;
        QCOMPARE(costsOf(choice, {}, 4).memoryBytes, 0); // nothing is known of the model
        QCOMPARE(costsOf(choice, {}, 4).seconds, 0.0);
        choice.model.weights = 100'000'000;
        choice.model.loraWeights = 10'000'000;
        const TuningCosts lora = costsOf(choice, {}, 4);
        const qint64 ofPass = 838'860'800; // 800 MiB
        QCOMPARE(lora.memoryBytes, 100'000'000 * 4LL + 10'000'000 * 36LL + ofPass);
        QCOMPARE(lora.resultBytes, 200'000'000);
        choice.model.isFloat32 = true;
        QCOMPARE(costsOf(choice, {}, 4).resultBytes, 400'000'000);
        QCOMPARE(costsOf(choice, {}, 4).diskBytes - lora.diskBytes, 200'000'000);
        choice.model.isFloat32 = false;
        QVERIFY(lora.seconds > 0.0 && !lora.isMeasured);
        QVERIFY(costsOf(choice, {}, 8).seconds < lora.seconds);
        choice.isFull = true;
        const TuningCosts full = costsOf(choice, {}, 4);
        QCOMPARE(full.memoryBytes, 100'000'000 * 36LL + ofPass);
        // Four states of what is trained, three of which are kept.
        QCOMPARE(full.diskBytes - lora.diskBytes, 4 * 20 * 90'000'000LL);
        TuningRun run;
        run.collected.emplace().tokensPerSecond = 100.0;
        run.step.emplace().tokensPerSecond = 50.0;
        const TuningCosts measured = costsOf(choice, run, 4);
        QVERIFY(measured.isMeasured);
        QCOMPARE(measured.seconds, 300'000 / 100.0 + 2 * 300'000 / 50.0);
        choice.length = TuningLength::Minutes;
        choice.minutes = 25;
        QCOMPARE(costsOf(choice, run, 4).seconds, 1500.0);
        QCOMPARE(costsOf(m_script->choice(), {}, 4).seconds, 0.0); // of a layer it is not guessed
    }
};

QTEST_GUILESS_MAIN(TunedCopyTest)
#include "tuned_copy_test.moc"
