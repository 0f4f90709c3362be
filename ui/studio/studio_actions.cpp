// SPDX-License-Identifier: GPL-3.0-only
#include "ui/bridge/links/recording_link.h"
#include "ui/present/presenter.h"
#include "ui/shell/commands/command_search.h"
#include "ui/shell/commands/shortcut_list.h"
#include "ui/studio/inspect_page.h"
#include "ui/studio/settings_dialog.h"
#include "ui/studio/studio.h"
#include "ui/views/chat/chat_view.h"
#include "ui/views/chat/input_bar.h"
#include "ui/views/chat/messages/conversation_view.h"
#include "ui/views/chat/panels/first_sight.h"
#include "ui/views/chat/panels/tasks_dialog.h"
#include "ui/views/controls/parameters_view.h"
#include "ui/views/learn/sides/sides_view.h"
#include "ui/views/models/model_panel.h"
#include "ui/views/search_offer/skip_set_finder.h"

#include <QApplication>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QMenu>

#include <algorithm>

// The actions of menus and keys.
namespace ui {
using namespace engine;

namespace {

QList<QKeySequence> keys(std::initializer_list<const char*> texts) {
    QList<QKeySequence> list;
    for (const char* text : texts)
        list << QKeySequence(QString::fromLatin1(text));
    return list;
}

void addUndoActions(ActionCatalog& catalog, QUndoStack& stack, QMenu& edit) {
    QAction* undo = catalog.add(QStringLiteral("edit.undo"),
                                Studio::tr("Chat"),
                                Studio::tr("&Undo"),
                                keys({"Ctrl+Z"}),
                                [&stack] { stack.undo(); });
    QAction* redo = catalog.add(QStringLiteral("edit.redo"),
                                Studio::tr("Chat"),
                                Studio::tr("&Redo"),
                                keys({"Ctrl+Shift+Z"}),
                                [&stack] { stack.redo(); });
    for (QAction* action : {undo, redo}) {
        action->setEnabled(false);
        edit.addAction(action);
    }
    QObject::connect(&stack, &QUndoStack::canUndoChanged, undo, &QAction::setEnabled);
    QObject::connect(&stack, &QUndoStack::canRedoChanged, redo, &QAction::setEnabled);
    QObject::connect(&stack, &QUndoStack::undoTextChanged, undo, [undo](const QString& text) {
        undo->setText(text.isEmpty() ? Studio::tr("&Undo") : Studio::tr("&Undo: %1").arg(text));
    });
    QObject::connect(&stack, &QUndoStack::redoTextChanged, redo, [redo](const QString& text) {
        redo->setText(text.isEmpty() ? Studio::tr("&Redo") : Studio::tr("&Redo: %1").arg(text));
    });
}

/// The title, reduced to what every file system accepts.
QString fileNameOf(const QString& title) {
    QString name;
    for (const char32_t letter : title.toStdU32String()) {
        const bool isKept = QChar::isLetterOrNumber(letter) || letter == U'-' || letter == U'_';
        name += QChar::fromUcs4(isKept ? letter : U' ');
    }
    name = name.simplified().left(60).trimmed();
    if (!name.isEmpty() && name.back().isHighSurrogate()) // half a letter
        name.chop(1);
    return name.isEmpty() ? Studio::tr("Chat") : name;
}

} // namespace

void Studio::addChatActions() {
    ActionCatalog& catalog = m_window->actionCatalog();
    QMenu& file = *m_window->menu(MainWindow::tr("&File"));
    QMenu& edit = *m_window->menu(MainWindow::tr("&Edit"));
    const auto add = [&](QMenu& menu,
                         const char* id,
                         const QString& text,
                         const QList<QKeySequence>& shortcut,
                         auto act) {
        QAction* action = catalog.add(QLatin1String(id), tr("Chat"), text, shortcut, act);
        menu.addAction(action);
        return action;
    };
    add(file, "chat.new", tr("&New chat"), keys({"Ctrl+N", "Ctrl+Shift+O"}), [this] {
        m_session->newChat();
        m_window->showWorkspace(0);
        m_chatView->input().focusText();
    });
    QAction* rename = add(file, "chat.rename", tr("Rena&me chat..."), {}, [this] { renameChat(); });
    QAction* save =
        add(file, "chat.export", tr("&Export chat..."), keys({"Ctrl+E"}), [this] { exportChat(); });
    QAction* settings = add(file, "chat.settings", tr("S&ystem prompt and limits..."), {}, [this] {
        m_window->showWorkspace(0);
        m_chatView->showAnswerSettings();
    });
    add(file, "chat.prompts", tr("&Prompts..."), keys({"Ctrl+Shift+P"}), [this] { showPrompts(); });
    add(file, "chat.attach", tr("&Attach a text file..."), keys({"Ctrl+Shift+A"}), [this] {
        m_window->showWorkspace(0);
        m_chatView->askForFile();
    });
    file.addSeparator();
    m_chatView->setMenuActions({settings, rename, save});
    addUndoActions(catalog, m_undoStack, edit);
    edit.addSeparator();
    add(edit, "chat.copy_last", tr("&Copy last answer"), keys({"Ctrl+Shift+C"}), [this] {
        m_chatView->copyLastAnswer();
    });
    add(edit,
        "app.search",
        tr("&Search chats, commands and settings..."),
        keys({"Ctrl+K"}),
        [this] { showCommandSearch(); });
    add(edit, "app.shortcuts", tr("&Keyboard shortcuts..."), keys({"Ctrl+/"}), [this] {
        showShortcuts();
    });
    add(edit, "app.settings", tr("Se&ttings..."), keys({"Ctrl+,"}), [this] { showSettings(); });
    QMenu& view = *m_window->menu(MainWindow::tr("&View"));
    view.addAction(catalog.add(QStringLiteral("inspect.turn"),
                               tr("Inspect"),
                               tr("&Switch between search and round"),
                               keys({"Ctrl+Shift+I"}),
                               [this] {
                                   m_window->showWorkspace(1);
                                   m_inspectPage->turn();
                               }));
    QAction* origin = add(view, "chat.origin", tr("Show &origin"), keys({"Ctrl+Shift+H"}), [] {});
    origin->setCheckable(true);
    origin->setChecked(m_chatView->showsOrigin());
    connect(origin, &QAction::toggled, m_chatView, &ChatView::setShowsOrigin);
    connect(m_chatView, &ChatView::originToggled, origin, &QAction::setChecked);
    keepSmallChoices(*origin);
    connect(m_window.get(), &MainWindow::settingsAsked, this, &Studio::showSettings);
}

void Studio::addRunActions() {
    ActionCatalog& catalog = m_window->actionCatalog();
    QMenu& run = *m_window->menu(MainWindow::tr("&Run"));
    const auto add =
        [&](const char* id, const QString& text, const QList<QKeySequence>& shortcut, auto act) {
            QAction* action = catalog.add(QLatin1String(id), tr("Run"), text, shortcut, act);
            run.addAction(action);
            return action;
        };
    add("run.stop", tr("&Stop"), keys({"Esc"}), [this] { stopOrClose(); });
    add("run.regenerate", tr("Answer &again"), keys({"Ctrl+R"}), [this] {
        m_chatView->regenerateLast();
    });
    add("run.continue", tr("&Continue the answer"), keys({"Ctrl+Shift+Return"}), [this] {
        m_chatView->continueLast();
    });
    run.addSeparator();
    m_recordAction =
        add("run.record", tr("&Record to a file..."), {}, [this] { toggleRecording(); });
    add("run.replay", tr("Open a recor&ding..."), {}, [this] { askForRecording(); });
    addSideActions();
}

void Studio::addModelActions() {
    ActionCatalog& catalog = m_window->actionCatalog();
    QMenu& model = *m_window->menu(MainWindow::tr("&Model"));
    const auto add =
        [&](const char* id, const QString& text, const QList<QKeySequence>& shortcut, auto act) {
            model.addAction(catalog.add(QLatin1String(id), tr("Model"), text, shortcut, act));
        };
    add("model.choose", tr("&Models..."), keys({"Ctrl+Shift+M"}), [this] { showModelPanel(); });
    add("model.open_file", tr("Open a GGUF &file..."), keys({"Ctrl+O"}), [this] {
        showModelPanel();
        m_modelPanel->askForFile();
    });
    add("model.open_folder", tr("Open a model f&older..."), {}, [this] {
        showModelPanel();
        m_modelPanel->askForFolder();
    });
    add("model.open_default", tr("Open the &default model"), {}, [this] { openDefaultModel(); });
    addLessonAction(model);
    add("model.tasks", tr("&Recognised tasks..."), {}, [this] { showTasks({}); });
    connect(&m_chatView->conversation(), &ConversationView::taskAsked, this, &Studio::showTasks);
    add("model.skip_sets", tr("S&kip sets..."), {}, [this] {
        m_window->showWorkspace(1);
        Workspace& docks = *m_window->currentWorkspace();
        docks.focusDock(*docks.dock(QStringLiteral("inspect.skip_sets")));
    });
    add("model.save_defaults", tr("&Save as this model's defaults"), {}, [this] {
        saveModelDefaults();
    });
    add("model.forget_defaults", tr("Dele&te this model's defaults"), {}, [this] {
        forgetModelDefaults();
    });
    add("model.unload", tr("&Unload"), {}, [this] { m_bridge->send(UnloadModel{}); });
}

void Studio::addHelpActions() {
    ActionCatalog& catalog = m_window->actionCatalog();
    QMenu& help = *m_window->menu(MainWindow::tr("&Help"));
    help.addAction(catalog.find(QStringLiteral("app.shortcuts")));
    help.addAction(catalog.add(
        QStringLiteral("help.first_sight"), tr("Help"), tr("&What you see"), {}, [this] {
            m_window->showWorkspace(0);
            m_firstSight->showAgain();
        }));
    help.addAction(
        catalog.add(QStringLiteral("app.about"), tr("Help"), tr("&About SWIFT Studio"), {}, [this] {
            m_window->messages().show(
                {Notice::Kind::Info,
                 QStringLiteral("about"),
                 QStringLiteral("SWIFT Studio %1.").arg(QApplication::applicationVersion()),
                 tr("SWIFT Studio runs language models on this computer and speeds up their "
                    "decoding by self-speculation (SWIFT, arXiv 2410.06916). The window is "
                    "licensed under GPL-3.0, the engine under Apache-2.0.")});
        }));
    QMenu& file = *m_window->menu(MainWindow::tr("&File"));
    QAction* quit =
        catalog.add(QStringLiteral("app.quit"), tr("Chat"), tr("&Quit"), keys({"Ctrl+Q"}), [this] {
            m_window->close();
        });
    file.addAction(quit);
}

/// Esc first closes an open popup: Qt does so before a shortcut acts. Then it closes a token's
/// details, and then it stops whatever runs.
void Studio::stopOrClose() {
    if (m_chatView->isVisible() && m_chatView->conversation().hasPinnedToken())
        m_chatView->conversation().unpin();
    else if (SidesView* sides = runningSides())
        sides->stop();
    else if (m_finder->isRunning())
        m_finder->stop();
    else if (m_session->obstacle(QStringLiteral("x")) == SendObstacle::Answering)
        m_session->stop();
    else if (m_run.loading() != nullptr)
        m_bridge->send(StopLoading{});
    else if (m_session->contextQuestion() != nullptr)
        m_session->dismissContextQuestion();
    else
        m_presenter->setPresenting(false);
}

void Studio::showCommandSearch() {
    m_chats->listChats(this, [this](QList<ChatRecord> chats) {
        std::vector<Command> commands;
        for (const ChatRecord& chat : chats)
            commands.push_back({chat.title, tr("chat"), [this, id = chat.id] {
                                    m_window->showWorkspace(0);
                                    m_session->openChat(id);
                                }});
        for (const SavedPrompt& prompt : m_prompts.prompts())
            commands.push_back({prompt.title, tr("prompt"), [this, text = prompt.text] {
                                    m_window->showWorkspace(0);
                                    m_chatView->insertText(text);
                                    m_chatView->input().focusText();
                                }});
        for (const ActionCatalog::Entry& entry : m_window->actionCatalog().entries())
            if (entry.action->isEnabled())
                commands.push_back({QString(entry.action->text()).remove(QLatin1Char('&')),
                                    entry.action->shortcut().toString(QKeySequence::NativeText),
                                    [action = entry.action] { action->trigger(); }});
        for (Command& command : dockCommands())
            commands.push_back(std::move(command));
        for (Command& command : parameterCommands())
            commands.push_back(std::move(command));
        for (Command& command : recipeCommands())
            commands.push_back(std::move(command));
        if (m_search != nullptr)
            return;
        auto* search = new CommandSearch(m_theme, std::move(commands), m_window.get());
        m_search = search;
        search->setAttribute(Qt::WA_DeleteOnClose);
        search->move(m_window->mapToGlobal(
            QPoint((m_window->width() - search->width()) / 2, m_theme.scaled(60))));
        search->open();
    });
}

/// Each dock is raised and gets the focus.
std::vector<Command> Studio::dockCommands() {
    std::vector<Command> commands;
    int index = 0;
    for (Workspace* workspace : m_window->workspaces()) {
        for (QDockWidget* dock : workspace->docks())
            commands.push_back({tr("Dock: %1").arg(dock->windowTitle()),
                                workspace->windowTitle(),
                                [this, index, workspace, dock] {
                                    m_window->showWorkspace(index);
                                    workspace->focusDock(*dock);
                                }});
        ++index;
    }
    return commands;
}

/// A decoder is chosen at once; a setting is shown, ready to be changed.
std::vector<Command> Studio::parameterCommands() {
    std::vector<Command> commands;
    if (!m_options.replayName.isEmpty() || m_run.model() == nullptr)
        return commands;
    // While it is behind another dock, it still shows the earlier choice.
    m_parameters->refresh(Topic::Model | Topic::Decoder);
    for (const DecoderInfo& decoder : m_run.model()->decoders)
        commands.push_back({tr("Decoder: %1").arg(QString::fromStdString(decoder.title)),
                            tr("decoder"),
                            [this, name = decoder.name] { m_parameters->chooseDecoder(name); },
                            tr("Use %1").arg(QString::fromStdString(decoder.title))});
    for (const SettingsForm* form : {&m_parameters->form(), &m_parameters->sampling()})
        for (const SettingRow* row : form->rows())
            commands.push_back({tr("Setting: %1").arg(settingTitle(row->setting()).whole()),
                                row->valueText(),
                                [this, name = row->setting().name] {
                                    showDock(QStringLiteral("chat.parameters"));
                                    m_parameters->showSetting(name);
                                },
                                QString::fromStdString(row->setting().name)});
    return commands;
}

void Studio::showShortcuts() {
    auto* list = new ShortcutList(m_theme, m_window->actionCatalog(), m_window.get());
    list->setAttribute(Qt::WA_DeleteOnClose);
    list->open();
}

void Studio::showSettings() {
    auto* dialog = new SettingsDialog(m_theme,
                                      *m_window,
                                      m_answerDefaults,
                                      m_settings,
                                      {m_options.chatsPath,
                                       m_options.settingsPath,
                                       m_options.ownPresetsFolder,
                                       m_options.translationsFolder});
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &SettingsDialog::shortcutsAsked, this, &Studio::showShortcuts);
    dialog->open();
}

