// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/learn/lessons/lesson_fact_sources.h"
#include "ui/shell/docks/view.h"
#include "ui/views/learn/lens/lens_bars.h"
#include "ui/views/learn/lens/lens_model.h"

#include <QTimer>

#include <optional>
#include <vector>

class QLabel;
class QProgressBar;
class QPushButton;
class QSplitter;
class QStackedWidget;

namespace ui {

class HeadList;
class LensCellPanel;
class LensMap;
class SegmentedControl;

/// What the model would write if it stopped at each depth: layers times tokens of an answer, the
/// chosen cell in words, and where the heads of its layer look. It shows the answer of the selected
/// token, else the newest one, and begins to read it when it is complete and this view is shown.
/// Thread: UI.
class LensView : public View, public LessonFactSource {
    Q_OBJECT

public:
    /// Tokens that are read without being asked for.
    static constexpr int kFirstTokens = 48;

    explicit LensView(const ViewContext& context, QWidget* parent = nullptr);

    QWidget* makeLegend(QWidget* parent) override;

    FigureTable table() const override;

    const LensModel& model() const { return m_model; }

    LensMap& map() { return *m_map; }

    LensCellPanel& cellPanel() { return *m_cell; }

    HeadList& heads() { return *m_heads; }

    LensBars& bars() { return *m_bars; }

    QPushButton& readButton() { return *m_read; }

    SegmentedControl& colouring() { return *m_colouring; }

    SegmentedControl& overlay() { return *m_overlay; }

    /// Whether no reading runs and none is about to begin: it has ended, failed or been stopped.
    bool isAtRest() const;

    /// Reads the first tokens, also while it is not seen, and again where that was stopped or has
    /// failed.
    void readOn();

    /// Selects the cell at which a token of the answer became final earliest.
    void chooseFinalCell();

    void tellFacts(engine::LessonFacts& facts) const override;

    /// The finding below the map; empty while there is none.
    QString finding() const;

    /// What stands instead of the map; empty while there is one.
    QString note() const;

signals:
    /// To continue the answer of this prompt with another token than the one at `token`.
    void branchAsked(quint64 promptId, int token, const engine::TokenChoice& choice);

protected:
    void refreshView(Topics changed) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    QWidget* makeTools();
    QWidget* makeSides();
    void restyle();
    const Answer* shownAnswer() const;
    const Answer* newestAnswer() const;
    bool isToBeRead(const Answer* answer) const;
    void readFirst(const Answer* answer);
    void showReading();
    void showPicture();
    void showAttention();
    void showMarks();
    void showBars();
    void showFinding();
    void askForAttention();
    QString noteFor(const Answer* answer) const;
    int answerLength() const;
    bool isOfReader() const;

    LensReader m_reader;
    LensModel m_model;
    QTimer m_attentionDelay;           // until the cell stays
    std::uint64_t m_begun = 0;         // the prompt whose answer was begun to be read, 0 = none
    std::uint64_t m_lastOfEarlier = 0; // the last prompt before the model was loaded, 0 = none
    /// [2 layers] what skipping attention and MLP of each layer costs; empty without a search.
    std::vector<std::optional<double>> m_costs;
    QStackedWidget* m_pages;
    QLabel* m_note;
    QLabel* m_question;
    SegmentedControl* m_colouring;
    SegmentedControl* m_overlay;
    QLabel* m_state;
    QProgressBar* m_progress;
    QPushButton* m_read;
    QSplitter* m_parts;
    LensMap* m_map;
    LensBars* m_bars;
    QLabel* m_finding;
    LensCellPanel* m_cell;
    QLabel* m_attentionTitle;
    HeadList* m_heads;
};

} // namespace ui
