// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/models/library/model_library.h"

#include "ui/bridge/run_store.h"
#include "ui/files/clean_path.h"

#include <QFileInfo>
#include <QSettings>

#include <algorithm>
#include <utility>

namespace ui {

using namespace engine;

namespace {

constexpr const char* kFoldersKey = "models/folders";
constexpr const char* kHiddenKey = "models/hidden";
constexpr int kRescanMs = 700; ///< a file that is being copied changes its folder often

} // namespace

ModelLibrary::ModelLibrary(EngineBridge& bridge,
                           const RunStore& store,
                           QSettings& settings,
                           QObject* parent)
    : QObject(parent)
    , m_bridge(bridge)
    , m_store(store)
    , m_settings(settings)
    , m_hidden(settings.value(kHiddenKey).toStringList()) {
    for (const QString& path : settings.value(kFoldersKey).toStringList())
        m_folders.push_back({path, false, {}});
    m_thread.setMaxThreadCount(1);
    m_rescan.setSingleShot(true);
    m_rescan.setInterval(kRescanMs);
    connect(&m_rescan, &QTimer::timeout, this, &ModelLibrary::scan);
    connect(
        &m_watcher, &QFileSystemWatcher::directoryChanged, this, &ModelLibrary::onFolderChanged);
    connect(&m_watcher, &QFileSystemWatcher::fileChanged, this, [this] { m_rescan.start(); });
    connect(&bridge, &EngineBridge::eventCame, this, &ModelLibrary::apply);
    if (!m_folders.empty())
        scan();
}

ModelLibrary::~ModelLibrary() { m_thread.waitForDone(); }

void ModelLibrary::keep() {
    QStringList paths;
    for (const LibraryFolder& folder : m_folders)
        paths.append(folder.path);
    m_settings.setValue(kFoldersKey, paths);
    m_settings.setValue(kHiddenKey, m_hidden);
}

void ModelLibrary::addFolder(const QString& path) {
    const QString clean = cleanPath(path);
    m_hidden.removeIf([&](const QString& hidden) { return hidden.startsWith(clean + u'/'); });
    if (std::ranges::find(m_folders, clean, &LibraryFolder::path) == m_folders.end())
        m_folders.push_back({clean, false, {}});
    keep();
    emit changed();
    scan();
}

void ModelLibrary::removeFolder(const QString& path) {
    std::erase_if(m_folders, [&](const LibraryFolder& folder) { return folder.path == path; });
    m_watched.remove(path);
    keep();
    watch();
    emit changed();
}

void ModelLibrary::hideModel(const QString& path) {
    m_hidden.append(path);
    for (LibraryFolder& folder : m_folders)
        std::erase_if(folder.models, [&](const LibraryModel& model) { return model.path == path; });
    keep();
    emit changed();
}

void ModelLibrary::scan() {
    for (const LibraryFolder& folder : m_folders)
        m_thread.start([this, path = folder.path] {
            // The destructor waits for this thread, so `this` is valid.
            QMetaObject::invokeMethod(
                this,
                [this, path, found = findModels(path)] { take(path, found); },
                Qt::QueuedConnection);
        });
}

void ModelLibrary::take(const QString& path, const FoundModels& found) {
    const auto folder = std::ranges::find(m_folders, path, &LibraryFolder::path);
    if (folder == m_folders.end())
        return;
    folder->isGone = found.folders.isEmpty();
    folder->models.clear();
    for (const QString& model : found.models) {
        if (m_hidden.contains(model))
            continue;
        const auto facts = m_facts.constFind(model);
        const QString stamp = found.stamps.value(model);
        if (facts != m_facts.cend() && facts->stamp == stamp)
            folder->models.push_back(*facts);
        else
            folder->models.push_back({model, stamp, std::nullopt, {}, found.files.value(model)});
    }
    m_watched.insert(path, found.folders);
    // What changed between the look and the watch told nobody.
    if (watch())
        m_rescan.start();
    emit changed();
    inspectNext();
}

/// Changes beside a watched folder do not matter, except that it appears or disappears.
void ModelLibrary::onFolderChanged(const QString& path) {
    const bool matters = std::ranges::any_of(m_folders, [&](const LibraryFolder& folder) {
        return m_watched.value(folder.path).contains(path) ||
               QFileInfo(folder.path).isDir() == folder.isGone;
    });
    if (matters)
        m_rescan.start();
}

/// The system does not tell when a folder itself is renamed, but the one above it changes. A file
/// that was refused may still be being written. Whether something is watched that was not before.
bool ModelLibrary::watch() {
    QStringList wanted;
    for (const LibraryFolder& folder : m_folders) {
        wanted += m_watched.value(folder.path) + QStringList{QFileInfo(folder.path).path()};
        for (const LibraryModel& model : folder.models)
            if (!model.reason.isEmpty())
                wanted += model.files;
    }
    const QStringList present = m_watcher.directories() + m_watcher.files();
    for (const QString& path : present)
        if (!wanted.contains(path))
            m_watcher.removePath(path);
    bool isMore = false;
    for (const QString& path : std::as_const(wanted))
        if (!present.contains(path))
            isMore |= m_watcher.addPath(path);
    return isMore;
}

bool ModelLibrary::isLoaded(const LibraryModel& model) const {
    return m_store.model() != nullptr && m_store.model()->path == model.path.toStdString();
}

/// One that was never inspected; if there is none and the free memory has to be told anew, any that
/// has a report.
const LibraryModel* ModelLibrary::nextToInspect() const {
    const LibraryModel* known = nullptr;
    for (const LibraryFolder& folder : m_folders)
        for (const LibraryModel& model : folder.models) {
            if (!model.report && model.reason.isEmpty())
                return &model;
            if (known == nullptr && model.report)
                known = &model;
        }
    return m_isMemoryOld ? known : nullptr;
}

void ModelLibrary::inspectNext() {
    if (!m_inspected.isEmpty() || m_store.answers().isRunning())
        return;
    const LibraryModel* model = nextToInspect();
    if (model == nullptr)
        return;
    InspectModel inspect;
    inspect.requestId = ++m_request;
    inspect.path = model->path.toStdString();
    if (m_bridge.send(std::move(inspect)))
        m_inspected = model->path;
}

void ModelLibrary::apply(const EngineEvent& event) {
    if (const auto* inspected = event.as<ModelInspected>();
        inspected != nullptr && inspected->requestId == m_request) {
        takeAnswer(reportOf(*inspected), {});
        return;
    }
    const auto* failed = event.as<EngineFailed>();
    if (failed != nullptr && failed->task == "inspect_model" && failed->requestId == m_request) {
        // The file is named beside it.
        takeAnswer(std::nullopt,
                   QString::fromStdString(failed->error.message)
                       .remove(m_inspected + QStringLiteral(": ")));
        return;
    }
    const bool isOtherModel =
        event.as<ModelLoaded>() != nullptr || event.as<ModelUnloaded>() != nullptr;
    m_isMemoryOld = m_isMemoryOld || isOtherModel;
    if (isOtherModel)
        emit changed();
    if (isOtherModel || event.as<PromptFinished>() != nullptr || failed != nullptr)
        inspectNext();
}

void ModelLibrary::takeAnswer(std::optional<ModelReport> report, const QString& reason) {
    const QString path = std::exchange(m_inspected, {});
    // The memory that is free now applies to all of them.
    const auto renew = [&report](LibraryModel& model) {
        if (report && model.report && model.report->isOfDevice == report->isOfDevice)
            model.report->freeBytes = report->freeBytes;
    };
    for (LibraryFolder& folder : m_folders)
        for (LibraryModel& model : folder.models) {
            if (model.path == path) {
                model.report = report;
                model.reason = reason;
                m_facts.insert(path, model);
            }
            renew(model);
        }
    for (LibraryModel& known : m_facts)
        renew(known);
    if (report)
        m_isMemoryOld = false;
    // What was still being written meanwhile told nobody.
    if (watch())
        m_rescan.start();
    emit changed();
    inspectNext();
}

} // namespace ui