/// The task is chosen in the list; an empty name chooses none.
void Studio::showTasks(const QString& task) {
    auto* dialog = new TasksDialog(m_theme, *m_bridge, task, m_window.get());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void Studio::askForRecording() {
    auto* dialog = new QFileDialog(m_window.get(), tr("Open a recording"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilter(tr("Recordings (*.swiftrun)"));
    connect(dialog, &QFileDialog::fileSelected, this, &Studio::openRecording);
    dialog->open();
}

/// It is shown in a window of its own, which could not say why it does not open.
void Studio::openRecording(const QString& path) {
    if (const auto recording = engine::RunReader::open(path.toStdString()); !recording)
        m_window->messages().show({Notice::Kind::Error,
                                   QStringLiteral("open_recording"),
                                   QString::fromStdString(recording.error().message),
                                   QString::fromStdString(recording.error().hint)});
    else
        emit replayAsked(path);
}

void Studio::toggleRecording() {
    if (!m_run.recordingPath().empty()) {
        m_bridge->send(StopRecording{});
        return;
    }
    auto* dialog = new QFileDialog(m_window.get(), tr("Record the run to a file"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("swiftrun"));
    dialog->setNameFilter(tr("Recordings (*.swiftrun)"));
    dialog->selectFile(fileNameOf(m_session->chat().record.title) + QStringLiteral(".swiftrun"));
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) {
        m_bridge->send(StartRecording{path.toStdString()});
    });
    dialog->open();
}

void Studio::exportChat() {
    const ChatRecord& chat = m_session->chat().record;
    if (chat.id == 0)
        return;
    auto* dialog = new QFileDialog(m_window.get(), tr("Export the chat"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilters(
        {tr("Markdown (*.md)"), tr("HTML (*.html)"), tr("JSON (*.json)"), tr("PDF (*.pdf)")});
    dialog->setDefaultSuffix(QStringLiteral("md"));
    dialog->selectFile(fileNameOf(chat.title) + QStringLiteral(".md"));
    connect(dialog, &QFileDialog::filterSelected, dialog, [dialog](const QString& filter) {
        dialog->setDefaultSuffix(filter.section(QLatin1String("*."), 1).chopped(1));
    });
    connect(dialog,
            &QFileDialog::fileSelected,
            this,
            [this, dialog, id = chat.id](const QString& path) {
                exportChatTo(id, path, dialog->defaultSuffix());
            });
    dialog->open();
}

/// In the form of the path's ending, or as `otherwise` says where it has none of these.
void Studio::exportChatTo(ChatId id, const QString& path, const QString& otherwise) {
    ExportRequest request;
    request.path = path;
    request.hasOrigin = m_chatView->showsOrigin();
    const QStringList forms = {QStringLiteral("md"),
                               QStringLiteral("html"),
                               QStringLiteral("json"),
                               QStringLiteral("pdf")}; // as ExportFormat counts
    const QString ending = QFileInfo(path).suffix().toLower();
    const QString form = forms.contains(ending) ? ending : otherwise;
    request.format = static_cast<ExportFormat>(forms.indexOf(form));
    m_chats->exportChat(id, request, this, [this](ExportOutcome outcome) {
        m_window->messages().show(outcome.error.isEmpty() ? Notice{Notice::Kind::Info,
                                                                   QStringLiteral("export"),
                                                                   tr("The chat was exported."),
                                                                   outcome.path}
                                                          : Notice{Notice::Kind::Error,
                                                                   QStringLiteral("export"),
                                                                   tr("The chat was not exported."),
                                                                   outcome.error});
    });
}

void Studio::renameChat() {
    const ChatRecord& chat = m_session->chat().record;
    if (chat.id == 0)
        return;
    auto* dialog = new QInputDialog(m_window.get());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Rename the chat"));
    dialog->setLabelText(tr("Title"));
    dialog->setTextValue(chat.title);
    dialog->resize(m_theme.scaled(480), dialog->sizeHint().height());
    connect(
        dialog, &QInputDialog::textValueSelected, this, [this, id = chat.id](const QString& title) {
            if (!title.trimmed().isEmpty())
                m_session->rename(id, title.trimmed());
        });
    dialog->open();
}

} // namespace ui
