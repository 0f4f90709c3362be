// SPDX-License-Identifier: Apache-2.0
// swift-run as a user meets it: arguments in, lines and exit codes out.
#include "tests/support/golden_tensors.h"
#include "tests/support/models/tiny_folder_model.h"
#include "tests/support/programs/swift_run.h"
#include "tests/support/temporary_folder.h"

#include <QJsonArray>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <csignal>

using support::ProgramRun;

namespace {

const QString kFolderModel = SWIFT_STUDIO_TEST_DATA_DIR "/tiny_llama";
const QString kGgufModel = SWIFT_STUDIO_TEST_DATA_DIR "/tiny.gguf";

ProgramRun run(const QStringList& arguments, const QByteArray& input = {}) {
    return support::runProgram(support::swiftRunPath(), arguments, input);
}

/// With the backend that every build has.
QStringList plain(QStringList arguments) {
    return arguments << "--backend"
                     << "plain";
}

} // namespace

class SwiftRunTest : public QObject {
    Q_OBJECT

private slots:
    void initTestCase();
    void helpAndVersionSucceed();
    void generateEndsWithADoneLine();
    void generateStreamsText();
    void sameSeedSameText();
    void aBiasEnforcesAToken();
    void anExpressionGivesTheAnswerItsForm();
    void forwardPrintsEveryPosition();
    void forwardMatchesTheGoldenTree();
    void forwardHonoursSkipSetsAndExits();
    void theLensPrintsWhatExitsPredict();
    void float64PrintsSeventeenDigits();
    void tokenizeAndDetokenizeAreInverse();
    void chatAnswersEveryLine();
    void stopStringsEndTheText();
    void textThatWasHeldBackIsNoStep();
    void inspectDescribesAllParts();
    void theCpuBackendAnswersUnlessAnotherOneIsNamed();
    void weightsKeysAndInstructionsAreChosen();
    void inspectOffersThePublishedSetsThatFit();
    void interruptStopsAfterThePassAndKeepsTheSummary();

private:
    QTemporaryDir m_memory; ///< what decoders learn
};

void SwiftRunTest::initTestCase() { qputenv("SWIFT_STUDIO_DATA", m_memory.path().toUtf8()); }

void SwiftRunTest::helpAndVersionSucceed() {
    for (const QString command : {"generate",
                                  "chat",
                                  "forward",
                                  "tokenize",
                                  "detokenize",
                                  "inspect",
                                  "decoders",
                                  "compare",
                                  "search",
                                  "stream"}) {
        const ProgramRun help = run({command, "--help"});
        QCOMPARE(help.exitCode, 0);
        QVERIFY(help.output.contains("--json"));
    }
    QCOMPARE(run({"--version"}).exitCode, 0);
}

void SwiftRunTest::generateEndsWithADoneLine() {
    const ProgramRun result = run(plain({"generate",
                                         "--model",
                                         kFolderModel,
                                         "--prompt-ids",
                                         "5,6,7",
                                         "--max-tokens",
                                         "4",
                                         "--json"}));
    QCOMPARE(result.exitCode, 0);
    const auto lines = result.jsonLines();
    QCOMPARE(lines.size(), 5);
    QCOMPARE(lines.first()["event"].toString(), QString("step"));
    const QJsonObject done = lines.last();
    QCOMPARE(done["event"].toString(), QString("done"));
    QCOMPARE(done["tokens"].toArray().size(), 4);
    QVERIFY(done["text"].isNull()); // the folder holds no tokenizer
    QCOMPARE(done["finish_reason"].toString(), QString("max_tokens"));
    QCOMPARE(done["metrics"]["prompt_tokens"].toInt(), 3);
    QCOMPARE(done["metrics"]["output_tokens"].toInt(), 4);
    QVERIFY(done["metrics"]["tokens_per_second"].toDouble() > 0.0);
}

void SwiftRunTest::generateStreamsText() {
    const QStringList arguments =
        plain({"generate", "--model", kGgufModel, "--prompt", "Hello", "--max-tokens", "8"});
    const ProgramRun people = run(arguments);
    const ProgramRun json = run(QStringList(arguments) << "--json");
    QCOMPARE(people.exitCode, 0);
    const auto lines = json.jsonLines();
    QString streamed;
    for (const QJsonObject& line : lines)
        if (line["event"] == "step" || line["event"] == "text")
            streamed += line["text"].toString();
    QCOMPARE(lines.last()["text"].toString(), streamed);
    QCOMPARE(people.output, streamed.toUtf8() + "\n");
    QVERIFY(people.errors.contains("tokens/s"));
    const ProgramRun shortest =
        run(plain({"generate", "--model", kGgufModel, "--prompt-ids", "5", "--max-tokens", "1"}));
    QVERIFY2(shortest.errors.contains("[1 token, ") &&
                 shortest.errors.contains("; prompt 1 token, "),
             shortest.errors.constData());
}

