// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/learn/lessons/lesson_player.h"
#include "ui/learn/lessons/lesson_steps.h"
#include "ui/studio/workspaces/lesson_obstacles.h"
#include "ui/views/layer_map/editing/manual_set.h"

#include <QUndoStack>

#include <deque>
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

    /// Whether a lesson has loaded the model in use.
    bool hasLoaded() const { return m_isLessonsModel; }

    /// The user's model in whose place a lesson has loaded another one; null if there is none.
    const engine::LoadModel* formerModel() const {
        return m_isLessonsModel && m_former ? &*m_former : nullptr;
    }

    QString obstacle(const engine::Lesson& lesson) const override;
    void begin() override;
    void end() override;

    void forget() override { m_isDone = nullptr; }

    bool isReady() const override;
    void act(const engine::Lesson& lesson, const engine::LessonAction& action) override;
    void show(const std::string& view) override;
    engine::LessonFacts facts() const override;

private:
    void loadModel(bool isPlanted);
    void ask(const engine::LessonAction& action);
    void chooseDecoder(const engine::LessonAction& action);
    void keepChoice();
    void goToStop(const engine::LessonAction& action);
    void flip(const std::string& sublayer);

    engine::SkipSet copies() const;
    void useSet(const engine::SkipSet& set, const QString& what);
    void follow(const engine::EngineEvent& event);
    void onChosen(const engine::DecoderChosen& chosen);
    void onFailed(const std::string& task);
    void onLoaded();
    void forgetBefore();

    const RunStore& run() const { return m_parts.context.store; }

    LessonGround ground() const {
        return {run(), m_parts.context.bridge.isReplay(), m_parts.defaultModelPath};
    }

    LessonParts m_parts;
    QUndoStack m_ownSteps; // flips that lessons make, which are none of the user's
    LessonSteps m_steps;   // and what the learner changes in them
    ManualSet m_manual;
    qint64 m_chat = 0;                           // the lesson's own; 0 = none yet
    std::deque<engine::ChooseDecoder> m_awaited; // that lessons have chosen, not yet the engine
    /// The user's choice before lessons made theirs; none while they have made none.
    std::optional<engine::ChooseDecoder> m_before;
    bool m_isTakingBack = false;               // m_before was sent and has not come yet
    std::optional<engine::LoadModel> m_former; // the user's, before a lesson loaded its own
    bool m_isLoading = false;                  // a lesson has asked for its model
    bool m_isLessonsModel = false;             // the one in use
    std::string m_writer;                      // the decoder of the newest answer
    mutable std::function<bool()> m_isDone;    // whether the last action has come to its end
};

} // namespace ui
