// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/docks/view.h"

namespace ui {

class CombPicture;
class LiveLabel;

/// One round of an answer, which the user walks through. Thread: UI.
class SlowMotionView : public View {
    Q_OBJECT

public:
    explicit SlowMotionView(const ViewContext& context, QWidget* parent = nullptr);

protected:
    void refreshView(Topics changed) override;
    void paintEvent(QPaintEvent* event) override;

private:
    LiveLabel* m_sentence;
    CombPicture* m_tree;
};

} // namespace ui
