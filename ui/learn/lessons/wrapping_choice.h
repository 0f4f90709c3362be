// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QRadioButton>

namespace ui {

/// A radio button whose text goes on in further lines where it is too narrow for one. Thread: UI.
class WrappingChoice : public QRadioButton {
    Q_OBJECT

public:
    explicit WrappingChoice(QWidget* parent = nullptr);
    explicit WrappingChoice(const QString& text, QWidget* parent = nullptr);

    bool hasHeightForWidth() const override { return true; }

    int heightForWidth(int width) const override;

    /// Room for the mark and some letters: the text wraps.
    QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

    /// The whole text can be clicked, not only its first line.
    bool hitButton(const QPoint& place) const override { return rect().contains(place); }

private:
    QRect textRect(int width) const;
};

} // namespace ui
