// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QScrollArea>

namespace ui {

/// A scroll area for a column of controls: it scrolls only vertically, and is never narrower than
/// its column, whatever the text size.
class ColumnScroll : public QScrollArea {
    Q_OBJECT
public:
    explicit ColumnScroll(QWidget* parent = nullptr);

    QSize minimumSizeHint() const override;

protected:
    /// The Left and Right keys are passed on to the parent.
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;
};

} // namespace ui
