// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/views/layer_map/layer_map_run.h"
#include "ui/views/search_offer/skip_set_finder.h"

#include <QSignalSpy>
#include <QTest>

using namespace engine;
using namespace support;
using namespace ui;

namespace {

DecoderInfo freeDecoder() {
    DecoderInfo info;
    info.name = "lookup";
    info.title = "Look-up";
    return info;
}

/// As searchingDecoderInfo(), with the number of trials.
DecoderInfo boundedDecoder() {
    DecoderInfo info = searchingDecoderInfo();
    SettingInfo trials;
    trials.name = "S";
    trials.kind = SettingKind::Integer;
    trials.initial = 1000.0;
    info.settings.push_back(trials);
    info.profiles = {{"guided", "", {}}};
    return info;
}

SettingValues boundedSettings() {
    SettingValues values = searchingSettings();
    values["S"] = 1000.0;
    return values;
}

SubmitPrompt question() {
    SubmitPrompt prompt;
    prompt.messages = {{"user", "Name three colours.", {}}};
    prompt.task = "chat";
    return prompt;
}

} // namespace

class SkipSetFinderTest : public QObject {
    Q_OBJECT

    std::unique_ptr<LayerMapRun> m_run;
    std::unique_ptr<SkipSetFinder> m_finder;

    void say(EventContent content) {
        m_run->engine->say(std::move(content));
        m_run->bridge->tick();
    }

    const SubmitPrompt* submitted() const { return m_run->engine->lastSent<SubmitPrompt>(); }

    double trialsWanted() const {
        const auto* change = m_run->engine->lastSent<ChangeSettings>();
        return change == nullptr ? -1.0 : std::get<double>(change->values.at("S"));
    }

    /// Up to the first trials of the answer.
    void beginSearch() {
        m_finder->start(question());
        say(DecoderChosen{boundedDecoder(), boundedSettings()});
        say(promptStarted(submitted()->promptId));
        m_run->tryPlan(m_run->plan({2}, {3}), "influence", 27, true);
        m_run->bridge->tick();
    }

    void finish(FinishReason reason) {
        PromptFinished finished = promptFinished(submitted()->promptId);
        finished.reason = reason;
        say(finished);
    }

private slots:

    void init() {
        m_run = std::make_unique<LayerMapRun>(6);
        m_finder = std::make_unique<SkipSetFinder>(*m_run->bridge, m_run->store, m_run->undo);
        ModelLoaded loaded = loadedModel(6);
        loaded.decoders = {freeDecoder(), boundedDecoder()};
        say(loaded);
        say(DecoderChosen{freeDecoder(), {}});
    }

    void cleanup() {
        m_finder.reset();
        m_run.reset();
    }

    void itChoosesTheDecoderThatSearchesAndAnswersTheQuestionAgain() {
        m_finder->start(question());
        QVERIFY(m_finder->isRunning());
        const auto* chosen = m_run->engine->lastSent<ChooseDecoder>();
        QCOMPARE(chosen->name, std::string("swift"));
        QCOMPARE(textOf(chosen->settings, "profile"), std::string("guided"));
        QVERIFY(submitted() == nullptr); // its settings are not known yet
        say(DecoderChosen{boundedDecoder(), boundedSettings()});
        QCOMPARE(trialsWanted(), 48.0);
        QCOMPARE(m_run->engine->lastSent<ChangeSettings>()->decoder, std::string("swift"));
        QCOMPARE(submitted()->messages.front().content, std::string("Name three colours."));
        QCOMPARE(submitted()->task, std::string("chat"));
    }

    void theDecoderThatItChoseIsUndone() {
        beginSearch();
        QCOMPARE(m_run->undo.count(), 1);
        finish(FinishReason::EndToken);
        m_finder->stop();
        m_run->undo.undo();
        QCOMPARE(m_run->engine->lastSent<ChooseDecoder>()->name, std::string("lookup"));
        m_run->undo.redo();
        const auto* again = m_run->engine->lastSent<ChooseDecoder>();
        QCOMPARE(again->name, std::string("swift"));
        QCOMPARE(textOf(again->settings, "profile"), std::string("guided"));
    }

    void progressIsToldWithEveryTrial() {
        QSignalSpy changed(m_finder.get(), &SkipSetFinder::changed);
        beginSearch();
        QCOMPARE(m_finder->sentence(),
                 QStringLiteral("Searching: 1 set tried, best matchness 1.00. Esc stops."));
        const auto before = changed.count();
        m_run->tryPlan(m_run->plan({2, 3}, {3}), "random", 12, false);
        m_run->bridge->tick();
        QVERIFY(m_finder->sentence().startsWith(QStringLiteral("Searching: 2 sets tried")));
        QCOMPARE(changed.count(), before + 1);
    }

