// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/page/empty_experiments.h"

#include <QPainter>
#include <QPushButton>

#include <array>

namespace ui {

namespace {

/// Three empty layer maps above the axes of a plot.
class ResultOutline : public QWidget {
public:
    explicit ResultOutline(const Theme& theme)
        : m_theme(theme) {
        setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    }

    QSize sizeHint() const override { return {m_theme.scaled(420), m_theme.scaled(150)}; }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        const Colours& colours = m_theme.colours();
        constexpr int kMaps = 3;
        constexpr int kColumns = 12;
        const int gap = m_theme.scaled(16);
        const int mapWidth = (width() - (kMaps - 1) * gap) / kMaps;
        const int cell = mapWidth / kColumns;
        const int height = m_theme.scaled(13);
        for (int map = 0; map < kMaps; ++map)
            for (int row = 0; row < 2; ++row)
                for (int column = 0; column < kColumns; ++column) {
                    painter.setPen(colours.border);
                    painter.drawRect(map * (mapWidth + gap) + column * cell,
                                     row * (height + m_theme.scaled(3)),
                                     cell - m_theme.scaled(3),
                                     height);
                }
        const int top = m_theme.scaled(48);
        const int foot = this->height() - m_theme.scaled(8);
        painter.setPen(colours.grid);
        for (int line = 1; line < 4; ++line)
            painter.drawLine(
                0, top + (foot - top) * line / 4, width(), top + (foot - top) * line / 4);
        painter.setPen(colours.axis);
        painter.drawLine(0, top, 0, foot);
        painter.drawLine(0, foot, width(), foot);
        painter.setRenderHint(QPainter::Antialiasing);
        painter.setPen(colours.border);
        constexpr std::array<int, 14> kDots = {
            70, 52, 44, 36, 30, 34, 26, 62, 58, 66, 60, 22, 18, 24};
        for (std::size_t i = 0; i < kDots.size(); ++i)
            painter.drawEllipse(QPointF((static_cast<double>(i) + 0.8) * width() / 15.0,
                                        top + (foot - top) * kDots[i] / 100.0),
                                m_theme.scaled(3),
                                m_theme.scaled(3));
    }

private:
    const Theme& m_theme;
};

} // namespace

EmptyExperiments::EmptyExperiments(const Theme& theme, QWidget* parent)
    : EmptyPage(
          theme,
          new ResultOutline(theme),
          tr("Which layers can be skipped on your own prompts?"),
          tr("An experiment runs prompts with several decoders in turn and measures each beside "
             "vanilla: the skip set and the speed of each task, and how both change along the "
             "prompts. Open a file with your prompts, or choose a recipe: each one makes a figure "
             "or a table of a paper on your model."),
          parent) {
    QPushButton* open = addButton(tr("Open data..."), IconName::Folder);
    open->setToolTip(tr("JSONL, CSV, TSV, text, or a folder of them; files can also be dropped "
                        "here"));
    connect(open, &QPushButton::clicked, this, &EmptyExperiments::openDataAsked);
    connect(addButton(tr("Recipes"), IconName::Experiments),
            &QPushButton::clicked,
            this,
            &EmptyExperiments::recipesAsked);
    m_examples = addButton(tr("Try the examples"), IconName::Play);
    m_examples->setToolTip(tr("Prompts of several tasks that come with the program"));
    connect(m_examples, &QPushButton::clicked, this, &EmptyExperiments::examplesAsked);
    offerExamples(false);
}

void EmptyExperiments::offerExamples(bool isOffered) { m_examples->setVisible(isOffered); }

} // namespace ui
