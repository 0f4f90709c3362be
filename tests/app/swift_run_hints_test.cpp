// SPDX-License-Identifier: Apache-2.0
// What is lacking when swift-run cannot go on: rights, space, memory, threads. Each hint that it
// gives there is followed, and then it goes on.
#include "app/exit_codes.h"
#include "tests/support/models/tiny_folder_model.h"
#include "tests/support/programs/swift_run.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>
#include <QThread>

#include <unistd.h>

using support::ProgramRun;

class SwiftRunHintsTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void everyHintHelps_data();
    void everyHintHelps();

private:
    ProgramRun runLine(const QString& line) const;
    static void addWrongRows();
    static void addWrongLists();
    static void addWrongSearches();

    QString path(const QString& name) const { return m_folder.filePath(name); }

    QTemporaryDir m_folder;
    bool m_isRoot = ::geteuid() == 0;
};

/// A line of a shell, in the test's folder. $RUN is the program; $AS runs it as a user who is not
/// allowed everything.
ProgramRun SwiftRunHintsTest::runLine(const QString& line) const {
    return support::runProgram("/bin/bash", {"-c", "cd " + m_folder.path() + " && " + line});
}

void SwiftRunHintsTest::initTestCase() {
    qputenv("RUN", support::swiftRunPath().toUtf8());
    qputenv("SWIFT_STUDIO_CACHE", path("cache").toUtf8());
    qputenv("SWIFT_STUDIO_DATA", path("memory").toUtf8());
    // A user of this test alone: limits count all that one user runs.
    const qint64 user = 70'000 + QCoreApplication::applicationPid() % 10'000;
    if (m_isRoot)
        qputenv("AS",
                QByteArray("setpriv --clear-groups --reuid=") + QByteArray::number(user) +
                    " --regid=" + QByteArray::number(user));
    auto config = support::letterConfig(5);
    auto weights = support::randomWeights(config, 3);
    support::writeFolderModel(path("model").toStdString(), config, weights);
    config.contextLength = 1 << 20;
    support::writeFolderModel(path("long").toStdString(), config, weights);
    // Finite weights, whose products are not in float32.
    config.contextLength = 64;
    for (float& weight : weights.values("model.layers.4.mlp.up_proj.weight"))
        weight *= 1e6F;
    for (float& weight : weights.values("model.layers.4.mlp.down_proj.weight"))
        weight = 3e38F;
    support::writeFolderModel(path("huge").toStdString(), config, weights);
    support::writeText(path("data.jsonl").toStdString(), "{\"prompt\":\"abc ab\"}\n");
    support::writeText(path("tasks.jsonl").toStdString(),
                       "{\"prompt\":\"abc ab\",\"task\":\"letters\"}\n");
    support::writeText(path("story.jsonl").toStdString(),
                       "{\"prompt\":\"abc\",\"task\":\"story\",\"reference\":\"de\"}\n");
    support::writeText(path("empty.jsonl").toStdString(), "");
    support::writeText(path("other.jsonl").toStdString(), "{\"question\":\"abc\"}\n");
    support::writeText(path("other.csv").toStdString(), "question,answer\nabc,de\n");
    support::writeText(path("schema.json").toStdString(), "{\"type\":\"null\"}");
    support::writeText(path("words.txt").toStdString(), "abc\n");
    QVERIFY(runLine("chmod 755 . && mkdir closed open && chmod 555 closed && chmod 777 open && "
                    "$RUN stream --decoder vanilla --data data.jsonl --raw --max-tokens 2 --model "
                    "model --out run.swiftrun")
                .exitCode == 0);
}

namespace {

void addWrong(const char* name,
              const QString& line,
              const QString& hint,
              const QString& followed,
              int exitCode = app::kUsage) {
    QTest::newRow(name) << line << exitCode << hint << followed;
}

} // namespace

