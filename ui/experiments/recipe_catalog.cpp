// SPDX-License-Identifier: GPL-3.0-only
#include "ui/experiments/recipe_catalog.h"

#include "ui/files/whole_file.h"
#include "ui/shell/figure_text.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QRegularExpression>

#include <algorithm>
#include <utility>

namespace ui {

RecipeCatalog::RecipeCatalog(QString folder, QString ownFolder, QObject* parent)
    : QObject(parent)
    , m_folder(std::move(folder))
    , m_ownFolder(std::move(ownFolder)) {
    read();
}

void RecipeCatalog::read() {
    m_entries.clear();
    m_problems.clear();
    readFolder(m_folder, QStringLiteral("*.json"), false);
    readFolder(m_ownFolder, QStringLiteral("*.swiftexp"), true);
}

void RecipeCatalog::readFolder(const QString& folder, const QString& pattern, bool isOwn) {
    if (folder.isEmpty())
        return;
    for (const QFileInfo& file : QDir(folder).entryInfoList({pattern}, QDir::Files, QDir::Name)) {
        auto recipe = engine::readRecipeFile(file.filePath().toStdString());
        if (recipe)
            m_entries.push_back({file.filePath(), std::move(recipe).value(), isOwn});
        else
            m_problems << errorText(recipe.error());
    }
}

const RecipeEntry* RecipeCatalog::entry(const QString& path) const {
    const auto found = std::ranges::find(m_entries, path, &RecipeEntry::path);
    return found == m_entries.end() ? nullptr : &*found;
}

QString RecipeCatalog::take(const QString& path, QString& problem) {
    const auto recipe = engine::readRecipeFile(path.toStdString());
    if (!recipe) {
        problem = errorText(recipe.error());
        return {};
    }
    return keep(recipe.value(), QFileInfo(path).completeBaseName(), problem);
}

/// A recipe takes the place of its earlier version, and never that of another recipe.
QString RecipeCatalog::placeFor(const engine::Recipe& recipe, const QString& fileName) const {
    QString name = fileName;
    for (int number = 2;; ++number) {
        const QString path = QStringLiteral("%1/%2.swiftexp").arg(m_ownFolder, name);
        const RecipeEntry* there = entry(path);
        const bool isEarlier = there != nullptr && there->recipe.name == recipe.name;
        if (isEarlier || !QFileInfo::exists(path))
            return path;
        name = QStringLiteral("%1 %2").arg(fileName).arg(number);
    }
}

QString
RecipeCatalog::keep(const engine::Recipe& recipe, const QString& fileName, QString& problem) {
    const QString own = placeFor(recipe, fileName);
    QDir().mkpath(m_ownFolder);
    const QByteArray json = QByteArray::fromStdString(engine::recipeJson(recipe));
    if (const QString failure = saveWhole(json, own); !failure.isEmpty()) {
        problem = tr("The recipe cannot be kept as %1 (%2). Check the folder's permissions and the "
                     "free space.")
                      .arg(QDir::toNativeSeparators(own), failure);
        return {};
    }
    read();
    emit changed();
    return own;
}

QString shortSource(const engine::Recipe& recipe) {
    static const QRegularExpression kPaper(
        QStringLiteral("^(.*?),?\\s*(?:(?:of|in) )?arXiv (\\d{4}\\.\\d{4,5})$"));
    static const QRegularExpression kPlace(QStringLiteral("\\b(Fig|Tab|Sec)(ure|le|tion)s?\\b"));
    const QString source = QString::fromStdString(recipe.source);
    const auto paper = kPaper.match(source);
    if (!paper.hasMatch())
        return source;
    const QString number = paper.captured(2);
    QString place =
        paper.captured(1).remove(u',').replace(QStringLiteral(" and "), QStringLiteral(", "));
    const bool isPlace = kPlace.match(place).hasMatch();
    place.replace(kPlace, QStringLiteral("\\1"));
    if (!isPlace)
        return QStringLiteral("arXiv ") + number;
    return number == QLatin1String(kSwiftPaper) ? place
                                                : QStringLiteral("arXiv %1, %2").arg(number, place);
}

} // namespace ui
