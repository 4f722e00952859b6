// PTX ISA: "mbarrier", "Asynchronous data movement", "wgmma", clusters, and predicates, which only such code writes by
// hand.
#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>
#include <utility>

#include "ptx_instruction.hpp"

namespace ridge::simt {

namespace {

using View = std::string_view;

bool has(const PtxInstruction& i, View word) {
  return std::find(i.words.begin(), i.words.end(), word) != i.words.end();
}

bool begins(const PtxInstruction& i, View name) {
  const std::string whole = joined(i.words, 0, i.words.size()) + ".";
  return whole.starts_with(std::string(name) + ".");
}

// Of the operands, with numbers taken for registers.
std::string forms(const PtxInstruction& i) {
  std::string s = kinds(i);
  for (char& c : s)
    if (c == 'n' || c == 's') c = 'r';
  return s;
}

std::string in_library(const std::string& function, const std::string& arguments) {
  return "::ridge_simt::" + function + "(" + arguments + ")";
}

std::string list(const std::vector<std::string>& expressions) {
  std::string s;
  for (const std::string& e : expressions) s += (s.empty() ? "" : ", ") + e;
  return s;
}

std::string of(const PtxInstruction& i, std::size_t operand) { return list(i.operands[operand].expressions); }

// Where an address lies is told by the instruction: a number of shared memory, or a pointer.
std::string shared_address(const PtxInstruction& i, std::size_t operand) {
  const bool shared = has(i, "shared") || has(i, "shared::cta") || has(i, "shared::cluster");
  return "::ridge_simt::ptx_address<void, " + std::string(shared ? "true" : "false") + ">(" +
         i.operands[operand].expressions[0] + ")";
}

// mbarrier.arrive{_drop}{.expect_tx} [state,] [barrier]{, number}
std::string arrival(const PtxInstruction& i, const std::string& form) {
  const bool drop = i.words[1] == "arrive_drop", expect = has(i, "expect_tx");
  const std::size_t at = form.starts_with("[") ? 0 : 1;
  const std::string rest = form.substr(at);
  if (at == 1 && form[0] != 'r' && form[0] != '_') return {};
  if (rest != "[r" && (rest != "[" || expect)) return {};
  const std::string number = rest == "[r" ? of(i, at + 1) : expect ? "0" : "1";
  return in_library("ptx_mbarrier_arrive",
                    (at == 1 ? of(i, 0) : "::ridge_simt::PtxNothing()") + ", " + shared_address(i, at) + ", " +
                        (expect ? "1, " + number : number + ", 0") + ", " + (drop ? "true" : "false"));
}

std::string memory_barrier(const PtxInstruction& i) {
  const std::string form = forms(i);
  if (i.words.size() < 3 || i.words.back() != "b64") return {};
  const std::string& what = i.words[1];
  if (what == "init" && form == "[r") return in_library("mbarrier_init", shared_address(i, 0) + ", " + of(i, 1));
  if (what == "inval" && form == "[") return in_library("mbarrier_invalidate", shared_address(i, 0));
  if (what == "arrive" || what == "arrive_drop") return arrival(i, form);
  if ((what == "expect_tx" || what == "complete_tx") && form == "[r")
    return in_library("mbarrier_expect",
                      shared_address(i, 0) + ", " + (what[0] == 'c' ? "-" : "") + "(int)(" + of(i, 1) + ")");
  if ((what == "test_wait" || what == "try_wait") && (form == "r[r" || form == "r[rr"))
    return in_library("ptx_mbarrier_wait<" + std::string(has(i, "parity") ? "true" : "false") + ", " +
                          (what == "try_wait" ? "true" : "false") + ">",
                      of(i, 0) + ", " + shared_address(i, 1) + ", " + of(i, 2));
  if (what == "pending_count" && form == "rr") return in_library("ptx_mbarrier_pending", of(i, 0) + ", " + of(i, 1));
  return {};
}

// Names of the operations of cp.reduce and red.async, with their types.
std::string bulk_operation(const PtxInstruction& i) {
  constexpr std::array<View, 8> operations = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
  for (std::size_t w = 1; w < i.words.size(); ++w)
    if (std::find(operations.begin(), operations.end(), i.words[w]) != operations.end())
      return "::ridge_simt::BulkReduction::" + i.words[w] + "_";
  return {};
}

std::string bulk_type(const PtxInstruction& i) {
  constexpr std::array<View, 10> types = {"b32", "u32", "s32", "b64", "u64", "s64", "f16", "bf16", "f32", "f64"};
  const std::string& last = i.words.back();
  return std::find(types.begin(), types.end(), last) == types.end() ? "" : "::ridge_simt::BulkType::" + last;
}

// Instructions with a tensor map. `at`: the first operand that is not the pair of addresses.
std::string tensor_copy(const PtxInstruction& i, const std::string& form, bool reduce) {
  if (has(i, "im2col") || has(i, "im2col_no_offs") || has(i, "im2col::w")) return {};
  std::string rank;
  for (const std::string& w : i.words)
    if (w.size() == 2 && w[1] == 'd' && w[0] >= '1' && w[0] <= '5') rank = w.substr(0, 1);
  if (rank.empty()) return {};
  auto map = [&](std::size_t operand) {
    const auto& e = i.operands[operand].expressions;
    if (e.size() != static_cast<std::size_t>(rank[0] - '0') + 1) return std::string();
    return "(const void*)(::std::uintptr_t)(" + e[0] + "), {" + [&] {
      std::string s;
      for (std::size_t c = 1; c < e.size(); ++c) s += (c == 1 ? "(int)(" : ", (int)(") + e[c] + ")";
      return s;
    }() + "}";
  };
  if (has(i, "prefetch")) return form.starts_with("t") ? "(void)0" : "";
  if (has(i, "bulk_group")) {  // [map, {...}], [from]
    if (!form.starts_with("t[") || map(0).empty()) return {};
    const std::string operation = reduce ? bulk_operation(i) : "::ridge_simt::BulkReduction::none";
    if (operation.empty()) return {};
    return in_library("bulk_tensor_store", "::ridge_simt::BulkTensor{" + map(0) + ", " + rank + "}, (unsigned)(" +
                                               of(i, 1) + "), " + operation);
  }
  if (reduce || !form.starts_with("[t[") || map(1).empty()) return {};  // [to], [map, {...}], [barrier]{, blocks}
  const bool multicast = has(i, "multicast::cluster");
  if (multicast && form.size() < 4) return {};
  return in_library("bulk_tensor_load", "(unsigned)(" + of(i, 0) + "), ::ridge_simt::BulkTensor{" + map(1) + ", " +
                                            rank + "}, (unsigned)(" + of(i, 2) + "), " +
                                            (multicast ? "(unsigned)(" + of(i, 3) + ")" : std::string("0")));
}

// cp.async.bulk, cp.reduce.async.bulk
std::string bulk_copy(const PtxInstruction& i) {
  const std::string form = forms(i);
  const bool reduce = i.words[1] == "reduce";
  const std::string name = joined(i.words, 0, i.words.size());
  if (name == "cp.async.bulk.commit_group") return in_library("bulk_commit", "");
  if ((name == "cp.async.bulk.wait_group" || name == "cp.async.bulk.wait_group.read") && form == "r")
    return in_library("bulk_wait", of(i, 0) + ", " + (has(i, "read") ? "true" : "false"));
  if (has(i, "tensor")) return tensor_copy(i, form, reduce);
  if (has(i, "prefetch")) return form.starts_with("[r") ? "(void)0" : "";
  std::string operation = "::ridge_simt::BulkReduction::none, ::ridge_simt::BulkType::b32";
  if (reduce) {
    if (bulk_operation(i).empty() || bulk_type(i).empty()) return {};
    operation = bulk_operation(i) + ", " + bulk_type(i);
  }
  if (has(i, "bulk_group") && has(i, "global") && form.starts_with("[[r"))  // [to], [from], bytes
    return in_library("bulk_store", "(void*)(::std::uintptr_t)(" + of(i, 0) + "), (unsigned)(" + of(i, 1) + "), " +
                                        of(i, 2) + ", " + operation);
  if (!form.starts_with("[[r[")) return {};  // [to], [from], bytes, [barrier]
  const std::string to = "(unsigned)(" + of(i, 0) + "), ", size = of(i, 2) + ", (unsigned)(" + of(i, 3) + ")";
  if (!has(i, "global"))
    return in_library("bulk_exchange", to + "(unsigned)(" + of(i, 1) + "), " + size + ", " + operation);
  const bool multicast = has(i, "multicast::cluster");
  if (reduce || (multicast && form.size() < 5)) return {};
  return in_library("bulk_load", to + "(const void*)(::std::uintptr_t)(" + of(i, 1) + "), " + size + ", " +
                                     (multicast ? "(unsigned)(" + of(i, 4) + ")" : std::string("0")));
}

// wgmma.mma_async.sync.aligned.m64nNkK.d.a.b{.satfinite} {d}, a, b, add{, sign of a, of b{, transposed a}{, b}}
std::string warpgroup_product(const PtxInstruction& i) {
  if (i.words.size() < 8 || joined(i.words, 0, 4) != "wgmma.mma_async.sync.aligned") return {};
  const std::string& shape = i.words[4];
  const std::size_t n = shape.find('n'), k = shape.find('k');
  if (!shape.starts_with("m64") || n != 3 || k == std::string::npos) return {};
  auto type = [](const std::string& name) { return "::ridge_simt::WgmmaType::" + name; };
  const std::string form = forms(i);
  const bool registers = form.starts_with("{{");
  if (!registers && !form.starts_with("{r")) return {};
  const std::size_t count = i.operands.size();
  if (count < 4 || form.find_first_not_of('r', registers ? 2 : 1) != std::string::npos) return {};
  const std::size_t numbers = count - 4;  // behind `add`
  std::string extra[4] = {"1", "1", "0", "0"};
  if (numbers != 0 && numbers != 2 && numbers != (registers ? 3u : 4u)) return {};
  for (std::size_t e = 0; e < numbers; ++e) extra[registers && e == 2 ? 3 : e] = of(i, 4 + e);
  std::string s = "::ridge_simt::ptx_wgmma<" + shape.substr(4, k - 4) + ", " + shape.substr(k + 1) + ", " +
                  type(i.words[5]) + ", " + type(i.words[6]) + ", " + type(i.words[7]) + ", " +
                  (has(i, "satfinite") ? "true" : "false") + ">(";
  s +=
      registers ? "::ridge_simt::wgmma_left(" + of(i, 1) + ")" : "::ridge_simt::WgmmaLeft{" + of(i, 1) + ", {}, false}";
  s += ", (::std::uint64_t)(" + of(i, 2) + "), (bool)(" + of(i, 3) + ")";
  for (const std::string& e : extra) s += ", (int)(" + e + ")";
  return s + ", " + of(i, 0) + ")";
}

std::string warpgroup(const PtxInstruction& i) {
  const std::string name = joined(i.words, 0, i.words.size());
  if (name == "wgmma.fence.sync.aligned" && i.operands.empty()) return in_library("wgmma_fence", "");
  if (name == "wgmma.commit_group.sync.aligned" && i.operands.empty()) return in_library("wgmma_commit", "");
  if (name == "wgmma.wait_group.sync.aligned" && forms(i) == "r") return in_library("wgmma_wait", of(i, 0));
  return warpgroup_product(i);
}

// bar.sync, bar.arrive: number{, threads}
std::string block_barrier(const PtxInstruction& i) {
  const std::string form = forms(i);
  const bool sync = has(i, "sync"), arrive = has(i, "arrive");
  if (has(i, "warp") || has(i, "red") || sync == arrive || (form != "r" && form != "rr") || (arrive && form == "r"))
    return {};
  return in_library(arrive ? "named_barrier_arrive" : "named_barrier",
                    of(i, 0) + (form == "rr" ? ", " + of(i, 1) : ", 0"));
}

std::string cluster(const PtxInstruction& i) {
  const std::string form = forms(i);
  if (begins(i, "barrier.cluster.arrive") && form.empty()) return in_library("cluster_arrive", "");
  if (begins(i, "barrier.cluster.wait") && form.empty()) return in_library("cluster_wait", "");
  if (i.words[0] == "mapa" && form == "rrr")
    return in_library(has(i, "shared::cluster") ? "ptx_mapa" : "ptx_mapa_generic",
                      of(i, 0) + ", " + of(i, 1) + ", " + of(i, 2));
  if (i.words[0] == "getctarank" && form == "rr")
    return in_library(has(i, "shared::cluster") ? "ptx_rank_of" : "ptx_rank_of_generic", of(i, 0) + ", " + of(i, 1));
  return {};
}

std::string comparison(const PtxInstruction& i) {
  constexpr std::array<std::pair<View, View>, 10> operators = {{{"eq", "=="},
                                                                {"ne", "!="},
                                                                {"lt", "<"},
                                                                {"le", "<="},
                                                                {"gt", ">"},
                                                                {"ge", ">="},
                                                                {"lo", "<"},
                                                                {"ls", "<="},
                                                                {"hi", ">"},
                                                                {"hs", ">="}}};
  const auto at =
      std::find_if(operators.begin(), operators.end(), [&](const auto& o) { return o.first == i.words[1]; });
  const std::string type = ptx_type(i.words.back());
  if (i.words.size() != 3 || at == operators.end() || type.empty() || forms(i) != "rrr") return {};
  auto in = [&](std::size_t operand) { return "::ridge_simt::ptx_in<" + type + ">(" + of(i, operand) + ")"; };
  return "(void)(" + of(i, 0) + " = " + in(1) + " " + std::string(at->second) + " " + in(2) + ")";
}

std::string predicate(const PtxInstruction& i) {
  const std::string form = forms(i), name = joined(i.words, 0, i.words.size());
  if (i.words[0] == "setp") return comparison(i);
  if (i.words[0] == "selp" && i.words.size() == 2 && form == "rrrr" && !ptx_type(i.words[1]).empty())
    return in_library("ptx_selp<" + ptx_type(i.words[1]) + ">",
                      of(i, 0) + ", " + of(i, 1) + ", " + of(i, 2) + ", " + of(i, 3));
  const auto assign = [&](const std::string& value) { return "(void)(" + of(i, 0) + " = " + value + ")"; };
  if ((name == "mov.pred" || name == "not.pred") && form == "rr") return assign((name[0] == 'n' ? "!" : "") + of(i, 1));
  if (form == "rrr" && i.words.size() == 2 && i.words[1] == "pred") {
    if (i.words[0] == "and") return assign("(" + of(i, 1) + " && " + of(i, 2) + ")");
    if (i.words[0] == "or") return assign("(" + of(i, 1) + " || " + of(i, 2) + ")");
    if (i.words[0] == "xor") return assign("(" + of(i, 1) + " != " + of(i, 2) + ")");
  }
  return {};
}

// stmatrix.sync.aligned.m8n8.xN{.trans}.shared{::cta}.b16 [p], {r, ...}
std::string store_matrix(const PtxInstruction& i) {
  const std::string form = forms(i);
  if (joined(i.words, 0, 4) != "stmatrix.sync.aligned.m8n8" || i.words.back() != "b16" ||
      (form != "[{" && form != "[r"))
    return {};
  if (i.words[4] != "x" + std::to_string(i.operands[1].expressions.size())) return {};
  return in_library("ptx_stmatrix<" + std::string(has(i, "trans") ? "true" : "false") + ">",
                    of(i, 0) + ", " + of(i, 1));
}

std::string fence(const PtxInstruction& i) {
  const std::string name = joined(i.words, 0, i.words.size());
  if (begins(i, "fence.proxy.async")) {
    const bool global = has(i, "global");
    return in_library("proxy_fence", global ? "false" : "true");
  }
  if (begins(i, "fence.proxy.tensormap::generic") || name == "fence.proxy.alias") return "(void)0";
  if (name == "fence.mbarrier_init.release.cluster") return in_library("fence", "0");
  if (name == "fence.acq_rel.cluster" || name == "fence.sc.cluster") return in_library("fence", "1");
  return {};
}

}  // namespace

std::string ptx_hopper(const PtxInstruction& i) {
  const std::string& name = i.words[0];
  const std::string form = forms(i);
  if (name == "mbarrier") return memory_barrier(i);
  if (name == "wgmma") return warpgroup(i);
  if (name == "setp" || name == "selp" || i.words.back() == "pred") return predicate(i);
  if (name == "stmatrix") return store_matrix(i);
  if (name == "fence") return fence(i);
  if (name == "cp" && (begins(i, "cp.async.bulk") || begins(i, "cp.reduce.async.bulk"))) return bulk_copy(i);
  if (begins(i, "cp.async.mbarrier.arrive") && form == "[")
    return in_library("copies_arrive", shared_address(i, 0) + ", " + (has(i, "noinc") ? "true" : "false"));
  if (begins(i, "barrier.cluster") || name == "mapa" || name == "getctarank") return cluster(i);
  if (name == "bar" || name == "barrier") return block_barrier(i);
  if (name == "setmaxnreg" && i.words.size() == 5 && form == "r")
    return in_library("set_registers", of(i, 0) + ", " + (i.words[1] == "inc" ? "true" : "false"));
  if (name == "elect" && begins(i, "elect.sync") && form == "|r")
    return in_library("ptx_elect", of(i, 0) + ", " + of(i, 1));
  if (name == "prefetch" || name == "prefetchu") return form == "[" ? "(void)0" : "";
  if (name == "createpolicy" && !i.operands.empty() && form[0] == 'r') return "(void)(" + of(i, 0) + " = 0)";
  return {};
}

}  // namespace ridge::simt
