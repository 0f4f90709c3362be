// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"
#include "ui/experiments/setup/data_scan.h"
#include "ui/experiments/setup/run_setup.h"
#include "ui/theme/theme.h"

#include <QWidget>

#include <vector>

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;
class QSplitter;
class QTableView;

namespace ui {

class FigureTableModel;

/// The user's own prompts before they run: which column is what, how many are used and in which
/// order, and how they are answered, with a preview beside it or, on a narrow page, below. Thread:
/// UI.
class DataPage : public QWidget {
    Q_OBJECT

public:
    explicit DataPage(const Theme& theme, QWidget* parent = nullptr);

    /// The folder of the prompts that come with the program; at first there is none.
    void setExamples(const QString& folder);

    void open(const QStringList& paths);

    bool areExamples() const { return !m_examples.isEmpty() && m_paths == QStringList(m_examples); }

    const QStringList& paths() const { return m_paths; }

    /// The decoders that can be chosen, as the loaded model has them.
    void setDecoders(const std::vector<engine::DecoderInfo>& decoders);

    /// What the page asks for at this moment.
    StreamChoice choice() const;

    /// Nothing can be run before the files were read.
    bool canRun() const;

    /// What the choice would cost, or the error if `isError`.
    void tellCost(const QString& text, bool isError);

    /// What was told before holds no longer.
    void forgetCost();

signals:
    void estimateAsked(const ui::StreamChoice& choice);
    void costForgotten();
    void runAsked(const ui::StreamChoice& choice);
    void addAsked(const ui::StreamChoice& choice);
    void otherFilesAsked();
    void examplesAsked();

    /// The files with their columns, for recipes.
    void recipeDataWanted(const QStringList& paths, const engine::DataLayout& layout);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    void build();
    QWidget* buildForm();
    void restyle();
    void takeLayout(const engine::DataLayout& layout);
    void forget();
    void takePreview(const DataScan::Preview& preview, bool isWhole);
    void fillFields();
    void readAgain();
    void proposeAgain(bool hasHeader);
    void showProfiles();
    void showState();
    qint64 promptsUsed() const;
    engine::DataLayout layoutChosen() const;

    const Theme& m_theme;
    DataScan* m_scan;
    DataScan::Preview m_preview;
    bool m_isWhole = false;
    QStringList m_paths;
    QString m_examples; ///< folder
    QString m_problem;
    engine::DataLayout m_layout;
    std::vector<engine::DecoderInfo> m_decoders;
    QSplitter* m_parts = nullptr; ///< the form and the preview
    QGridLayout* m_grid = nullptr;
    QLineEdit* m_title = nullptr;
    QLabel* m_files = nullptr;
    QPushButton* m_tryExamples = nullptr;
    QCheckBox* m_hasHeader = nullptr;
    QComboBox* m_prompt = nullptr;
    QComboBox* m_task = nullptr;
    QComboBox* m_reference = nullptr;
    QComboBox* m_order = nullptr;
    QSpinBox* m_perTask = nullptr;
    QSpinBox* m_total = nullptr;
    QSpinBox* m_seed = nullptr;
    QSpinBox* m_maxTokens = nullptr;
    QComboBox* m_decoder = nullptr;
    QComboBox* m_profile = nullptr;
    QLabel* m_profileName = nullptr;
    QLabel* m_costNote = nullptr;
    QPushButton* m_estimate = nullptr;
    QLabel* m_state = nullptr;
    QLabel* m_bad = nullptr;
    QTableView* m_table = nullptr;
    FigureTableModel* m_rows = nullptr;
    QPushButton* m_run = nullptr;
    QPushButton* m_add = nullptr;
    QPushButton* m_recipe = nullptr;
};

} // namespace ui
