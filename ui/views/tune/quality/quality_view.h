// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/tune/curves/tune_table_view.h"

namespace ui {

/// Whether a copy of the model is as good as the model, as the program has measured it at the end,
/// with the limits. Thread: UI.
class QualityView : public TuneTableView {
    Q_OBJECT

public:
    QualityView(const ViewContext& context,
                const TuningSession& session,
                QWidget* parent = nullptr);

protected:
    void showRun() override;
};

} // namespace ui
