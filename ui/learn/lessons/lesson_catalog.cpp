// SPDX-License-Identifier: GPL-3.0-only
#include "ui/learn/lessons/lesson_catalog.h"

#include <QDir>

#include <algorithm>

namespace ui {

namespace {

LessonCatalog lessonsIn(const QString& folder) {
    LessonCatalog catalog;
    const QDir dir(folder);
    for (const QString& name : dir.entryList({QStringLiteral("*.json")}, QDir::Files, QDir::Name)) {
        QString problem;
        if (auto lesson = openLesson(dir.filePath(name), problem))
            catalog.lessons.push_back(*std::move(lesson));
        else
            catalog.problems.append(problem);
    }
    return catalog;
}

} // namespace

std::optional<engine::Lesson> openLesson(const QString& path, QString& problem) {
    auto lesson = engine::readLessonFile(path.toStdString());
    if (lesson)
        return std::move(lesson).value();
    problem = QString::fromStdString(lesson.error().message + " " + lesson.error().hint).trimmed();
    return std::nullopt;
}

LessonCatalog LessonCatalog::of(const QString& folder, const QString& language) {
    if (folder.isEmpty()) // to QDir, an empty path is the working directory
        return {};
    LessonCatalog catalog = lessonsIn(folder);
    if (!language.isEmpty()) {
        LessonCatalog translated = lessonsIn(QDir(folder).filePath(language));
        for (engine::Lesson& lesson : translated.lessons) {
            const auto original =
                std::ranges::find(catalog.lessons, lesson.name, &engine::Lesson::name);
            if (original != catalog.lessons.end())
                *original = std::move(lesson);
            else
                catalog.lessons.push_back(std::move(lesson)); // there is no English one
        }
        catalog.problems += translated.problems;
    }
    std::ranges::stable_sort(catalog.lessons, {}, &engine::Lesson::order);
    return catalog;
}

} // namespace ui
