// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/models/model_panel.h"

#include "ui/shell/bars/banner.h"
#include "ui/shell/figure_text.h"
#include "ui/shell/widgets/column_scroll.h"

#include <QApplication>
#include <QCheckBox>
#include <QDir>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QRegularExpression>
#include <QVBoxLayout>

namespace ui {

using namespace engine;

namespace {

ViewInfo viewInfo() {
    return {"model",
            QObject::tr("Model"),
            QObject::tr("Opens a model from a GGUF file or a folder, shows how much memory it "
                        "needs before it is loaded, and how far loading has come."),
            Topic::Model | Topic::Loading};
}

/// "~/models/tiny", as people write it.
QString shownPath(const QString& path) {
    const QString home = QDir::homePath();
    return path.startsWith(home + QLatin1Char('/')) ? QLatin1Char('~') + path.mid(home.size())
                                                    : path;
}

QString orNone(const QString& text) { return text.isEmpty() ? QObject::tr("none") : text; }

/// The engine's description with its count of tokens written as the other numbers here.
QString tokenizerText(QString text) {
    static const QRegularExpression count(QStringLiteral("\\((.*, )(\\d+) tokens\\)$"));
    const QRegularExpressionMatch found = count.match(text);
    if (found.hasMatch())
        text.replace(found.capturedStart(2),
                     found.capturedLength(2),
                     numberText(found.captured(2).toLongLong()));
    return orNone(text);
}

} // namespace

ModelPanel::ModelPanel(const ViewContext& viewContext,
                       RecentModels& recent,
                       ModelLibrary& library,
                       const std::vector<BackendInfo>& backends,
                       QWidget* parent)
    : View(viewContext, viewInfo(), parent)
    , m_recent(recent)
    , m_library(library)
    , m_options(new LoadOptions(backends))
    , m_list(new RecentList(viewContext.theme, recent))
    , m_libraryList(new LibraryList(viewContext.theme, library)) {
    setProperty("ground", "panel");
    setAttribute(Qt::WA_StyledBackground);
    build();
    connect(&context().bridge, &EngineBridge::eventCame, this, &ModelPanel::apply);
    connect(m_load, &QPushButton::clicked, this, &ModelPanel::load);
    connect(m_cancel, &QPushButton::clicked, this, &ModelPanel::cancel);
    connect(m_unload, &QPushButton::clicked, this, &ModelPanel::unload);
    connect(m_openFile, &QPushButton::clicked, this, &ModelPanel::askForFile);
    connect(m_openFolder, &QPushButton::clicked, this, &ModelPanel::askForFolder);
    connect(m_more, &QPushButton::toggled, m_options, &QWidget::setVisible);
    connect(m_options, &LoadOptions::changed, this, [this] {
        if (m_stage == Stage::Chosen)
            inspect();
    });
    connect(m_list, &RecentList::opened, this, &ModelPanel::propose);
    connect(&m_recent, &RecentModels::changed, this, &ModelPanel::showStage);
    connect(m_libraryList, &LibraryList::opened, this, &ModelPanel::propose);
    connect(&m_library, &ModelLibrary::changed, this, &ModelPanel::showStage);
    connect(m_watchFolder, &QPushButton::clicked, this, &ModelPanel::askForWatchedFolder);
    connect(m_onlyRunning, &QCheckBox::toggled, m_libraryList, &LibraryList::setOnlyRunning);
    connect(&theme(), &Theme::changed, this, &ModelPanel::adoptTheme);
    adoptTheme();
    if (store().model() != nullptr) {
        m_path = QString::fromStdString(store().model()->path);
        m_stage = Stage::Loaded;
    }
    showStage();
}

void ModelPanel::build() {
    auto* page = new QWidget;
    page->setProperty("ground", "panel");
    page->setMaximumWidth(theme().scaled(520));
    auto* column = new QVBoxLayout(page);
    column->setContentsMargins(20, 20, 20, 20);
    column->setSpacing(12);
    m_title = plainLabel(page, true);
    m_where = plainLabel(page, true);
    m_where->setProperty("tone", "muted");
    auto* head = new QVBoxLayout;
    head->setSpacing(2);
    head->addWidget(m_title);
    head->addWidget(m_where);
    column->addLayout(head);
    m_errorPlace = new QVBoxLayout;
    column->addLayout(m_errorPlace);
    m_stages = new LoadStages(theme(), page);
    m_facts = new FigureList(theme(), TextRole::Small, page);
    m_more = new QPushButton(tr("Load options"), page);
    m_more->setProperty("form", "small");
    m_more->setCheckable(true);
    m_memory = new FigureList(theme(), TextRole::Figure, page);
    column->addWidget(m_stages);
    column->addWidget(m_facts);
    column->addWidget(m_memory);
    column->addWidget(m_more, 0, Qt::AlignLeft);
    column->addWidget(m_options);
    m_options->hide();
    QLayout* actions = buildButtons(*column);
    m_recentTitle = plainLabel(page, true);
    m_recentTitle->setText(tr("Recent"));
    column->addWidget(m_recentTitle);
    column->addWidget(m_list);
    buildLibrary(*column);
    column->addStretch(1);
    auto* scroll = new ColumnScroll(this);
    scroll->setAlignment(Qt::AlignHCenter | Qt::AlignTop);
    scroll->setWidget(page);
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(scroll, 1);
    layout->addLayout(actions);
}

void ModelPanel::buildLibrary(QVBoxLayout& column) {
    m_libraryTitle = plainLabel(this, true);
    m_libraryTitle->setText(tr("Watched folders"));
    m_onlyRunning = new QCheckBox(tr("Only models that run here"), this);
    m_watchFolder = new QPushButton(tr("Watch a folder\u2026"), this);
    m_watchFolder->setProperty("form", "small");
    m_watchFolder->setToolTip(tr("Lists the models in a folder, now and when new ones are added"));
    column.addWidget(m_libraryTitle);
    column.addWidget(m_onlyRunning);
    column.addWidget(m_libraryList);
    column.addWidget(m_watchFolder, 0, Qt::AlignLeft);
}

/// The buttons to open are in the column; the actions for the model are below it, always visible.
QLayout* ModelPanel::buildButtons(QVBoxLayout& column) {
    m_foot = plainLabel(this, true);
    m_foot->setProperty("tone", "muted");
    m_cancel = new QPushButton(this);
    m_cancel->setText(tr("Cancel  (Esc)"));
    m_cancel->setAccessibleName(tr("Cancel"));
    m_load = new QPushButton(tr("Load"), this);
    m_load->setProperty("kind", "primary");
    m_unload = new QPushButton(tr("Unload"), this);
    m_openFile = new QPushButton(tr("Open file\u2026"), this);
    m_openFolder = new QPushButton(tr("Open folder\u2026"), this);
    auto* ways = new QHBoxLayout;
    ways->setSpacing(8);
    ways->addWidget(m_openFile);
    ways->addWidget(m_openFolder);
    ways->addStretch(1);
    column.addLayout(ways);
    auto* actions = new QHBoxLayout;
    actions->setContentsMargins(20, 8, 20, 12);
    actions->setSpacing(8);
    actions->addWidget(m_foot, 1);
    for (QPushButton* button : {m_unload, m_cancel, m_load})
        actions->addWidget(button);
    return actions;
}

void ModelPanel::adoptTheme() {
    m_title->setFont(theme().font(TextRole::Title));
    m_where->setFont(theme().font(TextRole::Figure));
    m_foot->setFont(theme().font(TextRole::Small));
    m_recentTitle->setFont(theme().font(TextRole::DockTitle));
    m_libraryTitle->setFont(theme().font(TextRole::DockTitle));
    m_onlyRunning->setFont(theme().font(TextRole::Small));
}

void ModelPanel::propose(const QString& path) {
    if (m_stage == Stage::Loading)
        return;
    m_path = path;
    m_report.reset();
    m_options->setLoad(m_recent.loadOf(path));
    clearError();
    setStage(Stage::Chosen);
    m_load->setFocus();
    inspect();
}

void ModelPanel::inspect() {
    const LoadModel wanted = m_options->command(m_path);
    context().bridge.send(InspectModel{.requestId = ++m_inspection,
                                       .path = wanted.path,
                                       .backend = wanted.backend,
                                       .settings = wanted.settings,
                                       .contextLength = wanted.contextLength});
}

/// Only the newest reply counts: the options may have changed meanwhile.
void ModelPanel::applyInspection(const EngineEvent& event) {
    if (const auto* inspected = event.as<ModelInspected>();
        inspected != nullptr && inspected->requestId == m_inspection) {
        if (m_isInspectionRefused)
            clearError(); // of options that are not chosen any more
        showReport(reportOf(*inspected));
    }
    const auto* failed = event.as<EngineFailed>();
    if (failed != nullptr && failed->task == "inspect_model" && failed->requestId == m_inspection &&
        m_stage == Stage::Chosen) {
        m_report.reset(); // of other options
        showStage();
        showError(failed->error);
        m_isInspectionRefused = true;
    }
}

/// The user need not wait for it before the load.
void ModelPanel::showReport(const ModelReport& report) {
    const bool isOpening = m_stage == Stage::Chosen || m_stage == Stage::Loading;
    if (!isOpening || report.path != m_path)
        return;
    m_report = report;
    showStage();
}

void ModelPanel::load() {
    if (m_stage != Stage::Chosen)
        return;
    clearError();
    m_asked = m_options->command(m_path);
    if (!context().bridge.send(*m_asked)) {
        m_asked.reset();
        const bool isReplay = context().bridge.isReplay();
        const QString why =
            isReplay ? tr("A recording is shown, so no model can be loaded.") : busyText();
        const QString hint = isReplay ? tr("Close the recording first.") : QString();
        showError({ErrorCode::Unsupported, why.toStdString(), hint.toStdString()});
        return;
    }
    m_stages->begin(m_report && !m_report->memory.empty() ? m_report->memory.front().bytes : 0);
    setStage(Stage::Loading);
    m_cancel->setFocus();
}

void ModelPanel::cancel() {
    if (m_stage == Stage::Loading) {
        context().bridge.send(StopLoading{});
        return; // the engine's reply ends the load
    }
    const ModelLoaded* loaded = store().model();
    m_path = loaded != nullptr ? QString::fromStdString(loaded->path) : QString();
    clearError();
    setStage(loaded != nullptr ? Stage::Loaded : Stage::Idle);
}

void ModelPanel::unload() { context().bridge.send(UnloadModel{}); }

void ModelPanel::askForFile() {
    auto* dialog = new QFileDialog(
        this, tr("Open a model file"), QString(), tr("GGUF files (*.gguf);;All files (*)"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    connect(dialog, &QFileDialog::fileSelected, this, &ModelPanel::propose);
    dialog->open();
}

void ModelPanel::askForFolder() {
    auto* dialog = new QFileDialog(this, tr("Open a model folder"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    connect(dialog, &QFileDialog::fileSelected, this, &ModelPanel::propose);
    dialog->open();
}

void ModelPanel::askForWatchedFolder() {
    auto* dialog = new QFileDialog(this, tr("Watch a folder of models"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    dialog->setOption(QFileDialog::ShowDirsOnly);
    connect(dialog, &QFileDialog::fileSelected, &m_library, &ModelLibrary::addFolder);
    dialog->open();
}

void ModelPanel::apply(const EngineEvent& event) {
    applyInspection(event);
    if (const auto* loaded = event.as<ModelLoaded>()) {
        // Read before the focused button is hidden and Qt passes the focus on.
        const bool hadFocus = isAncestorOf(QApplication::focusWidget());
        m_path = QString::fromStdString(loaded->path);
        clearError();
        // The list opens the model itself, so a lesson model's name would be a wrong one there.
        const bool isLesson = !loaded->model.silentCopies.empty();
        // Only what is chosen here is kept for the model, not what the program was started with.
        const bool isOwn = m_asked && m_asked->path == loaded->path;
        if (!context().bridge.isReplay())
            m_recent.add({m_path,
                          isLesson ? QString() : QString::fromStdString(loaded->model.name),
                          isOwn ? *m_asked : m_recent.loadOf(m_path)});
        m_asked.reset();
        setStage(Stage::Loaded);
        if (hadFocus)
            emit focusFreed();
    } else if (const auto* progress = event.as<ModelLoadProgress>()) {
        if (m_stage == Stage::Loading)
            return;
        m_path = QString::fromStdString(progress->path); // begun elsewhere, e.g. at the start
        m_report.reset();
        m_options->setLoad(m_recent.loadOf(m_path));
        m_stages->begin(0);
        setStage(Stage::Loading);
    } else if (event.as<ModelUnloaded>() != nullptr) {
        if (m_stage == Stage::Chosen)
            inspect(); // there is more memory free now
        if (m_stage != Stage::Loaded)
            return;
        m_path.clear();
        setStage(Stage::Idle);
    } else if (const auto* failed = event.as<EngineFailed>();
               failed != nullptr && failed->task == "load_model") {
        m_asked.reset();
        setStage(Stage::Chosen);
        if (failed->error.code != ErrorCode::Cancelled)
            showError(failed->error);
        if (!m_report && !m_path.isEmpty())
            inspect(); // its load was begun elsewhere
    }
}

void ModelPanel::refreshView(Topics changed) {
    if (changed.testFlag(Topic::Loading) && store().loading() != nullptr)
        m_stages->setProgress(*store().loading());
}

/// Moving to another window resets fonts and colours.
void ModelPanel::showEvent(QShowEvent* event) {
    View::showEvent(event);
    adoptTheme();
    showTitle();
    // What was measured while it was hidden had no style yet.
    for (QWidget* part : findChildren<QWidget*>()) {
        part->ensurePolished();
        part->updateGeometry();
    }
}

void ModelPanel::setStage(Stage stage) {
    m_stage = stage;
    showStage();
}

void ModelPanel::showStage() {
    const bool isOpening = m_stage == Stage::Chosen || m_stage == Stage::Loading;
    showTitle();
    showFacts();
    showMemory();
    m_stages->setVisible(m_stage == Stage::Loading);
    m_more->setVisible(m_stage == Stage::Chosen);
    m_options->setVisible(m_stage == Stage::Chosen && m_more->isChecked());
    m_cancel->setVisible(isOpening);
    m_load->setVisible(m_stage == Stage::Chosen);
    m_load->setText(m_report && !m_report->fits() ? tr("Load anyway") : tr("Load"));
    m_unload->setVisible(m_stage == Stage::Loaded);
    m_openFile->setVisible(!isOpening);
    m_openFolder->setVisible(!isOpening);
    const bool isReplay = context().bridge.isReplay();
    m_foot->setText(isReplay ? tr("A recording is shown, so no model can be loaded.")
                    : m_stage == Stage::Loading ? tr("You can read other chats meanwhile.")
                                                : QString());
    const bool hasRecent = !isOpening && !m_recent.list().empty();
    m_recentTitle->setVisible(hasRecent);
    m_list->setVisible(hasRecent);
    const bool hasLibrary = !isOpening && !m_library.folders().empty();
    for (QWidget* part : {static_cast<QWidget*>(m_libraryTitle),
                          static_cast<QWidget*>(m_onlyRunning),
                          static_cast<QWidget*>(m_libraryList)})
        part->setVisible(hasLibrary);
    m_watchFolder->setVisible(!isOpening);
    // A recording's model is shown, and no other model can be opened meanwhile.
    for (QWidget* part : {static_cast<QWidget*>(m_unload),
                          static_cast<QWidget*>(m_openFile),
                          static_cast<QWidget*>(m_openFolder),
                          static_cast<QWidget*>(m_watchFolder),
                          static_cast<QWidget*>(m_list),
                          static_cast<QWidget*>(m_libraryList)})
        part->setEnabled(!isReplay);
}

QString ModelPanel::shownName() const {
    QString name;
    if (m_stage == Stage::Loaded && store().model() != nullptr)
        name = QString::fromStdString(store().model()->model.name);
    else if (m_report)
        name = m_report->name;
    return name.isEmpty() ? RecentModels::nameOf(m_path) : name;
}

void ModelPanel::showTitle() {
    const QString name = breakable(shownName());
    m_title->setText(m_stage == Stage::Idle      ? tr("Open a model")
                     : m_stage == Stage::Loading ? tr("Opening %1").arg(name)
                                                 : name);
    m_where->setText(m_stage == Stage::Idle
                         ? tr("A GGUF file, or a folder with config.json and safetensors.")
                         : breakable(shownPath(m_path)));
    m_where->setFont(theme().font(m_stage == Stage::Idle ? TextRole::Interface : TextRole::Figure));
}

void ModelPanel::showFacts() {
    std::vector<FigureList::Row> rows;
    if (m_stage == Stage::Chosen && m_report) {
        rows = {{tr("Family"), m_report->family},
                {tr("Parameters"), parameterText(m_report->parameterCount)},
                {tr("Layers"), numberText(m_report->layerCount)},
                {tr("Weights"), m_report->types},
                {tr("Size in the file"), sizeText(m_report->fileBytes)},
                {tr("Licence"),
                 m_report->licence.isEmpty() ? tr("not stated in the files") : m_report->licence},
                {tr("Held in memory as"), m_report->arithmetic},
                {tr("Context of training"),
                 tr("%1 tokens").arg(numberText(m_report->modelContextLength))},
                {tr("Tokenizer"), tokenizerText(m_report->tokenizer)},
                {tr("Chat template"), orNone(m_report->chatTemplate)}};
        for (const QString& note : m_report->notes)
            rows.push_back({.name = tr("Note"), .value = note, .isSentence = true});
    } else if (m_stage == Stage::Loaded && store().model() != nullptr) {
        const ModelFacts& model = store().model()->model;
        rows = {
            {tr("Family"), QString::fromStdString(model.architecture)},
            {tr("Layers"), numberText(model.layerCount)},
            {tr("Weights"), tr("%1; %2").arg(fullArithmetic(model), sizeText(model.weightBytes))},
            {tr("Backend"), backendText(model)},
            {tr("Context"), tr("%1 tokens").arg(numberText(model.contextLength))},
            {tr("Keys and values"), orNone(QString::fromStdString(model.kvType))},
            {tr("Tokenizer"), tokenizerText(QString::fromStdString(model.tokenizer))},
            {tr("Chat template"), orNone(QString::fromStdString(model.chatTemplate))}};
    }
    m_facts->setRows(std::move(rows));
}

void ModelPanel::showMemory() {
    std::vector<FigureList::Row> rows;
    if (m_report && (m_stage == Stage::Chosen || m_stage == Stage::Loading)) {
        for (const MemoryItem& item : m_report->memory)
            rows.push_back({item.what, sizeText(item.bytes)});
        rows.push_back({m_report->freeBytes == 0
                            ? tr("Needed")
                            : (m_report->isOfDevice ? tr("Needed, of %1 on the GPU")
                                                    : tr("Needed, of %1 free"))
                                  .arg(sizeText(m_report->freeBytes)),
                        sizeText(m_report->neededBytes()),
                        true,
                        !m_report->fits()});
    }
    m_memory->setRows(std::move(rows));
}

void ModelPanel::showError(const Error& error) {
    clearError();
    Notice notice;
    notice.kind = Notice::Kind::Error;
    notice.headline = QString::fromStdString(error.message);
    notice.sentence = QString::fromStdString(error.hint);
    m_error = new Banner(theme(), std::move(notice), this);
    m_errorPlace->addWidget(m_error);
    connect(m_error, &Banner::closed, this, &ModelPanel::clearError);
}

void ModelPanel::clearError() {
    if (m_error != nullptr)
        m_error->deleteLater();
    m_error = nullptr;
    m_isInspectionRefused = false;
}

/// While there is something to cancel, Esc belongs to this panel, whatever the window uses it for.
bool ModelPanel::event(QEvent* event) {
    const bool isKey =
        event->type() == QEvent::ShortcutOverride || event->type() == QEvent::KeyPress;
    const bool canCancel = m_stage == Stage::Loading || m_stage == Stage::Chosen;
    if (!isKey || !canCancel || static_cast<QKeyEvent*>(event)->key() != Qt::Key_Escape)
        return View::event(event);
    event->accept();
    if (event->type() == QEvent::KeyPress)
        cancel();
    return true;
}

} // namespace ui
