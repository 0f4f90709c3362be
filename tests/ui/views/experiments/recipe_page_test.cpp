// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/accessible_names.h"
#include "ui/experiments/recipe_catalog.h"
#include "ui/views/experiments/page/recipe_page.h"
#include "ui/views/models/figure_list.h"

#include <QApplication>
#include <QLabel>
#include <QScrollBar>
#include <QTest>

#include <algorithm>
#include <memory>

using namespace support;
using namespace ui;

/// What a recipe says of itself before it has run.
class RecipePageTest : public QObject {
    Q_OBJECT

    Theme m_theme;
    RecipeCatalog m_catalog{QStringLiteral("resources/recipes"), {}};
    std::unique_ptr<RecipePage> m_page;

    void showRecipe(const char* name) {
        const QString path = QStringLiteral("resources/recipes/%1.json").arg(QLatin1String(name));
        m_page->setRecipe(m_catalog.entry(path)->recipe);
    }

    bool says(const QString& words) {
        const auto labels = m_page->findChildren<QLabel*>();
        return std::ranges::any_of(labels, [&](const QLabel* label) {
            return label->isVisible() && label->text().contains(words);
        });
    }

    /// The words beside this name, in whichever list it stands first; nothing if it is not there.
    QString beside(const QString& name) {
        for (const FigureList* list : m_page->findChildren<FigureList*>())
            for (const FigureList::Row& row : list->rows())
                if (row.name == name)
                    return row.value;
        return {};
    }

private slots:

    void init() {
        m_theme.setTextPercent(100);
        m_page = std::make_unique<RecipePage>(m_theme);
        m_page->resize(620, 600);
        m_page->show();
    }

    void cleanup() { m_page.reset(); }

    void aRecipeSaysWhatItAsksComparesAndShows() {
        m_page->setOutlook({QStringLiteral("quick"), QStringLiteral("own.jsonl"), {}});
        showRecipe("ablation");
        QVERIFY(says(QStringLiteral("SWIFT as it is, and without each of its parts")));
        QVERIFY(says(QStringLiteral("Same seed and same prompts for all four.")));
        QCOMPARE(beside(QStringLiteral("Source")), QStringLiteral("Table 8 of arXiv 2410.06916"));
        QCOMPARE(beside(QStringLiteral("The paper's own figures")),
                 QStringLiteral("paper, LLaMA-2-13B, CNN/DM, 512 tokens"));
        QCOMPARE(beside(QStringLiteral("Vanilla")), QStringLiteral("measured beside the others"));
        QCOMPARE(
            beside(QStringLiteral("Without search")),
            QStringLiteral("decoder SWIFT \u00B7 draft vocabulary 1 \u00B7 optimise off \u00B7 "
                           "start uniform \u00B7 weigh off"));
        QCOMPARE(beside(QStringLiteral("Prompts")), QStringLiteral("own.jsonl"));
        QCOMPARE(
            beside(QStringLiteral("Tasks")),
            QStringLiteral("Summarization, Math reasoning, Story first, where the prompts have "
                           "them"));
        QCOMPARE(beside(QStringLiteral("Quick (chosen)")),
                 QStringLiteral("3 prompts of each task, of 1 task at most, answers up to 32 "
                                "tokens."));
        QCOMPARE(beside(QStringLiteral("Paper")),
                 QStringLiteral("1,000 prompts of each task, of 1 task at most, answers up to 512 "
                                "tokens."));
        QCOMPARE(beside(QStringLiteral("Its figures")), QStringLiteral("Speedup over vanilla"));
        QCOMPARE(beside(QStringLiteral("Its tables")), QStringLiteral("Without each part"));
    }

    void theChosenSizeDecidesWhatIsCompared() {
        showRecipe("context_window");
        m_page->setOutlook({QStringLiteral("quick"), {}, {}});
        QCOMPARE(beside(QStringLiteral("SWIFT")), QStringLiteral("gamma 16, 32, 64"));
        m_page->setOutlook({QStringLiteral("paper"), {}, {}});
        QCOMPARE(beside(QStringLiteral("SWIFT")),
                 QStringLiteral("gamma 16, 32, 64, 128 \u00B7 profile paper"));
        QVERIFY(beside(QStringLiteral("Quick (chosen)")).isEmpty());
    }

    void stagesSearchesAndSamplesAreNamed() {
        m_page->setOutlook({QStringLiteral("quick"), {}, {}});
        showRecipe("changing_streams");
        QCOMPARE(beside(QStringLiteral("Find")), QStringLiteral("searches beforehand"));
        QCOMPARE(beside(QStringLiteral("Fixed set")), QStringLiteral("a search of 10 trials"));
        QCOMPARE(beside(QStringLiteral("Self-SD")),
                 QStringLiteral("with the set of Fixed set on the first task"));
        QCOMPARE(
            beside(QStringLiteral("Quick (chosen)")),
            QStringLiteral("Find: 3 prompts of the first task; Run: 4 prompts of each task, of "
                           "4 tasks at most, answers up to 40 tokens."));
        showRecipe("lossless_audit");
        QCOMPARE(beside(QStringLiteral("Greedy")), QStringLiteral("greedy answers"));
        QCOMPARE(beside(QStringLiteral("Sampled")),
                 QStringLiteral("temperature 0.8 \u00B7 top-p 0.95"));
        QVERIFY(beside(QStringLiteral("Quick (chosen)"))
                    .endsWith(QStringLiteral("each decoder goes on 24 times more from each prompt, "
                                             "by 5 tokens.")));
    }

    void everyRecipeFitsIntoANarrowPage() {
        m_page->resize(380, 600);
        for (const RecipeEntry& entry : m_catalog.entries()) {
            m_page->setRecipe(entry.recipe);
            QApplication::processEvents();
            QVERIFY2(m_page->widget()->minimumSizeHint().width() <= m_page->viewport()->width(),
                     qPrintable(entry.path));
        }
    }

    void aWidePageKeepsItsLinesShort() {
        m_page->resize(1500, 600);
        showRecipe("ablation");
        QApplication::processEvents();
        for (const FigureList* list : m_page->findChildren<FigureList*>()) {
            QVERIFY(list->width() <= m_theme.scaled(728));
            QVERIFY(list->mapTo(m_page->widget(), QPoint()).x() <= m_theme.scaled(12));
        }
    }

    void thePageScrollsByKeys() {
        m_page->resize(500, 200);
        showRecipe("lossless_audit");
        QApplication::processEvents();
        QCOMPARE(m_page->verticalScrollBar()->value(), 0);
        QTest::keyClick(m_page.get(), Qt::Key_PageDown);
        QVERIFY(m_page->verticalScrollBar()->value() > 0);
        showRecipe("ablation"); // another one begins at its top
        QCOMPARE(m_page->verticalScrollBar()->value(), 0);
        QVERIFY(!m_page->accessibleName().isEmpty());
        QCOMPARE(namelessWidgets(*m_page), QStringList());
    }
};

QTEST_MAIN(RecipePageTest)
#include "recipe_page_test.moc"
