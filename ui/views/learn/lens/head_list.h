// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"
#include "ui/theme/theme.h"

#include <QTableWidget>

namespace ui {

/// Where the heads of a layer look: for each head its weights over the text as small bars, the
/// position it looks at most, and its entropy. Thread: UI.
class HeadList : public QTableWidget {
    Q_OBJECT

public:
    explicit HeadList(const Theme& theme, QWidget* parent = nullptr);

    void showHeads(const engine::AttentionRead& read);

    void clearHeads() { setRowCount(0); }

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void restyle();

    const Theme& m_theme;
};

} // namespace ui
