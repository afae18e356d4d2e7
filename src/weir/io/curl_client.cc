// SPDX-License-Identifier: Apache-2.0
#include "weir/io/curl_client.h"

#include <curl/curl.h>

#include <array>
#include <mutex>

namespace weir::io {
namespace {

constexpr int kPollMilliseconds = 1000;
constexpr long kConnectMilliseconds = 3000;

void initialise_once() {
  static std::once_flag flag;
  std::call_once(flag, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

std::unexpected<Error> failure(ErrorKind kind, std::string message) {
  return std::unexpected(Error{kind, Origin::kUpstream, std::move(message)});
}

struct Body {
  std::string& text;
  std::size_t largest;
  bool& too_large;
};

std::size_t take(char* data, std::size_t, std::size_t size, void* to) {
  Body& body = *static_cast<Body*>(to);
  body.too_large = body.text.size() + size > body.largest;
  if (body.too_large) return 0;  // ends the transfer
  body.text.append(data, size);
  return size;
}

using Easy = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;

// All of these are options that every libcurl of Debian 12 and later knows.
void set_up(CURL* easy, const CurlQuestion& question, curl_slist* fields) {
  curl_easy_setopt(easy, CURLOPT_URL, question.url.c_str());
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, question.protocol);
  curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(easy, CURLOPT_PROXY, "");
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);  // a look-up that hangs is left behind, not waited for
  curl_easy_setopt(easy, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, kConnectMilliseconds);
  curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, static_cast<long>(question.time.count()));
  curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, 1L);
  curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
  curl_easy_setopt(easy, CURLOPT_USERAGENT, "weir");
  if (fields != nullptr) curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
  if (!question.unix_socket.empty()) {
    curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, question.unix_socket.c_str());
  }
  if (!question.ca.empty()) {
    curl_easy_setopt(easy, CURLOPT_CAINFO, question.ca.c_str());
    curl_easy_setopt(easy, CURLOPT_CAPATH, nullptr);
  }
}

using Fields = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

Fields list_of(const std::vector<std::string>& lines) {
  curl_slist* list = nullptr;
  for (const std::string& line : lines) list = curl_slist_append(list, line.c_str());
  return {list, curl_slist_free_all};
}

}  // namespace

struct CurlClient::Multi {
  CURLM* handle = curl_multi_init();

  Multi() = default;
  Multi(const Multi&) = delete;
  Multi& operator=(const Multi&) = delete;
  ~Multi() { curl_multi_cleanup(handle); }
};

CurlClient::CurlClient() {
  initialise_once();
  multi_ = std::make_unique<Multi>();
}

CurlClient::~CurlClient() = default;

Result<CurlAnswer> CurlClient::get(const CurlQuestion& question) {
  const Easy easy(curl_easy_init(), curl_easy_cleanup);
  if (!easy || multi_->handle == nullptr) return failure(ErrorKind::kIo, "out of memory");
  std::array<char, CURL_ERROR_SIZE> words{};
  std::string text;
  bool too_large = false;
  Body body{text, question.largest, too_large};
  const Fields fields = list_of(question.fields);
  set_up(easy.get(), question, fields.get());
  curl_easy_setopt(easy.get(), CURLOPT_ERRORBUFFER, words.data());
  curl_easy_setopt(easy.get(), CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, &body);
  auto result = perform(easy.get(), text, too_large);
  if (!result && words[0] != '\0' && !too_large) result.error().message = words.data();
  return result;
}

Result<CurlAnswer> CurlClient::perform(void* easy, std::string& body, bool& too_large) {
  CURLM* multi = multi_->handle;
  curl_multi_add_handle(multi, easy);
  int running = 1;
  while (running > 0 && !cancelled_.load()) {
    if (curl_multi_perform(multi, &running) != CURLM_OK) break;
    if (running > 0) curl_multi_poll(multi, nullptr, 0, kPollMilliseconds, nullptr);
  }
  CURLcode code = CURLE_ABORTED_BY_CALLBACK;
  int left = 0;
  for (const CURLMsg* message = curl_multi_info_read(multi, &left); message != nullptr;
       message = curl_multi_info_read(multi, &left)) {
    if (message->msg == CURLMSG_DONE) code = message->data.result;
  }
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  curl_multi_remove_handle(multi, easy);
  if (too_large) return failure(ErrorKind::kInvalid, "the answer is too large");
  if (code == CURLE_OPERATION_TIMEDOUT) return failure(ErrorKind::kTimeout, curl_easy_strerror(code));
  if (code != CURLE_OK) return failure(ErrorKind::kUnavailable, curl_easy_strerror(code));
  return CurlAnswer{status, std::move(body)};
}

void CurlClient::cancel() {
  cancelled_ = true;
  curl_multi_wakeup(multi_->handle);
}

}  // namespace weir::io
