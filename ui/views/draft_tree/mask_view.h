// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/docks/view.h"
#include "ui/views/draft_tree/mask_table.h"

namespace ui {

class LeanTable;
class LiveLabel;

/// The mask of the last step's verifying pass as a table; the chosen row's ancestors are marked.
class MaskView : public View {
    Q_OBJECT

public:
    explicit MaskView(const ViewContext& context, QWidget* parent = nullptr);

    FigureTable table() const override;

    const MaskModel& model() const { return *m_model; }

protected:
    void refreshView(Topics changed) override;

private:
    void restyle();

    MaskModel* m_model;
    LiveLabel* m_note;
    LeanTable* m_table;
};

} // namespace ui
