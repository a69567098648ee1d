// SPDX-License-Identifier: MIT
//
// Stands in for libFuzzer where there is none: gives a fuzzer each file of its corpus, and a
// few thousand mutations of them that are the same in every run. It finds little that is new;
// it keeps found what was found.
//
//     <name>_fuzz CORPUS_DIR      last line: `N passed, N failed`, counted in inputs

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "base/assert.h"
#include "base/random.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace belfry {
namespace {

constexpr std::uint64_t kSeed = 1;
constexpr std::size_t kMutationsInAll = 4000;
constexpr int kChangesMax = 4;
constexpr unsigned kSecondsPerInputMax = 10;
constexpr std::size_t kFailuresMax = 10;

std::vector<std::string> read_corpus(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());  // the same mutations on every machine
  std::vector<std::string> inputs;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

std::string piece_of(const std::string& text, Random& random) {
  const std::size_t start = random.below(text.size() + 1);
  return text.substr(start, random.below(16));
}

// One change: another byte, some bytes less, or a piece of any input in the middle.
void change(std::string& input, const std::vector<std::string>& corpus, Random& random) {
  const std::size_t place = random.below(input.size() + 1);
  if (place == input.size() || random.one_in(3)) {
    input.insert(place, piece_of(corpus[random.below(corpus.size())], random));
  } else if (random.one_in(3)) {
    input.erase(place, random.below(8) + 1);
  } else if (random.one_in(2)) {
    input[place] = static_cast<char>(input[place] ^ (1 << random.below(8)));
  } else {
    input[place] = static_cast<char>(random.below(256));
  }
}

// The corpus itself, then its mutations.
std::vector<std::string> inputs_from(const std::vector<std::string>& corpus) {
  Random random(kSeed);
  std::vector<std::string> inputs = corpus;
  while (!corpus.empty() && inputs.size() < corpus.size() + kMutationsInAll) {
    std::string mutated = corpus[inputs.size() % corpus.size()];
    for (auto changes = random.between(1, kChangesMax); changes > 0; --changes) {
      change(mutated, corpus, random);
    }
    inputs.push_back(std::move(mutated));
  }
  return inputs;
}

// Where a child process tells which input it is at: the sanitizers end it without a last word.
std::atomic<std::size_t>& shared_position() {
  void* page = mmap(nullptr, sizeof(std::atomic<std::size_t>), PROT_READ | PROT_WRITE,
                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT(page != MAP_FAILED);
  return *new (page) std::atomic<std::size_t>(0);
}

[[noreturn]] void run_from(const std::vector<std::string>& inputs,
                           std::atomic<std::size_t>& position) {
  for (; position < inputs.size(); ++position) {
    alarm(kSecondsPerInputMax);
    const std::string& input = inputs[position];
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  }
  std::exit(0);
}

bool child_succeeds(const std::vector<std::string>& inputs, std::atomic<std::size_t>& position) {
  const pid_t child = fork();
  ASSERT(child >= 0);
  if (child == 0) run_from(inputs, position);
  int status = 0;
  ASSERT(waitpid(child, &status, 0) == child);
  return status == 0;
}

// What it prints, put into the corpus by `xxd -r -p`, fails again.
void show(const std::string& input) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::cout << "the input that failed, in hexadecimal:\n";
  for (const char c : input) {
    const auto byte = static_cast<unsigned char>(c);
    std::cout << kDigits[byte >> 4] << kDigits[byte & 15];
  }
  std::cout << std::endl;
}

struct Count {
  std::size_t passed = 0;
  std::size_t failed = 0;
};

Count replay(const std::vector<std::string>& inputs) {
  std::atomic<std::size_t>& position = shared_position();
  std::size_t failed = 0;
  while (failed < kFailuresMax && position < inputs.size() && !child_succeeds(inputs, position)) {
    // At the end it is a leak, which belongs to no input.
    if (position < inputs.size()) show(inputs[position]);
    ++position;
    ++failed;
  }
  return {std::min<std::size_t>(position, inputs.size()) - failed, failed};
}

}  // namespace
}  // namespace belfry

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: " << argv[0] << " CORPUS_DIR\n";
    return 2;
  }
  const auto inputs = belfry::inputs_from(belfry::read_corpus(argv[1]));
  const auto [passed, failed] = belfry::replay(inputs);
  std::cout << passed << " passed, " << failed << " failed" << std::endl;
  return failed == 0 && passed > 0 ? 0 : 1;
}
