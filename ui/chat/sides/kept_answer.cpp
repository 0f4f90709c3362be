// SPDX-License-Identifier: GPL-3.0-only
#include "ui/chat/sides/kept_answer.h"

namespace ui {

using namespace engine;

StoredMessage keptAnswer(const SideRun& run, SideRun::Place side, const QString& modelName) {
    const SideAnswer& made = run.answer(side);
    StoredMessage kept;
    kept.role = MessageRole::Assistant;
    kept.state = made.isWhole() ? MessageState::Finished : MessageState::Stopped;
    for (std::size_t round = 0; round < made.rounds.size(); ++round) {
        const SideRound& own = made.rounds[round];
        for (int i = 0; i < own.tokens; ++i) {
            const EmittedToken& token = made.tokens[static_cast<std::size_t>(own.firstToken + i)];
            const int begin = static_cast<int>(kept.text.size());
            kept.text += QString::fromStdString(token.text);
            kept.tokens.push_back({token.id,
                                   begin,
                                   static_cast<int>(kept.text.size()),
                                   token.fact,
                                   static_cast<int>(round),
                                   own.endMs - own.beginMs,
                                   {token.choices.begin(), token.choices.end()}});
        }
    }
    kept.text = QString::fromStdString(made.text);
    MessageFigures& figures = kept.figures;
    figures.modelName = modelName;
    figures.decoderName = QString::fromStdString(run.decoder(side).name);
    figures.promptTokens = made.promptTokens;
    figures.outputTokens = static_cast<int>(made.tokens.size());
    figures.steps = static_cast<int>(made.rounds.size());
    figures.finishReason = QString::fromUtf8(finishReasonName(made.reason).data());
    if (run.prompt().sampling)
        figures.seed = run.prompt().sampling->seed;
    if (made.tokens.empty() || made.decodeMs <= 0.0)
        return kept;
    figures.decodeMs = made.decodeMs;
    figures.tokensPerSecond = made.tokensPerSecond();
    figures.tokensPerStep = made.metrics.tokensPerRound();
    figures.acceptedTokens = made.metrics.accepted;
    figures.draftSteps = made.metrics.draftSteps;
    return kept;
}

} // namespace ui
