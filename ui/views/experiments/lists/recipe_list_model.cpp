// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/lists/recipe_list_model.h"

#include "ui/language/engine_words.h"

#include <algorithm>
#include <ranges>

namespace ui {

namespace {

enum class Origin { Swift, Beyond, Own };

Origin originOf(const RecipeEntry& entry) {
    const bool isSwift = entry.recipe.source.find(kSwiftPaper) != std::string::npos;
    return entry.isOwn ? Origin::Own : isSwift ? Origin::Swift : Origin::Beyond;
}

QString originName(Origin origin) {
    switch (origin) {
    case Origin::Swift:
        return RecipeListModel::tr("The SWIFT paper");
    case Origin::Beyond:
        return RecipeListModel::tr("Beyond the paper");
    case Origin::Own:
        break;
    }
    return RecipeListModel::tr("Your own");
}

} // namespace

RecipeListModel::RecipeListModel(const RecipeCatalog& catalog,
                                 const ExperimentQueue& queue,
                                 QObject* parent)
    : QAbstractListModel(parent)
    , m_catalog(catalog)
    , m_queue(queue) {
    connect(&catalog, &RecipeCatalog::changed, this, &RecipeListModel::update);
    connect(&queue, &ExperimentQueue::changed, this, [this] {
        if (!m_rows.empty())
            emit dataChanged(index(0), index(static_cast<int>(m_rows.size()) - 1));
    });
    update();
}

void RecipeListModel::update() {
    beginResetModel();
    m_rows.clear();
    for (const RecipeEntry& entry : m_catalog.entries())
        m_rows.push_back(&entry);
    std::ranges::stable_sort(m_rows, {}, [](const RecipeEntry* entry) { return originOf(*entry); });
    endResetModel();
}

RecipeListModel::State RecipeListModel::stateOf(const RecipeEntry& entry) const {
    for (const ExperimentJob& job : m_queue.jobs() | std::views::reverse) {
        if (job.source != entry.path)
            continue;
        if (job.isAtWork())
            return State::Running;
        if (job.state == JobState::Finished)
            return job.isGain ? State::Gain : State::NoGain;
    }
    return State::NotRun;
}

QString RecipeListModel::stateText(State state) {
    switch (state) {
    case State::Running:
        return tr("running");
    case State::Gain:
        return tr("finished");
    case State::NoGain:
        return tr("finished, and no gain");
    case State::NotRun:
        break;
    }
    return tr("not run yet");
}

int RecipeListModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

QVariant RecipeListModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const auto row = static_cast<std::size_t>(index.row());
    const RecipeEntry& entry = *m_rows[row];
    switch (role) {
    case Qt::DisplayRole:
        return engineText(entry.recipe.title);
    case Qt::ToolTipRole:
        return tr("<b>%1</b><br>%2<br>%3")
            .arg(engineText(entry.recipe.title).toHtmlEscaped(),
                 QString::fromStdString(entry.recipe.source).toHtmlEscaped(),
                 engineText(entry.recipe.summary).toHtmlEscaped());
    case Qt::AccessibleTextRole:
        return tr("%1, %2, %3")
            .arg(engineText(entry.recipe.title),
                 QString::fromStdString(entry.recipe.source),
                 stateText(stateOf(entry)));
    case PathRole:
        return entry.path;
    case SourceRole:
        return shortSource(entry.recipe);
    case SectionRole:
        return originName(originOf(entry));
    case IsFirstOfSectionRole:
        return row == 0 || originOf(*m_rows[row - 1]) != originOf(entry);
    case StateRole:
        return static_cast<int>(stateOf(entry));
    default:
        return {};
    }
}

QModelIndex RecipeListModel::indexOf(const QString& path) const {
    const auto found = std::ranges::find(m_rows, path, &RecipeEntry::path);
    return found == m_rows.end() ? QModelIndex() : index(static_cast<int>(found - m_rows.begin()));
}

} // namespace ui
