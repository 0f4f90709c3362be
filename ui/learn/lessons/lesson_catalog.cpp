// SPDX-License-Identifier: GPL-3.0-only
#include "ui/learn/lessons/lesson_catalog.h"

#include <QDir>

#include <algorithm>

namespace ui {

std::optional<engine::Lesson> openLesson(const QString& path, QString& problem) {
    auto lesson = engine::readLessonFile(path.toStdString());
    if (lesson)
        return std::move(lesson).value();
    problem = QString::fromStdString(lesson.error().message + " " + lesson.error().hint).trimmed();
    return std::nullopt;
}

LessonCatalog LessonCatalog::of(const QString& folder) {
    LessonCatalog catalog;
    const QDir dir(folder);
    for (const QString& name : dir.entryList({QStringLiteral("*.json")}, QDir::Files, QDir::Name)) {
        QString problem;
        if (auto lesson = openLesson(dir.filePath(name), problem))
            catalog.lessons.push_back(*std::move(lesson));
        else
            catalog.problems.append(problem);
    }
    std::ranges::stable_sort(catalog.lessons, {}, &engine::Lesson::order);
    return catalog;
}

} // namespace ui
