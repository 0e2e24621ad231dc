#include "collectives/proof.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

#include "collectives/chunk.hpp"
#include "runtime/errors.hpp"

namespace ringside {

namespace {

// The proofs of one job, which all stand on its run.
class Prover {
 public:
  explicit Prover(const ProofJob& job, std::vector<CollectiveCall> calls)
      : job_(job), calls_(std::move(calls)), run_(run_on_symbols(symbolic())), all_(run_.tables) {}

  std::vector<Proof> run();

 private:
  SymbolicJob symbolic() const {
    return {.run = job_.run ? job_.run : run_row(job_.row.algorithm),
            .ranks = job_.ranks,
            .gpus_per_node = job_.gpus_per_node,
            .calls = calls_,
            .numbers = job_.numbers,
            .limit = job_.limit};
  }

  Proof prove_call(std::size_t c);
  Claim definition(std::size_t c, Proof& proof);
  Claim equal(std::size_t c);
  Claim numbers(std::size_t c) const;
  Claim halves(std::size_t c);
  Claim reductions(std::size_t c) const;
  std::vector<std::byte> evaluated(const CollectiveCall& call, Symbol symbol) const;

  bool judged(std::size_t c, int rank, std::size_t i) const {
    return required(calls_[c], job_.ranks, rank, i).kind != Required::anything;
  }

  const RankSymbols& of(std::size_t c, int rank) const {
    return run_.calls[c][static_cast<std::size_t>(rank)];
  }

  // The first call with more elements than ranks; the last one when there is none.
  std::size_t first_above_ranks() const {
    const auto found = std::find_if(calls_.begin(), calls_.end(), [&](const CollectiveCall& call) {
      return call.count > static_cast<std::size_t>(job_.ranks);
    });
    return static_cast<std::size_t>(found - calls_.begin()) - (found == calls_.end() ? 1 : 0);
  }

  std::string where(int rank, std::size_t i) const {
    return "rank " + std::to_string(rank) + ", element " + std::to_string(i);
  }

