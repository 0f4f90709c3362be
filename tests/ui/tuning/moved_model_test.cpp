// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/tuning/scripted_tuning.h"

#include <QSignalSpy>
#include <QTest>

using namespace support;
using namespace ui;

/// A training belongs to what the model is and not to where it lies: it is found where the model
/// was moved or copied to, and by a second window. With a script in place of swift-run.
class MovedModelTest : public QObject, private TuningBench {
    Q_OBJECT

    /// As the program tells it in Script::started().
    static constexpr const char* kFingerprint = "f00d";

    static TuningModel modelAt(const QString& path,
                               const QString& fingerprint = QLatin1String(kFingerprint)) {
        TuningModel model = Script::model();
        model.path = path;
        model.name = path.section(u'/', -1);
        model.fingerprint = fingerprint;
        return model;
    }

    static TuningModel original() { return modelAt(QStringLiteral("/models/Tiny")); }

    static TuningModel moved() { return modelAt(QStringLiteral("/elsewhere/Renamed")); }

    TuningChoice choiceFor(const TuningModel& model, TuningRecipe recipe) const {
        TuningChoice choice =
            recipe == TuningRecipe::Draft ? m_script->choice() : m_script->copyChoice(recipe);
        choice.model = model;
        return choice;
    }

    /// It has made a step, and was stopped.
    void trainAndStop(const TuningModel& model, TuningRecipe recipe = TuningRecipe::Draft) {
        session().setRecipe(recipe);
        load(model);
        m_script->say({Script::started(), Script::stepped(10, 5.0)});
        session().start(choiceFor(model, recipe));
        QTRY_COMPARE(session().run().losses.size(), std::size_t(1));
        session().stop();
        QTRY_VERIFY(state() == TuningState::Stopped);
    }

    /// As after a restart, with this model.
    void reopenWith(const TuningModel& model, TuningRecipe recipe = TuningRecipe::Draft) {
        m_session.reset();
        m_session = std::make_unique<TuningSession>(m_script->places());
        session().setRecipe(recipe);
        load(model);
    }

private slots:

    void init() { renew(); }

    void cleanup() { clear(); }

    void aTrainingIsFoundThoughItsModelWasMoved_data() {
        QTest::addColumn<bool>("isCopy");
        QTest::newRow("a layer") << false;
        QTest::newRow("a copy of the model") << true;
    }

    void aTrainingIsFoundThoughItsModelWasMoved() {
        QFETCH(const bool, isCopy);
        const TuningRecipe recipe = isCopy ? TuningRecipe::LayerSkip : TuningRecipe::Draft;
        trainAndStop(original(), recipe);
        const QString output = session().output();
        reopenWith(moved(), recipe);
        QVERIFY(state() == TuningState::Stopped);
        QCOMPARE(session().output(), output);
        QCOMPARE(session().run().losses.size(), std::size_t(1));
        QCOMPARE(session().replacedOutput(moved()), isCopy ? output : QString());
        session().goOn();
        QTRY_COMPARE(told().size(), 2);
        QString expected =
            QString(told()[0]).replace("--model /models/Tiny", "--model /elsewhere/Renamed");
        if (isCopy)
            expected += QStringLiteral(" --resume");
        QCOMPARE(told()[1], expected.replace("--overwrite", "--resume"));
    }

    void aTrainingThatAnEarlierVersionKeptIsFound_data() {
        QTest::addColumn<bool>("wasMoved");
        QTest::newRow("where its model was") << false;
        QTest::newRow("where its model was moved to") << true;
    }

    /// Under the hash of the model's path, as one of which no more is known.
    void aTrainingThatAnEarlierVersionKeptIsFound() {
        QFETCH(const bool, wasMoved);
        trainAndStop(Script::model());
        const QString adapter = session().adapter();
        QVERIFY(adapter.contains(QStringLiteral("/tiny-")));
        reopenWith(wasMoved ? moved() : original());
        QVERIFY(state() == TuningState::Stopped);
        QCOMPARE(session().adapter(), adapter);
        QVERIFY(session().canGoOn());
        session().start(choiceFor(session().choice().model, TuningRecipe::Draft));
        QCOMPARE(session().adapter(), adapter); // also where it begins anew
    }

