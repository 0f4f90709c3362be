// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/metrics/decode_metrics.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace engine {

// What a shard of an experiment has measured: plain values, one JSON object each in its files.

/// One variant's answer to one prompt of the run's data.jsonl.
struct ShardAnswer {
    std::string variant = {};
    int prompt = 0;        ///< index into data.jsonl, from 0
    std::string task = {}; ///< of the prompt
    int pass = 0; ///< 0 in the order of the variants, 1 in reverse order (ABBA); of a part that
                  ///< asks once, 1 is vanilla's answer at the end of a block, see baseline_blocks.h
    std::uint64_t seed = 0;
    long tokens = 0;
    std::uint64_t tokenHash = 0; ///< FNV-1a of the token ids of all turns; equal texts, equal hash
    std::string text = {};       ///< of the first turn, only if the recipe asks for texts
    double promptMs = 0.0;
    double decodeMs = 0.0;
    double startedAt = 0.0; ///< seconds since the shard began, the reading of the model left out
    DecodeMetrics decoding = {}; ///< of this answer alone, the search's time included
    std::optional<bool>
        isEqual; ///< to vanilla's answer of the same pass and seed; none for vanilla
    std::optional<int> differsAt; ///< position of the first other token
    /// Between vanilla's two best logits there; none if vanilla's answer ended before.
    std::optional<double> gap = {};
    bool isNearTie = false; ///< it differs where vanilla's two best logits are closer than 1e-3
    std::optional<double> draftRatio = {}; ///< see engine/metrics/equation_six.h
    /// Tokens by what drafted their round: "skip" (skipped layers), "exit" (the first layers),
    /// "tuned" (the draft adapter), "copy" (of the weights), "free" (no pass), "none" (a plain
    /// step). Empty in files of earlier versions.
    std::map<std::string, long> drafters = {};
    long draftedUntil = 0; ///< tokens until the end of the last round that was drafted
    std::map<std::string, double> quality = {}; ///< "rouge_l", "exact_match", ... as far as scored
};

/// The beginning of one more answer to a prompt, drawn under a seed that no other answer has.
struct ShardDraw {
    std::string variant = {};
    int prompt = 0;
    std::uint64_t seed = 0;
    std::vector<int> tokens = {}; ///< ids; fewer than were asked for if the answer ended
};

/// A candidate that a search has scored.
struct ShardTrial {
    std::string variant = {};
    std::string task = {};
    int prompt = 0;
    int pass = 0;  ///< as ShardAnswer::pass; 0 in files of earlier versions
    int index = 0; ///< from 1
    std::string kind = {};
    double score = 0.0;
    double best = 0.0;
    bool isBest = false;
    double ratio = 0.0;
    double at = 0.0; ///< seconds, as ShardAnswer::startedAt
};

/// From here on a variant drafts with this set.
struct ShardPlan {
    std::string variant = {};
    std::string task = {};
    int prompt = 0;
    std::vector<int> attention = {}; ///< skipped layers, from 0
    std::vector<int> mlp = {};
    double ratio = 0.0;
    double score = 0.0; ///< matchness when it was chosen; 0 = not scored
    std::string reason = {};
    double at = 0.0;
};

/// One round of an answer, only if the recipe asks for rounds.
struct ShardRound {
    std::string variant = {};
    int prompt = 0;
    int pass = 0;
    double at = 0.0;
    /// Emitted: the text that each one completes. Empty for an end and for a part of a character,
    /// which belongs to the token that completes it. As readableToken() writes them in files of
    /// earlier versions.
    std::vector<std::string> tokens = {};
    std::vector<int> ranks = {}; ///< [tokens] 1 = first choice of the draft, 2, ... = sibling, 0 =
                                 ///< the full model's own
    std::string drafter = {};    ///< as in ShardAnswer::drafters
    int draftSteps = 0;
    double draftLayers = 0.0; ///< layers that its draft passes ran, all together
    int accepted = 0;
    double matchness = 0.0; ///< of the set in use, when known
    double draftMs = 0.0;
    double verifyMs = 0.0;
    double searchMs = 0.0;
};

/// A prompt that could not be asked, such as one that is longer than the context.
struct ShardLeftOut {
    int prompt = 0;
    std::string reason = {}; ///< a sentence
};

/// A stream that was stopped went on here: searches began anew, from the newest set of their
/// variant.
struct ShardResumed {
    int prompt = 0; ///< the first that was asked then
    double at = 0.0;
};

/// The machine that ran a shard.
struct MachineFacts {
    std::string host = {};
    std::string processor = {};
    std::string instructionSet = {};
    int threads = 0;
    double memoryGiB = 0.0;
    double roofGBs = 0.0; ///< memory bandwidth measured at the start of the shard; 0 = not measured
    std::string backend = {};
    std::string weights = {}; ///< "4-bit", "bf16", ...
    std::string buildId = {};
};

/// A finished shard.
struct ShardResult {
    int shard = 0;            ///< index into the plan
    std::string runHash = {}; ///< of the plan that it belongs to
    MachineFacts machine = {};
    std::string startedUtc = {}; ///< ISO 8601
    double seconds = 0.0;
    std::vector<ShardAnswer> answers = {};
    std::vector<ShardDraw> draws = {};
    std::vector<ShardTrial> trials = {};
    std::vector<ShardPlan> plans = {};
    std::vector<ShardRound> rounds = {};
    std::map<std::string, std::string> failures =
        {}; ///< variant to the sentence with which it was dropped
    std::vector<ShardLeftOut> leftOut = {};
    std::vector<ShardResumed> resumed = {};
};

} // namespace engine
