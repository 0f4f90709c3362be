// SPDX-License-Identifier: GPL-3.0-only
#include "ui/experiments/setup/prompt_files.h"
#include "ui/views/experiments/data/data_page.h"
#include "ui/views/experiments/experiments_desk.h"
#include "ui/views/experiments/lists/queue_panel.h"
#include "ui/views/experiments/lists/recipe_panel.h"
#include "ui/views/experiments/options/options_panel.h"

#include <QApplication>
#include <QCursor>
#include <QDesktopServices>
#include <QDir>
#include <QFileDialog>
#include <QMenu>
#include <QUrl>

#include <algorithm>

// What the user opens: prompts, recipes, a model that lies elsewhere now, and files of a report.

namespace ui {

void ExperimentsDesk::openPaths(const QStringList& paths) {
    if (paths.isEmpty())
        return;
    emit shown();
    if (paths.front().endsWith(QLatin1String(".swiftexp"), Qt::CaseInsensitive)) {
        takeRecipe(paths.front());
        return;
    }
    showNoRun();
    m_queuePanel->setCurrent({});
    m_recipes->setCurrent({});
    m_options->setRecipe({}, nullptr);
    m_page->dataPage().open(paths);
    m_page->showData();
}

void ExperimentsDesk::takeRecipe(const QString& path) {
    QString problem;
    const QString own = m_catalog.take(path, problem);
    if (own.isEmpty())
        tell(tr("The recipe was not opened."), problem);
    else
        showRecipe(own);
}

void ExperimentsDesk::askForData() {
    askForFiles(tr("Open data"), false, &ExperimentsDesk::openPaths);
}

void ExperimentsDesk::askForDataFolder() {
    askForFiles(tr("Open data"), true, &ExperimentsDesk::openPaths);
}

/// For a button: a dialog can choose files or folders, but not both.
void ExperimentsDesk::offerFiles(const QString& title, UsePaths use) {
    auto* menu = new QMenu(m_page);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    const auto add = [&](const QString& text, bool isFolder) {
        menu->addAction(
            text, this, [this, title, isFolder, use] { askForFiles(title, isFolder, use); });
    };
    add(tr("&Files with prompts..."), false);
    add(tr("A f&older with prompts..."), true);
    const QWidget* button = QApplication::focusWidget();
    menu->popup(button != nullptr ? button->mapToGlobal(button->rect().bottomLeft())
                                  : QCursor::pos());
}

void ExperimentsDesk::askForFiles(const QString& title, bool isFolder, UsePaths use) {
    auto* dialog = new QFileDialog(m_page, title);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(isFolder ? QFileDialog::Directory : QFileDialog::ExistingFiles);
    if (!isFolder)
        dialog->setNameFilters(
            {tr("Prompts (%1)").arg(QLatin1String(kPromptFileNames)), tr("All files (*)")});
    connect(dialog, &QFileDialog::filesSelected, this, use);
    dialog->open();
}

void ExperimentsDesk::askForRecipe() {
    auto* dialog = new QFileDialog(m_page, tr("Open a recipe"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilter(tr("Recipes (*.swiftexp *.json)"));
    connect(dialog, &QFileDialog::fileSelected, this, &ExperimentsDesk::takeRecipe);
    dialog->open();
}

/// With the program of the desktop that is for such files.
void ExperimentsDesk::openWithOther(const QString& path) {
    if (!QDesktopServices::openUrl(QUrl::fromLocalFile(path)))
        tell(tr("No program of this desktop opened it."),
             tr("Open it yourself: %1").arg(QDir::toNativeSeparators(path)));
}

/// The files of the model with which a run was begun. Only the same model is taken.
void ExperimentsDesk::askForModel(const QString& id) {
    const ExperimentJob* job = m_queue.job(id);
    const RunPicturePtr picture = job != nullptr ? m_watcher.picture(job->folder) : nullptr;
    if (picture == nullptr || picture->facts == nullptr)
        return;
    const bool isFile =
        std::ranges::any_of(picture->facts->plan.models, [](const engine::RunModel& model) {
            return model.path.ends_with(".gguf");
        });
    auto* dialog = new QFileDialog(m_page, tr("Find the model of this experiment"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(isFile ? QFileDialog::ExistingFile : QFileDialog::Directory);
    if (isFile)
        dialog->setNameFilter(tr("GGUF files (*.gguf);;All files (*)"));
    connect(dialog, &QFileDialog::fileSelected, this, [this, id](const QString& path) {
        m_queue.runWithModel(id, path);
    });
    dialog->open();
}

} // namespace ui