  const ProofJob& job_;
  std::vector<CollectiveCall> calls_;
  SymbolicRun run_;
  Expressions all_;
};

void throw_if_lost(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const PeerLost&) {
    throw;
  } catch (...) {  // the algorithm's own fault
  }
}

// A job that dies says nothing of its single calls: each is then run alone.
std::vector<Proof> Prover::run() {
  std::vector<Proof> proofs;
  if (run_.failure) {
    throw_if_lost(run_.error);
  }
  for (std::size_t c = 0; c < calls_.size(); ++c) {
    if (run_.failure && calls_.size() > 1) {
      proofs.push_back(Prover(job_, {calls_[c]}).run().front());
    } else if (run_.failure) {
      proofs.push_back({calls_[c], {{"runs", false, *run_.failure}}, {}, run_.error});
    } else {
      proofs.push_back(prove_call(c));
    }
  }
  return proofs;
}

Proof Prover::prove_call(std::size_t c) {
  Proof proof{.call = calls_[c]};
  proof.claims.push_back(definition(c, proof));
  if (job_.row.operation == "all_reduce") {
    proof.claims.push_back(equal(c));
  }
  proof.claims.push_back(numbers(c));
  const bool promised =
      !job_.run && (job_.row.algorithm == "ring" || job_.row.algorithm == "direct");
  if (job_.row.operation == "all_reduce" && promised && proof.holds()) {
    proof.claims.push_back(halves(c));
  }
  if (job_.row.reduces && job_.op == ReduceOp::sum && c == first_above_ranks() && proof.holds()) {
    proof.claims.push_back(reductions(c));
  }
  return proof;
}

// The first wrong element is explained, from a run that keeps what everyone held at every step.
Claim Prover::definition(std::size_t c, Proof& proof) {
  Claim claim{"definition"};
  for (int r = 0; r < job_.ranks; ++r) {
    for (std::size_t i = 0; i < calls_[c].count; ++i) {
      if (holds_required(all_, calls_[c], job_.ranks, r, i, of(c, r).result[i])) {
        continue;
      }
      SymbolicJob again = symbolic();
      again.calls = {calls_[c]};
      again.history = true;
      const SymbolicRun run = run_on_symbols(again);
      claim.holds = false;
      claim.fault = where(r, i) + " is wrong";
      if (!run.failure) {
        proof.diagnosis = diagnose(run, Expressions(run.tables), calls_[c], 0, r, i);
      }
      if (proof.diagnosis) {
        claim.fault = proof.diagnosis->text();
      }
      return claim;
    }
  }
  return claim;
}

Claim Prover::equal(std::size_t c) {
  for (std::size_t i = 0; i < calls_[c].count; ++i) {
    const Symbol first = of(c, 0).result[i];
    for (int r = 1; r < job_.ranks; ++r) {
      const Symbol here = of(c, r).result[i];
      if (all_.canonical(here) != all_.canonical(first)) {
        return {"equal", false,
                "element " + std::to_string(i) + ": rank 0 holds " + all_.text(first, i) +
                    ", rank " + std::to_string(r) + " holds " + all_.text(here, i)};
      }
    }
  }
  return {"equal"};
}

std::vector<std::byte> Prover::evaluated(const CollectiveCall& call, Symbol symbol) const {
  const DType type = job_.numbers;
  const bool wide = type == DType::f16 && call.op == ReduceOp::avg;
  const auto through = [&](float value) {
    std::vector<std::byte> narrow(size_of(type));
    float back = 0;
    const Buffer one = buffer_of(std::span(&value, 1));
    convert(one, {narrow.data(), 1, type});
    convert({narrow.data(), 1, type}, buffer_of(std::span(&back, 1)));
    return back;
  };
  float value = all_.evaluate<float>(
      symbol, [&](int rank, std::size_t i) { return through(rough_number(rank, i)); },
      wide || type == DType::f32 ? std::function<float(float)>() : through);
  std::vector<std::byte> bytes(size_of(type));
  convert(buffer_of(std::span(&value, 1)), {bytes.data(), 1, type});
  return bytes;
}

Claim Prover::numbers(std::size_t c) const {
  const std::size_t size = size_of(job_.numbers);
  for (int r = 0; r < job_.ranks; ++r) {
    for (std::size_t i = 0; i < calls_[c].count; ++i) {
      if (!judged(c, r, i)) {
        continue;
      }
      const auto expected = evaluated(calls_[c], of(c, r).result[i]);
      if (std::memcmp(expected.data(), of(c, r).numbers.data() + i * size, size) != 0) {
        return {"numbers", false,
                where(r, i) + ": the run on " + std::string(name_of(job_.numbers)) +
                    " gives other bits than " + all_.text(of(c, r).result[i], i) +
                    " in one process: it does not compute the same as on symbols"};
      }
    }
  }
  return {"numbers"};
}

// The same algorithm's reduce_scatter leaves the very expressions of the all_reduce.
Claim Prover::halves(std::size_t c) {
  ProofJob half = job_;
  half.row.operation = "reduce_scatter";
  CollectiveCall call = calls_[c];
  call.operation = "reduce_scatter";
  const Prover other(half, {call});
  if (other.run_.failure) {
    throw_if_lost(other.run_.error);
    return {"halves", false, *other.run_.failure};
  }
  constexpr auto whole = std::numeric_limits<std::size_t>::max();
  for (std::size_t i = 0; i < call.count; ++i) {
    const int owner = chunk_with(call.count, job_.ranks, i);
    const auto mine = all_.text(of(c, owner).result[i], i, whole);
    const auto theirs = other.all_.text(other.of(0, owner).result[i], i, whole);
    if (mine != theirs) {
      return {"halves", false,
              where(owner, i) + ": all_reduce computes " + mine + ", reduce_scatter " + theirs};
    }
  }
  return {"halves"};
}

// The reduction that is asked for is the one that is done: an average is divided once, a maximum is
// no sum.
Claim Prover::reductions(std::size_t c) const {
  for (const auto op : {ReduceOp::avg, ReduceOp::max}) {
    ProofJob job = job_;
    job.op = op;
    CollectiveCall call = calls_[c];
    call.op = op;
    const Proof proof = Prover(job, {call}).run().front();
    for (const Claim& claim : proof.claims) {
      if (!claim.holds) {
        return {"reductions", false, std::string(name_of(op)) + ": " + claim.fault};
      }
    }
  }
  return {"reductions"};
}

}  // namespace

bool Proof::holds() const {
  return std::all_of(claims.begin(), claims.end(), [](const Claim& claim) { return claim.holds; });
}

std::vector<Proof> prove(const ProofJob& job) {
  std::vector<CollectiveCall> calls;
  for (const std::size_t count : job.counts) {
    std::set<int> roots{0};
    if (job.row.rooted) {
      roots.insert({job.ranks / 2, job.ranks - 1});
    }
    for (const int root : roots) {
      calls.push_back({job.row.operation, count, job.row.reduces ? job.op : ReduceOp::none, root});
    }
  }
  return Prover(job, std::move(calls)).run();
}

std::vector<std::size_t> counts_to_prove(const OperationRow& row, int ranks) {
  const auto p = static_cast<std::size_t>(ranks);
  if (row.operation == "barrier") {
    return {0};
  }
  std::set<std::size_t> counts{0, 1, p - 1, p, p + 1, 997, 1000};
  if (row.equal_parts) {
    counts = {0, p, 2 * p, 1000 / p * p, 997 * p};
  }
  return {counts.begin(), counts.end()};
}

}  // namespace ringside
