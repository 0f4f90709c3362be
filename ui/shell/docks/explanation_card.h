// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/docks/view.h"

#include <QFrame>

namespace ui {

/// "What am I looking at?": a view's title and explanation on a card beside the view, which stays
/// in sight. Esc or a click elsewhere closes it, and it dies then. Thread: UI.
class ExplanationCard : public QFrame {
    Q_OBJECT

public:
    ExplanationCard(const Theme& theme, const View& view);

    /// Where there is most room beside the view within its window.
    void showBeside(const View& view);
};

} // namespace ui
