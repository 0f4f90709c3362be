// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/skip_sets/skip_sets_view.h"

#include "ui/shell/figure_text.h"
#include "ui/shell/widgets/column_scroll.h"
#include "ui/theme/tip_text.h"
#include "ui/views/layer_map/grid/layer_grid.h"
#include "ui/views/skip_sets/compare/comparison_pane.h"
#include "ui/views/skip_sets/skip_set_tree.h"

#include <QAction>
#include <QBoxLayout>
#include <QFileDialog>
#include <QGridLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>
#include <QUndoStack>

#include <algorithm>
#include <utility>

namespace ui {

using namespace engine;

namespace {

constexpr int kRoomForBoth = 760; ///< pixels at 100 %: list and comparison side by side
constexpr int kRoomForOneButtonRow = 420;
constexpr int kHeightForButtons = 190; ///< in a lower view all room is for the list

ViewInfo skipSetsInfo() {
    return {QStringLiteral("skip_sets"),
            SkipSetsView::tr("Skip sets"),
            SkipSetsView::tr(
                "The skip sets that were found and kept, for each model and task, with the score "
                "that the search gave them. A set can be used at once, compared with another one, "
                "pinned, and exchanged as a file in the format that the authors of SWIFT and "
                "Self-SD publish. Compare figures 2 and 10 of the SWIFT paper."),
            Topic::Model | Topic::Decoder | Topic::Search | Topic::Selection};
}

QString publishedFilter() { return SkipSetsView::tr("Skip sets as they are published (*.json)"); }

QString memoryFilter() { return SkipSetsView::tr("Skip sets with scores and dates (*.json)"); }

} // namespace

SkipSetsView::SkipSetsView(const ViewContext& viewContext, QWidget* parent)
    : View(viewContext, skipSetsInfo(), parent)
    , m_manual(viewContext)
    , m_shelf(viewContext.bridge, viewContext.store, viewContext.undoStack) {
    build();
    makeActions();
    connect(&m_shelf, &SkipSetShelf::changed, this, &SkipSetsView::showAll);
    connect(&m_shelf, &SkipSetShelf::told, this, &SkipSetsView::tell);
    connect(&m_manual, &ManualSet::refused, this, [this](const QString& sentence) {
        tell(sentence, SkipSetShelf::Offer::None);
    });
    connect(&m_manual, &ManualSet::changed, this, &SkipSetsView::showAll);
    connect(m_tree, &SkipSetTree::currentChosen, this, &SkipSetsView::updateActions);
    connect(
        m_tree, &SkipSetTree::renamed, this, [this](const std::string& task, const QString& name) {
            m_shelf.rename(task, name.toStdString());
        });
    connect(m_tree, &QTreeView::activated, m_use, &QAction::trigger);
    connect(m_tree, &QWidget::customContextMenuRequested, this, [this](const QPoint& at) {
        auto* menu = new QMenu(this);
        menu->setAttribute(Qt::WA_DeleteOnClose);
        menu->addActions(actions());
        menu->popup(m_tree->viewport()->mapToGlobal(at));
    });
    connect(m_noteAct, &QPushButton::clicked, this, &SkipSetsView::doOffer);
    connect(m_pane, &ComparisonPane::closed, this, [this] {
        m_pane->setComparison(std::nullopt);
        arrange();
        m_tree->setFocus(Qt::OtherFocusReason);
    });
    connect(m_pane, &ComparisonPane::runAsked, this, [this] {
        if (m_pane->comparison())
            emit runAsked(*m_pane->comparison());
    });
    connect(&viewContext.undoStack, &QUndoStack::indexChanged, this, [this](int index) {
        if (m_undoIndex >= 0 && index != m_undoIndex)
            tell({}, SkipSetShelf::Offer::None); // undone, or another change is the newest
    });
    connect(&theme(), &Theme::changed, this, &SkipSetsView::arrange);
    tell({}, SkipSetShelf::Offer::None);
    arrange();
    showAll();
}

void SkipSetsView::build() {
    m_library = new QWidget(this);
    m_empty = plainLabel(m_library, true);
    m_tree = new SkipSetTree(theme(), m_library);
    m_problems = plainLabel(m_library, true);
    m_problems->setProperty("tone", "problem");
    m_note = plainLabel(m_library, true);
    m_note->setProperty("tone", "small");
    m_noteAct = new QPushButton(m_library);
    m_noteAct->setProperty("form", "small");
    m_pane = new ComparisonPane(theme(), this);
    auto* noteRow = new QHBoxLayout;
    noteRow->addWidget(m_note, 1);
    noteRow->addWidget(m_noteAct);
    m_buttonPlace = new QGridLayout;
    auto* column = new QVBoxLayout(m_library);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_empty);
    column->addWidget(m_tree, 1);
    column->addWidget(m_problems);
    column->addLayout(noteRow);
    column->addLayout(m_buttonPlace);
    m_scroll = new ColumnScroll(this); // on a low screen, or with large text
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setWidget(m_pane);
    m_sides = new QHBoxLayout(this);
    m_sides->addWidget(m_library, 1);
    m_sides->addWidget(m_scroll, 1);
}

