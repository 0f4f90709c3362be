// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/learn/lessons/lesson.h"
#include "ui/bridge/run_store.h"

#include <QString>

namespace ui {

/// Where a lesson would run. A plain value.
struct LessonGround {
    const RunStore& run;
    bool isReplay = false;
    QString defaultModelPath; ///< whether it exists or not
};

/// Whether the model in use is the default model, or the lesson model made of it.
bool hasLessonsModel(const LessonGround& ground, bool isPlanted);

/// Why a lesson cannot begin here, as a sentence with what to do; empty if it can. A model that the
/// lesson loads by itself is no obstacle, unless it is not on this computer. Thread: UI.
QString lessonObstacle(const engine::Lesson& lesson, const LessonGround& ground);

/// The sublayer that "attention 12" names.
struct NamedSublayer {
    bool isAttention = false;
    int layer = 0;
};

NamedSublayer namedSublayer(const std::string& name);

} // namespace ui