/// Command lines that say what cannot be done.
void SwiftRunHintsTest::addWrongRows() {
    const QString generate = "$RUN generate --model model --max-tokens 2 ";
    addWrong("no prompt",
             generate,
             "Give one of --prompt TEXT, --prompt-file FILE",
             generate + "--prompt abc");
    addWrong("two prompts",
             generate + "--prompt abc --prompt-file words.txt",
             "Give one of --prompt TEXT, --prompt-file FILE",
             generate + "--prompt-file words.txt");
    addWrong("an id that is none",
             generate + "--prompt-ids 1,x",
             "Write ids as whole numbers separated by commas: 1,2,3.",
             generate + "--prompt-ids 1,2,3");
    addWrong("a setting without a value",
             generate + "--prompt abc --decoder swift --set gamma",
             "Write NAME=VALUE, for example gamma=32.",
             generate + "--prompt abc --decoder swift --set gamma=32");
    addWrong("a line that is no JSON",
             "$RUN tokenize --model model --json < words.txt",
             "With --json every line is a string in double quotes.",
             "echo '\"abc\"' | $RUN tokenize --model model --json");
    addWrong("no such prompt file",
             generate + "--prompt-file none.txt",
             "Check the path; - reads from standard input.",
             generate + "--prompt-file - < words.txt",
             app::kNotFound);
    const QString huge = "$RUN generate --model huge --max-tokens 2 --prompt abc ";
    addWrong("numbers beyond the precision",
             huge,
             "try --backend plain --precision float64",
             huge + "--backend plain --precision float64",
             app::kNumeric);
    addWrong("a context beyond the model's",
             generate + "--prompt abc --context 9999999",
             "Leave out --context, or choose a smaller one.",
             generate + "--prompt abc --context 64");
    addWrong("a decoder named twice",
             "$RUN compare --model model --data data.jsonl --raw --max-tokens 2 --decoders "
             "vanilla,vanilla",
             "Give each variant a name of its own. For instance --decoders vanilla,a=swift,b=swift "
             "--set a.r=0.3.",
             "$RUN compare --model model --data data.jsonl --raw --max-tokens 2 --decoders "
             "vanilla,a=swift,b=swift --set a.r=0.3");
}

/// Ids, parents, biases and forms of an answer.
void SwiftRunHintsTest::addWrongLists() {
    const QString forward = "$RUN forward --model model ";
    addWrong("a layer that is not there",
             forward + "--ids 1,2,3 --exit-after 9",
             "Give the number of the last layer to run.",
             forward + "--ids 1,2,3 --exit-after 4");
    addWrong("a parent that comes later",
             forward + "--ids 1,2,3 --parents=-1,1",
             "A parent is an earlier node, counted from 0, or -1 for the prefix.",
             forward + "--ids 1,2,3 --parents=-1,0");
    addWrong("more parents than nodes",
             forward + "--ids 1 --parents=-1,0",
             "each node needs one parent.",
             forward + "--ids 1,2 --parents=-1,0");
    const QString detokenize = "| $RUN detokenize --model model ";
    addWrong("words instead of ids",
             "echo a b " + detokenize,
             "Write ids as whole numbers separated by spaces or commas.",
             "echo 1 2,3 " + detokenize);
    addWrong("JSON that is no list",
             "echo '{}' " + detokenize + "--json",
             "With --json every line is an array of ids: [1,2,3].",
             "echo '[1,2,3]' " + detokenize + "--json");
    addWrong("an id below 0",
             "echo '[-1]' " + detokenize + "--json",
             "Ids are whole numbers from 0 on.",
             "echo '[0]' " + detokenize + "--json");
    const QString generate = "$RUN generate --model model --prompt abc --max-tokens 0 ";
    addWrong("a bias without a value",
             generate + "--logit-bias 2",
             "For instance --logit-bias 42=-5, or --logit-bias ' yes=2'.",
             generate + "--logit-bias 2=-5");
    addWrong("a bias for a whole word",
             generate + "--logit-bias abcd=1",
             "swift-run tokenize shows the tokens of a text and their ids; give one of them.",
             generate +
                 "--logit-bias $(echo abcd | $RUN tokenize --model model | cut -d' ' -f1)=1");
    addWrong("two forms of the answer",
             generate + "--json-object --regex abc",
             "Give one of --json-schema, --json-object and --regex.",
             generate + "--regex abc");
    addWrong("ids in a chat",
             "$RUN generate --model model --max-tokens 0 --chat --prompt-ids 1,2",
             "Leave one of them out.",
             "$RUN generate --model model --max-tokens 0 --prompt-ids 1,2");
    addWrong("an option of another backend",
             generate + "--backend plain --isa scalar",
             "Leave it out, or name --backend cpu.",
             generate + "--backend cpu --isa scalar");
}