void SwiftRunTest::sameSeedSameText() {
    const auto text = [](const QString& seed) {
        return run(plain({"generate",
                          "--model",
                          kGgufModel,
                          "--prompt",
                          "Hello",
                          "--max-tokens",
                          "12",
                          "--temperature",
                          "1",
                          "--seed",
                          seed,
                          "--json"}))
            .jsonLines()
            .last()["tokens"]
            .toArray();
    };
    QCOMPARE(text("3"), text("3"));
    QVERIFY(text("3") != text("4"));
}

void SwiftRunTest::aBiasEnforcesAToken() {
    const ProgramRun result = run(plain({"generate",
                                         "--model",
                                         kFolderModel,
                                         "--prompt-ids",
                                         "5,6,7",
                                         "--max-tokens",
                                         "3",
                                         "--logit-bias",
                                         "9=100"}));
    QCOMPARE(result.exitCode, 0);
    QCOMPARE(result.output, QByteArray("9 9 9 \n"));
}

void SwiftRunTest::anExpressionGivesTheAnswerItsForm() {
    const QStringList arguments = plain({"generate",
                                         "--model",
                                         kGgufModel,
                                         "--prompt",
                                         "Hello",
                                         "--max-tokens",
                                         "3",
                                         "--regex",
                                         "[a-e]{40}"});
    const ProgramRun result = run(arguments + QStringList{"--json"});
    QVERIFY2(result.exitCode == 0, result.errors.constData());
    const QJsonObject done = result.jsonLines().last();
    const QRegularExpression form("^[a-e]+$");
    QVERIFY2(form.match(done["text"].toString()).hasMatch(), qPrintable(done["text"].toString()));
    QVERIFY(done["inside_grammar"].toBool());
    QVERIFY(run(arguments).errors.contains("The answer ended before it had the"));
}

void SwiftRunTest::forwardPrintsEveryPosition() {
    const ProgramRun result =
        run(plain({"forward", "--model", kFolderModel, "--ids", "1,2,3", "--top", "4", "--json"}));
    QCOMPARE(result.exitCode, 0);
    const auto lines = result.jsonLines();
    QCOMPARE(lines.size(), 3);
    for (int position = 0; position < 3; ++position) {
        const QJsonObject line = lines[position];
        QCOMPARE(line["position"].toInt(-1), position);
        QCOMPARE(line["token"].toInt(), position + 1);
        const QJsonArray top = line["top"].toArray();
        QCOMPARE(top.size(), 4);
        QVERIFY(top[0]["logit"].toDouble() >= top[1]["logit"].toDouble());
    }
}

void SwiftRunTest::forwardMatchesTheGoldenTree() {
    if (!support::hasGoldenData())
        QSKIP("the golden data does not lie beside the checkout");
    const QString model = support::goldenPath("models/mistral_window");
    const support::GoldenTensors golden(model + "/golden.safetensors");
    const auto join = [](const std::vector<int>& numbers) {
        QStringList parts;
        for (const int number : numbers)
            parts << QString::number(number);
        return parts.join(",");
    };
    const auto ids = golden.integers("tree.ids");
    const ProgramRun result = run(plain({"forward",
                                         "--model",
                                         model,
                                         "--ids",
                                         join(golden.integers("tree.prefix")) + "," + join(ids),
                                         "--parents",
                                         join(golden.integers("tree.parents")),
                                         "--top",
                                         "1",
                                         "--json"}));
    QCOMPARE(result.exitCode, 0);
    const auto lines = result.jsonLines().last(static_cast<qsizetype>(ids.size()));
    const auto logits = golden.numbers("tree.logits");
    const auto positions = golden.integers("tree.positions");
    const std::size_t vocab = logits.size() / ids.size();
    for (std::size_t node = 0; node < ids.size(); ++node) {
        const QJsonObject line = lines[static_cast<qsizetype>(node)];
        QCOMPARE(line["position"].toInt(), positions[node]);
        const QJsonValue best = line["top"].toArray()[0];
        const double expected = logits[node * vocab + static_cast<std::size_t>(best["id"].toInt())];
        QVERIFY(std::abs(best["logit"].toDouble() - expected) <= 2e-4);
    }
}

