// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/view.h"
#include "ui/views/layer_map/editing/manual_set.h"
#include "ui/views/layer_map/editing/skip_set_actions.h"
#include "ui/views/layer_map/grid/layer_map_model.h"
#include "ui/views/layer_map/grid/sublayer_card.h"

#include <QPointer>

class QGridLayout;
class QLabel;
class QPushButton;

namespace ui {

class EmptyLayerMap;
class LayerGrid;
class LayerLegend;

/// Which sublayers a draft skips, at the time that Selection points at. Cells can be flipped; the
/// actions for whole sets are in actions(), for the dock's menu. Narrow, it has the form for the
/// Chat workspace. Thread: UI.
class LayerMapView : public View {
    Q_OBJECT

public:
    explicit LayerMapView(const ViewContext& context, QWidget* parent = nullptr);
    ~LayerMapView() override;

    QWidget* makeLegend(QWidget* parent) override;
    FigureTable table() const override;
    void drawFigure(QPainter& painter, const QSize& size) override;

    /// What is on the screen; none before there is any set.
    std::optional<engine::PlanOutline> shownSet() const;

    LayerMapModel& model() { return m_model; }

    LayerGrid& grid() { return *m_grid; }

    SkipSetActions& setActions() { return *m_actions; }

    /// Null until it was shown first.
    SublayerCard* card() const { return m_card; }

    /// The sentence under the map: what came of the last change, or what the manual set scores.
    QString notice() const;

    /// What the search that was asked for says: how far it has come, or what came of it.
    void showFinding(bool isRunning, const QString& sentence);

    QSize sizeHint() const override;

signals:
    /// The user wants a skip set to be searched for at once.
    void findAsked();

protected:
    void refreshView(Topics changed) override;
    void resizeEvent(QResizeEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void build();
    void arrangeNotice();
    void reserveNotice();
    void styleParts();
    void updateMap();
    void updateTitle();
    void updateNotice();
    void updateEmpty();
    void updateLegends();
    void updateCard();
    void flip(const Cell& cell);
    void pinCard(const Cell& cell);
    void tell(const QString& sentence);
    QString manualText() const;
    QString pinnedText() const;
    SublayerFacts factsOf(const Cell& cell) const;

    ManualSet m_manual;
    SkipSetActions* m_actions;
    LayerMapModel m_model;
    QString m_message;                 // what came of the last change
    std::optional<int> m_messageIndex; // of the history, when it was said
    QString m_finding;
    bool m_isFinding = false;
    std::optional<Cell> m_pinnedCell;
    QPointer<SublayerCard> m_card;
    QPointer<LayerLegend> m_titleLegend;
    QWidget* m_page = nullptr;
    LayerGrid* m_grid = nullptr;
    LayerLegend* m_miniLegend = nullptr;
    EmptyLayerMap* m_empty = nullptr;
    QWidget* m_noticePlace = nullptr;
    QGridLayout* m_noticeRow = nullptr;
    QLabel* m_manualBadge = nullptr;
    QLabel* m_notice = nullptr;
    QPushButton* m_resume = nullptr;
};

} // namespace ui
