// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/tune/curves/tune_table_view.h"

namespace ui {

/// What drafts of the newest state are worth, task by task. Thread: UI.
class TaskScoresView : public TuneTableView {
    Q_OBJECT

public:
    TaskScoresView(const ViewContext& context,
                   const TuningSession& session,
                   QWidget* parent = nullptr);

protected:
    void showRun() override;
};

} // namespace ui