QAction* SkipSetsView::add(const QString& text,
                           const char* name,
                           const QKeySequence& key,
                           void (SkipSetsView::*act)()) {
    auto* action = new QAction(text, this);
    action->setObjectName(QLatin1String(name));
    action->setShortcut(key);
    action->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    connect(action, &QAction::triggered, this, act);
    addAction(action);
    return action;
}

void SkipSetsView::makeActions() {
    m_use = add(tr("Use this set"), "use_set", Qt::Key_Return, &SkipSetsView::useSet);
    m_compareMenu = new QMenu(tr("Compare with"), this);
    connect(m_compareMenu, &QMenu::aboutToShow, this, &SkipSetsView::fillCompareMenu);
    m_compare = m_compareMenu->menuAction();
    m_compare->setObjectName(QStringLiteral("compare_sets"));
    addAction(m_compare);
    m_pin = add(tr("Pin"), "pin_stored_set", Qt::Key_P, &SkipSetsView::pinSet);
    m_rename = add(tr("Rename"), "rename_set", Qt::Key_F2, &SkipSetsView::renameSet);
    // The list itself takes these keys, because a name that is typed there needs them, too.
    for (QAction* action : {m_use, m_rename})
        action->setShortcutContext(Qt::WidgetShortcut);
    m_delete = add(tr("Delete"), "delete_set", QKeySequence::Delete, &SkipSetsView::deleteSet);
    m_import = add(tr("Import..."), "import_sets", {}, &SkipSetsView::askForImport);
    m_exportSet = add(tr("Export this set..."), "export_set", {}, &SkipSetsView::exportSet);
    m_exportAll = add(tr("Export all..."), "export_sets", {}, &SkipSetsView::exportAll);
    for (QAction* action : {m_use, m_compare, m_import, m_exportAll}) {
        auto* button = new QPushButton(action->text(), m_library);
        button->setProperty("form", "small");
        if (action == m_compare)
            button->setMenu(m_compareMenu);
        else
            connect(button, &QPushButton::clicked, action, &QAction::trigger);
        connect(action, &QAction::changed, button, [action, button] {
            button->setEnabled(action->isEnabled());
            button->setToolTip(action->isEnabled() ? QString() : action->toolTip());
        });
        m_buttons.push_back(button);
    }
}

/// A narrow view has the comparison in place of the list, and its buttons in two lines; a low one
/// has them in its menu alone.
void SkipSetsView::arrange() {
    const int side = theme().scaled(12);
    m_sides->setContentsMargins(side, theme().scaled(8), side, theme().scaled(8));
    m_sides->setSpacing(theme().scaled(16));
    const bool isWide = width() >= theme().scaled(kRoomForBoth);
    const bool isComparing = m_pane->comparison().has_value();
    m_scroll->setVisible(isComparing);
    m_library->setVisible(isWide || !isComparing);
    m_library->layout()->setSpacing(theme().scaled(6));
    m_buttonPlace->setSpacing(theme().scaled(6));
    const int room = isComparing ? width() / 2 : width();
    const int columns = room >= theme().scaled(kRoomForOneButtonRow) ? 4 : 2;
    for (std::size_t i = 0; i < m_buttons.size(); ++i) {
        m_buttonPlace->addWidget(
            m_buttons[i], static_cast<int>(i) / columns, static_cast<int>(i) % columns);
        m_buttons[i]->setVisible(height() >= theme().scaled(kHeightForButtons));
    }
}

int SkipSetsView::layerCount() const { return m_shelf.listed().own.layerCount; }

