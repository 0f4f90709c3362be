// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"
#include "ui/plots/figure_table.h"
#include "ui/theme/theme.h"

#include <QStandardItemModel>
#include <QTreeView>

#include <optional>

namespace ui {

/// What the list of skip sets shows. A plain value.
struct SkipSetListing {
    engine::ModelSkipSets own; ///< of the loaded model; no layers if there is none
    std::vector<engine::ModelSkipSets> others;
    std::optional<engine::SkipSet> inUse;  ///< of the decoder that runs
    std::optional<engine::SkipSet> pinned; ///< of a model with as many layers

    bool operator==(const SkipSetListing&) const = default;
};

/// A set of the list. A plain value.
struct ListedSkipSet {
    engine::NamedSkipSet set;
    bool isOwn = false; ///< of the loaded model, so that it can be used
};

/// The stored skip sets below their models; those of the loaded model come first, those of others
/// are muted. Narrow columns that have no room are left out; the table has all of them. Thread: UI.
class SkipSetTree : public QTreeView {
    Q_OBJECT

public:
    explicit SkipSetTree(const Theme& theme, QWidget* parent = nullptr);

    /// The chosen set stays chosen. While a name is typed, the listing waits for its end.
    void setListing(const SkipSetListing& listing);

    const SkipSetListing& listing() const { return m_listing; }

    /// The chosen set; none on a model's line.
    std::optional<ListedSkipSet> current() const;

    /// Chooses the loaded model's set of a task, if there is one.
    void choose(const std::string& task);

    /// Ready to type another name for the chosen set.
    void editName();

    /// Shows the names as they are stored, whatever was typed.
    void showAgain();

    FigureTable table() const;

signals:
    void currentChosen();
    void renamed(const std::string& task, const QString& name);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;
    void closeEditor(QWidget* editor, QAbstractItemDelegate::EndEditHint hint) override;

private:
    void fill();
    void addModel(const engine::ModelSkipSets& model, bool isOwn);
    QList<QStandardItem*> rowOf(const engine::ModelSkipSets& model, int index, bool isOwn) const;
    QStringList cellsOf(const engine::ModelSkipSets& model, const engine::NamedSkipSet& set) const;
    QString stateOf(const engine::ModelSkipSets& model, const engine::NamedSkipSet& set) const;
    void showColumns();

    const Theme& m_theme;
    QStandardItemModel m_model;
    SkipSetListing m_listing;
    std::optional<SkipSetListing> m_later; ///< came while a name was typed
    bool m_isFilling = false;
};

/// "SmolLM2-135M-Instruct", or what can be said of a model whose name was not kept.
QString shownModel(const engine::ModelSkipSets& model);

/// How a set was found: "search, swift", "import", "published, swift".
QString sourceText(const engine::StoredSkipSet& stored);

/// Sublayers that are skipped, of those that may be, as r counts them: "25 of 56".
QString skippedText(const engine::SkipSet& set, int layerCount);

} // namespace ui
