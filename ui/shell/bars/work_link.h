// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QAbstractButton>

namespace ui {

/// What goes on beside the chat, told in the status strip: what it is called and how it stands.
struct WorkNote {
    QString title;
    QString state; ///< "prompt 3 of 40 · 2 min left"
    bool isError = false;

    bool operator==(const WorkNote&) const = default;
};

/// A work note in one line that leads to the work. Where there is little room, the title is cut and
/// never the state. Thread: UI.
class WorkLink : public QAbstractButton {
    Q_OBJECT

public:
    explicit WorkLink(const Theme& theme, QWidget* parent = nullptr);

    void setNote(const WorkNote& note);

    const WorkNote& note() const { return m_note; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

    /// As much of the title as there is room for.
    QString shownTitle() const;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    int titleWidth() const;
    int widthFor(int titleWidth) const;

    const Theme& m_theme;
    WorkNote m_note;
};

} // namespace ui
