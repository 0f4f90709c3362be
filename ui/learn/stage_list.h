// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/learn/learn_stage.h"
#include "ui/theme/theme.h"

#include <QWidget>

#include <vector>

class QAbstractButton;
class QButtonGroup;

namespace ui {

/// The stages of the workspace Learn, one button each. It is one tab stop; arrow keys choose.
/// Thread: UI.
class StageList : public QWidget {
    Q_OBJECT

public:
    StageList(const Theme& theme, const std::vector<LearnStage>& stages, QWidget* parent = nullptr);

    /// Marks a stage without emitting chosen().
    void setCurrent(int index);

    int current() const;

    /// Null when out of range.
    QAbstractButton* button(int index) const;

signals:
    /// The user chose it, by mouse or keyboard.
    void chosen(int index);

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void restyle();

    const Theme& m_theme;
    QButtonGroup* m_group;
};

} // namespace ui
