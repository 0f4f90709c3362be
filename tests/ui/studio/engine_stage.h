// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "tests/ui/studio/engine_gate.h"
#include "tests/ui/studio/letter_model.h"
#include "ui/bridge/links/session_link.h"
#include "ui/studio/studio.h"
#include "ui/views/chat/chat_view.h"
#include "ui/views/chat/input_bar.h"

#include <QPlainTextEdit>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace support {

/// The whole window on the real engine with a small model, and all events that came.
class EngineStage {
public:
    /// `folder` holds the model "letters" and what the window keeps. Answers end where the context
    /// of so many tokens does. `lessonPath` is the lesson to begin with.
    EngineStage(const QString& folder, int contextLength, const QString& lessonPath = {})
        : m_folder(folder)
        , m_contextLength(contextLength)
        , m_lessonPath(lessonPath)
        , studio(ui::makeSessionLink(sessionOptions()), studioOptions()) {
        QObject::connect(&studio.bridge(),
                         &ui::EngineBridge::eventCame,
                         [this](const engine::EngineEvent& event) { events.push_back(event); });
        studio.window().resize(1440, 900);
        studio.window().show();
        studio.start();
    }

    ~EngineStage() { gate.release(); }

    QString modelPath() const { return m_folder + QStringLiteral("/letters"); }

    /// Types the words into the field and sends them with Enter.
    void ask(const QString& words) {
        QPlainTextEdit* field = studio.chatView().input().findChild<QPlainTextEdit*>();
        QTest::keyClicks(field, words);
        QTest::keyClick(field, Qt::Key_Return);
    }

    /// The same, and waits for the end of the answer.
    void answer(const QString& words) {
        const std::size_t before = count<engine::PromptFinished>();
        ask(words);
        QTRY_COMPARE(count<engine::PromptFinished>(), before + 1);
        QTRY_VERIFY(isDone());
    }

    /// Whether the newest answer is over, as the window knows it.
    bool isDone() {
        const ui::Answer* answer = studio.run().answers().latest();
        return answer != nullptr && !answer->isRunning() && !studio.session().isAnswering();
    }

    ui::StoredMessage lastAnswer() { return studio.session().branch().last(); }

    void trigger(const char* action) {
        studio.window().actionCatalog().find(QLatin1String(action))->trigger();
    }

    template <typename T> std::vector<T> all() const {
        std::vector<T> found;
        for (const engine::EngineEvent& event : events)
            if (const T* content = event.as<T>())
                found.push_back(*content);
        return found;
    }

    template <typename T> std::size_t count() const { return all<T>().size(); }

    /// The first view of this kind in the window, or the first that is to be seen.
    template <typename T> T* view() {
        T* first = nullptr;
        for (T* each : studio.window().findChildren<T*>()) {
            if (each->isVisible())
                return each;
            first = first == nullptr ? each : first;
        }
        return first;
    }

    bool isReady() {
        return studio.run().decoder() != nullptr && studio.run().decoder()->name == "swift";
    }

    bool hasNotice(const QString& id) { return studio.window().messages().isShown(id); }

    EngineGate gate; ///< must outlive the engine's thread
    /// Called on the engine's thread before a load, and with every stage of it.
    std::function<void(const std::string& path, std::string_view stage)> onLoad;
    std::vector<engine::EngineEvent> events;

private:
    engine::SessionOptions sessionOptions() {
        engine::SessionOptions options;
        options.moduleFolder = SWIFT_STUDIO_MODULE_DIR;
        options.loader = [this](const engine::LoadModel& wanted,
                                const engine::ModelLoadWork& work) { return load(wanted, work); };
        return options;
    }

    engine::Result<engine::SessionModel> load(engine::LoadModel wanted,
                                              const engine::ModelLoadWork& work) {
        wanted.backend = "plain";
        wanted.contextLength = m_contextLength;
        if (onLoad)
            onLoad(wanted.path, {});
        engine::ModelLoadWork watched = work;
        watched.progress = [this, &work, path = wanted.path](std::string_view stage, double part) {
            if (onLoad)
                onLoad(path, stage);
            if (work.progress)
                work.progress(stage, part);
        };
        ENGINE_TRY(engine::SessionModel model,
                   engine::makeModelLoader(SWIFT_STUDIO_MODULE_DIR)(wanted, watched));
        model.transformer = std::make_unique<GatedTransformer>(std::move(model.transformer), gate);
        return model;
    }

    ui::StudioOptions studioOptions() const {
        ui::StudioOptions options;
        options.chatsPath = m_folder + QStringLiteral("/chats.sqlite");
        options.settingsPath = m_folder + QStringLiteral("/swift-studio.ini");
        options.presetsFolder = QStringLiteral("resources/presets");
        options.ownPresetsFolder = m_folder + QStringLiteral("/presets");
        options.modelPath = modelPath();
        options.lessonPath = m_lessonPath;
        // As if it had been chosen the last time.
        QSettings settings(options.settingsPath, QSettings::IniFormat);
        if (const QString key = QStringLiteral("run/choices"); !settings.contains(key))
            settings.setValue(key, QStringLiteral(R"({"decoder": "swift"})"));
        return options;
    }

    QString m_folder;
    int m_contextLength;
    QString m_lessonPath;

public:
    ui::Studio studio; ///< last: gone first
};

/// A test on such a window; begin() makes what lies in the folder and opens it.
class EngineStageTest : public QObject {
protected:
    void begin() {
        m_folder = std::make_unique<QTemporaryDir>();
        writeLetterModel(m_folder->filePath(QStringLiteral("letters")), 3);
        open();
    }

    /// The window as it stands behind a start.
    void open() {
        m_stage.reset();
        m_stage = std::make_unique<EngineStage>(m_folder->path(), 420);
        QTRY_VERIFY(m_stage->isReady());
    }

    ui::Studio& studio() { return m_stage->studio; }

    void trigger(const char* action) { m_stage->trigger(action); }

    void answer(const QString& words) { m_stage->answer(words); }

    ui::StoredMessage lastAnswer() { return m_stage->lastAnswer(); }

    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<EngineStage> m_stage;
};

} // namespace support
