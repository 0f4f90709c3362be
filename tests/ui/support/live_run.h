// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "tests/ui/support/studio_stage.h"

namespace support {

/// A long answer in a workspace of a window (0 is Chat, 1 Inspect): with every picture some steps
/// come whose figures all differ from those before.
class LiveRun {
public:
    explicit LiveRun(StudioStage& stage, int workspace = 1)
        : m_stage(stage) {
        stage.studio->window().showWorkspace(workspace);
        stage.loadModel();
        stage.beginAnswer();
        stage.saySearch();
        for (int i = 0; i < 4; ++i) {
            ++m_total.baselineTokens;
            m_total.baselineMs += kPlainStepMs;
            say(plainStep(stage.promptId, m_step++, "x", kPlainStepMs));
        }
        stage.settle();
    }

    /// The events between two pictures; the caller lets the window show them.
    void sayPicture(int steps) {
        for (int i = 0; i < steps; ++i)
            sayStep();
    }

    /// From now on the decoder is one that does not search, and shows a window and a pool.
    void showTables() {
        engine::DecoderInfo info = vanillaDecoder();
        info.name = "lookahead";
        info.title = "Lookahead";
        m_stage.say(engine::DecoderChosen{info, {}});
        m_stage.settle();
        m_hasTables = true;
    }

    void tick() { m_stage.studio->bridge().tick(); }

private:
    void sayStep() {
        const int drafted = 3 + m_step % 4;
        const int accepted = m_step % 5 == 0 ? 1 : drafted - m_step % 2;
        std::vector<std::string> texts;
        for (int i = 0; i < drafted; ++i)
            texts.push_back(" w" + std::to_string(m_step * 7 + i));
        engine::StepFinished step = draftStep(m_stage.promptId,
                                              m_step,
                                              texts,
                                              static_cast<std::size_t>(accepted),
                                              m_step % 12 == 0 ? ".\n\n" : " b");
        step.draftMs = drafted * (0.31 + 0.011 * (m_step % 17)) * kPlainStepMs;
        step.verifyMs = (0.9 + 0.01 * (m_step % 13)) * kPlainStepMs;
        step.otherMs = 0.02 * kPlainStepMs * (m_step % 7);
        step.tokensPerSecond = 62.0 + 0.1 * (m_step % 331);
        ++m_total.rounds;
        m_total.tokens += accepted + 1;
        m_total.accepted += accepted;
        m_total.draftSteps += drafted;
        m_total.draftMs += step.draftMs;
        m_total.verifyMs += step.verifyMs;
        m_total.otherMs += step.otherMs;
        if (m_hasTables)
            step.tables = {table("window", "Window", 4), table("pool", "Pool", 30)};
        ++m_step;
        say(step);
    }

    /// Of tokens that all change, and the one before the last acted upon.
    engine::ShownTable table(const char* name, const char* title, int rows) const {
        engine::ShownTable made{name, title, {"row", "first", "second", "seen"}, {}, rows - 2};
        for (int row = 0; row < rows; ++row)
            made.rows.push_back({static_cast<double>(row),
                                 engine::ShownToken{row, " t" + std::to_string(m_step + row)},
                                 engine::ShownToken{row, " u" + std::to_string(m_step % 7)},
                                 static_cast<double>(m_step % 10)});
        return made;
    }

    void say(const engine::StepFinished& step) {
        m_stage.say(step);
        m_stage.say(statistics(m_total));
    }

    StudioStage& m_stage;
    engine::DecodeMetrics m_total;
    bool m_hasTables = false;
    int m_step = 2; ///< two came as the answer began
};

} // namespace support
