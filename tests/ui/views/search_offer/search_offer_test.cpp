// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/shown_words.h"
#include "tests/ui/views/layer_map/layer_map_run.h"
#include "ui/views/layer_map/history_view.h"
#include "ui/views/layer_map/layer_map_view.h"
#include "ui/views/matchness/matchness_view.h"
#include "ui/views/matchness/strip_view.h"
#include "ui/views/search_offer/search_offer.h"

#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

using namespace engine;
using namespace support;
using namespace ui;

namespace {

/// Makes skip sets itself, where that pays.
DecoderInfo choosingDecoder() {
    DecoderInfo info;
    info.name = "auto";
    info.title = "Auto";
    info.lockedLayers = {0, -1};
    info.settings = {{.name = "skip_layers",
                      .title = "Skipped layers",
                      .kind = SettingKind::Flag,
                      .initial = 1.0},
                     {.name = "search_beside",
                      .title = "Search beside the answers",
                      .kind = SettingKind::Flag,
                      .initial = 1.0},
                     {.name = "probing",
                      .title = "Time for probing",
                      .kind = SettingKind::Number,
                      .initial = 0.005}};
    return info;
}

DecoderInfo freeDecoder() {
    DecoderInfo info;
    info.name = "lookup";
    info.title = "Look-up";
    return info;
}

/// A model whose decoder is Auto, beside one that searches.
void sayAuto(ScriptedLink& link) {
    ModelLoaded loaded = loadedModel(6);
    loaded.decoders = {choosingDecoder(), searchingDecoderInfo()};
    link.say(loaded);
    link.say(DecoderChosen{choosingDecoder(), {}});
}

QPushButton* visibleButton(const QWidget& view, const QString& text) {
    for (QPushButton* button : view.findChildren<QPushButton*>())
        if (button->text() == text && button->isVisibleTo(&view))
            return button;
    return nullptr;
}

} // namespace

class SearchOfferTest : public QObject {
    Q_OBJECT

    std::unique_ptr<LayerMapRun> m_run;

    /// A model with these decoders, of which the first is chosen.
    void begin(std::vector<DecoderInfo> decoders, SettingValues settings = {}) {
        m_run = std::make_unique<LayerMapRun>(6);
        ModelLoaded loaded = loadedModel(6);
        loaded.decoders = decoders;
        m_run->engine->say(loaded);
        m_run->engine->say(DecoderChosen{decoders.front(), std::move(settings)});
        m_run->bridge->tick();
    }

    std::string wantedDecoder() const {
        const auto* choose = m_run->engine->lastSent<ChooseDecoder>();
        return choose == nullptr ? std::string() : choose->name;
    }

private slots:

    void whyNothingIsSearchedDependsOnTheDecoder() {
        m_run = std::make_unique<LayerMapRun>(6);
        QVERIFY(searchOffer(m_run->store).reason.isEmpty()); // no model
        begin({searchingDecoderInfo()}, searchingSettings());
        QVERIFY(searchOffer(m_run->store).reason.isEmpty()); // it will
        QVERIFY(searchOffer(m_run->store).action.isEmpty());
        begin({choosingDecoder(), searchingDecoderInfo()});
        QVERIFY(searchOffer(m_run->store)
                    .reason.startsWith(QStringLiteral(
                        "Auto itself tries a skip set only where drafting with one could pay")));
        QCOMPARE(searchOffer(m_run->store).action, QStringLiteral("Use SWIFT"));
        begin({freeDecoder(), searchingDecoderInfo()});
        QCOMPARE(searchOffer(m_run->store).reason,
                 QStringLiteral("Look-up does not search for a skip set. SWIFT searches "
                                "on every answer."));
        begin({freeDecoder()}); // nobody to offer
        QVERIFY(!searchOffer(m_run->store).reason.isEmpty());
        QVERIFY(searchOffer(m_run->store).action.isEmpty());
    }

