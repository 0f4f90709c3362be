// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/studio_stage.h"
#include "ui/studio/inspect_page.h"
#include "ui/views/layer_map/history_view.h"
#include "ui/views/round/round_view.h"

#include <QDockWidget>
#include <QToolButton>

#include <utility>

using namespace engine;
using namespace support;
using namespace ui;

namespace {

DecoderInfo decoderCalled(const char* name) {
    DecoderInfo info;
    info.name = info.title = name;
    return info;
}

/// Makes skip sets itself, where that pays.
DecoderInfo choosingDecoder() {
    DecoderInfo info = decoderCalled("auto");
    info.lockedLayers = {0, -1};
    info.settings = {setting("probing", "Probing", SettingKind::Number, 0.005)};
    return info;
}

DecoderInfo searchingDecoder() {
    DecoderInfo info = decoderCalled("swift");
    info.settings = {setting("skip_set", "Skip set", SettingKind::Text, std::string()),
                     setting("optimise", "Search", SettingKind::Flag, 1.0)};
    return info;
}

} // namespace

/// The middle of the Inspect workspace shows what the decoder has to show.
class InspectPageTest : public QObject {
    Q_OBJECT

    std::unique_ptr<StudioStage> m_stage;
    InspectPage* m_page = nullptr;
    bool m_isKept = false; ///< the window, for the next function

    using Face = InspectPage::Face;

    void choose(const DecoderInfo& info) {
        m_stage->say(DecoderChosen{info, {}});
        m_stage->settle();
    }

    void turnBy(const char* button) {
        for (QToolButton* each : m_page->findChildren<QToolButton*>())
            if (each->text() == QLatin1String(button) && each->isVisible())
                return each->click();
        QFAIL(button);
    }

    QDockWidget* dock(const char* id) const {
        return m_stage->studio->window().currentWorkspace()->dock(QLatin1String(id));
    }

    int matchnessWidth() const { return dock("inspect.matchness")->width(); }

    bool areHalves() const {
        return std::abs(matchnessWidth() - dock("inspect.speed")->width()) <= 6;
    }

private slots:

    /// A model that was just loaded: whatever was chosen before is forgotten.
    void init() {
        if (m_stage == nullptr) {
            m_stage = std::make_unique<StudioStage>();
            m_stage->open();
            m_page = m_stage->studio->window().findChild<InspectPage*>();
        }
        m_stage->studio->window().showWorkspace(1);
        ModelLoaded loaded = loadedModel(30, 1000);
        loaded.decoders = {searchingDecoder(), decoderCalled("lookahead"), choosingDecoder()};
        m_stage->say(loaded);
        m_stage->settle();
    }

    void cleanup() {
        if (!std::exchange(m_isKept, false))
            m_stage.reset();
    }

    void aDecoderThatDoesNotSearchBringsItsRounds() {
        choose(searchingDecoder());
        QVERIFY(m_page->face() == Face::Search);
        auto* history = m_page->findChild<HistoryView*>();
        auto* round = m_page->findChild<RoundView*>();
        QVERIFY(history->isVisible() && !round->isVisible());
        choose(decoderCalled("lookahead"));
        QVERIFY(m_page->face() == Face::Rounds);
        QVERIFY(!history->isVisible() && round->isVisible());
        const int before = history->refreshCount();
        m_stage->say(windowTrial("random", 1, 9, 9));
        m_stage->settle();
        QVERIFY(m_page->face() == Face::Search); // it searches after all
        QVERIFY(history->refreshCount() > before);
        choose(decoderCalled("jacobi"));
        QVERIFY(m_page->face() == Face::Rounds); // whatever was searched before
        m_isKept = true;
    }

    void aDecoderThatBeginsToSearchBringsTheSearchOnce() {
        choose(choosingDecoder());
        QVERIFY(m_page->face() == Face::Rounds);
        m_stage->say(windowTrial("random", 1, 9, 9));
        m_stage->settle();
        QVERIFY(m_page->face() == Face::Search);
        turnBy("Round");
        m_stage->say(windowTrial("random", 2, 10, 10));
        m_stage->settle();
        QVERIFY(m_page->face() == Face::Rounds); // the user wants it so
        m_isKept = true;
    }

    void whatTheUserTurnedToStaysUntilAnotherDecoder() {
        choose(decoderCalled("lookahead"));
        turnBy("Search");
        QVERIFY(m_page->face() == Face::Search);
        choose(decoderCalled("lookahead")); // with another setting
        QVERIFY(m_page->face() == Face::Search);
        choose(searchingDecoder());
        turnBy("Round");
        QVERIFY(m_page->face() == Face::Rounds);
        choose(decoderCalled("lookahead"));
        QVERIFY(m_page->face() == Face::Rounds);
        m_isKept = true;
    }

    void aKeyTurnsThePageFromAnywhere() {
        choose(searchingDecoder());
        MainWindow& window = m_stage->studio->window();
        window.showWorkspace(0);
        QAction* turn = window.actionCatalog().find(QStringLiteral("inspect.turn"));
        turn->trigger();
        QVERIFY(m_page->isVisible() && m_page->face() == Face::Rounds);
        turn->trigger();
        QVERIFY(m_page->face() == Face::Search);
        m_isKept = true;
    }

    void anotherModelBeginsAnew() {
        choose(choosingDecoder());
        m_stage->say(windowTrial("random", 1, 9, 9));
        m_stage->settle();
        QVERIFY(m_page->face() == Face::Search);
        m_stage->say(loadedModel(30, 1000));
        choose(choosingDecoder());
        QVERIFY(m_page->face() == Face::Rounds);
    }

    void matchnessHasLittleRoomWhileNothingIsSearched() {
        choose(searchingDecoder());
        QVERIFY(areHalves());
        const int half = matchnessWidth();
        choose(decoderCalled("lookahead"));
        QTRY_VERIFY(matchnessWidth() < half * 3 / 4);
        choose(searchingDecoder());
        QTRY_VERIFY(areHalves());
        m_isKept = true;
    }

    void theWidthIsSharedWhenTheWorkspaceComes() {
        m_stage->studio->window().showWorkspace(0);
        choose(decoderCalled("lookahead"));
        m_stage->studio->window().showWorkspace(1);
        QTRY_VERIFY(!areHalves());
        QVERIFY(matchnessWidth() < dock("inspect.speed")->width());
    }

    void matchnessKeepsTheWidthThatTheUserGave() {
        choose(searchingDecoder());
        m_stage->studio->window().currentWorkspace()->resizeDocks(
            {dock("inspect.matchness"), dock("inspect.speed")}, {600, 300}, Qt::Horizontal);
        m_stage->settle();
        const int own = matchnessWidth();
        QVERIFY(!areHalves());
        choose(decoderCalled("lookahead"));
        m_stage->settle();
        QCOMPARE(matchnessWidth(), own);
        choose(searchingDecoder());
        m_stage->settle();
        QCOMPARE(matchnessWidth(), own);
    }
};

QTEST_MAIN(InspectPageTest)
#include "inspect_page_test.moc"
