// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/studio/engine_stage.h"
#include "ui/origin/token_mark.h"
#include "ui/views/chat/messages/conversation_view.h"
#include "ui/views/controls/decoder_switch.h"
#include "ui/views/controls/parameters_view.h"
#include "ui/views/draft_tree/draft_tree_view.h"
#include "ui/views/draft_tree/mask_view.h"
#include "ui/views/layer_map/grid/layer_grid.h"
#include "ui/views/layer_map/history_view.h"
#include "ui/views/layer_map/layer_map_view.h"
#include "ui/views/matchness/matchness_strip.h"
#include "ui/views/matchness/matchness_view.h"
#include "ui/views/matchness/strip_view.h"
#include "ui/views/speed/latency_view.h"
#include "ui/views/speed/speed_view.h"

#include <QAbstractButton>
#include <QDockWidget>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QTableView>
#include <QTemporaryDir>

#include <algorithm>
#include <utility>

using namespace engine;
using namespace support;
using namespace ui;

/// The window on the real engine: what is done in it reaches the engine, and what the engine tells
/// stands on the screen with the same numbers.
class StudioEndToEndTest : public EngineStageTest {
    Q_OBJECT

    bool m_isKept = false; ///< the window, for the next function

    /// The same answer for all functions that only look at one.
    void beAnswered() {
        if (m_stage->count<PromptFinished>() == 0)
            answer(QStringLiteral("abc ab"));
    }

    /// Asks, and holds the engine in the middle of its answer.
    void beginAnswer(const QString& words, int passes = 120) {
        m_stage->gate.holdAtPass(passes);
        m_stage->ask(words);
        QTRY_VERIFY(m_stage->gate.isWaiting());
    }

    /// Everything of this workspace is drawn as it is now.
    void show(int workspace) {
        studio().window().showWorkspace(workspace);
        QTRY_VERIFY(studio().window().currentWorkspace()->isVisible());
        studio().bridge().refreshPictures();
    }

    /// Types a value into the control of a setting.
    void type(SettingsForm& form, const char* setting, const QString& value) {
        SettingRow* row = form.row(setting);
        QVERIFY2(row != nullptr, setting);
        auto* spin = row->findChild<QDoubleSpinBox*>();
        auto* line = spin->findChild<QLineEdit*>();
        line->setFocus();
        line->selectAll();
        QTest::keyClicks(line, value);
        QTest::keyClick(line, Qt::Key_Return);
    }

    /// The newest step of the events that drafted.
    StepFinished lastDraft() {
        const auto steps = m_stage->all<StepFinished>();
        const auto found = std::find_if(
            steps.rbegin(), steps.rend(), [](const auto& step) { return !step.draft.empty(); });
        return found == steps.rend() ? StepFinished() : *found;
    }

private slots:

    void init() {
        if (m_stage == nullptr)
            begin();
    }

    void cleanup() {
        if (!std::exchange(m_isKept, false))
            m_stage.reset();
    }

    void aSkipSetIsSearchedForOnTheChatWhenAskedFor() {
        studio().bridge().send(ChooseDecoder{"vanilla", {}});
        QTRY_COMPARE(studio().run().decoder()->name, std::string("vanilla"));
        answer(QStringLiteral("abc ab"));
        QVERIFY(studio().run().search().trials().empty());
        auto* map = m_stage->view<LayerMapView>();
        emit map->findAsked();
        const auto isOver = [&] {
            return map->notice().startsWith(QStringLiteral("Found a set")) ||
                   map->notice().startsWith(QStringLiteral("No useful set"));
        };
        QTRY_VERIFY2(isOver(), qPrintable(map->notice()));
        QVERIFY(studio().run().search().trials().size() >= 8);
        QVERIFY(map->shownSet().has_value());
        QTRY_COMPARE(std::get<double>(studio().run().settings().at("S")), 1000.0);
        QCOMPARE(studio().session().branch().size(), qsizetype{2}); // the chat is as it was
        trigger("chat.new");                                        // the other one is full
        answer(QStringLiteral("ba"));
        QVERIFY(map->notice().isEmpty()); // old news
    }

    void theAnswerOnTheScreenIsTheEnginesAnswer() {
        beAnswered();
        show(0);
        std::string text;
        qsizetype tokens = 0;
        for (const StepFinished& step : m_stage->all<StepFinished>()) {
            text += step.text;
            tokens += static_cast<qsizetype>(step.tokens.size());
        }
        for (const TextReleased& released : m_stage->all<TextReleased>())
            text += released.text;
        const PromptFinished end = m_stage->all<PromptFinished>().back();
        QVERIFY(tokens > 100);
        QCOMPARE(text, end.text);
        ConversationView& conversation = studio().chatView().conversation();
        QCOMPARE(conversation.cards().size(), std::size_t{2});
        QCOMPARE(conversation.cards().front()->body().source(), QStringLiteral("abc ab"));
        MessageBody& body = conversation.cards().back()->body();
        QCOMPARE(body.source(), QString::fromStdString(end.text));
        QCOMPARE(body.isStreaming(), false);
        QCOMPARE(static_cast<qsizetype>(body.tokens().size()), tokens);
        QCOMPARE(lastAnswer().state, MessageState::Finished);
        m_isKept = true;
    }

