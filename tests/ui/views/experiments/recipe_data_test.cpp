// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/file_content.h"
#include "tests/ui/views/experiments/staged_desk.h"
#include "ui/views/experiments/data/data_page.h"

#include <QComboBox>
#include <QFileDialog>
#include <QMenu>
#include <QTest>

#include <memory>
#include <optional>

using namespace support;
using namespace ui;

/// Files and folders with prompts, columns that the user has chosen, and recipes that run on them.
class RecipeDataTest : public QObject {
    Q_OBJECT

    std::unique_ptr<StagedDesk> m_desk;

    ExperimentsDesk& desk() { return *m_desk->desk; }

    DataPage& page() { return desk().page().dataPage(); }

    /// Opens a table in which another column than the proposed one has the prompts, says so, and
    /// takes it for recipes. Returns its path.
    QString chooseColumns() {
        const QString path = writeFile(m_desk->script.folder() + QStringLiteral("/own.csv"),
                                       "prompt,question,category,answer\n"
                                       "x,Why?,how,Because.\n"
                                       "x,When?,time,Now.\n"
                                       "x,Where?,time,Here.\n");
        desk().openPaths({path});
        waitUntil([this] { return page().canRun(); });
        for (QComboBox* box : page().findChildren<QComboBox*>())
            if (box->accessibleName() == QStringLiteral("Column of the prompts")) {
                box->setCurrentIndex(box->findData(QStringLiteral("question")));
                emit box->activated(box->currentIndex());
            }
        QTest::mouseClick(shownButton(page(), QStringLiteral("Use for a recipe")), Qt::LeftButton);
        return path;
    }

    /// The window of a program that has examples.
    void openWithExamples() {
        m_desk->close();
        m_desk->places.examples = QStringLiteral("resources/examples");
        m_desk->open();
    }

    static QPushButton* offer(QWidget& within, const char* text) {
        return shownButton(within, QLatin1String(text));
    }

    /// A folder with two files of prompts.
    QString folderWithPrompts() {
        const QString folder = m_desk->script.folder() + QStringLiteral("/mine");
        writeFile(folder + QStringLiteral("/code.jsonl"), "{\"prompt\":\"p\"}\n");
        writeFile(folder + QStringLiteral("/story.jsonl"), "{\"prompt\":\"q\"}\n");
        return folder;
    }

    /// The dialog that is open, which chooses one folder and no files.
    QFileDialog& folderDialog() {
        auto* dialog = desk().page().findChild<QFileDialog*>();
        if (dialog == nullptr || dialog->fileMode() != QFileDialog::Directory)
            qFatal("There is no dialog for a folder.");
        return *dialog;
    }

    /// The choice of a folder in the menu that a button has opened.
    void chooseFolder() {
        for (QMenu* menu : desk().page().findChildren<QMenu*>())
            for (QAction* action : menu->actions())
                if (action->text() == QStringLiteral("A f&older with prompts...")) {
                    menu->close();
                    action->trigger();
                    return;
                }
        qFatal("No folder is offered.");
    }

private slots:

    void init() { m_desk = std::make_unique<StagedDesk>(); }

    void cleanup() { m_desk.reset(); }

    void tasksThatTheRecipePrefersStayInFront() {
        auto recipe = engine::readRecipeFile("resources/recipes/set_film.json");
        QVERIFY(recipe);
        RecipeChoice choice;
        choice.recipe = std::move(recipe).value();
        choice.size = QStringLiteral("quick");
        choice.tasks = {"code", "story", "summarization"}; // it takes one of them
        RunSetup setup(m_desk->script.folder());
        std::optional<ExperimentJob> made;
        setup.make(choice, ModelChoice{}, [&made](const ExperimentJob& job, const QString&) {
            made = job;
        });
        QTRY_VERIFY(made.has_value());
        const auto written = engine::readRecipeFile(made->recipe.toStdString());
        QVERIFY2(written, written ? "" : written.error().message.c_str());
        QCOMPARE(written.value().tasks,
                 (std::vector<std::string>{"summarization", "code", "story"}));
    }

    void recipesRunOnTheColumnsThatTheUserChose() {
        const QString path = chooseColumns();
        desk().showRecipe(QStringLiteral("resources/recipes/main_comparison.json"));
        QTRY_VERIFY(labelSays(desk().options(), QStringLiteral("3 prompts, 2 tasks")));
        QTest::mouseClick(shownButton(desk().options(), QStringLiteral("Run")), Qt::LeftButton);
        QTRY_COMPARE(desk().queue().jobs().size(), std::size_t{1});
        QCOMPARE(desk().queue().jobs().front().arguments,
                 QStringList({"--size",
                              "quick",
                              "--data",
                              path,
                              "--text-field=question",
                              "--task-field=category",
                              "--reference-field=answer"}));
    }

    void theyDoSoAtTheNextStartToo() {
        const QString path = chooseColumns();
        m_desk->close();
        m_desk->open();
        const RecipeChoice choice = desk().options().choice();
        QCOMPARE(choice.data, QStringList(path));
        QCOMPARE(choice.layout.prompt, std::string("question"));
        QCOMPARE(choice.layout.task, std::string("category"));
        QCOMPARE(choice.layout.taskSource, engine::TaskSource::Field);
        QCOMPARE(choice.layout.reference, std::string("answer"));
        QVERIFY(choice.layout.hasHeader);
    }

