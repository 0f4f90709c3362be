// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/experiments/recipe/recipe.h"

#include <QObject>
#include <QString>
#include <QStringList>

#include <vector>

namespace ui {

/// A recipe and its file.
struct RecipeEntry {
    QString path;
    engine::Recipe recipe;
    bool isOwn = false; ///< the user's, else shipped
};

/// The shipped recipes, and those that the user has opened. Thread: UI.
class RecipeCatalog : public QObject {
    Q_OBJECT

public:
    /// `folder` has the shipped recipes; `ownFolder` those of the user, may be empty.
    RecipeCatalog(QString folder, QString ownFolder, QObject* parent = nullptr);

    const std::vector<RecipeEntry>& entries() const { return m_entries; }

    /// Null if there is none with this path.
    const RecipeEntry* entry(const QString& path) const;

    /// Copies a recipe of the user's into the own folder. Returns its path there, or nothing and
    /// `problem` says why.
    QString take(const QString& path, QString& problem);

    /// Keeps a recipe in the own folder, in place of its earlier version: one of the same name in
    /// a file of the same name. As take().
    QString keep(const engine::Recipe& recipe, const QString& fileName, QString& problem);

    /// Sentences about files that could not be read.
    const QStringList& problems() const { return m_problems; }

signals:
    void changed();

private:
    void read();
    QString placeFor(const engine::Recipe& recipe, const QString& fileName) const;
    void readFolder(const QString& folder, const QString& pattern, bool isOwn);

    QString m_folder;
    QString m_ownFolder;
    std::vector<RecipeEntry> m_entries;
    QStringList m_problems;
};

/// The paper that introduces SWIFT, on arXiv.
constexpr const char* kSwiftPaper = "2410.06916";

/// Where the recipe comes from, as short as a row of a list needs it: "Tab 2, 4" of the paper that
/// introduces SWIFT, "arXiv 2504.05598, Tab 1" of another one.
QString shortSource(const engine::Recipe& recipe);

} // namespace ui