/// Options of the commands that run whole data files.
void SwiftRunHintsTest::addWrongSearches() {
    const QString compare = "$RUN compare --model model --raw --max-tokens 2 --data ";
    const QString variants = compare + "data.jsonl --decoders vanilla,a=swift";
    addWrong("a variant that is not compared",
             variants + " --set b.r=0.3",
             "Add it to --decoders.",
             variants + ",b=swift --set b.r=0.3");
    addWrong("a decoder instead of its variant",
             variants + " --set swift.r=0.3",
             "Its variants here are a: name one of them.",
             variants + " --set a.r=0.3");
    addWrong("too few prompts for examples",
             compare + "story.jsonl --decoders vanilla --paper-prompts",
             "Choose fewer examples with --shots, or a higher --limit.",
             compare + "story.jsonl --decoders vanilla --paper-prompts --shots 0");
    addWrong("a file without prompts",
             compare + "empty.jsonl --decoders vanilla",
             "Write one JSON object with a \"prompt\" in each line.",
             "echo '{\"prompt\":\"abc\"}' > filled.jsonl && " + compare +
                 "filled.jsonl --decoders vanilla");
    addWrong("prompts in a field of another name",
             compare + "other.jsonl --decoders vanilla",
             "name the one that is the prompt, for example with --text-field \"question\".",
             compare + "other.jsonl --decoders vanilla --text-field \"question\"");
    addWrong("prompts in a column of another name",
             compare + "other.csv --decoders vanilla",
             "Name the column that holds the prompts, for example with --text-field \"question\".",
             compare + "other.csv --decoders vanilla --text-field \"question\"");
    const QString search = "$RUN search --model model --raw --data tasks.jsonl --out found.json ";
    const QString random = search + "--task letters --method random --max-tokens 12 ";
    const QString swift =
        search + "--task letters --max-tokens 60 --set gamma=8 --set rows_per_trial=1 ";
    addWrong("a task that no prompt has",
             search + "--task digits --method random --max-tokens 12 --trials 2",
             "It has prompts of these tasks: letters.",
             random + "--trials 2");
    addWrong("a setting without a decoder",
             random + "--set gamma=8",
             "The others have --trials, --seed and --max-tokens, random and bayes also --ratio.",
             random + "--trials 2 --seed 3 --ratio 0.3");
    addWrong("trials as an option",
             swift + "--method swift --trials 3",
             "Write it as a setting: --set S=300, --set r=0.45.",
             swift + "--method swift --set S=3");
    addWrong("a profile beside the method",
             swift + "--method swift --set profile=guided",
             "Leave --set profile out; --method guided is the profile guided.",
             swift + "--method guided");
}

