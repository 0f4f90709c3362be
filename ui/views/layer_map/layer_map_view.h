// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/docks/view.h"
#include "ui/views/layer_map/editing/manual_set.h"
#include "ui/views/layer_map/editing/skip_set_actions.h"
#include "ui/views/layer_map/grid/layer_map_model.h"
#include "ui/views/layer_map/grid/sublayer_card.h"

#include <QPointer>

#include <map>
#include <vector>

class QGridLayout;
class QLabel;
class QPushButton;

namespace ui {

class EmptyLayerMap;
class LayerGrid;
class LayerLegend;

/// Which sublayers a draft skips, at the time chosen in Selection. Cells can be toggled; the
/// actions for whole sets are in actions(), for the dock's menu. When narrow, it has the form for
/// the Chat workspace. Thread: UI.
class LayerMapView : public View {
    Q_OBJECT

public:
    explicit LayerMapView(const ViewContext& context, QWidget* parent = nullptr);
    ~LayerMapView() override;

    QWidget* makeLegend(QWidget* parent) override;
    FigureTable table() const override;
    void drawFigure(QPainter& painter, const QSize& size) override;

    /// The set on the screen; none before the first set.
    std::optional<engine::PlanOutline> shownSet() const;

    LayerMapModel& model() { return m_model; }

    LayerGrid& grid() { return *m_grid; }

    SkipSetActions& setActions() { return *m_actions; }

    /// Null until it is first shown.
    SublayerCard* card() const { return m_card; }

    /// The sentence below the map: the result of the last change, or the manual set's score.
    QString notice() const;

    /// The progress or the result of the requested search.
    void showFinding(bool isRunning, const QString& sentence);

    QSize sizeHint() const override;

signals:
    /// The user wants to search for a skip set now.
    void findAsked();

protected:
    void refreshView(Topics changed) override;
    void resizeEvent(QResizeEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    bool hasDraftLayer() const { return adapterRounds(store()).drafted > 0; }

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
    std::map<Sublayer, std::vector<SublayerScores>> m_scores; // [layer] of the state in the model
    QString m_message;                                        // result of the last change
    std::optional<int> m_messageIndex; // of the history, when the notice was set
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