std::optional<SkipSet> SkipSetsView::setInUse() const {
    if (m_manual.pending())
        return m_manual.pending();
    const BestSet* used = store().search().used();
    if (used == nullptr || used->change.plan.layerCount != layerCount())
        return std::nullopt;
    return used->change.plan.skipped;
}

/// The chosen set, if it is one of the loaded model's.
std::optional<ListedSkipSet> SkipSetsView::usable() const {
    auto chosen = m_tree->current();
    return chosen && chosen->isOwn ? std::move(chosen) : std::nullopt;
}

void SkipSetsView::refreshView(Topics changed) {
    if (changed.testFlag(Topic::Model)) {
        m_pane->setComparison(std::nullopt);
        arrange();
    }
    showAll();
}

void SkipSetsView::showAll() {
    const SkipSetsListed& listed = m_shelf.listed();
    const bool isReplay = context().bridge.isReplay();
    SkipSetListing listing{listed.own, listed.others, setInUse(), std::nullopt};
    if (const auto& pinned = selection().pinnedSet(); pinned && pinned->layerCount == layerCount())
        listing.pinned = pinned->skipped;
    m_tree->setListing(listing);
    const std::size_t own = listed.own.sets.size();
    m_empty->setText(
        isReplay             ? tr("A recording is shown, and no engine runs: the stored skip sets "
                                  "are listed when a model is loaded.")
        : !m_shelf.isKnown() ? tr("The stored skip sets are being read.")
        : store().model() == nullptr ? tr("No model is loaded, so no skip set can be used.")
        : own == 0 ? tr("No skip set is kept for this model yet. SWIFT finds one while "
                        "it answers, and Import... takes sets from a file.")
                   : QString());
    m_empty->setVisible(!m_empty->text().isEmpty());
    setSubtitle(own == 0 ? QString() : tr("%1 of %2").arg(own).arg(shownModel(listed.own)));
    showProblems();
    updateActions();
}

/// One sentence for all; the tip has each.
void SkipSetsView::showProblems() {
    const auto& problems = m_shelf.listed().problems;
    QStringList all;
    for (const std::string& problem : problems)
        all << QString::fromStdString(problem);
    QString text = all.value(0);
    if (all.size() > 1)
        text = tr("%1 (%2 more cannot be read.)").arg(text).arg(all.size() - 1);
    m_problems->setText(text);
    setTip(*m_problems, all.join(u'\n'));
    m_problems->setVisible(!text.isEmpty());
}

void SkipSetsView::updateActions() {
    const auto chosen = m_tree->current();
    const bool isUsable = chosen && chosen->isOwn;
    const bool isReplay = context().bridge.isReplay();
    const bool canChange = layerCount() > 0 && !isReplay;
    const auto enable = [&](QAction* action, bool isEnabled, const QString& why) {
        action->setToolTip(isReplay ? tr("A recording is shown, so nothing can be changed.") : why);
        action->setEnabled(isEnabled);
    };
    const QString why =
        !chosen ? tr("Choose a skip set first.") : tr("This set was made for another model.");
    for (QAction* action : {m_use, m_compare, m_pin, m_rename, m_delete, m_exportSet})
        enable(action, isUsable, why);
    enable(m_import, canChange, tr("Load a model first."));
    enable(
        m_exportAll, canChange && !m_shelf.listed().own.sets.empty(), tr("There is no set yet."));
    const bool isPinned = isUsable && selection().pinnedSet() &&
                          selection().pinnedSet()->skipped == chosen->set.stored.set;
    m_pin->setText(isPinned ? tr("Unpin") : tr("Pin"));
}

QString SkipSetsView::notice() const { return m_note->text(); }

void SkipSetsView::tell(const QString& sentence, SkipSetShelf::Offer offer) {
    m_offer = offer;
    m_undoIndex = offer == SkipSetShelf::Offer::Undo ? context().undoStack.index() : -1;
    m_note->setText(sentence);
    m_note->setVisible(!sentence.isEmpty());
    m_noteAct->setText(offer == SkipSetShelf::Offer::Replace ? tr("Replace them") : tr("Undo"));
    m_noteAct->setVisible(offer != SkipSetShelf::Offer::None);
}

void SkipSetsView::doOffer() {
    m_tree->setFocus(Qt::OtherFocusReason);
    if (m_offer == SkipSetShelf::Offer::Undo)
        context().undoStack.undo();
    else if (m_offer == SkipSetShelf::Offer::Replace)
        m_shelf.importFrom(QString(m_shelf.replaceablePath()), true);
}

