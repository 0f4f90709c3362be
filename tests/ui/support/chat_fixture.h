// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "tests/ui/support/run_events.h"
#include "tests/ui/support/scripted_link.h"
#include "ui/chat/session/chat_session.h"

#include <QSettings>
#include <QTemporaryDir>

#include <memory>

namespace support {

/// A chat session with a scripted engine and a real store in a folder of its own.
class ChatFixture {
public:
    explicit ChatFixture(const QString& at)
        : folder(at) {
        auto link = std::make_unique<ScriptedLink>();
        engine = link.get();
        bridge = std::make_unique<ui::EngineBridge>(std::move(link), run);
        store = std::make_unique<ui::ChatStore>(
            ui::StoreOptions{.path = folder + QStringLiteral("/chats.sqlite")});
        session = std::make_unique<ui::ChatSession>(*bridge, run, *store, defaults);
        store->open();
    }

    ~ChatFixture() {
        session.reset();
        store.reset();
        bridge.reset();
    }

    void loadModel(int context = 1000) {
        m_context = context;
        engine->say(loadedModel(4, context));
        bridge->tick();
    }

    /// Counts what was asked last, each message with `perMessage` tokens: the answer begins, or the
    /// prompt does not fit.
    void count(int perMessage = 10) {
        engine->countNewest(perMessage, m_context);
        bridge->tick();
    }

    /// The id of the newest prompt.
    std::uint64_t promptId() const { return engine->lastSent<engine::SubmitPrompt>()->promptId; }

    /// A whole answer of two steps to the newest prompt: "one two three four".
    void answer() {
        engine->say(plainStep(promptId(), 0, "one", 20.0));
        engine::StepFinished drafted =
            draftStep(promptId(), 1, {" two", " three", " wrong"}, 2, " four");
        drafted.draftMs = 20.0;
        drafted.verifyMs = 40.0;
        engine->say(drafted);
        bridge->tick();
        finish();
    }

    void finish(engine::FinishReason reason = engine::FinishReason::EndToken) {
        engine::PromptFinished finished = promptFinished(promptId());
        finished.reason = reason;
        finished.text = "one two three four";
        finished.generation.outputTokens = 4;
        finished.generation.steps = 2;
        finished.generation.decodeMs = 80.0;
        finished.generation.firstTokenMs = 20.0;
        finished.decoding.rounds = 1;
        finished.decoding.tokens = 3;
        finished.decoding.accepted = 2;
        finished.decoding.draftSteps = 3;
        engine->say(finished);
        bridge->tick();
    }

    const QString folder;
    ui::RunStore run;
    QSettings settings{folder + QStringLiteral("/studio.ini"), QSettings::IniFormat};
    ui::AnswerDefaults defaults{settings};
    ScriptedLink* engine = nullptr;
    std::unique_ptr<ui::EngineBridge> bridge;
    std::unique_ptr<ui::ChatStore> store;
    std::unique_ptr<ui::ChatSession> session;

private:
    int m_context = 0;
};

} // namespace support
