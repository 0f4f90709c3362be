// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/layer_map/editing/skip_set_actions.h"

#include "ui/files/clean_path.h"
#include "ui/shell/figure_text.h"
#include "ui/views/layer_map/editing/skip_set_files.h"

#include <QAction>
#include <QClipboard>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QInputDialog>

namespace ui {

SkipSetActions::SkipSetActions(const ViewContext& context,
                               ManualSet& manual,
                               std::function<std::optional<engine::PlanOutline>()> shown,
                               QWidget* view)
    : QObject(view)
    , m_context(context)
    , m_manual(manual)
    , m_shown(std::move(shown))
    , m_view(view) {
    QAction* pin =
        add(tr("Pin the skip set"), QStringLiteral("pin_set"), &SkipSetActions::togglePin);
    pin->setShortcut(QKeySequence(Qt::Key_P));
    pin->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    add(tr("Copy the skip set as text"), QStringLiteral("copy_set"), &SkipSetActions::copyText);
    add(tr("Save the skip set..."), QStringLiteral("save_set"), &SkipSetActions::askWhereToSave);
    add(tr("Load a skip set..."), QStringLiteral("load_set"), &SkipSetActions::askWhatToLoad);
}

QAction*
SkipSetActions::add(const QString& text, const QString& name, void (SkipSetActions::*act)()) {
    auto* action = new QAction(text, this);
    action->setObjectName(name);
    connect(action, &QAction::triggered, this, act);
    m_view->addAction(action);
    return action;
}

int SkipSetActions::layerCount() const {
    const engine::ModelLoaded* model = m_context.store.model();
    return model == nullptr ? 0 : model->model.layerCount;
}

/// "model_task", as published sets are named: the task is that of the sets, whatever is answered
/// since. A model's folder may have a point in its name.
std::string SkipSetActions::entryName() const {
    const engine::ModelLoaded* model = m_context.store.model();
    const QFileInfo file(model == nullptr ? tr("model")
                                          : cleanPath(QString::fromStdString(model->path)));
    const bool isGguf = file.suffix().compare(QLatin1String("gguf"), Qt::CaseInsensitive) == 0;
    const QString name = isGguf ? file.completeBaseName() : file.fileName();
    const std::string& task = m_context.store.search().task();
    return name.toStdString() + "_" + (task.empty() ? std::string("chat") : task);
}

void SkipSetActions::tellNothingShown() {
    emit told(tr("There is no skip set yet. The first answer with SWIFT makes one."));
}

void SkipSetActions::togglePin() {
    const auto shown = m_shown();
    if (!shown) {
        tellNothingShown();
        return;
    }
    const bool isPinned = m_context.selection.pinnedSet() == shown;
    m_context.selection.setPinnedSet(isPinned ? std::nullopt : shown);
    m_context.bridge.markChanged(Topic::Selection);
}

void SkipSetActions::copyText() {
    if (const auto shown = m_shown())
        QGuiApplication::clipboard()->setText(setText(leftOutBy(*shown)));
    else
        tellNothingShown();
}

void SkipSetActions::askWhereToSave() {
    if (!m_shown()) {
        tellNothingShown();
        return;
    }
    auto* dialog = new QFileDialog(m_view, tr("Save skip set"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilter(tr("Skip sets (*.json)"));
    dialog->setDefaultSuffix(QStringLiteral("json"));
    dialog->selectFile(QString::fromStdString(entryName()) + QStringLiteral(".json"));
    connect(dialog, &QFileDialog::fileSelected, this, &SkipSetActions::saveTo);
    dialog->open();
}

void SkipSetActions::askWhatToLoad() {
    if (const QString sentence = m_manual.refusal(); !sentence.isEmpty()) {
        emit told(sentence);
        return;
    }
    auto* dialog = new QFileDialog(m_view, tr("Load skip set"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilters({tr("Skip sets (*.json)"), tr("All files (*)")});
    connect(dialog, &QFileDialog::fileSelected, this, &SkipSetActions::loadFrom);
    dialog->open();
}

void SkipSetActions::saveTo(const QString& path) {
    const auto shown = m_shown();
    if (!shown) {
        tellNothingShown();
        return;
    }
    if (const auto problem = writeSkipSet(path, entryName(), leftOutBy(*shown)))
        emit told(*problem);
    else
        emit told(tr("The skip set was saved to %1.").arg(path));
}

void SkipSetActions::loadFrom(const QString& path) {
    if (const QString sentence = m_manual.refusal(); !sentence.isEmpty()) {
        emit told(sentence);
        return;
    }
    const auto sets = readSkipSets(path, layerCount());
    if (!sets) {
        emit told(errorText(sets.error()));
        return;
    }
    if (sets.value().size() == 1)
        m_manual.use(sets.value().begin()->second, tr("load a skip set"));
    else
        askWhichEntry(sets.value());
}

void SkipSetActions::askWhichEntry(const std::map<std::string, engine::SkipSet>& sets) {
    QStringList names;
    for (const auto& [name, set] : sets)
        names << QString::fromStdString(name);
    auto* dialog = new QInputDialog(m_view);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Load skip set"));
    dialog->setLabelText(tr("This file holds several sets. Which one do you want to use?"));
    dialog->setComboBoxItems(names);
    connect(dialog, &QInputDialog::textValueSelected, this, [this, sets](const QString& name) {
        if (const auto found = sets.find(name.toStdString()); found != sets.end())
            m_manual.use(found->second, tr("load a skip set"));
    });
    dialog->open();
}

} // namespace ui
