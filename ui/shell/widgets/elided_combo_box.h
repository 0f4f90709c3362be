// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QComboBox>
#include <QStylePainter>

namespace ui {

/// A combo box whose text ends in an ellipsis where it does not fit. Thread: UI.
class ElidedComboBox : public QComboBox {
public:
    using QComboBox::QComboBox;

    /// The present text as it is painted.
    QString shownText() const {
        QStyleOptionComboBox option;
        initStyleOption(&option);
        const QRect room = style()->subControlRect(
            QStyle::CC_ComboBox, &option, QStyle::SC_ComboBoxEditField, this);
        return fontMetrics().elidedText(currentText(), Qt::ElideRight, room.width() - 4);
    }

protected:
    void paintEvent(QPaintEvent* /*event*/) override {
        QStylePainter painter(this);
        QStyleOptionComboBox option;
        initStyleOption(&option);
        painter.drawComplexControl(QStyle::CC_ComboBox, option);
        option.currentText = shownText();
        painter.drawControl(QStyle::CE_ComboBoxLabel, option);
    }
};

} // namespace ui