    void itEndsWithASetOnceTheSearchIsOver() {
        beginSearch();
        say(PhaseChanged{DecoderPhase::Accelerate});
        QVERIFY(m_run->engine->lastSent<StopGeneration>() != nullptr);
        finish(FinishReason::Cancelled);
        QVERIFY(!m_finder->isRunning());
        QCOMPARE(m_finder->sentence(),
                 QStringLiteral("Found a set that skips 2 sublayers with matchness 1.00. The next "
                                "answer uses it."));
        QCOMPARE(trialsWanted(), 1000.0); // the settings are as they were
    }

    void aShortAnswerIsGivenAgainAsLongAsSetsAreTried() {
        beginSearch();
        const std::uint64_t first = submitted()->promptId;
        finish(FinishReason::EndToken);
        QVERIFY(m_finder->isRunning());
        QVERIFY(submitted()->promptId != first);
        say(promptStarted(submitted()->promptId));
        finish(FinishReason::EndToken); // without any trial
        QVERIFY(!m_finder->isRunning());
        QVERIFY(m_finder->sentence().startsWith(QStringLiteral("Found a set")));
    }

    void aBadSetIsToldToBeNone() {
        m_finder->start(question());
        say(DecoderChosen{boundedDecoder(), boundedSettings()});
        say(promptStarted(submitted()->promptId));
        TrialFinished bad = trial("random", 1, 0.4, 0.4, m_run->plan({2}, {3}));
        say(bad);
        m_run->install(m_run->plan({2}, {3}), "better");
        m_run->bridge->tick();
        say(PhaseChanged{DecoderPhase::Accelerate});
        finish(FinishReason::Cancelled);
        QVERIFY2(m_finder->sentence().startsWith(QStringLiteral(
                     "No useful set was found. Of 1 tried, the best has matchness .40")),
                 qPrintable(m_finder->sentence()));
    }

    void anAnswerTooShortForAnyTrialIsToldSo() {
        m_finder->start(question());
        say(DecoderChosen{boundedDecoder(), boundedSettings()});
        say(promptStarted(submitted()->promptId));
        finish(FinishReason::EndToken);
        QVERIFY(!m_finder->isRunning());
        QVERIFY(m_finder->sentence().contains(QStringLiteral("the answer is too short")));
    }

    void theUserStopsItAndKeepsWhatWasFound() {
        beginSearch();
        m_finder->stop();
        QVERIFY(m_run->engine->lastSent<StopGeneration>() != nullptr);
        finish(FinishReason::Cancelled);
        QVERIFY(!m_finder->isRunning());
        QVERIFY(m_finder->sentence().startsWith(QStringLiteral("The search was stopped. Found")));
        QCOMPARE(trialsWanted(), 1000.0);
    }

    void whatStandsInTheWayIsOneSentence() {
        m_finder->start(std::nullopt);
        QVERIFY(!m_finder->isRunning());
        QVERIFY(m_finder->sentence().startsWith(QStringLiteral("Send a message first")));
        say(promptStarted(3));
        m_finder->start(question());
        QVERIFY(!m_finder->isRunning());
        QVERIFY(m_finder->sentence().startsWith(QStringLiteral("Wait for the answer")));
        say(promptFinished(3));
        say(ModelUnloaded{});
        m_finder->start(question());
        QVERIFY(m_finder->sentence().startsWith(QStringLiteral("Open a model first")));
        QVERIFY(submitted() == nullptr);
    }

    /// The chat's question may be of another task than the answer before it.
    void whatWasTriedForAnotherTaskIsNotCounted() {
        say(DecoderChosen{boundedDecoder(), boundedSettings()});
        TrialFinished tried = trial("random", 1, 0.5, 0.5, m_run->plan({2}, {3}));
        tried.task = "story";
        for (int i = 0; i < 3; ++i)
            say(tried);
        m_finder->start(question());
        say(promptStarted(submitted()->promptId));
        tried.task = "chat";
        tried.best = 0.9;
        say(tried);
        QCOMPARE(m_finder->sentence(),
                 QStringLiteral("Searching: 1 set tried, best matchness .90. Esc stops."));
        finish(FinishReason::EndToken);
        QVERIFY(m_finder->isRunning());
    }

    void anErrorOfTheEngineEndsIt() {
        beginSearch();
        EngineFailed failure =
            failedTask("submit_prompt", {ErrorCode::Internal, "It broke.", "Try."});
        failure.promptId = submitted()->promptId;
        say(failure);
        QVERIFY(!m_finder->isRunning());
        QCOMPARE(m_finder->sentence(), QStringLiteral("The search failed: It broke. Try."));
    }

