// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/learn/lessons/lesson_facts.h"
#include "ui/bridge/run_store.h"

namespace ui {

/// A view that knows facts of its own for a lesson: what the user has chosen in it.
class LessonFactSource {
public:
    LessonFactSource() = default;
    LessonFactSource(const LessonFactSource&) = delete;
    LessonFactSource& operator=(const LessonFactSource&) = delete;
    virtual ~LessonFactSource() = default;

    /// Adds those that are known now.
    virtual void tellFacts(engine::LessonFacts& facts) const = 0;
};

/// What the run itself knows: the model, the newest answer, the skip set and its search.
engine::LessonFacts factsOfRun(const RunStore& run);

} // namespace ui
