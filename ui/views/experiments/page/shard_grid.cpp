// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/page/shard_grid.h"

#include "ui/icons/icons.h"
#include "ui/shell/figure_text.h"

#include <QLabel>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>
#include <optional>

namespace ui {

namespace {

constexpr int kCell = 22;
constexpr int kPitch = 25;
constexpr int kMostProblems = 3; // told in words

/// How a part is drawn: its sign tells its phase without the colours, too.
struct PartLook {
    QColor line;
    QColor ground;
    std::optional<IconName> sign = {};
    QColor ink = {};
};

PartLook partLook(engine::ShardPhase phase, const Colours& colours) {
    switch (phase) {
    case engine::ShardPhase::Running:
        return {colours.accent, colours.panel};
    case engine::ShardPhase::Finished:
        return {colours.border, colours.heat[4], IconName::Check, colours.text};
    case engine::ShardPhase::Damaged:
        return {colours.warningLine, colours.warningGround, IconName::Regenerate, colours.warning};
    case engine::ShardPhase::Failed:
        return {colours.errorLine, colours.errorGround, IconName::Close, colours.error};
    case engine::ShardPhase::Waiting:
        break;
    }
    return {colours.border, colours.panel};
}

QString partPhaseText(engine::ShardPhase phase) {
    switch (phase) {
    case engine::ShardPhase::Running:
        return ShardGrid::tr("running");
    case engine::ShardPhase::Finished:
        return ShardGrid::tr("done");
    case engine::ShardPhase::Damaged:
        return ShardGrid::tr("damaged");
    case engine::ShardPhase::Failed:
        return ShardGrid::tr("failed");
    case engine::ShardPhase::Waiting:
        break;
    }
    return ShardGrid::tr("waiting");
}

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
            const PartLook look = partLook(phase, colours);
            painter.setPen(look.line);
            painter.setBrush(look.ground);
            painter.drawRect(cell.adjusted(0, 0, -1, -1));
            if (phase == engine::ShardPhase::Running) {
                const int height = std::max(2, side / 5);
                painter.fillRect(
                    QRect(cell.left() + side / 5, cell.center().y() - height / 2, side / 2, height),
                    colours.accent);
            } else if (look.sign) {
                const int sign = side - m_theme.scaled(6);
                painter.drawPixmap(cell.center().x() - sign / 2,
                                   cell.center().y() - sign / 2,
                                   iconPixmap(*look.sign, look.ink, sign, devicePixelRatioF()));
            }
        }
    }

private:
    int columns(int width) const { return std::max(1, width / m_theme.scaled(kPitch)); }

    const Theme& m_theme;
    const std::vector<engine::ShardState>& m_shards;
};

} // namespace

ShardGrid::ShardGrid(const ViewContext& context, QWidget* parent)
    : View(context,
           {QStringLiteral("run_parts"),
            tr("Parts"),
            tr("The parts into which the run is cut, one cell each: a tick is done, a bar runs at "
               "this moment, a cross has failed, a turning arrow is damaged and run again, and an "
               "empty cell waits. The table says what went wrong."),
            {}},
           parent)
    , m_cells(new ShardCells(context.theme, m_shards, this))
    , m_words(plainLabel(this, true)) {
    m_words->setProperty("tone", "small");
    auto* column = new QVBoxLayout(this);
    column->addWidget(m_cells);
    column->addWidget(m_words);
    connect(this, &View::frozenChanged, this, &ShardGrid::showNewest);
    connect(&context.theme, &Theme::changed, this, &ShardGrid::restyle);
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
    if (const int failed = count(engine::ShardPhase::Failed); failed > 0)
        words = tr("%1, %2 failed").arg(words, QString::number(failed));
    int problems = 0;
    for (const engine::ShardState& shard : m_shards) {
        if (shard.problem.empty() || ++problems > kMostProblems)
            continue;
        const QString sentence = shard.phase == engine::ShardPhase::Damaged
                                     ? tr("%1. Part %2 is run again: %3")
                                     : tr("%1. Part %2: %3");
        QString problem = QString::fromStdString(shard.problem);
        if (problem.endsWith(u'.')) // something follows
            problem.chop(1);
        words = sentence.arg(words, QString::number(shard.shard + 1), problem);
    }
    if (problems > kMostProblems)
        words = tr("%1, and %2")
                    .arg(words,
                         countText(problems - kMostProblems,
                                   tr("1 more part like these"),
                                   tr("%1 more parts like these")));
    return words;
}

FigureTable ShardGrid::table() const {
    FigureTable table{{tr("Part"), tr("State"), tr("What went wrong")}, {}};
    for (const engine::ShardState& shard : m_shards)
        table.rows.push_back({QString::number(shard.shard + 1),
                              partPhaseText(shard.phase),
                              QString::fromStdString(shard.problem)});
    return table;
}

void ShardGrid::setShards(const std::vector<engine::ShardState>& shards) {
    m_newest = shards;
    showNewest();
}

void ShardGrid::showNewest() {
    if (isFrozen())
        return;
    m_shards = m_newest;
    m_words->setText(words());
    setAccessibleDescription(words());
    m_cells->updateGeometry();
    m_cells->update();
}

void ShardGrid::restyle() {
    layout()->setContentsMargins(
        theme().scaled(12), theme().scaled(10), theme().scaled(12), theme().scaled(6));
    layout()->setSpacing(theme().scaled(4));
    m_cells->updateGeometry();
}

} // namespace ui
