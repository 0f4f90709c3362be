// SPDX-License-Identifier: Apache-2.0
// Runs a GGUF file through ik_llama.cpp for `swift-run bench --against-ik`, by the protocol that
// llama_cpp_bench.py describes. set_up_ik_llama_cpp.sh compiles it with that project's headers.
//
//   ik_llama_cpp_bench MODEL THREADS CONTEXT
//   ik_llama_cpp_bench --requantise FROM FORM TO
//
// Its best form is not the same for every file, processor, and for tokens and prompts. So each way
// to hold the weights is tried first, forwards and then backwards because memory gets faster and
// slower within minutes, and the fastest serves: one for tokens, one for prompts. Flash attention
// is always on; keys and values are float16, as ours. The version names the flags.
//
// The second way to call it rounds a model anew, into a form that only ik_llama.cpp reads.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <llama.h>
#include <memory>
#include <string>
#include <vector>

#ifndef IK_VERSION
#define IK_VERSION "unknown"
#endif

namespace {

using Clock = std::chrono::steady_clock;

double msSince(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::vector<llama_token> idsOf(const std::string& text) {
    std::vector<llama_token> ids;
    for (std::size_t at = 0; at < text.size();) {
        ids.push_back(static_cast<llama_token>(std::atoi(text.c_str() + at)));
        const std::size_t comma = text.find(',', at);
        at = comma == std::string::npos ? text.size() : comma + 1;
    }
    return ids;
}

/// A way to hold the weights.
struct Form {
    const char* flags; ///< as its own programs are told
    bool isRepacked;
    bool isMapped;
    bool hasHugePages;
};

constexpr std::array kForms = {Form{"-rtr 1 -fa 1", true, false, false},
                               Form{"-thp 1 -fa 1", false, true, true},
                               Form{"-mmap 0 -fa 1", false, false, false}};

/// What is measured, and how to start.
struct Setup {
    const char* path;
    int threads;
    int context;
};

class Rival {
public:
    ~Rival() {
        if (m_context != nullptr)
            llama_free(m_context);
        if (m_model != nullptr)
            llama_free_model(m_model);
    }

    bool open(const Setup& setup, const Form& form) {
        llama_model_params model = llama_model_default_params();
        model.repack_tensors = form.isRepacked;
        model.use_mmap = form.isMapped; // repacking writes into the weights
        model.use_thp = form.hasHugePages;
        model.flash_attn = true;
        m_model = llama_model_load_from_file(setup.path, model);
        if (m_model == nullptr)
            return false;
        llama_context_params params = llama_context_default_params();
        params.n_ctx = static_cast<std::uint32_t>(setup.context);
        params.n_batch = kBatch;
        params.n_threads = static_cast<std::uint32_t>(setup.threads);
        params.n_threads_batch = params.n_threads;
        params.flash_attn = true;
        m_context = llama_init_from_model(m_model, params);
        if (m_context == nullptr)
            return false;
        m_vocabSize = llama_n_vocab(m_model);
        return read({1}); // the first pass pays for starting threads
    }

    void clear() {
        llama_kv_cache_clear(m_context);
        m_position = 0;
    }

    /// Runs tokens behind those that are cached; the logits of the last one stay.
    bool read(std::vector<llama_token> tokens) {
        for (std::size_t begin = 0; begin < tokens.size(); begin += kBatch) {
            const auto count =
                static_cast<int>(std::min<std::size_t>(kBatch, tokens.size() - begin));
            if (llama_decode(m_context,
                             llama_batch_get_one(tokens.data() + begin, count, m_position, 0)) != 0)
                return false;
            m_position += count;
        }
        return true;
    }

    /// The most probable id, of equals the lowest.
    llama_token best() const {
        const float* logits = llama_get_logits_ith(m_context, -1);
        return static_cast<llama_token>(std::max_element(logits, logits + m_vocabSize) - logits);
    }

    int vocabSize() const { return m_vocabSize; }

private:
    static constexpr int kBatch = 2048;

    llama_model* m_model = nullptr;
    llama_context* m_context = nullptr;
    int m_vocabSize = 0;
    int m_position = 0;
};

/// The best times of a form so far.
struct Trial {
    double promptMs = std::numeric_limits<double>::infinity();
    double tokensMs = std::numeric_limits<double>::infinity();
};

/// Chooses the forms, and holds those that serve.
class Rivals {
public:
    bool open(const Setup& setup) {
        for (std::size_t i = 0; i < 2 * kForms.size(); ++i) {
            const std::size_t form = i < kForms.size() ? i : 2 * kForms.size() - 1 - i;
            Rival rival;
            if (rival.open(setup, kForms[form]))
                tryOnce(rival, setup, m_trials[form]);
        }
        const auto bestBy = [this](double Trial::*ms) {
            return static_cast<std::size_t>(
                std::min_element(m_trials.begin(),
                                 m_trials.end(),
                                 [ms](const Trial& a, const Trial& b) { return a.*ms < b.*ms; }) -
                m_trials.begin());
        };
        const std::size_t forTokens = bestBy(&Trial::tokensMs);
        std::size_t forPrompts = bestBy(&Trial::promptMs);
        m_tokens = std::make_unique<Rival>();
        if (!m_tokens->open(setup, kForms[forTokens]))
            return false;
        if (forPrompts != forTokens && hasRoom(setup.path)) {
            m_prompts = std::make_unique<Rival>();
            if (!m_prompts->open(setup, kForms[forPrompts]))
                return false;
        } else if (forPrompts != forTokens) {
            m_note = ", memory for one form alone";
            forPrompts = forTokens;
        }
        m_flags = std::string("tokens ") + kForms[forTokens].flags + ", prompts " +
                  kForms[forPrompts].flags + m_note;
        return true;
    }

    Rival& tokens() { return *m_tokens; }

    Rival& prompts() { return m_prompts ? *m_prompts : *m_tokens; }

    const std::string& flags() const { return m_flags; }

private:
    static constexpr int kPromptTokens = 256;
    static constexpr int kTokens = 16;

    static void tryOnce(Rival& rival, const Setup& setup, Trial& trial) {
        const int count = std::max(1, std::min(kPromptTokens, setup.context - kTokens));
        std::vector<llama_token> prompt;
        for (int i = 0; i < count; ++i)
            prompt.push_back(static_cast<llama_token>((i * 7919 + 13) % rival.vocabSize()));
        rival.clear();
        auto start = Clock::now();
        if (!rival.read(prompt))
            return;
        const double promptMs = msSince(start);
        start = Clock::now();
        for (int i = 0; i < std::min(kTokens, setup.context - count); ++i)
            if (!rival.read({rival.best()}))
                return;
        trial.promptMs = std::min(trial.promptMs, promptMs);
        trial.tokensMs = std::min(trial.tokensMs, msSince(start));
    }

    /// Whether the model fits once more, with room to spare for its context.
    static bool hasRoom(const char* path) {
        std::error_code failed;
        const auto bytes = static_cast<double>(std::filesystem::file_size(path, failed));
        std::ifstream file("/proc/meminfo");
        for (std::string line; !failed && std::getline(file, line);)
            if (line.rfind("MemAvailable:", 0) == 0)
                return std::atof(line.c_str() + 13) * 1024.0 > 1.4 * bytes;
        return false;
    }

    std::array<Trial, kForms.size()> m_trials;
    std::unique_ptr<Rival> m_tokens;
    std::unique_ptr<Rival> m_prompts; ///< null: those for tokens
    std::string m_note;
    std::string m_flags;
};

class Commands {
public:
    explicit Commands(Rivals& rivals)
        : m_rivals(rivals) {}

    std::string run(const std::string& line) {
        const std::size_t space = line.find(' ');
        const std::string name = line.substr(0, space);
        const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
        if (name == "prompt") {
            m_prompt = idsOf(rest);
            return R"({"ok":true})";
        }
        if (name == "ends") {
            m_ends = idsOf(rest);
            return R"({"ok":true})";
        }
        if (name == "decode")
            return decode(std::atoi(rest.c_str()));
        if (name == "prefill")
            return prefill();
        return R"({"error":"there is no such command"})";
    }

private:
    std::string decode(int count) {
        Rival& rival = m_rivals.tokens();
        rival.clear();
        const auto start = Clock::now();
        bool isRead = rival.read({m_prompt.begin(), m_prompt.end() - 1});
        const double promptMs = msSince(start);
        const auto middle = Clock::now();
        std::string tokens;
        llama_token last = m_prompt.back();
        for (int made = 0; made < count && isRead; ++made) {
            isRead = rival.read({last});
            last = rival.best();
            tokens += (made > 0 ? "," : "") + std::to_string(last);
            if (std::find(m_ends.begin(), m_ends.end(), last) != m_ends.end())
                break;
        }
        const double decodeMs = msSince(middle);
        if (!isRead)
            return R"({"error":"a pass failed"})";
        return R"({"tokens":[)" + tokens + R"(],"prompt_ms":)" + std::to_string(promptMs) +
               R"(,"decode_ms":)" + std::to_string(decodeMs) + "}";
    }

    std::string prefill() {
        Rival& rival = m_rivals.prompts();
        rival.clear();
        const auto start = Clock::now();
        if (!rival.read(m_prompt))
            return R"({"error":"a pass failed"})";
        return R"({"ms":)" + std::to_string(msSince(start)) + "}";
    }

    Rivals& m_rivals;
    std::vector<llama_token> m_prompt;
    std::vector<llama_token> m_ends;
};

/// Forms of its own that are worth being measured beside those that all engines read.
struct OwnForm {
    const char* name;
    llama_ftype type;
};

constexpr std::array kOwnForms = {OwnForm{"iq4_ks", LLAMA_FTYPE_MOSTLY_IQ4_KS},
                                  OwnForm{"iq4_k", LLAMA_FTYPE_MOSTLY_IQ4_K},
                                  OwnForm{"iq5_ks", LLAMA_FTYPE_MOSTLY_IQ5_KS},
                                  OwnForm{"iq6_k", LLAMA_FTYPE_MOSTLY_IQ6_K},
                                  OwnForm{"q8_k_r8", LLAMA_FTYPE_MOSTLY_Q8_K_R8}};

int requantise(const char* from, const std::string& form, const char* to) {
    const auto* const found = std::find_if(
        kOwnForms.begin(), kOwnForms.end(), [&](const OwnForm& each) { return form == each.name; });
    if (found == kOwnForms.end()) {
        std::fprintf(stderr,
                     "ik_llama_cpp_bench: %s is no form; give iq4_ks, iq4_k, iq5_ks, iq6_k or "
                     "q8_k_r8.\n",
                     form.c_str());
        return 2;
    }
    llama_model_quantize_params params = llama_model_quantize_default_params();
    params.ftype = found->type;
    params.allow_requantize = true;
    if (llama_model_quantize(from, to, &params) == 0)
        return 0;
    std::fprintf(stderr, "ik_llama_cpp_bench: %s cannot be rounded into %s.\n", from, to);
    return 1;
}

/// Where answers go. The library itself prints to standard output as well, of huge pages for
/// example, and an answer must stand alone on its line: what it prints goes to standard error.
class Answers {
public:
    Answers()
        : m_stream(fdopen(dup(STDOUT_FILENO), "w")) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
    }

    void say(const std::string& line) {
        std::fprintf(m_stream, "%s\n", line.c_str());
        std::fflush(m_stream);
    }

private:
    std::FILE* m_stream; ///< open until the end of the program
};

} // namespace

int main(int count, char** words) {
    Answers answers;
    llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
    llama_backend_init();
    if (count == 5 && words[1] == std::string("--requantise"))
        return requantise(words[2], words[3], words[4]);
    Rivals rivals;
    if (count != 4 || !rivals.open({words[1], std::atoi(words[2]), std::atoi(words[3])})) {
        answers.say(R"({"error":"the model cannot be loaded"})");
        return 0;
    }
    answers.say(R"({"ready":true,"version":")" IK_VERSION " (" + rivals.flags() +
                R"x()","threads":)x" + words[2] + "}");
    Commands commands(rivals);
    for (std::string line; std::getline(std::cin, line) && line != "exit";)
        answers.say(commands.run(line));
    std::_Exit(0); // nothing is to be saved
}
