// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QTableView>

namespace ui {

/// A table to read: rows are chosen as a whole, nothing is edited, no grid, one line a row. Thread:
/// UI.
class PlainTable : public QTableView {
    Q_OBJECT

public:
    /// Cells are written in the font of this role.
    PlainTable(const Theme& theme, TextRole role, QWidget* parent = nullptr);

private:
    void restyle();

    const Theme& m_theme;
    TextRole m_role;
};

} // namespace ui
