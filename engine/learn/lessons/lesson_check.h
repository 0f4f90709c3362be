// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/learn/lessons/lesson.h"

namespace engine {

/// Whether the parts of a lesson belong together and all of its words are known. Errors:
/// InvalidInput naming the member ("steps[2].check.answers") and what it must be.
Result<void> checkLesson(const Lesson& lesson, const std::string& where);

/// Whether each {{name}} in a text is a fact. Errors: InvalidInput with the name.
Result<void> checkPlaces(std::string_view text, const std::string& where);

} // namespace engine