void SwiftRunHintsTest::everyHintHelps_data() {
    QTest::addColumn<QString>("line");
    QTest::addColumn<int>("exitCode");
    QTest::addColumn<QString>("hint");
    QTest::addColumn<QString>("followed");
    const QString read = "Check that you may read it.";
    const QString generate = "$AS $RUN generate --model model --prompt abc --max-tokens 4 ";
    const QString stream =
        "$AS $RUN stream --decoder vanilla --data data.jsonl --raw --max-tokens 2 --model model ";
    const auto addUnreadable = [](const char* name, const QString& line, const QString& hint) {
        QTest::newRow(name) << "chmod 000 " + QString(name) + " && " + line << int(app::kIo) << hint
                            << "chmod 755 " + QString(name) + " && " + line;
    };
    addUnreadable("model", generate, read);
    addUnreadable("model/model.safetensors", generate, read);
    addUnreadable("model/config.json", generate, read);
    addUnreadable("model/tokenizer.json", generate, read);
    addUnreadable("data.jsonl", stream, read);
    // The letters of this model write no JSON, so no token is asked for.
    addUnreadable("schema.json",
                  "$AS $RUN generate --model model --prompt abc --max-tokens 0 --json-schema "
                  "schema.json",
                  read);
    addUnreadable("run.swiftrun", "$AS $RUN replay run.swiftrun", read);
    addUnreadable("words.txt",
                  "$AS $RUN generate --model model --prompt-file words.txt --max-tokens 4",
                  "Check where it comes from, and its permissions.");
    QTest::newRow("a folder that is not to be written in")
        << stream + "--out closed/x.swiftrun" << int(app::kIo) << "that you may write there"
        << "chmod 777 closed && " + stream + "--out closed/x.swiftrun && chmod 555 closed";
    QTest::newRow("no place for what is learnt")
        << "SWIFT_STUDIO_DATA=closed/data " + generate + "--decoder lookup" << int(app::kSuccess)
        << "or set SWIFT_STUDIO_DATA to another folder."
        << "SWIFT_STUDIO_DATA=open/data " + generate + "--decoder lookup";
    QTest::newRow("no room on the disk")
        << "(trap '' XFSZ; ulimit -f 0; " + stream + "--out open/x.swiftrun)" << int(app::kIo)
        << "that the disk has space." << stream + "--out open/x.swiftrun";
    QTest::newRow("no room for standard output")
        << generate + "> /dev/full" << int(app::kIo) << "Send it to a file or a program"
        << generate + "> text";
    QTest::newRow("a folder for a text") << "$RUN tokenize --model model < open" << int(app::kIo)
                                         << "Give a text file or a pipe, not a folder."
                                         << "$RUN tokenize --model model < words.txt";
    QTest::newRow("a folder that is not there")
        << stream + "--out none/x.swiftrun" << int(app::kNotFound) << "Make the folder first"
        << "mkdir none && chmod 777 none && " + stream + "--out none/x.swiftrun";
    addWrongRows();
    addWrongLists();
    addWrongSearches();
    const QString longer = "(ulimit -v 250000; $RUN generate --model long --prompt abc "
                           "--max-tokens 4 --threads 1 --context ";
    QTest::newRow("no memory for the context")
        << longer + "1048576)" << int(app::kNoMemory) << "Ask for a shorter context with --context."
        << longer + "64)";
    const QString threads = "$AS bash -c 'ulimit -u 3; exec $RUN generate --model model --prompt "
                            "abc --max-tokens 4 --threads ";
    QTest::newRow("no more threads")
        << threads + "2'" << int(app::kNoMemory) << "ask for fewer --threads." << threads + "1'";
}

void SwiftRunHintsTest::everyHintHelps() {
    QFETCH(QString, line);
    QFETCH(int, exitCode);
    QFETCH(QString, hint);
    QFETCH(QString, followed);
    if (line.contains("ulimit -u") && (!m_isRoot || QThread::idealThreadCount() < 2))
        QSKIP(
            "Threads are counted for all that a user runs, and no more are made than processors.");
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    if (line.contains("ulimit -v"))
        QSKIP("The sanitizers take more addresses than the limit leaves.");
#endif
    if (m_isRoot && line.contains("$AS") && runLine("$AS $RUN --version").exitCode != 0)
        QSKIP("The program lies where no other user may run it, and root may do everything.");
    const ProgramRun lacking = runLine(line);
    QVERIFY2(lacking.exitCode == exitCode, lacking.errors.constData());
    QVERIFY2(lacking.errors.contains(hint.toUtf8()), lacking.errors.constData());
    const ProgramRun helped = runLine(followed);
    QVERIFY2(helped.exitCode == 0, helped.errors.constData());
    QVERIFY2(!helped.errors.contains(hint.toUtf8()), helped.errors.constData());
}

QTEST_GUILESS_MAIN(SwiftRunHintsTest)
#include "swift_run_hints_test.moc"
