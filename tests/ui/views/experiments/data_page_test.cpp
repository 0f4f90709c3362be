// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/shown_words.h"
#include "ui/views/experiments/data/data_page.h"
#include "ui/views/experiments/data/stream_estimate.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <memory>

using namespace ui;

/// The page that maps the columns of the user's own files.
class DataPageTest : public QObject {
    Q_OBJECT

    Theme m_theme;
    QTemporaryDir m_folder;
    std::unique_ptr<DataPage> m_page;

    QString file(const char* name, const QByteArray& content) {
        const QString path = m_folder.filePath(QLatin1String(name));
        QFile file(path);
        if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size())
            qFatal("cannot write %s", name);
        return path;
    }

    template <typename Widget> Widget* control(const QString& name) const {
        for (Widget* widget : m_page->findChildren<Widget*>())
            if (widget->accessibleName() == name)
                return widget;
        return nullptr;
    }

    QTableView& table() const { return *m_page->findChild<QTableView*>(); }

    bool says(const QString& words) const {
        const auto labels = m_page->findChildren<QLabel*>();
        return std::ranges::any_of(
            labels, [&](const QLabel* label) { return label->text().contains(words); });
    }

    QPushButton* run() const {
        for (QPushButton* button : m_page->findChildren<QPushButton*>())
            if (button->text() == QStringLiteral("Run"))
                return button;
        return nullptr;
    }

