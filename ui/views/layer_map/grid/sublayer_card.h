// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/layer_map/skip_set_facts.h"

#include <QFrame>

class QGridLayout;
class QLabel;

namespace ui {

class SampleLabel;

/// The facts about one sublayer. A plain value.
struct SublayerFacts {
    Cell cell;
    bool isSkipped = false;
    bool isBehindExit = false; ///< skipped, because a draft has left the network before it
    bool isLocked = false;
    bool isCopy = false; ///< see CellLook::isCopy
    QString comparison;  ///< "The live set keeps it (outlined: differs)."; empty = none
    SublayerScores scores;
    std::optional<double> savedMs; ///< per token drafted
    QString draftLayer = {};       ///< what a layer beside the model does; empty: it is no such one
};

/// The card beside a cell of the layer map. A child of the window, so that it may lie over other
/// views; lets the pointer through to the cells below. Thread: UI.
class SublayerCard : public QFrame {
    Q_OBJECT

public:
    explicit SublayerCard(const Theme& theme, QWidget* parent = nullptr);

    void setFacts(const SublayerFacts& facts);

    /// Shows it under a place of `owner`, or above it where there is no room.
    void showBeside(const QWidget& owner, const QRect& place);

    /// Its full text, line by line, for screen readers and tests.
    QString words() const;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QLabel* addRow(QGridLayout& rows, const QString& name);
    void styleLabels();
    void showHint();
    void showScores();

    const Theme& m_theme;
    SublayerFacts m_facts;
    QLabel* m_title;
    SampleLabel* m_sample;
    QLabel* m_state;
    QLabel* m_comparison;
    std::vector<QLabel*> m_names;
    QLabel* m_skippedBy;
    QLabel* m_means;
    QLabel* m_saved;
    QWidget* m_line;
    QLabel* m_hint;
};

} // namespace ui
