// SPDX-License-Identifier: GPL-3.0-only
#include "tests/support/file_content.h"
#include "ui/experiments/recipe_catalog.h"
#include "ui/shell/widgets/segmented_control.h"
#include "ui/views/experiments/options/executor_choice.h"
#include "ui/views/experiments/options/options_panel.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QFileDialog>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <memory>
#include <utility>

using namespace ui;

namespace {

/// A stand-in for swift-run that says what it was called with.
constexpr const char* kEcho = "#!/bin/sh\necho \"$@\"\n";

} // namespace

/// How a recipe is run: what can be chosen, and what becomes of it.
class OptionsPanelTest : public QObject {
    Q_OBJECT

    QByteArray m_path;
    Theme m_theme;
    RecipeCatalog m_catalog{QStringLiteral("resources/recipes"), {}};
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<OptionsPanel> m_panel;

    QString write(const char* name, const QByteArray& content) {
        const QString path = support::writeFile(m_folder->filePath(QLatin1String(name)), content);
        QFile::setPermissions(path, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        return path;
    }

    void showRecipe(const char* name) {
        const QString path = QStringLiteral("resources/recipes/%1.json").arg(QLatin1String(name));
        m_panel->setRecipe(path, &m_catalog.entry(path)->recipe);
    }

    bool says(const QString& words) {
        const auto labels = m_panel->findChildren<QLabel*>();
        return std::ranges::any_of(labels, [&](const QLabel* label) {
            return label->isVisible() && label->text().contains(words);
        });
    }

    QPushButton& button(const QString& text) {
        const auto buttons = m_panel->findChildren<QPushButton*>();
        return **std::ranges::find(buttons, text, &QPushButton::text);
    }

    QPushButton& estimate() { return button(QStringLiteral("Estimate")); }

    QComboBox& place() { return *m_panel->findChild<ExecutorChoice*>()->findChild<QComboBox*>(); }

    void choosePaper() {
        QTest::mouseClick(m_panel->findChild<SegmentedControl*>()->segment(2), Qt::LeftButton);
    }

private slots:

    void init() {
        m_path = qgetenv("PATH");
        m_folder = std::make_unique<QTemporaryDir>();
        m_panel = std::make_unique<OptionsPanel>(m_theme, write("swift-run", kEcho));
        m_panel->resize(320, 900);
        m_panel->show();
    }

    void cleanup() {
        m_panel.reset();
        m_folder.reset();
        qputenv("PATH", m_path);
    }

    void thePaperSizeSaysHowMuchItIsAndWhatTheFilesHave() {
        m_panel->setData({write("own.jsonl",
                                "{\"task\":\"a\",\"prompt\":\"p\"}\n"
                                "{\"task\":\"a\",\"prompt\":\"q\"}\n")});
        showRecipe("main_comparison");
        QVERIFY(says(QStringLiteral("4 prompts of each task")));
        choosePaper();
        QCOMPARE(m_panel->choice().size, QStringLiteral("paper"));
        QVERIFY(says(QStringLiteral("1,000 prompts of each task")));
        QTRY_VERIFY(says(QStringLiteral("no task of your files has more than 2")));
    }

    void aSizeSaysHowManyPromptsTheExamplesHave() {
        m_panel = std::make_unique<OptionsPanel>(
            m_theme, write("swift-run", kEcho), QStringLiteral("resources/examples"));
        m_panel->show();
        showRecipe("watch_it_learn");
        QTRY_VERIFY(says(QStringLiteral("no task of the examples has more than 10")));
    }

    void oneTokenIsToldInTheSingular() {
        const QString path = QStringLiteral("resources/recipes/main_comparison.json");
        engine::Recipe recipe = m_catalog.entry(path)->recipe;
        for (auto& [name, size] : recipe.sizes)
            size.maxTokens = 1;
        m_panel->setRecipe(path, &recipe);
        QVERIFY(says(QStringLiteral(", answers up to 1 token.")));
    }

    void slurmIsChosenOnlyWhereItIs() {
        qputenv("PATH", m_folder->path().toLocal8Bit());
        showRecipe("main_comparison");
        QVERIFY(!place().model()->flags(place().model()->index(1, 0)).testFlag(Qt::ItemIsEnabled));
        QVERIFY(says(QStringLiteral("where Slurm's sbatch is installed")));
        QCOMPARE(m_panel->choice().executor, QStringList());
    }

    void anExperimentIsGivenToSlurmWithItsArguments() {
        write("sbatch", "#!/bin/sh\n");
        qputenv("PATH", m_folder->path().toLocal8Bit() + ':' + m_path);
        showRecipe("main_comparison");
        QVERIFY(place().model()->flags(place().model()->index(1, 0)).testFlag(Qt::ItemIsEnabled));
        place().setCurrentIndex(1);
        QTest::keyClicks(m_panel->findChild<ExecutorChoice*>()->findChild<QLineEdit*>(),
                         QStringLiteral("--time 2:00:00 -p cpu"));
        QVERIFY(says(QStringLiteral("Each node must see")));
        const QStringList wanted{QStringLiteral("--executor"),
                                 QStringLiteral("slurm"),
                                 QStringLiteral("--slurm-argument=--time=2:00:00"),
                                 QStringLiteral("--slurm-argument=-pcpu")};
        QCOMPARE(m_panel->choice().executor, wanted);
        place().setCurrentIndex(0);
        QCOMPARE(m_panel->choice().executor, QStringList());
    }

    void theEstimateIsAskedForWhatWouldRun() {
        const QString data = write("own.jsonl", "{\"task\":\"t\",\"prompt\":\"p\"}\n");
        m_panel->setData({data});
        showRecipe("main_comparison");
        choosePaper();
        m_panel->findChild<QSpinBox*>()->setValue(3);
        QTRY_VERIFY(estimate().isEnabled());
        QTest::mouseClick(&estimate(), Qt::LeftButton);
        const QStringList arguments = argumentsOf(m_panel->choice(), {});
        QCOMPARE(arguments, QStringList({"--size", "paper", "--data", data, "--seeds", "3"}));
        QTRY_VERIFY(says(arguments.join(u' ') + QStringLiteral(" --preview")));
    }

    void columnsOfOtherNamesAreToldToTheProgram() {
        const QString data = write("own.csv",
                                   "question,category,answer\n"
                                   "Why?,how,Because.\n"
                                   "When?,time,Now.\n");
        m_panel->setData({data});
        showRecipe("main_comparison");
        QTRY_VERIFY(says(QStringLiteral("2 prompts, 2 tasks")));
        const QStringList arguments = argumentsOf(m_panel->choice(), {});
        QCOMPARE(arguments,
                 QStringList({"--size",
                              "quick",
                              "--data",
                              data,
                              "--text-field=question",
                              "--task-field=category",
                              "--reference-field=answer"}));
        QTest::mouseClick(&estimate(), Qt::LeftButton);
        QTRY_VERIFY(says(arguments.join(u' ') + QStringLiteral(" --preview")));
    }

    void aFileOfAFolderThatCannotBeReadDoesNotHideTheOthers() {
        QVERIFY(QDir(m_folder->path()).mkdir(QStringLiteral("mine")));
        write("mine/a.csv", QByteArray("\xFF\xFEp\0", 4));
        write("mine/b.csv", "question,category\nWhy?,how\nWhen?,time\n");
        showRecipe("main_comparison");
        m_panel->setData({m_folder->filePath(QStringLiteral("mine"))});
        QTRY_VERIFY(says(QStringLiteral("2 prompts, 2 tasks")));
        QCOMPARE(m_panel->choice().layout.prompt, std::string("question"));
    }

    void aTaskThatIsTheFilesNameIsToldToTheProgram() {
        const QString data = write("own.jsonl", "{\"prompt\":\"p\"}\n{\"prompt\":\"q\"}\n");
        m_panel->setData({data});
        showRecipe("main_comparison");
        QTRY_VERIFY(says(QStringLiteral("2 prompts, 1 task")));
        QCOMPARE(argumentsOf(m_panel->choice(), {}),
                 QStringList({"--size", "quick", "--data", data, "--task-field", ""}));
    }

    void filesWithoutPromptsCannotBeRun() {
        showRecipe("main_comparison");
        m_panel->setData({write("own.jsonl", "{\"n\":1}\n")});
        QTRY_VERIFY(says(QStringLiteral("No prompt was found in these files.")));
        QVERIFY(!estimate().isEnabled());
    }

    void aRecipeThatComparesModelsAsksForAnotherAndRemembersIt() {
        const QString first = QStringLiteral("/models/first.gguf");
        const QString data = write("own.jsonl", "{\"task\":\"t\",\"prompt\":\"p\"}\n");
        m_panel->setData({data});
        m_panel->setModel({first, false}, {});
        showRecipe("main_comparison");
        QTRY_VERIFY(estimate().isEnabled());
        QVERIFY(!says(QStringLiteral("Other models")));
        showRecipe("scaling");
        QVERIFY(says(QStringLiteral("Other models")));
        QVERIFY(says(QStringLiteral("Choose another model: this recipe compares models.")));
        QVERIFY(!estimate().isEnabled());
        for (QCheckBox* check : m_panel->findChildren<QCheckBox*>())
            if (check->text() == QStringLiteral("Lesson model (silent copies)"))
                check->setChecked(true);
        QVERIFY(estimate().isEnabled());
        QCOMPARE(argumentsOf(m_panel->choice(), {}),
                 QStringList({"--size", "quick", "--data", data, "--and-model", "planted"}));
        showRecipe("main_comparison");
        QCOMPARE(m_panel->choice().otherModels, QStringList());
        showRecipe("scaling");
        QCOMPARE(m_panel->choice().otherModels, QStringList({"planted"}));
        m_panel->setModel({first, true}, {}); // now the lesson model is the loaded one
        QCOMPARE(m_panel->choice().otherModels, QStringList({first}));
        QVERIFY(estimate().isEnabled());
    }

    void aModelIsNotComparedWithItself() {
        m_panel->setData({write("own.jsonl", "{\"prompt\":\"p\"}\n")});
        m_panel->setModel({QStringLiteral("/models/first.gguf"), false}, {});
        showRecipe("scaling");
        QTRY_VERIFY(says(QStringLiteral("Choose another model")));
        QTest::mouseClick(&button(QStringLiteral("Add a file...")), Qt::LeftButton);
        auto* dialog = m_panel->findChild<QFileDialog*>();
        QVERIFY(dialog != nullptr);
        const QString second = QStringLiteral("/models/second.gguf");
        emit dialog->fileSelected(second);
        delete dialog;
        QCOMPARE(m_panel->choice().otherModels, QStringList({second}));
        QVERIFY(estimate().isEnabled());
        m_panel->setModel({second, false}, {});
        QVERIFY(says(QStringLiteral("One of the other models is the loaded one.")));
        QVERIFY(!estimate().isEnabled());
    }

    void aProgramThatCannotBeStartedIsSaidWhereTheCostWouldBe() {
        m_panel->setData({write("own.jsonl", "{\"prompt\":\"p\"}\n")});
        showRecipe("main_comparison");
        QTRY_VERIFY(estimate().isEnabled());
        QVERIFY(QFile::remove(m_folder->filePath(QStringLiteral("swift-run"))));
        QTest::mouseClick(&estimate(), Qt::LeftButton);
        QVERIFY(says(QStringLiteral("being estimated")));
        QTRY_VERIFY(says(QStringLiteral("Install SWIFT Studio again.")));
        QVERIFY(!says(QStringLiteral("being estimated")));
    }

    void whereFilesCannotBeReadNothingIsEstimated() {
        showRecipe("main_comparison");
        m_panel->setData({m_folder->filePath(QStringLiteral("gone.jsonl"))});
        QVERIFY(says(QStringLiteral("Reading the files."))); // nobody has looked yet
        QTRY_VERIFY(says(QStringLiteral("gone.jsonl does not exist")));
        QVERIFY(!estimate().isEnabled());
        QVERIFY(!says(QStringLiteral("Not estimated")));
    }

    void tasksThatALongerLookFindsAreTakenToo() {
        QByteArray lines;
        for (const auto& [task, count] :
             {std::pair('a', 10), std::pair('b', 10), std::pair('c', 5)})
            lines += QByteArray("{\"task\":\"x\",\"prompt\":\"p\"}\n")
                         .replace('x', task)
                         .repeated(count);
        showRecipe("main_comparison");
        m_panel->setData({write("own.jsonl", lines)});
        QTRY_VERIFY(says(QStringLiteral("25 prompts, 3 tasks")));
        QCOMPARE(m_panel->choice().tasks, QStringList()); // all
        for (QCheckBox* check : m_panel->findChildren<QCheckBox*>())
            if (check->property("name").toString() == QStringLiteral("b"))
                check->setChecked(false);
        QCOMPARE(m_panel->choice().tasks, QStringList({"a", "c"}));
    }

    void decodersAreNamedAsInTheReport() {
        showRecipe("ablation");
        QStringList names;
        for (const QCheckBox* check : m_panel->findChildren<QCheckBox*>())
            names << check->text();
        QVERIFY2(names.contains(QStringLiteral("Without early stop")),
                 qPrintable(names.join(u';')));
    }

    void aSizeOfOnePromptIsSaidInTheSingular() {
        engine::Recipe recipe;
        recipe.name = "small";
        recipe.sizes["quick"] = {.promptsPerTask = {{"", 1}}};
        m_panel->setRecipe(QStringLiteral("small.swiftexp"), &recipe);
        QVERIFY(says(QStringLiteral("1 prompt of each task")));
    }
};

QTEST_MAIN(OptionsPanelTest)
#include "options_panel_test.moc"
