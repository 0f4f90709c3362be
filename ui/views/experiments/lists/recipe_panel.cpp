// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/lists/recipe_panel.h"

#include "ui/icons/icons.h"
#include "ui/views/experiments/lists/row_delegates.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QListView>
#include <QPainter>
#include <QPushButton>
#include <QSortFilterProxyModel>
#include <QVBoxLayout>

#include <array>

namespace ui {

namespace {

/// The signs of the rows and what they mean.
class StateLegend : public QWidget {
public:
    StateLegend(const Theme& theme, QWidget* parent)
        : QWidget(parent)
        , m_theme(theme) {}

    bool hasHeightForWidth() const override { return true; }

    int heightForWidth(int width) const override { return placesFor(width).back().bottom() + 1; }

    QSize sizeHint() const override {
        return {m_theme.scaled(200), heightForWidth(m_theme.scaled(200))};
    }

    QSize minimumSizeHint() const override { return {0, m_theme.scaled(24)}; }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.setFont(m_theme.font(TextRole::Tiny));
        const std::vector<QRect> places = placesFor(width());
        const int sign = m_theme.scaled(16);
        for (std::size_t i = 0; i < places.size(); ++i) {
            const QRect& place = places[i];
            const int top = place.top() + (place.height() - sign) / 2;
            paintRecipeState(
                painter, QRect(place.left(), top, sign, sign), int(kShown[i]), m_theme);
            painter.setPen(m_theme.colours().muted);
            painter.drawText(place.adjusted(sign + m_theme.scaled(2), 0, 0, 0),
                             Qt::AlignVCenter,
                             RecipeListModel::stateText(kShown[i]));
        }
    }

private:
    using State = RecipeListModel::State;
    static constexpr std::array kShown = {State::Gain, State::NoGain, State::NotRun};

    /// Of each sign with its text; what a line has no room for begins the next one.
    std::vector<QRect> placesFor(int width) const {
        const QFontMetrics metrics(m_theme.font(TextRole::Tiny));
        const int start = m_theme.scaled(10);
        const int line = m_theme.scaled(24);
        QPoint at(start, 0);
        std::vector<QRect> places;
        for (const State state : kShown) {
            const int needed = m_theme.scaled(18) + 1 +
                               metrics.horizontalAdvance(RecipeListModel::stateText(state));
            if (at.x() > start && at.x() + needed > width)
                at = QPoint(start, at.y() + line);
            places.emplace_back(at, QSize(needed, line));
            at.rx() += needed + m_theme.scaled(12);
        }
        return places;
    }

    const Theme& m_theme;
};

} // namespace

RecipePanel::RecipePanel(const Theme& theme,
                         const RecipeCatalog& catalog,
                         const ExperimentQueue& queue,
                         QWidget* parent)
    : ListPanel(
          theme, tr("Recipes"), new QSortFilterProxyModel, new RecipeRowDelegate(theme), parent)
    , m_model(new RecipeListModel(catalog, queue, this))
    , m_filtered(static_cast<QSortFilterProxyModel*>(list().model()))
    , m_filter(new QLineEdit)
    , m_filterIcon(m_filter->addAction(QIcon(), QLineEdit::LeadingPosition))
    , m_own(new QPushButton(tr("Own...")))
    , m_legend(new StateLegend(theme, this)) {
    m_filter->setPlaceholderText(tr("Filter"));
    m_filter->setAccessibleName(tr("Filter the recipes"));
    m_filter->setClearButtonEnabled(true);
    m_own->setProperty("form", QStringLiteral("small"));
    m_own->setAccessibleName(tr("Open a recipe of your own"));
    m_own->setToolTip(tr("Open a recipe of your own (*.swiftexp)"));
    m_filtered->setSourceModel(m_model);
    m_filtered->setFilterCaseSensitivity(Qt::CaseInsensitive);
    head().addWidget(m_filter, 1);
    head().addWidget(m_own);
    column().addWidget(m_legend);
    connect(m_filter, &QLineEdit::textChanged, this, [this](const QString& words) {
        mark({}); // a current row that goes would make another one the current one
        m_filtered->setFilterFixedString(words);
        setCurrent(m_marked);
        showEmpty();
    });
    connect(m_model, &QAbstractItemModel::modelReset, this, &RecipePanel::showEmpty);
    connect(m_own, &QPushButton::clicked, this, &RecipePanel::ownAsked);
    restyle();
    showEmpty();
}

void RecipePanel::setCurrent(const QString& path) {
    m_marked = path;
    mark(m_filtered->mapFromSource(m_model->indexOf(path)));
}

void RecipePanel::choose(const QModelIndex& index) {
    m_marked = index.data(RecipeListModel::PathRole).toString();
    emit chosen(m_marked);
}

void RecipePanel::showEmpty() {
    if (m_filtered->rowCount() > 0)
        setNote({});
    else
        setNote(m_model->rowCount() == 0
                    ? tr("The recipes of the program were not found. Install it again.")
                    : tr("No recipe has \"%1\" in its title.").arg(m_filter->text()));
}

void RecipePanel::restyle() {
    ListPanel::restyle();
    const Colours& colours = theme().colours();
    m_filterIcon->setIcon(makeIcon(IconName::Search, colours.muted, colours.disabled));
    m_own->setIcon(makeIcon(IconName::Plus, colours.text, colours.disabled));
    m_legend->updateGeometry();
}

} // namespace ui