    void theFiguresUnderTheAnswerAreTheEngines() {
        beAnswered();
        const PromptFinished end = m_stage->all<PromptFinished>().back();
        const MessageFigures figures = lastAnswer().figures;
        QVERIFY(end.decoding.accepted > 0);
        QCOMPARE(figures.acceptedTokens, end.decoding.accepted);
        QCOMPARE(figures.draftSteps, end.decoding.draftSteps);
        QCOMPARE(figures.outputTokens, end.generation.outputTokens);
        QCOMPARE(figures.tokensPerStep, end.decoding.tokensPerRound());
        QCOMPARE(figures.tokensPerSecond, studio().run().speed().answer().tokensPerSecond());
        int drafted = 0;
        for (const TokenTrace& token : lastAnswer().tokens)
            drafted += token.fact.origin == TokenOrigin::Draft ||
                       token.fact.origin == TokenOrigin::Sibling;
        QCOMPARE(drafted, static_cast<int>(end.decoding.accepted));
        m_isKept = true;
    }

    void theSearchOnTheScreenIsTheEnginesSearch() {
        beAnswered();
        show(1);
        const auto plans = m_stage->all<PlanChanged>();
        const auto trials = m_stage->all<TrialFinished>();
        QVERIFY(!plans.empty());
        QVERIFY(trials.size() > 3);
        auto* map = m_stage->view<LayerMapView>();
        QCOMPARE(map->model().columnCount(), 6);
        QCOMPARE(map->model().state().skipped, plans.back().plan.skipped);
        LinePlot& plot = m_stage->view<MatchnessView>()->plot();
        std::size_t points = 0;
        for (int series = 0; series + 1 < plot.seriesCount(); ++series)
            points += plot.pointCount(series);
        QCOMPARE(points, trials.size());
        QCOMPARE(plot.pointCount(plot.seriesCount() - 1), trials.size());
        auto* history = m_stage->view<HistoryView>();
        QCOMPARE(history->table().rows.size(), plans.size());
        const auto measured =
            std::find_if(trials.rbegin(), trials.rend(), [&](const TrialFinished& trial) {
                return trial.plan == plans.back().plan;
            });
        QVERIFY(measured != trials.rend());
        const auto& cells = m_stage->view<MatchnessStripView>()->strip().cellModel().cells();
        QCOMPARE(cells.size(), measured->ticks.size());
        for (std::size_t i = 0; i < cells.size(); ++i) {
            QCOMPARE(cells[i].isMatch, measured->ticks[i] != 0);
            QCOMPARE(cells[i].token, visibleTokenText(QString::fromStdString(measured->window[i])));
        }
        m_isKept = true;
    }

    void theSpeedOnTheScreenIsTheEnginesSpeed() {
        beAnswered();
        show(1);
        double tokens = 0.0;
        double draftMs = 0.0;
        double verifyMs = 0.0;
        double ms = 0.0;
        double vanillaMs = 0.0;
        double compared = 0.0;
        double known = 0.0;                           // of a plain step, before each step
        const auto told = m_stage->all<Statistics>(); // one behind each step
        std::size_t made = 0;
        for (const StepFinished& step : m_stage->all<StepFinished>()) {
            const double plainMs = std::exchange(known, told[made++].baselineStepMs);
            if (step.isBaseline)
                continue;
            const auto count = static_cast<double>(step.tokens.size());
            tokens += count;
            if (plainMs > 0.0) {
                vanillaMs += plainMs * count;
                compared += count;
            }
            draftMs += step.draftMs;
            // What surrounds a plain step's pass counts as its time.
            verifyMs += step.verifyMs + (step.isPlain() ? step.otherMs : 0.0);
            ms += step.draftMs + step.verifyMs + step.searchMs + step.otherMs;
        }
        QVERIFY(compared > 0.0);
        const double baselineMs = vanillaMs / compared;
        auto* speed = m_stage->view<SpeedView>();
        const SpeedLog& log = studio().run().speed();
        QVERIFY2(
            speed->detail().contains(
                QStringLiteral("this answer %1\u00d7").arg(baselineMs * tokens / ms, 0, 'f', 2)),
            qPrintable(speed->detail()));
        QCOMPARE(speed->headline(), speedText(log.now()));
        QCOMPARE(log.chat().sums, m_stage->all<Statistics>().back().total);
        QCOMPARE(*lastAnswer().figures.speedup, *log.answer().speedup());
        const TimeShares shares = sharesOf(log.answer());
        QCOMPARE(shares.draftMs, draftMs);
        QCOMPARE(shares.verifyMs, verifyMs);
        QCOMPARE(m_stage->view<LatencyView>()->table().rows.size(), std::size_t{2});
        m_isKept = true;
    }

