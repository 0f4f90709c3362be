// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/docks/view.h"
#include "ui/tuning/tuning_session.h"

namespace ui {

/// A view of a training instead of the loaded model's run. Like any view it is drawn only while it
/// is seen and not frozen. Thread: UI.
class TuneView : public View {
    Q_OBJECT

public:
    /// The session outlives it.
    TuneView(const ViewContext& context,
             const TuningSession& session,
             ViewInfo info,
             QWidget* parent = nullptr);

protected:
    /// Brings the content up to date with run().
    virtual void showRun() = 0;

    const TuningSession& session() const { return m_session; }

    const TuningRun& run() const { return m_session.run(); }

    void refreshView(Topics changed) final;
    void showEvent(QShowEvent* event) override;

private:
    void note();
    void showIfSeen();

    const TuningSession& m_session;
    int m_number = 0; ///< of the run that is shown
    bool m_isStale = true;
};

} // namespace ui
