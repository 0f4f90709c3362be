// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "tests/support/patience.h"
#include "tests/ui/support/run_events.h"
#include "tests/ui/support/view_stage.h"
#include "ui/views/learn/lens/lens_view.h"

#include <QTest>

#include <memory>

namespace support {

constexpr int kLayers = 4;
constexpr std::uint64_t kPrompt = 7;

/// A token with a probability and a rank at each depth; a token of rank 0 is the likeliest there,
/// otherwise token 1 is.
inline engine::LensToken lensToken(engine::TokenId id,
                                   const std::vector<std::pair<double, int>>& depths) {
    engine::LensToken token{id, {}};
    for (const auto& [probability, rank] : depths) {
        engine::LensCell& cell = token.cells.emplace_back();
        cell.probability = probability;
        cell.rank = rank;
        cell.ids = rank == 0 ? std::vector<engine::TokenId>{id, 1, 2}
                             : std::vector<engine::TokenId>{1, 2, id};
        cell.probabilities =
            rank == 0 ? std::vector{probability, .1, .05} : std::vector{.5, .2, probability};
    }
    return token;
}

/// Final behind the attention of layer 2, which is depth 5.
inline engine::LensToken earlyToken() {
    return lensToken(
        5, {{.0, 900}, {.0, 99}, {.1, 9}, {.3, 0}, {.2, 2}, {.4, 0}, {.6, 0}, {.8, 0}, {.95, 0}});
}

/// Drawn: another token is likelier in the end.
inline engine::LensToken drawnToken() {
    return lensToken(
        6, {{.0, 900}, {.0, 99}, {.1, 9}, {.1, 2}, {.1, 2}, {.1, 2}, {.2, 2}, {.2, 2}, {.3, 2}});
}

/// The lens on a model of four layers and an answer of two tokens, in place of an engine.
class LensStage {
protected:
    std::unique_ptr<ViewStage> m_stage;
    std::unique_ptr<ui::LensView> m_view;

    void open() {
        m_stage = std::make_unique<ViewStage>();
        m_view = std::make_unique<ui::LensView>(m_stage->context());
        m_view->resize(1100, 700);
        m_view->show();
        QVERIFY(QTest::qWaitForWindowExposed(m_view.get(), kPatienceMs));
    }

    void answer(int tokens = 2) {
        m_stage->tell(loadedModel(kLayers));
        m_stage->tell(promptStarted(kPrompt));
        for (int step = 0; step < tokens; ++step)
            m_stage->tell(plainStep(kPrompt, step, " word", 10.0));
        engine::PromptFinished finished = promptFinished(kPrompt);
        finished.tokens.assign(static_cast<std::size_t>(tokens), 5);
        m_stage->tell(finished);
        m_stage->settle();
    }

    const engine::ReadLens* asked() const { return m_stage->engine->lastSent<engine::ReadLens>(); }

    /// The engine reads both tokens.
    void read() {
        engine::LensTokensRead told{
            asked()->requestId, kPrompt, 0, {earlyToken(), drawnToken()}, {}};
        told.texts = {{1, " other"}, {2, " third"}, {5, " word"}, {6, " drawn"}};
        m_stage->tell(told);
        m_stage->tell(engine::LensFinished{
            asked()->requestId, false, {.4, .3, .2, .1, .5, .6, .7, .8}, 1.25});
        m_stage->settle();
    }

    /// The search has scored a draft without the attention of one layer.
    void sayTrial(int skipped, double score) {
        engine::TrialFinished trial;
        trial.trialKind = "random";
        trial.index = skipped + 1;
        trial.score = score;
        trial.plan = {kLayers, {{skipped}, {}}, -1};
        m_stage->tell(trial);
        m_stage->settle();
    }

    void openAndRead() {
        open();
        answer();
        QVERIFY(asked() != nullptr);
        read();
    }
};

} // namespace support
