// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/learn/sides/side_comparison.h"
#include "ui/theme/theme.h"

#include <QAbstractScrollArea>

#include <array>
#include <vector>

namespace ui {

/// Two answers side by side in lines of the same tokens, with the numbers of the tokens between
/// them and whether they are equal. One tab stop: arrow keys choose a token, which is outlined on
/// both sides. Thread: UI.
class SideColumns : public QAbstractScrollArea {
    Q_OBJECT

public:
    explicit SideColumns(const Theme& theme, QWidget* parent = nullptr);

    /// Copies what it draws.
    void show(const engine::SideAnswer& left,
              const engine::SideAnswer& right,
              const engine::SideComparison& comparison);

    void setShowsOrigin(bool isShown);

    /// From 0; -1 = none.
    int token() const { return m_token; }

    /// Outlines it and scrolls it into view; -1 = none.
    void setToken(int token);

    /// "Token 60: a on both sides", for people.
    QString tokenInWords(int token) const;

    /// Lines, each with the tokens [first, end) of both sides. For tests.
    struct Line {
        int first = 0;
        int end = 0;
        bool isEqual = true; ///< as far as both sides have come
    };

    const std::vector<Line>& lines() const { return m_lines; }

    /// Width of the numbers between the columns, and of a column.
    int gutterWidth() const;
    int columnWidth() const;

signals:
    /// The user chose a token.
    void tokenChosen(int token);

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    struct Piece {
        engine::EmittedToken token;
        QString text; ///< as drawn, without a line's end
        double width = 0.0;
        bool endsLine = false;
        int round = 0;
    };

    using Column = std::vector<Piece>;

    int count() const;
    void extend(Column& column, const engine::SideAnswer& answer) const;
    void layOut();
    int lineHeight() const;
    int lineOf(int token) const;
    QRectF boxOf(int side, int token) const;
    void choose(int token);
    void paintSide(QPainter& painter, int side, const Line& line, int top) const;
    void paintGutter(QPainter& painter, const Line& line, int top) const;
    void restyle();

    const Theme& m_theme;
    std::array<Column, 2> m_columns;
    std::vector<Line> m_lines;
    int m_equal = 0;
    int m_difference = -1; ///< token; -1 = none
    int m_token = -1;
    bool m_showsOrigin = true;
};

} // namespace ui
