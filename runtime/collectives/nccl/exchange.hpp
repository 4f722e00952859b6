// A group of calls on one communicator as an operation of the engine.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "plan.hpp"

namespace ridge::collectives {

// One collective, send or receive while it runs.
class Task {
 public:
  Task(ncclComm& comm, Planned planned) : comm_(comm), planned_(std::move(planned)) {}
  virtual ~Task() = default;
  virtual void begin() = 0;
  virtual bool advance() = 0;
  virtual int waits_for() const = 0;  // a rank
  const Call& call() const { return planned_.call; }
  bool in_group() const { return planned_.in_group; }
  std::size_t bytes_out() const { return bytes_out_; }
  std::size_t bytes_in() const { return bytes_in_; }
  virtual double seconds() const = 0;
  // Virtual time: tells this rank's begin to the ranks that take part; hears theirs. False while one is missing.
  virtual void tell(double start) = 0;
  virtual bool hear(double& latest) = 0;
  const std::vector<simt::Exchange::Part>& parts() const { return parts_; }

 protected:
  void emit(int to, Slot slot, std::vector<char> data);
  std::size_t element() const;
  void tell(int rank, std::uint64_t number, std::uint32_t step, double start);
  bool hear(int rank, std::uint64_t number, std::uint32_t step, double& latest);
  void note_part(int peer, bool sent, std::size_t bytes, std::uint64_t channel, std::uint64_t number);

  ncclComm& comm_;
  Planned planned_;
  std::size_t bytes_out_ = 0, bytes_in_ = 0;
  std::vector<simt::Exchange::Part> parts_;
};

std::unique_ptr<Task> make_task(ncclComm& comm, const Planned& planned);

class GroupExchange : public simt::Exchange {
 public:
  GroupExchange(ncclComm& comm, const std::vector<Planned>& calls);
  ~GroupExchange() override;
  void begin() override;
  bool advance() override;
  void stalled(double seconds) override;
  std::string name() const override;
  double seconds() const override;
  std::size_t bytes() const override;
  std::uintptr_t caller() const override { return tasks_.front()->call().pc; }
  std::vector<char> record() const override { return record_; }
  void announce(double start) override;
  bool heard(double& end) override;
  void listen() override;
  std::vector<Part> parts() const override;
  const std::vector<std::unique_ptr<Task>>& tasks() const { return tasks_; }  // also those that have ended

 private:
  ncclComm& comm_;
  std::vector<std::unique_ptr<Task>> tasks_;
  std::vector<bool> ended_;
  std::size_t heard_ = 0;  // number of tasks_ that were heard
  double latest_ = 0;      // latest start among the ranks that were heard
  std::vector<char> record_;
};

}  // namespace ridge::collectives