private slots:

    void init() {
        m_page = std::make_unique<DataPage>(m_theme);
        m_page->resize(900, 600);
        m_page->show();
    }

    void cleanup() { m_page.reset(); }

    void theColumnsOfATableAreProposedAndCanBeChanged() {
        const QString path = file("mails.csv",
                                  "kind,question,answer\n"
                                  "billing,How do I pay?,By card.\n"
                                  "billing,Can I get a refund?,Yes.\n"
                                  "support,It does not start.,Press the button.\n");
        QVERIFY(!run()->isEnabled());
        m_page->open({path});
        QTRY_VERIFY(says(QStringLiteral("3 of 3 prompts")));
        QCOMPARE(m_page->choice().data.layout.prompt, std::string("question"));
        QCOMPARE(table().model()->index(0, 1).data().toString(), QStringLiteral("How do I pay?"));
        auto* task = control<QComboBox>(QStringLiteral("Where the task of a prompt is found"));
        task->setCurrentIndex(task->findData(QStringLiteral("kind")));
        emit task->activated(task->currentIndex());
        QTRY_VERIFY(says(QStringLiteral("in 2 tasks")));
        const StreamChoice choice = m_page->choice();
        QCOMPARE(choice.data.layout.task, std::string("kind"));
        QCOMPARE(choice.data.layout.taskSource, engine::TaskSource::Field);
        QCOMPARE(choice.title, QStringLiteral("mails"));
        QVERIFY(run()->isEnabled());
    }

    void onANarrowPageThePreviewIsBelowTheForm() {
        m_page->open({file("wide.jsonl", "{\"task\":\"a\",\"prompt\":\"p\"}\n")});
        QTRY_VERIFY(says(QStringLiteral("1 of 1 prompt")));
        QVERIFY(table().width() < m_page->width() * 2 / 3);
        m_page->resize(450, 560);
        QTRY_VERIFY(table().width() > 400);
        QVERIFY(table().height() >= 90);
        QVERIFY(run()->geometry().bottom() < m_page->height());
        m_page->resize(900, 600);
        QTRY_VERIFY(table().width() < 600);
    }

    void theTipOfTheFilesHasTheirPathsAsTheyAre() {
        const QString path = file("R&D.jsonl", "{\"task\":\"a\",\"prompt\":\"p\"}\n");
        m_page->open({path});
        const auto labels = m_page->findChildren<QLabel*>();
        QVERIFY(std::ranges::any_of(labels, [&](const QLabel* label) {
            return support::shownTip(label->toolTip()) == path;
        }));
    }

    void oneTokenIsToldInTheSingular() {
        auto* limit = control<QSpinBox>(QStringLiteral("Most tokens of an answer"));
        QVERIFY(limit->text().endsWith(QStringLiteral(" tokens")));
        limit->setValue(1);
        QCOMPARE(limit->text(), QStringLiteral("1 token"));
    }

    void theUserSaysWhetherTheFirstRowNamesTheColumns() {
        m_page->open({file("years.csv", "question,2023\nWhy is it so?,Because.\nAnd now?,Yes.\n")});
        QTRY_VERIFY(says(QStringLiteral("3 of 3 prompts"))); // a number looks like no name
        auto* isNamed = m_page->findChild<QCheckBox*>();
        QVERIFY(isNamed->isVisible());
        QVERIFY(!isNamed->isChecked());
        QTest::keyClick(isNamed, Qt::Key_Space);
        QTRY_VERIFY(says(QStringLiteral("2 of 2 prompts")));
        QCOMPARE(m_page->choice().data.layout.prompt, std::string("question"));
        QVERIFY(m_page->choice().data.layout.hasHeader);
        QTest::keyClick(isNamed, Qt::Key_Space);
        QTRY_VERIFY(says(QStringLiteral("3 of 3 prompts")));
        QVERIFY(!m_page->choice().data.layout.hasHeader);
        m_page->open({file("lines.jsonl", "{\"prompt\":\"p\"}\n")});
        QVERIFY(!isNamed->isVisible());
    }

    void eachFileOfAFolderHasItsOwnSeparator() {
        QVERIFY(QDir(m_folder.path()).mkdir(QStringLiteral("mixed")));
        file("mixed/a.csv", "prompt,task\none,x\n");
        file("mixed/b.csv", "prompt;task\ntwo;y\n");
        file("mixed/c.tsv", "prompt\ttask\nthree\tz\n");
        m_page->open({m_folder.filePath(QStringLiteral("mixed"))});
        QTRY_VERIFY(says(QStringLiteral("3 of 3 prompts in 3 tasks")));
        QVERIFY(!says(QStringLiteral("has no column")));
        QVERIFY(m_page->findChild<QCheckBox*>()->isVisible());
    }

    void limitsTellHowManyPromptsAreUsed() {
        QByteArray lines;
        for (int i = 0; i < 30; ++i)
            lines += "{\"task\":\"a\",\"prompt\":\"p\"}\n";
        m_page->open({file("many.jsonl", lines)});
        QTRY_VERIFY(says(QStringLiteral("20 of 30 prompts")));
        auto* limit = control<QSpinBox>(QStringLiteral("Most prompts of each task"));
        limit->setValue(0);
        QVERIFY(says(QStringLiteral("30 of 30 prompts")));
        QVERIFY(!m_page->choice().data.limits.perTask);
        limit->setValue(7);
        QCOMPARE(m_page->choice().data.limits.perTask, std::optional<std::int64_t>(7));
    }

    /// As where the column of the task is another one by mistake.
    void moreTasksThanAreListedAreNotTheirNumber() {
        QByteArray lines;
        for (int i = 0; i < 1001; ++i)
            lines += "{\"task\":\"" + QByteArray::number(i) + "\",\"prompt\":\"p\"}\n";
        m_page->open({file("own.jsonl", lines)});
        QTRY_VERIFY(
            says(QStringLiteral("at most 1,001 of 1,001 prompts in more than 1,000 tasks")));
        control<QSpinBox>(QStringLiteral("Most prompts of each task"))->setValue(0);
        QVERIFY(says(QStringLiteral("1,001 of 1,001 prompts in more than 1,000 tasks")));
        QVERIFY(!says(QStringLiteral("at most")));
    }

    void allTasksTogetherHaveALimit() {
        QByteArray lines;
        for (int i = 0; i < 30; ++i)
            lines += i < 20 ? "{\"task\":\"a\",\"prompt\":\"p\"}\n"
                            : "{\"task\":\"b\",\"prompt\":\"p\"}\n";
        m_page->open({file("two.jsonl", lines)});
        QTRY_VERIFY(says(QStringLiteral("30 of 30 prompts in 2 tasks")));
        QVERIFY(!m_page->choice().data.limits.total);
        control<QSpinBox>(QStringLiteral("Most prompts of all tasks together"))->setValue(25);
        QVERIFY(says(QStringLiteral("25 of 30 prompts in 2 tasks")));
        QCOMPARE(m_page->choice().data.limits.total, std::optional<std::int64_t>(25));
    }

    void whatItTakesIsSaidOnceItIsEstimated() {
        const QString program = file("swift-run", "#!/bin/sh\necho \"about 14 min: $*\"\n");
        QVERIFY(QFile::setPermissions(program, QFile::ReadOwner | QFile::ExeOwner));
        RunSetup setup(m_folder.path());
        const StreamEstimate estimate(*m_page, setup, program);
        m_page->open({file("few.jsonl", "{\"prompt\":\"p\"}\n{\"prompt\":\"q\"}\n")});
        QTRY_VERIFY(says(QStringLiteral("2 prompts. The time is not known yet")));
        auto* button =
            control<QPushButton>(QStringLiteral("Estimate how long the experiment takes"));
        QTRY_VERIFY(button->isEnabled());
        button->click();
        QVERIFY(says(QStringLiteral("being estimated")));
        QTRY_VERIFY(says(QStringLiteral("about 14 min: experiment ")));
        QVERIFY(says(QStringLiteral("estimate.swiftexp --size own --data ")));
        QVERIFY(says(QStringLiteral("--preview")));
        control<QSpinBox>(QStringLiteral("Most tokens of an answer"))->setValue(7);
        QVERIFY(says(QStringLiteral("2 prompts. The time is not known yet")));
    }

    void everyColumnIsSeenInASmallWindow() {
        table().setFixedWidth(m_theme.scaled(200));
        const QString words = QStringLiteral("How do I pay? ").repeated(8);
        m_page->open(
            {file("long.csv",
                  QStringLiteral("kind,question,answer\na,%1,%1\nb,%1,%1\n").arg(words).toUtf8())});
        QTRY_VERIFY(says(QStringLiteral("2 of 2 prompts")));
        auto* reference = control<QComboBox>(QStringLiteral("Column of the reference answers"));
        reference->setCurrentIndex(reference->findData(QStringLiteral("answer")));
        emit reference->activated(reference->currentIndex());
        QTRY_VERIFY(!table().isColumnHidden(2));
        QTRY_COMPARE(table().horizontalScrollBar()->maximum(), 0);
    }

    void badLinesAreNamed() {
        m_page->open(
            {file("some.jsonl", "{\"prompt\":\"good\"}\n{\"prompt\":\n{\"prompt\":\"also\"}\n")});
        QTRY_VERIFY(says(QStringLiteral("2 of 2 prompts")));
        QVERIFY(says(QStringLiteral("line 2")));
        QVERIFY(says(QStringLiteral("some.jsonl")));
    }

    void aFileWithoutPromptsCannotBeRun() {
        m_page->open({file("empty.jsonl", "")});
        QTRY_VERIFY(!says(QStringLiteral("Reading the files.")));
        QVERIFY(!run()->isEnabled());
    }

    void aFileThatIsNotThereIsNamed() {
        m_page->open({m_folder.filePath(QStringLiteral("nothing.jsonl"))});
        QTRY_VERIFY(says(QStringLiteral("nothing.jsonl")) && !says(QStringLiteral("Reading")));
        QVERIFY(!run()->isEnabled());
    }

    void theDecodersAreThoseOfTheModel() {
        engine::DecoderInfo swift;
        swift.name = "swift";
        swift.title = "SWIFT";
        swift.profiles.resize(2);
        swift.profiles[0].name = "paper";
        swift.profiles[1].name = "ours";
        engine::DecoderInfo vanilla;
        vanilla.name = "vanilla";
        engine::DecoderInfo automatic;
        automatic.name = "auto";
        m_page->setDecoders({automatic, swift});
        QCOMPARE(m_page->choice().decoder, std::string("swift")); // which layers are not needed?
        m_page->setDecoders({vanilla, swift});
        auto* decoder = control<QComboBox>(QStringLiteral("Decoder that answers beside vanilla"));
        QCOMPARE(decoder->count(), 1);
        QCOMPARE(m_page->choice().decoder, std::string("swift"));
        auto* profile = control<QComboBox>(QStringLiteral("Profile of the decoder"));
        QVERIFY(profile->isVisible());
        profile->setCurrentIndex(1);
        QCOMPARE(m_page->choice().settings.at("profile"), std::vector<std::string>{"ours"});
    }

    void everyControlHasAName() { QCOMPARE(support::namelessWidgets(*m_page), QStringList()); }
};

QTEST_MAIN(DataPageTest)
#include "data_page_test.moc"
