// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/experiments/runs/run_picture.h"
#include "ui/theme/theme.h"

#include <QWidget>

class QLabel;

namespace ui {

class FigureList;

/// The machine on which the run shown was measured. Thread: UI.
class HardwarePanel : public QWidget {
    Q_OBJECT

public:
    explicit HardwarePanel(const Theme& theme, QWidget* parent = nullptr);

    void setPicture(const RunPicturePtr& picture);

private:
    void restyle();

    const Theme& m_theme;
    FigureList* m_facts;
    QLabel* m_none;
};

} // namespace ui