    void whatIsSwitchedOffIsNamed() {
        const auto reasonWith = [this](SettingValues settings) {
            begin({choosingDecoder(), searchingDecoderInfo()}, std::move(settings));
            return searchOffer(m_run->store).reason;
        };
        QVERIFY(reasonWith({{"skip_layers", 0.0}, {"probing", 0.005}})
                    .startsWith(QStringLiteral("Auto tries no skip sets: in its parameters, "
                                               "\"Skipped layers\" is off. SWIFT")));
        QVERIFY(reasonWith({{"skip_layers", 1.0}, {"search_beside", 0.0}, {"probing", 0.0}})
                    .startsWith(QStringLiteral("Auto tries no skip sets: in its parameters, "
                                               "\"Time for probing\" is 0. SWIFT")));
        QVERIFY(reasonWith({{"skip_layers", 1.0}, {"search_beside", 0.0}, {"probing", 0.005}})
                    .startsWith(QStringLiteral("In the parameters of Auto, \"Search beside the "
                                               "answers\" is off. Auto itself tries")));
    }

    /// As CLaSp does.
    void aDecoderThatMakesASetInEveryAnswerNeedsNoOffer() {
        DecoderInfo info = choosingDecoder();
        info.settings.clear();
        begin({info, searchingDecoderInfo()});
        QVERIFY(searchOffer(m_run->store).reason.isEmpty());
        QVERIFY(searchOffer(m_run->store).action.isEmpty());
    }

    void everyEmptyPanelSaysWhyAndOffersTheSearch() {
        begin({choosingDecoder(), searchingDecoderInfo()});
        HistoryView history(m_run->context());
        MatchnessView matchness(m_run->context());
        MatchnessStripView strip(m_run->context());
        for (QWidget* view : {static_cast<QWidget*>(&history),
                              static_cast<QWidget*>(&matchness),
                              static_cast<QWidget*>(&strip)}) {
            view->resize(900, 300);
            view->show();
            m_run->bridge->tick();
            QVERIFY2(
                shownWords(*view).contains(QStringLiteral("Auto itself tries a skip set only")),
                qPrintable(shownWords(*view)));
        }
        for (QWidget* view : {static_cast<QWidget*>(&history), static_cast<QWidget*>(&matchness)}) {
            m_run->engine->sent.clear();
            QPushButton* use = visibleButton(*view, QStringLiteral("Use SWIFT"));
            QVERIFY(use != nullptr);
            use->click();
            QCOMPARE(wantedDecoder(), std::string("swift"));
        }
    }

    /// As in the parameters: once the engine has taken it.
    void theChoiceOfTheSearchIsUndone() {
        using Make = std::unique_ptr<View> (*)(const ViewContext&);
        for (const Make make : {Make([](const ViewContext& context) -> std::unique_ptr<View> {
                                    return std::make_unique<HistoryView>(context);
                                }),
                                Make([](const ViewContext& context) -> std::unique_ptr<View> {
                                    return std::make_unique<MatchnessView>(context);
                                })}) {
            begin({choosingDecoder(), searchingDecoderInfo()}, {{"probing", 0.25}});
            const std::unique_ptr<View> view = make(m_run->context());
            view->resize(900, 300);
            view->show();
            m_run->bridge->tick();
            visibleButton(*view, QStringLiteral("Use SWIFT"))->click();
            QCOMPARE(m_run->undo.count(), 0);
            m_run->engine->say(DecoderChosen{searchingDecoderInfo(), searchingSettings()});
            m_run->bridge->tick();
            QCOMPARE(m_run->undo.undoText(), QStringLiteral("decoder SWIFT"));
            m_run->undo.undo();
            QCOMPARE(wantedDecoder(), std::string("auto"));
            QCOMPARE(m_run->engine->lastSent<ChooseDecoder>()->settings.at("probing"),
                     SettingValue(0.25));
        }
    }

    /// The forecast stays with the model, whichever decoder is chosen.
    void theOfferTellsTheSpeedOnceItIsKnown() {
        begin({freeDecoder(), searchingDecoderInfo()});
        MatchnessView matchness(m_run->context());
        HistoryView history(m_run->context());
        DraftForecast forecast; // .8 of vanilla, and .64 with the search
        forecast.draftCost = 0.9;
        forecast.verifyCost = 1.6;
        forecast.draftSteps = 1.0;
        forecast.tokensPerRound = 2.0;
        forecast.searchShare = 0.25;
        m_run->engine->say(ForecastMade{forecast});
        for (QWidget* view : {static_cast<QWidget*>(&history), static_cast<QWidget*>(&matchness)}) {
            view->resize(900, 300);
            view->show();
            m_run->bridge->tick();
            QVERIFY(visibleButton(*view, QStringLiteral("Use SWIFT: about 0.64×")) != nullptr);
        }
    }

