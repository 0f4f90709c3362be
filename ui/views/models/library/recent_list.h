// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/models/library/recent_models.h"
#include "ui/views/models/model_list.h"

namespace ui {

/// The recent models. One whose file is gone says so and can only be taken off. Thread: UI.
class RecentList : public ModelList {
    Q_OBJECT

public:
    RecentList(const Theme& theme, RecentModels& recent, QWidget* parent = nullptr);

    void removeCurrent() override;

protected:
    /// A file may have come back with its disk.
    void showEvent(QShowEvent* event) override;

private:
    void fill();

    RecentModels& m_recent;
};

} // namespace ui