    void theDraftOnTheScreenIsTheNewestDraft() {
        beAnswered();
        show(1);
        const StepFinished step = lastDraft();
        QVERIFY(!step.draft.empty());
        const DraftComb comb = m_stage->view<DraftTreeView>()->picture().comb();
        QCOMPARE(comb.candidates, step.verifiedRows);
        QCOMPARE(comb.accepted, static_cast<int>(step.path.size()));
        studio()
            .window()
            .currentWorkspace()
            ->dock(QStringLiteral("inspect.verification_mask"))
            ->raise();
        auto* mask = m_stage->view<MaskView>();
        QTRY_VERIFY(mask->isVisible());
        studio().bridge().refreshPictures();
        QCOMPARE(mask->model().rowCount(), step.verifiedRows);
        QCOMPARE(mask->model().columnCount(), step.verifiedRows);
        m_isKept = true;
    }

    void swiftAndVanillaWriteTheSame() {
        beAnswered();
        show(0);
        const QString drafted = lastAnswer().text;
        auto* decoder = studio().chatView().input().findChild<DecoderSwitch*>();
        QTest::mouseClick(decoder->segment(0), Qt::LeftButton);
        QTRY_VERIFY(studio().run().decoder()->name == "vanilla");
        trigger("chat.new");
        answer(QStringLiteral("abc ab"));
        QCOMPARE(lastAnswer().figures.decoderName, QStringLiteral("vanilla"));
        QCOMPARE(lastAnswer().figures.draftSteps, 0);
        QCOMPARE(lastAnswer().text, drafted);
        QTest::mouseClick(decoder->segment(2), Qt::LeftButton);
        QTRY_VERIFY(m_stage->isReady());
        trigger("chat.new");
        answer(QStringLiteral("abc ab"));
        QCOMPARE(lastAnswer().figures.decoderName, QStringLiteral("swift"));
        QCOMPARE(lastAnswer().text, drafted);
    }

    void aCellIsFlippedAndScoredWhileTheModelAnswers() {
        beginAnswer(QStringLiteral("abc ab"));
        show(1);
        QTRY_VERIFY(studio().run().search().current() != nullptr);
        const SettingValues before = studio().run().settings();
        auto* map = m_stage->view<LayerMapView>();
        const SkipSet wanted = flipped(map->model().state().skipped, Cell{Sublayer::Attention, 4});
        QTableView& table = map->grid().table();
        table.setFocus();
        table.setCurrentIndex(map->model().indexOf({Sublayer::Attention, 4}));
        QTest::keyClick(&table, Qt::Key_Space);
        QCOMPARE(map->model().state().skipped, wanted);
        m_stage->gate.release();
        const auto isScored = [&] {
            for (const TrialFinished& trial : m_stage->all<TrialFinished>())
                if (trial.trialKind == "manual" && trial.plan.skipped == wanted)
                    return true;
            return false;
        };
        QTRY_VERIFY(isScored());
        QTRY_VERIFY(m_stage->isDone());
        // Its score came within the answer, not behind it.
        const auto firstOf = [&](auto fits) {
            return std::find_if(m_stage->events.begin(), m_stage->events.end(), fits);
        };
        const auto scored = firstOf([](const EngineEvent& event) {
            const auto* trial = event.as<TrialFinished>();
            return trial != nullptr && trial->trialKind == "manual";
        });
        const auto ended =
            firstOf([](const EngineEvent& event) { return event.as<PromptFinished>() != nullptr; });
        QVERIFY(scored < ended);
        QCOMPARE(m_stage->all<PlanChanged>().back().reason, std::string("manual"));
        studio().bridge().refreshPictures();
        QVERIFY2(map->notice().contains(QStringLiteral("matchness .")) ||
                     map->notice().contains(QStringLiteral("matchness 1")),
                 qPrintable(map->notice()));
        studio().undoStack().undo();
        QTRY_VERIFY(studio().run().settings() == before);
    }

