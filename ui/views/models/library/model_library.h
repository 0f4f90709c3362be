// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/engine_bridge.h"
#include "ui/views/models/library/model_finder.h"
#include "ui/views/models/model_report.h"

#include <QFileSystemWatcher>
#include <QHash>
#include <QObject>
#include <QStringList>
#include <QThreadPool>
#include <QTimer>

#include <optional>
#include <vector>

class QSettings;

namespace ui {

/// A model of a watched folder. A plain value.
struct LibraryModel {
    QString path;
    QString stamp;                     ///< see FoundModels
    std::optional<ModelReport> report; ///< once it was inspected
    QString reason;                    ///< why it cannot run here; empty = not known to be so
    QStringList files;                 ///< see FoundModels

    /// Whether it was inspected, fits into the memory that is free, and is of a known family.
    bool runsHere() const { return report && report->fits(); }
};

/// A folder that the user has watched.
struct LibraryFolder {
    QString path;
    bool isGone = false;
    std::vector<LibraryModel> models; ///< by path; without those that were taken off the list
};

/// The models in folders that the user watches. The folders are looked through on a thread of their
/// own, at the start and whenever something changes in them; what is found is inspected by the
/// engine, one model at a time and never while an answer is made. Folders and models taken off the
/// list are kept in the settings. Thread: UI.
class ModelLibrary : public QObject {
    Q_OBJECT

public:
    /// Request ids from here on are the library's.
    static constexpr std::uint64_t kFirstRequest = std::uint64_t{1} << 40;

    /// All outlive it.
    ModelLibrary(EngineBridge& bridge,
                 const RunStore& store,
                 QSettings& settings,
                 QObject* parent = nullptr);
    ~ModelLibrary() override;

    const std::vector<LibraryFolder>& folders() const { return m_folders; }

    /// Watches the folder from now on; models of it that were taken off the list are back.
    void addFolder(const QString& path);

    /// Nothing is removed from the disk.
    void removeFolder(const QString& path);

    /// Takes a model off the list; it stays on the disk.
    void hideModel(const QString& path);

    /// Whether it is the model that is loaded: it holds the memory that it needs.
    bool isLoaded(const LibraryModel& model) const;

signals:
    void changed();

private:
    void keep();
    void scan();
    void take(const QString& folder, const FoundModels& found);
    bool watch();
    void onFolderChanged(const QString& path);
    const LibraryModel* nextToInspect() const;
    void inspectNext();
    void apply(const engine::EngineEvent& event);
    void takeAnswer(std::optional<ModelReport> report, const QString& reason);

    EngineBridge& m_bridge;
    const RunStore& m_store;
    QSettings& m_settings;
    std::vector<LibraryFolder> m_folders;
    QStringList m_hidden;
    QHash<QString, QStringList> m_watched; ///< folders below each folder
    QHash<QString, LibraryModel> m_facts;  ///< by path; what was inspected in this run
    QFileSystemWatcher m_watcher;
    QTimer m_rescan;
    QThreadPool m_thread{this};
    std::uint64_t m_request = kFirstRequest;
    bool m_isMemoryOld = false; ///< another model is loaded than when the free memory was told
    QString m_inspected;        ///< path of the model that the engine is asked for; empty = none
};

} // namespace ui
