// SPDX-License-Identifier: Apache-2.0
#include "weir/lookup/directory.h"

#include <algorithm>
#include <utility>

#include "weir/base/log.h"

namespace weir::lookup {

Directory::Directory(const Clock& clock, Settings settings, Open open, const OpenShared& open_shared)
    : clock_(clock),
      settings_(std::move(settings)),
      cache_(settings_.most, settings_.lifetimes),
      snapshot_(settings_.snapshot, settings_.snapshot_every, cache_) {
  shared_ = open_shared([this] { watcher_->look_now(); });
  reader_ = std::make_unique<Reader>(
      clock, settings_.readers,
      Reader::Owner{
          .open = open,
          .read = [this](const auto& subjects, auto reading) { return take_in(subjects, std::move(reading)); },
          .changed =
              [this](bool up, const std::string& why) {
                up_ = up;
                up ? log_info("policies: the database answers again")
                   : log_error("policies: the database cannot be read: {}; what is known holds", why);
              }});
  watcher_ = std::make_unique<Watcher>(settings_.poll,
                                       Watcher::Owner{.open = std::move(open),
                                                      .began = [this](std::int64_t newest) { begin_at(newest); },
                                                      .changed = [this](auto changes) { take_changes(changes); }});
  if (shared_) shared_->start();
}

// Whoever is told something must be there longer than whoever tells it.
Directory::~Directory() {
  watcher_->shut();
  reader_->shut();
  if (shared_) shared_->stop();
  watcher_.reset();
  reader_.reset();
}

Found Directory::find(const partners::Subject& subject, Instant now) {
  Found found = cache_.find(subject, now);
  if (found.freshness == Freshness::kDue) want(subject, [](const KnownPtr&) {});
  return found;
}

void Directory::announce() {
  watcher_->look_now();
  if (shared_ != nullptr) shared_->announce();
}

void Directory::want(const partners::Subject& subject, Done done) {
  {
    const std::lock_guard lock(flights_mutex_);
    const auto [flight, is_new] = flights_.try_emplace(subject);
    flight->second.push_back(std::move(done));
    if (!is_new) return;
  }
  look_up(subject);
}

void Directory::look_up(const partners::Subject& subject) {
  const auto read = [this, subject] {
    reader_->want(subject, [this, subject](const KnownPtr& known) { land(subject, known); });
  };
  if (shared_ == nullptr) return read();
  shared_->get(subject, [this, subject, read](std::optional<Said> value) {
    const KnownPtr known = value ? take_shared(subject, *std::move(value)) : nullptr;
    if (known == nullptr) return read();
    shared_hits_.fetch_add(1, std::memory_order_relaxed);
    land(subject, known);
  });
}

// It is believed for as long as whoever has read it believes it.
KnownPtr Directory::take_shared(const partners::Subject& subject, Said said) {
  const std::int64_t floor = std::max(floor_.load(std::memory_order_relaxed), cache_.forgotten());
  if (said.revision < floor || said.revision > watcher_->revision()) return nullptr;
  const nanoseconds age = std::max(clock_.wall() - said.at, nanoseconds(0));
  return cache_.put(subject, std::move(said.record), said.revision, clock_.now(), age);
}

void Directory::land(const partners::Subject& subject, const KnownPtr& known) {
  std::vector<Done> waiting;
  {
    const std::lock_guard lock(flights_mutex_);
    waiting = std::move(flights_.extract(subject).mapped());
  }
  for (const Done& done : waiting) done(known);
}

std::vector<Reader::Taken> Directory::take_in(const std::vector<partners::Subject>& subjects,
                                              partners::Reading reading) {
  for (const partners::Fault& fault : reading.faults) log_warn("policies: {}; it is left out", to_text(fault));
  const Instant now = clock_.now();
  const WallTime wall = clock_.wall();
  std::vector<Reader::Taken> all;
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    partners::Record& record = reading.records[i];
    Reader::Taken& taken = all.emplace_back(Reader::Taken{cache_.put(subjects[i], record, reading.revision, now)});
    taken.outdated = taken.known == nullptr;
    if (taken.outdated) {
      taken.known = known_of(std::move(record));
    } else if (shared_) {
      shared_->put(subjects[i], {std::move(record), reading.revision, wall});
    }
  }
  return all;
}

// What changed before is not known, so nobody else's word is taken for what is older; and what is newer here is of
// another database, or of another time of this one.
void Directory::begin_at(std::int64_t newest) {
  cache_.rewind(newest);
  floor_.store(newest, std::memory_order_relaxed);
}

void Directory::take_changes(std::span<const partners::Change> changes) {
  std::map<partners::Subject, std::int64_t> newest;
  for (const partners::Change& change : changes) newest[change.subject] = change.revision;
  for (const auto& [subject, revision] : newest) {
    if (cache_.expire(subject, revision)) want(subject, [](const KnownPtr&) {});
  }
}

Directory::Stats Directory::stats() const {
  return {.shared_hits = shared_hits_.load(std::memory_order_relaxed),
          .queries = reader_->queries(),
          .failures = reader_->failures(),
          .entries = cache_.size(),
          .evictions = cache_.evictions(),
          .revision = watcher_->revision(),
          .up = up_.load(std::memory_order_relaxed)};
}

}  // namespace weir::lookup
