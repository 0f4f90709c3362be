// SPDX-License-Identifier: GPL-3.0-only
#include "ui/experiments/setup/prompt_files.h"
#include "ui/learn/lessons/lesson_player.h"
#include "ui/studio/import_notice.h"
#include "ui/studio/studio.h"
#include "ui/views/chats/chats_panel.h"
#include "ui/views/controls/parameters_view.h"
#include "ui/views/experiments/experiments_desk.h"
#include "ui/views/models/model_panel.h"
#include "ui/views/search_offer/swift_forecast.h"
#include "ui/views/tune/tune_desk.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>

// The actions of the two libraries, of chats and of models, by menu and key, and what may be
// dropped onto the window.

namespace ui {

using namespace engine;

void Studio::addLibraryActions() {
    ActionCatalog& catalog = m_window->actionCatalog();
    QMenu& file = *m_window->menu(MainWindow::tr("&File"));
    const auto add =
        [&](const char* id, const QString& text, const QList<QKeySequence>& keys, auto act) {
            file.addAction(catalog.add(QLatin1String(id), tr("Chat"), text, keys, act));
        };
    const auto addForChat =
        [&](const char* id, const QString& text, void (ChatsPanel::*act)(ChatId)) {
            add(id, text, {}, [this, act] { (m_chatsPanel->*act)(m_session->chat().record.id); });
        };
    addForChat("chat.pin", tr("Pin c&hat"), &ChatsPanel::togglePinned);
    addForChat("chat.folder", tr("Mo&ve chat to a folder..."), &ChatsPanel::askForFolder);
    addForChat("chat.archive", tr("Ar&chive chat"), &ChatsPanel::toggleArchived);
    addForChat("chat.delete", tr("&Delete chat"), &ChatsPanel::removeChat);
    file.addSeparator();
    add("chat.import", tr("&Import chats from files..."), {}, [this] { askForImport(false); });
    add("chat.import_folder", tr("Import chats from a fo&lder..."), {}, [this] {
        askForImport(true);
    });
    file.addSeparator();
    m_window->menu(MainWindow::tr("&Edit"))
        ->addAction(catalog.add(QStringLiteral("chat.find"),
                                tr("Chat"),
                                tr("Search &in chats..."),
                                {QKeySequence(QStringLiteral("Ctrl+Shift+F"))},
                                [this] {
                                    showDock(QStringLiteral("chats"));
                                    m_chatsPanel->focusFilter();
                                }));
    connect(m_window.get(), &MainWindow::filesDropped, this, &Studio::takeDropped);
}

void Studio::askForImport(bool isFolder) {
    auto* dialog = new QFileDialog(m_window.get(), tr("Import chats"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(isFolder ? QFileDialog::Directory : QFileDialog::ExistingFiles);
    if (!isFolder)
        dialog->setNameFilters({tr("Exported chats (*.json *.jsonl)"), tr("All files (*)")});
    connect(dialog, &QFileDialog::filesSelected, this, &Studio::importChats);
    dialog->open();
}

void Studio::importChats(const QStringList& paths) {
    new ImportNotice(*m_chats, m_window->messages(), paths, this); // deletes itself
}

/// A dropped model is proposed, chats are imported, a recording is replayed, and any other folder
/// is watched for models. A replay has neither models nor chats of its own.
void Studio::takeDropped(const QStringList& dropped) {
    if (!m_options.replayName.isEmpty())
        return;
    QStringList paths;
    for (const QString& path : dropped) {
        if (path.endsWith(QLatin1String(".swiftrun"), Qt::CaseInsensitive))
            openRecording(path);
        else
            paths.append(path);
    }
    if (paths.isEmpty())
        return;
    const bool isRecipe = paths.front().endsWith(QLatin1String(".swiftexp"), Qt::CaseInsensitive);
    if (isRecipe ||
        m_window->currentWorkspace()->objectName() == QLatin1String("experiments_workspace")) {
        m_desk->openPaths(paths);
        return;
    }
    const QStringList prompts = promptPathsOf(paths);
    if (m_window->currentWorkspace()->objectName() == QLatin1String("tune_workspace") &&
        !prompts.isEmpty()) {
        m_tune->addPrompts(prompts);
        return;
    }
    QStringList chats;
    QStringList models;
    QStringList strange;
    for (const QString& path : paths) {
        const QFileInfo info(path);
        const QString suffix = info.suffix().toLower();
        const auto holds = [&](const char* name) { return QDir(path).exists(QLatin1String(name)); };
        if (info.isDir() ? holds("thread.json") : suffix == "json" || suffix == "jsonl") {
            chats.append(path);
        } else if (info.isDir() ? holds("config.json") : suffix == "gguf") {
            models.append(path);
        } else if (info.isDir()) {
            showModelPanel();
            m_library->addFolder(path);
            m_window->messages().show(
                {Notice::Kind::Info,
                 QStringLiteral("dropped"),
                 tr("The folder \"%1\" is watched now.").arg(info.fileName()),
                 tr("The dock Models lists the models in it, also those that come later.")});
        } else {
            strange.append(info.fileName());
        }
    }
    if (!models.isEmpty()) {
        showModelPanel();
        m_modelPanel->propose(models.first());
    }
    if (models.size() > 1)
        m_window->messages().show(
            {Notice::Kind::Info,
             QStringLiteral("one_model"),
             tr("Of the models, only \"%1\" is proposed.")
                 .arg(QFileInfo(models.first()).fileName()),
             tr("One model is loaded at a time. Drop their folder to have all of them listed.")});
    if (!chats.isEmpty())
        importChats(chats);
    if (!strange.isEmpty())
        m_window->messages().show(
            {Notice::Kind::Warning,
             QStringLiteral("dropped"),
             tr("%1 cannot be opened here.").arg(strange.join(QStringLiteral(", "))),
             tr("Drop a GGUF file, a model's folder, a folder of models, a recording, or chats as "
                "JSON.")});
}

void Studio::openDefaultModel() {
    const QString path = m_options.defaultModelPath;
    if (QFileInfo::exists(path)) {
        showModelPanel();
        loadModel(path);
        return;
    }
    m_window->messages().show({Notice::Kind::Error,
                               QStringLiteral("load_model"),
                               tr("The default model is not on this computer."),
                               tr("Fetch it with installer/run.sh, or open another model."),
                               path});
}

void Studio::addLessonAction(QMenu& menu) {
    QAction* lesson =
        m_window->actionCatalog().add(QStringLiteral("model.lesson"),
                                      tr("Model"),
                                      tr("&Lesson model: every layer with a silent copy"),
                                      {},
                                      [this] { toggleLessonModel(); });
    lesson->setCheckable(true);
    lesson->setToolTip(
        tr("Shows a search that succeeds: each layer of the model runs twice, one of "
           "the two is a near-silent copy, and SWIFT should find and skip the "
           "copies."));
    menu.addAction(lesson);
    menu.setToolTipsVisible(true);
}

bool Studio::hasLessonModel() const {
    return m_run.model() != nullptr && !m_run.model()->model.silentCopies.empty();
}

/// The lesson model of the loaded model, or of the default one, and back.
void Studio::toggleLessonModel() {
    if (m_run.model() == nullptr && !QFileInfo::exists(m_options.defaultModelPath)) {
        openDefaultModel(); // which says what is missing
        return;
    }
    const QString path = m_run.model() != nullptr ? QString::fromStdString(m_run.model()->path)
                                                  : m_options.defaultModelPath;
    loadModel(path, !hasLessonModel());
    updateActions(); // the mark follows the model that is loaded
}

void Studio::explainLesson(const ModelLoaded& loaded) {
    const std::size_t copies = loaded.model.silentCopies.size();
    const bool tellsLesson = m_lessonPlayer != nullptr && m_lessonPlayer->lesson() != nullptr;
    if (copies == 0 || tellsLesson) {
        m_window->messages().withdraw(QStringLiteral("lesson"));
        return;
    }
    std::vector<Notice::Choice> choices;
    if (m_run.decoder() == nullptr || m_run.decoder()->name != "swift")
        choices.push_back({forecastAction(m_run, tr("Use SWIFT")),
                           [this] { m_parameters->chooseDecoder("swift"); },
                           false});
    choices.push_back({tr("Back to the model itself"), [this] { toggleLessonModel(); }, false});
    m_window->messages().show(
        {Notice::Kind::Info,
         QStringLiteral("lesson"),
         tr("This is a lesson model: %1 of its %2 layers are near-silent copies.")
             .arg(copies)
             .arg(loaded.model.layerCount),
         tr("SWIFT should find and skip them while it answers. In the layer map each copy stands "
            "on a bar."),
         {},
         std::move(choices)});
}

} // namespace ui
