// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QWidget>

#include <vector>

namespace ui {

/// Long names such as "tokenizer.chat_template" may break after their punctuation, and those with
/// digits, such as a build's, after every dozen characters without any, so that they fit into a
/// narrow dock; short ones such as "Q8_0" and "tok/s" stay whole.
QString breakable(const QString& text);

/// Names at the left, figures or words at the right, one below the other. Thread: UI.
class FigureList : public QWidget {
    Q_OBJECT

public:
    struct Row {
        QString name;
        QString value;
        bool isSum = false;      ///< bold: the sum of the others
        bool isAlarm = false;    ///< in the colour of errors
        bool isSentence = false; ///< the value stands below the name, over the whole width
    };

    /// `valueRole` is Figure for numbers that are compared, Small for words. Texts are plain.
    FigureList(const Theme& theme, TextRole valueRole, QWidget* parent = nullptr);

    /// Values begin at one line, so many pixels at 100 % from the left: for words that are read.
    void alignLeft(double nameWidth) { m_nameWidth = nameWidth; }

    void setRows(std::vector<Row> rows);

    const std::vector<Row>& rows() const { return m_rows; }

private:
    void build();

    const Theme& m_theme;
    TextRole m_valueRole;
    double m_nameWidth = 0.0; ///< 0 = values stand at the right
    std::vector<Row> m_rows;
};

} // namespace ui
