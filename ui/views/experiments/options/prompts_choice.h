// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/experiments/setup/data_scan.h"
#include "ui/theme/theme.h"

#include <QStringList>
#include <QWidget>

#include <optional>

class QLabel;
class QPushButton;

namespace ui {

/// The prompts that recipes run on: files of the user's, or, where none are chosen, the examples
/// that come with the program. Thread: UI.
class PromptsChoice : public QWidget {
    Q_OBJECT

public:
    /// `examples` is their folder; empty: there are none.
    PromptsChoice(const Theme& theme, QString examples, QWidget* parent = nullptr);

    /// Files and folders of the user's, and how they are read: without a layout as the first of
    /// them proposes. No paths: the examples.
    void setData(const QStringList& paths, const std::optional<engine::DataLayout>& layout = {});

    /// What recipes run on; nothing if there are neither files nor examples.
    const QStringList& data() const { return m_data; }

    bool areExamples() const { return m_areExamples; }

    /// None: it is not proposed yet.
    const std::optional<engine::DataLayout>& dataLayout() const { return m_layout; }

    /// What is known of the prompts so far; null before anything is.
    const DataScan::Preview& preview() const { return m_preview; }

    /// Why nothing can run on them; empty if something can.
    QString obstacle() const;

    /// Which they are, or what is wrong with them.
    QString sentence() const;

signals:
    void filesAsked();
    void examplesAsked();
    void previewCame();
    void obstacleChanged();

private:
    void takePreview(const DataScan::Preview& preview, bool isWhole);
    void showState();
    void restyle();

    const Theme& m_theme;
    QString m_examples;
    DataScan* m_scan;
    DataScan::Preview m_preview;
    QStringList m_data;
    bool m_areExamples = false;
    std::optional<engine::DataLayout> m_layout;
    QString m_problem;
    QLabel* m_note;
    QPushButton* m_useExamples;
};

} // namespace ui
