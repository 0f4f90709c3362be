// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/learn/lessons/lesson.h"

#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace ui {

/// The lessons that come with the program, in their order. Thread: any; a plain value.
struct LessonCatalog {
    std::vector<engine::Lesson> lessons;
    QStringList problems; ///< sentences about files that could not be read

    /// Reads all lessons of a folder.
    static LessonCatalog of(const QString& folder);
};

/// A lesson of the user's. Nothing, and `problem` says why, if it cannot be read.
std::optional<engine::Lesson> openLesson(const QString& path, QString& problem);

} // namespace ui
