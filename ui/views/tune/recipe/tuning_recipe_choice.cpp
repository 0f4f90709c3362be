// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/tune/recipe/tuning_recipe_choice.h"

#include "ui/views/tune/recipe/recipe_words.h"

#include <QLabel>
#include <QRadioButton>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

TuningRecipeChoice::TuningRecipeChoice(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme) {
    auto* column = new QVBoxLayout(this);
    for (const TuningRecipe recipe :
         {TuningRecipe::Draft, TuningRecipe::LayerSkip, TuningRecipe::Space}) {
        auto* button = new QRadioButton(recipeName(recipe), this);
        QLabel* note = plainLabel(this, true);
        note->setText(recipeSentence(recipe));
        note->setProperty("tone", QStringLiteral("small"));
        button->setAccessibleDescription(note->text());
        column->addWidget(button);
        column->addWidget(note);
        m_buttons.push_back(button);
        m_notes.push_back(note);
        connect(button, &QRadioButton::clicked, this, [this, recipe] { emit chosen(recipe); });
    }
    m_buttons.front()->setChecked(true);
    connect(&theme, &Theme::changed, this, &TuningRecipeChoice::restyle);
    restyle();
}

TuningRecipe TuningRecipeChoice::recipe() const {
    const auto checked = std::ranges::find_if(m_buttons, &QRadioButton::isChecked);
    return static_cast<TuningRecipe>(checked - m_buttons.begin());
}

void TuningRecipeChoice::setRecipe(TuningRecipe recipe) { button(recipe).setChecked(true); }

QRadioButton& TuningRecipeChoice::button(TuningRecipe recipe) const {
    return *m_buttons[static_cast<std::size_t>(recipe)];
}

/// A note stands below its button's text.
void TuningRecipeChoice::restyle() {
    layout()->setContentsMargins(0, 0, 0, 0);
    layout()->setSpacing(m_theme.scaled(2));
    for (QLabel* note : m_notes)
        note->setContentsMargins(m_theme.scaled(22), 0, 0, m_theme.scaled(4));
}

} // namespace ui
