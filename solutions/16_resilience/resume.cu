// Lab 16, task `resume`: a run that was killed goes on as if nothing had happened, to the last bit.
// Run: ./ridge check 16 --task resume
#include <string>

#include "resume.hpp"

// TASK(resume)
namespace {

// What lies in the file after the hash; weights, m and v follow.
struct Saved {
  long long step, updates, epoch, position;
  std::uint64_t random;
  float scale, spare;
  int good_steps, has_spare;
};

// A pwrite may take a part of the bytes; the next one says why.
bool write_all(int fd, const std::string& bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    const ssize_t n = files::pwrite(fd, bytes.data() + at, bytes.size() - at, static_cast<long long>(at));
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

bool sync_folder() {
  const int folder = files::open(kFolder);
  if (folder < 0) return false;
  const bool synced = files::fsync(folder) == 0;
  files::close(folder);
  return synced;
}

}  // namespace

bool save_trainer(const Trainer& trainer, const char* path, cudaStream_t stream) {
  const Saved saved{trainer.step,  trainer.updates, trainer.epoch,      trainer.position, trainer.random,
                    trainer.scale, trainer.spare,   trainer.good_steps, trainer.has_spare};
  const std::size_t array = static_cast<std::size_t>(trainer.n) * 4;
  std::string bytes(8 + sizeof saved + 3 * array, '\0');
  char* at = bytes.data() + 8;
  std::memcpy(at, &saved, sizeof saved);
  at += sizeof saved;
  for (const float* from : {trainer.weights, trainer.m, trainer.v}) {
    cudaMemcpyAsync(at, from, array, cudaMemcpyDeviceToHost, stream);
    at += array;
  }
  cudaStreamSynchronize(stream);
  const std::uint64_t hash = hash_of(bytes.data() + 8, bytes.size() - 8);
  std::memcpy(bytes.data(), &hash, 8);
  const std::string made = std::string(path) + ".new";
  const int fd = files::open(made.c_str(), files::kWrite | files::kCreate | files::kTruncate);
  if (fd < 0) return false;
  const bool durable = write_all(fd, bytes) && files::fsync(fd) == 0;
  return files::close(fd) == 0 && durable && files::rename(made.c_str(), path) == 0 && sync_folder();
}

bool load_trainer(Trainer& trainer, const char* path, cudaStream_t stream) {
  Saved saved;
  const std::size_t array = static_cast<std::size_t>(trainer.n) * 4;
  std::string bytes(8 + sizeof saved + 3 * array, '\0');
  const int fd = files::open(path);
  if (fd < 0) return false;
  std::size_t n = 0;
  for (ssize_t got = 1; got > 0 && n < bytes.size(); n += static_cast<std::size_t>(std::max<ssize_t>(got, 0)))
    got = files::pread(fd, bytes.data() + n, bytes.size() - n, static_cast<long long>(n));
  files::close(fd);
  std::uint64_t hash;
  std::memcpy(&hash, bytes.data(), 8);
  if (n != bytes.size() || hash != hash_of(bytes.data() + 8, bytes.size() - 8)) return false;
  const char* at = bytes.data() + 8;
  std::memcpy(&saved, at, sizeof saved);
  at += sizeof saved;
  for (float* to : {trainer.weights, trainer.m, trainer.v}) {
    cudaMemcpyAsync(to, at, array, cudaMemcpyHostToDevice, stream);
    at += array;
  }
  cudaStreamSynchronize(stream);
  trainer.step = saved.step, trainer.updates = saved.updates;
  trainer.scale = saved.scale, trainer.good_steps = saved.good_steps;
  trainer.random = saved.random, trainer.spare = saved.spare, trainer.has_spare = saved.has_spare != 0;
  trainer.epoch = saved.epoch, trainer.position = saved.position;
  begin_epoch(trainer, trainer.samples, trainer.seed);  // the order follows from seed and epoch
  return true;
}
// END(resume)
