// SPDX-License-Identifier: GPL-3.0-only
// A search beside the answers: how views call what it found, and what they say of SWIFT before and
// after it is chosen.
#include "tests/ui/support/figures_run.h"
#include "tests/ui/views/layer_map/layer_map_run.h"
#include "ui/shell/bars/status_strip.h"
#include "ui/shell/widgets/live_label.h"
#include "ui/views/controls/decoder_switch.h"
#include "ui/views/controls/parameters_view.h"
#include "ui/views/layer_map/layer_map_view.h"
#include "ui/views/layer_map/skip_set_facts.h"
#include "ui/views/matchness/matchness_view.h"
#include "ui/views/search_offer/search_offer.h"
#include "ui/views/search_offer/swift_forecast.h"
#include "ui/views/speed/gain_finding.h"

#include <QLabel>
#include <QPushButton>
#include <QTest>

using namespace engine;
using namespace support;
using namespace ui;

namespace {

DecoderInfo besideDecoder() {
    DecoderInfo info;
    info.name = "auto";
    info.title = "Auto";
    info.lockedLayers = {0, -1};
    for (const char* name : {"skip_layers", "search_beside", "probing"})
        info.settings.push_back(
            {.name = name, .title = name, .kind = SettingKind::Flag, .initial = 1.0});
    return info;
}

const SettingValues kBesideOn = {{"skip_layers", 1.0}, {"search_beside", 1.0}};

/// M = 2, c = .9, v = 1.6 with one draft: 2 / 2.5 = .8, and .64 with the search.
DraftForecast loss() {
    return {.matchness = 1.0,
            .draftCost = 0.9,
            .verifyCost = 1.6,
            .draftSteps = 1.0,
            .tokensPerRound = 2.0,
            .tokens = 64,
            .searchShare = 0.25};
}

} // namespace

class SwiftForecastTest : public QObject {
    Q_OBJECT

    std::unique_ptr<LayerMapRun> m_run;

    void say(EventContent content) {
        m_run->engine->say(std::move(content));
        m_run->bridge->tick();
    }

    /// A set that leaves out one attention and one MLP, found beside the answers.
    void findOne() {
        const PlanOutline plan = m_run->plan({2}, {3});
        TrialFinished trial = support::trial("start", 1, 0.75, 0.75, plan);
        trial.isBeside = true;
        say(trial);
        PlanChanged change{.planId = 0, .plan = plan, .skipRatio = 0.05, .reason = "start"};
        change.isBeside = true;
        say(change);
    }

private slots:

    void init() {
        m_run = std::make_unique<LayerMapRun>(6);
        ModelLoaded loaded = loadedModel(6);
        loaded.decoders = {besideDecoder(), searchingDecoderInfo()};
        say(loaded);
        say(DecoderChosen{besideDecoder(), kBesideOn});
    }

    void whoSearchesBesideItsAnswersOffersNoOtherSearch() {
        QVERIFY(searchesBeside(m_run->store));
        QVERIFY(searchOffer(m_run->store).reason.isEmpty());
        say(SettingsChanged{{{"skip_layers", 1.0}, {"search_beside", 0.0}}});
        QVERIFY(!searchesBeside(m_run->store));
        QVERIFY(
            searchOffer(m_run->store).reason.contains(QStringLiteral("\"search_beside\" is off")));
    }

    void theLayerMapSaysThatTheSetIsNotUsed() {
        LayerMapView map(m_run->context());
        map.resize(1000, 300);
        map.show();
        m_run->bridge->tick();
        findOne();
        QCOMPARE(map.notice(),
                 QStringLiteral("Found beside the chat and not used: what SWIFT would gain with it "
                                "is not measured yet."));
        say(ForecastMade{loss()});
        QCOMPARE(map.notice(),
                 QStringLiteral("Found beside the chat and not used: SWIFT would run at about "
                                "0.64× with it."));
        QVERIFY(map.shownSet() == std::optional(m_run->plan({2}, {3})));
    }

    /// What the model could do without says nothing about the speed of what it does.
    void figuresOfSkippingIgnoreASetThatIsNotUsed() {
        findOne();
        QVERIFY(m_run->store.search().foundBeside() != nullptr);
        QVERIFY(m_run->store.search().used() == nullptr);
        QVERIFY(!savedMsPerSublayer(m_run->store));
        QVERIFY(!gainFinding(m_run->store));
        m_run->install(m_run->plan({1}, {}), "better");
        m_run->bridge->tick();
        QVERIFY(m_run->store.search().foundBeside() == nullptr);
        QVERIFY(m_run->store.search().used() != nullptr);
    }