    /// As low as Inspect gives it.
    void theLowLayerMapStillOffersTheSearch() {
        begin({choosingDecoder(), searchingDecoderInfo()});
        LayerMapView map(m_run->context());
        map.resize(1000, 92);
        map.show();
        m_run->bridge->tick();
        QPushButton* find = visibleButton(map, QStringLiteral("Find a skip set with this chat"));
        QVERIFY(find != nullptr);
        QVERIFY(map.rect().contains(QRect(find->mapTo(&map, QPoint()), find->size())));
        QSignalSpy asked(&map, &LayerMapView::findAsked);
        find->click();
        QCOMPARE(asked.count(), 1);
        map.resize(1000, 300);
        QVERIFY(shownWords(map).contains(QStringLiteral("Auto itself tries a skip set only")));
    }

    void theOfferGoesOnceASearchHasBegun() {
        begin({choosingDecoder(), searchingDecoderInfo()});
        HistoryView history(m_run->context());
        history.resize(900, 300);
        history.show();
        m_run->bridge->tick();
        QVERIFY(visibleButton(history, QStringLiteral("Use SWIFT")) != nullptr);
        m_run->tryPlan(m_run->plan({2}, {3}), "influence", 20, true);
        m_run->bridge->tick();
        QVERIFY(visibleButton(history, QStringLiteral("Use SWIFT")) == nullptr);
        QVERIFY(!shownWords(history).contains(QStringLiteral("Auto itself tries")));
    }

    /// Auto scores a set now and then and goes on without one.
    void setsThatWereTriedAndAreNotUsedAreCounted() {
        begin({choosingDecoder(), searchingDecoderInfo()});
        MatchnessStripView strip(m_run->context());
        strip.resize(900, 300);
        strip.show();
        m_run->tryPlan(m_run->plan({2}, {3}), "influence", 20, false);
        m_run->bridge->tick();
        const QString tried = QStringLiteral("Auto has tried 1 skip set and uses none now.");
        QVERIFY(searchOffer(m_run->store).reason.contains(tried));
        QVERIFY(!searchOffer(m_run->store).reason.contains(QStringLiteral("tried none")));
        QVERIFY2(shownWords(strip).contains(tried), qPrintable(shownWords(strip)));
        QVERIFY(!shownWords(strip).contains(QStringLiteral("No set has been scored")));
        m_run->tryPlan(m_run->plan({1}, {3}), "influence", 21, false);
        m_run->bridge->tick();
        QVERIFY(searchOffer(m_run->store)
                    .reason.contains(QStringLiteral("Auto has tried 2 skip sets and uses none")));
    }

    void aChoiceThatTheEngineDoesNotTakeIsToldSo() {
        auto link = std::make_unique<ScriptedLink>();
        link->isBusy = true;
        sayAuto(*link);
        begin({choosingDecoder()});
        RunStore store;
        EngineBridge bridge(std::move(link), store);
        HistoryView history({m_run->theme, store, bridge, m_run->selection, m_run->undo});
        history.resize(900, 300);
        history.show();
        bridge.tick();
        visibleButton(history, QStringLiteral("Use SWIFT"))->click();
        QVERIFY(shownWords(history).contains(QStringLiteral("The engine accepts no commands")));
    }

    void aReplayOffersNoDecoder() {
        auto link = std::make_unique<ScriptedLink>();
        link->recording = std::make_unique<Playback>(
            0.0, Playback::kAllAtOnce, [] { return std::chrono::steady_clock::time_point{}; });
        sayAuto(*link);
        begin({choosingDecoder()});
        RunStore store;
        EngineBridge bridge(std::move(link), store);
        HistoryView history({m_run->theme, store, bridge, m_run->selection, m_run->undo});
        history.resize(900, 300);
        history.show();
        bridge.tick();
        QVERIFY(shownWords(history).contains(QStringLiteral("On this model it has tried none.")));
        QVERIFY(!shownWords(history).contains(QStringLiteral("SWIFT searches")));
        QVERIFY(visibleButton(history, QStringLiteral("Use SWIFT")) == nullptr);
    }
};

QTEST_MAIN(SearchOfferTest)
#include "search_offer_test.moc"
