// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/learn/lessons/lesson.h"
#include "ui/language/language.h"

#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace ui {

/// The lessons that come with the program, in their order. Thread: any; a plain value.
struct LessonCatalog {
    std::vector<engine::Lesson> lessons;
    QStringList problems; ///< sentences about files that could not be read

    /// Reads all lessons of a folder, none of an empty one. The sub-folder of the language, "de",
    /// may hold some of them as well, known by Lesson::name: these are taken instead. What cannot
    /// be read there stays English. Without `language` it is that of the window.
    static LessonCatalog of(const QString& folder, const QString& language = windowLanguage());
};

/// A lesson of the user's. Nothing, and `problem` says why, if it cannot be read.
std::optional<engine::Lesson> openLesson(const QString& path, QString& problem);

} // namespace ui