    void thePapersSettingsChangeWhileTheModelAnswers() {
        beginAnswer(QStringLiteral("abc ab"));
        show(0);
        SettingsForm& form = m_stage->view<ParametersView>()->form();
        const std::map<std::string, QString> wanted = {{"r", QStringLiteral("0.3")},
                                                       {"gamma", QStringLiteral("24")},
                                                       {"epsilon", QStringLiteral("0.6")},
                                                       {"beta", QStringLiteral("7")},
                                                       {"S", QStringLiteral("50")}};
        for (const auto& [name, value] : wanted)
            type(form, name.c_str(), value);
        m_stage->gate.release();
        const auto isTaken = [&] {
            return std::all_of(wanted.begin(), wanted.end(), [&](const auto& pair) {
                const auto found = studio().run().settings().find(pair.first);
                return found->second == SettingValue(pair.second.toDouble());
            });
        };
        QTRY_VERIFY(isTaken());
        QTRY_VERIFY(m_stage->isDone());
        QVERIFY(m_stage->count<SettingsChanged>() >= wanted.size());
        std::size_t within = 0;
        for (const EngineEvent& event : m_stage->events) {
            within += event.as<SettingsChanged>() != nullptr ? 1 : 0;
            if (event.as<PromptFinished>() != nullptr)
                break;
        }
        QCOMPARE(within, m_stage->count<SettingsChanged>());
    }

    void escStopsWithinOneStep() {
        beginAnswer(QStringLiteral("abc ab"));
        const auto isShown = [&] { return lastAnswer().tokens.size() > 20; };
        QTRY_VERIFY(isShown());
        studio().bridge().tick();
        const std::size_t before = m_stage->count<StepFinished>();
        QTest::keyClick(&studio().window(), Qt::Key_Escape);
        m_stage->gate.release();
        QTRY_COMPARE(m_stage->count<PromptFinished>(), std::size_t{1});
        QCOMPARE(m_stage->all<PromptFinished>().back().reason, FinishReason::Cancelled);
        QVERIFY(m_stage->count<StepFinished>() <= before + 1);
        QTRY_VERIFY(m_stage->isDone());
        QCOMPARE(lastAnswer().state, MessageState::Stopped);
        QVERIFY(!lastAnswer().text.isEmpty());
    }

    void aChatThatIsLeftKeepsWhatHadComeOfItsAnswer() {
        beginAnswer(QStringLiteral("abc ab"));
        const auto isShown = [&] { return lastAnswer().tokens.size() > 20; };
        QTRY_VERIFY(isShown());
        const ChatId chat = studio().session().chat().record.id;
        trigger("chat.new");
        m_stage->gate.release();
        QTRY_COMPARE(m_stage->count<PromptFinished>(), std::size_t{1});
        const QString text = QString::fromStdString(m_stage->all<PromptFinished>().back().text);
        studio().session().openChat(chat);
        QTRY_COMPARE(studio().session().chat().record.id, chat);
        QCOMPARE(lastAnswer().state, MessageState::Stopped);
        QCOMPARE(lastAnswer().text, text);
        QVERIFY(!studio().session().isAnswering());
        answer(QStringLiteral("cde"));
    }

    void quittingKeepsWhatHadComeOfTheAnswer() {
        beginAnswer(QStringLiteral("abc ab"));
        const auto isShown = [&] { return lastAnswer().tokens.size() > 20; };
        QTRY_VERIFY(isShown());
        studio().bridge().tick();
        const QString text = lastAnswer().text;
        const ChatId chat = studio().session().chat().record.id;
        studio().window().close();
        open();
        QVERIFY(!m_stage->hasNotice(QStringLiteral("ended_badly")));
        QVERIFY(!m_stage->hasNotice(QStringLiteral("recovered")));
        studio().session().openChat(chat);
        QTRY_COMPARE(studio().session().chat().record.id, chat);
        QCOMPARE(lastAnswer().state, MessageState::Stopped);
        QVERIFY(lastAnswer().text.startsWith(text));
    }

    void anAnswerIsMadeAgainWithAnotherSeed() {
        SettingsForm& sampling = m_stage->view<ParametersView>()->sampling();
        type(sampling, "temperature", QStringLiteral("0.9"));
        QTRY_COMPARE(studio().run().sampling().temperature, 0.9);
        answer(QStringLiteral("abc ab"));
        const StoredMessage first = lastAnswer();
        trigger("run.regenerate");
        QTRY_COMPARE(m_stage->count<PromptFinished>(), std::size_t{2});
        QTRY_VERIFY(m_stage->isDone());
        const StoredMessage second = lastAnswer();
        QVERIFY(second.id != first.id);
        QCOMPARE(second.parentId, first.parentId);
        QVERIFY(second.figures.seed != first.figures.seed);
        QTRY_COMPARE(studio().run().sampling().seed, *first.figures.seed); // of that answer alone
        QVERIFY(second.text != first.text);
        QVERIFY(second.figures.acceptedTokens > 0);
        QCOMPARE(studio().session().chat().childrenOf(first.parentId).size(), qsizetype{2});
    }
};

QTEST_MAIN(StudioEndToEndTest)
#include "studio_end_to_end_test.moc"
