// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/page/shard_grid.h"

#include "ui/icons/icons.h"
#include "ui/shell/figure_text.h"

#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {

constexpr int kCell = 22;
constexpr int kPitch = 25;
constexpr int kMostProblems = 3; // told in words

class ShardCells : public QWidget {
public:
    ShardCells(const Theme& theme, const std::vector<engine::ShardState>& shards, QWidget* parent)
        : QWidget(parent)
        , m_theme(theme)
        , m_shards(shards) {
        QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Fixed);
        policy.setHeightForWidth(true);
        setSizePolicy(policy);
    }

    bool hasHeightForWidth() const override { return true; }

    int heightForWidth(int width) const override {
        const int rows = (static_cast<int>(m_shards.size()) + columns(width) - 1) / columns(width);
        return rows * m_theme.scaled(kPitch);
    }

    QSize sizeHint() const override {
        const int width = m_theme.scaled(kPitch * 20);
        return {width, heightForWidth(width)};
    }

    QSize minimumSizeHint() const override {
        return {m_theme.scaled(kPitch), m_theme.scaled(kPitch)};
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        const Colours& colours = m_theme.colours();
        const int side = m_theme.scaled(kCell);
        const int pitch = m_theme.scaled(kPitch);
        for (std::size_t i = 0; i < m_shards.size(); ++i) {
            const int place = static_cast<int>(i);
            const QRect cell(
                place % columns(width()) * pitch, place / columns(width()) * pitch, side, side);
            const engine::ShardPhase phase = m_shards[i].phase;
            painter.setPen(phase == engine::ShardPhase::Running   ? colours.accent
                           : phase == engine::ShardPhase::Damaged ? colours.warningLine
                                                                  : colours.border);
            painter.setBrush(phase == engine::ShardPhase::Finished  ? colours.heat[4]
                             : phase == engine::ShardPhase::Damaged ? colours.warningGround
                                                                    : colours.panel);
            painter.drawRect(cell.adjusted(0, 0, -1, -1));
            if (phase == engine::ShardPhase::Running) {
                const int height = std::max(2, side / 5);
                painter.fillRect(
                    QRect(cell.left() + side / 5, cell.center().y() - height / 2, side / 2, height),
                    colours.accent);
            } else if (phase != engine::ShardPhase::Waiting) {
                const bool isDone = phase == engine::ShardPhase::Finished;
                const int sign = side - m_theme.scaled(6);
                painter.drawPixmap(cell.center().x() - sign / 2,
                                   cell.center().y() - sign / 2,
                                   iconPixmap(isDone ? IconName::Check : IconName::Regenerate,
                                              isDone ? colours.text : colours.warning,
                                              sign,
                                              devicePixelRatioF()));
            }
        }
    }

private:
    int columns(int width) const { return std::max(1, width / m_theme.scaled(kPitch)); }

    const Theme& m_theme;
    const std::vector<engine::ShardState>& m_shards;
};

} // namespace

ShardGrid::ShardGrid(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_cells(new ShardCells(theme, m_shards, this))
    , m_words(plainLabel(this, true)) {
    m_words->setProperty("tone", "small");
    auto* column = new QVBoxLayout(this);
    column->addWidget(m_cells);
    column->addWidget(m_words);
    connect(&theme, &Theme::changed, this, &ShardGrid::restyle);
    restyle();
}

QString ShardGrid::words() const {
    const auto count = [this](engine::ShardPhase phase) {
        return static_cast<int>(std::ranges::count(m_shards, phase, &engine::ShardState::phase));
    };
    QString words = countText(static_cast<qint64>(m_shards.size()),
                              tr("1 part: %2 done, %3 running, %4 waiting"),
                              tr("%1 parts: %2 done, %3 running, %4 waiting"))
                        .arg(count(engine::ShardPhase::Finished))
                        .arg(count(engine::ShardPhase::Running))
                        .arg(count(engine::ShardPhase::Waiting));
    int problems = 0;
    for (const engine::ShardState& shard : m_shards) {
        if (shard.problem.empty() || ++problems > kMostProblems)
            continue;
        const QString sentence = shard.phase == engine::ShardPhase::Damaged
                                     ? tr("%1. Part %2 is run again: %3")
                                     : tr("%1. Part %2: %3");
        words = sentence.arg(
            words, QString::number(shard.shard + 1), QString::fromStdString(shard.problem));
    }
    if (problems > kMostProblems)
        words = tr("%1, and %2")
                    .arg(words,
                         countText(problems - kMostProblems,
                                   tr("1 more part like these"),
                                   tr("%1 more parts like these")));
    return words;
}

void ShardGrid::setShards(const std::vector<engine::ShardState>& shards) {
    m_shards = shards;
    m_words->setText(words());
    setAccessibleDescription(words());
    m_cells->updateGeometry();
    m_cells->update();
}

void ShardGrid::restyle() {
    layout()->setContentsMargins(
        m_theme.scaled(12), m_theme.scaled(10), m_theme.scaled(12), m_theme.scaled(6));
    layout()->setSpacing(m_theme.scaled(4));
    m_cells->updateGeometry();
}

} // namespace ui