    void theForecastStandsBesideTheButtonBeforeItIsPressed() {
        ParametersView parameters(m_run->context(), {});
        parameters.show();
        auto* note = parameters.findChild<QLabel*>("swift_note");
        QVERIFY(note->text().contains(
            QStringLiteral("known a moment after an answer of some 50 tokens")));
        findOne();
        say(ForecastMade{loss()});
        QCOMPARE(note->text(),
                 QStringLiteral("SWIFT would run at about 0.64× here while it searches, and at "
                                "0.80× afterwards, as measured on 64 tokens: skipping layers does "
                                "not pay on this model. The text would be the same."));
        QPushButton* use = nullptr;
        for (QPushButton* button : parameters.findChildren<QPushButton*>())
            if (button->text().startsWith(QStringLiteral("Use SWIFT")))
                use = button;
        QVERIFY(use != nullptr && use->isVisibleTo(&parameters));
        QCOMPARE(use->text(), QStringLiteral("Use SWIFT: about 0.64×"));
        use->click();
        const auto* chosen = m_run->engine->lastSent<ChooseDecoder>();
        QVERIFY(chosen != nullptr);
        QCOMPARE(chosen->name, std::string("swift"));
        // It begins with what was found beside.
        QVERIFY(chosen->settings.at("start") == SettingValue(std::string("library")));
        // Behind that, the forecast waits for what is measured.
        say(DecoderChosen{searchingDecoderInfo(), support::searchingSettings()});
        QVERIFY(!use->isVisibleTo(&parameters));
        QCOMPARE(note->text(),
                 QStringLiteral("The forecast is about 0.64×; the next answer measures it."));
    }

    void whatPaysOnlyBehindTheSearchSaysSo() {
        DraftForecast gain = loss();
        gain.verifyCost = 0.9; // 1.11, and .89 with the search
        say(ForecastMade{gain});
        QVERIFY(forecastSentence(m_run->store)
                    .endsWith(QStringLiteral("pays only when its search has ended.")));
        gain.verifyCost = 1.1; // 1.00, and .80 with the search
        say(ForecastMade{gain});
        QVERIFY(
            forecastSentence(m_run->store).contains(QStringLiteral("does not pay on this model")));
        gain.verifyCost = 0.9;
        gain.searchShare = 0.05; // 1.06
        say(ForecastMade{gain});
        QVERIFY(forecastSentence(m_run->store).endsWith(QStringLiteral("pays on this model.")));
        gain.searchShare = 0.0; // as in an older recording
        say(ForecastMade{gain});
        QCOMPARE(forecastSentence(m_run->store),
                 QStringLiteral("SWIFT would run at about 1.11× here, as measured on 64 tokens: "
                                "skipping layers pays on this model."));
        gain.tokens = 1;
        say(ForecastMade{gain});
        QVERIFY(forecastSentence(m_run->store).contains(QStringLiteral("measured on 1 token:")));
    }

    void behindAnAnswerWithSwiftTheMeasuredSpeedStandsBesideTheForecast() {
        ViewStage stage;
        stage.say(ForecastMade{loss()});
        sayBaseline(stage);
        sayAnswer(stage);
        const QString check = forecastCheck(stage.store);
        QVERIFY2(check.startsWith(QStringLiteral("The forecast was about 0.64×; measured in this "
                                                 "chat: 1.3")),
                 qPrintable(check));
    }

    void theSwitchBesideTheInputTellsItToo() {
        DecoderSwitch choice(m_run->context());
        QVERIFY(!choice.segment(2)->toolTip().contains(QStringLiteral("0.64")));
        say(ForecastMade{loss()});
        QVERIFY(choice.segment(2)->toolTip().contains(QStringLiteral("about 0.64×")));
        QVERIFY(!choice.segment(1)->toolTip().contains(QStringLiteral("0.64")));
    }

    void aForecastLastsUntilThereIsAnotherModel() {
        say(ForecastMade{loss()});
        say(DecoderChosen{searchingDecoderInfo(), support::searchingSettings()});
        QVERIFY(!forecastSentence(m_run->store).isEmpty());
        say(loadedModel(6));
        QVERIFY(forecastSentence(m_run->store).isEmpty());
        QCOMPARE(forecastAction(m_run->store, QStringLiteral("Use SWIFT")),
                 QStringLiteral("Use SWIFT"));
    }

    void matchnessCountsTheSetsThatWereTried() {
        MatchnessView view(m_run->context());
        view.resize(600, 300);
        view.show();
        m_run->bridge->tick();
        QCOMPARE(view.subtitle(), QStringLiteral("of sets tried beside the answers"));
        findOne();
        QCOMPARE(view.subtitle(), QStringLiteral("now .75, 1 set tried"));
        m_run->tryPlan(m_run->plan({1}, {}), "random", 10, false);
        m_run->bridge->tick();
        QVERIFY(view.subtitle().endsWith(QStringLiteral(", 2 sets tried")));
    }

    void theStripSaysThatThePauseIsUsed() {
        StatusStrip strip(m_run->theme, m_run->store, *m_run->bridge);
        strip.show();
        const auto says = [&strip](const QString& words) {
            for (const LiveLabel* label : strip.findChildren<LiveLabel*>())
                if (label->text().contains(words))
                    return true;
            return false;
        };
        findOne();
        QVERIFY(!says(QStringLiteral("searching in the pause")));
        say(PhaseChanged{DecoderPhase::Optimise});
        QVERIFY(says(QStringLiteral("searching in the pause, 1 set")));
        say(PhaseChanged{DecoderPhase::Plain});
        QVERIFY(!says(QStringLiteral("searching in the pause")));
    }
};

QTEST_MAIN(SwiftForecastTest)
#include "swift_forecast_test.moc"