void SwiftRunTest::forwardHonoursSkipSetsAndExits() {
    QTemporaryDir folder;
    QFile file(folder.filePath("skip.json"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"attention":[0,1,2],"mlp":[0,1,2]})");
    file.close();
    const QStringList arguments =
        plain({"forward", "--model", kFolderModel, "--ids", "9", "--top", "1", "--json"});
    const auto logit = [&](const QStringList& more) {
        return run(arguments + more).jsonLines().last()["top"].toArray()[0].toObject();
    };
    const QJsonObject everything = logit({});
    const QJsonObject nothing = logit({"--skip", file.fileName()});
    QVERIFY(everything != nothing);
    QCOMPARE(logit({"--exit-after", "2"}), everything);
    QVERIFY(logit({"--exit-after", "0"}) != everything);
    QCOMPARE(logit({"--exit-after", "0", "--skip", file.fileName()}), nothing);
}

/// Every MLP's cell is forward's best token of an exit there; a greedy answer leads in the end.
void SwiftRunTest::theLensPrintsWhatExitsPredict() {
    const ProgramRun lens = run(plain(
        {"lens", "--model", kFolderModel, "--prompt-ids", "1,2,3", "--max-tokens", "4", "--json"}));
    QCOMPARE(lens.exitCode, 0);
    QJsonArray tokens;
    for (const QJsonObject& line : lens.jsonLines())
        if (line["event"] == "token")
            tokens.append(line);
    QVERIFY(!tokens.isEmpty());
    QCOMPARE(lens.jsonLines().last()["tokens"].toInt(), tokens.size());
    QString ids = "1,2,3";
    for (const QJsonValue& token : tokens) {
        const QJsonArray cells = token["cells"].toArray();
        const auto best = [&](qsizetype depth) { return cells[depth]["top"][0]["id"].toInt(); };
        QCOMPARE(best(cells.size() - 1), token["token"].toInt());
        for (int layer = 0; 2 * layer + 2 < cells.size(); ++layer) {
            const ProgramRun exit = run(plain({"forward",
                                               "--model",
                                               kFolderModel,
                                               "--ids",
                                               ids,
                                               "--exit-after",
                                               QString::number(layer),
                                               "--top",
                                               "1",
                                               "--json"}));
            QCOMPARE(exit.jsonLines().last()["top"][0]["id"].toInt(), best(2 * layer + 2));
        }
        ids += ',' + QString::number(token["token"].toInt());
    }
}

void SwiftRunTest::float64PrintsSeventeenDigits() {
    const QStringList arguments =
        plain({"forward", "--model", kFolderModel, "--ids", "9,8", "--top", "1", "--json"});
    const auto digits = [&](const QString& precision) {
        const QByteArray output = run(QStringList(arguments) << "--precision" << precision).output;
        const QByteArray number = output.mid(output.indexOf("\"logit\":") + 8).split('}').first();
        return number.size() - number.count('.') - number.count('-');
    };
    QVERIFY(digits("float64") >= 15); // trailing zeros are not written
    QVERIFY(digits("float32") <= 10);
}

void SwiftRunTest::tokenizeAndDetokenizeAreInverse() {
    const QByteArray lines = "\"Hello world\"\n\"  tab\\tand\\nline\"\n\"\"\n";
    const ProgramRun tokens = run({"tokenize", "--model", kGgufModel, "--json"}, lines);
    QCOMPARE(tokens.exitCode, 0);
    QByteArray ids;
    for (const QJsonObject& line : tokens.jsonLines())
        ids += QJsonDocument(line["ids"].toArray()).toJson(QJsonDocument::Compact) + "\n";
    const ProgramRun texts = run({"detokenize", "--model", kGgufModel, "--json"}, ids);
    QCOMPARE(texts.exitCode, 0);
    const auto back = texts.jsonLines();
    QCOMPARE(back.size(), 3);
    QCOMPARE(back[0]["text"].toString(), QString("Hello world"));
    QCOMPARE(back[1]["text"].toString(), QString("  tab\tand\nline"));
    QCOMPARE(back[2]["text"].toString(), QString(""));
    const ProgramRun plainIds = run({"tokenize", "--model", kGgufModel}, "Hello world\n");
    const ProgramRun plainText = run({"detokenize", "--model", kGgufModel}, plainIds.output);
    QCOMPARE(plainText.output, QByteArray("Hello world\n"));
}

void SwiftRunTest::chatAnswersEveryLine() {
    const ProgramRun result =
        run(plain({"chat", "--model", kGgufModel, "--max-tokens", "5", "--json"}),
            "Hi\n/clear\nHow are you?\n");
    QCOMPARE(result.exitCode, 0);
    int answers = 0;
    for (const QJsonObject& line : result.jsonLines())
        answers += line["event"] == "done" ? 1 : 0;
    QCOMPARE(answers, 2);
    QVERIFY(result.errors.contains("chat template"));
}

