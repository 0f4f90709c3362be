// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/experiments/runs/run_picture.h"
#include "ui/shell/docks/view.h"

namespace ui {

/// A view of a run folder instead of the loaded model's run. Like any view it is drawn only while
/// it is seen and not frozen. Thread: UI.
class RunView : public View {
    Q_OBJECT

public:
    RunView(const ViewContext& context, ViewInfo info, QWidget* parent = nullptr);

    /// Null: no run.
    void setPicture(const RunPicturePtr& picture);

protected:
    /// Brings the content up to date with picture().
    virtual void showPicture() = 0;

    /// Null if there is no run, or none that has begun.
    const RunPicture* picture() const {
        return m_picture != nullptr && m_picture->facts != nullptr ? m_picture.get() : nullptr;
    }

    void refreshView(Topics changed) final;
    void showEvent(QShowEvent* event) override;

private:
    void showIfSeen();

    RunPicturePtr m_picture;
    bool m_isStale = false;
};

} // namespace ui
