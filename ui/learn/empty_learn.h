// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/empty_page.h"

namespace ui {

/// What Learn shows before there is a round to walk through: the outline of a draft, what to do,
/// and the buttons for it. Thread: UI.
class EmptyLearn : public EmptyPage {
    Q_OBJECT

public:
    explicit EmptyLearn(const Theme& theme, QWidget* parent = nullptr);

signals:
    void chatAsked();
    void recordingAsked();
    void lessonsAsked();
};

} // namespace ui