void SwiftRunTest::stopStringsEndTheText() {
    const QStringList arguments = plain(
        {"generate", "--model", kGgufModel, "--prompt", "Hello", "--max-tokens", "8", "--json"});
    const QString whole = run(arguments).jsonLines().last()["text"].toString();
    QVERIFY(whole.size() >= 3);
    const QString stop = whole.mid(whole.size() / 2, 1);
    const QJsonObject done = run(QStringList(arguments) << "--stop" << stop).jsonLines().last();
    QCOMPARE(done["finish_reason"].toString(), QString("stop_string"));
    QCOMPARE(done["text"].toString(), whole.left(whole.indexOf(stop)));
}

void SwiftRunTest::textThatWasHeldBackIsNoStep() {
    const QStringList arguments = plain(
        {"generate", "--model", kGgufModel, "--prompt", "Hello", "--max-tokens", "8", "--json"});
    const QString whole = run(arguments).jsonLines().last()["text"].toString();
    // The answer ends with what the stop string begins with.
    const auto lines =
        run(QStringList(arguments) << "--stop" << whole.last(1) + "never").jsonLines();
    QCOMPARE(lines.last()["text"].toString(), whole);
    const QJsonObject late = lines[lines.size() - 2];
    QCOMPARE(late["event"].toString(), QString("text"));
    QCOMPARE(late["text"].toString(), whole.last(1));
    for (const QJsonObject& line : lines)
        QVERIFY(line["event"] != "step" || !line["tokens"].toArray().isEmpty());
}

void SwiftRunTest::inspectDescribesAllParts() {
    const ProgramRun gguf = run({"inspect", kGgufModel, "--json"});
    QCOMPARE(gguf.exitCode, 0);
    const QJsonObject report = gguf.jsonLines().first();
    QCOMPARE(report["format"].toString(), QString("GGUF"));
    QCOMPARE(report["config"]["layers"].toInt(), 2);
    QCOMPARE(report["tokenizer"]["size"].toInt(), 512);
    QVERIFY(report["memory"]["parameters"].toDouble() > 0);
    bool hasQuantised = false;
    for (const QJsonValue tensor : report["tensors"].toArray())
        hasQuantised |= tensor["type"] == "Q4_1";
    QVERIFY(hasQuantised);
    QVERIFY(report["memory"]["packed_weight_bytes"].toDouble() > 0);
    QVERIFY(report["memory"]["packed_cache_bytes_per_token"].toDouble() > 0);
    const double copy = report["memory"]["copy_bytes"].toDouble(); // of weights held as float32
    QVERIFY(copy > 0 && copy < report["memory"]["packed_weight_bytes"].toDouble() / 4);
    QMap<QString, QString> forms;
    for (const QJsonValue form : report["forms"].toArray()) {
        forms[form["type"].toString()] = form["form"].toString();
        QVERIFY(form["tensors"].toInt() > 0);
    }
    QCOMPARE(forms.value("Q4_1"), QString("float32")); // as small as it is
    QCOMPARE(forms.value("F32"), QString("float32"));
    const QByteArray told = run({"inspect", kGgufModel}).output;
    QVERIFY(told.contains("tensors: float32") && told.contains("4-bit copy that drafts"));
    const QJsonObject lesson =
        run({"inspect", kGgufModel, "--planted", "--json"}).jsonLines().first();
    const int layers = report["config"]["layers"].toInt();
    QCOMPARE(lesson["config"]["layers"].toInt(), 2 * layers);
    QCOMPARE(lesson["config"]["silent_copies"].toArray().size(), layers);
    const double own = report["memory"]["packed_weight_bytes"].toDouble();
    const double both = lesson["memory"]["packed_weight_bytes"].toDouble();
    QVERIFY(both > own && both < 2.0 * own); // the copies have weights of their own
    QVERIFY(QJsonDocument(lesson["notes"].toArray()).toJson().contains("is a lesson model"));
    const ProgramRun folder = run({"inspect", kFolderModel, "--json"});
    QVERIFY(folder.jsonLines().first()["tokenizer"].isNull());
    QCOMPARE(run({"inspect", kFolderModel}).exitCode, 0);
}