    void anotherDecoderEndsItAndKeepsItsOwnSettings() {
        beginSearch();
        m_run->engine->sent.clear();
        say(DecoderChosen{freeDecoder(), {}});
        QVERIFY(!m_finder->isRunning());
        QVERIFY(m_run->engine->lastSent<ChangeSettings>() == nullptr);
        QVERIFY(m_run->engine->lastSent<StopGeneration>() != nullptr);
    }

    void whileAnotherDecoderWaitsTheSettingsGoBackToTheOneThatSearched() {
        beginSearch();
        m_run->bridge->choose(ChooseDecoder{"lookup"});
        m_finder->stop();
        finish(FinishReason::Cancelled);
        QCOMPARE(m_run->engine->lastSent<ChooseDecoder>()->name, std::string("lookup"));
        QCOMPARE(m_run->engine->lastSent<ChangeSettings>()->decoder, std::string("swift"));
        QCOMPARE(trialsWanted(), 1000.0);
    }

    /// The engine keeps the choice and its settings when a model goes.
    void anotherModelEndsItAndTheSettingsAreAsTheyWere() {
        for (const EventContent& change :
             {EventContent(loadedModel(6)), EventContent(ModelUnloaded{})}) {
            cleanup();
            init();
            beginSearch();
            m_run->engine->sent.clear();
            say(change);
            QVERIFY(!m_finder->isRunning());
            QVERIFY(m_run->engine->lastSent<StopGeneration>() != nullptr);
            QCOMPARE(trialsWanted(), 1000.0);
        }
    }

    void theUsersSettingsAreToldUntilTheEngineHasThemAgain() {
        const auto usersTrials = [this] {
            return std::get<double>(m_finder->usersSettings().at("S"));
        };
        SettingValues searching = boundedSettings();
        searching["S"] = 48.0;
        beginSearch();
        say(SettingsChanged{searching});
        QCOMPARE(usersTrials(), 1000.0);
        m_finder->stop();
        finish(FinishReason::Cancelled);
        QVERIFY(!m_finder->isRunning());
        QCOMPARE(usersTrials(), 1000.0); // the engine has not answered yet
        m_finder->start(question());     // and what a search begins with is the user's, too
        say(promptStarted(submitted()->promptId));
        QCOMPARE(trialsWanted(), 48.0);
        m_finder->stop();
        finish(FinishReason::Cancelled);
        QCOMPARE(trialsWanted(), 1000.0);
        say(SettingsChanged{boundedSettings()});
        SettingValues later = boundedSettings();
        later["S"] = 500.0;
        say(SettingsChanged{later});
        QCOMPARE(usersTrials(), 500.0);
    }

    void whatTheUserChangesMeanwhileStaysAsItIs() {
        SettingValues searching = boundedSettings();
        searching["S"] = 48.0;
        for (const SettingValues& wanted :
             {SettingValues{{"S", 300.0}}, SettingValues{{"profile", std::string("guided")}}}) {
            cleanup();
            init();
            beginSearch();
            say(SettingsChanged{searching});
            m_run->bridge->send(ChangeSettings{wanted});
            SettingValues chosen = boundedSettings();
            chosen["S"] = 300.0;
            say(SettingsChanged{chosen});
            QCOMPARE(m_finder->usersSettings().at("S"), SettingValue(300.0));
            m_finder->stop();
            finish(FinishReason::Cancelled);
            QVERIFY(m_run->engine->lastSent<ChangeSettings>()->values == wanted);
        }
    }

    void whatTheEngineRefusesMeanwhileChangesNothing() {
        SettingValues searching = boundedSettings();
        searching["S"] = 48.0;
        beginSearch();
        say(SettingsChanged{searching});
        m_run->bridge->send(ChangeSettings{{{"S", -1.0}}});
        say(failedTask("change_settings", {ErrorCode::InvalidInput, "It is too small.", ""}));
        m_finder->stop();
        finish(FinishReason::Cancelled);
        QCOMPARE(trialsWanted(), 1000.0);
    }

    void settingsThatTheEngineRefusesAreAsItTellsThem() {
        SettingValues searching = boundedSettings();
        searching["S"] = 48.0;
        beginSearch();
        say(SettingsChanged{searching});
        m_finder->stop();
        finish(FinishReason::Cancelled);
        say(failedTask("change_settings", {ErrorCode::Internal, "It broke.", ""}));
        QCOMPARE(m_finder->usersSettings().at("S"), SettingValue(48.0));
    }

    void whatCameOfItIsOldWithTheNextAnswer() {
        m_finder->start(std::nullopt);
        QVERIFY(!m_finder->sentence().isEmpty());
        say(promptStarted(9));
        QVERIFY(m_finder->sentence().isEmpty());
    }
};

QTEST_MAIN(SkipSetFinderTest)
#include "skip_set_finder_test.moc"
