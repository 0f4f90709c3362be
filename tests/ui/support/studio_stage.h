// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "tests/ui/support/decoder_infos.h"
#include "tests/ui/support/figures_run.h"
#include "tests/ui/support/scripted_link.h"
#include "ui/studio/studio.h"

#include <QApplication>
#include <QTemporaryDir>
#include <QTest>

#include <chrono>
#include <memory>

namespace support {

/// The whole window with a scripted engine; chats and settings lie in a folder of its own.
struct StudioStage {
    explicit StudioStage(QString modelPath = {}, QString replayName = {}) {
        options.modelPath = std::move(modelPath);
        options.replayName = std::move(replayName);
        options.chatsPath = folder.filePath(QStringLiteral("chats.sqlite"));
        options.settingsPath = folder.filePath(QStringLiteral("studio.ini"));
        options.presetsFolder = QStringLiteral("resources/presets");
        options.backends = engine::knownBackends({}); // those of no module
        options.ownPresetsFolder = folder.filePath(QStringLiteral("presets"));
    }

    /// Builds the window; what lies in the folder by now is found.
    void open() {
        auto link = std::make_unique<ScriptedLink>();
        engine = link.get();
        if (!options.replayName.isEmpty())
            link->recording =
                std::make_unique<ui::Playback>(0.0, 1.0, std::chrono::steady_clock::now);
        studio = std::make_unique<ui::Studio>(std::move(link), options);
        studio->window().resize(1440, 900);
        studio->window().show();
        studio->window().activateWindow();
        studio->start();
    }

    /// Takes what the engine said, and shows it.
    void settle() {
        studio->bridge().tick();
        for (int i = 0; i < 4; ++i)
            QCoreApplication::processEvents();
    }

    void say(engine::EventContent content) { engine->say(std::move(content)); }

    void loadModel() {
        engine::ModelLoaded loaded = loadedModel(30, 1000);
        loaded.model.name = "Tiny";
        loaded.decoders = {vanillaDecoder(), swiftDecoder()};
        say(loaded);
        engine::DecoderChosen chosen;
        chosen.info = swiftDecoder();
        for (const engine::SettingInfo& setting : chosen.info.settings)
            chosen.settings[setting.name] = setting.initial;
        say(chosen);
        settle();
    }

    /// A prompt is sent, counted and begins to be answered.
    void beginAnswer() {
        studio->session().send(QStringLiteral("a question"));
        promptId = engine->lastSent<engine::SubmitPrompt>()->promptId;
        engine->countNewest(10, 1000);
        settle();
        say(plainStep(promptId, 0, "one", 20.0));
        say(draftStep(promptId, 1, {" two", " three", " wrong"}, 2, " four"));
        settle();
    }

    void finishAnswer(engine::FinishReason reason = engine::FinishReason::EndToken) {
        engine::PromptFinished finished = promptFinished(promptId);
        finished.reason = reason;
        finished.generation.outputTokens = 4;
        say(finished);
        settle();
    }

    /// Both: a short answer as a whole.
    void answer() {
        beginAnswer();
        finishAnswer();
    }

    /// A search with all that the views show.
    void saySearch() {
        engine::PlanChanged plan = paperPlan();
        say(engine::PhaseChanged{engine::DecoderPhase::Optimise});
        for (int i = 1; i <= 8; ++i)
            say(windowTrial(i % 4 == 0 ? "bayesian" : "random", i, 15 + i, 15 + i));
        say(plan);
        say(engine::PhaseChanged{engine::DecoderPhase::Accelerate});
        settle();
    }

    /// The notice of this id, null when it is not shown.
    const ui::Notice* notice(const char* id) const {
        for (const ui::Notice* shown : studio->window().messages().notices())
            if (shown->id == QLatin1String(id))
                return shown;
        return nullptr;
    }

    QAction* action(const char* id) const {
        return studio->window().actionCatalog().find(QLatin1String(id));
    }

    QTemporaryDir folder;
    ui::StudioOptions options;
    ScriptedLink* engine = nullptr;
    std::uint64_t promptId = 0;
    std::unique_ptr<ui::Studio> studio;
};

} // namespace support
