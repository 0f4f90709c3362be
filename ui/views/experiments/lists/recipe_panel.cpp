// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/lists/recipe_panel.h"

#include "ui/icons/icons.h"
#include "ui/views/experiments/lists/row_delegates.h"

#include <QHBoxLayout>
#include <QLabel>
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

    QSize sizeHint() const override { return {m_theme.scaled(200), m_theme.scaled(24)}; }

    QSize minimumSizeHint() const override { return {0, m_theme.scaled(24)}; }

protected:
    void paintEvent(QPaintEvent*) override {
        using State = RecipeListModel::State;
        QPainter painter(this);
        painter.setFont(m_theme.font(TextRole::Tiny));
        int left = m_theme.scaled(10);
        const int sign = m_theme.scaled(16);
        for (const State state : {State::Gain, State::NoGain, State::NotRun}) {
            const QString text = RecipeListModel::stateText(state);
            const int width = painter.fontMetrics().horizontalAdvance(text);
            if (left + sign + width > this->width())
                return;
            paintRecipeState(
                painter, QRect(left, (height() - sign) / 2, sign, sign), int(state), m_theme);
            left += sign + m_theme.scaled(2);
            painter.setPen(m_theme.colours().muted);
            painter.drawText(QRect(left, 0, width + 1, height()), Qt::AlignVCenter, text);
            left += width + m_theme.scaled(12);
        }
    }

private:
    const Theme& m_theme;
};

} // namespace

RecipePanel::RecipePanel(const Theme& theme,
                         const RecipeCatalog& catalog,
                         const ExperimentQueue& queue,
                         QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_model(new RecipeListModel(catalog, queue, this))
    , m_filtered(new QSortFilterProxyModel(this))
    , m_filter(new QLineEdit)
    , m_filterIcon(m_filter->addAction(QIcon(), QLineEdit::LeadingPosition))
    , m_own(new QPushButton(tr("Own...")))
    , m_list(new QListView)
    , m_empty(plainLabel(this, true))
    , m_legend(new StateLegend(theme, this)) {
    m_filter->setPlaceholderText(tr("Filter"));
    m_filter->setAccessibleName(tr("Filter the recipes"));
    m_filter->setClearButtonEnabled(true);
    m_own->setProperty("form", QStringLiteral("small"));
    m_own->setAccessibleName(tr("Open a recipe of your own"));
    m_own->setToolTip(tr("Open a recipe of your own (*.swiftexp)"));
    m_filtered->setSourceModel(m_model);
    m_filtered->setFilterCaseSensitivity(Qt::CaseInsensitive);
    m_list->setModel(m_filtered);
    m_list->setItemDelegate(new RecipeRowDelegate(theme, m_list));
    m_list->setAccessibleName(tr("Recipes"));
    m_list->setFrameShape(QFrame::NoFrame);
    m_list->setMouseTracking(true);
    m_list->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->setEditTriggers(QAbstractItemView::NoEditTriggers);
    auto* head = new QHBoxLayout;
    head->addWidget(m_filter, 1);
    head->addWidget(m_own);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addLayout(head);
    column->addWidget(m_empty);
    column->addWidget(m_list, 1);
    column->addWidget(m_legend);
    connect(m_filter,
            &QLineEdit::textChanged,
            m_filtered,
            &QSortFilterProxyModel::setFilterFixedString);
    connect(m_filter, &QLineEdit::textChanged, this, &RecipePanel::showEmpty);
    connect(m_model, &QAbstractItemModel::modelReset, this, &RecipePanel::showEmpty);
    connect(m_own, &QPushButton::clicked, this, &RecipePanel::ownAsked);
    const auto choose = [this](const QModelIndex& index) {
        if (!m_isMarking && index.isValid())
            emit chosen(index.data(RecipeListModel::PathRole).toString());
    };
    connect(m_list->selectionModel(),
            &QItemSelectionModel::currentChanged,
            this,
            [choose](const QModelIndex& index, const QModelIndex& previous) {
                if (previous.isValid()) // else only the focus came
                    choose(index);
            });
    connect(m_list, &QListView::activated, this, choose);
    connect(m_list, &QListView::clicked, this, choose); // also the one that is marked
    connect(&theme, &Theme::changed, this, &RecipePanel::restyle);
    restyle();
    showEmpty();
}

void RecipePanel::setCurrent(const QString& path) {
    m_isMarking = true;
    const QModelIndex index = m_filtered->mapFromSource(m_model->indexOf(path));
    if (index.isValid()) {
        m_list->setCurrentIndex(index);
    } else {
        m_list->clearSelection();
        m_list->setCurrentIndex({});
    }
    m_isMarking = false;
}

void RecipePanel::showEmpty() {
    const bool isEmpty = m_filtered->rowCount() == 0;
    m_empty->setVisible(isEmpty);
    m_empty->setText(m_model->rowCount() == 0
                         ? tr("The recipes of the program were not found. Install it again.")
                         : tr("No recipe has \"%1\" in its title.").arg(m_filter->text()));
}

void RecipePanel::restyle() {
    const int gap = m_theme.scaled(8);
    auto* column = static_cast<QVBoxLayout*>(layout());
    column->itemAt(0)->layout()->setContentsMargins(gap, gap, gap, m_theme.scaled(4));
    column->itemAt(0)->layout()->setSpacing(gap);
    m_empty->setContentsMargins(m_theme.scaled(12), gap, m_theme.scaled(12), gap);
    m_filterIcon->setIcon(
        makeIcon(IconName::Search, m_theme.colours().muted, m_theme.colours().disabled));
    m_own->setIcon(makeIcon(IconName::Plus, m_theme.colours().text, m_theme.colours().disabled));
    m_list->doItemsLayout();
    m_legend->updateGeometry();
    update();
}

QSize RecipePanel::minimumSizeHint() const {
    return {m_theme.scaled(220), QWidget::minimumSizeHint().height()};
}

void RecipePanel::paintEvent(QPaintEvent*) {
    QPainter(this).fillRect(rect(), m_theme.colours().panel);
}

} // namespace ui
