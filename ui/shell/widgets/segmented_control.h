// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QAbstractButton>
#include <QStringList>
#include <QWidget>

#include <vector>

class QButtonGroup;

namespace ui {

/// A choice among a few options side by side: "Simple | All". It is one tab stop; arrow keys
/// choose; a screen reader finds one checkable button per option. Thread: UI.
class SegmentedControl : public QWidget {
    Q_OBJECT

public:
    /// `name` is what a screen reader calls the choice as a whole.
    SegmentedControl(const Theme& theme, const QString& name, QWidget* parent = nullptr);

    /// Replaces all choices; none is chosen then. Texts are plain.
    void setSegments(const QStringList& texts);

    int count() const { return static_cast<int>(m_segments.size()); }

    /// -1 = none.
    int currentIndex() const;

    /// Shows the choice without emitting chosen(). -1 or out of range = none.
    void setCurrentIndex(int index);

    /// Null when out of range; e.g. for tool tips.
    QAbstractButton* segment(int index) const;

signals:
    /// The user chose it, by mouse or keyboard.
    void chosen(int index);

protected:
    void paintEvent(QPaintEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void choose(int index);

    const Theme& m_theme;
    QButtonGroup* m_group;
    std::vector<QAbstractButton*> m_segments;
};

} // namespace ui
