// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/experiments/runs/run_picture.h"
#include "ui/shell/docks/view_menu.h"

#include <QSplitter>

namespace ui {

class DriftView;
class PromptsView;
class TaskTilesView;

/// A stream of prompts while it runs and afterwards: the set of each task, the drift along the
/// prompts, and the prompts themselves. Thread: UI.
class StreamPage : public QSplitter {
    Q_OBJECT

public:
    StreamPage(const ViewContext& context, ViewMenu& menu, QWidget* parent = nullptr);

    /// `isAtWork`: a process goes on with it at this moment.
    void setPicture(const RunPicturePtr& picture, bool isAtWork);

    TaskTilesView& tasks() { return *m_tasks; }

    DriftView& drift() { return *m_drift; }

    PromptsView& prompts() { return *m_prompts; }

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    void shareHeight();

    const Theme& m_theme;
    TaskTilesView* m_tasks;
    DriftView* m_drift;
    PromptsView* m_prompts;
    QString m_folder;
    bool m_isShared = false; ///< the height, for this folder
};

} // namespace ui
