// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/docks/view.h"
#include "ui/views/models/figure_list.h"
#include "ui/views/models/library/library_list.h"
#include "ui/views/models/library/recent_list.h"
#include "ui/views/models/load_options.h"
#include "ui/views/models/load_stages.h"
#include "ui/views/models/model_report.h"

#include <optional>

class QCheckBox;
class QLabel;
class QLayout;
class QPushButton;
class QVBoxLayout;

namespace ui {

class Banner;

/// Opens a model: choose a file or folder, see what it is and what it needs, load it with progress,
/// cancel, unload. Esc cancels. Thread: UI.
class ModelPanel : public View {
    Q_OBJECT

public:
    /// `recent` and `library` outlive it; `backends` are those that can be chosen.
    ModelPanel(const ViewContext& context,
               RecentModels& recent,
               ModelLibrary& library,
               const std::vector<engine::BackendInfo>& backends,
               QWidget* parent = nullptr);

    enum class Stage { Idle, Chosen, Loading, Loaded };

    Stage stage() const { return m_stage; }

    /// Shows this model and what it needs, for the user to load.
    void propose(const QString& path);

    /// Sets the inspection of the proposed model; those of other models are ignored.
    void showReport(const ModelReport& report);

    /// Loads the proposed model.
    void load();

    /// Ends the load, or puts the proposed model back.
    void cancel();

    void unload();
    void askForFile();
    void askForFolder();

    /// Opens the dialog for a folder to watch.
    void askForWatchedFolder();

signals:
    /// The model is loaded, and the button that had the focus is gone.
    void focusFreed();

protected:
    void refreshView(Topics changed) override;
    void showEvent(QShowEvent* event) override;
    bool event(QEvent* event) override;

private:
    void build();
    void buildLibrary(QVBoxLayout& column);
    QLayout* buildButtons(QVBoxLayout& column);
    void adoptTheme();
    void apply(const engine::EngineEvent& event);
    void inspect();
    void applyInspection(const engine::EngineEvent& event);
    QString shownName() const;
    void setStage(Stage stage);
    void showStage();
    void showTitle();
    void showFacts();
    void showMemory();
    void showError(const engine::Error& error);
    void clearError();

    RecentModels& m_recent;
    ModelLibrary& m_library;
    Stage m_stage = Stage::Idle;
    QString m_path; ///< proposed, loading or loaded
    std::optional<ModelReport> m_report;
    std::uint64_t m_inspection = 0;           ///< the newest request
    bool m_isInspectionRefused = false;       ///< and the error on the screen says why
    std::optional<engine::LoadModel> m_asked; ///< the load that was begun here, until it ends
    QLabel* m_title = nullptr;
    QLabel* m_where = nullptr;
    QVBoxLayout* m_errorPlace = nullptr;
    Banner* m_error = nullptr;
    LoadStages* m_stages = nullptr;
    FigureList* m_facts = nullptr;
    QPushButton* m_more = nullptr;
    LoadOptions* m_options = nullptr;
    FigureList* m_memory = nullptr;
    QLabel* m_foot = nullptr;
    QPushButton* m_cancel = nullptr;
    QPushButton* m_load = nullptr;
    QPushButton* m_unload = nullptr;
    QPushButton* m_openFile = nullptr;
    QPushButton* m_openFolder = nullptr;
    QLabel* m_recentTitle = nullptr;
    RecentList* m_list = nullptr;
    QLabel* m_libraryTitle = nullptr;
    QPushButton* m_watchFolder = nullptr;
    QCheckBox* m_onlyRunning = nullptr;
    LibraryList* m_libraryList = nullptr;
};

} // namespace ui
