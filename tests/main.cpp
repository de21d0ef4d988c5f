// The one unit-test binary. A name that selects no test is a failure: otherwise a test that was
// renamed, or whose name a script quotes wrongly, would pass by not running.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

int main(int argc, char** argv) {
  Catch::Session session;
  if (const int wrong = session.applyCommandLine(argc, argv)) return wrong;
  const bool lists = session.configData().listTests || session.configData().listTestNamesOnly || session.configData().showHelp;
  if (!lists) session.configData().warnings = Catch::WarnAbout::What(session.configData().warnings | Catch::WarnAbout::NoTests);
  return session.run();
}