void SwiftRunTest::theCpuBackendAnswersUnlessAnotherOneIsNamed() {
    const QStringList generate = {
        "generate", "--model", kGgufModel, "--prompt-ids", "1,2,3", "--max-tokens", "3"};
    const ProgramRun usual = run(generate + QStringList{"--weights", "file", "--json"});
    QVERIFY2(usual.exitCode == 0, usual.errors.constData());
    const QJsonObject metrics = usual.jsonLines().constLast()["metrics"].toObject();
    QCOMPARE(metrics["backend"].toString(), QString("cpu"));
    QCOMPARE(metrics["precision"].toString(), QString("4-bit"));
    QCOMPARE(metrics["kv"].toString(), QString("float16"));
    QVERIFY((QStringList{"scalar", "avx2", "avx512", "amx"}.contains(metrics["isa"].toString())));
    const QByteArray told = run(generate).errors; // the tiny model is held as float32
    QVERIFY2(told.contains("; cpu ") && told.contains("float32, keys and values float32"),
             told.constData());
    const QJsonObject other =
        run(plain(generate) << "--json").jsonLines().constLast()["metrics"].toObject();
    QCOMPARE(other["backend"].toString(), QString("plain"));
    QCOMPARE(other["precision"].toString(), QString("float32"));
    QVERIFY(other["isa"].isNull());
}

void SwiftRunTest::weightsKeysAndInstructionsAreChosen() {
    const ProgramRun chosen = run({"generate",
                                   "--model",
                                   kGgufModel,
                                   "--prompt-ids",
                                   "1,2,3",
                                   "--max-tokens",
                                   "3",
                                   "--weights",
                                   "int8",
                                   "--kv",
                                   "f32",
                                   "--isa",
                                   "scalar",
                                   "--json"});
    QVERIFY2(chosen.exitCode == 0, chosen.errors.constData());
    const QJsonObject metrics = chosen.jsonLines().constLast()["metrics"].toObject();
    QCOMPARE(metrics["precision"].toString(), QString("8-bit"));
    QCOMPARE(metrics["kv"].toString(), QString("float32"));
    QCOMPARE(metrics["isa"].toString(), QString("scalar"));
}

void SwiftRunTest::inspectOffersThePublishedSetsThatFit() {
    const auto namesFor = [](const QString& model) {
        const QJsonObject report = run({"inspect", model, "--json"}).jsonLines().first();
        QStringList names;
        for (const QJsonValue set : report["published_skip_sets"].toArray())
            names << set["origin"].toString() + "/" + set["name"].toString();
        return names;
    };
    QVERIFY(namesFor(kFolderModel).isEmpty());
    const test_support::TemporaryFolder folder;
    folder.write("config.json",
                 R"({"model_type":"llama","num_hidden_layers":80,"hidden_size":8192,)"
                 R"("intermediate_size":28672,"num_attention_heads":64,"num_key_value_heads":8,)"
                 R"("vocab_size":32000,"max_position_embeddings":4096,"rms_norm_eps":1e-5})");
    const QString large = QString::fromStdString(folder.path().string());
    QCOMPARE(namesFor(large), (QStringList{"swift/llama-2-70b_cnndm", "self_sd/llama-2-70b"}));
    QVERIFY(run({"inspect", large})
                .output.contains("llama-2-70b                47 attention and 37 MLP sublayers"));
}

void SwiftRunTest::interruptStopsAfterThePassAndKeepsTheSummary() {
    // An answer that does not fit into the pipe: the program cannot come to its end unread.
    const test_support::TemporaryFolder folder;
    engine::ModelConfig config = support::letterConfig(1);
    config.contextLength = 1 << 14;
    support::MemoryWeights weights = support::randomWeights(config, 3);
    support::writeFolderModel(folder.path(), config, weights);
    QProcess process;
    process.start(support::swiftRunPath(),
                  plain({"generate",
                         "--model",
                         QString::fromStdString(folder.path().string()),
                         "--context",
                         "16384",
                         "--prompt-ids",
                         "5",
                         "--max-tokens",
                         "100000",
                         "--json"}));
    QVERIFY(process.waitForReadyRead(-1)); // the first step is out
    ::kill(static_cast<pid_t>(process.processId()), SIGINT);
    QVERIFY(process.waitForFinished(-1));
    QCOMPARE(process.exitCode(), 130);
    QList<QByteArray> lines = process.readAllStandardOutput().split('\n');
    lines.removeAll(QByteArray());
    bool isSummarised = false;
    for (const QByteArray& line : lines) {
        const QJsonObject object = QJsonDocument::fromJson(line).object();
        if (object["event"] == "done")
            isSummarised = object["finish_reason"] == "cancelled";
    }
    QVERIFY(isSummarised);
}

QTEST_GUILESS_MAIN(SwiftRunTest)
#include "swift_run_test.moc"