    void anotherModelAtTheSamePathHasNoneOfIt() {
        trainAndStop(Script::model());
        const QString adapter = session().adapter();
        const TuningModel other = modelAt(QStringLiteral("/models/Tiny"), QStringLiteral("beef"));
        load(other); // also without a restart
        QVERIFY(state() == TuningState::None);
        QVERIFY(session().adapter() != adapter);
        QVERIFY(!TuningFiles::isKept(m_script->places().folder, other, TuningRecipe::Draft));
        load(original());
        QVERIFY(state() == TuningState::Stopped);
        QCOMPARE(session().adapter(), adapter);
    }

    void theOneOfTwoTrainingsThatWasKeptForThePathIsShown() {
        trainAndStop(Script::model());
        const QString first = session().adapter();
        TuningModel copy = moved();
        copy.fingerprint.clear(); // as for earlier versions
        trainAndStop(copy);
        const QString second = session().adapter();
        QVERIFY(first != second);
        reopenWith(original());
        QCOMPARE(session().adapter(), first);
        reopenWith(moved());
        QCOMPARE(session().adapter(), second);
    }

    void aCopyOfTheModelGoesOnWithItsTraining() {
        trainAndStop(original());
        const int number = session().number();
        load(moved());
        QCOMPARE(session().number(), number); // nothing else came into sight
        QCOMPARE(session().choice().model.path, moved().path);
        session().goOn();
        QTRY_COMPARE(told().size(), 2);
        QVERIFY(told()[1].contains(QStringLiteral("--model /elsewhere/Renamed")));
    }

    void twoWindowsDoNotTrainAtOnce() {
        load(original());
        m_script->say({Script::started(), Script::stepped(10, 5.0)});
        session().start(choiceFor(original(), TuningRecipe::Draft));
        QTRY_COMPARE(session().run().losses.size(), std::size_t(1));
        TuningSession second(m_script->places());
        QSignalSpy refused(&second, &TuningSession::refused);
        second.setModel(moved()); // a copy
        QTRY_VERIFY(!second.isReading());
        for (const bool isAnew : {false, true}) {
            if (isAnew)
                second.start(choiceFor(moved(), TuningRecipe::Draft));
            else
                second.goOn();
            QCOMPARE(refused.size(), 1);
            QVERIFY(
                refused.takeFirst().front().toString().contains(QStringLiteral("at this moment")));
            QVERIFY(!second.isAtWork());
            QTRY_VERIFY(!second.isReading());
            QVERIFY(second.state() == TuningState::Stopped);
        }
        QCOMPARE(told().size(), 1);
        QVERIFY(state() == TuningState::Running);
    }

    void whatAnotherWindowHasTrainedMeanwhileIsShownFirst() {
        load(original());
        TuningSession second(m_script->places());
        QSignalSpy refused(&second, &TuningSession::refused);
        second.setModel(moved());
        QTRY_VERIFY(!second.isReading());
        QVERIFY(second.state() == TuningState::None);
        finish(choiceFor(original(), TuningRecipe::Draft));
        m_session.reset(); // and everything is on the disk
        m_script->endBy("wait");
        second.start(choiceFor(moved(), TuningRecipe::Draft));
        QCOMPARE(refused.size(), 1);
        QVERIFY(refused.front().front().toString().contains(QStringLiteral("since then")));
        QTRY_VERIFY(second.state() == TuningState::Finished);
        second.start(choiceFor(moved(), TuningRecipe::Draft)); // once it has been seen
        QCOMPARE(refused.size(), 1);
        QVERIFY(second.isAtWork());
    }
};

QTEST_GUILESS_MAIN(MovedModelTest)
#include "moved_model_test.moc"
