// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/experiments/queue/experiment_job.h"
#include "ui/experiments/runs/run_picture.h"
#include "ui/theme/theme.h"

#include <QWidget>

class QLabel;
class QVBoxLayout;

namespace ui {

class FigureList;

/// What the run shown asks, what it leaves out, what its process has noted last, and the machine
/// on which it is measured. Thread: UI.
class HardwarePanel : public QWidget {
    Q_OBJECT

public:
    explicit HardwarePanel(const Theme& theme, QWidget* parent = nullptr);

    void setPicture(const RunPicturePtr& picture, const JobNotes& notes = {});

private:
    void restyle();

    const Theme& m_theme;
    QVBoxLayout* m_column = nullptr;
    FigureList* m_facts;
    QLabel* m_none;
};

} // namespace ui
