// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/empty_page.h"

namespace ui {

/// The page before anything was trained for the model: the outline of two curves, a sentence, and
/// the way to begin. Thread: UI.
class EmptyTune : public EmptyPage {
    Q_OBJECT

public:
    explicit EmptyTune(const Theme& theme, QWidget* parent = nullptr);

signals:
    void filesAsked();
};

} // namespace ui
