// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/experiments/report/experiment_result.h"
#include "ui/shell/docks/view.h"

class QLabel;
class QVBoxLayout;

namespace ui {

class MessageBody;

/// The answers of a result, every token marked by where it came from, and how many came from where.
/// Thread: UI.
class OriginsView : public View {
    Q_OBJECT

public:
    explicit OriginsView(const ViewContext& context, QWidget* parent = nullptr);

    /// Shows the first ones; the table has all.
    void setTexts(const std::vector<engine::OriginText>& texts);

    FigureTable table() const override { return m_table; }

protected:
    void refreshView(Topics /*changed*/) override {}

private:
    struct Answer {
        QLabel* title = nullptr;
        QLabel* counts = nullptr;
        MessageBody* body = nullptr;
    };

    Answer addAnswer();
    void restyle();

    FigureTable m_table;
    QVBoxLayout* m_column;
    QLabel* m_more; ///< behind the answers: how many are not shown
    std::vector<Answer> m_answers;
};

} // namespace ui
