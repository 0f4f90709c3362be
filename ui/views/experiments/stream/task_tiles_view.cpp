// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/stream/task_tiles_view.h"

#include "ui/shell/figure_text.h"
#include "ui/shell/widgets/column_scroll.h"
#include "ui/views/layer_map/grid/layer_legend.h"

#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

/// The tiles themselves, as high as they need to be.
class TileCanvas : public QWidget {
public:
    TileCanvas(const Theme& theme, const std::vector<TaskTile>& tiles, QWidget* parent)
        : QWidget(parent)
        , m_theme(theme)
        , m_tiles(tiles) {
        setFocusPolicy(Qt::StrongFocus);
        setAccessibleName(TaskTilesView::tr("Skip set of each task"));
        connect(&theme, &Theme::changed, this, [this] { updateGeometry(), update(); });
    }

    std::function<void(const QString&)> onChosen;

    void showTiles() {
        m_current = std::min(m_current, std::max(0, static_cast<int>(m_tiles.size()) - 1));
        updateGeometry();
        describe();
        update();
    }

    TileGrid grid(int width) const {
        return TileGrid::make(m_theme, width, static_cast<int>(m_tiles.size()));
    }

    bool hasHeightForWidth() const override { return true; }

    int heightForWidth(int width) const override { return grid(width).height(); }

    QSize sizeHint() const override {
        const int width = std::max(this->width(), m_theme.scaled(320));
        return {width, grid(width).height()};
    }

    QSize minimumSizeHint() const override {
        return {m_theme.scaled(240), grid(std::max(1, width())).height()};
    }

    void paintAll(QPainter& painter, int width) const {
        const TileGrid places = grid(width);
        for (int i = 0; i < static_cast<int>(m_tiles.size()); ++i)
            paintTile(painter,
                      places.tile(i),
                      m_tiles[static_cast<std::size_t>(i)],
                      hasFocus() && i == m_current,
                      m_theme);
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.fillRect(rect(), m_theme.colours().panel);
        paintAll(painter, width());
    }

    void resizeEvent(QResizeEvent*) override { updateGeometry(); }

    void mousePressEvent(QMouseEvent* event) override {
        const TileGrid places = grid(width());
        for (int i = 0; i < places.count; ++i)
            if (places.tile(i).contains(event->position().toPoint())) {
                go(i);
                choose();
            }
    }

    void keyPressEvent(QKeyEvent* event) override {
        const int columns = grid(width()).columns;
        switch (event->key()) {
        case Qt::Key_Left:
            return go(m_current - 1);
        case Qt::Key_Right:
            return go(m_current + 1);
        case Qt::Key_Up:
            return go(m_current - columns);
        case Qt::Key_Down:
            return go(m_current + columns);
        case Qt::Key_Return:
        case Qt::Key_Enter:
        case Qt::Key_Space:
            return choose();
        default:
            QWidget::keyPressEvent(event);
        }
    }

    void focusInEvent(QFocusEvent*) override { update(); }

    void focusOutEvent(QFocusEvent*) override { update(); }

private:
    void go(int index) {
        if (index < 0 || index >= static_cast<int>(m_tiles.size()))
            return;
        m_current = index;
        describe();
        update();
    }

    void choose() {
        if (onChosen && m_current < static_cast<int>(m_tiles.size()))
            onChosen(m_tiles[static_cast<std::size_t>(m_current)].task);
    }

    void describe() {
        setAccessibleDescription(
            m_tiles.empty() ? QString() : m_tiles[static_cast<std::size_t>(m_current)].words());
    }

    const Theme& m_theme;
    const std::vector<TaskTile>& m_tiles;
    int m_current = 0;
};

TaskTilesView::TaskTilesView(const ViewContext& context, QWidget* parent)
    : RunView(context,
              {QStringLiteral("task_sets"),
               tr("Skip set of each task"),
               tr("Each map shows which sublayers a draft skips on one task, with the newest set "
                  "that was found for it; columns are layers. The figure beside it is the speed "
                  "over vanilla on the same prompts, with half of its 95 % interval over prompts "
                  "below. Compare figures 2b and 10 of the SWIFT paper."),
               {}},
              parent)
    , m_none(plainLabel(this, true))
    , m_canvas(new TileCanvas(theme(), m_tiles, this)) {
    m_none->setProperty("tone", "muted");
    m_none->setText(tr("Once the run has begun, each task has a map of its newest skip set here."));
    m_none->setContentsMargins(theme().scaled(12), theme().scaled(8), theme().scaled(12), 0);
    auto* scroll = new ColumnScroll;
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setWidget(m_canvas);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_none);
    column->addWidget(scroll);
    m_canvas->onChosen = [this](const QString& task) { emit taskChosen(task); };
    setSubtitle(tr("columns are layers; speed against vanilla with 95 % interval over prompts"));
}

QWidget* TaskTilesView::makeLegend(QWidget* parent) {
    auto* legend = new LayerLegend(theme(), parent);
    CellLook attention;
    attention.isSkipped = true;
    CellLook mlp;
    mlp.kind = Sublayer::Mlp;
    mlp.isSkipped = true;
    legend->setItems(
        {{attention, tr("attention skipped")}, {mlp, tr("MLP skipped")}, {CellLook(), tr("kept")}});
    return legend;
}

void TaskTilesView::showPicture() {
    m_tiles = picture() != nullptr ? taskTiles(*picture(), m_isAtWork) : std::vector<TaskTile>();
    m_none->setVisible(m_tiles.empty());
    m_canvas->showTiles();
}

FigureTable TaskTilesView::table() const {
    FigureTable table;
    table.header = {tr("task"),
                    tr("state"),
                    tr("speedup"),
                    tr("matchness"),
                    tr("r"),
                    tr("trials"),
                    tr("attention skipped"),
                    tr("MLP skipped")};
    const auto layers = [](const std::vector<int>& list) {
        QStringList texts;
        for (const int layer : list)
            texts << QString::number(layer);
        return texts.join(u' ');
    };
    for (const TaskTile& tile : m_tiles)
        table.rows.push_back({tile.task,
                              tile.stateText,
                              tile.speedup > 0.0 ? numberCell(tile.speedup) : QString(),
                              tile.matchness > 0.0 ? numberCell(tile.matchness) : QString(),
                              tile.set ? numberCell(tile.ratio) : QString(),
                              QString::number(tile.trials),
                              tile.set ? layers(tile.set->attention) : QString(),
                              tile.set ? layers(tile.set->mlp) : QString()});
    return table;
}

void TaskTilesView::drawFigure(QPainter& painter, const QSize& size) {
    const int width = std::max(1, this->width());
    painter.save();
    const double factor = static_cast<double>(size.width()) / width;
    painter.scale(factor, factor);
    m_canvas->paintAll(painter, width);
    painter.restore();
}

QSize TaskTilesView::sizeHint() const {
    return {theme().scaled(640), std::min(m_canvas->sizeHint().height(), theme().scaled(264))};
}

QSize TaskTilesView::minimumSizeHint() const { return {theme().scaled(260), theme().scaled(88)}; }

} // namespace ui
