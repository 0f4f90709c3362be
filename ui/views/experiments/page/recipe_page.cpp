// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/page/recipe_page.h"

#include "ui/language/engine_words.h"

#include <QLabel>
#include <QVBoxLayout>

namespace ui {

namespace {

template <typename Wish> QString titlesOf(const std::vector<Wish>& wishes) {
    QStringList titles;
    for (const Wish& wish : wishes)
        titles << QString::fromStdString(wish.title);
    return titles.join(QStringLiteral(" \u00B7 "));
}

} // namespace

RecipePage::RecipePage(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_summary(plainLabel(this, true))
    , m_parts(plainLabel(this, true))
    , m_caveat(plainLabel(this, true))
    , m_source(plainLabel(this, true)) {
    setAttribute(Qt::WA_StyledBackground);
    setProperty("ground", QStringLiteral("panel"));
    auto* column = new QVBoxLayout(this);
    for (QLabel* label : {m_summary, m_parts, m_caveat, m_source})
        column->addWidget(label);
    for (QLabel* label : {m_parts, m_caveat, m_source})
        label->setProperty("tone", "muted");
    column->addStretch(1);
    connect(&theme, &Theme::changed, this, &RecipePage::restyle);
    restyle();
}

void RecipePage::setRecipe(const engine::Recipe& recipe) {
    m_summary->setText(engineText(recipe.summary));
    QStringList parts;
    if (!recipe.figures.empty())
        parts << tr("Figures: %1.").arg(titlesOf(recipe.figures));
    if (!recipe.tables.empty())
        parts << tr("Tables: %1.").arg(titlesOf(recipe.tables));
    m_parts->setText(parts.join(u'\n'));
    m_caveat->setText(QString::fromStdString(recipe.caveat));
    m_caveat->setVisible(!recipe.caveat.empty());
    m_source->setText(QString::fromStdString(recipe.source));
}

void RecipePage::restyle() {
    const int side = m_theme.scaled(24);
    layout()->setContentsMargins(side, side, side, side);
    layout()->setSpacing(m_theme.scaled(12));
    m_summary->setFont(m_theme.font(TextRole::Conversation));
    for (QLabel* label : {m_summary, m_parts, m_caveat, m_source})
        label->setMaximumWidth(m_theme.scaled(640));
}

} // namespace ui
