// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/experiments/stream/prompt_table_model.h"
#include "ui/views/experiments/stream/run_view.h"

#include <array>

class QGridLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QTableView;

namespace ui {

/// The prompts of a run with what was measured on each, and a field for slices of them. Thread: UI.
class PromptsView : public RunView {
    Q_OBJECT

public:
    explicit PromptsView(const ViewContext& context, QWidget* parent = nullptr);

    FigureTable table() const override { return m_slice->table(); }

    /// As if it was typed.
    void setSlice(const QString& text);

    /// Chooses the row of a prompt, numbered from 1, if it is in the slice.
    void showPrompt(int prompt);

    /// The prompt below (1) or above (-1) this one in the table; 0 = there is none.
    int neighbourOf(int prompt, int direction) const;

    QTableView& promptTable() { return *m_table; }

    SliceModel& sliceModel() { return *m_slice; }

    QLineEdit& field() { return *m_field; }

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    /// The user wants a skip set for these prompts, numbered from 1.
    void searchAsked(const QString& slice, const std::vector<int>& prompts);

    void exportAsked();

    /// The user wants to read the answers to a prompt, numbered from 1.
    void answerAsked(int prompt);

protected:
    void showPicture() override;
    void resizeEvent(QResizeEvent* event) override;

private:
    struct Chip {
        QPushButton* button = nullptr;
        QString name;
        QString slice;
    };

    void build();
    void restyle();
    void placeChips();
    void fitTasks();
    void fitColumns();
    void useText();
    void showCounts();
    std::vector<std::pair<QString, QString>> chipsFor(const std::vector<PromptRow>& rows) const;

    PromptTableModel* m_prompts;
    SliceModel* m_slice;
    QLineEdit* m_field = nullptr;
    QAction* m_icon = nullptr;
    QGridLayout* m_tools = nullptr;
    QWidget* m_chipRow = nullptr; ///< beside the field, or below it where it is narrow
    std::vector<Chip> m_chips;
    QLabel* m_problem = nullptr;
    QPushButton* m_search = nullptr;
    QPushButton* m_export = nullptr;
    QTableView* m_table = nullptr;
    std::array<int, PromptTableModel::ColumnCount> m_widths = {}; ///< pixels; the text's is unused
};

} // namespace ui