void SkipSetsView::useSet() {
    if (const auto chosen = usable())
        m_manual.use(chosen->set.stored.set,
                     tr("use the skip set \u201C%1\u201D").arg(shownTask(chosen->set.task)));
}

void SkipSetsView::pinSet() {
    const auto chosen = usable();
    if (!chosen)
        return;
    const PlanOutline outline{layerCount(), chosen->set.stored.set, layerCount() - 1};
    const bool isPinned =
        selection().pinnedSet() && selection().pinnedSet()->skipped == outline.skipped;
    selection().setPinnedSet(isPinned ? std::nullopt : std::optional(outline));
    context().bridge.markChanged(Topic::Selection);
    showAll();
}

void SkipSetsView::renameSet() {
    if (usable())
        m_tree->editName();
}

void SkipSetsView::deleteSet() {
    if (const auto chosen = usable())
        m_shelf.remove(chosen->set.task);
}

void SkipSetsView::fillCompareMenu() {
    m_compareMenu->clear();
    const auto chosen = usable();
    if (!chosen)
        return;
    const auto offer = [this](const QString& title, const SkipSet& set) {
        m_compareMenu->addAction(
            menuText(title), this, [this, sets = TitledSkipSet{title, set}] { compareWith(sets); });
    };
    if (const auto inUse = setInUse())
        offer(tr("The set in use"), *inUse);
    if (const auto& pinned = selection().pinnedSet(); pinned && pinned->layerCount == layerCount())
        offer(tr("The pinned set"), pinned->skipped);
    m_compareMenu->addSeparator();
    for (const NamedSkipSet& set : m_shelf.listed().own.sets)
        if (set.task != chosen->set.task)
            offer(shownTask(set.task), set.stored.set);
    if (m_compareMenu->isEmpty())
        m_compareMenu->addAction(tr("There is no other set"))->setEnabled(false);
}

void SkipSetsView::compareWith(const TitledSkipSet& other) {
    const auto chosen = usable();
    if (!chosen)
        return;
    m_pane->setComparison(
        SetComparison{{shownTask(chosen->set.task), chosen->set.stored.set}, other, layerCount()},
        store().model() != nullptr ? store().model()->model.silentCopies : std::vector<int>());
    arrange();
    m_pane->grid().table().setFocus(Qt::TabFocusReason);
}

void SkipSetsView::askForImport() {
    auto* dialog = new QFileDialog(this, tr("Import skip sets"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilters({tr("Skip sets (*.json)"), tr("All files (*)")});
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) {
        m_shelf.importFrom(path);
    });
    dialog->open();
}

void SkipSetsView::exportSet() {
    if (const auto chosen = usable())
        askWhereToExport({chosen->set.task});
}

void SkipSetsView::exportAll() { askWhereToExport({}); }

void SkipSetsView::askWhereToExport(const std::vector<std::string>& tasks) {
    auto* dialog = new QFileDialog(this, tr("Export skip sets"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilters({publishedFilter(), memoryFilter()});
    dialog->setDefaultSuffix(QStringLiteral("json"));
    dialog->selectFile(QStringLiteral("skip_sets.json"));
    connect(dialog, &QFileDialog::fileSelected, this, [this, dialog, tasks](const QString& path) {
        const bool hasScores = dialog->selectedNameFilter() == memoryFilter();
        m_shelf.exportTo(path, tasks, hasScores ? SkipSetForm::Memory : SkipSetForm::Published);
    });
    dialog->open();
}

FigureTable SkipSetsView::table() const {
    return m_pane->comparison() ? m_pane->comparison()->table() : m_tree->table();
}

QSize SkipSetsView::sizeHint() const { return {theme().scaled(480), theme().scaled(290)}; }

QSize SkipSetsView::minimumSizeHint() const { return {theme().scaled(230), theme().scaled(120)}; }

void SkipSetsView::resizeEvent(QResizeEvent* event) {
    View::resizeEvent(event);
    arrange();
}

void SkipSetsView::showEvent(QShowEvent* event) {
    View::showEvent(event);
    m_shelf.setWatched(true);
}

void SkipSetsView::hideEvent(QHideEvent* event) {
    View::hideEvent(event);
    m_shelf.setWatched(false);
}

} // namespace ui
