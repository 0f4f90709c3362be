// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/learn/lessons/lesson_player.h"
#include "ui/studio/workspaces/lesson_obstacles.h"
#include "ui/views/layer_map/editing/manual_set.h"

#include <functional>

namespace ui {

class ChatSession;
class LensView;
class SidesView;
class SkipSetFinder;
class SlowMotionView;

/// The parts of the window that a lesson drives. All outlive the hand.
struct LessonParts {
    ViewContext context;
    ChatSession& chat;
    SkipSetFinder& finder;
    SlowMotionView& slowMotion;
    LensView& lens;
    SidesView& sides; ///< the lossless check
    QString defaultModelPath;
    std::function<void(bool isPlanted)> loadModel; ///< the default model, or the lesson model of it
    std::function<void(const QString& view)> showView;
};

/// Does in the window what a lesson says. Thread: UI.
class StudioHand : public LessonHand {
public:
    explicit StudioHand(LessonParts parts);

    /// Whether a lesson's choice of decoder is in use and not the user's.
    bool hasChosen() const { return m_before.has_value(); }

    QString obstacle(const engine::Lesson& lesson) const override;
    void begin() override;
    bool isReady() const override;
    void act(const engine::Lesson& lesson, const engine::LessonAction& action) override;
    void show(const std::string& view) override;
    engine::LessonFacts facts() const override;

private:
    void ask(const engine::Lesson& lesson, const engine::LessonAction& action);
    void chooseDecoder(const engine::LessonAction& action);
    void send(engine::ChooseDecoder choice);
    void keepChoice();
    void goToStop(const engine::LessonAction& action);
    void flip(const std::string& sublayer);

    engine::SkipSet copies() const;
    void useSet(const engine::SkipSet& set, const QString& what);
    void follow(const engine::EngineEvent& event);

    const RunStore& run() const { return m_parts.context.store; }

    LessonGround ground() const {
        return {run(), m_parts.context.bridge.isReplay(), m_parts.defaultModelPath};
    }

    LessonParts m_parts;
    ManualSet m_manual;
    std::string m_lesson; // whose chat is open; empty = none
    int m_choices = 0;    // of decoders, that the engine has made
    /// The user's choice before lessons made theirs; none while they have made none.
    std::optional<engine::ChooseDecoder> m_before;
    std::string m_writer;                   // the decoder of the newest answer
    mutable std::function<bool()> m_isDone; // whether the last action has come to its end
};

} // namespace ui
