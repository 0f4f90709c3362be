// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/docks/view.h"
#include "ui/views/layer_map/editing/manual_set.h"
#include "ui/views/skip_sets/compare/set_comparison.h"
#include "ui/views/skip_sets/shelf/skip_set_shelf.h"

#include <optional>

class QAction;
class QHBoxLayout;
class QGridLayout;
class QLabel;
class QMenu;
class QPushButton;

namespace ui {

class ColumnScroll;
class ComparisonPane;
class SkipSetTree;
struct ListedSkipSet;

/// The library of stored skip sets: what was found for which model and task, and what can be done
/// with a set. All actions are in actions(), for the dock's menu, the list's menu and keys.
/// Thread: UI.
class SkipSetsView : public View {
    Q_OBJECT

public:
    explicit SkipSetsView(const ViewContext& context, QWidget* parent = nullptr);

    /// Of the comparison while there is one, else of the list.
    FigureTable table() const override;

    SkipSetTree& tree() { return *m_tree; }

    SkipSetShelf& shelf() { return m_shelf; }

    ComparisonPane& comparisonPane() { return *m_pane; }

    /// The sentence below the list.
    QString notice() const;

    /// Compares the chosen set (A) with another one (B).
    void compareWith(const TitledSkipSet& other);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    /// An experiment of two sets of the loaded model is wanted.
    void runAsked(const ui::SetComparison& sets);

protected:
    void refreshView(Topics changed) override;
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void build();
    void makeActions();
    QAction* add(const QString& text,
                 const char* name,
                 const QKeySequence& key,
                 void (SkipSetsView::*act)());
    void arrange();
    void showAll();
    void updateActions();
    void showProblems();
    void tell(const QString& sentence, SkipSetShelf::Offer offer);
    void doOffer();
    void fillCompareMenu();
    int layerCount() const;
    std::optional<engine::SkipSet> setInUse() const;
    std::optional<ListedSkipSet> usable() const;
    void useSet();
    void pinSet();
    void renameSet();
    void deleteSet();
    void askForImport();
    void exportSet();
    void exportAll();
    void askWhereToExport(const std::vector<std::string>& tasks);

    ManualSet m_manual;
    SkipSetShelf m_shelf;
    SkipSetShelf::Offer m_offer = SkipSetShelf::Offer::None;
    int m_undoIndex = -1; ///< of the stack, while its newest change is offered to be undone
    QHBoxLayout* m_sides = nullptr;
    ColumnScroll* m_scroll = nullptr; ///< around the comparison
    QGridLayout* m_buttonPlace = nullptr;
    QWidget* m_library = nullptr;
    QLabel* m_empty = nullptr;
    SkipSetTree* m_tree = nullptr;
    QLabel* m_problems = nullptr;
    QLabel* m_note = nullptr;
    QPushButton* m_noteAct = nullptr;
    ComparisonPane* m_pane = nullptr;
    QMenu* m_compareMenu = nullptr;
    std::vector<QPushButton*> m_buttons;
    QAction* m_use = nullptr;
    QAction* m_compare = nullptr;
    QAction* m_pin = nullptr;
    QAction* m_rename = nullptr;
    QAction* m_delete = nullptr;
    QAction* m_import = nullptr;
    QAction* m_exportSet = nullptr;
    QAction* m_exportAll = nullptr;
};

} // namespace ui