    void aFolderOfDataIsAskedForByMenuAndKeys() {
        desk().askForDataFolder();
        emit folderDialog().filesSelected({folderWithPrompts()});
        QVERIFY(page().isVisible());
        QTRY_VERIFY(page().canRun());
    }

    void everyButtonForDataOffersAFolderToo() {
        QTest::mouseClick(shownButton(desk().queuePanel(), QStringLiteral("Open data...")),
                          Qt::LeftButton);
        chooseFolder();
        emit folderDialog().filesSelected({folderWithPrompts()});
        QVERIFY(page().isVisible());
        QTRY_VERIFY(page().canRun());
    }

    void recipesRunOnAFolderToo() {
        desk().showRecipe(QStringLiteral("resources/recipes/main_comparison.json"));
        QTest::mouseClick(shownButton(desk().options(), QStringLiteral("Choose the prompts...")),
                          Qt::LeftButton);
        chooseFolder();
        const QString folder = folderWithPrompts();
        emit folderDialog().filesSelected({folder});
        QCOMPARE(desk().options().choice().data, QStringList(folder));
        QTRY_VERIFY(labelSays(desk().options(), QStringLiteral("2 prompts, 2 tasks")));
    }

    void aRecipeCanBeRunAtOnceOnTheExamples() {
        openWithExamples();
        desk().showRecipe(QStringLiteral("resources/recipes/main_comparison.json"));
        QVERIFY(offer(desk().options(), "Run")->isEnabled());
        QVERIFY(offer(desk().options(), "Estimate")->isEnabled());
        QVERIFY(offer(desk().options(), "Use the examples") == nullptr);
        QTRY_VERIFY(
            labelSays(desk().options(), QStringLiteral("90 example prompts of 9 tasks, which")));
        QTest::mouseClick(offer(desk().options(), "Run"), Qt::LeftButton);
        QTRY_COMPARE(desk().queue().jobs().size(), std::size_t{1});
        QCOMPARE(desk().queue().jobs().front().arguments,
                 QStringList({"--size", "quick", "--data", "resources/examples"}));
    }

    void behindPromptsOfOnesOwnThereIsAWayBackToTheExamples() {
        openWithExamples();
        desk().showRecipe(QStringLiteral("resources/recipes/main_comparison.json"));
        QTest::mouseClick(offer(desk().options(), "Choose the prompts..."), Qt::LeftButton);
        chooseFolder();
        const QString folder = folderWithPrompts();
        emit folderDialog().filesSelected({folder});
        QCOMPARE(desk().options().choice().data, QStringList(folder));
        QTest::mouseClick(offer(desk().options(), "Use the examples"), Qt::LeftButton);
        QVERIFY(offer(desk().options(), "Run")->isEnabled());
        m_desk->close();
        m_desk->open();
        QCOMPARE(desk().options().choice().data, QStringList({"resources/examples"}));
    }

    void theExamplesAreAStreamLikeAFolderOfOnesOwn() {
        openWithExamples();
        QTest::mouseClick(offer(desk().page(), "Try the examples"), Qt::LeftButton);
        QVERIFY(page().isVisible());
        QVERIFY(labelSays(desk().page(), QStringLiteral("Example prompts")));
        QTRY_VERIFY(labelSays(page(), QStringLiteral("90 of 90 prompts in 9 tasks")));
        QVERIFY(offer(page(), "Try the examples") == nullptr);
        desk().openPaths({folderWithPrompts()});
        QVERIFY(labelSays(desk().page(), QStringLiteral("Prompts of your own")));
        QTest::mouseClick(offer(page(), "Try the examples"), Qt::LeftButton);
        QCOMPARE(page().paths(), QStringList({"resources/examples"}));
    }

    /// The program may lie elsewhere at the next start.
    void theExamplesAreNotKeptAsFilesOfTheUsers() {
        openWithExamples();
        desk().openPaths({QStringLiteral("resources/examples")});
        QTRY_VERIFY(page().canRun());
        QTest::mouseClick(offer(page(), "Use for a recipe"), Qt::LeftButton);
        QCOMPARE(desk().options().choice().data, QStringList({"resources/examples"}));
        QVERIFY(m_desk->settings.value("experiments/data").toStringList().isEmpty());
    }

    void whereThereAreNoExamplesNoneAreOffered() {
        QVERIFY(offer(desk().page(), "Open data...") != nullptr);
        QVERIFY(offer(desk().page(), "Try the examples") == nullptr);
        desk().showRecipe(QStringLiteral("resources/recipes/main_comparison.json"));
        QVERIFY(labelSays(desk().options(), QStringLiteral("None yet")));
        QVERIFY(!offer(desk().options(), "Run")->isEnabled());
    }

    /// The page that maps the columns offers nothing that would not run.
    void filesWithoutPromptsAreNotTakenForRecipes() {
        desk().openPaths(
            {writeFile(m_desk->script.folder() + QStringLiteral("/none.jsonl"), "{\"n\":1}\n")});
        QTRY_VERIFY(labelSays(page(), QStringLiteral("There is no prompt in these files.")));
        QVERIFY(!shownButton(page(), QStringLiteral("Use for a recipe"))->isEnabled());
    }
};

QTEST_MAIN(RecipeDataTest)
#include "recipe_data_test.moc"
